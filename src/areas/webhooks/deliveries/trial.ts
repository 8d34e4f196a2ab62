// SPDX-License-Identifier: Apache-2.0
// A test of an endpoint: one sample event, delivered now, and what came of it. The customer waits for it, so it is
// neither queued nor tried again; it is logged like any other delivery.
import type { Static } from 'typebox'
import { idOf, newIdAndUuid } from '../../../kernel/ids.ts'
import type { App } from '../../../platform/app.ts'
import type { Caller } from '../../../platform/auth.ts'
import type { Catalogue } from '../../../platform/events/catalogue.ts'
import type { EventType } from '../../../platform/events.ts'
import { type Allowance, admit } from '../allowance.ts'
import { subscriptionOf } from '../endpoints/endpoint.ts'
import { existing } from '../endpoints/register.ts'
import { webhookEvents } from '../events.ts'
import type { Trial, TrialOutcome } from '../schema.ts'
import type { EndpointRow } from '../store.ts'
import { deliverNow } from './test-delivery.ts'

const trials: Allowance = { name: 'webhook-test', perMinute: 10, what: 'tests' }

export async function tryEndpoint(
  app: App,
  id: string,
  input: Static<typeof Trial>,
  caller: Caller,
): Promise<Static<typeof TrialOutcome>> {
  const row = await existing(app.db, id, caller)
  const words = input.event === undefined ? row.events : subscriptionOf(app.catalogue, [input.event], 'event')
  const type = eventFor(app.catalogue, words)
  await admit(app, row, trials)
  const event = newIdAndUuid('event', caller.receivedMs)
  const body = sampleFor(type, row, event.id, new Date(caller.nowMs))
  const outcome = await deliverNow(app, {
    tenant: caller.tenant,
    endpoint: row,
    event: { id: event.uuid, type: type.name, resource: idOf('webhook', row.id), body },
    nowMs: caller.nowMs,
    requestId: caller.requestId,
  })
  return {
    delivered: outcome.delivered,
    delivery_id: idOf('delivery', outcome.id),
    event: type.name,
    response_status: outcome.status,
    duration_ms: outcome.durationMs,
    response_body: outcome.body,
    error: outcome.error,
    payload: JSON.parse(body),
  }
}

/** The event that the first word of a subscription means: any event is as good as another for `area.*`. */
function eventFor(catalogue: Catalogue, [word = '*']: readonly string[]): EventType {
  if (word === '*') return webhookEvents.test
  const area = word.endsWith('.*') ? word.slice(0, -1) : null
  const type = area === null ? catalogue.find(word) : catalogue.events.find(({ name }) => name.startsWith(area))
  return type ?? webhookEvents.test
}

/** The sample of the catalogue with an id and a time of its own, marked as a test. */
function sampleFor(type: EventType, { id }: EndpointRow, eventId: `evt_${string}`, at: Date): string {
  const text =
    type.name === webhookEvents.test.name
      ? webhookEvents.test.body(eventId, at, { ...webhookEvents.test.sample, webhook_id: idOf('webhook', id) })
      : type.body(eventId, at, type.sample)
  return `${text.slice(0, -1)},"test":true}`
}
