// SPDX-License-Identifier: Apache-2.0
// Search: one word, and what it names. Every area is asked: of an account in its own records, of an operator in those of all
// accounts, with the route that reads what was found.

import { type Static, Type } from 'typebox'
import { idOf, timeOfUuid } from '../../kernel/ids.ts'
import { numberInQuery } from '../../kernel/phone.ts'
import { record } from '../../platform/api/audit.ts'
import { list, type Route } from '../../platform/api/route.ts'
import type { App } from '../../platform/app.ts'
import { allows } from '../../platform/auth/scopes.ts'
import { type Found, maxFound } from '../../platform/operator/finding.ts'
import type { History, NamedThing } from '../../platform/operator/history.ts'
import { Amount, At, EnvironmentName, Nullable, wholeListQuery } from '../../platform/schema/fields.ts'
import { pageOfWhole } from '../../platform/schema/lists.ts'
import type { Tenant } from '../../platform/tenant.ts'
import { everyAccount } from './store.ts'

const FoundThing = Type.Object(
  {
    kind: Type.String({ description: 'message, email, call, payment, payout, invoice, delivery or request' }),
    id: Type.String({ description: 'Id of the found record' }),
    status: Nullable(Type.String({ description: 'Status of the record; null if it has none' })),
    account_id: Type.String({ description: 'Id of the account it belongs to, such as `acc_…`' }),
    account_name: Type.String({ description: 'Name shown to its customers' }),
    environment: EnvironmentName({ description: '`test` or `live`' }),
    created_at: At({ description: 'Time of creation' }),
    path: Type.String({ description: 'API path of the whole record for operators' }),
  },
  { title: 'FoundThing' },
)

const search = list({
  path: '/v1/operator/search',
  operation: 'operator.search',
  summary: 'Search all accounts by id, phone number or reference',
  description: `Takes the id of a text, mail, call, payment, payout, invoice, delivery or request; the phone number that a text went to; the reference of a text, payment, payout or invoice; the number of an invoice; the provider’s id of a payment, such as the code of an M-Pesa receipt. Finds the newest ${maxFound} of each kind. The search is recorded in your audit log.`,
  scope: 'operator',
  query: Type.Object({
    ...wholeListQuery,
    q: Type.String({
      minLength: 3,
      maxLength: 100,
      rule: 'must have 3 to 100 characters',
      description: 'An id, a phone number, a reference or a receipt code',
    }),
  }),
  row: FoundThing,
  examples: [{ name: 'Texts to a number', query: { q: '+254711000001' } }],
  handle: async (app, { query }, caller) => {
    const known = await app.db.query(everyAccount, {})
    const among = { accounts: known.map(({ id }) => id), buckets: known.map(({ bucket }) => bucket) }
    const names = new Map(known.map(({ id, name }) => [id, name]))
    await app.requestLog.flush()
    // A plus sign in a query string means a space.
    const text = numberInQuery(query.q)
    const found = (await Promise.all(app.finders.map((finder) => finder.find(app.db, text, among)))).flat()
    await record(app.db, caller, 'operator.search', text)
    const rows = newestFirst(found).map((one) => shown(one, names))
    return pageOfWhole(query, rows, ({ id }) => id)
  },
})

const FoundRecord = Type.Object(
  {
    kind: Type.String({
      description:
        'message, chat, email, call, ussd_session, payment, payout, refund, invoice, identity_check, customer, delivery or request',
    }),
    id: Type.String({ description: 'Id of the record' }),
    label: Nullable(Type.String({ description: 'Distinctive value: a name, text, subject, reference or number' })),
    status: Nullable(Type.String({ description: 'Status of the record; null if it has none' })),
    amount: Nullable(Amount(), {
      description: 'Amount in major units, of payments, refunds and invoices found by a person',
    }),
    currency: Nullable(Type.String({ description: 'Currency of the amount, ISO 4217' })),
    created_at: At({ description: 'Time of creation' }),
    path: Nullable(Type.String({ description: 'API path of the record' })),
  },
  { title: 'FoundRecord' },
)

