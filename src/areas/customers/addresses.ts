// SPDX-License-Identifier: Apache-2.0
// Addresses of customers: phone numbers, email addresses and external ids, each of which belongs to one customer of an account and
// environment.
import { parseAddress } from '../../kernel/email-address.ts'
import { AppError } from '../../kernel/errors.ts'
import { idOf } from '../../kernel/ids.ts'
import { maybe, type Queryable, type Tx } from '../../platform/db.ts'
import type { Tenant } from '../../platform/tenant.ts'
import { type AddressKind, claimAddresses, findOwners, freeAddresses } from './store.ts'

export const maxAddresses = 10

/** Addresses of a customer: phone numbers and email addresses, the main one first. */
export interface Addresses {
  readonly external_id?: string | null
  readonly phones: readonly string[]
  readonly emails: readonly string[]
}

/** Form in which an email address is stored and compared. Throws INVALID_EMAIL. */
export function emailForm(text: string): string {
  const parsed = parseAddress(text.trim())
  if (!parsed) throw new AppError('INVALID_EMAIL', `${text} is not an address such as amina@shop.example`)
  return parsed.address.toLowerCase()
}

/** Addresses as two lists of one length, as statements take them. */
export function listed({ external_id = null, phones, emails }: Addresses): {
  kinds: AddressKind[]
  addresses: string[]
} {
  const all: [AddressKind, string][] = [
    ...(external_id === null ? [] : [['external', external_id] satisfies [AddressKind, string]]),
    ...phones.map((phone): [AddressKind, string] => ['phone', phone]),
    ...emails.map((email): [AddressKind, string] => ['email', email]),
  ]
  return { kinds: all.map(([kind]) => kind), addresses: all.map(([, address]) => address) }
}

/** Customer that has an address; null for nobody. */
export async function ownerOf(
  queryable: Queryable,
  tenant: Tenant,
  kind: AddressKind,
  address: string,
): Promise<string | null> {
  const owner = await maybe(queryable.query(findOwners, { ...tenant, kinds: [kind], addresses: [address] }))
  return owner?.customer_id ?? null
}

/** Gives a customer addresses, and refuses what another one has. Throws CUSTOMER_CONFLICT. */
export async function claim(tx: Tx, tenant: Tenant, customer: string, addresses: Addresses): Promise<void> {
  const wanted = listed(addresses)
  if (wanted.kinds.length === 0) return
  const claimed = await tx.query(claimAddresses, { ...tenant, customer, ...wanted })
  if (claimed.length === wanted.kinds.length) return
  const owners = await tx.query(findOwners, { ...tenant, ...wanted })
  const taken = owners.find(({ customer_id }) => customer_id !== customer)
  throw conflict(taken ?? { kind: 'phone', address: 'an address', customer_id: customer })
}

/** Exchanges the addresses of a customer for others. */
export async function exchange(
  tx: Tx,
  tenant: Tenant,
  customer: string,
  before: Addresses,
  now: Addresses,
): Promise<void> {
  const gone = listed(without(before, now))
  if (gone.kinds.length > 0) await tx.query(freeAddresses, { ...tenant, customer, ...gone })
  await claim(tx, tenant, customer, without(now, before))
}

function without(some: Addresses, others: Addresses): Addresses {
  return {
    external_id: some.external_id === others.external_id ? null : (some.external_id ?? null),
    phones: some.phones.filter((one) => !others.phones.includes(one)),
    emails: some.emails.filter((one) => !others.emails.includes(one)),
  }
}

/** Refusal of what another customer has. */
function conflict({
  kind,
  address,
  customer_id,
}: {
  kind: AddressKind
  address: string
  customer_id: string
}): AppError {
  const id = idOf('customer', customer_id)
  const what = kind === 'external' ? `external_id ${address}` : address
  return new AppError('CUSTOMER_CONFLICT', `${what} belongs to ${id}`, { extra: { customer_id: id } })
}
