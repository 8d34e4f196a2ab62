// SPDX-License-Identifier: Apache-2.0
// A route is declared once; validation, types, scope, limits, the OpenAPI document, the reference pages and the tests
// that run its examples all read that declaration. Seven kinds, by what a request may do:
//   read       answers from what is there;
//   write      runs in one plain transaction, committed together with its idempotency key; what must wait for that commit,
//              such as asking a provider, can follow it and has the last word on the answer; `shared` is one whose
//              transaction others may be in too;
//   commit     goes through a group commit, which stores the idempotency key itself;
//   stream     answers with server-sent events, for as long as somebody reads them;
//   download   answers with bytes, or a range of them;
//   upload     reads a file of any length as it comes, and is by itself safe to repeat;
//   multipart  reads files and fields as they come, then writes as `write` does.
// Carriers, providers and people without a key call a hook (`hook.ts`). CONTRIBUTING.md says which kind fits which verb.
import { type Static, type TObject, type TSchema, Type } from 'typebox'
import { AppError, type ErrorCode } from '../kernel/errors.ts'
import type { App } from './app.ts'
import type { Scope } from './auth/scopes.ts'
import type { Caller } from './auth.ts'
import type { AcrossTx, Tx } from './db.ts'
import type { Download } from './http/download.ts'
import type { Keyed } from './http/idempotency.ts'
import type { Message } from './http/streams.ts'
import type { Page } from './page.ts'
import { OneOf } from './schema.ts'

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

export interface Input<P extends TSchema, Q extends TSchema, B extends TSchema> {
  params: Static<P>
  query: Static<Q>
  body: Static<B>
}

interface Declaration<P extends TSchema, Q extends TSchema, B extends TSchema, R extends TSchema> {
  method: Method
  /** `/v1/...` with `:name` for parameters; `/api/v1/...` is the same route. */
  path: string
  /** Other paths that lead to the same thing. */
  aliases?: readonly string[]
  /** `area.verb`: operationId, log field, metric label. */
  operation: string
  summary: string
  description?: string
  /** Scope that the credential must carry; 'any' takes every valid credential. */
  scope: Scope | 'any'
  /** The plan limit this request counts against, as its area declares it. */
  limit?: string
  params?: P
  query?: Q
  body?: B
  bodyLimitBytes?: number
  /** Also takes application/x-www-form-urlencoded. */
  form?: boolean
  /** The form may hold the key, as `client_secret`. */
  keyInForm?: boolean
  /**
   * Also takes multipart/form-data: a file stands for the field of its name, as base64. The whole body is held in memory, so
   * this is for small files; large ones come by `multipart`.
   */
  files?: Files
  reply: ReplyDeclaration<R>
  /** Codes beyond those every route can answer. */
  errors?: readonly ErrorCode[]
  examples?: readonly Example<P, Q, B>[]
  /**
   * How something that the path or an example names comes to be; without it, by the first example of the collection's POST.
   * `nothing`: what the path names is there for everybody.
   */
  needs?: Need | 'nothing'
}

/** A request that is made first, in the same account; the tests make it. */
export interface Need {
  readonly operation: string
  /** Where its reply has the id for the path: `session_id`, `customer.customer_id`, `data.0.id`. */
  readonly id?: string
  /** In place of the body of its first example. */
  readonly body?: object | ((nowMs: number) => object)
  /** What it needs itself, beside what it says. */
  readonly after?: Need
}

/** A file among the parts of a multipart body. */
export interface FilePart {
  readonly maxBytes: number
  /** Content types that are taken, for the documentation; whoever reads the bytes decides. */
  readonly types?: readonly string[]
  readonly description?: string
  /** How many parts may have the name; one unless it says so. */
  readonly most?: number
  /** The request is whole without it. */
  readonly optional?: boolean
}

type Files = Readonly<Record<string, FilePart>>

/** A file while it arrives. Its bytes end with an error when the request is cut off, or the part is too large. */
export interface ArrivingFile {
  readonly part: string
  /** File name that the sender gave, without folders. */
  readonly name: string | null
  /** Content type that the sender gave. */
  readonly type: string
  readonly bytes: AsyncIterable<Buffer>
}

/** A file that has arrived whole, with what `receive` made of it. */
export interface ReceivedFile<T> {
  readonly part: string
  readonly name: string | null
  readonly type: string
  readonly size: number
  /** Of its bytes, in hexadecimal digits. */
  readonly sha256: string
  readonly kept: T
}

/** The files of a request, and whether a transaction has taken them over. */
export interface Received<T> {
  readonly files: ReceivedFile<T>[]
  /** `unknown` while it commits, and when nobody can say whether it did. */
  state: 'unused' | 'unknown' | 'taken'
}

