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
import { AppError, type ErrorCode } from '../../kernel/errors.ts'
import type { App } from '../app.ts'
import type { Scope } from '../auth/scopes.ts'
import type { Caller } from '../auth.ts'
import type { AcrossTx, Tx } from '../db.ts'
import { OneOf } from '../schema/fields.ts'
import type { Page } from '../schema/lists.ts'
import type { Download } from './download.ts'
import type { Keyed } from './idempotency.ts'

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

export interface Input<P extends TSchema, Q extends TSchema, B extends TSchema> {
  params: Static<P>
  query: Static<Q>
  body: Static<B>
}

interface Declaration<P extends TSchema, Q extends TSchema, B extends TSchema, R extends TSchema> {
  method: Method
  /** Path `/v1/...` with `:name` for parameters; `/api/v1/...` is the same route. */
  path: string
  /** Alias paths. */
  aliases?: readonly string[]
  /** Operation `area.verb`: operationId, log field, metric label. */
  operation: string
  summary: string
  description?: string
  /** Required scope; 'any' accepts every valid credential. */
  scope: Scope | 'any'
  /** Plan limit it counts against, as declared by its area. */
  limit?: string
  params?: P
  query?: Q
  body?: B
  bodyLimitBytes?: number
  /**
   * Whether, for test keys, it is answered by the node whose simulators all use; that is so for routes of the sandbox unless they
   * say otherwise, such as those of calls, whose phones are on the node of the call.
   */
  simulated?: boolean
  /** Also accept application/x-www-form-urlencoded. */
  form?: boolean
  /** The form may hold the key, as `client_secret`. */
  keyInForm?: boolean
  /**
   * Also accept multipart/form-data: a file fills the field of its name, as base64. The whole body is in memory, so
   * this is for small files; large ones use `multipart`.
   */
  files?: Files
  reply: ReplyDeclaration<R>
  /** Error codes beyond those of every route. */
  errors?: readonly ErrorCode[]
  examples?: readonly Example<P, Q, B>[]
  /**
   * How to create what the path or an example names; by default the first example of the collection's POST. `nothing`:
   * the path names something that always exists. `itself`: the request makes what the path names, as its example does.
   */
  needs?: Need | 'nothing' | 'itself'
}

/** Requests the tests make first, in the same account. */
export interface Need {
  readonly operation: string
  /** Path of the id in its reply: `session_id`, `customer.customer_id`, `data.0.id`. */
  readonly id?: string
  /** Replaces the body of its first example. */
  readonly body?: object | ((nowMs: number) => object)
  /** Content of the file, where it takes one. */
  readonly file?: string
  /** Further request it needs. */
  readonly after?: Need
}

/** File part of a multipart body. */
export interface FilePart {
  readonly maxBytes: number
  /** Accepted content types, for the documentation; the reader of the bytes decides. */
  readonly types?: readonly string[]
  readonly description?: string
  /** Maximum number of parts with the name; one by default. */
  readonly most?: number
  /** The part may be missing. */
  readonly optional?: boolean
}

type Files = Readonly<Record<string, FilePart>>

/** Arriving file. Its bytes end with an error when the request is cut off or the part is too large. */
export interface ArrivingFile {
  readonly part: string
  /** File name of the sender, without folders. */
  readonly name: string | null
  /** Content type of the sender. */
  readonly type: string
  readonly bytes: AsyncIterable<Buffer>
}

/** Received file with the result of `receive`. */
export interface ReceivedFile<T> {
  readonly part: string
  readonly name: string | null
  readonly type: string
  readonly size: number
  /** SHA-256 of its bytes, in hexadecimal. */
  readonly sha256: string
  readonly kept: T
}

/** Files of a request, and whether a transaction has taken them over. */
export interface Received<T> {
  readonly files: ReceivedFile<T>[]
  /** `unknown` while it commits, and when the outcome is unknown. */
  state: 'unused' | 'unknown' | 'taken'
}

interface ReplyDeclaration<R extends TSchema> {
  /** 204 has no body, see `noContent`. */
  status: 200 | 201 | 204
  schema: R
  /**
   * Text reply: a text is sent as text/plain without an envelope; with `strings` only where the handler returns a
   * string, and JSON for an object. Errors are always JSON.
   */
  text?: boolean | 'strings'
  /** The handler returns a Page of rows of the schema. */
  list?: boolean
  /** Whether the object to create existed already: status 200. */
  existed?(reply: Static<R>): boolean
  /** URL of a created object. */
  location?(reply: Static<R>): string
}

/** Empty reply; the handler returns `{}`. */
export const noContent: ReplyDeclaration<Nothing> = { status: 204, schema: Type.Object({}) }

