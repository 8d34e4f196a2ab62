// SPDX-License-Identifier: Apache-2.0
// Invented customers of the sandbox, so that lists, segments and campaigns can be tried with many.
import { Type } from 'typebox'
import { AppError } from '../../kernel/errors.ts'
import { newUuid } from '../../kernel/ids.ts'
import { record } from '../../platform/api/audit.ts'
import { write } from '../../platform/api/route.ts'
import { statement } from '../../platform/db.ts'
import { mine, type Tenant } from '../../platform/tenant.ts'
import { shareAccount } from './store.ts'

const maxInvented = 1_000

const given = [
  'Asha',
  'Baraka',
  'Chausiku',
  'Daudi',
  'Esther',
  'Fatuma',
  'Grace',
  'Hamisi',
  'Imani',
  'Juma',
  'Khadija',
  'Lulu',
]
const family = [
  'Njeri',
  'Otieno',
  'Mwangi',
  'Achieng',
  'Kamau',
  'Wambui',
  'Mushi',
  'Okello',
  'Banda',
  'Mensah',
  'Diallo',
  'Abebe',
]
const cities = ['Nairobi', 'Kisumu', 'Mombasa', 'Dar es Salaam', 'Kampala', 'Kigali', 'Accra', 'Lusaka']
const plans = ['free', 'silver', 'gold']
const firstPhone = 254_790_000_000

const countInvented = statement.tenant<Tenant, { next: number }>(
  'customers.count_invented',
  `select coalesce(max(right(address, 6)::int) + 1, 0) as next from customers.addresses
    where ${mine} and kind = 'phone' and address >= '+254790000000' and address < '+254791000000'`,
)

const nameAttributes = statement.tenant<Tenant, object>(
  'customers.name_invented_attributes',
  `insert into customers.attributes (bucket, account_id, environment, name, type)
   select $bucket, $account, $environment, n, t from (values ('city', 'text'), ('plan', 'text'), ('visits', 'number')) v(n, t)
   on conflict do nothing`,
)

const insertMany = statement.tenant<
  Tenant & {
    ids: readonly string[]
    names: readonly string[]
    phones: readonly string[]
    emails: readonly string[]
    attributes: readonly string[]
    tags: readonly string[]
    at: Date
  },
  object
>(
  'customers.invent',
  `with wanted as (
     select * from unnest($ids::uuid[], $names::text[], $phones::text[], $emails::text[], $attributes::text[], $tags::text[])
       w(id, name, phone, email, attributes, tag)),
   phones as (
     insert into customers.addresses (bucket, account_id, environment, kind, address, customer_id)
     select $bucket::smallint, $account::uuid, $environment::text, k.kind, k.address, w.id
       from wanted w cross join lateral (values ('phone', w.phone), ('email', w.email)) k(kind, address)),
   agreed as (
     insert into customers.grants (bucket, account_id, environment, channel, address, purpose, source, granted_at)
     select $bucket::smallint, $account::uuid, $environment::text, k.channel, k.address, 'marketing', 'sandbox', $at::timestamptz
       from wanted w cross join lateral (values ('sms', w.phone), ('email', w.email)) k(channel, address)
      where right(w.phone, 1) < '7' on conflict do nothing)
   insert into customers.customers (bucket, account_id, environment, id, name, language, country, timezone, phones, emails, phone,
     email, attributes, tags, created_at, updated_at)
   select $bucket::smallint, $account::uuid, $environment::text, w.id, w.name, 'sw', 'KE', 'Africa/Nairobi', array[w.phone],
          array[w.email], w.phone, w.email, w.attributes::jsonb, array['invented', w.tag], $at::timestamptz, $at from wanted w`,
)

const pick = (list: readonly string[], n: number): string => list[n % list.length] ?? ''

export const invent = write({
  method: 'POST',
  path: '/v1/sandbox/customers',
  operation: 'sandbox.inventCustomers',
  summary: 'Create sample customers',
  description:
    'Creates customers with invented names, numbers, addresses and attributes, tagged `invented`. Seven of ten agreed to marketing by text and mail. Test keys only.',
  scope: 'sandbox:write',
  body: Type.Object({
    count: Type.Optional(
      Type.Integer({
        ...{
          minimum: 1,
          maximum: maxInvented,
          default: maxInvented,
          rule: `must be a whole number from 1 to ${maxInvented}`,
        },
        description: 'Number of customers',
      }),
    ),
  }),
  reply: {
    status: 200,
    schema: Type.Object(
      { created: Type.Integer({ description: 'Number of customers that were created' }) },
      { title: 'InventedCustomers' },
    ),
  },
  errors: ['NOT_FOUND'],
  examples: [{ name: 'Ten customers', body: { count: 10 } }],
  handle: async (_app, tx, { body: { count = maxInvented } }, caller) => {
    const { tenant, receivedMs, nowMs } = caller
    if (tenant.environment !== 'test') throw new AppError('NOT_FOUND', 'sample customers require a test key')
    const own = { bucket: tenant.bucket, account: tenant.account, environment: tenant.environment }
    await tx.query(shareAccount, own)
    await tx.query(nameAttributes, own)
    const [{ next } = { next: 0 }] = await tx.query(countInvented, own)
    const numbers = Array.from({ length: count }, (_, i) => next + i)
    await tx.query(insertMany, {
      ...{ ...own, ids: numbers.map(() => newUuid(receivedMs)), at: new Date(nowMs) },
      names: numbers.map((n) => `${pick(given, n)} ${pick(family, Math.floor(n / given.length))}`),
      phones: numbers.map((n) => `+${firstPhone + n}`),
      emails: numbers.map((n) => `${pick(given, n).toLowerCase()}.${n}@example.com`),
      attributes: numbers.map((n) =>
        JSON.stringify({ city: pick(cities, n), plan: pick(plans, n), visits: (n * 7) % 40 }),
      ),
      tags: numbers.map((n) => (n % 5 === 0 ? 'vip' : 'regular')),
    })
    await record(tx, caller, 'sandbox.customers', 'customers', { after: { created: count } })
    return { created: count }
  },
})
