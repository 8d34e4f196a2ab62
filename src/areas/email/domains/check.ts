// SPDX-License-Identifier: Apache-2.0
// Check of a domain's DNS records at their authoritative servers: correct ones verify the domain, three days without
// them fail it, and a DNS failure changes nothing.
import { Type } from 'typebox'
import { idOf } from '../../../kernel/ids.ts'
import { dayMs, hourMs, minuteMs } from '../../../kernel/time.ts'
import type { App } from '../../../platform/app.ts'
import { maybe, statement, type Tx } from '../../../platform/db.ts'
import { occasionNow } from '../../../platform/events.ts'
import type { DnsResolver } from '../../../platform/outbound/dns.ts'
import { mine, type One, type Tenant } from '../../../platform/tenant.ts'
import type { Job, Outcome } from '../../../platform/work.ts'
import { dnsFor } from '../dns/resolvers.ts'
import { emailEvents } from '../events.ts'
import { type DomainRow, keyLabel, recordOf, type WantedRecord, wantedRecords } from './domain.ts'
import { edwardsSelector } from './keys.ts'
import { announceDomains } from './senders.ts'

export const domainColumns = `id, domain, status, token, selector, private_keys, public_keys, previous, dkim_record, tracking_subdomain, return_path_subdomain,
  records, last_error, missing_since, created_at, verified_at, last_checked_at`

const missingForMs = 3 * dayMs
const pendingForMs = 14 * dayMs
/** Delays of the first checks; then hourly, and daily once verified or failed. */
const firstChecksMs = [minuteMs, 5 * minuteMs, 30 * minuteMs] as const

const find = statement.tenant<One, DomainRow & { clock_offset_ms: bigint }>(
  'email.find_domain_to_check',
  `select ${domainColumns}, accounts.clock_offset_ms(account_id, environment) as clock_offset_ms from email.domains where ${mine} and id = $id`,
)

const update = statement.tenant<
  One & {
    status: string
    records: string
    error: string | null
    missingSince: Date | null
    verifiedAt: Date | null
    at: Date
    token: string
    selector: string
    keepsPrevious: boolean
  },
  DomainRow
>(
  'email.update_domain',
  `update email.domains
      set status = $status, records = $records::jsonb, last_error = $error, missing_since = $missingSince, verified_at = $verifiedAt,
          last_checked_at = $at, previous = case when not $keepsPrevious::boolean then null else previous end,
          previous_keys = case when not $keepsPrevious then null else previous_keys end
    where ${mine} and id = $id and token = $token and selector = $selector
   returning ${domainColumns}`,
)

const claim = statement.home<
  { environment: string; domain: string; bucket: number; account: string },
  { account_id: string }
>(
  'email.claim_domain',
  `insert into email.domain_owners as o (environment, domain, bucket, account_id) values ($environment, $domain, $bucket, $account)
   on conflict (environment, domain) do update set domain = o.domain
   returning account_id`,
)

export const disown = statement.home<{ environment: string; domain: string; account: string }, object>(
  'email.disown_domain',
  'delete from email.domain_owners where environment = $environment and domain = $domain and account_id = $account',
)

export const unpublish = statement.home<{ labels: readonly string[] }, object>(
  'email.unpublish_keys',
  'delete from email.published_keys where label = any($labels::text[])',
)

/** Labels of both keys of a selector. */
export function labelsOf(id: string, selector: string): string[] {
  return [keyLabel(id, selector), keyLabel(id, edwardsSelector(selector))]
}

/** Current DNS records of a domain; null on a DNS failure. */
async function lookUp(
  app: App,
  { environment }: Tenant,
  row: DomainRow,
): Promise<Record<string, string> | { error: string }> {
  const usual = dnsFor(app, environment)
  if (!usual) return { error: 'this node has no sandbox' }
  const dns = environment === 'live' ? ((await usual.authoritative(row.domain)) ?? usual) : usual
  const found: Record<string, string> = {}
  for (const wanted of wantedRecords(row, app.config.PAMOJA_MAIL_HOST)) {
    const { status, seen, error } = await lookUpOne(dns, wanted)
    if (error !== undefined) return { error }
    found[wanted.key] = status
    if (seen !== undefined) found[`${wanted.key}.found`] = seen.slice(0, 500)
  }
  return found
}

async function lookUpOne(
  dns: DnsResolver,
  { type, name, value, key }: WantedRecord,
): Promise<{ status: string; seen?: string; error?: string }> {
  const answer = type === 'TXT' ? await dns.texts(name) : await dns.aliases(name)
  if (answer.kind === 'failed') return { status: 'pending', error: answer.reason }
  if (answer.kind === 'none') return { status: 'missing' }
  const plain = (text: string) => text.toLowerCase().replace(/\.$/, '').replace(/\s+/g, '')
  const isRight = answer.values.some(
    (one) => plain(one) === plain(value) || (key === 'dmarc' && /^v=DMARC1/i.test(one)),
  )
  return isRight ? { status: 'valid' } : { status: 'invalid', seen: answer.values.join(' | ') }
}

