// SPDX-License-Identifier: Apache-2.0
// Verifies all audit chains in the database, without the platform running: `npm start -- identity verify-audit`. Entries are
// held to one another, chains to their heads, heads to their books, and verifications to having a chain at all.
import { buckets, idOf } from '../../kernel/ids.ts'
import { type Database, maybe, statement } from '../../platform/db.ts'
import { type Environment, mine, type Tenant, tenantOf } from '../../platform/tenant.ts'
import { faultOf, type Link, linksAfter } from './audit-chain.ts'
import {
  type Book,
  findHead,
  type Head,
  headColumns,
  headFault,
  type Keyed,
  openedAfter,
  sealOfBook,
} from './audit-heads.ts'

interface Position {
  readonly bucket: number
  readonly account_id: string
  readonly environment: Environment
  readonly resource: string
  readonly sequence: number
}

const page = 2_000

const nextLinks = statement.tenant<
  { bucket: number; account: string; environment: string; resource: string; sequence: number; most: number },
  Link & Position
>(
  'identity.next_links',
  `select bucket, account_id, environment, resource, resource_id, sequence, id, at, action, actor, details, previous_hash, hash
     from identity.audit
    where bucket = $bucket
      and (account_id, environment, resource, sequence) > ($account::uuid, $environment::text, $resource::uuid, $sequence::int)
    order by account_id, environment, resource, sequence limit $most::int`,
)

/** Heads of chains of which no entry is left. */
const emptied = statement.tenant<{ bucket: number }, { resource_id: string }>(
  'identity.emptied_audit_chains',
  `select h.resource_id from identity.audit_heads h
    where h.bucket = $bucket and not exists (
      select from identity.audit a where a.bucket = h.bucket and a.account_id = h.account_id
         and a.environment = h.environment and a.resource = h.resource)`,
)

/** Verifications whose chain is gone with its head. */
const unaudited = statement.tenant<{ bucket: number }, { id: string }>(
  'identity.unaudited_verifications',
  `select v.id from identity.verifications v
    where v.bucket = $bucket and not exists (
      select from identity.audit_heads h where h.bucket = v.bucket and h.account_id = v.account_id
         and h.environment = v.environment and h.resource = v.id)`,
)

/** Books that a head or a row of their own names. */
const allBooks = statement.tenant<{ bucket: number }, { account_id: string; environment: Environment; book: number }>(
  'identity.all_audit_books',
  `select account_id, environment, book from identity.audit_books where bucket = $bucket
   union
   select account_id, environment, book from identity.audit_heads where bucket = $bucket and number > 0`,
)

const findBook = statement.tenant<Tenant & { book: number }, Book>(
  'identity.find_audit_book',
  `select book, chains, last_opened, seal from identity.audit_books where ${mine} and book = $book`,
)

const headsOfBook = statement.tenant<Tenant & { book: number; after: number; most: number }, Head>(
  'identity.heads_of_audit_book',
  `select ${headColumns} from identity.audit_heads
    where ${mine} and book = $book and number > $after order by number, resource limit $most::int`,
)

/** Most entries of one chain. */
const maxEntries = 1_000_000

const start = {
  account: '00000000-0000-0000-0000-000000000000',
  environment: '',
  resource: '00000000-0000-0000-0000-000000000000',
  sequence: 0,
}

export interface AuditVerdict {
  readonly chains: number
  readonly entries: number
  /** One sentence per broken chain. */
  readonly faults: readonly string[]
}

export async function verifyAudit(db: Database, secrets: Keyed): Promise<AuditVerdict> {
  let [chains, entries] = [0, 0]
  const faults: string[] = []
  for (const bucket of buckets) {
    let chain: (Link & Position)[] = []
    const close = async () => {
      const [first, last] = [chain[0], chain.at(-1)]
      if (!first) return
      chains += 1
      const tenant = tenantOf(first)
      const head = await findHead(db, tenant, first.resource)
      const doubt = faultOf(secrets, chain) ?? headFault(secrets, tenant, head, last)
      // A node may have added an entry while this was read.
      const fault = doubt && (await linksAfter({ db, secrets }, tenant, first.resource, 0, maxEntries)).fault
      if (fault) faults.push(`${first.resource_id}: ${fault}`)
      chain = []
    }
    for (let after = { ...start }; ; ) {
      const links = await db.query(nextLinks, { bucket, ...after, most: page })
      for (const link of links) {
        if (chain.at(-1)?.resource !== link.resource) await close()
        chain.push(link)
        entries += 1
      }
      const last = links.at(-1)
      if (!last || links.length < page) break
      after = {
        account: last.account_id,
        environment: last.environment,
        resource: last.resource,
        sequence: last.sequence,
      }
    }
    await close()
    for (const { resource_id } of await db.query(emptied, { bucket }))
      faults.push(`${resource_id}: every entry is missing`)
    for (const { id } of await db.query(unaudited, { bucket }))
      faults.push(`${idOf('verification', id)}: its chain is missing`)
    for (const row of await db.query(allBooks, { bucket })) {
      const fault = await bookFault(db, secrets, tenantOf({ bucket, ...row }), row.book)
      if (fault) faults.push(`${idOf('account', row.account_id)}, ${row.environment}, book ${row.book}: ${fault}`)
    }
  }
  return { chains, entries, faults }
}

/** First chain that is missing from a book, or does not follow the one before it. */
async function bookFault(db: Database, secrets: Keyed, tenant: Tenant, book: number): Promise<string | null> {
  const before = await maybe(db.query(findBook, { ...tenant, book }))
  let [number, opened] = [0, '']
  for (;;) {
    const heads = await db.query(headsOfBook, { ...tenant, book, after: number, most: page })
    for (const head of heads) {
      if (head.number !== number + 1) return `chain ${number + 1} is missing`
      if (head.opened !== openedAfter(secrets, opened, head.number, head.resource_id))
        return `chain ${head.number}, ${head.resource_id}, does not follow the one before it`
      number = head.number
      opened = head.opened
    }
    if (heads.length < page) break
  }
  // A node may have opened chains while the heads were read.
  const isOlder = before !== null && before.chains < number
  const kept = before && !isOlder ? before : await maybe(db.query(findBook, { ...tenant, book }))
  if (!kept) return 'the record of how many chains it has is missing'
  if (kept.seal !== sealOfBook(secrets, tenant, kept) || kept.chains < number)
    return 'the record of how many chains it has was changed'
  return kept === before && kept.chains > number ? `the chains after ${number} are missing` : null
}