/** Example request that works in a new account; documented and run by the tests. */
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
        /** Reply as CSV. Lists have it without this. */
        csv?(reply: unknown): string
        /** Repeated reply as server-sent events, for `stream=1`. */
        messages?: Messages
      }
    | {
        kind: 'write'
        /** The transaction covers more than the caller's tenant. */
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
        /** Content type of the file. */
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
        /** Content types of the reply, for the documentation. */
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
        ): Promise<AsyncIterable<StreamMessage>>
      }
  )

/** Message of a stream. A reconnecting reader sends the last id it got. */
export interface StreamMessage {
  id: string
  event: string
  /** Data of the message; null sends the position only. */
  data: string | null
}

/** Messages of a stream, while the client reads. */
export type Messages = (
  app: App,
  input: Input<TSchema, TSchema, TSchema>,
  caller: Caller,
  reader: Reader,
) => Promise<AsyncIterable<StreamMessage>>

/** Stores the reply in the transaction of a write. */
export type Conclude<Reply> = (tx: Tx, reply: Reply) => Promise<void>

/** Reader of a stream. */
export interface Reader {
  /** Last-Event-ID of a reconnecting reader. */
  lastEventId: string | null
  /** Aborted when the reader disconnects. */
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
    messages?(app: App, input: Input<P, Q, B>, caller: Caller, reader: Reader): Promise<AsyncIterable<StreamMessage>>
  },
): Route {
  return { kind: 'read', ...declaration }
}

/** Every list is available as CSV; clients without headers use the query. */
const formatQuery = {
  format: Type.Optional(
    OneOf(['json', 'csv'], { description: '`csv` returns the whole list as a file, regardless of `Accept`' }),
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
    /** Slow work before the transaction, such as a request to another machine. */
    prepare?(app: App, input: Input<P, Q, B>, caller: Caller): Promise<T>
    handle(app: App, tx: Tx, input: Input<P, Q, B>, caller: Caller, prepared: T): Handled<R, false>
    /**
     * Work after the commit, which determines the reply. A crash before its end leaves the transaction's reply; an
     * error is a reply too.
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
 * Writes whose transaction also changes installation rows, such as keys and prices, or another tenant's: operator routes
 * and few others.
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

/** Write that may share its transaction with others: it stores its reply there and is answered after the commit. */
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

/**
 * File upload. Idempotency keys are refused, since no file is kept for comparison: the handler must be safe to repeat.
 */
export function upload<R extends TSchema, P extends TSchema = Nothing, Q extends TSchema = Nothing>(
  declaration: Omit<Declaration<P, Q, Nothing, R>, 'method' | 'body' | 'examples'> & {
    file: string
    handle(app: App, input: Input<P, Q, Nothing>, caller: Caller, file: AsyncIterable<Buffer>): Handled<R, false>
  },
): Route {
  return { kind: 'upload', method: 'POST', ...declaration }
}

/**
 * Files and fields as multipart/form-data. Each file is read by `receive` as it arrives, in any order of the parts;
 * once all are there and the fields are valid, `handle` runs in one transaction. Results of `receive` for a request
 * that was cut off, refused or repeated go to `discard`. With an Idempotency-Key, requests are equal when names and
 * SHA-256 of their parts are, whatever the boundary.
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
    /** Size limit of the whole body, boundaries included. */
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
      // A refusal rolled everything back; after another failure the commit may have happened.
      if (error instanceof AppError) received.state = 'unused'
      throw error
    }
  }
  return { kind: 'multipart', method, ...rest, transact }
}

/** Bytes, with ranges, validators and HEAD. Exceptions of the handler become errors. */
export function download<P extends TSchema = Nothing, Q extends TSchema = Nothing>(
  declaration: Omit<Declaration<P, Q, Nothing, Nothing>, 'method' | 'body' | 'reply' | 'examples'> & {
    types: readonly string[]
    handle(app: App, input: Input<P, Q, Nothing>, caller: Caller): Promise<Download>
  },
): Route {
  return { kind: 'download', method: 'GET', reply: { status: 200, schema: Type.Object({}) }, ...declaration }
}

/** Stream of messages with JSON data of the schema. Exceptions before the first message become errors. */
export function stream<M extends TSchema, Q extends TSchema = Nothing>(
  declaration: Omit<Declaration<Nothing, Q, Nothing, M>, 'method' | 'reply' | 'examples'> & {
    message: M
    handle(
      app: App,
      input: Input<Nothing, Q, Nothing>,
      caller: Caller,
      reader: Reader,
    ): Promise<AsyncIterable<StreamMessage>>
  },
): Route {
  const { message, ...rest } = declaration
  return { kind: 'stream', method: 'GET', reply: { status: 200, schema: message }, ...rest }
}

/** Path parameters as strings; ids are checked on lookup, since a wrong one names nothing. */
export const IdParam = Type.Object({ id: Type.String({ description: 'Id of the object' }) })