interface ReplyDeclaration<R extends TSchema> {
  /** 204 has no body, see `noContent`. */
  status: 200 | 201 | 204
  schema: R
  /**
   * The handler gives a text, which is sent as text/plain without an envelope; `strings`: where it gives a string, and JSON
   * where it gives an object. Refusals are JSON all the same.
   */
  text?: boolean | 'strings'
  /** The handler gives a Page of rows of the schema. */
  list?: boolean
  /** Whether what a request would create was there before: such an answer has the status 200. */
  existed?(reply: Static<R>): boolean
  /** Where a created object can be fetched. */
  location?(reply: Static<R>): string
}

/** Reply of a verb that has nothing to say; its handler gives `{}`. */
export const noContent: ReplyDeclaration<Nothing> = { status: 204, schema: Type.Object({}) }

/** A request that works as it stands in a new account; printed in the documentation and run by the tests. */
interface Example<P extends TSchema, Q extends TSchema, B extends TSchema> {
  name: string
  params?: Static<P>
  query?: Static<Q>
  body?: Static<B>
}

type Handled<R extends TSchema, L extends boolean> = Promise<L extends true ? Page<Static<R>> : Static<R>>

export type Route = Declaration<TSchema, TSchema, TSchema, TSchema> &
  (
    | {
        kind: 'read'
        handle(app: App, input: Input<TSchema, TSchema, TSchema>, caller: Caller): Promise<unknown>
        /** The reply as a CSV file, for whoever prefers that. Lists have one without it. */
        csv?(reply: unknown): string
        /** The reply again and again, for whoever asks with `stream=1` and accepts server-sent events. */
        messages?: Messages
      }
    | {
        kind: 'write'
        /** Its transaction is not only about the caller's tenant. */
        isAcross?: boolean
        prepare?(app: App, input: Input<TSchema, TSchema, TSchema>, caller: Caller): Promise<unknown>
        transact(
          app: App,
          input: Input<TSchema, TSchema, TSchema>,
          caller: Caller,
          prepared: unknown,
          conclude: Conclude<unknown>,
        ): Promise<unknown>
        follow?(app: App, input: Input<TSchema, TSchema, TSchema>, caller: Caller, reply: unknown): Promise<unknown>
      }
    | {
        kind: 'commit'
        handle(app: App, input: Input<TSchema, TSchema, TSchema>, caller: Caller, keyed: Keyed): Promise<unknown>
      }
    | {
        kind: 'upload'
        /** The content type of the file. */
        file: string
        handle(
          app: App,
          input: Input<TSchema, TSchema, TSchema>,
          caller: Caller,
          file: AsyncIterable<Buffer>,
        ): Promise<unknown>
      }
    | {
        kind: 'multipart'
        files: Files
        bodyLimitBytes: number
        receive(
          app: App,
          file: ArrivingFile,
          input: Pick<Input<TSchema, TSchema, TSchema>, 'params' | 'query'>,
          caller: Caller,
        ): Promise<unknown>
        discard(app: App, kept: unknown, caller: Caller): Promise<void>
        transact(
          app: App,
          input: Input<TSchema, TSchema, TSchema>,
          caller: Caller,
          received: Received<unknown>,
          conclude: Conclude<unknown>,
        ): Promise<unknown>
        follow?(app: App, input: Input<TSchema, TSchema, TSchema>, caller: Caller, reply: unknown): Promise<unknown>
      }
    | {
        kind: 'download'
        /** Content types that it answers with, for the documentation. */
        types: readonly string[]
        handle(app: App, input: Input<TSchema, TSchema, TSchema>, caller: Caller): Promise<Download>
      }
    | {
        kind: 'stream'
        handle(
          app: App,
          input: Input<TSchema, TSchema, TSchema>,
          caller: Caller,
          reader: Reader,
        ): Promise<AsyncIterable<Message>>
      }
  )

/** Messages of a stream, for as long as somebody reads them. */
export type Messages = (
  app: App,
  input: Input<TSchema, TSchema, TSchema>,
  caller: Caller,
  reader: Reader,
) => Promise<AsyncIterable<Message>>

/** Stores the answer in the transaction of a write. */
export type Conclude<Reply> = (tx: Tx, reply: Reply) => Promise<void>

/** Reader of a stream. */
export interface Reader {
  /** The Last-Event-ID of a reader that comes back. */
  lastEventId: string | null
  /** Aborted when the reader is gone. */
  signal: AbortSignal
}

type Nothing = TObject<Record<never, never>>

