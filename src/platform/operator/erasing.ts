// SPDX-License-Identifier: Apache-2.0
// Erasure of one person: each area names its rows about them, what of a row is personal, and which rows must stay as they are. What the
// platform itself has of them, events, wire frames and logs, is found by the ids of those rows and by their numbers and addresses.
import { firstUuidAt, idOf, type Kind } from '../../kernel/ids.ts'
import { dayMs } from '../../kernel/time.ts'
import { type Database, one, statement, type Tx } from '../db.ts'
import { mine, type Tenant } from '../tenant.ts'
import type { KnownAs } from './history.ts'

/** Word in the place of what was personal. */
const erasedWord = 'erased'

/** What was done with rows of one kind. */
export interface Erased {
  /** Kind of the rows: `texts`, `payments`. */
  readonly kind: string
  readonly erased: number
  /** Rows that are still there as they were. */
  readonly kept: number
  /** Why rows, or parts of them, were kept; null where nothing was. */
  readonly reason: string | null
  /** Public ids of the erased rows, by which events and frames are found. */
  readonly resources: readonly string[]
}

/** Occasion of an erasure: the account and the times. */
interface Occasion {
  tenant: Tenant
  receivedMs: number
  nowMs: number
  requestId: string | null
}

/** Rows about people. `Context` is what erasing needs, such as the files of the installation. */
export interface Erasable<Context> {
  readonly kind: string
  erase(context: Context, tx: Tx, occasion: Occasion, person: KnownAs): Promise<Erased>
}

/** Files of customers, of which those of erased rows are dropped. */
interface WithFiles {
  readonly storage: { drop(tx: Tx, tenant: Tenant, ids: readonly string[]): Promise<void> }
}

/** Rows of an area about a person. */
interface PersonalRows {
  readonly kind: string
  readonly table: string
  readonly by: readonly {
    readonly column: string
    readonly knownBy: keyof KnownAs
    /** Further condition, such as that of a partial index. */
    readonly where?: string
    /** SQL assignments that take out what is personal; without them the row is deleted. */
    readonly set?: string
  }[]
  /** SQL condition of the rows that can be erased now; all unless given. */
  readonly when?: string
  /** Why rows, or parts of them, are kept. */
  readonly reason?: string
  /** Column of the id, and its kind; null shows it unchanged. */
  readonly id?: { readonly column: string; readonly prefix: Kind | null }
  /** SQL of the files of a row, as a text or null. */
  readonly file?: { readonly column: string; readonly idOf: (text: string) => string | null }
}

/** Erases rows of an area as they are described. */
export function erasable({ kind, table, by, when = 'true', reason, id, file }: PersonalRows): Erasable<WithFiles> {
  const ways = by.map(({ column, knownBy, where = 'true', set }, way) => {
    const type = knownBy === 'customers' ? 'uuid' : 'text'
    const own = `t.bucket = $bucket and t.account_id = $account and t.environment = $environment
       and ${column} = any($known::${type}[]) and (${where})`
    // Files are named by the row as it was, so they are read first.
    const found = statement.tenant<Tenant & { known: readonly string[] }, { id: string | null; file: string | null }>(
      `erase.${kind}.${way}.found`,
      `select (${id?.column ?? 'null'})::text as id, (${file?.column ?? 'null'})::text as file from ${table} t
        where ${own} and (${when}) for update`,
    )
    const erase = statement.tenant<Tenant & { known: readonly string[] }, object>(
      `erase.${kind}.${way}`,
      set === undefined
        ? `delete from ${table} t where ${own} and (${when})`
        : `update ${table} t set ${set} where ${own} and (${when})`,
    )
    const left = statement.tenant<Tenant & { known: readonly string[] }, { count: number }>(
      `erase.${kind}.${way}.left`,
      `select count(*)::int as count from ${table} t where ${own} and (${when}) is not true`,
    )
    return { knownBy, found, erase, left }
  })
  return {
    kind,
    async erase(app, tx, { tenant: { bucket, account, environment } }, person) {
      const tenant = { bucket, account, environment }
      const resources: string[] = []
      let [erased, kept] = [0, 0]
      for (const { knownBy, found, erase, left } of ways) {
        const known = person[knownBy]
        if (known.length === 0) continue
        const rows = await tx.query(found, { ...tenant, known })
        await tx.query(erase, { ...tenant, known })
        erased += rows.length
        kept += (await one(tx.query(left, { ...tenant, known }))).count
        for (const row of rows) if (row.id !== null && id) resources.push(id.prefix ? idOf(id.prefix, row.id) : row.id)
        const files = rows.flatMap((row) => (row.file === null ? [] : (file?.idOf(row.file) ?? [])))
        if (files.length > 0) await app.storage.drop(tx, tenant, files)
      }
      return { kind, erased, kept, reason: kept > 0 || erased > 0 ? (reason ?? null) : null, resources }
    },
  }
}

