// SPDX-License-Identifier: Apache-2.0
// Card numbers outside the routes made for them: a body with a card is refused elsewhere, and stored requests never
// contain one.
import { withoutCardNumbers } from '../../kernel/card.ts'
import { AppError } from '../../kernel/errors.ts'
import type { Route } from '../api/route.ts'

/** Throws when a body contains a card and the route takes none. */
export function refuseStrayCard({ body: schema }: Route, body: unknown): void {
  if (typeof body !== 'object' || body === null || !Object.hasOwn(body, 'card')) return
  if (takesCard(schema)) return
  const fields = [{ field: 'card', code: 'VALIDATION_ERROR', message: 'must not be sent here' } as const]
  throw new AppError('VALIDATION_ERROR', 'card is not accepted here: send cards to payment operations only', {
    fields,
  })
}

export function takesCard(schema: Route['body']): boolean {
  return Object.hasOwn(Object(Object(schema).properties), 'card')
}

/** JSON of a value, with card numbers removed. */
export function textWithoutCards(value: unknown): string {
  return JSON.stringify(value, (_name, member: unknown) => {
    if (typeof member === 'string') return withoutCardNumbers(member)
    return typeof member === 'number' && withoutCardNumbers(String(member)) !== String(member) ? '[redacted]' : member
  })
}
