// SPDX-License-Identifier: Apache-2.0
// An event on demand: a sample that travels as a real one does, to every webhook and stream that wants it, so that a
// receiver can be written before anything has happened. It is stored as an event, and marked as a test in its body.
import { Type } from 'typebox'
import { AppError, invalid } from '../../kernel/errors.ts'
import { idOf, nilUuid } from '../../kernel/ids.ts'
import { nearest } from '../../kernel/spelling.ts'
import { record } from '../../platform/api/audit.ts'
import { write } from '../../platform/api/route.ts'
import type { Catalogue } from '../../platform/events/catalogue.ts'
import type { EventType } from '../../platform/events.ts'
import { At } from '../../platform/schema/fields.ts'

const maxOverrides = 50

const Trigger = Type.Object({
  event: Type.String({ maxLength: 60, description: 'Event name, such as payment.completed' }),
  override: Type.Optional(
    Type.Record(Type.String({ maxLength: 60 }), Type.Unknown(), {
      maxProperties: maxOverrides,
      rule: `must be an object of at most ${maxOverrides} fields`,
      description: 'Payload fields that replace those of the sample, of the same JSON type',
    }),
  ),
})

const Triggered = Type.Object(
  {
    id: Type.String({ description: 'Id of the event, such as `evt_…`' }),
    event: Type.String({ description: 'Name in the event catalogue' }),
    created_at: At({ description: 'Time of creation' }),
    payload: Type.Unknown({ description: 'Payload that subscribers receive' }),
  },
  { title: 'TriggeredEvent' },
)

export const eventsTrigger = write({
  method: 'POST',
  path: '/v1/events/trigger',
  operation: 'events.trigger',
  summary: 'Trigger a sample event',
  description:
    'Test keys only. Sends the sample of the event catalogue, with your overrides, to all subscribed webhooks and streams, signed and retried like any other event.',
  scope: 'sandbox:write',
  body: Trigger,
  reply: { status: 201, schema: Triggered, location: ({ id }) => `/v1/events/${id}` },
  errors: ['INVALID_EVENT', 'VALIDATION_ERROR'],
  examples: [
    { name: 'A payment', body: { event: 'payment.completed' } },
    { name: 'A failed text', body: { event: 'sms.status', override: { status: 'failed' } } },
  ],
  handle: async (app, tx, { body }, caller) => {
    const type = eventNamed(app.catalogue, body.event)
    const payload = overridden(type, body.override ?? {})
    const resource = resourceOf(payload)
    // An event with a second name is emitted under both, as in earnest.
    const wide = type.within === undefined ? undefined : app.catalogue.find(type.within)
    const {
      id,
      row,
      body: told,
    } = wide
      ? await app.outbox.emitWithin(tx, type, app.outbox.prepare(marked(wide), caller, resource, payload))
      : await app.outbox.emit(tx, marked(type), caller, resource, payload)
    await record(tx, caller, 'events.trigger', id, { after: { event: type.name } })
    return { id, event: type.name, created_at: row.created_at, payload: JSON.parse(told) }
  },
})

/** The event of a name; an alias of several stands for the first of them. */
function eventNamed(catalogue: Catalogue, name: string): EventType {
  const resolved = catalogue.resolve([name])
  const [word = ''] = resolved.kind === 'accepted' ? resolved.events : []
  const type = catalogue.find(word)
  if (type) return type
  const meant = nearest(
    name,
    catalogue.events.map((known) => known.name),
  )
  const hint = meant === null ? '' : ` (did you mean ${JSON.stringify(meant)}?)`
  throw new AppError(
    'INVALID_EVENT',
    `${JSON.stringify(name)}${hint} is no event; GET /v1/webhooks/events lists the names`,
  )
}

/** The sample's payload with some of its fields replaced; refuses fields that it has not, and values of another kind. */
function overridden(type: EventType, override: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const sample = { ...Object(type.sample) }
  const shown = JSON.parse(bodyOf(type, sample))
  for (const [name, value] of Object.entries(override)) {
    if (!Object.hasOwn(sample, name)) throw invalid(`override.${name}`, `is not a field of the payload of ${type.name}`)
    const [given, known] = [kindOf(value), kindOf(shown[name])]
    if (given !== known && given !== 'null' && known !== 'null')
      throw invalid(`override.${name}`, `must be of the type ${known}, as in the sample`)
  }
  return { ...sample, ...override }
}

function kindOf(value: unknown): string {
  return value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value
}

/** Event type marked as triggered by hand, so that it is not taken for a real one. */
function marked(type: EventType): EventType {
  return { ...type, body: (...args) => `${type.body(...args).slice(0, -1)},"test":true}` }
}

/** Resource of a sample: the first of its ids. */
function resourceOf(payload: Readonly<Record<string, unknown>>): string {
  const found = Object.entries(payload).find(([name, value]) => name.endsWith('_id') && typeof value === 'string')
  return String(found?.[1] ?? 'sample')
}

function bodyOf(type: EventType, payload: unknown): string {
  return type.body(idOf('event', nilUuid), new Date(0), payload)
}
