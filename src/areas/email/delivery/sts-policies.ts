// SPDX-License-Identifier: Apache-2.0
// MTA-STS policies of the domains that mail goes to (RFC 8461): found by a TXT record, fetched over HTTPS, and kept in the
// database until they expire, so that neither a restart nor a DNS that is tampered with takes a domain's protection away.
import { dayMs } from '../../../kernel/time.ts'
import type { App } from '../../../platform/app.ts'
import { isUnavailable, maybe, statement } from '../../../platform/db.ts'
import type { DnsResolver } from '../../../platform/outbound/dns.ts'
import type { Outbound } from '../../../platform/outbound.ts'
import type { Environment } from '../../../platform/tenant.ts'
import { maxPolicyBytes, parsePolicy, policyIdOf, type StsPolicy } from '../../../protocols/mta-sts.ts'

const fetchMs = 10_000
const maxFetching = 64
/** Pause after a fetch that failed (RFC 8461 §3.3), unless the domain announces another policy. */
const failedMs = 5 * 60_000
const maxFailed = 5_000
/** Policies in memory, and how long one is taken as it was read: another node may have fetched a newer one. */
const maxKnown = 20_000
const knownMs = 10 * 60_000
/** Age at which a policy is fetched anew although its id is the same, so that one in use does not expire. */
const refreshMs = dayMs
const maxStored = 200_000

interface PolicyRow {
  policy_id: string
  mode: StsPolicy['mode']
  mx: string[]
  max_age_seconds: number
  fetched_at: Date
  expires_at: Date
}

const columns = 'policy_id, mode, mx, max_age_seconds, fetched_at, expires_at'

const find = statement.home<{ environment: Environment; domain: string }, PolicyRow>(
  'email.find_sts_policy',
  `select ${columns} from email.sts_policies where environment = $environment and domain = $domain`,
)

const keep = statement.home<
  {
    environment: Environment
    domain: string
    policyId: string
    mode: string
    mx: readonly string[]
    maxAgeSeconds: number
    fetchedAt: Date
    expiresAt: Date
  },
  PolicyRow
>(
  'email.keep_sts_policy',
  `insert into email.sts_policies (environment, domain, policy_id, mode, mx, max_age_seconds, fetched_at, expires_at)
   values ($environment, $domain, $policyId, $mode, $mx::text[], $maxAgeSeconds, $fetchedAt, $expiresAt)
   on conflict (environment, domain) do update
     set policy_id = excluded.policy_id, mode = excluded.mode, mx = excluded.mx, max_age_seconds = excluded.max_age_seconds,
         fetched_at = excluded.fetched_at, expires_at = excluded.expires_at
   returning ${columns}`,
)

/** Deletes expired policies, and beyond the bound the oldest ones. */
const forget = statement.home<{ at: Date; most: number }, object>(
  'email.forget_sts_policies',
  `delete from email.sts_policies
    where expires_at < $at or (environment, domain) in (
          select p.environment, p.domain from email.sts_policies p order by p.fetched_at desc offset $most::int)`,
)

export const policyChore = {
  name: 'email.sts_policies',
  run: async (app: App): Promise<void> => {
    await app.db.query(forget, { at: new Date(app.clock.nowMs()), most: maxStored })
  },
}

/** Source of an environment's policies: its DNS, its HTTPS client, and the port of policy hosts. */
interface PolicySource {
  readonly dns: DnsResolver
  readonly outbound: Outbound
  readonly port: number
}

/** Policy in testing mode: mail that breaks it is delivered and counted. */
export interface TestedPolicy {
  readonly domain: string
  readonly policy: StsPolicy
}

export type FetchResult = 'kept' | 'failed'

export class StsPolicies {
  readonly #app: App
  readonly #environment: Environment
  readonly #source: PolicySource
  readonly #onFetch: (result: FetchResult) => void
  readonly #known = new Map<string, { row: PolicyRow | null; untilMs: number }>()
  readonly #failed = new Map<string, number>()
  readonly #fetching = new Map<string, Promise<PolicyRow | null>>()

  constructor(app: App, environment: Environment, source: PolicySource, onFetch: (result: FetchResult) => void) {
    this.#app = app
    this.#environment = environment
    this.#source = source
    this.#onFetch = onFetch
  }

