// SPDX-License-Identifier: Apache-2.0
// Heads of audit chains: how many entries each has and the hash of the last, so that entries which were taken away are missed.
// Heads are chained in books, so that a whole chain is missed too. Both are sealed with the installation's key, which is not
// in the database: whoever can write there cannot make them hold again.
import { buckets } from '../../kernel/ids.ts'
import { maybe, one, type Queryable, statement, type Tx } from '../../platform/db.ts'
import type { Chore } from '../../platform/nodes/maintenance.ts'
import type { Secrets } from '../../platform/secrets.ts'
import { type Environment, mine, type Tenant, tenantOf } from '../../platform/tenant.ts'

export type Keyed = Pick<Secrets, 'fingerprint'>

export interface Head {
  readonly resource: string
  readonly resource_id: string
  readonly book: number
  /** Place in the book, from 1; 0 of a head from before that is not sealed yet. */
  readonly number: number
  readonly opened: string
  readonly entries: number
  readonly last_hash: string
  readonly seal: string
}

export interface Book {
  readonly book: number
  readonly chains: number
  readonly last_opened: string
  readonly seal: string
}

export const headColumns = 'resource, resource_id, book, number, opened, entries, last_hash, seal'

type At = Tenant & { resource: string }

/** Locks the chain of a resource: entries are appended one at a time. */
export const lockChain = statement.tenant<At, object>(
  'identity.lock_chain',
  `select pg_advisory_xact_lock(hashtextextended($account::text || $environment::text || $resource::text, $bucket::int)) as locked`,
)

const selectHead = statement.tenant<At, Head>(
  'identity.find_audit_head',
  `select ${headColumns} from identity.audit_heads where ${mine} and resource = $resource`,
)

/** Locks a book, making it if there is none. */
const lockBook = statement.tenant<Tenant & { book: number }, Book>(
  'identity.lock_audit_book',
  `insert into identity.audit_books as b (bucket, account_id, environment, book, chains, last_opened, seal)
   values ($bucket, $account, $environment, $book, 0, '', '')
   on conflict (bucket, account_id, environment, book) do update set chains = b.chains
   returning book, chains, last_opened, seal`,
)

const keepBook = statement.tenant<Tenant & { book: number; chains: number; opened: string; seal: string }, object>(
  'identity.keep_audit_book',
  `update identity.audit_books set chains = $chains, last_opened = $opened, seal = $seal where ${mine} and book = $book`,
)

const keepHead = statement.tenant<
  At & {
    resourceId: string
    book: number
    number: number
    opened: string
    entries: number
    lastHash: string
    seal: string
  },
  object
>(
  'identity.keep_audit_head',
  `insert into identity.audit_heads (bucket, account_id, environment, resource, resource_id, book, number, opened, entries,
                                     last_hash, seal)
   values ($bucket, $account, $environment, $resource, $resourceId, $book, $number, $opened, $entries, $lastHash, $seal)
   on conflict (bucket, account_id, environment, resource) do update
     set number = excluded.number, opened = excluded.opened, entries = excluded.entries, last_hash = excluded.last_hash,
         seal = excluded.seal`,
)

const unsealed = statement.everywhere<
  { buckets: readonly number[]; most: number },
  Head & { bucket: number; account_id: string; environment: Environment }
>(
  'identity.unsealed_audit_heads',
  `select bucket, account_id, environment, ${headColumns} from identity.audit_heads
    where bucket = any($buckets::smallint[]) and seal = '' limit $most::int`,
)

/** Whether a hash was made with the key: those of entries from before were not. */
export function isKeyed(hash: string | null): boolean {
  return hash !== null && !hash.startsWith('sha256:')
}

/** Seal of something that was changed by somebody else: it never holds again. */
const broken = 'broken'

function sealOf(secrets: Keyed, tenant: Tenant, what: 'head' | 'book', parts: readonly (string | number)[]): string {
  const text = JSON.stringify([tenant.account, tenant.environment, ...parts])
  return secrets.fingerprint(`identity.audit_${what}`, text).toString('hex')
}

function sealOfHead(secrets: Keyed, tenant: Tenant, head: Omit<Head, 'seal'>): string {
  const { resource_id, book, number, opened, entries, last_hash } = head
  return sealOf(secrets, tenant, 'head', [resource_id, book, number, opened, entries, last_hash])
}

