// SPDX-License-Identifier: Apache-2.0
// An area for tests and benchmarks: a note costs money, is written durably, and is published by a job. It walks the same
// path as a paid send (limits, idempotency, charge, row, work, audit in one group commit) and has no carrier behind it.

import { type Static, Type } from 'typebox'
import { AppError } from '../../src/kernel/errors.ts'
import { newUuid } from '../../src/kernel/ids.ts'
import { isCurrency } from '../../src/kernel/money.ts'
import { chargeOf, chargeRow } from '../../src/ledger/charges.ts'
import { audited, auditRow } from '../../src/platform/api/audit.ts'
import { type Keyed, keyRow } from '../../src/platform/api/idempotency.ts'
import { commit, IdParam, read } from '../../src/platform/api/route.ts'
import type { App } from '../../src/platform/app.ts'
import type { Area } from '../../src/platform/area.ts'
import type { Caller } from '../../src/platform/auth.ts'
import { operation } from '../../src/platform/commit.ts'
import { maybe, statement } from '../../src/platform/db.ts'
import { eventRow, eventType } from '../../src/platform/events.ts'
import { root } from '../../src/platform/program/root.ts'
import { Amount, At, Metadata, Nullable, OneOf } from '../../src/platform/schema/fields.ts'
import { mine, tenantColumns } from '../../src/platform/tenant.ts'
import { type Job, jobRow } from '../../src/platform/work.ts'
import { fileHooks, fileRoutes } from './files.ts'

export const notesMigrations = new URL('test/notes/migrations/', root)

const defaultCostMicros = 800_000n

export const NoteCreate = Type.Object({
  text: Type.String({ minLength: 1, maxLength: 1530, rule: 'must have 1 to 1530 characters', sensitive: true }),
  to: Type.Optional(
    Type.String({
      pattern: '^\\+[1-9]\\d{1,14}$',
      rule: 'must be E.164, such as +254711000001',
      errorCode: 'INVALID_PHONE',
    }),
  ),
  units: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000, rule: 'must be 1 to 1000' })),
  topic: Type.Optional(Type.String({ maxLength: 100 })),
  event: Type.Optional(OneOf(['note.published', 'note.shown'])),
  callback_url: Type.Optional(Type.String({ maxLength: 2048 })),
  reference: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
  metadata: Type.Optional(Metadata),
})

const NoteRecord = Type.Object(
  {
    note_id: Type.String(),
    status: OneOf(['queued', 'published']),
    cost: Amount(),
    currency: Type.String(),
    timestamp: At(),
  },
  { title: 'Note' },
)

const submit = operation.tenant(
  'notes.submit',
  {
    ...tenantColumns,
    id: 'uuid',
    text: 'text',
    cost: 'bigint',
    currency: 'text',
    reference: 'text',
    charge: chargeRow,
    job: jobRow,
    audit: auditRow,
    key: keyRow,
  },
  { seen: 'text', verdict: 'text', existing: 'uuid' },
)

const finish = operation.tenant(
  'notes.finish',
  {
    ...tenantColumns,
    id: 'uuid',
    job: 'uuid',
    attempt: 'int',
    event: eventRow,
  },
  { deliveries: 'text' },
)

const find = statement.tenant<
  { bucket: number; account: string; environment: string; id: string },
  { status: 'queued' | 'published'; cost: bigint; currency: string }
>(
  'notes.find',
  `select status, cost, currency from notes.notes
    where ${mine} and id = $id`,
)

const Published = Type.Object(
  {
    note_id: Type.String(),
    /** Topic that several notes may be about: ordered receivers hear of them one after the other. */
    topic: Nullable(Type.String()),
    text: Type.String(),
    metadata: Metadata,
  },
  { title: 'NotePublishedEvent' },
)

export const published = eventType({
  name: 'note.published',
  summary: 'A note was published',
  payload: Published,
  sample: { note_id: '0192f3a1-0000-7000-8000-000000000000', topic: null, text: 'Habari', metadata: { shop: 'A' } },
})

const shown = eventType({
  name: 'note.shown',
  summary: 'A note was published: for subscribers of note.shown alone',
  within: 'note.published',
  payload: Published,
  sample: published.sample,
})

const PublishPayload = Type.Object({
  note: Type.String(),
  requestId: Type.Optional(Type.String()),
  clockOffsetMs: Type.Optional(Type.Number()),
  callbackUrl: Type.Optional(Type.String()),
  event: Type.Optional(OneOf(['note.published', 'note.shown'])),
  topic: Type.Optional(Type.String()),
  text: Type.Optional(Type.String()),
  metadata: Type.Optional(Metadata),
})

