// SPDX-License-Identifier: Apache-2.0
// Lists that people look at every day answer from an index: among many rows of one account, few of which are asked for, they
// read few blocks. PAMOJA_LIST_ROWS=1000000 tries it with more.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import '../../src/areas.ts'
import { firstUuidAt, newUuid } from '../../src/kernel/ids.ts'
import { statements } from '../../src/platform/db.ts'
import { createMigratedDatabase } from '../database.ts'

const rows = Number(process.env.PAMOJA_LIST_ROWS ?? 20_000)
/** One row in so many is asked for. */
const rarity = rows / 20
/** Blocks of an answer of a page: the rows, and the way to each through an index of a partition or two. */
const maxBlocks = 600

const database = await createMigratedDatabase()
after(() => database.drop())

const atMs = Date.now()
const account = newUuid(atMs)
const endpoint = newUuid(atMs)
const batch = newUuid(atMs - 3_600_000)
const tenant = { bucket: 7, account_id: account, environment: 'live' }
const message = { sender: 'PAMOJA', created_at: new Date(atMs), currency: 'KES', cost: 0 }
const recipient = '+254711000001'

interface Filled {
  table: string
  /** Fields of every row. */
  fields: object
  /** Fields of rows in SQL, by `n` and `made`, an id. */
  own: Readonly<Record<string, string>>
}

const isRare = `n % ${rarity} = 0`
const usually = (rare: string, usual: string) => `case when ${isRare} then '${rare}' else '${usual}' end`

const filled: readonly Filled[] = [
  {
    table: 'sms.messages',
    fields: {
      ...{
        ...message,
        recipient,
        direction: 'outbound',
        body: 'Habari',
        encoding: 'gsm7',
        segments: 1,
        type: 'transactional',
      },
      ...{ unit_price: 0, validity: 60, country: 'KE' },
    },
    own: { id: 'made', status: usually('failed', 'delivered'), batch_id: `'${batch}'` },
  },
  {
    // Answers to one message of the batch.
    table: 'sms.messages',
    fields: {
      ...{ ...message, sender: recipient, recipient: '22200', direction: 'inbound', body: 'Ndiyo', encoding: 'gsm7' },
      ...{ segments: 1, unit_price: 0, validity: 60, country: 'KE', status: 'received' },
    },
    own: {
      id: "overlay(made::text placing left(md5('answer ' || n), 12) from 25 for 12)",
      in_reply_to: `case when ${isRare} then (select id from sms.messages where batch_id = '${batch}' limit 1) end`,
    },
  },
  {
    table: 'email.messages',
    fields: {
      ...{ ...message, domain: 'example.com', subject: 'Habari', stream: 'transactional', source: 'api', tags: [] },
      ...{ content_id: account, metadata: '{}', track_opens: false, track_clicks: false, recipients: 1, size: 1 },
      ...{ unit_price: 0, expires_at: new Date(atMs) },
    },
    own: { id: 'made', status: usually('bounced', 'delivered') },
  },
  {
    table: 'email.recipients',
    fields: { type: 'to', status: 'delivered', number: 0 },
    own: { message_id: 'made', email: usually('ada@example.com', 'ben@example.com') },
  },
  {
    table: 'messenger.messages',
    fields: { ...message, recipient, direction: 'outbound', type: 'text', content: {} },
    own: { id: 'made', status: usually('failed', 'read') },
  },
  {
    table: 'webhooks.deliveries',
    fields: {
      ...{ endpoint_id: endpoint, event_id: account, event: 'sms.status', resource_id: 'sms_1', ordered: false },
      ...{ attempts: 1, created_at: new Date(atMs), test: false, log: '', heard_since: false },
    },
    own: { id: 'made', status: usually('failed', 'delivered') },
  },
  {
    table: 'events.events',
    fields: { type: 'sms.status', body: '{}' },
    own: { id: 'made', resource_id: usually('sms_ada', 'sms_ben') },
  },
]

for (const { table, fields, own } of filled) {
  const given = { ...tenant, ...fields }
  const names = [...Object.keys(given), ...Object.keys(own)].join(', ')
  const columns = Object.entries(own).map(([name, value]) => `'${name}', ${value}`)
  // In turn with the time of their ids, as they are made.
  await database.sql(
    `insert into ${table} (${names})
     select ${names}
       from (select n, overlay(md5(n::text)::uuid::text placing left(platform.uuid_at($2::timestamptz - (${rows} - n) * interval '1 ms')::text, 14)
                       from 1 for 14)::uuid as made from generate_series(1, ${rows}) n) x
      cross join lateral jsonb_populate_record(null::${table}, $1::jsonb || jsonb_build_object(${columns.join(', ')}))`,
    [JSON.stringify(given), new Date(atMs)],
  )
}
await database.sql('analyze')

const page = { after: null, descending: true, limit: 50 }
const anything = {
  ...{ bucket: 7, account, environment: 'live', ...page, since: null, until: null },
  ...{
    from: firstUuidAt(0),
    to: firstUuidAt(atMs + 3_600_000),
    status: null,
    recipient: null,
    sender: null,
    batch: null,
  },
  ...{
    direction: null,
    scheduled: null,
    errorCode: null,
    reference: null,
    now: new Date(atMs),
    country: null,
    text: null,
  },
  ...{ metadata: null, tag: null, bulk: null, template: null, type: null, resource: null, eventId: null, events: null },
}
const ofEndpoint = { ...anything, endpoint, since: firstUuidAt(0), from: null, to: null, sending: [] }
const ofEvents = { ...anything, types: ['sms.status'], twins: [] }

const lists: readonly { name: string; asked: Readonly<Record<string, unknown>> }[] = [
  { name: 'sms.list_failed_messages', asked: { ...anything, status: 'failed' } },
  { name: 'sms.replies_to_batches', asked: { ...anything, batches: [batch], since: firstUuidAt(0) } },
  { name: 'email.list_failed_messages', asked: { ...anything, status: 'bounced' } },
  { name: 'email.list_messages_of_recipient', asked: { ...anything, recipient: 'ada@example.com' } },
  { name: 'messenger.list_failed_messages', asked: { ...anything, status: 'failed' } },
  { name: 'webhooks.list_failed_deliveries', asked: { ...ofEndpoint, status: 'failed' } },
  { name: 'events.list_of_resource', asked: { ...ofEvents, resource: 'sms_ada' } },
]

for (const { name, asked } of lists)
  for (const order of ['newest', 'oldest'])
    test(`${name}, ${order} first, reads few blocks of ${rows} rows`, async (t) => {
      const { text = '', parameters = [] } = statements.get(name) ?? {}
      const values: Readonly<Record<string, unknown>> = { ...asked, descending: order === 'newest' }
      const [row] = await database.sql<{ 'QUERY PLAN': [{ Plan: Record<string, number> }] }>(
        `explain (analyze, buffers, format json) ${text}`,
        parameters.map((parameter) => values[parameter]),
      )
      const plan = row?.['QUERY PLAN'][0].Plan
      const blocks = (plan?.['Shared Hit Blocks'] ?? 0) + (plan?.['Shared Read Blocks'] ?? 0)
      assert.equal(plan?.['Actual Rows'], 20)
      assert.ok(blocks <= maxBlocks, `${blocks} blocks`)
      t.diagnostic(`${blocks} blocks`)
    })
