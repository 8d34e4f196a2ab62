// SPDX-License-Identifier: Apache-2.0
// The App value of a node, built from the parts of the platform and what its areas bring. Nothing runs yet, except the
// tracer.
import { credentialStore } from '../areas/accounts/area.ts'
import type { Dispatcher } from '../areas/webhooks/area.ts'
import type { Config } from '../config.ts'
import { doors } from '../doors.ts'
import { newUuid } from '../kernel/ids.ts'
import { PriceBook } from '../ledger/prices.ts'
import { Idempotency } from '../platform/api/idempotency.ts'
import type { App } from '../platform/app.ts'
import { type Area, chargesOf } from '../platform/area.ts'
import { Tokens } from '../platform/auth/tokens.ts'
import { Authenticator } from '../platform/auth.ts'
import type { Clock } from '../platform/clock.ts'
import { Committer, surely } from '../platform/commit.ts'
import type { Database } from '../platform/db.ts'
import { catalogueOf } from '../platform/events/catalogue.ts'
import { Outbox } from '../platform/events.ts'
import { RequestLog } from '../platform/http/request-log.ts'
import { Limits } from '../platform/limits.ts'
import { Leases } from '../platform/nodes/leases.ts'
import { SandboxNode } from '../platform/nodes/sandbox.ts'
import { Signals } from '../platform/nodes/signals.ts'
import { spendersOf } from '../platform/operator/spending.ts'
import type { OutboundPolicy } from '../platform/outbound/customer-urls.ts'
import { hostLookup, Outbound } from '../platform/outbound.ts'
import { Secrets } from '../platform/secrets.ts'
import { placesOf } from '../platform/storage/places.ts'
import { Storage } from '../platform/storage.ts'
import type { Logger } from '../platform/telemetry/log.ts'
import { Metrics } from '../platform/telemetry/metrics.ts'
import { startTracer } from '../platform/telemetry/tracing.ts'
import { Timeline } from '../platform/timeline.ts'
import { Work } from '../platform/work/worker.ts'
import { rootKeys } from './database.ts'
import { certificatesIn } from './directories.ts'
import { packageVersion } from './version.ts'

const commitLanes = 2

interface Parts {
  config: Config
  areas: readonly Area[]
  clock: Clock
  log: Logger
  db: Database
  address: { publicUrl: string }
  dispatcher: Dispatcher
  simulators: App['simulators']
}

export async function buildApp({
  config,
  areas,
  clock,
  log,
  db,
  address,
  dispatcher,
  simulators,
}: Parts): Promise<App> {
  const nodeId = newUuid(clock.nowMs())
  const version = packageVersion()
  const signals = new Signals(
    db,
    areas.flatMap((area) => area.topics ?? []),
  )
  const secrets = new Secrets(db, await rootKeys(config))
  await secrets.start()
  const tokens = new Tokens({ db, secrets, clock, issuer: config.PAMOJA_PUBLIC_URL ?? 'pamoja' })
  const committer = new Committer(db, nodeId, commitLanes)
  const jobs = areas.flatMap((area) => area.jobs ?? [])
  const endpoint = config.OTEL_EXPORTER_OTLP_ENDPOINT
  const tracer = endpoint ? await startTracer({ endpoint, version, nodeId, log }) : null
  const outbox = new Outbox(dispatcher, tracer)
  const carrierOutbound = new Outbound({ policy: await carrierPolicy(config), lookup: hostLookup })
  const places = await placesOf(config, carrierOutbound, clock)
  const leases = new Leases({ db, nodeId, log })
  return {
    config,
    version,
    nodeId,
    get publicUrl() {
      return address.publicUrl
    },
    clock,
    log,
    metrics: new Metrics(version),
    tracer,
    db,
    signals,
    committer,
    work: new Work<App>({
      ...{ db, committer, clock, log, nodeId, jobs, tracer },
      roles: config.PAMOJA_ROLES,
      leaseSeconds: config.PAMOJA_JOB_LEASE_SECONDS,
    }),
    catalogue: catalogueOf(areas),
    spendByCountry: spendersOf(areas),
    finders: areas.flatMap((area) => area.finders ?? []),
    traffic: areas.flatMap((area) => area.traffic ?? []),
    waiting: areas.flatMap((area) => area.waiting ?? []),
    histories: areas.flatMap((area) => area.histories ?? []),
    profiles: areas.flatMap((area) => area.profiles ?? []),
    erasables: areas.flatMap((area) => area.erasables ?? []),
    dealings: areas.flatMap((area) => area.dealings ?? []),
    customerMergers: areas.flatMap((area) => area.mergeCustomers ?? []),
    outbox,
    dialects: new Map(doors.flatMap(({ name, dialect }) => (dialect ? [[name, dialect]] : []))),
    courier: dispatcher,
    outbound: new Outbound({ policy: await outboundPolicy(config) }),
    carrierOutbound,
    leases,
    secrets,
    storage: new Storage({ db, secrets, clock, places, publicUrl: () => address.publicUrl }),
    tokens,
    limits: new Limits({ db, signals, nodeId }),
    idempotency: new Idempotency(db, secrets),
    requestLog: new RequestLog(db, clock, log),
    timeline: new Timeline(db, log, { nowMs: () => clock.nowMs(), keepsLive: config.PAMOJA_TIMELINE_LIVE }),
    authenticator: new Authenticator(
      credentialStore(db, signals, clock, config, outbox, secrets),
      signals,
      clock,
      tokens,
    ),
    prices: new PriceBook({ db, signals, log }),
    charges: chargesOf(areas),
    simulators,
    sandbox: new SandboxNode({
      ...{ db, signals, leases, log, nodeId, simulators },
      declared: areas.flatMap((area) => area.simulators ?? []),
      isRun: config.PAMOJA_ROLES.includes('sandbox'),
    }),
    commit: (operation, item) => committer.commit(operation, item),
    commitSurely: (operation, item) => surely(() => committer.commit(operation, item)),
  }
}

async function outboundPolicy(config: Config): Promise<OutboundPolicy> {
  const { PAMOJA_WEBHOOKS_CA_FILE: caFile } = config
  return {
    production: config.NODE_ENV === 'production',
    allowPrivate: config.PAMOJA_WEBHOOKS_ALLOW_PRIVATE,
    allowHttp: config.PAMOJA_WEBHOOKS_ALLOW_HTTP,
    allowCidrs: config.PAMOJA_WEBHOOKS_ALLOW_CIDRS,
    denyCidrs: config.PAMOJA_WEBHOOKS_DENY_CIDRS,
    extraCa: await certificatesIn(caFile, 'PAMOJA_WEBHOOKS_CA_FILE'),
    proxy: config.PAMOJA_WEBHOOKS_PROXY,
  }
}

/** Policy for addresses of operators: private ones and plain HTTP are allowed, the metadata services of clouds are not. */
async function carrierPolicy(config: Config): Promise<OutboundPolicy> {
  return {
    ...(await outboundPolicy(config)),
    allowHttp: true,
    allowCidrs: ['0.0.0.0/0', '::/0'],
    denyCidrs: ['169.254.0.0/16', 'fe80::/10', 'fd00:ec2::254'],
    proxy: null,
  }
}