/** Erases rows that are found through others, by a statement that deletes or changes them and returns one row for each. */
export function erasedBy(kind: string, sql: string): Erasable<unknown> {
  const erase = statement.tenant<Tenant & { phones: readonly string[] }, object>(`erase.${kind}`, sql)
  return {
    kind,
    async erase(_app, tx, { tenant: { bucket, account, environment } }, { phones }) {
      const rows = await tx.query(erase, { bucket, account, environment, phones })
      return { kind, erased: rows.length, kept: 0, reason: null, resources: [] }
    },
  }
}

const eraseEvents = statement.tenant<Tenant & { resources: readonly string[] }, { id: string }>(
  'events.erase',
  `update events.events e
      set body = json_build_object('event', e.type, 'event_id', e.body::json ->> 'event_id',
            'timestamp', e.body::json ->> 'timestamp', 'erased', true)::text, twin_type = null, twin_head = null,
          resource_id = case when e.resource_id ~ '[@+]' then '${erasedWord}' else e.resource_id end
    where e.bucket = $bucket and e.account_id = $account and e.environment = $environment
      and e.resource_id = any($resources::text[]) returning e.id`,
)

const eraseFrames = statement.tenant<Tenant & { resources: readonly string[] }, { id: string }>(
  'platform.erase_frames',
  `delete from platform.frames where ${mine} and resource = any($resources::text[]) returning id`,
)

/** Erases the events and wire frames of what was erased. */
export async function eraseTraces(
  tx: Tx,
  { bucket, account, environment }: Tenant,
  resources: readonly string[],
): Promise<Erased[]> {
  if (resources.length === 0) return []
  const of = { bucket, account, environment, resources }
  const done = { kept: 0, reason: null, resources: [] }
  return [
    { kind: 'events', erased: (await tx.query(eraseEvents, of)).length, ...done },
    { kind: 'wire_frames', erased: (await tx.query(eraseFrames, of)).length, ...done },
  ]
}

type Slice = Tenant & { from: string; to: string; forms: readonly string[] }

const eraseRequests = statement.tenant<Slice, object>(
  'platform.erase_requests',
  `update platform.requests r
      set request_body = null, response_body = null, warning = null,
          path = case when exists (select from unnest($forms::text[]) f where position(f in r.path) > 0) then '${erasedWord}' else r.path end
    where r.bucket = $bucket and r.account_id = $account and r.environment = $environment
      and r.id >= $from::uuid and r.id < $to::uuid
      and exists (select from unnest($forms::text[]) f
                   where position(f in r.path || ' ' || coalesce(r.request_body, '') || coalesce(r.response_body, '')) > 0)`,
)

const eraseAudit = statement.tenant<Slice, object>(
  'platform.erase_audit',
  `update platform.audit a
      set target = case when exists (select from unnest($forms::text[]) f where position(f in a.target) > 0) then '${erasedWord}' else a.target end,
          before = case when exists (select from unnest($forms::text[]) f where position(f in a.before::text) > 0) then '{}' else a.before end,
          after = case when exists (select from unnest($forms::text[]) f where position(f in a.after::text) > 0) then '{}' else a.after end
    where a.bucket = $bucket and a.account_id = $account and a.environment = $environment
      and a.id >= $from::uuid and a.id < $to::uuid
      and exists (select from unnest($forms::text[]) f
                   where position(f in a.target || ' ' || coalesce(a.before::text, '') || coalesce(a.after::text, '')) > 0)`,
)

const eraseAnswers = statement.tenant<Tenant & { forms: readonly string[] }, object>(
  'platform.erase_answers',
  `delete from platform.idempotency k where k.bucket = $bucket and k.account_id = $account and k.environment = $environment
     and not k.sealed and exists (select from unnest($forms::text[]) f where position(f in coalesce(k.body, '')) > 0)`,
)

const requestDays = 32
const auditMonths = 120
const monthDays = 31

/**
 * Takes a person out of the log of requests, the audit log and kept answers, slice by slice: what contains one of the texts. Wire frames of
 * the resources that were written since are deleted.
 */
export async function eraseLogs(
  app: { readonly db: Database; readonly clock: { nowMs(): number } },
  { bucket, account, environment }: Tenant,
  { texts, resources }: { readonly texts: readonly string[]; readonly resources: readonly string[] },
): Promise<void> {
  const forms = [...new Set(texts.flatMap((text) => [text, encodeURIComponent(text)]))]
  const nowMs = app.clock.nowMs()
  await app.db.query(eraseFrames, { bucket, account, environment, resources })
  const slice = (days: number, back: number) => ({
    ...{ bucket, account, environment, forms },
    from: firstUuidAt(nowMs - (back + 1) * days * dayMs),
    to: firstUuidAt(nowMs - back * days * dayMs + (back === 0 ? dayMs : 0)),
  })
  for (let day = 0; day < requestDays; day++) await app.db.query(eraseRequests, slice(1, day))
  for (let month = 0; month < auditMonths; month++) await app.db.query(eraseAudit, slice(monthDays, month))
  await app.db.query(eraseAnswers, { bucket, account, environment, forms })
}
