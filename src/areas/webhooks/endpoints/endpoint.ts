// SPDX-License-Identifier: Apache-2.0
// An endpoint as its owner sees it, and what may be asked of one: subscriptions, filters, custom headers. Pure.
import type { Static } from 'typebox'
import { AppError, invalidAt } from '../../../kernel/errors.ts'
import { idOf, uuidOf } from '../../../kernel/ids.ts'
import type { Catalogue } from '../../../platform/events/catalogue.ts'
import { dialectNamed, urlOf } from '../../../platform/outbound/dialect-url.ts'
import { mask } from '../../../platform/schema/fields.ts'
import { maxEvents, type WebhookRecord } from '../schema.ts'
import type { EndpointRow, FilterValue } from '../store.ts'
import type { EndpointHealth } from './health.ts'

export type Webhook = Static<typeof WebhookRecord>
type Headers = Readonly<Record<string, string>>

const maxHeaders = 10
const maxHeaderBytes = 1_024
const maxNamesTold = 20

export function webhookOf(row: EndpointRow, headers: Headers, health: EndpointHealth, nowMs: number): Webhook {
  const { url, events, enabled, description, created_at, updated_at, ordered, rate_limit, filters } = row
  return {
    id: idOf('webhook', row.id),
    url: urlOf(url),
    dialect: dialectNamed(url),
    events,
    enabled,
    description,
    created_at,
    updated_at,
    ordered,
    rate_limit,
    filters,
    headers: masked(headers),
    disabled_reason: row.disabled_reason,
    secret_activates_at: hasPendingSecret(row, nowMs) ? row.activates_at : null,
    health,
  }
}

/** Whether a secret of a rotation still waits to take over. */
export function hasPendingSecret({ next_secret, activates_at }: EndpointRow, nowMs: number): boolean {
  return next_secret !== null && activates_at !== null && activates_at.getTime() > nowMs
}

/** The UUID in a path, or WEBHOOK_NOT_FOUND. */
export function endpointUuid(id: string): string {
  const uuid = uuidOf('webhook', id)
  if (uuid === null) throw noSuchWebhook()
  return uuid
}

export function noSuchWebhook(): AppError {
  return new AppError('WEBHOOK_NOT_FOUND', 'there is no such webhook in this environment; webhook ids begin with wh_')
}

/** Refuses to resend to a disabled webhook, which would not get it. */
export function requireEnabled({ enabled }: Pick<EndpointRow, 'enabled'>): void {
  if (!enabled) throw new AppError('CONFLICT', 'the webhook is disabled and is sent nothing; enable it first')
}

/** A subscription in canonical form, or INVALID_EVENT with the names that mean nothing. */
export function subscriptionOf(catalogue: Catalogue, words: readonly string[], field = 'events'): string[] {
  if (words.length > maxEvents)
    throw new AppError('INVALID_EVENT', `${field} has ${words.length} names; at most ${maxEvents} are taken`)
  const resolved = catalogue.resolve(words)
  if (resolved.kind === 'accepted') return resolved.events
  if (resolved.unknown.length === 0)
    throw new AppError('INVALID_EVENT', `${field} is empty; name at least one event, or * for all of them`)
  const unknown = [...new Set(resolved.unknown)].slice(0, maxNamesTold).map((name) => name.slice(0, 60))
  throw new AppError(
    'INVALID_EVENT',
    `${field}: not in the catalogue: ${catalogue.told(resolved.unknown)}; GET /v1/webhooks/events lists the names`,
    { extra: { unknown_events: unknown } },
  )
}

/** The words by which a subscription may take one of these events. */
export function wordsThatTake(events: readonly string[]): string[] {
  const areas = events.filter((name) => name.includes('.')).map((name) => `${name.slice(0, name.indexOf('.'))}.*`)
  return [...new Set([...events, ...areas, '*'])]
}

/** Filters whose paths can be followed into a payload. */
export function checkedFilters(filters: Readonly<Record<string, FilterValue>>): Record<string, FilterValue> {
  for (const path of Object.keys(filters))
    if (path.split('.').some((step) => step === ''))
      throw invalidAt('filters', `${JSON.stringify(path)} is not a path such as status or metadata.shop`)
  return { ...filters }
}

/** Custom headers that can be sent as they are, or VALIDATION_ERROR. `stored` gives the values of masked ones. */
export function checkedHeaders(headers: Headers, stored: Headers = {}): Record<string, string> {
  const known = new Map(Object.entries(stored).map(([name, value]) => [name.toLowerCase(), value]))
  const kept: Record<string, string> = {}
  const seen = new Set<string>()
  for (const [name, given] of Object.entries(headers)) {
    const lower = name.toLowerCase()
    const value = given === mask ? known.get(lower) : given
    if (value === undefined) throw wrongHeader(name, 'is masked; give its value')
    const problem = seen.has(lower) ? 'stands there twice' : headerProblem(lower, value)
    if (problem !== null) throw wrongHeader(name, problem)
    seen.add(lower)
    kept[name] = value
  }
  if (seen.size > maxHeaders) throw invalidAt('headers', `must be at most ${maxHeaders}`)
  const bytes = Object.entries(kept).reduce((sum, [name, value]) => sum + name.length + value.length, 0)
  if (bytes > maxHeaderBytes)
    throw invalidAt(
      'headers',
      `must have at most ${maxHeaderBytes} bytes together, names and values; these have ${bytes}`,
    )
  return kept
}

function wrongHeader(name: string, problem: string): AppError {
  return invalidAt('headers', `${JSON.stringify(name.slice(0, 60))} ${problem}`)
}

function headerProblem(name: string, value: string): string | null {
  if (!/^[!#$%&'*+.^_`|~0-9a-z-]{1,100}$/.test(name)) return 'is not the name of a header'
  if (ownHeaders.some((own) => (own.endsWith('-') ? name.startsWith(own) : name === own)))
    return 'is set by this service'
  if (connectionHeaders.has(name)) return 'belongs to the connection and cannot be chosen'
  // Trailing spaces would be lost on the way; anything but visible ASCII is read differently by different servers.
  return /^[\x21-\x7e]([\t\x20-\x7e]*[\x21-\x7e])?$/.test(value)
    ? null
    : 'must have a value of visible ASCII characters, without spaces around it'
}

/** Headers that deliveries set themselves; a name that ends in a dash stands for all that begin with it. */
const ownHeaders = [
  'x-service-',
  'webhook-',
  'x-hub-signature',
  'x-hub-signature-256',
  'content-',
  'user-agent',
  'traceparent',
  'tracestate',
]

const connectionHeaders = new Set([
  'host',
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'expect',
  'http2-settings',
])

function masked(headers: Headers): Record<string, string> {
  return Object.fromEntries(Object.keys(headers).map((name) => [name, mask]))
}
