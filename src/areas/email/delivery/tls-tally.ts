// SPDX-License-Identifier: Apache-2.0
// Metrics of mail security on this node: levels of connections, refused servers, and fetched policies.
import type { App } from '../../../platform/app.ts'
import { onePerApp } from '../../../platform/program/one-per-app.ts'
import type { LabelledValue } from '../../../platform/telemetry/metrics.ts'
import { allowsServer } from '../../../protocols/mta-sts.ts'
import type { Exchanged, TlsLevel } from './destinations.ts'
import type { FetchResult, TestedPolicy } from './sts-policies.ts'

/** Breach of a policy: by the server's name, its lack of TLS, or its certificate. */
type Breach = 'mx' | 'starttls' | 'certificate'

class TlsTally {
  readonly #app: App
  readonly #levels = new Map<TlsLevel, number>()
  readonly #refusals = new Map<TlsLevel, number>()
  readonly #breaches = new Map<Breach, number>()
  readonly #fetches = new Map<FetchResult, number>()

  constructor(app: App) {
    this.#app = app
    const { metrics } = app
    metrics.totals(
      'pamoja_email_tls_total',
      'Exchanges with mail servers, by security of the connection.',
      ['level'],
      () => valuesOf('level', this.#levels),
    )
    metrics.totals(
      'pamoja_email_tls_refusals_total',
      'Mail deferred because no server had the security that MTA-STS or DANE requires.',
      ['level'],
      () => valuesOf('level', this.#refusals),
    )
    metrics.totals(
      'pamoja_email_sts_testing_failures_total',
      'Mail that went out although an MTA-STS policy in testing was broken.',
      ['reason'],
      () => valuesOf('reason', this.#breaches),
    )
    metrics.totals('pamoja_email_sts_fetches_total', 'MTA-STS policies that were asked for.', ['result'], () =>
      valuesOf('result', this.#fetches),
    )
  }

  exchanged(exchanged: Exchanged, testing: TestedPolicy | null): void {
    count(this.#levels, exchanged.level)
    const breach = testing && breachOf(exchanged, testing)
    if (!testing || !breach) return
    count(this.#breaches, breach)
    const { domain } = testing
    const { servername: mx } = exchanged.server
    this.#app.log.info(
      { area: 'email', domain, mx, breach },
      'mail server violates its domain’s MTA-STS policy in testing mode: the mail was sent; nothing to do',
    )
  }

  refused(level: TlsLevel): void {
    count(this.#refusals, level)
  }

  fetched(result: FetchResult): void {
    count(this.#fetches, result)
  }
}

export const tlsTally = onePerApp((app) => new TlsTally(app))

function breachOf({ server, tls, level, distrust }: Exchanged, { policy }: TestedPolicy): Breach | null {
  if (level === 'dane') return null
  if (!allowsServer(policy, server.servername ?? server.host)) return 'mx'
  if (tls === null) return 'starttls'
  return distrust === null ? null : 'certificate'
}

function count<T>(counts: Map<T, number>, what: T): void {
  counts.set(what, (counts.get(what) ?? 0) + 1)
}

function valuesOf(label: string, counts: ReadonlyMap<string, number>): LabelledValue[] {
  return [...counts].map(([name, value]) => ({ labels: { [label]: name }, value }))
}
