// SPDX-License-Identifier: Apache-2.0
// Messages of a websocket: JSON objects with a `type`, checked by the schema of that type. One with an `id` is answered by
// `done` or `error` with the same id; `ping` by `pong`.
import type { Static, TSchema } from 'typebox'
import { AppError } from '../../kernel/errors.ts'
import type { Connection } from '../api/socket.ts'
import type { App } from '../app.ts'
import { bodyChecker } from './validate.ts'

type Schemas = Readonly<Record<string, TSchema>>
export type MessageOf<S extends Schemas> = { [T in keyof S]: { type: T; body: Static<S[T]> } }[keyof S]

/** Parses messages of these types; null for an unknown type. Throws when one is invalid. */
export function messageReader<S extends Schemas>(schemas: S): (given: object) => MessageOf<S> | null {
  const checks = new Map(Object.entries(schemas).map(([type, schema]) => [type, bodyChecker(schema)]))
  return (given) => {
    const { type, id: _, ...fields } = Object(given)
    const check = typeof type === 'string' ? checks.get(type) : undefined
    if (!check) return null
    // The schema of the type was checked.
    return { type, body: check(fields).value } as MessageOf<S>
  }
}

/** Id of a message, repeated in its reply. */
function idIn(given: object): string | null {
  const { id } = Object(given)
  return typeof id === 'string' && id.length <= 64 ? id : null
}

/** Does what a message asks for, and answers it. */
export async function answerMessage<M extends { type: PropertyKey }>(
  app: App,
  connection: Connection,
  operation: string,
  given: object,
  { read, take }: { read(given: object): M | null; take(message: M): Promise<unknown> },
): Promise<void> {
  const id = idIn(given)
  const reply = id === null ? {} : { id }
  try {
    const message = read(given)
    if (!message) throw new AppError('INVALID_REQUEST', 'the message type is unknown')
    const result = await take(message)
    if (message.type === 'ping') connection.send({ type: 'pong', ...reply })
    else if (id !== null) connection.send({ type: 'done', id, ...(result ? { result } : {}) })
  } catch (error) {
    const known = error instanceof AppError ? error : null
    if (!known)
      app.log.error(
        { error, operation },
        'message of a websocket failed inside this program: the client gets an error; report the error',
      )
    const [code, words] = known ? [known.code, known.details] : ['INTERNAL_ERROR', 'an internal error occurred']
    connection.send({ type: 'error', ...reply, code, message: words })
  }
}