export function read<
  R extends TSchema,
  P extends TSchema = Nothing,
  Q extends TSchema = Nothing,
  B extends TSchema = Nothing,
>(
  declaration: Declaration<P, Q, B, R> & {
    handle(app: App, input: Input<P, Q, B>, caller: Caller): Handled<R, false>
    csv?(reply: Static<R>): string
    messages?(app: App, input: Input<P, Q, B>, caller: Caller, reader: Reader): Promise<AsyncIterable<Message>>
  },
): Route {
  return { kind: 'read', ...declaration }
}

/** Every list can be had as a file; whoever cannot set a header says so in the address. */
const formatQuery = {
  format: Type.Optional(
    OneOf(['json', 'csv'], { description: '`csv` gives the whole list as a file, whatever `Accept` says' }),
  ),
}

export function list<R extends TSchema, P extends TSchema = Nothing, Q extends TObject = Nothing>(
  declaration: Omit<Declaration<P, Q, Nothing, R>, 'method' | 'reply'> & {
    row: R
    handle(app: App, input: Input<P, Q, Nothing>, caller: Caller): Handled<R, true>
  },
): Route {
  const { row, ...rest } = declaration
  const query = Type.Object({ ...declaration.query?.properties, ...formatQuery })
  return { kind: 'read', method: 'GET', reply: { status: 200, schema: row, list: true }, ...rest, query }
}

export function write<
  R extends TSchema,
  P extends TSchema = Nothing,
  Q extends TSchema = Nothing,
  B extends TSchema = Nothing,
  T = void,
>(
  declaration: Declaration<P, Q, B, R> & {
    /** Slow work without a transaction, such as a request to another machine: done before one is opened. */
    prepare?(app: App, input: Input<P, Q, B>, caller: Caller): Promise<T>
    handle(app: App, tx: Tx, input: Input<P, Q, B>, caller: Caller, prepared: T): Handled<R, false>
    /**
     * What is done once the transaction is durable, and the answer then. A crash before it ends leaves the answer of the
     * transaction; a refusal is an answer too.
     */
    follow?(app: App, input: Input<P, Q, B>, caller: Caller, reply: Static<R>): Handled<R, false>
  },
): Route {
  const { handle, ...rest } = declaration
  const transact = (app: App, input: Input<P, Q, B>, caller: Caller, prepared: T, conclude: Conclude<unknown>) =>
    app.db.tx(caller.tenant, async (tx) => {
      const reply = await handle.call(declaration, app, tx, input, caller, prepared)
      await conclude(tx, reply)
      return reply
    })
  return { kind: 'write', ...rest, transact }
}

/**
 * A write whose transaction also changes what belongs to no tenant, such as keys and prices, or to another one than the
 * caller: the verbs of operators, and few others.
 */
export function writeAcross<
  R extends TSchema,
  P extends TSchema = Nothing,
  Q extends TSchema = Nothing,
  B extends TSchema = Nothing,
  T = void,
>(
  declaration: Declaration<P, Q, B, R> & {
    prepare?(app: App, input: Input<P, Q, B>, caller: Caller): Promise<T>
    handle(app: App, tx: AcrossTx, input: Input<P, Q, B>, caller: Caller, prepared: T): Handled<R, false>
    follow?(app: App, input: Input<P, Q, B>, caller: Caller, reply: Static<R>): Handled<R, false>
  },
): Route {
  const { handle, ...rest } = declaration
  const transact = (app: App, input: Input<P, Q, B>, caller: Caller, prepared: T, conclude: Conclude<unknown>) =>
    app.db.acrossTx(async (tx) => {
      const reply = await handle.call(declaration, app, tx, input, caller, prepared)
      await conclude(tx, reply)
      return reply
    })
  return { kind: 'write', isAcross: true, ...rest, transact }
}

/** A write whose transaction may be one that it shares with others: it concludes in that one, and is answered after it. */
export function shared<
  R extends TSchema,
  P extends TSchema = Nothing,
  Q extends TSchema = Nothing,
  B extends TSchema = Nothing,
  T = void,
>(
  declaration: Declaration<P, Q, B, R> & {
    prepare?(app: App, input: Input<P, Q, B>, caller: Caller): Promise<T>
    transact(
      app: App,
      input: Input<P, Q, B>,
      caller: Caller,
      prepared: T,
      conclude: Conclude<Static<R>>,
    ): Handled<R, false>
    follow?(app: App, input: Input<P, Q, B>, caller: Caller, reply: Static<R>): Handled<R, false>
  },
): Route {
  return { kind: 'write', ...declaration }
}

