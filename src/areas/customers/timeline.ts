// SPDX-License-Identifier: Apache-2.0
// Timeline of a customer: what was written, called, dialled, paid, billed, checked, agreed to and noted, over all areas, newest first. Each area
// gives its newest entries by its index, and the newest of those make the page.
import { createHash } from 'node:crypto'
import { type Static, Type } from 'typebox'
import { AppError } from '../../kernel/errors.ts'
import { firstUuidAt } from '../../kernel/ids.ts'
import { list } from '../../platform/api/route.ts'
import type { App } from '../../platform/app.ts'
import { allows } from '../../platform/auth/scopes.ts'
import type { History } from '../../platform/operator/history.ts'
import { Amount, At, Nullable, OneOf, pageQuery } from '../../platform/schema/fields.ts'
import { type Page, pageOf, timeWindow, type Window, windowOf } from '../../platform/schema/lists.ts'
import type { Tenant } from '../../platform/tenant.ts'
import { customerWith } from './change.ts'
import { saidBy } from './consents.ts'
import { CustomerParam } from './schema.ts'
import type { CustomerRow } from './store.ts'

const types = [
  'message',
  'chat',
  'email',
  'call',
  'ussd_session',
  'payment',
  'refund',
  'invoice',
  'identity_check',
  'note',
  'consent',
] as const

export const TimelineEntry = Type.Object(
  {
    type: OneOf(types, { description: 'Kind of the entry' }),
    id: Type.String({ description: 'Id of the record' }),
    direction: Nullable(OneOf(['inbound', 'outbound']), {
      description: 'Direction: `inbound` from the customer, `outbound` to the customer; null for kinds without one',
    }),
    at: At({ description: 'Time of the entry' }),
    title: Nullable(
      Type.String({
        description:
          'Text, subject, number, code or description, at most 200 characters; channel, purposes and source of a consent; null without one',
      }),
    ),
    state: Type.String({ description: 'Status of the record' }),
    amount: Nullable(Amount(), { description: 'Amount in major units, of payments, refunds and invoices' }),
    currency: Nullable(Type.String({ description: 'Currency of the amount, ISO 4217' })),
    url: Nullable(Type.String({ description: 'Address of the whole record; null for notes and consents' })),
  },
  { title: 'CustomerTimelineEntry' },
)

export const timeline = list({
  path: '/v1/customers/:customer_id/timeline',
  operation: 'customers.timeline',
  summary: 'List a customer’s timeline',
  description:
    'Newest first. Entries are found by the numbers, addresses and id of the customer. Kinds that the key has no permission to read are omitted.',
  scope: 'customers:read',
  params: CustomerParam,
  query: Type.Object({
    ...pageQuery,
    types: Type.Optional(
      Type.String({ maxLength: 200, description: `Kinds to list, separated by commas: ${types.join(', ')}` }),
    ),
    before: Type.Optional(Type.String({ maxLength: 40, description: 'Only entries before this day or RFC 3339 time' })),
  }),
  row: TimelineEntry,
  errors: ['NOT_FOUND', 'INVALID_DATE_RANGE'],
  handle: async (app, { params, query }, { tenant, principal, nowMs }) => {
    const row = await customerWith(app.db, tenant, params.customer_id)
    const window = windowOf(query)
    const before = query.before === undefined ? null : timeWindow({ from: query.before }).from
    const after = window.after ?? (before && firstUuidAt(before.getTime()))
    const mayRead = ({ scope }: History) => allows(principal.scopes, scope)
    return entriesOf(app, tenant, row, wantedTypes(query.types), { ...window, after }, nowMs, mayRead)
  },
})

/** Entries of some kinds about a customer, newest first, those of the histories that may be read. */
export async function entriesOf(
  app: App,
  tenant: Tenant,
  { id, phones, emails }: CustomerRow,
  wanted: ReadonlySet<string>,
  window: Window,
  nowMs: number,
  mayRead: (history: History) => boolean = () => true,
): Promise<Page<Static<typeof TimelineEntry>>> {
  const histories = app.histories.filter((one) => wanted.has(one.kind) && mayRead(one))
  const found = await Promise.all(
    histories.map(async (one) => {
      const known = { phones, emails, customers: [id] }
      const rows = await one.newest(app.db, tenant, known, window.limit + 1, window.after)
      return rows.map((row) => ({ ...row, type: typeOf(one.kind), entry: row.id, id: row.place }))
    }),
  )
  const consents = wanted.has('consent')
    ? toldBy(await saidBy(app.db, tenant, [{ phones, emails }], new Date(nowMs)), window.after)
    : []
  const newest = [...found.flat(), ...consents].sort((a, b) => (a.id < b.id ? 1 : -1))
  return pageOf(window, newest, ({ type, entry, direction, created_at, title, status, amount, currency, path }) => ({
    ...{ type, id: entry, direction, at: created_at, title, state: status, amount, currency },
    url: path && `${app.publicUrl}/api/v1${path}`,
  }))
}

/** Consents as entries before a place: what was said at one time about a channel is one. */
function toldBy(said: Awaited<ReturnType<typeof saidBy>>, before: string | null) {
  const entries = new Map<string, (typeof said)[number] & { about: string[] }>()
  for (const one of said) {
    const { channel, state, address, from, source, at } = one
    const key = JSON.stringify([channel, state, address, from, source, at])
    const known = entries.get(key)
    if (known) known.about.push(one.purpose)
    else entries.set(key, { ...one, about: [one.purpose] })
  }
  return [...entries].flatMap(([key, { channel, state, from, source, at, about }]) => {
    const place = placeOf(at, key)
    if (before !== null && place >= before) return []
    const title = `${channel}: ${about.sort().join(', ')}${from === null ? '' : `, ${from}`}${source === null ? '' : ` (${source})`}`
    const none = { direction: null, amount: null, currency: null, path: null }
    const type = 'consent' as const
    return [{ ...none, type, id: place, entry: place, created_at: at, title: title.slice(0, 200), status: state }]
  })
}

/** Place of something without an id among UUIDs of its time. */
function placeOf(at: Date, key: string): string {
  const hash = createHash('sha256').update(key).digest('hex')
  return `${firstUuidAt(at.getTime()).slice(0, 15)}${hash.slice(0, 3)}-8${hash.slice(3, 6)}-${hash.slice(6, 18)}`
}

function wantedTypes(text: string | undefined): ReadonlySet<string> {
  const asked = text === undefined || text === '' ? types : text.split(',')
  return new Set(asked.map((one) => typeOf(one)))
}

function typeOf(kind: string): (typeof types)[number] {
  const known = types.find((one) => one === kind)
  if (known === undefined) throw new AppError('INVALID_REQUEST', `types: ${kind} is none of ${types.join(', ')}`)
  return known
}
