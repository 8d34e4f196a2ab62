// SPDX-License-Identifier: Apache-2.0
// Merge of two customers. One gets the addresses, tags and attributes of the other, and what every area has of them; the id of the
// other leads to it from then on.
import { invalid } from '../../kernel/errors.ts'
import { idOf } from '../../kernel/ids.ts'
import { record } from '../../platform/api/audit.ts'
import type { App } from '../../platform/app.ts'
import type { Caller } from '../../platform/auth.ts'
import { one, type Tx } from '../../platform/db.ts'
import { listed, maxAddresses } from './addresses.ts'
import { changed } from './attributes.ts'
import { moveRecipients } from './campaigns/store.ts'
import { customerWith, type Fields, nothingKnown, written } from './change.ts'
import { customerEvents, toldOf } from './events.ts'
import { moveNotes } from './notes.ts'
import { moveMembers } from './segments/store.ts'
import { type CustomerRow, freeAddresses, lockCustomers, moveAddresses, updateCustomer } from './store.ts'

const maxTags = 20

/** Merges the second customer into the first. */
export async function mergeCustomers(
  app: App,
  tx: Tx,
  caller: Caller,
  intoId: string,
  fromId: string,
): Promise<CustomerRow> {
  const { tenant, nowMs } = caller
  const [into, from] = await locked(tx, caller, intoId, fromId)
  const fields = joined(into, from)
  const moving = listed({ ...from, external_id: into.external_id === null ? from.external_id : null })
  if (moving.kinds.length > 0) await tx.query(moveAddresses, { ...tenant, ...moving, into: into.id })
  if (from.external_id !== null && into.external_id !== null)
    await tx.query(freeAddresses, { ...tenant, customer: from.id, kinds: ['external'], addresses: [from.external_id] })
  await tx.query(updateCustomer, {
    ...{ ...tenant, ...written(from.id, { ...nothingKnown, merged_into: into.id }, caller) },
  })
  const row = await one(tx.query(updateCustomer, { ...tenant, ...written(into.id, fields, caller) }))
  await moveNotes(tx, tenant, from.id, into.id)
  await tx.query(moveMembers, { ...tenant, from: from.id, into: into.id })
  await tx.query(moveRecipients, { ...tenant, from: from.id, into: into.id })
  for (const merge of app.customerMergers)
    await merge(tx, tenant, { from: from.id, into: into.id, at: new Date(nowMs) })
  const [id, mergedId] = [idOf('customer', into.id), idOf('customer', from.id)]
  await record(tx, caller, 'customer.merge', id, { after: { merged_id: mergedId } })
  await app.outbox.emit(tx, customerEvents.merged, caller, id, { customer: toldOf(row), merged_id: mergedId })
  return row
}

/** Both customers, locked in one order. Nobody else merges them: the account is locked. */
async function locked(tx: Tx, { tenant }: Caller, intoId: string, fromId: string): Promise<[CustomerRow, CustomerRow]> {
  const [into, from] = [await customerWith(tx, tenant, intoId), await customerWith(tx, tenant, fromId)]
  if (into.id === from.id) throw invalid('customer_id', 'must be another customer')
  const rows = await tx.query(lockCustomers, { ...tenant, ids: [into.id, from.id] })
  return [rows.find(({ id }) => id === into.id) ?? into, rows.find(({ id }) => id === from.id) ?? from]
}

/** Fields of both: what the first has stands, and lacks are filled from the second. */
function joined(into: CustomerRow, from: CustomerRow): Fields {
  const phones = [...into.phones, ...from.phones]
  const emails = [...into.emails, ...from.emails]
  if (phones.length > maxAddresses || emails.length > maxAddresses)
    throw invalid(
      'customer_id',
      `must not bring the customer beyond ${maxAddresses} numbers or addresses: remove some first`,
    )
  return {
    external_id: into.external_id ?? from.external_id,
    name: into.name ?? from.name,
    language: into.language ?? from.language,
    country: into.country ?? from.country,
    timezone: into.timezone ?? from.timezone,
    ...{ phones, emails },
    attributes: changed(from.attributes, into.attributes),
    tags: [...new Set([...into.tags, ...from.tags])].slice(0, maxTags),
    first_seen_at: earliest(into.first_seen_at, from.first_seen_at),
    last_seen_at: latest(into.last_seen_at, from.last_seen_at),
    email: into.email ?? from.email,
    phone: into.phone ?? from.phone,
    tax_number: into.tax_number ?? from.tax_number,
    address: into.address ?? from.address,
    merged_into: null,
  }
}

function earliest(one: Date | null, other: Date | null): Date | null {
  return one === null || other === null ? (one ?? other) : one < other ? one : other
}

function latest(one: Date | null, other: Date | null): Date | null {
  return one === null || other === null ? (one ?? other) : one > other ? one : other
}
