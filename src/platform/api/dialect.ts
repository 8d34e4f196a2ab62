// SPDX-License-Identifier: Apache-2.0
// Dialect: how another provider tells of events and asks about calls. Its door supplies the words; the platform sends them.

/** Reply of an operation, or a part of it. A field of another type than it is read as is a bug of the door. */
export class Reply {
  readonly #value: Readonly<Record<string, unknown>>

  constructor(value: unknown) {
    this.#value = typeof value === 'object' && value !== null ? { ...value } : {}
  }

  /** Text of a field; of a number too, as it is written. */
  text(name: string): string {
    const value = this.#value[name]
    if (typeof value === 'number') return String(value)
    if (typeof value !== 'string') throw new Error(`the reply has no text ${name}`)
    return value
  }

  /** Text of a field; null when it is null or missing. */
  maybe(name: string): string | null {
    const value = this.#value[name]
    return value === null || value === undefined ? null : this.text(name)
  }

  number(name: string): number {
    const value = this.#value[name]
    if (typeof value !== 'number') throw new Error(`the reply has no number ${name}`)
    return value
  }

  /** Objects of a list; none when it is missing. */
  list(name: string): Reply[] {
    const value = this.#value[name]
    return Array.isArray(value) ? value.map((one) => new Reply(one)) : []
  }

  part(name: string): Reply {
    return new Reply(this.#value[name])
  }

  /** Value as it is. */
  raw(name: string): unknown {
    return this.#value[name]
  }
}

/** Event that is told in a dialect. */
export interface ToldEvent {
  readonly name: string
  readonly payload: Reply
}

/** Account and address that an event is told to. */
export interface Listener {
  readonly accountId: string
  readonly url: string
  /** Words of the dialect in the address. */
  readonly options: readonly string[]
  readonly nowMs: number
  /** Newest key that was made for the door; null when there is none. */
  readonly doorKey: string | null
}

export interface DialectRequest {
  readonly method: 'GET' | 'POST'
  readonly url: string
  readonly contentType: string
  readonly body: string
  /** Signatures of the dialect. */
  readonly headers?: Readonly<Record<string, string>>
}

export interface Dialect {
  /** Events that the dialect has words for. */
  readonly events: readonly string[]
  /** Requests are signed with a key that was made for the door. */
  readonly signsWithKey?: boolean
  /** The standard signature is sent under other names as well. */
  readonly signsLike?: 'svix'
  /** Request that tells an event or asks about a call; null when the dialect has no word for it. */
  tell(event: ToldEvent, listener: Listener): DialectRequest | null
  /** Answer of a receiver, in the form that the own API takes. */
  answer?(event: string, body: string): string
  /** Actions of a call in an answer, which came from `url`; null when it has none. */
  flow?(body: string, url: string): readonly object[] | null
}

/** Form post of a dialect. */
export function formPost(
  url: string,
  fields: Readonly<Record<string, string>>,
  headers: Readonly<Record<string, string>> = {},
): DialectRequest {
  const body = new URLSearchParams(fields).toString()
  return { method: 'POST', url, contentType: 'application/x-www-form-urlencoded', body, headers }
}
