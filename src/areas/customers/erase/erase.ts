// SPDX-License-Identifier: Apache-2.0
// Erasure of one person everywhere, and the export of what is known of them. Every area answers for its own rows; what was kept, and why, is
// in the report. Logs follow in a job, because they are searched through.
import { type Static, Type } from 'typebox'
import { idOf } from '../../../kernel/ids.ts'
import { record } from '../../../platform/api/audit.ts'
import { type Route, read, write } from '../../../platform/api/route.ts'
import type { App } from '../../../platform/app.ts'
import type { Caller } from '../../../platform/auth.ts'
import { one, statement, type Tx } from '../../../platform/db.ts'
import { type Erased, eraseLogs, eraseTraces } from '../../../platform/operator/erasing.ts'
import { At, Nullable } from '../../../platform/schema/fields.ts'
import type { Page, Window } from '../../../platform/schema/lists.ts'
import { mine, type One, type Tenant } from '../../../platform/tenant.ts'
import type { Job } from '../../../platform/work.ts'
import { emptyRecipient, eraseRecipient } from '../campaigns/store.ts'
import { customerWith, lockedCustomer } from '../change.ts'
import { consentsOf } from '../consents.ts'
import { messagesWith } from '../conversations/messages.ts'
import { Entry } from '../conversations/schema.ts'
import { customerEvents, toldOf } from '../events.ts'
import { Customer, CustomerParam } from '../schema.ts'
import { lockAccount } from '../store.ts'
import { entriesOf, TimelineEntry } from '../timeline.ts'
import { suppress } from './erased.ts'

const removals = (
  [
    ['addresses', 'addresses'],
    ['notes', 'notes'],
    ['conversations', 'conversations'],
    ['segments', 'segment_members'],
  ] as const
).map(([kind, table]) => ({
  kind,
  remove: statement.tenant<One, { n: number }>(
    `customers.erase_${table}`,
    `with gone as (delete from customers.${table} where ${mine} and customer_id = $id returning 1) select count(*)::int as n from gone`,
  ),
}))

const conversationOf = statement.tenant<One, { id: string }>(
  'customers.conversation_to_erase',
  `select id from customers.conversations where ${mine} and customer_id = $id`,
)

const removeReplies = statement.tenant<One, object>(
  'customers.erase_replies',
  `delete from customers.replies where ${mine} and conversation_id = $id`,
)

const removeGrants = statement.tenant<One & { addresses: readonly string[] }, { n: number }>(
  'customers.erase_grants',
  `with gone as (delete from customers.grants where ${mine} and address = any($addresses::text[]) returning $id::uuid)
   select count(*)::int as n from gone`,
)

const emptyCustomer = statement.tenant<One & { at: Date }, object>(
  'customers.empty',
  `update customers.customers
      set external_id = null, name = null, language = null, country = null, timezone = null, phones = '{}', emails = '{}',
          attributes = '{}', tags = '{}', first_seen_at = null, last_seen_at = null, email = null, phone = null, tax_number = null,
          address = null, erased_at = $at, updated_at = $at
    where ${mine} and id = $id`,
)

const ErasureReport = Type.Object(
  {
    id: Type.String({ description: 'Id of the erased customer, which can no longer be read' }),
    erased_at: At({ description: 'Time of the erasure' }),
    items: Type.Array(
      Type.Object({
        kind: Type.String({ description: 'Kind of records, such as `texts` or `payments`' }),
        erased: Type.Integer({ description: 'Number of records whose personal data were erased' }),
        kept: Type.Integer({ description: 'Number of records that were kept' }),
        reason: Nullable(Type.String({ description: 'Reason why records were kept; null where none were' })),
      }),
      { description: 'Results by kind of record' },
    ),
  },
  { title: 'CustomerErasure' },
)

const logging = {
  lane: 'customers.erase_logs',
  payload: Type.Object({ texts: Type.Array(Type.String()), resources: Type.Optional(Type.Array(Type.String())) }),
}

/** Nodes write what they log within half a second. */
const logsWrittenMs = 2_000

/** Job that takes an erased person out of the logs. */
export const eraseLogsJob: Job<App, typeof logging.payload> = {
  ...logging,
  role: 'timers',
  concurrency: 2,
  retrySeconds: [5, 60, 600, 3_600],
  async handle(app, { tenant, payload }) {
    if (!tenant) throw new Error('a customer belongs to an account')
    await eraseLogs(app, tenant, { resources: [], ...payload })
    return { kind: 'done' }
  },
}

const erase = write({
  method: 'DELETE',
  path: '/v1/customers/:customer_id',
  operation: 'customers.erase',
  summary: 'Erase a customer',
  description:
    'Erases the customer’s personal data on every channel: texts, chats, mail, recordings, files, notes, consents. Financial records and the audit log are kept without personal data. The reply lists kept records and the reasons. It cannot be undone. Logs are erased within minutes.',
  scope: 'customers:erase',
  params: CustomerParam,
  reply: { status: 200, schema: ErasureReport },
  errors: ['NOT_FOUND'],
  handle: (app, tx, { params }, caller) => eraseCustomer(app, tx, caller, params.customer_id),
})