export function sealOfBook(secrets: Keyed, tenant: Tenant, { book, chains, last_opened }: Omit<Book, 'seal'>): string {
  return sealOf(secrets, tenant, 'book', [book, chains, last_opened])
}

/** Hash by which a chain follows the one that was opened before it in the same book. */
export function openedAfter(secrets: Keyed, previous: string, number: number, resourceId: string): string {
  return secrets.fingerprint('identity.audit_opened', `${previous} ${number} ${resourceId}`).toString('hex')
}

export function findHead(db: Queryable, tenant: Tenant, resource: string): Promise<Head | null> {
  return maybe(db.query(selectHead, { ...tenant, resource }))
}

/** Head of a chain, whose lock is held; a new one is opened in its book, and so is one from before. */
export async function headOf(
  secrets: Keyed,
  tx: Tx,
  tenant: Tenant,
  resource: string,
  resourceId: string,
): Promise<Head> {
  const found = await findHead(tx, tenant, resource)
  if (found && found.seal !== '') return found
  // Sixteen books of an account: its checks do not all wait for one row.
  const book = Number.parseInt(resource.slice(-1), 16)
  const { chains, last_opened, seal } = await one(tx.query(lockBook, { ...tenant, book }))
  const isWhole = chains === 0 || seal === sealOfBook(secrets, tenant, { book, chains, last_opened })
  const number = chains + 1
  const opened = openedAfter(secrets, last_opened, number, resourceId)
  const now = { book, chains: number, last_opened: opened }
  await tx.query(keepBook, {
    ...tenant,
    book,
    chains: number,
    opened,
    seal: isWhole ? sealOfBook(secrets, tenant, now) : broken,
  })
  const made = { entries: 0, last_hash: '', ...found, resource, resource_id: resourceId, book, number, opened }
  return { ...made, seal: sealOfHead(secrets, tenant, made) }
}

/** Keeps a head after an entry was added to its chain. `before` is the head as it was read. */
export async function advance(
  secrets: Keyed,
  tx: Tx,
  tenant: Tenant,
  before: Head,
  added: Pick<Head, 'entries' | 'last_hash'>,
): Promise<void> {
  const { resource, resource_id: resourceId, book, number, opened } = before
  const isWhole = before.seal === sealOfHead(secrets, tenant, before)
  const { entries, last_hash: lastHash } = added
  const seal = isWhole ? sealOfHead(secrets, tenant, { ...before, ...added }) : broken
  await tx.query(keepHead, { ...tenant, resource, resourceId, book, number, opened, entries, lastHash, seal })
}

/** What is wrong with a head; with `last`, the last entry that is there, also whether any are missing after it. */
export function headFault(
  secrets: Keyed,
  tenant: Tenant,
  head: Head | null,
  last?: { readonly sequence: number; readonly hash: string },
): string | null {
  if (!head) return 'the record of how many entries it has is missing'
  // One from before, which no node has sealed yet, has only its count: no place in a book, and no entry with a key.
  const isFromBefore = head.seal === '' && head.number === 0 && !isKeyed(head.last_hash)
  if (!isFromBefore && head.seal !== sealOfHead(secrets, tenant, head))
    return 'the record of how many entries it has was changed'
  if (last && last.sequence < head.entries) return `the entries after ${last.sequence} are missing`
  if (last && last.hash !== head.last_hash) return `entry ${last.sequence} is not the one that was written last`
  return null
}

const maxAtOnce = 500

/** Seals the heads of chains from before. */
export const sealHeads: Chore = {
  name: 'identity.seal_audit_heads',
  run: async ({ db, secrets }) => {
    for (const row of await db.query(unsealed, { buckets, most: maxAtOnce })) {
      const tenant = tenantOf(row)
      await db.tx(tenant, async (tx) => {
        await tx.query(lockChain, { ...tenant, resource: row.resource })
        const now = await findHead(tx, tenant, row.resource)
        if (now?.seal !== '') return
        const head = await headOf(secrets, tx, tenant, row.resource, row.resource_id)
        await advance(secrets, tx, tenant, head, head)
      })
    }
  },
}
