// SPDX-License-Identifier: Apache-2.0
// Events of a recipient, as a group commit stores them with what they tell of.
import type { Static, TSchema } from 'typebox'
import { idOf } from '../../../kernel/ids.ts'
import type { App } from '../../../platform/app.ts'
import type { EventType, NewEvent, Occasion } from '../../../platform/events.ts'
import { notesOf } from './load.ts'

export interface Told {
  readonly id: string
  readonly email: string
  readonly bulk_id: string | null
  readonly tags: readonly string[]
  readonly metadata: string
  readonly callback_url: string | null
}

/** What every event of a recipient says. */
export function aboutOf(told: Told) {
  return {
    message_id: idOf('email', told.id),
    email: told.email,
    bulk_id: told.bulk_id && idOf('emailBulk', told.bulk_id),
    tags: [...told.tags],
    metadata: notesOf(told.metadata),
  }
}

export function newsOf<S extends TSchema>(
  app: App,
  type: EventType<S>,
  occasion: Occasion,
  told: Told,
  payload: Static<S>,
): NewEvent {
  return app.outbox.prepare(type, occasion, idOf('email', told.id), payload, { callbackUrl: told.callback_url })
}

/** Events as the SQL functions of this area take them. */
export function eventsColumn(events: readonly NewEvent[]): string {
  return JSON.stringify(events.map(({ row }) => row))
}

/** Hands over what a commit told of: one text of deliveries for each event, separated by bars. */
export function beginAll(app: App, events: readonly NewEvent[], deliveries: string | null): void {
  if (deliveries === null) return
  const each = deliveries.split('|')
  events.forEach((event, i) => void app.outbox.begin(event, each[i] || null))
}
