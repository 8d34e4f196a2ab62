// SPDX-License-Identifier: Apache-2.0
// Events of a recipient, in the form of group commits.
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

/** Fields common to all events of a recipient. */
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

/** Events encoded for this area's SQL functions. */
export function eventsColumn(events: readonly NewEvent[]): string {
  return JSON.stringify(events.map(({ row }) => row))
}

/** Starts the webhook deliveries of a commit: one text per event, separated by bars. */
export function beginAll(app: App, events: readonly NewEvent[], deliveries: string | null): void {
  if (deliveries === null) return
  const each = deliveries.split('|')
  events.forEach((event, i) => void app.outbox.begin(event, each[i] || null))
}
