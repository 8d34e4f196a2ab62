// SPDX-License-Identifier: Apache-2.0
// Creates and changes customers, by request.
import { refuseCardNumbers } from '../../kernel/card.ts'
import { AppError } from '../../kernel/errors.ts'
import { idOf, newUuid, uuidOf } from '../../kernel/ids.ts'
import { record } from '../../platform/api/audit.ts'
import type { App } from '../../platform/app.ts'
import type { Caller } from '../../platform/auth.ts'
import { maybe, one, type Queryable, type Tx } from '../../platform/db.ts'
import type { Tenant } from '../../platform/tenant.ts'
import { claim, emailForm, exchange, ownerOf } from './addresses.ts'
import { changed, checkTypes } from './attributes.ts'
import { writeConsents } from './consents.ts'
import { customerEvents, toldOf } from './events.ts'
import type { Change } from './schema.ts'
import {
  type CustomerRow,
  claimAddresses,
  findCustomer,
  insertCustomer,
  lockCustomers,
  updateCustomer,
} from './store.ts'

/** Fields of a customer that are stored. */
export type Fields = Omit<CustomerRow, 'id' | 'erased_at' | 'created_at' | 'updated_at'>

/** Fields of a customer of whom nothing is known. */
export const nothingKnown: Fields = {
  ...{ external_id: null, name: null, language: null, country: null, timezone: null, phones: [], emails: [] },
  ...{ attributes: {}, tags: [], first_seen_at: null, last_seen_at: null, email: null, phone: null },
  ...{ tax_number: null, address: null, merged_into: null },
}

/** Reads a customer by id; the id of one that was merged leads to the other. Throws NOT_FOUND. */
export async function customerWith(queryable: Queryable, tenant: Tenant, id: string): Promise<CustomerRow> {
  let uuid = uuidOf('customer', id)
  while (uuid !== null) {
    const row: CustomerRow | null = await maybe(queryable.query(findCustomer, { ...tenant, id: uuid }))
    if (row?.merged_into === null && row.erased_at === null) return row
    uuid = row?.merged_into ?? null
  }
  throw new AppError('NOT_FOUND', 'there is no such customer; the ids of customers begin with cus_')
}

/** Locks a customer by id, as `customerWith` reads one. */
export async function lockedCustomer(tx: Tx, tenant: Tenant, id: string): Promise<CustomerRow> {
  for (;;) {
    const { id: uuid } = await customerWith(tx, tenant, id)
    const row = await one(tx.query(lockCustomers, { ...tenant, ids: [uuid] }))
    // It may have been merged since it was read.
    if (row.merged_into === null) return row
  }
}

/** Creates a customer, under an id if that has the external id already. Throws CUSTOMER_CONFLICT. */
export async function createCustomer(
  app: App,
  tx: Tx,
  caller: Caller,
  input: Change,
  known: string | null = null,
): Promise<CustomerRow> {
  const { tenant } = caller
  const fields = fieldsOf(nothingKnown, input)
  await checkTypes(tx, tenant, fields.attributes)
  const uuid = known ?? newUuid(caller.receivedMs)
  await claim(tx, tenant, uuid, known === null ? fields : { ...fields, external_id: null })
  const row = await one(tx.query(insertCustomer, { ...tenant, ...written(uuid, fields, caller) }))
  const id = idOf('customer', uuid)
  await writeConsents(app, tx, caller, row, input.consents ?? [])
  await record(tx, caller, 'customer.create', id, { after: { fields: Object.keys(input) } })
  await app.outbox.emit(tx, customerEvents.created, caller, id, { customer: toldOf(row) })
  return row
}

/** Changes a customer whose row is locked. Throws CUSTOMER_CONFLICT. */
export async function changeCustomer(
  app: App,
  tx: Tx,
  caller: Caller,
  before: CustomerRow,
  input: Change,
): Promise<CustomerRow> {
  const { tenant } = caller
  const { id } = before
  const fields = fieldsOf(before, input)
  if (input.attributes !== undefined) await checkTypes(tx, tenant, fields.attributes)
  await exchange(tx, tenant, id, before, fields)
  const row = await one(tx.query(updateCustomer, { ...tenant, ...written(id, fields, caller) }))
  await writeConsents(app, tx, caller, row, input.consents ?? [])
  await record(tx, caller, 'customer.update', idOf('customer', id), { after: { fields: Object.keys(input) } })
  await app.outbox.emit(tx, customerEvents.updated, caller, idOf('customer', id), { customer: toldOf(row) })
  return row
}

/** Creates or changes the customer with an external id. */
export async function putCustomer(
  app: App,
  tx: Tx,
  caller: Caller,
  externalId: string,
  input: Omit<Change, 'external_id'>,
): Promise<CustomerRow> {
  const { tenant, receivedMs } = caller
  const id = newUuid(receivedMs)
  const claimed = { ...tenant, customer: id, kinds: ['external'], addresses: [externalId] }
  const isNew = (await tx.query(claimAddresses, claimed)).length > 0
  if (isNew) return createCustomer(app, tx, caller, { ...input, external_id: externalId }, id)
  const owner = await ownerOf(tx, tenant, 'external', externalId)
  const row = await lockedCustomer(tx, tenant, idOf('customer', owner ?? id))
  return changeCustomer(app, tx, caller, row, input)
}

/** Fields with the changes of a request applied. Invoices go to the main address, once that is changed. */
function fieldsOf(before: Fields, input: Change): Fields {
  const { external_id, name, language, country, timezone } = { ...before, ...input }
  refuseCardNumbers({ name, ...input.attributes })
  const phones = input.phones === undefined ? before.phones : [...new Set(input.phones)]
  const emails = input.emails === undefined ? before.emails : [...new Set(input.emails.map(emailForm))]
  const { first_seen_at, last_seen_at, tax_number, address, merged_into } = before
  return {
    ...{ first_seen_at, last_seen_at, tax_number, address, merged_into },
    ...{ external_id, name, language, country, timezone, phones, emails },
    attributes: changed(before.attributes, input.attributes),
    tags: input.tags === undefined ? before.tags : [...new Set(input.tags.map((tag) => tag.toLowerCase()))],
    phone: input.phones === undefined ? before.phone : (phones[0] ?? null),
    email: input.emails === undefined ? before.email : (emails[0] ?? null),
  }
}

/** Parameters that store a customer. */
export function written(id: string, fields: Fields, { nowMs }: Pick<Caller, 'nowMs'>) {
  return { ...fields, id, attributes: JSON.stringify(fields.attributes), at: new Date(nowMs) }
}
