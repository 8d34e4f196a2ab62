// SPDX-License-Identifier: Apache-2.0
// Persons who were erased: keyed hashes of their numbers, addresses and external ids, so that no file brings them back. Nobody can
// read from them who it was. Whoever writes again, or is created by a request, is a customer like all others.
import type { App } from '../../../platform/app.ts'
import { maybe, type Queryable, statement, type Tx } from '../../../platform/db.ts'
import { mine, type Tenant } from '../../../platform/tenant.ts'
import { type Addresses, listed } from '../addresses.ts'
import type { AddressKind } from '../store.ts'

const keepErased = statement.tenant<Tenant & { hashes: readonly string[]; at: Date }, object>(
  'customers.keep_erased',
  `insert into customers.erased (bucket, account_id, environment, hash, erased_at)
   select $bucket::smallint, $account::uuid, $environment::text, decode(h.hash, 'hex'), $at::timestamptz
     from unnest($hashes::text[]) h(hash) on conflict do nothing`,
)

const anyErased = statement.tenant<Tenant, { n: number }>(
  'customers.any_erased',
  `select 1 as n from customers.erased where ${mine} limit 1`,
)

const findErased = statement.tenant<Tenant & { hashes: readonly string[] }, { hash: string }>(
  'customers.find_erased',
  `select encode(e.hash, 'hex') as hash from unnest($hashes::text[]) w(hash)
    cross join lateral (
      select o.hash from customers.erased o
       where o.bucket = $bucket and o.account_id = $account and o.environment = $environment and o.hash = decode(w.hash, 'hex') limit 1) e`,
)

function hashOf({ secrets }: App, { account, environment }: Tenant, kind: string, address: string): string {
  return secrets.fingerprint('customers.erased', `${account} ${environment} ${kind} ${address}`).toString('hex')
}

/** Notes whom no file brings back. */
export async function suppress(app: App, tx: Tx, tenant: Tenant, addresses: Addresses, at: Date): Promise<void> {
  const { kinds, addresses: all } = listed(addresses)
  const hashes = all.map((address, i) => hashOf(app, tenant, kinds[i] ?? 'external', address))
  if (hashes.length > 0) await tx.query(keepErased, { ...tenant, hashes, at })
}

/** Those of some addresses that were erased with a person. */
export async function erasedAmong(
  app: App,
  queryable: Queryable,
  tenant: Tenant,
  some: () => readonly { kind: AddressKind; address: string }[],
): Promise<readonly { kind: AddressKind; address: string }[]> {
  const { bucket, account, environment } = tenant
  const mineOnly = { bucket, account, environment }
  if (!(await maybe(queryable.query(anyErased, mineOnly)))) return []
  const byHash = new Map(some().map((one) => [hashOf(app, tenant, one.kind, one.address), one]))
  const hashes = [...byHash.keys()]
  const found = hashes.length === 0 ? [] : await queryable.query(findErased, { ...mineOnly, hashes })
  return found.flatMap(({ hash }) => byHash.get(hash) ?? [])
}
