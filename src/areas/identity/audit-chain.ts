// SPDX-License-Identifier: Apache-2.0
// Audit log of a check as a chain: each entry holds a keyed hash of itself and the one before, so that changes are detected;
// the head of the chain says how many there are (audit-heads.ts). Entries hold ids and outcomes, nothing personal, and
// survive an erasure.
import { createHash } from 'node:crypto'
import { type Static, Type } from 'typebox'
import { idOf, type Kind, newUuid, uuidOf } from '../../kernel/ids.ts'
import { momentText } from '../../kernel/time.ts'
import type { App } from '../../platform/app.ts'
import type { Caller } from '../../platform/auth.ts'
import { type Database, maybe, statement, type Tx } from '../../platform/db.ts'
import { mine, type Tenant } from '../../platform/tenant.ts'
import { advance, findHead, headFault, headOf, isKeyed, type Keyed, lockChain } from './audit-heads.ts'

type Details = Readonly<Record<string, string | number | boolean | null | readonly string[]>>

export interface Actor {
  readonly type: 'api_key' | 'user' | 'system' | 'worker'
  readonly id: string | null
  readonly ip: string | null
}

export interface Link {
  readonly resource: string
  readonly resource_id: string
  readonly sequence: number
  readonly id: string
  readonly at: Date
  readonly action: string
  readonly actor: unknown
  readonly details: unknown
  readonly previous_hash: string | null
  readonly hash: string
}

type At = Tenant & { resource: string }

const lastLink = statement.tenant<At, { sequence: number; hash: string }>(
  'identity.last_link',
  `select sequence, hash from identity.audit where ${mine} and resource = $resource order by sequence desc limit 1`,
)

const addLink = statement.tenant<
  At & {
    sequence: number
    id: string
    resourceId: string
    at: Date
    action: string
    actor: string
    details: string
    previous: string | null
    hash: string
  },
  object
>(
  'identity.add_link',
  `insert into identity.audit (bucket, account_id, environment, resource, sequence, id, resource_id, at, action, actor,
                               details, previous_hash, hash)
   values ($bucket, $account, $environment, $resource, $sequence, $id, $resourceId, $at, $action, $actor::jsonb,
           $details::jsonb, $previous, $hash)`,
)

const findLinks = statement.tenant<At & { after: number; limit: number }, Link>(
  'identity.find_links',
  `select resource, resource_id, sequence, id, at, action, actor, details, previous_hash, hash from identity.audit
    where ${mine} and resource = $resource and sequence > $after order by sequence limit $limit::int`,
)

export interface Happening {
  /** Public id of the check. */
  readonly resourceId: string
  readonly action: string
  readonly actor: Actor
  readonly details?: Details
  readonly receivedMs: number
  readonly nowMs: number
}

export async function appendAudit(
  { secrets }: Pick<App, 'secrets'>,
  tx: Tx,
  tenant: Tenant,
  happening: Happening,
): Promise<void> {
  const { resourceId, action, actor, details = {}, receivedMs, nowMs } = happening
  const resource = resourceOf(resourceId)
  if (!resource) throw new Error(`${resourceId} is no check that can be audited`)
  await tx.query(lockChain, { ...tenant, resource })
  const head = await headOf(secrets, tx, tenant, resource, resourceId)
  const id = newUuid(receivedMs)
  const last = await maybe(tx.query(lastLink, { ...tenant, resource }))
  // The head counts, so that what somebody took away stays missing; a node of the release before may have added more.
  const end = last && last.sequence > head.entries ? { entries: last.sequence, last_hash: last.hash } : head
  const sequence = end.entries + 1
  const at = new Date(nowMs)
  const previous = end.entries === 0 ? null : end.last_hash
  const entry = { resource_id: resourceId, id, sequence, at, action, actor, details, previous_hash: previous }
  const hash = keyedHash(secrets, entry)
  await tx.query(addLink, {
    ...tenant,
    resource,
    sequence,
    id,
    resourceId,
    at,
    action,
    actor: JSON.stringify(actor),
    details: JSON.stringify(details),
    previous,
    hash,
  })
  await advance(secrets, tx, tenant, head, { entries: sequence, last_hash: hash })
}

export function actorOf(caller: Pick<Caller, 'actor' | 'ip'>): Actor {
  return { type: 'api_key', id: caller.actor, ip: caller.ip }
}

export const worker: Actor = { type: 'worker', id: null, ip: null }
export const system: Actor = { type: 'system', id: null, ip: null }

const auditedKinds = ['verification', 'scan', 'faceMatch', 'liveness', 'riskCheck', 'otp'] as const satisfies Kind[]