const emailForm = /^[^\s@]+@[^\s@]+\.[^\s@]+$/
const phoneForm = /^\+?[1-9]\d{6,14}$/

const searchOwn = list({
  path: '/v1/account/search',
  operation: 'account.search',
  summary: 'Search all records of your account',
  description: `By id, phone number, email address, name of a customer, reference, invoice number or the receipt of a provider. Finds the newest ${maxFound} of each kind that the credential may read, newest first.`,
  scope: 'account:read',
  query: Type.Object({
    ...wholeListQuery,
    q: Type.String({
      minLength: 3,
      maxLength: 100,
      rule: 'must have 3 to 100 characters',
      description: 'An id, a phone number, an email address, a name, a reference or a receipt code',
    }),
  }),
  row: FoundRecord,
  examples: [{ name: 'Records of a phone number', query: { q: '+254711000001' } }],
  handle: async (app, { query }, { tenant, principal }) => {
    await app.requestLog.flush()
    const text = numberInQuery(query.q).trim()
    const mayRead = (scope: string): boolean => allows(principal.scopes, scope)
    const [named, known] = await Promise.all([ofFinders(app, tenant, text), ofHistories(app, tenant, text, mayRead)])
    const rows = [...named.filter(({ scope }) => mayRead(scope)).map(recordOf), ...known]
    const once = [...new Map(rows.map((row) => [row.id, row])).values()]
    const newest = once.sort((a, b) => b.created_at.getTime() - a.created_at.getTime())
    return pageOfWhole(query, newest, ({ id }) => id)
  },
})

/** Records by id, reference or receipt. */
async function ofFinders(app: App, { account, bucket, environment }: Tenant, text: string): Promise<Found[]> {
  const among = { accounts: [account], buckets: [bucket] }
  const found = await Promise.all(app.finders.map((finder) => finder.find(app.db, text, among)))
  return found.flat().filter((one) => one.environment === environment)
}

/** Records about the person with this number, address or name. */
async function ofHistories(app: App, tenant: Tenant, text: string, mayRead: (scope: string) => boolean) {
  const phone = phoneForm.test(text) ? `+${text.replace('+', '')}` : null
  const email = emailForm.test(text) ? text.toLowerCase() : null
  const known = { phones: phone === null ? [] : [phone], emails: email === null ? [] : [email], customers: [] }
  const newest = async (one: History): Promise<readonly NamedThing[]> =>
    phone === null && email === null
      ? ((await one.named?.(app.db, tenant, text, maxFound)) ?? [])
      : one.newest(app.db, tenant, known, maxFound)
  const wanted = app.histories.filter(({ scope }) => mayRead(scope))
  const found = await Promise.all(
    wanted.map(async (one) =>
      (await newest(one)).map(({ id, status, title, amount, currency, created_at }) => ({
        ...{ id, created_at, kind: one.kind, label: title || (phone ?? email), amount, currency, path: null },
        // A customer is in no state.
        status: one.kind === 'customer' ? null : status,
      })),
    ),
  )
  return found.flat()
}

function recordOf({ kind, prefix, id, label, status, path }: Found): Static<typeof FoundRecord> {
  const shown = { kind, id: idOf(prefix, id), label, status, created_at: timeOfUuid(id), path: `/v1${path}` }
  return { ...shown, amount: null, currency: null }
}

function newestFirst(found: readonly Found[]): Found[] {
  return [...found].sort((a, b) => (a.id < b.id ? 1 : -1))
}

function shown(found: Found, names: ReadonlyMap<string, string>): Static<typeof FoundThing> {
  const { kind, prefix, id, status, environment } = found
  const account = idOf('account', found.account_id)
  return {
    kind,
    id: idOf(prefix, id),
    status,
    account_id: account,
    account_name: names.get(found.account_id) ?? '',
    environment,
    created_at: timeOfUuid(id),
    path: `/api/v1/operator/accounts/${account}${found.path}?environment=${environment}`,
  }
}

export const searchRoutes: readonly Route[] = [searchOwn, search]