/** Erases a customer; returns the report. */
async function eraseCustomer(
  app: App,
  tx: Tx,
  caller: Caller,
  customerId: string,
): Promise<Static<typeof ErasureReport>> {
  const { tenant, nowMs } = caller
  await tx.query(lockAccount, tenant)
  const { id, external_id, phones, emails, phone, email } = await lockedCustomer(tx, tenant, customerId)
  const known = {
    phones: [...new Set([...phones, ...(phone === null ? [] : [phone])])],
    emails: [...new Set([...emails, ...(email === null ? [] : [email.toLowerCase()])])],
    customers: [id],
  }
  const conversations = await tx.query(conversationOf, { ...tenant, id })
  // Before all else: what a campaign sends at this moment is then found among the messages.
  const items = [await eraseFromCampaigns(tx, tenant, id)]
  for (const erasable of app.erasables) items.push(await erasable.erase(app, tx, caller, known))
  for (const { id: conversation } of conversations) await tx.query(removeReplies, { ...tenant, id: conversation })
  for (const { kind, remove } of removals) items.push(plain(kind, (await one(tx.query(remove, { ...tenant, id }))).n))
  const addresses = [...known.phones, ...known.emails]
  items.push(plain('consents', (await one(tx.query(removeGrants, { ...tenant, id, addresses }))).n))
  await suppress(app, tx, tenant, { external_id, ...known }, new Date(nowMs))
  await tx.query(emptyCustomer, { ...tenant, id, at: new Date(nowMs) })
  const own = [idOf('customer', id), ...addresses, ...conversations.map((one) => idOf('conversation', one.id))]
  const resources = [...own, ...items.flatMap(({ resources }) => resources)]
  items.push(...(await eraseTraces(tx, tenant, resources)))
  const texts = [...own, ...known.phones.map((one) => one.slice(1))]
  await app.work.add(tx, app.work.prepare(logging, tenant, { texts, resources }, { delayMs: logsWrittenMs }))
  const told = idOf('customer', id)
  await record(tx, caller, 'customer.erase', told)
  const erased_at = new Date(nowMs)
  await app.outbox.emit(tx, customerEvents.erased, caller, told, { customer_id: told, erased_at })
  const logs = {
    ...{ kind: 'logs', erased: 0, kept: 0 },
    reason: 'requests and the audit log stay, and the person is taken out of them within minutes',
  }
  const imports = {
    ...{ kind: 'imports', erased: 0, kept: 0 },
    reason: 'keyed hashes of numbers, addresses and the external id stay, by which no file brings the person back',
  }
  const shown = items.filter((item) => item.erased + item.kept > 0)
  return { id: told, erased_at, items: [...shown.map(({ resources: _, ...item }) => item), imports, logs] }
}

async function eraseFromCampaigns(tx: Tx, tenant: Tenant, id: string): Promise<Erased> {
  const { n: removed } = await one(tx.query(eraseRecipient, { ...tenant, id }))
  const { n: sent } = await one(tx.query(emptyRecipient, { ...tenant, id }))
  const reason = sent > 0 ? 'counts and prices of what was sent stay, without the address' : null
  return { kind: 'campaigns', erased: removed + sent, kept: 0, reason, resources: [] }
}

function plain(kind: string, erased: number): Erased {
  return { kind, erased, kept: 0, reason: null, resources: [] }
}

const maxEntries = 10_000
/** Kinds of the timeline that are no messages. */
const historyKinds: ReadonlySet<string> = new Set([
  ...['payment', 'refund', 'invoice', 'ussd_session', 'identity_check', 'consent'],
])

const CustomerData = Type.Object(
  {
    customer: Type.Object(Customer.properties, { description: 'The record with its consents' }),
    entries: Type.Array(Entry, { description: 'Messages, calls and notes with whole texts, newest first' }),
    history: Type.Array(TimelineEntry, {
      description: 'Payments, refunds, invoices, USSD sessions, identity checks and consents, newest first',
    }),
    is_complete: Type.Boolean({
      description: `False where there are more than ${maxEntries} entries, or as many in the history`,
    }),
  },
  { title: 'CustomerData' },
)

const exportData = read({
  method: 'GET',
  path: '/v1/customers/:customer_id/data',
  operation: 'customers.data',
  summary: 'Export the data of a customer',
  description:
    'Returns all stored data of one person, for a data access request, with their payments, texts and calls: the scope gives these without the scopes of their areas. Recordings and files are at the `url` of their entry.',
  scope: 'customers:erase',
  params: CustomerParam,
  reply: { status: 200, schema: CustomerData },
  errors: ['NOT_FOUND'],
  handle: async (app, { params }, caller) => {
    const row = await customerWith(app.db, caller.tenant, params.customer_id)
    const consents = await one(consentsOf(app.db, caller.tenant, [row], new Date(caller.nowMs)))
    const { rows: entries, isWhole } = await allOf((window) => messagesWith(app, caller, row, window))
    const history = await allOf((window) => entriesOf(app, caller.tenant, row, historyKinds, window, caller.nowMs))
    const customer = { ...toldOf(row), consents }
    return { customer, entries, history: history.rows, is_complete: isWhole && history.isWhole }
  },
})

/** Rows of all pages, as far as an export goes. */
async function allOf<R>(pageAt: (window: Window) => Promise<Page<R>>): Promise<{ rows: R[]; isWhole: boolean }> {
  const rows: R[] = []
  let after: string | null = null
  for (;;) {
    const page = await pageAt({ limit: 500, descending: true, after })
    rows.push(...page.rows)
    after = page.nextCursor === null ? null : Buffer.from(page.nextCursor, 'base64url').toString()
    if (after === null || rows.length >= maxEntries) return { rows, isWhole: after === null }
  }
}

export const eraseRoutes: readonly Route[] = [erase, exportData]
