// SPDX-License-Identifier: Apache-2.0
// Deliveries over a connection that the customer opened, for machines without a public address: `npm start -- listen`
// passes them to a local server. Each message is what an endpoint would receive, headers and body, signed with the
// account's own secret.
import { createHash } from 'node:crypto'
import { Type } from 'typebox'
import { idOf, uuidText } from '../../kernel/ids.ts'
import { stream } from '../../platform/api/route.ts'
import type { App } from '../../platform/app.ts'
import type { Caller } from '../../platform/auth.ts'
import { toldBody } from '../../platform/events/sealed.ts'
import { knownEvent, tailMessages } from '../../platform/events/tail.ts'
import type { EventRow } from '../../platform/events.ts'
import { bodyBytes } from './deliveries/body.ts'
import { paired, requestHeaders, resourceUrl } from './deliveries/delivery.ts'
import { loadCallbackTarget, type Target } from './deliveries/targets.ts'
import { subscriptionOf } from './endpoints/endpoint.ts'
import { refuseVisitor } from './portal.ts'

/** Cache time of the secret, which may be rotated meanwhile. */
const targetForMs = 5_000

const Listened = Type.Object(
  {
    headers: Type.Record(Type.String(), Type.String(), { description: 'The headers of the request' }),
    body: Type.String({ description: 'Body of the request, exactly as it is signed' }),
  },
  { title: 'ListenedDelivery' },
)

export const listenWebhooks = stream({
  path: '/v1/webhooks/listen',
  operation: 'webhooks.listen',
  summary: 'Receive deliveries over a stream',
  description:
    'For machines without a public address: `npm start -- listen --forward-to http://localhost:3000/hook` reads this stream and posts each event to a local server. Signed with the callback secret (`GET /v1/webhooks/callback-secret`). It resumes after `Last-Event-ID` or `after`, and starts now without them.',
  scope: 'webhooks:read',
  query: Type.Object({
    events: Type.Optional(
      Type.Array(Type.String({ maxLength: 60 }), {
        description:
          'Event names or patterns as in a webhook, separated by commas, such as `sms.delivered` or `sms.*`; default all',
      }),
    ),
    after: Type.Optional(Type.String({ maxLength: 60, description: 'Id of the last event that you received' })),
  }),
  message: Listened,
  errors: ['INVALID_EVENT'],
  handle: (app, { query }, caller, { lastEventId, signal }) => {
    refuseVisitor(caller)
    const words = subscriptionOf(app.catalogue, query.events ?? ['*'])
    const heard = app.catalogue.heardBy(words)
    const after = lastEventId ?? query.after
    const tail = { tenant: caller.tenant, ...heard, resource: null, after: after ? knownEvent(after) : null, signal }
    const target = targetSource(app, caller)
    return tailMessages(app, tail, async (row) =>
      requestOf(app, caller, await target(), { ...row, body: await toldBody(app, caller.tenant, row) }),
    )
  },
})

function targetSource(app: App, { tenant }: Caller): () => Promise<Target> {
  let target: Promise<Target> | null = null
  let loadedAt = 0
  return () => {
    if (target === null || performance.now() - loadedAt > targetForMs) {
      loadedAt = performance.now()
      target = loadCallbackTarget(app, tenant)
    }
    return target
  }
}

/** Request that an endpoint would be sent, as the text of a stream message. */
function requestOf(app: App, { tenant, nowMs, receivedMs }: Caller, target: Target, row: EventRow): string {
  const { type: name, resource_id: resource, body } = row
  const id = idOf('event', row.id)
  const bytes = bodyBytes(body, resourceUrl(app, { id }))
  const clockOffsetMs = nowMs - receivedMs
  const delivery = {
    tenant,
    id: deliveryOf(row.id),
    endpoint: null,
    url: null,
    told: { id, name, body, bytes },
    resource,
    ordered: false,
    attempts: 0,
    createdMs: nowMs,
    dueMs: nowMs,
    clockOffsetMs,
    isTest: false,
    isReplay: false,
    trace: null,
  }
  const pairs = requestHeaders(app, target, delivery, bytes, app.clock.nowMs(), null)
  return JSON.stringify({ headers: paired(pairs), body: bytes.toString() })
}

/** An id that follows from the event, so that it is the same whenever the event is told. */
function deliveryOf(event: string): string {
  const own = createHash('sha256').update(`${event} listen`).digest('hex')
  const hex = `${event.replaceAll('-', '').slice(0, 16)}8${own.slice(0, 15)}`
  return uuidText(Buffer.from(hex, 'hex'))
}
