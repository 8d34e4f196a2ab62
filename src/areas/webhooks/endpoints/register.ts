// SPDX-License-Identifier: Apache-2.0
// Endpoints of an account: register, change, remove. Requests to other machines, and
// sealing, come before the transaction. Each change raises the endpoint's version and is signalled to every node.
import type { Static } from 'typebox'
import { AppError } from '../../../kernel/errors.ts'
import { firstUuidAt, idOf, newUuid } from '../../../kernel/ids.ts'
import { record } from '../../../platform/api/audit.ts'
import type { App } from '../../../platform/app.ts'
import type { Caller } from '../../../platform/auth.ts'
import { maybe, one, type Queryable, type Tx } from '../../../platform/db.ts'
import { addressIn, dialectNamed, dialectOf, urlOf } from '../../../platform/outbound/dialect-url.ts'
import { hasten, withdraw } from '../../../platform/work/waiting-jobs.ts'
import { webhookPlan } from '../plan.ts'
import { retryForMs } from '../retries.ts'
import type { WebhookCreate, WebhookUpdate } from '../schema.ts'
import {
  cancelDeliveries,
  countEndpoints,
  deleteEndpoint,
  type EndpointRow,
  findEndpoint,
  insertEndpoint,
  lockEndpoint,
  lockRegistrations,
  resumeDeliveries,
  updateEndpoint,
} from '../store.ts'
import { challenge } from './challenge.ts'
import {
  checkedFilters,
  checkedHeaders,
  endpointUuid,
  noSuchWebhook,
  subscriptionOf,
  type Webhook,
  webhookOf,
  wordsThatTake,
} from './endpoint.ts'
import { deliverLane, forgiveFailures, healthOf } from './health.ts'
import { newSecret, openHeaders, sealHeaders, sealSecret } from './secrets.ts'

/** Deliveries cancelled with their endpoint; the rest is cancelled when its turn comes. */
const maxCancelledAtOnce = 10_000

export interface NewEndpoint {
  id: string
  events: string[]
  headers: Buffer | null
  secret: string
  sealedSecret: Buffer
  /** The area that keeps it; null for one of the account's own. */
  system: string | null
}

/** Checks a request, proves the URL if asked to, and makes the secret. */
export async function prepareEndpoint(
  app: App,
  input: Static<typeof WebhookCreate>,
  caller: Caller,
  system: string | null = null,
): Promise<NewEndpoint> {
  const { tenant } = caller
  const id = newUuid(caller.receivedMs)
  const events = subscriptionOf(app.catalogue, input.events)
  const address = addressIn(input.dialect, input.url, 'url')
  requireWords(app, address, events)
  const headers = checkedHeaders(input.headers ?? {})
  checkedFilters(input.filters ?? {})
  if (system === null) await requireRoom(app.db, caller)
  await checkUrl(app, caller, id, { url: address, headers, verifyToken: input.verify_token })
  const secret = newSecret()
  return {
    id,
    events,
    headers: await sealHeaders(app, tenant, id, headers),
    secret,
    sealedSecret: await sealSecret(app, tenant, id, secret),
    system,
  }
}

export async function createEndpoint(
  app: App,
  tx: Tx,
  input: Static<typeof WebhookCreate>,
  caller: Caller,
  made: NewEndpoint,
): Promise<Webhook & { secret: string }> {
  const { tenant } = caller
  await tx.query(lockRegistrations, { ...tenant })
  if (made.system === null) await requireRoom(tx, caller)
  const row = await one(
    tx.query(insertEndpoint, {
      ...tenant,
      id: made.id,
      url: addressIn(input.dialect, input.url, 'url'),
      events: made.events,
      description: input.description ?? null,
      enabled: input.enabled ?? true,
      disabled_reason: null,
      headers: made.headers,
      ordered: input.ordered ?? false,
      rate_limit: input.rate_limit ?? null,
      filters: JSON.stringify(input.filters ?? {}),
      secret: made.sealedSecret,
      system: made.system,
      at: new Date(caller.nowMs),
    }),
  )
  const health = await healthOf(app, tx, tenant, [], caller.nowMs)
  const webhook = webhookOf(row, input.headers ?? {}, health(row), caller.nowMs)
  await record(tx, caller, 'webhook.create', webhook.id, { after: auditable(webhook) })
  await announce(app, tx, row.id)
  return { ...webhook, secret: made.secret }
}

/** The sealed headers to store; undefined leaves them as they are. */
export type EndpointChange = { headers: Buffer | null | undefined; events: string[] | undefined }

export async function prepareChange(
  app: App,
  id: string,
  input: Static<typeof WebhookUpdate>,
  caller: Caller,
): Promise<EndpointChange> {
  const row = await existing(app.db, id, caller)
  enabledBy(input)
  const events = input.events && subscriptionOf(app.catalogue, input.events)
  const address = changedAddress(row, input)
  requireWords(app, address, events ?? row.events)
  const stored = await openHeaders(app, caller.tenant, row.id, row.headers)
  const headers = input.headers ? checkedHeaders(input.headers, stored) : stored
  checkedFilters(input.filters ?? {})
  if (input.url !== undefined || input.verify_token !== undefined)
    await checkUrl(app, caller, row.id, { url: address, headers, verifyToken: input.verify_token })
  return { events, headers: input.headers && (await sealHeaders(app, caller.tenant, row.id, headers)) }
}

/** Address after an update of the URL, of the dialect or of both. */
function changedAddress({ url }: EndpointRow, input: Static<typeof WebhookUpdate>): string {
  return addressIn(input.dialect ?? dialectNamed(url), input.url ?? urlOf(url), 'url')
}

