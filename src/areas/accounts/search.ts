// SPDX-License-Identifier: Apache-2.0
// The operator's search: one word, and whose thing it names. Every area is asked; what it finds is opened with the route of
// the account that `path` names.

import { type Static, Type } from 'typebox'
import { idOf, timeOfUuid } from '../../kernel/ids.ts'
import { numberInQuery } from '../../kernel/phone.ts'
import { record } from '../../platform/api/audit.ts'
import { list, type Route } from '../../platform/api/route.ts'
import { type Found, mostFound } from '../../platform/operator/finding.ts'
import { At, EnvironmentName, Nullable, wholeListQuery } from '../../platform/schema/fields.ts'
import { pageOfWhole } from '../../platform/schema/lists.ts'
import { everyAccount } from './store.ts'

const FoundThing = Type.Object(
  {
    kind: Type.String({ description: 'message, email, call, payment, payout, invoice, delivery or request' }),
    id: Type.String({ description: 'Id of what was found' }),
    status: Nullable(
      Type.String({ description: 'Where it stands, in the words of its kind; null for what has no status' }),
    ),
    account_id: Type.String({ description: 'Whose it is, such as `acc_…`' }),
    account_name: Type.String({ description: 'As its customers read it' }),
    environment: EnvironmentName({ description: '`test` or `live`' }),
    created_at: At({ description: 'When it was made' }),
    path: Type.String({ description: 'Where an operator reads it whole' }),
  },
  { title: 'FoundThing' },
)

const search = list({
  path: '/v1/operator/search',
  operation: 'operator.search',
  summary: 'Find something of any account by its id, phone number or reference',
  description: `Takes the id of a text, mail, call, payment, payout, invoice, delivery or request; the phone number that a text went to; the reference of a text, payment, payout or invoice; the number of an invoice; what a provider calls a payment, such as the code of an M-Pesa receipt. The newest ${mostFound} of each kind are found. What was searched for is written in your audit log.`,
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

export const searchRoutes: readonly Route[] = [search]
