// SPDX-License-Identifier: Apache-2.0
// Door: another provider's API in front of the own one, below /compat/<name>. A door translates: each call becomes
// operations of the own API under the caller's key, and their replies become the dialect's. It is given nothing else, so
// scopes, limits, charges, idempotency and the request log are those of the operations.
import type { IncomingHttpHeaders } from 'node:http'
import { AppError } from '../../kernel/errors.ts'
import type { Id } from '../../kernel/ids.ts'
import type { Dialect, Reply } from './dialect.ts'
import type { HookAnswer } from './hook.ts'

/** Values of a form or a query. A client's text `undefined` counts as missing. */
export class DoorFields {
  readonly #values: URLSearchParams
  readonly #read = new Set<string>()

  constructor(values: URLSearchParams) {
    this.#values = values
  }

  /** Value by the first of its names that is there. */
  get(...names: readonly string[]): string | undefined {
    for (const name of names) {
      this.#read.add(name)
      const value = this.#values.getAll(name).at(-1)
      if (value !== undefined && value !== 'undefined') return value
    }
    return undefined
  }

  /** Values of a field that may be there several times. */
  all(name: string): string[] {
    this.#read.add(name)
    return this.#values.getAll(name).filter((value) => value !== 'undefined')
  }

  /** Fields with others in the place of some, as a query: of the next page of a list. */
  with(others: Readonly<Record<string, string | null>>): string {
    const values = new URLSearchParams(this.#values)
    for (const [name, value] of Object.entries(others)) {
      if (value === null) values.delete(name)
      else values.set(name, value)
    }
    return values.toString()
  }

  /** Names of fields that nobody asked for. */
  get unread(): string[] {
    return [...new Set(this.#values.keys())].filter((name) => !this.#read.has(name))
  }
}

/** Input of an operation. */
export interface OperationInput {
  readonly params?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string | number | undefined>>
  readonly body?: object
  /** Body that is no JSON, such as a form with files. */
  readonly raw?: { readonly contentType: string; readonly bytes: Buffer }
  /** Name of the operation among those of one call; it has an idempotency key of its own. */
  readonly part?: string
}

/** Request to a door, from a caller whose key is valid. */
export interface DoorCall {
  readonly method: string
  /** Path below the door, with its slash. */
  readonly path: string
  readonly params: Readonly<Record<string, string>>
  readonly query: DoorFields
  /** Query as it was written. */
  readonly search: string
  /** Fields of a form body. */
  readonly form: DoorFields
  readonly headers: IncomingHttpHeaders
  readonly bytes: Buffer
  /** JSON body; null when it is none. */
  readonly json: unknown
  readonly accountId: Id<'account'>
  readonly requestId: Id<'request'>
  /** Time of the request. */
  readonly nowMs: number
  /** Address of the door, without a slash at the end. */
  readonly baseUrl: string
  /** Runs an operation of the own API with the caller's key; a refusal is thrown as AppError. */
  run(operation: string, input?: OperationInput): Promise<Reply>
}

interface DoorRoute {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Path below the door, with `:name` for parameters. */
  readonly path: string
  handle(call: DoorCall): Promise<HookAnswer>
}

/** Where a refusal was met. */
interface Refused {
  readonly method: string
  readonly path: string
  readonly accept: string
  readonly requestId: string
}

/** What a credential is read from. */
interface DoorSecret {
  readonly path: string
  readonly query: URLSearchParams
  readonly headers: IncomingHttpHeaders
}

export interface Door {
  /** Folder, part of the path, and name of the dialect in callback URLs. */
  readonly name: string
  /** Whose API it is. */
  readonly title: string
  readonly routes: readonly DoorRoute[]
  readonly maxBytes: number
  /** API key or token of a request; null when there is none. */
  secretOf(request: DoorSecret): string | null
  /** Refusal in the dialect. NOT_FOUND of a path: the door does not have it. */
  refused(error: AppError, about: Refused): HookAnswer
  /** Callbacks in the dialect. */
  readonly dialect?: Dialect
}

/** E.164 of a number as dialects write it: +254…, 254…, 00254…; what is none stays as it is and is refused by its operation. */
export function internationalNumber(text: string): string {
  const digits = text.trim().replace(/^(\+|00)/, '')
  return /^[1-9]\d{6,14}$/.test(digits) ? `+${digits}` : text.trim()
}

/** UUID of an id in a dialect: 32 hexadecimal digits after a prefix; null when the text is none. */
export function uuidInHex(prefix: string, text: string): string | null {
  const hex = text.startsWith(prefix) ? text.slice(prefix.length).toLowerCase() : ''
  return /^[0-9a-f]{32}$/.test(hex) ? hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5') : null
}

/** Refusal of what a door does not have. */
export function notHere(what: string): AppError {
  return new AppError('NOT_FOUND', `${what} is not supported by Pamoja`)
}
