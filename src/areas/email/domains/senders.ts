// SPDX-License-Identifier: Apache-2.0
// Cache of an account's sending domains and keys, read for every message and invalidated on all nodes when a domain
// changes.
import type { App } from '../../../platform/app.ts'
import { statement, type Tx } from '../../../platform/db.ts'
import { ToldCache } from '../../../platform/nodes/told-cache.ts'
import { onePerApp } from '../../../platform/program/one-per-app.ts'
import { mine, type Tenant } from '../../../platform/tenant.ts'
import type { SigningKey } from '../../../protocols/dkim/sign.ts'
import { mailWorld, sandboxDomain } from '../mail-world.ts'
import { edwardsSelector, newKeys, openKeys, publicKeysOf, signingKeys } from './keys.ts'

const goodForMs = 60_000
const maxRemembered = 10_000

export interface Sender {
  readonly domain: string
  readonly keys: readonly SigningKey[]
  /** Envelope sender domain. */
  readonly returnPath: string
  /** Base URL of tracked links. */
  readonly trackingUrl: string
}

interface Row {
  id: string
  domain: string
  selector: string
  private_keys: Buffer
  previous: { selector: string } | null
  previous_keys: Buffer | null
  tracking_subdomain: string
  return_path_subdomain: string
  records: Record<string, string>
}

const verified = statement.tenant<Tenant, Row>(
  'email.verified_domains',
  `select id, domain, selector, private_keys, previous, previous_keys, tracking_subdomain, return_path_subdomain, records from email.domains
    where ${mine} and status = 'verified'`,
)

const senders = onePerApp((app) => new Senders(app))

/** Sender of an account for a verified domain or its subdomain; null when there is none. */
export async function senderFor(app: App, tenant: Tenant, domain: string): Promise<Sender | null> {
  const known = await senders(app).of(tenant)
  for (let name = domain; name.includes('.'); name = name.slice(name.indexOf('.') + 1)) {
    const found = known.find((one) => one.domain === name)
    if (found) return found
  }
  return null
}

/** Domains an account may send from, oldest first. */
export async function sendersOf(app: App, tenant: Tenant): Promise<readonly Sender[]> {
  return senders(app).of(tenant)
}

/** Invalidates an account's domains on all nodes. */
export async function announceDomains(app: App, tx: Tx, { account }: Tenant): Promise<void> {
  tx.afterCommit(() => senders(app).forget(account))
  await app.signals.send(tx, 'email', account)
}

class Senders {
  readonly #app: App
  readonly #known: ToldCache<Sender[]>
  #sandbox: Promise<Sender> | null = null

  constructor(app: App) {
    this.#app = app
    this.#known = new ToldCache(app.signals, { most: maxRemembered, goodForMs })
    app.signals.on('email', (account) => this.forget(account))
  }

  forget(account: string): void {
    for (const environment of ['test', 'live']) this.#known.forget(`${account} ${environment}`)
  }

  of(tenant: Tenant): Promise<Sender[]> {
    return this.#known.of(`${tenant.account} ${tenant.environment}`, () => this.#load(tenant))
  }

  async #load(tenant: Tenant): Promise<Sender[]> {
    const rows = await this.#app.db.query(verified, { ...tenant })
    const own = await Promise.all(rows.map((row) => this.#sender(tenant, row)))
    return tenant.environment === 'test' ? [...own, await this.#forSandbox()] : own
  }

  async #sender(tenant: Tenant, row: Row): Promise<Sender> {
    const { PAMOJA_MAIL_HOST: mailHost } = this.#app.config
    const isValid = (purpose: string) => row.records[purpose] === 'valid'
    // New keys sign once their records are found; until then the old ones do.
    const isOld = !isValid('dkim') && row.previous !== null && row.previous_keys !== null
    const sealed = isOld && row.previous_keys ? row.previous_keys : row.private_keys
    const selector = isOld && row.previous ? row.previous.selector : row.selector
    const pairs = await openKeys(this.#app, tenant, row.id, sealed)
    return {
      domain: row.domain,
      keys: signingKeys(pairs, row.domain, selector, isValid(isOld ? 'dkim_previous_ed25519' : 'dkim_ed25519')),
      returnPath: isValid('return_path') ? `${row.return_path_subdomain}.${row.domain}` : `rp.${mailHost}`,
      trackingUrl: trackingUrl(
        this.#app,
        tenant,
        isValid('tracking') ? `${row.tracking_subdomain}.${row.domain}` : null,
      ),
    }
  }

  /** Keys of the shared sandbox domain, generated at each start and published in the sandbox DNS. */
  #forSandbox(): Promise<Sender> {
    this.#sandbox ??= makeSandboxSender(this.#app)
    return this.#sandbox
  }
}

async function makeSandboxSender(app: App): Promise<Sender> {
  const pairs = await newKeys()
  const { rsa, ed25519 } = publicKeysOf(pairs)
  const selector = 'pj1'
  const world = mailWorld.of(app)
  world?.publish({ name: `${selector}._domainkey.${sandboxDomain}`, type: 'TXT', value: rsa })
  world?.publish({ name: `${edwardsSelector(selector)}._domainkey.${sandboxDomain}`, type: 'TXT', value: ed25519 })
  world?.publish({ name: `rp.${sandboxDomain}`, type: 'CNAME', value: `rp.${app.config.PAMOJA_MAIL_HOST}` })
  world?.publish({ name: `_dmarc.${sandboxDomain}`, type: 'TXT', value: 'v=DMARC1; p=reject' })
  return {
    domain: sandboxDomain,
    keys: signingKeys(pairs, sandboxDomain, selector, true),
    returnPath: `rp.${sandboxDomain}`,
    trackingUrl: app.publicUrl,
  }
}

/** Base URL of tracked links: the customer's own host where it points to us, else ours; for test mail this node. */
function trackingUrl(app: App, { environment }: Tenant, ownHost: string | null): string {
  const { PAMOJA_MAIL_HOST: mailHost } = app.config
  if (environment === 'test' || mailHost.endsWith('.test')) return app.publicUrl
  return `https://${ownHost ?? `track.${mailHost}`}`
}