/** Checks a domain and stores its status. Null when it was deleted. */
export async function checkDomain(
  app: App,
  tenant: Tenant,
  id: string,
  requestId: string | null = null,
): Promise<DomainRow | null> {
  const row = await maybe(app.db.query(find, { ...tenant, id }))
  if (!row) return null
  const found = await lookUp(app, tenant, row)
  const occasion = occasionNow(app.clock, tenant, row.clock_offset_ms, requestId)
  return app.db.acrossTx((tx) => storeChecked(app, tx, tenant, row, found, occasion))
}

async function storeChecked(
  app: App,
  tx: Tx,
  tenant: Tenant,
  row: DomainRow,
  found: Record<string, string> | { error: string },
  occasion: ReturnType<typeof occasionNow>,
): Promise<DomainRow | null> {
  const at = new Date(occasion.nowMs)
  const { token, selector } = row
  if ('error' in found && typeof found.error === 'string') {
    const same = {
      status: row.status,
      records: JSON.stringify(row.records),
      missingSince: row.missing_since,
      verifiedAt: row.verified_at,
    }
    return maybe(
      tx.query(update, {
        ...tenant,
        id: row.id,
        ...same,
        error: found.error,
        at,
        token,
        selector,
        keepsPrevious: true,
      }),
    )
  }
  const records: Record<string, string> = found
  // Old keys sign as long as the new ones are not published.
  const isRight = records.verification === 'valid' && (records.dkim === 'valid' || records.dkim_previous === 'valid')
  const isRotated =
    row.previous !== null && records.dkim === 'valid' && Date.parse(row.previous.until) <= occasion.nowMs
  const owner = isRight
    ? await maybe(
        tx.query(claim, {
          environment: tenant.environment,
          domain: row.domain,
          bucket: tenant.bucket,
          account: tenant.account,
        }),
      )
    : null
  const isOurs = owner?.account_id === tenant.account
  const missingSince = isRight ? null : (row.missing_since ?? at)
  const status = isRight && isOurs ? 'verified' : nextStatus(row, missingSince ?? at, occasion.nowMs)
  const error = isRight && !isOurs ? 'the domain is verified by another account' : null
  const verifiedAt = status === 'verified' ? (row.status === 'verified' ? row.verified_at : at) : null
  const changed = await maybe(
    tx.query(update, {
      ...tenant,
      id: row.id,
      status,
      records: JSON.stringify(records),
      error,
      missingSince,
      verifiedAt,
      at,
      token,
      selector,
      keepsPrevious: !isRotated,
    }),
  )
  if (!changed) return null
  if (isRotated && row.previous) await tx.query(unpublish, { labels: labelsOf(row.id, row.previous.selector) })
  if (changed.status === 'failed')
    await tx.query(disown, { environment: tenant.environment, domain: row.domain, account: tenant.account })
  await announceDomains(app, tx, tenant)
  if (changed.status !== row.status && changed.status !== 'pending') await tell(app, tx, occasion, changed)
  return changed
}

function nextStatus(row: DomainRow, missingSince: Date, nowMs: number): DomainRow['status'] {
  if (row.status === 'verified') return nowMs - missingSince.getTime() >= missingForMs ? 'failed' : 'verified'
  return nowMs - row.created_at.getTime() >= pendingForMs ? 'failed' : row.status
}

async function tell(app: App, tx: Tx, occasion: ReturnType<typeof occasionNow>, row: DomainRow): Promise<void> {
  const {
    status,
    last_checked_at,
    dns_records: _,
    last_error: __,
    ...shown
  } = recordOf(row, app.config.PAMOJA_MAIL_HOST)
  if (status === 'pending' || last_checked_at === null) return
  const records = shown.records.map(({ found: ___, ...one }) => one)
  const type = status === 'verified' ? emailEvents.domainVerified : emailEvents.domainFailed
  await app.outbox.emit(tx, type, occasion, idOf('emailDomain', row.id), { ...shown, records, status, last_checked_at })
}

const Payload = Type.Object({ domain: Type.String() })

/** How soon a check is tried again that is left to the node whose sandbox is used. */
const leftMs = 1_000

export const checkJob: Job<App, typeof Payload> = {
  lane: 'email.check_domain',
  role: 'timers',
  payload: Payload,
  concurrency: 8,
  retrySeconds: [60, 300, 3600],
  async handle(app, { tenant, payload, attempt }): Promise<Outcome> {
    if (!tenant) throw new Error('a domain belongs to an account')
    if (dnsFor(app, tenant.environment) === null) return { kind: 'again', afterMs: leftMs }
    const row = await checkDomain(app, tenant, payload.domain)
    if (!row) return { kind: 'done' }
    return {
      kind: 'again',
      afterMs:
        firstChecksMs[attempt] ??
        (row.status === 'pending' || row.missing_since !== null || row.previous !== null ? hourMs : dayMs),
    }
  },
}

export const firstCheckMs = firstChecksMs[0]
