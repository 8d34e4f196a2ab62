// SPDX-License-Identifier: Apache-2.0
// Export of customers, as CSV or JSON lines that an import takes, page by page.
import { type Static, Type } from 'typebox'
import { newUuid } from '../../kernel/ids.ts'
import { serialiser } from '../../platform/api/json.ts'
import { download } from '../../platform/api/route.ts'
import type { App } from '../../platform/app.ts'
import type { Caller } from '../../platform/auth.ts'
import { csvLine } from '../../platform/http/csv.ts'
import { OneOf } from '../../platform/schema/fields.ts'
import type { Window } from '../../platform/schema/lists.ts'
import { listTypes } from './attributes.ts'
import { consentsOf } from './consents.ts'
import { toldOf } from './events.ts'
import { notRecorded } from './imports/rows.ts'
import { type CustomerFilter, listedCustomers, listedInSegment } from './list.ts'
import { Customer, CustomerList, consentChannels, purposes } from './schema.ts'
import { segmentWith } from './segments/segment.ts'
import type { CustomerRow } from './store.ts'

type Shown = Static<typeof Customer>

/** Many, because a search begins anew for each page. */
const rowsAtOnce = 5_000
/** Length of the source of a consent, as an import takes it. */
const maxSource = 200
const before = ['id', 'external_id', 'name', 'language', 'country', 'timezone', 'phones', 'emails', 'tags'] as const
const after = ['first_seen_at', 'last_seen_at', 'created_at', 'updated_at'] as const
const wishes = consentChannels.flatMap((channel) => purposes.map((purpose) => ({ channel, purpose })))
const { limit: _, cursor: __, order: ___, ...filters } = CustomerList.properties

export const exportAll = download({
  path: '/v1/customers/export',
  operation: 'customers.export',
  summary: 'Export customers',
  description:
    'Exports all customers, or those that match the filters, oldest first, as a file for `POST /v1/customers/import`. JSON lines have every consent by address; CSV has `granted` if all addresses of the channel have consent, and `withdrawn` if any has withdrawn.',
  scope: 'customers:read',
  query: Type.Object({
    format: Type.Optional(OneOf(['csv', 'jsonl'], { description: 'CSV, or JSON lines: one customer a line' })),
    ...filters,
  }),
  needs: 'nothing',
  types: ['text/csv', 'application/x-ndjson'],
  errors: ['NOT_FOUND'],
  handle: async (app, { query: { format = 'csv', ...filter } }, caller) => {
    if (filter.segment !== undefined) await segmentWith(app.db, caller.tenant, filter.segment)
    const pages = () => pagesOf(app, caller, filter)
    const isCsv = format === 'csv'
    return {
      type: isCsv ? 'text/csv; charset=utf-8' : 'application/x-ndjson',
      ...{ size: null, tag: newUuid(caller.receivedMs), name: `customers.${format}` },
      open: () => (isCsv ? csvOf(app, caller, pages()) : linesOf(pages())),
    }
  },
})

async function* pagesOf(
  app: App,
  { tenant, nowMs }: Caller,
  { segment: named, ...filter }: CustomerFilter & { readonly segment?: string },
): AsyncGenerator<Shown[]> {
  const at = new Date(nowMs)
  let last: string | null = null
  for (;;) {
    const window: Window = { limit: rowsAtOnce, descending: false, after: last }
    const found: readonly CustomerRow[] =
      named === undefined
        ? await listedCustomers(app.db, tenant, window, filter)
        : await listedInSegment(app.db, tenant, window, { ...filter, segment: named, at })
    const rows = found.slice(0, rowsAtOnce)
    const consents = await consentsOf(app.db, tenant, rows, at)
    yield rows.map((row, i) => ({ ...toldOf(row), consents: consents[i] ?? [] }))
    last = rows.at(-1)?.id ?? null
    if (found.length <= rowsAtOnce) return
  }
}

async function* linesOf(pages: AsyncIterable<Shown[]>): AsyncGenerator<Buffer> {
  const write = serialiser(Customer)
  for await (const page of pages) yield Buffer.from(page.map((one) => `${write(one)}\n`).join(''))
}

async function* csvOf(app: App, { tenant }: Caller, pages: AsyncIterable<Shown[]>): AsyncGenerator<Buffer> {
  const { bucket, account, environment } = tenant
  const names = (await app.db.query(listTypes, { bucket, account, environment })).map(({ name }) => name)
  const ofWishes = wishes.map(({ channel, purpose }) => `${channel}_${purpose}`)
  yield Buffer.from(
    csvLine([...before, ...ofWishes, 'consent_source', ...names.map((name) => `attributes.${name}`), ...after]),
  )
  for await (const page of pages) {
    const lines = page.map((one) =>
      csvLine([
        ...before.map((field) => (Array.isArray(one[field]) ? one[field].join(' ') : one[field])),
        ...wishes.map((wish) => stateOf(one, wish)),
        sourceOf(one),
        ...names.map((name) => one.attributes[name] ?? null),
        ...after.map((field) => one[field]),
      ]),
    )
    if (lines.length > 0) yield Buffer.from(lines.join(''))
  }
}

/** Where a customer agreed; of several sources, each once. */
function sourceOf({ consents }: Shown): string | null {
  const granted = consents.filter(({ state }) => state === 'granted')
  const sources = new Set(granted.map(({ source }) => source ?? notRecorded))
  return granted.length === 0 ? null : [...sources].join('; ').slice(0, maxSource)
}

/** What a customer said of a channel, over all of their addresses. */
function stateOf({ phones, emails, consents }: Shown, { channel, purpose }: (typeof wishes)[number]): string | null {
  const own = consents.filter((one) => one.channel === channel && one.purpose === purpose && one.from === null)
  if (own.some(({ state }) => state === 'withdrawn')) return 'withdrawn'
  const all = channel === 'email' ? emails : phones
  return all.length > 0 && all.every((address) => own.some((one) => one.address === address)) ? 'granted' : null
}
