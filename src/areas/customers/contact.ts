// SPDX-License-Identifier: Apache-2.0
// Customer of an invoice or a subscription: found by email address or else by phone number, or made. Numbers and addresses of such a
// request that belong to somebody else are what the invoice goes to, and stay with whom they belong to.
import { idOf, newUuid } from '../../kernel/ids.ts'
import { one, type Tx } from '../../platform/db.ts'
import type { Occasion } from '../../platform/events.ts'
import { maxAddresses } from './addresses.ts'
import { customerWith, lockedCustomer, nothingKnown, written } from './change.ts'
import { type CustomerRow, claimAddresses, findOwners, holdCustomer, insertCustomer, updateCustomer } from './store.ts'

/** Facts that a request has of whom it bills. */
export interface Contact {
  readonly name: string | null
  readonly email: string | null
  readonly phone: string | null
  readonly taxNumber: string | null
  readonly address: string | null
}

/** Reads a customer and keeps them from being merged until the transaction ends. */
export async function heldCustomer(tx: Tx, { tenant }: Pick<Occasion, 'tenant'>, id: string): Promise<CustomerRow> {
  for (;;) {
    const { id: uuid } = await customerWith(tx, tenant, id)
    const row = await one(tx.query(holdCustomer, { ...tenant, id: uuid }))
    if (row.merged_into === null) return row
  }
}

/** Finds or creates the customer with a contact, with what the request knows of them. */
export async function customerByContact(tx: Tx, occasion: Occasion, contact: Contact): Promise<CustomerRow> {
  const { tenant, receivedMs } = occasion
  const { name, email, phone, taxNumber: tax_number, address } = contact
  const mail = email?.toLowerCase() ?? null
  const id = newUuid(receivedMs)
  const owner = await claimContact(tx, occasion, id, mail, phone)
  if (owner !== null) return update(tx, occasion, owner, contact)
  const owned = await claimed(tx, occasion, id, mail === null ? null : phone)
  const fields = {
    ...nothingKnown,
    ...{ name, email, phone, tax_number, address },
    emails: mail === null ? [] : [mail],
    phones: phone !== null && (mail === null || owned) ? [phone] : [],
  }
  return one(tx.query(insertCustomer, { ...tenant, ...written(id, fields, occasion) }))
}

/** Claims the address that tells customers apart for a new one; returns the customer that has it, null when it is claimed. */
async function claimContact(
  tx: Tx,
  { tenant }: Occasion,
  customer: string,
  mail: string | null,
  phone: string | null,
): Promise<string | null> {
  const address = mail ?? phone
  if (address === null) return null
  const wanted = { ...tenant, kinds: [mail === null ? 'phone' : 'email'], addresses: [address] }
  if ((await tx.query(claimAddresses, { ...wanted, customer })).length > 0) return null
  return (await one(tx.query(findOwners, wanted))).customer_id
}

/** Claims a number for a customer; false when somebody has it. */
async function claimed(tx: Tx, { tenant }: Occasion, customer: string, phone: string | null): Promise<boolean> {
  if (phone === null) return false
  return (await tx.query(claimAddresses, { ...tenant, customer, kinds: ['phone'], addresses: [phone] })).length > 0
}

async function update(tx: Tx, occasion: Occasion, owner: string, contact: Contact): Promise<CustomerRow> {
  const { tenant } = occasion
  const { id, created_at: _, updated_at: __, ...known } = await lockedCustomer(tx, tenant, idOf('customer', owner))
  const isNew = contact.phone !== null && !known.phones.includes(contact.phone) && known.phones.length < maxAddresses
  const isOwned = isNew && (await claimed(tx, occasion, id, contact.phone))
  const fields = {
    ...known,
    name: contact.name ?? known.name,
    email: contact.email?.toLowerCase() === known.email?.toLowerCase() ? known.email : (contact.email ?? known.email),
    phone: contact.phone ?? known.phone,
    phones: isOwned && contact.phone !== null ? [contact.phone, ...known.phones] : known.phones,
    tax_number: contact.taxNumber ?? known.tax_number,
    address: contact.address ?? known.address,
  }
  return one(tx.query(updateCustomer, { ...tenant, ...written(id, fields, occasion) }))
}
