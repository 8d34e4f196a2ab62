// SPDX-License-Identifier: Apache-2.0
// Send a message to a mail server: one of the recipient domain's MX hosts, or the operator's relay.
import { classOfAddress, parseAddress } from '../../../kernel/addresses.ts'
import { isAscii } from '../../../kernel/email-address.ts'
import type { App } from '../../../platform/app.ts'
import type { Names } from '../../../platform/names.ts'
import { onePerApp } from '../../../platform/one-per-app.ts'
import type { Environment } from '../../../platform/tenant.ts'
import { type ClientOptions, SmtpError } from '../../../protocols/smtp/client.ts'
import { namesFor } from '../dns/names.ts'
import { mailWorld } from '../mail-world.ts'
import type { Composed } from './compose.ts'
import { Destinations, QueueFullError } from './destinations.ts'
import { type Verdict, verdictOf, verdictOfError } from './verdict.ts'

const smtpPort = 25
const maxServers = 5
const maxAddresses = 4
const crowdedMs = 1_000
/** Pause of a destination that blocks our IP address. */
const blockedMs = 3_600_000

export interface Carried {
  readonly verdict: Verdict
  readonly mx: string | null
  readonly tls: string | null
  /** Accepted by a relay, not by the recipient's server. */
  readonly isRelayed: boolean
}

/** No connection available now: no attempt was made. */
export interface NoConnection {
  readonly notNowMs: number
}

export const destinationsOf = onePerApp(() => new Destinations())

export async function carry(
  app: App,
  environment: Environment,
  to: string,
  { bytes, envelopeFrom }: Composed,
): Promise<Carried | NoConnection> {
  const route = await routeFor(app, environment, to)
  if (!('servers' in route))
    return 'notNowMs' in route ? route : { verdict: route, mx: null, tls: null, isRelayed: false }
  const { name, servers, isRelayed } = route
  const destination = destinationsOf(app).of(`${environment} ${name}`)
  const nowMs = performance.now()
  const pauseMs = destination.pauseMs(nowMs)
  if (pauseMs > 0) return { notNowMs: pauseMs }
  try {
    const isUtf8 = !isAscii(to) || !isAscii(envelopeFrom)
    const { sent, server, tls } = await destination.send(servers, {
      from: envelopeFrom,
      to,
      content: bytes,
      isUtf8,
      isEightBit: false,
    })
    const verdict = verdictOf(sent.reply)
    const isThrottled = verdict.kind === 'deferred' && verdict.isThrottled
    destination.learn(isThrottled, performance.now(), isThrottled && sent.reply.code >= 500 ? blockedMs : undefined)
    return { verdict, mx: server.servername ?? server.host, tls, isRelayed }
  } catch (error) {
    if (error instanceof QueueFullError) return { notNowMs: crowdedMs }
    if (!(error instanceof SmtpError)) throw error
    const verdict = verdictOfError(error)
    if (verdict.kind === 'deferred' && verdict.isThrottled) destination.learn(true, performance.now())
    return { verdict, mx: servers[0]?.servername ?? null, tls: null, isRelayed }
  }
}

interface Route {
  readonly name: string
  readonly servers: readonly ClientOptions[]
  readonly isRelayed: boolean
}

async function routeFor(app: App, environment: Environment, to: string): Promise<Route | Verdict | NoConnection> {
  const relay = environment === 'live' ? app.config.PAMOJA_MAIL_RELAY : null
  if (relay !== null) return relayRoute(app, new URL(relay))
  const names = namesFor(app, environment)
  if (!names) return { notNowMs: crowdedMs }
  const domain = domainToAsk(environment, to)
  const found = await names.exchanges(domain)
  if (found.kind === 'failed') return deferred(found.reason)
  if (found.kind === 'none' && found.isNameMissing) return unknownDomain(`the domain ${domain} does not exist`)
  // Without MX records the domain itself is the server (RFC 5321 §5.1).
  const hosts = found.kind === 'found' ? found.values.map(({ host }) => host) : [domain]
  if (hosts.every((host) => host === '' || host === '.')) return unknownDomain(`the domain ${domain} takes no mail`)
  return mxRoute(app, environment, names, hosts.slice(0, maxServers), found.kind === 'found')
}

/** Sandbox recipients whose server lacks TLS, or has a broken one, have a domain of their own. */
function domainToAsk(environment: Environment, to: string): string {
  const domain = to.slice(to.lastIndexOf('@') + 1)
  const special = environment === 'test' ? /^(notls|badtls)(?:\+[^@]*)?@/.exec(to) : null
  return special ? `${special[1]}.${domain}` : domain
}

async function mxRoute(
  app: App,
  environment: Environment,
  names: Names,
  hosts: string[],
  hasRecord: boolean,
): Promise<Route | Verdict> {
  const servers: ClientOptions[] = []
  let failure: string | null = null
  for (const host of hosts) {
    const addresses = await names.addresses(host)
    if (addresses.kind === 'failed') failure = addresses.reason
    if (addresses.kind !== 'found') continue
    for (const address of addresses.values.filter((one) => mayReach(environment, one)).slice(0, maxAddresses))
      servers.push({
        ...common(app),
        host: address,
        servername: host,
        port: portOf(app, environment, host),
        tls: 'opportunistic',
      })
  }
  if (servers.length > 0) return { name: hosts.join(' '), servers, isRelayed: false }
  if (failure !== null) return deferred(failure)
  return hasRecord
    ? deferred('the mail servers of the domain have no address that can be used')
    : unknownDomain('the domain takes no mail')
}

function common(app: App): Pick<ClientOptions, 'hello'> {
  return { hello: app.config.PAMOJA_MAIL_HOST }
}

function portOf(app: App, environment: Environment, host: string): number {
  return environment === 'live' ? smtpPort : (mailWorld.of(app)?.portOf(host) ?? smtpPort)
}

/** Refuse private addresses for live mail: an MX record could point into this network. The sandbox answers only with its own. */
export function mayReach(environment: Environment, address: string): boolean {
  if (environment === 'test') return true
  const parsed = parseAddress(address)
  return parsed !== null && classOfAddress(parsed) === 'public'
}

function relayRoute(app: App, { protocol, hostname, port, username, password }: URL): Route {
  const isImplicitTls = protocol === 'smtps:'
  const auth = username
    ? { auth: { username: decodeURIComponent(username), password: decodeURIComponent(password) } }
    : {}
  const usual = isImplicitTls ? 465 : 587
  // A password requires TLS.
  const tls = username ? 'required' : 'opportunistic'
  return {
    name: 'relay',
    servers: [
      {
        ...common(app),
        host: hostname,
        servername: hostname,
        port: Number(port) || usual,
        tls,
        isImplicitTls,
        ...auth,
      },
    ],
    isRelayed: true,
  }
}

function deferred(reason: string): Verdict {
  return { kind: 'deferred', reason, reply: null, isThrottled: false }
}

function unknownDomain(reason: string): Verdict {
  return { kind: 'bounced', type: 'hard', category: 'domain_error', reason, reply: null, suppresses: true }
}
