// SPDX-License-Identifier: Apache-2.0
// Audience of a campaign from a table: customers that its rows name by external id, or else by a number or address.
import { AppError } from '../../../kernel/errors.ts'
import type { Queryable } from '../../../platform/db.ts'
import { formulaForm } from '../../../platform/http/csv.ts'
import { rowsOf } from '../../../platform/http/csv-rows.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import { type AddressKind, findOwners } from '../store.ts'

const maxListed = 10_000
export const maxTableLength = 800_000

const kindOf: Readonly<Record<string, AddressKind>> = {
  ...{ external_id: 'external', phone: 'phone', phones: 'phone', email: 'email', emails: 'email' },
}
/** Order in which the cells of a row are asked. */
const order: readonly AddressKind[] = ['external', 'phone', 'email']

/** UUIDs of the customers that the rows of a table name; other columns and rows without a customer are left out. Throws VALIDATION_ERROR. */
export async function customersNamedIn(queryable: Queryable, tenant: Tenant, table: string): Promise<string[]> {
  const rows: (readonly string[])[] = []
  for await (const some of rowsOf(once(Buffer.from(table)), Number.POSITIVE_INFINITY))
    for (const { cells } of some) rows.push(cells)
  const [head = [], ...rest] = rows
  const columns = head.map((name) => kindOf[name.toLowerCase()] ?? null)
  if (columns.every((kind) => kind === null)) throw refused('must have a column external_id, phone or email')
  if (rest.length > maxListed) throw refused(`must have at most ${maxListed} rows`)
  const named = rest.map((cells) => namesOf(cells, columns))
  const all = named.flat()
  const asked = { kinds: all.map(({ kind }) => kind), addresses: all.map(({ address }) => address) }
  const found = await queryable.query(findOwners, { ...tenant, ...asked })
  const owners = new Map(found.map(({ kind, address, customer_id }) => [`${kind} ${address}`, customer_id]))
  return named.flatMap(
    (names) => names.map(({ kind, address }) => owners.get(`${kind} ${address}`)).find((id) => id !== undefined) ?? [],
  )
}

function refused(message: string): AppError {
  return new AppError('VALIDATION_ERROR', `csv ${message}`, {
    fields: [{ field: 'csv', code: 'VALIDATION_ERROR', message }],
  })
}

/** What a row names a customer by, in the order in which it is asked. */
function namesOf(
  cells: readonly string[],
  columns: readonly (AddressKind | null)[],
): { kind: AddressKind; address: string }[] {
  const names = columns.flatMap((kind, i) => {
    const cell = plainForm(cells[i] ?? '')
    if (kind === null || cell === '') return []
    const several = kind === 'external' ? [cell] : cell.split(/[\s,;]+/)
    return several.map((one) => ({ kind, address: kind === 'email' ? one.toLowerCase() : one }))
  })
  return names.sort((a, b) => order.indexOf(a.kind) - order.indexOf(b.kind))
}

/** Cell without the quote that CSV files have before what a spreadsheet would take for a formula. */
function plainForm(cell: string): string {
  return cell.startsWith("'") && formulaForm.test(cell.slice(1)) ? cell.slice(1) : cell
}

async function* once(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes
}
