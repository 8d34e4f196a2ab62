// SPDX-License-Identifier: Apache-2.0
// Live stream of events, over server-sent events.
import { Type } from 'typebox'
import { AppError } from '../../kernel/errors.ts'
import { stream } from '../../platform/api/route.ts'
import type { Catalogue, Heard } from '../../platform/events/catalogue.ts'
import { toldBody } from '../../platform/events/sealed.ts'
import { knownEvent, tailMessages } from '../../platform/events/tail.ts'

const maxWords = 100

export const eventsStream = stream({
  path: '/v1/events/stream',
  operation: 'events.stream',
  summary: 'Stream events',
  description:
    'Server-sent events: `id` is the event’s id, `event` its name, `data` the payload. The stream starts now, or after the event given by `Last-Event-ID` or `after`; no event is lost, and the last seconds before that event may be repeated, so deduplicate by id. A client that reads nothing for 30 seconds is disconnected and can reconnect.',
  scope: 'events:read',
  query: Type.Object({
    events: Type.Optional(
      Type.Array(Type.String({ maxLength: 60 }), {
        maxItems: maxWords,
        rule: `must be at most ${maxWords} names of events, separated by commas`,
        description: 'Event names or patterns as in a webhook, separated by commas, such as `sms.delivered` or `sms.*`',
      }),
    ),
    resource_id: Type.Optional(Type.String({ maxLength: 100, description: 'Filter by id of the resource' })),
    after: Type.Optional(Type.String({ maxLength: 60, description: 'Id of the last event that you received' })),
  }),
  message: Type.Object(
    {
      event: Type.String({
        description: 'Name of the event, such as `sms.delivered`; the fields of the event are siblings',
      }),
      event_id: Type.String({ description: 'Id of the event, such as `evt_…`; the same in repeated deliveries' }),
    },
    { additionalProperties: true },
  ),
  errors: ['INVALID_EVENT'],
  handle: (app, { query }, { tenant }, { lastEventId, signal }) => {
    const after = lastEventId ?? query.after
    return tailMessages(
      app,
      {
        tenant,
        ...heardBy(app.catalogue, query.events, 'events'),
        resource: query.resource_id ?? null,
        after: after === undefined ? null : knownEvent(after),
        signal,
      },
      (row) => toldBody(app, tenant, row),
    )
  },
})

/** Event names that a webhook with these subscriptions would get; all of them without any. */
export function heardBy(catalogue: Catalogue, words: readonly string[] | undefined, field: string): Heard {
  const resolved = catalogue.resolve(words ?? ['*'])
  if (resolved.kind === 'accepted') return catalogue.heardBy(resolved.events)
  const unknown = catalogue.told(resolved.unknown) || 'nothing'
  throw new AppError(
    'INVALID_EVENT',
    `${field}: not in the catalogue: ${unknown}; GET /v1/webhooks/events lists the names`,
  )
}