/** UUID in the id of an audited resource; null for other texts. */
export function resourceOf(resourceId: string): string | null {
  for (const kind of auditedKinds) {
    const uuid = uuidOf(kind, resourceId)
    if (uuid) return uuid
  }
  return null
}

export interface LinksPage {
  /** Oldest first. */
  readonly links: readonly Link[]
  /** Sequence of the last entry, when there are more. */
  readonly next: number | null
  /** First thing that is wrong with the chain; null when it holds. */
  readonly fault: string | null
}

/** Page of entries after a sequence number, and whether the chain holds. Entries and head are read between two additions. */
export function linksAfter(
  { db, secrets }: { readonly db: Database; readonly secrets: Keyed },
  tenant: Tenant,
  resource: string,
  after: number,
  limit: number,
): Promise<LinksPage> {
  return db.tx(tenant, async (tx) => {
    await tx.query(lockChain, { ...tenant, resource })
    return readAfter(secrets, tx, { ...tenant, resource }, after, limit)
  })
}

async function readAfter(secrets: Keyed, tx: Tx, at: At, after: number, limit: number): Promise<LinksPage> {
  // The page also reads the entry before it, whose hash the first one holds, and one more.
  const from = Math.max(0, after - 1)
  const read = await tx.query(findLinks, { ...at, after: from, limit: limit + (after - from) + 1 })
  const before = after > 0 ? read[0] : undefined
  const rest = after > 0 ? read.slice(1) : read
  const links = rest.slice(0, limit)
  const next = rest.length > limit ? (links.at(-1)?.sequence ?? null) : null
  const head = await findHead(tx, at, at.resource)
  const last = next === null ? links.at(-1) : undefined
  return { links, next, fault: faultOf(secrets, links, before) ?? headFault(secrets, at, head, last) }
}

type Unhashed = Omit<Link, 'resource' | 'hash'>

/** Keyed hash of the check, the previous hash and the entry as JSON with sorted keys. The key is not in the database. */
function keyedHash(secrets: Keyed, link: Unhashed): string {
  const digest = secrets.fingerprint('identity.audit', `${link.resource_id} ${textOf(link)}`)
  return `hmac-sha256:${digest.toString('hex')}`
}

/** Hash of an entry as its kind wants it: those from before had no key. */
function hashOf(secrets: Keyed, link: Link): string {
  if (isKeyed(link.hash)) return keyedHash(secrets, link)
  return `sha256:${createHash('sha256').update(textOf(link)).digest('hex')}`
}

function textOf({ id, sequence, at, action, actor, details, previous_hash }: Unhashed): string {
  const entry = { entry_id: idOf('audit', id), sequence, timestamp: momentText(at), action, actor, details }
  return `${previous_hash ?? ''}${canonical(entry)}`
}

function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${members.map(([name, held]) => `${JSON.stringify(name)}:${canonical(held)}`).join()}}`
}

/** First entry that breaks the chain; null when it is intact. */
export function faultOf(secrets: Keyed, links: readonly Link[], before?: Link): string | null {
  let previous: string | null = before?.hash ?? null
  const first = (before?.sequence ?? 0) + 1
  for (const [i, link] of links.entries()) {
    if (link.sequence !== first + i) return `entry ${first + i} is missing`
    if (link.previous_hash !== previous) return `entry ${link.sequence} does not follow the one before it`
    if (link.hash !== hashOf(secrets, link)) return `entry ${link.sequence} was changed`
    if (isKeyed(previous) && !isKeyed(link.hash)) return `entry ${link.sequence} was added without the key`
    previous = link.hash
  }
  return null
}

export const AuditEntry = Type.Object(
  {
    entry_id: Type.String({ description: 'Id of the entry, such as `aud_…`' }),
    sequence: Type.Integer({ description: 'Position in the chain of this check, from 1' }),
    timestamp: Type.String({ description: 'Time of the action' }),
    action: Type.String({ description: 'Action of the entry' }),
    actor: Type.Unknown({ description: 'Actor: `type`, `id` and, for a request, `ip`' }),
    details: Type.Unknown({ description: 'Further details of the action' }),
    previous_hash: Type.Union([Type.String(), Type.Null()], {
      description: '`hash` of the entry before; null for the first',
    }),
    hash: Type.String({
      description:
        '`hmac-sha256:` and the keyed digest of `previous_hash` and the entry, in hex; `sha256:` of older ones',
    }),
  },
  { title: 'IdentityAuditEntry' },
)

export function entryOf(link: Link): Static<typeof AuditEntry> {
  const { id, sequence, at, action, actor, details, previous_hash, hash } = link
  return {
    entry_id: idOf('audit', id),
    sequence,
    timestamp: momentText(at),
    action,
    actor,
    details,
    previous_hash,
    hash,
  }
}