  /** Policy in force for a domain; null for none, `busy` when it cannot be looked up now. */
  async of(domain: string): Promise<StsPolicy | null | 'busy'> {
    try {
      return await this.#of(domain)
    } catch (error) {
      if (isUnavailable(error)) throw error
      this.#app.log.error(
        { area: 'email', domain, error },
        'MTA-STS policy not read or kept: mail to the domain waits for it; check the error',
      )
      return 'busy'
    }
  }

  async #of(domain: string): Promise<StsPolicy | null | 'busy'> {
    const [texts, before] = await Promise.all([this.#source.dns.texts(`_mta-sts.${domain}`), this.#read(domain, false)])
    if (texts.kind === 'failed' && texts.isBusy && !before) return 'busy'
    // Without a record, or with a DNS that fails, a policy stays in force until it expires (RFC 8461 §3.3).
    const id = texts.kind === 'found' ? policyIdOf(texts.values) : null
    let row = before
    if (id !== null && !isOf(row, id)) row = await this.#read(domain, true)
    if (id !== null && !isOf(row, id) && this.#mayFetch(domain, id)) {
      const fetched = this.#fetch(domain, id)
      // A policy in force is kept to while others are being fetched.
      if (fetched === null && !row) return 'busy'
      row = (await fetched) ?? row
    }
    if (row && id !== null && this.#isStale(row) && this.#mayFetch(domain, id)) void this.#fetch(domain, id)
    return row && { mode: row.mode, mx: row.mx, maxAgeSeconds: row.max_age_seconds }
  }

  /** Policy that was kept and has not expired. */
  async #read(domain: string, isAnew: boolean): Promise<PolicyRow | null> {
    const nowMs = this.#app.clock.nowMs()
    const known = this.#known.get(domain)
    if (known && known.untilMs > nowMs && !isAnew) return inForce(known.row, nowMs)
    const row = await maybe(this.#app.db.query(find, { environment: this.#environment, domain }))
    this.#remember(domain, row)
    return inForce(row, nowMs)
  }

  #remember(domain: string, row: PolicyRow | null): void {
    this.#known.delete(domain)
    dropOldest(this.#known, maxKnown)
    this.#known.set(domain, { row, untilMs: this.#app.clock.nowMs() + knownMs })
  }

  #isStale({ fetched_at, max_age_seconds }: PolicyRow): boolean {
    const afterMs = Math.min(refreshMs, max_age_seconds * 500)
    return this.#app.clock.nowMs() - fetched_at.getTime() > afterMs
  }

  #mayFetch(domain: string, id: string): boolean {
    return (this.#failed.get(`${domain} ${id}`) ?? 0) <= this.#app.clock.nowMs()
  }

  /** One fetch of a domain at a time; null when too many are under way. */
  #fetch(domain: string, id: string): Promise<PolicyRow | null> | null {
    const known = this.#fetching.get(domain)
    if (known) return known
    if (this.#fetching.size >= maxFetching) return null
    const fetching = this.#fetchAndKeep(domain, id).finally(() => this.#fetching.delete(domain))
    // A refresh is not awaited; its rejection must have a handler.
    fetching.catch(() => undefined)
    this.#fetching.set(domain, fetching)
    return fetching
  }

  async #fetchAndKeep(domain: string, id: string): Promise<PolicyRow | null> {
    const policy = await this.#ask(domain)
    const nowMs = this.#app.clock.nowMs()
    if ('problem' in policy) {
      this.#onFetch('failed')
      this.#app.log.info(
        { area: 'email', domain, problem: policy.problem },
        'MTA-STS policy not fetched: a stored one stays in force, and it is tried again later; nothing to do unless many domains fail',
      )
      dropOldest(this.#failed, maxFailed)
      this.#failed.set(`${domain} ${id}`, nowMs + failedMs)
      return null
    }
    const row = await maybe(
      this.#app.db.query(keep, {
        environment: this.#environment,
        domain,
        policyId: id,
        mode: policy.mode,
        mx: policy.mx,
        maxAgeSeconds: policy.maxAgeSeconds,
        fetchedAt: new Date(nowMs),
        expiresAt: new Date(nowMs + policy.maxAgeSeconds * 1_000),
      }),
    )
    this.#onFetch('kept')
    this.#remember(domain, row)
    return row
  }

  /** Policy host's answer. Certificate and address are checked by the client, which follows no redirect. */
  async #ask(domain: string): Promise<StsPolicy | { problem: string }> {
    const { outbound, port } = this.#source
    const at = port === 443 ? '' : `:${port}`
    const outcome = await outbound.send({
      pool: 'mta-sts',
      url: `https://mta-sts.${domain}${at}/.well-known/mta-sts.txt`,
      use: 'webhook',
      environment: this.#environment,
      method: 'GET',
      headers: { accept: 'text/plain', 'user-agent': 'Pamoja' },
      body: null,
      timeoutMs: fetchMs,
      isTimedWhole: true,
      maxAnswerBytes: maxPolicyBytes,
      connections: 1,
    })
    if (outcome.kind === 'failed') return { problem: outcome.reason }
    if (outcome.status !== 200) return { problem: `The policy host answered ${outcome.status}.` }
    if (outcome.truncated) return { problem: `The policy is longer than ${maxPolicyBytes} bytes, or came too slowly.` }
    if (!/^text\/plain[ \t]*(?:;|$)/i.test(outcome.headers['content-type'] ?? ''))
      return { problem: 'The policy is not text/plain.' }
    return parsePolicy(outcome.body)
  }
}

function inForce(row: PolicyRow | null, nowMs: number): PolicyRow | null {
  return row && row.expires_at.getTime() > nowMs ? row : null
}

function isOf(row: PolicyRow | null, id: string): boolean {
  return row?.policy_id === id
}

function dropOldest(map: Map<string, unknown>, most: number): void {
  const [oldest] = map.size >= most ? map.keys() : []
  if (oldest !== undefined) map.delete(oldest)
}