export function commit<
  R extends TSchema,
  P extends TSchema = Nothing,
  Q extends TSchema = Nothing,
  B extends TSchema = Nothing,
>(
  declaration: Declaration<P, Q, B, R> & {
    handle(app: App, input: Input<P, Q, B>, caller: Caller, keyed: Keyed): Handled<R, false>
  },
): Route {
  return { kind: 'commit', ...declaration }
}

/** Takes a file. Idempotency keys are not looked at, since nobody keeps a file to compare it: the verb must be safe to repeat. */
export function upload<R extends TSchema, P extends TSchema = Nothing, Q extends TSchema = Nothing>(
  declaration: Omit<Declaration<P, Q, Nothing, R>, 'method' | 'body' | 'examples'> & {
    file: string
    handle(app: App, input: Input<P, Q, Nothing>, caller: Caller, file: AsyncIterable<Buffer>): Handled<R, false>
  },
): Route {
  return { kind: 'upload', method: 'POST', ...declaration }
}

/**
 * Takes files and fields as multipart/form-data. Each file is read by `receive` as it arrives, whatever the order of the
 * parts; once all is there and the fields are valid, `handle` runs in one transaction. What `receive` kept of a request
 * that was cut off or refused, or whose key was used before, is handed to `discard`. With an Idempotency-Key, requests are
 * the same when the names and contents of their parts are: the sha-256 of each decides, not the boundary between them.
 */
export function multipart<
  R extends TSchema,
  T,
  P extends TSchema = Nothing,
  Q extends TSchema = Nothing,
  B extends TSchema = Nothing,
>(
  declaration: Omit<
    Declaration<P, Q, B, R>,
    'method' | 'form' | 'keyInForm' | 'files' | 'bodyLimitBytes' | 'examples'
  > & {
    method?: 'POST' | 'PUT'
    files: Files
    /** Bytes of the whole body, with what stands between its parts. */
    bodyLimitBytes: number
    receive(app: App, file: ArrivingFile, input: Pick<Input<P, Q, B>, 'params' | 'query'>, caller: Caller): Promise<T>
    discard(app: App, kept: T, caller: Caller): Promise<void>
    handle(
      app: App,
      tx: Tx,
      input: Input<P, Q, B>,
      caller: Caller,
      files: readonly ReceivedFile<T>[],
    ): Handled<R, false>
    follow?(app: App, input: Input<P, Q, B>, caller: Caller, reply: Static<R>): Handled<R, false>
  },
): Route {
  const { handle, method = 'POST', ...rest } = declaration
  const transact = async (
    app: App,
    input: Input<P, Q, B>,
    caller: Caller,
    received: Received<T>,
    conclude: Conclude<unknown>,
  ) => {
    received.state = 'unknown'
    try {
      const made = await app.db.tx(caller.tenant, async (tx) => {
        const reply = await handle.call(declaration, app, tx, input, caller, received.files)
        await conclude(tx, reply)
        return reply
      })
      received.state = 'taken'
      return made
    } catch (error) {
      // A refusal rolled everything back; whatever else failed may have been committed.
      if (error instanceof AppError) received.state = 'unused'
      throw error
    }
  }
  return { kind: 'multipart', method, ...rest, transact }
}

/** Gives bytes, with ranges, validators and HEAD. What the handler throws is answered as a refusal. */
export function download<P extends TSchema = Nothing, Q extends TSchema = Nothing>(
  declaration: Omit<Declaration<P, Q, Nothing, Nothing>, 'method' | 'body' | 'reply' | 'examples'> & {
    types: readonly string[]
    handle(app: App, input: Input<P, Q, Nothing>, caller: Caller): Promise<Download>
  },
): Route {
  return { kind: 'download', method: 'GET', reply: { status: 200, schema: Type.Object({}) }, ...declaration }
}

/** A stream of messages whose data are JSON texts of the schema. What the handler throws before it gives them is answered. */
export function stream<M extends TSchema, Q extends TSchema = Nothing>(
  declaration: Omit<Declaration<Nothing, Q, Nothing, M>, 'method' | 'reply' | 'examples'> & {
    message: M
    handle(app: App, input: Input<Nothing, Q, Nothing>, caller: Caller, reader: Reader): Promise<AsyncIterable<Message>>
  },
): Route {
  const { message, ...rest } = declaration
  return { kind: 'stream', method: 'GET', reply: { status: 200, schema: message }, ...rest }
}

/** Path parameters of which each is a text; ids are checked where they are looked up, since a wrong one names nothing. */
export const IdParam = Type.Object({ id: Type.String({ description: 'Id of the object' }) })
