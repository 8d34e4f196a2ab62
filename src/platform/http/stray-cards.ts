// SPDX-License-Identifier: Apache-2.0
// Card numbers stay on the way that was made for them: a body with a card is refused wherever none is taken, and what is
// kept of a request never holds the number of one.
import { withoutCardNumbers } from '../../kernel/card.ts'
import { AppError } from '../../kernel/errors.ts'
import type { Route } from '../route.ts'

/** Throws when a body brings a card to a route that knows nothing of cards. */
export function refuseStrayCard({ body: schema }: Route, body: unknown): void {
  if (typeof body !== 'object' || body === null || !Object.hasOwn(body, 'card')) return
  if (takesCard(schema)) return
  const fields = [{ field: 'card', code: 'VALIDATION_ERROR', message: 'must not be sent here' } as const]
  throw new AppError('VALIDATION_ERROR', 'card must not be sent here: cards are taken where payments are made', {
    fields,
  })
}

export function takesCard(schema: Route['body']): boolean {
  return Object.hasOwn(Object(Object(schema).properties), 'card')
}

/** A value as JSON that may be kept. */
export function textWithoutCards(value: unknown): string {
  return JSON.stringify(value, (_name, member: unknown) => {
    if (typeof member === 'string') return withoutCardNumbers(member)
    return typeof member === 'number' && withoutCardNumbers(String(member)) !== String(member) ? '[redacted]' : member
  })
}
