// SPDX-License-Identifier: Apache-2.0
// SQL of customers and of the addresses that belong to them.
import { stored } from '../../platform/db/stored.ts'
import { statement } from '../../platform/db.ts'
import { mine, type One, type Tenant } from '../../platform/tenant.ts'

export type AttributeValue = string | number | boolean
export type Attributes = Readonly<Record<string, AttributeValue>>

export interface CustomerRow {
  id: string
  external_id: string | null
  name: string | null
  language: string | null
  country: string | null
  timezone: string | null
  phones: string[]
  emails: string[]
  attributes: Attributes
  tags: string[]
  first_seen_at: Date | null
  last_seen_at: Date | null
  /** Where invoices are mailed. */
  email: string | null
  /** Where invoices are texted. */
  phone: string | null
  tax_number: string | null
  address: string | null
  merged_into: string | null
  erased_at: Date | null
  created_at: Date
  updated_at: Date
}

const columns = `id, external_id, name, language, country, timezone, phones, emails, attributes, tags, first_seen_at,
  last_seen_at, email, phone, tax_number, address, merged_into, erased_at, created_at, updated_at`

export const findCustomer = statement.tenant<One, CustomerRow>(
  'customers.find',
  `select ${columns} from customers.customers where ${mine} and id = $id`,
)

export const findCustomers = statement.tenant<Tenant & { ids: readonly string[] }, CustomerRow>(
  'customers.find_many',
  `select ${columns} from customers.customers where ${mine} and id = any($ids::uuid[])`,
)

/** What a message to a customer needs, and a row of a file changes. */
export type Person = Pick<
  CustomerRow,
  | 'id'
  | 'external_id'
  | 'name'
  | 'language'
  | 'country'
  | 'timezone'
  | 'phones'
  | 'emails'
  | 'attributes'
  | 'tags'
  | 'merged_into'
>

const personal = 'id, external_id, name, language, country, timezone, phones, emails, attributes, tags, merged_into'

export const findPeople = statement.tenant<Tenant & { ids: readonly string[] }, Person>(
  'customers.find_people',
  `select ${personal} from customers.customers where ${mine} and id = any($ids::uuid[])`,
)

/** Lock people, in the order of their ids, until the transaction ends. */
export const lockPeople = statement.tenant<Tenant & { ids: readonly string[] }, Person>(
  'customers.lock_people',
  `select c.* from (select unnest($ids::uuid[]) as id order by 1) w
    cross join lateral (select ${personal} from customers.customers where ${mine} and id = w.id for update) c`,
)

/** Keeps a customer from being merged until the transaction ends. */
export const holdCustomer = statement.tenant<One, CustomerRow>(
  'customers.hold',
  `select ${columns} from customers.customers where ${mine} and id = $id for key share`,
)

/**
 * Changes the customers of an account one request at a time: two that exchange numbers, or merge with each other's, would wait for
 * each other. Taken before anything else is locked.
 */
export const lockAccount = statement.tenant<Tenant, object>(
  'customers.lock_account',
  `select pg_advisory_xact_lock(hashtextextended('customers ' || $account::text || $environment::text, $bucket::int))`,
)

/** Creates customers while nobody changes any; creations do not wait for each other. */
export const shareAccount = statement.tenant<Tenant, object>(
  'customers.share_account',
  `select pg_advisory_xact_lock_shared(hashtextextended('customers ' || $account::text || $environment::text, $bucket::int))`,
)

/** Locks customers, in the order of their ids, until the transaction ends. */
export const lockCustomers = statement.tenant<Tenant & { ids: readonly string[] }, CustomerRow>(
  'customers.lock',
  `select c.* from (select unnest($ids::uuid[]) as id order by 1) w
    cross join lateral (select ${columns} from customers.customers where ${mine} and id = w.id for update) c`,
)

export type AddressKind = 'external' | 'phone' | 'email'

/** Owners of addresses. */
export const findOwners = statement.tenant<
  Tenant & { kinds: readonly string[]; addresses: readonly string[] },
  { kind: AddressKind; address: string; customer_id: string }
>(
  'customers.find_owners',
  // Each is looked up by the key: a join may be planned while the account has few, and would read all of them later.
  `select a.kind, a.address, a.customer_id
     from unnest($kinds::text[], $addresses::text[]) w(kind, address)
    cross join lateral (
      select o.kind, o.address, o.customer_id from customers.addresses o
       where o.bucket = $bucket and o.account_id = $account and o.environment = $environment
         and o.kind = w.kind and o.address = w.address limit 1) a`,
)

