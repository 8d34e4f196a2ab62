// SPDX-License-Identifier: Apache-2.0
// Sends a message to a mail server: one of the recipient domain's MX hosts, or the operator's relay.
import { isAscii } from '../../../kernel/email-address.ts'
import type { App } from '../../../platform/app.ts'
import { onePerApp } from '../../../platform/program/one-per-app.ts'
import type { Environment } from '../../../platform/tenant.ts'
import { SmtpError } from '../../../protocols/smtp/client.ts'
import type { Composed } from './compose.ts'
import { Destinations, InsecureServerError, QueueFullError, type TlsLevel } from './destinations.ts'
import { routeFor } from './route.ts'
import { tlsTally } from './tls-tally.ts'
import { type Verdict, verdictOf, verdictOfError } from './verdict.ts'

const crowdedMs = 1_000
/** Pause of a destination that blocks our IP address. */
const blockedMs = 3_600_000

export interface Carried {
  readonly verdict: Verdict
  readonly mx: string | null
  readonly tls: string | null
  /** Security of the connection; null when no server was reached. */
  readonly level: TlsLevel | null
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
  if (route === 'busy') return { notNowMs: crowdedMs }
  if (!('servers' in route)) return { verdict: route, mx: null, tls: null, level: null, isRelayed: false }
  const { name, servers, isRelayed, testing } = route
  const destination = destinationsOf(app).of(`${environment} ${name}`)
  const nowMs = performance.now()
  const pauseMs = destination.pauseMs(nowMs)
  if (pauseMs > 0) return { notNowMs: pauseMs }
  try {
    const isUtf8 = !isAscii(to) || !isAscii(envelopeFrom)
    const exchanged = await destination.send(servers, {
      from: envelopeFrom,
      to,
      content: bytes,
      isUtf8,
      isEightBit: false,
    })
    const { sent, server, tls, level } = exchanged
    tlsTally(app).exchanged(exchanged, testing)
    const verdict = verdictOf(sent.reply)
    const isThrottled = verdict.kind === 'deferred' && verdict.isThrottled
    destination.learn(isThrottled, performance.now(), isThrottled && sent.reply.code >= 500 ? blockedMs : undefined)
    return { verdict, mx: server.servername ?? server.host, tls, level, isRelayed }
  } catch (error) {
    if (error instanceof QueueFullError) return { notNowMs: crowdedMs }
    if (!(error instanceof SmtpError)) throw error
    if (error instanceof InsecureServerError) tlsTally(app).refused(error.level)
    const verdict = verdictOfError(error)
    if (verdict.kind === 'deferred' && verdict.isThrottled) destination.learn(true, performance.now())
    return { verdict, mx: servers[0]?.servername ?? null, tls: null, level: null, isRelayed }
  }
}