const publish: Job<App, typeof PublishPayload> = {
  lane: 'notes.publish',
  role: 'dispatch',
  payload: PublishPayload,
  concurrency: 256,
  retrySeconds: [1, 5, 30],
  async handle(app, { id, attempt, tenant, payload }) {
    if (!tenant) throw new Error('a note belongs to an account')
    const {
      note,
      requestId = null,
      clockOffsetMs = 0,
      callbackUrl = null,
      topic = null,
      text = '',
      metadata = {},
    } = payload
    const receivedMs = app.clock.nowMs()
    const event = app.outbox.prepare(
      payload.event === shown.name ? shown : published,
      { tenant, receivedMs, nowMs: receivedMs + clockOffsetMs, requestId },
      topic ?? note,
      { note_id: note, topic, text, metadata },
      { callbackUrl },
    )
    const { deliveries } = await app.commit(finish, { ...tenant, id: note, job: id, attempt, event: event.row })
    app.outbox.begin(event, deliveries)
    return { kind: 'settled' }
  },
}

async function create(app: App, input: Static<typeof NoteCreate>, caller: Caller, keyed: Keyed) {
  const { tenant, principal, receivedMs } = caller
  const id = newUuid(receivedMs)
  const currency = principal.facts.currency
  const price = isCurrency(currency)
    ? app.prices.quote({ area: 'notes', unit: 'note', currency, account: tenant.account, atMs: receivedMs })
    : null
  const cost = (price?.micros ?? defaultCostMicros) * BigInt(input.units ?? 1)
  const job = app.work.prepare(publish, tenant, {
    note: id,
    requestId: caller.requestId,
    clockOffsetMs: caller.nowMs - receivedMs,
    text: input.text,
    ...(input.callback_url === undefined ? {} : { callbackUrl: input.callback_url }),
    ...(input.event === undefined ? {} : { event: input.event }),
    ...(input.topic === undefined ? {} : { topic: input.topic }),
    ...(input.metadata === undefined ? {} : { metadata: input.metadata }),
  })
  const reply = { note_id: id, status: 'queued' as const, cost, currency, timestamp: new Date(caller.nowMs) }
  const by = { ...caller, id: newUuid(receivedMs) }
  const { seen, verdict, existing } = await app.commit(submit, {
    ...tenant,
    id,
    text: input.text,
    cost,
    currency,
    reference: input.reference ?? null,
    charge: chargeOf(tenant, { currency, micros: cost, sourceId: id, credit: 'revenue:notes' }, receivedMs),
    job,
    audit: audited({ by, action: 'note.create', target: `note:${id}` }),
    key: keyed.row(reply),
  })
  keyed.settle(seen)
  if (verdict === 'insufficient')
    throw new AppError('INSUFFICIENT_BALANCE', `the note costs more than the ${currency} wallet holds`)
  if (verdict === 'duplicate')
    throw new AppError('DUPLICATE_REFERENCE', 'another note has this reference', { extra: { existing_id: existing } })
  app.work.begin(job)
  return reply
}

const createNote = commit({
  method: 'POST',
  path: '/v1/notes',
  operation: 'notes.create',
  summary: 'Create a note',
  scope: 'sms:write',
  limit: 'sms',
  body: NoteCreate,
  reply: { status: 200, schema: NoteRecord },
  errors: ['INVALID_PHONE', 'INSUFFICIENT_BALANCE', 'DUPLICATE_REFERENCE'],
  examples: [{ name: 'A note', body: { text: 'Habari' } }],
  handle: (app, { body }, caller, keyed) => create(app, body, caller, keyed),
})

const getNote = read({
  method: 'GET',
  path: '/v1/notes/:id',
  operation: 'notes.get',
  summary: 'Get a note',
  scope: 'sms:read',
  params: IdParam,
  reply: { status: 200, schema: NoteRecord },
  errors: ['NOT_FOUND'],
  needs: { operation: 'notes.create', id: 'note_id' },
  handle: async (app, { params }, caller) => {
    const row = /^[0-9a-f-]{36}$/.test(params.id)
      ? await maybe(app.db.query(find, { ...caller.tenant, id: params.id }))
      : null
    if (!row) throw new AppError('NOT_FOUND', 'there is no such note')
    return { note_id: params.id, ...row, timestamp: new Date(caller.nowMs) }
  },
})

export const notes: Area = {
  name: 'notes',
  routes: [createNote, getNote, ...fileRoutes],
  hooks: fileHooks,
  jobs: [publish],
  events: [published, shown],
  // Letters and parcels are on the price list, and nobody sends any.
  charges: { notes: ['note'], letters: ['page'], parcels: ['kilo'] },
}