/** Gives a customer the addresses that nobody has; returns those. In one order, so that two requests never wait for each other. */
export const claimAddresses = statement.tenant<
  Tenant & { customer: string; kinds: readonly string[]; addresses: readonly string[] },
  { kind: AddressKind; address: string }
>(
  'customers.claim_addresses',
  `insert into customers.addresses (bucket, account_id, environment, kind, address, customer_id)
   select $bucket::smallint, $account::uuid, $environment::text, w.kind, w.address, $customer::uuid
     from unnest($kinds::text[], $addresses::text[]) w(kind, address) order by w.kind <> 'external', w.kind, w.address
   on conflict do nothing returning kind, address`,
)

export const freeAddresses = statement.tenant<
  Tenant & { customer: string; kinds: readonly string[]; addresses: readonly string[] },
  object
>(
  'customers.free_addresses',
  `delete from customers.addresses a using unnest($kinds::text[], $addresses::text[]) w(kind, address)
    where a.bucket = $bucket and a.account_id = $account and a.environment = $environment
      and a.kind = w.kind and a.address = w.address and a.customer_id = $customer`,
)

export const moveAddresses = statement.tenant<
  Tenant & { kinds: readonly string[]; addresses: readonly string[]; into: string },
  object
>(
  'customers.move_addresses',
  `update customers.addresses a set customer_id = $into from unnest($kinds::text[], $addresses::text[]) w(kind, address)
    where a.bucket = $bucket and a.account_id = $account and a.environment = $environment
      and a.kind = w.kind and a.address = w.address`,
)

const fields =
  stored(`external_id, name, language, country, timezone, phones, emails, attributes::jsonb, tags, first_seen_at,
  last_seen_at, email, phone, tax_number, address`)

/** Row as statements take it. */
type Written = Omit<CustomerRow, 'attributes' | 'merged_into' | 'erased_at' | 'created_at' | 'updated_at'> & {
  attributes: string
  at: Date
}

export const insertCustomer = statement.tenant<Tenant & Written, CustomerRow>(
  'customers.insert',
  `insert into customers.customers (bucket, account_id, environment, id, ${fields.names}, created_at, updated_at)
   values ($bucket, $account, $environment, $id, ${fields.values}, $at, $at)
   returning ${columns}`,
)

export const updateCustomer = statement.tenant<Tenant & Written & Pick<CustomerRow, 'merged_into'>, CustomerRow>(
  'customers.update',
  `update customers.customers set ${fields.set}, merged_into = $merged_into, updated_at = $at
    where ${mine} and id = $id returning ${columns}`,
)

interface Listing extends Tenant {
  ids: readonly string[] | null
  tag: string | null
  seenAfter: Date | null
  after: string | null
  descending: boolean
  limit: number
}

const listed = (more: string): string => `select ${columns} from customers.customers c
    where ${mine} and merged_into is null and erased_at is null
      and ($ids::uuid[] is null or id = any($ids))
      and ($tag::text is null or tags @> array[$tag])
      and ($seenAfter::timestamptz is null or last_seen_at > $seenAfter)${more}
      and ($after::uuid is null or (case when $descending::boolean then id < $after else id > $after end))
    order by case when $descending then id end desc, id
    limit $limit::int + 1`

/** Customers in the order of their ids. */
export const listCustomers = statement.tenant<Listing, CustomerRow>('customers.list', listed(''))

/**
 * Those whose name has words that begin so, or who have an address or external id that does. Their ids are found first: a plan that
 * walks all customers in their order until enough match would read a million for a name that nobody has.
 */
export const searchCustomers = statement.tenant<Listing & { words: string; begins: string }, CustomerRow>(
  'customers.search',
  listed(`
      and id = any(array(
        select n.id from customers.customers n
         where n.bucket = $bucket and n.account_id = $account and n.environment = $environment
           and to_tsvector('simple', n.name) @@ to_tsquery('simple', $words)
        union all
        select a.customer_id from customers.addresses a
         where a.bucket = $bucket and a.account_id = $account and a.environment = $environment
           and a.address >= $begins and a.address < ($begins || chr(1114111))))`),
)