/** Whether an update enables the endpoint, by `enabled` or by `status`; undefined leaves it as it is. */
function enabledBy({ enabled, status }: Static<typeof WebhookUpdate>): boolean | undefined {
  if (status === undefined) return enabled
  const isEnabled = status === 'enabled'
  if (enabled !== undefined && enabled !== isEnabled)
    throw new AppError('VALIDATION_ERROR', `status is ${status} and enabled is ${enabled}: give one of them`)
  return isEnabled
}

export async function changeEndpoint(
  app: App,
  tx: Tx,
  id: string,
  input: Static<typeof WebhookUpdate>,
  caller: Caller,
  change: EndpointChange,
): Promise<Webhook> {
  const { tenant, nowMs, receivedMs } = caller
  const row = await maybe(tx.query(lockEndpoint, { ...tenant, id: endpointUuid(id) }))
  if (!row) throw noSuchWebhook()
  const before = await describe(app, tx, row, caller)
  if (Object.keys(input).length === 0) return before
  const wanted = enabledBy(input)
  const enabled = wanted ?? row.enabled
  const changed = await one(
    tx.query(updateEndpoint, {
      ...tenant,
      id: row.id,
      url: changedAddress(row, input),
      events: change.events ?? row.events,
      description: input.description === undefined ? row.description : input.description,
      enabled,
      disabled_reason: enabled ? null : row.disabled_reason,
      headers: change.headers === undefined ? row.headers : change.headers,
      ordered: input.ordered ?? row.ordered,
      rate_limit: input.rate_limit === undefined ? row.rate_limit : input.rate_limit,
      filters: JSON.stringify(input.filters ?? row.filters),
      at: new Date(nowMs),
    }),
  )
  if (wanted === true) {
    const since = firstUuidAt(receivedMs - 2 * retryForMs)
    await tx.query(resumeDeliveries, { ...tenant, endpoint: row.id, since, at: new Date(nowMs) })
    await tx.query(forgiveFailures, { ...tenant, endpoint: row.id })
    await hasten(tx, tenant, deliverLane, row.id)
  }
  const after = await describe(app, tx, changed, caller)
  await record(tx, caller, 'webhook.update', after.id, { before: auditable(before), after: auditable(after) })
  await announce(app, tx, row.id)
  return after
}

export async function removeEndpoint(
  app: App,
  tx: Tx,
  id: string,
  caller: Caller,
): Promise<{ id: string; deleted: true }> {
  const { tenant } = caller
  const row = await maybe(tx.query(lockEndpoint, { ...tenant, id: endpointUuid(id) }))
  if (!row) throw noSuchWebhook()
  await tx.query(deleteEndpoint, { ...tenant, id: row.id })
  const ids = (await withdraw(tx, tenant, deliverLane, row.id, maxCancelledAtOnce)).sort()
  const [from, to] = [ids[0], ids.at(-1)]
  if (from !== undefined && to !== undefined) await tx.query(cancelDeliveries, { ...tenant, ids, from, to })
  await hasten(tx, tenant, deliverLane, row.id)
  const webhookId = idOf('webhook', row.id)
  await record(tx, caller, 'webhook.delete', webhookId, { before: { url: urlOf(row.url), events: row.events } })
  await announce(app, tx, row.id)
  return { id: webhookId, deleted: true }
}

export async function getEndpoint(app: App, id: string, caller: Caller): Promise<Webhook> {
  return describe(app, app.db, await existing(app.db, id, caller), caller)
}

export async function existing(queryable: Queryable, id: string, { tenant }: Caller): Promise<EndpointRow> {
  const row = await maybe(queryable.query(findEndpoint, { ...tenant, id: endpointUuid(id) }))
  if (!row) throw noSuchWebhook()
  return row
}

/** Tells every node that what it remembers of an endpoint is old. */
export async function announce(app: App, tx: Tx, endpoint: string): Promise<void> {
  await app.signals.send(tx, 'webhooks', endpoint)
}

export async function describe(app: App, queryable: Queryable, row: EndpointRow, caller: Caller): Promise<Webhook> {
  const health = await healthOf(app, queryable, caller.tenant, [row], caller.nowMs)
  const headers = await openHeaders(app, caller.tenant, row.id, row.headers)
  return webhookOf(row, headers, health(row), caller.nowMs)
}

async function requireRoom(queryable: Queryable, { tenant, principal }: Caller): Promise<void> {
  const most = webhookPlan(principal.facts).webhooks
  const { count } = await one(queryable.query(countEndpoints, tenant))
  if (count >= most) throw new AppError('WEBHOOK_LIMIT_REACHED', `${count} of ${most}`)
}

/** Refuses a subscription of which the dialect of the URL has no word for any event. */
function requireWords(app: App, address: string, events: readonly string[]): void {
  const { dialect } = dialectOf(address)
  const told = dialect === null ? undefined : app.dialects.get(dialect)?.events
  if (told === undefined || told.some((name) => wordsThatTake([name]).some((word) => events.includes(word)))) return
  throw new AppError('INVALID_EVENT', `the dialect ${dialect} has no words for these events; it has ${told.join(', ')}`)
}

async function checkUrl(
  app: App,
  { tenant }: Caller,
  endpoint: string,
  {
    url: address,
    headers,
    verifyToken,
  }: { url: string; headers: Record<string, string>; verifyToken: string | undefined },
): Promise<void> {
  const { url } = dialectOf(address)
  await app.outbound.checkUrl(url, 'webhook', tenant.environment, 'url')
  if (verifyToken === undefined) return
  await challenge(app, { pool: endpoint, url, environment: tenant.environment, headers, verifyToken })
}

/** Audit record of a webhook, without its secret and the values of its headers. */
function auditable({ health: _health, ...settings }: Webhook): object {
  return settings
}
