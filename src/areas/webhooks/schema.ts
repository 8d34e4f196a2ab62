// SPDX-License-Identifier: Apache-2.0
// Shapes of webhooks as customers register and read them. `url` and `events` have no rules here beyond their types: what
// is wrong with them is said as INVALID_URL and INVALID_EVENT, not as a broken field.
import { Type } from 'typebox'
import { DialectName } from '../../platform/outbound/dialect-url.ts'
import { At, listQuery, Nullable, OneOf } from '../../platform/schema/fields.ts'

export const maxEvents = 100
const maxFilters = 10
const maxFilterPath = 200
const maxFilterText = 500
const maxDescription = 500
const maxRatePerSecond = 1_000
const maxOverlapHours = 168
export const defaultOverlapHours = 24

const FilterValue = Type.Union([Type.String({ maxLength: maxFilterText }), Type.Number(), Type.Boolean()], {
  rule: `must be text of at most ${maxFilterText} characters, a number, true or false`,
})

const settings = {
  dialect: Type.Optional(DialectName),
  description: Type.Optional(
    Nullable(Type.String({ maxLength: maxDescription }), {
      rule: `must have at most ${maxDescription} characters`,
      description: 'Internal note; null removes it',
    }),
  ),
  enabled: Type.Optional(
    Type.Boolean({
      default: true,
      rule: 'must be true or false',
      description: 'False disables deliveries to the webhook',
    }),
  ),
  headers: Type.Optional(
    Type.Record(Type.String(), Type.String(), {
      sensitive: true,
      rule: 'must be an object of header names with text values',
      description:
        'Custom headers of every delivery; stored encrypted and shown masked. At most 10, with 1 KiB in all, except those that Pamoja sets. A masked value keeps the stored one',
    }),
  ),
  ordered: Type.Optional(
    Type.Boolean({
      default: false,
      rule: 'must be true or false',
      description: 'True delivers the events of one resource in order',
    }),
  ),
  rate_limit: Type.Optional(
    Nullable(Type.Integer({ minimum: 1, maximum: maxRatePerSecond }), {
      rule: `must be a whole number from 1 to ${maxRatePerSecond}, or null`,
      description: 'Maximum deliveries per second; null for no limit',
    }),
  ),
  filters: Type.Optional(
    Type.Record(Type.String({ minLength: 1, maxLength: maxFilterPath }), FilterValue, {
      maxProperties: maxFilters,
      rule: `must be an object of at most ${maxFilters} payload paths, such as metadata.shop, with text, number or boolean values`,
      description: 'Filter by payload values: only events with exactly these values are delivered',
    }),
  ),
  verify_token: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 200,
      sensitive: true,
      rule: 'must have 1 to 200 characters',
      description:
        'Token for verification of the URL: Pamoja first sends a GET with hub.mode=subscribe and this hub.verify_token, and the URL must return hub.challenge within 5 seconds',
    }),
  ),
}

const Url = Type.String({
  description:
    'URL of the endpoint: https://, at most 2048 characters, without user name and fragment, on port 443 or from 1024 up',
})
const Events = Type.Array(Type.String(), {
  rule: 'must be a list of event names',
  description: `Subscribed events: 1 to ${maxEvents} event names, \`area.*\` or \`*\``,
})

export const WebhookCreate = Type.Object({ url: Url, events: Events, ...settings })
export const WebhookUpdate = Type.Object({
  url: Type.Optional(Url),
  events: Type.Optional(Events),
  ...settings,
  status: Type.Optional(OneOf(['enabled', 'disabled'], { description: 'Alias of `enabled`' })),
})

export const WebhookList = Type.Object({
  ...listQuery,
  include: Type.Optional(
    OneOf(['system'], {
      description: '`system` includes webhooks set by other operations, such as the email tracking webhook',
    }),
  ),
  enabled: Type.Optional(Type.Boolean({ rule: 'must be true or false', description: 'Filter by enabled or disabled' })),
  event: Type.Optional(Type.String({ maxLength: 60, description: 'Filter by subscribed event' })),
})

export const Health = Type.Object(
  {
    state: OneOf(['healthy', 'degraded', 'failing', 'disabled'], {
      description:
        'State; `degraded`: the last attempt failed, or recovery is being tested; `failing`: ten attempts failed in a row',
    }),
    success_24h: Type.Integer({ description: 'Attempts that succeeded in the last 24 hours' }),
    failure_24h: Type.Integer({ description: 'Attempts that failed in the last 24 hours' }),
    pending: Type.Integer({ description: 'Number of deliveries awaiting an attempt, on all nodes' }),
    p50_ms: Nullable(Type.Integer({ description: 'Median duration of successful attempts in milliseconds' })),
    p95_ms: Nullable(
      Type.Integer({ description: '95th percentile of the duration of successful attempts in milliseconds' }),
    ),
    last_success_at: Nullable(At({ description: 'Time of the last success; null if none' })),
    last_failure_at: Nullable(At({ description: 'Time of the last failure; null if none' })),
    last_status: Nullable(Type.Integer({ description: 'The last HTTP status of the endpoint' })),
  },
  { title: 'WebhookHealth', description: 'Health of its deliveries' },
)

const recordFields = {
  id: Type.String({ description: 'Id of the webhook, such as `wh_…`' }),
  url: Type.String({ description: 'URL that events are posted to' }),
  dialect: DialectName,
  events: Type.Array(Type.String(), { description: 'Names of the subscribed events' }),
  enabled: Type.Boolean({ description: 'False stops deliveries' }),
  description: Nullable(Type.String({ description: 'Internal note; null if none' })),
  created_at: At({ description: 'Time of creation' }),
  updated_at: At({ description: 'Time of the last change' }),
  ordered: Type.Boolean({ description: 'True delivers one event at a time, in order' }),
  rate_limit: Nullable(Type.Integer({ description: 'Maximum deliveries per second; null for no limit' })),
  filters: Type.Record(Type.String(), FilterValue, {
    description: 'Payload values that an event must have to be delivered',
  }),
  headers: Type.Record(Type.String(), Type.String(), { description: 'Names of the custom headers; values are masked' }),
  disabled_reason: Nullable(Type.String({ description: 'Reason for an automatic disabling; null if there was none' })),
  secret_activates_at: Nullable(
    At({ description: 'Time at which the new secret of a rotation takes over; null if there is none' }),
  ),
  health: Health,
}

export const WebhookRecord = Type.Object(recordFields, { title: 'Webhook' })

const Secret = Type.String({ sensitive: true, description: 'Secret that signs every delivery; shown only once' })

export const NewWebhookRecord = Type.Object({ ...recordFields, secret: Secret }, { title: 'NewWebhook' })

export const SecretRotate = Type.Object({
  overlap_hours: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: maxOverlapHours,
      default: defaultOverlapHours,
      rule: `must be a whole number from 0 to ${maxOverlapHours}`,
      description: 'Hours during which deliveries are signed with both secrets; 0 switches at once',
    }),
  ),
})

export const RotatedSecret = Type.Object(
  {
    id: Type.String({ description: 'Id of the webhook, such as `wh_…`' }),
    secret: Secret,
    activates_at: At({ description: 'Time from which only the new secret is used' }),
  },
  { title: 'RotatedWebhookSecret' },
)

const CallbackSecretText = Type.String({
  sensitive: true,
  description: 'Secret for the signatures of requests to URLs given in single requests',
})

export const CallbackSecret = Type.Object(
  {
    secret: CallbackSecretText,
    next_secret: Nullable(Type.String({ sensitive: true, description: 'Secret that takes over at `activates_at`' })),
    activates_at: Nullable(At({ description: 'Time at which `next_secret` takes over; null if none is pending' })),
  },
  { title: 'CallbackSecret' },
)

export const RotatedCallbackSecret = Type.Object(
  { secret: CallbackSecretText, activates_at: At({ description: 'Time from which only the new secret is used' }) },
  { title: 'RotatedCallbackSecret' },
)

export const Trial = Type.Object({
  event: Type.Optional(Type.String({ maxLength: 60, description: 'Event to send; default: the first subscribed one' })),
})

export const TrialOutcome = Type.Object(
  {
    delivered: Type.Boolean({ description: 'True if the endpoint accepted it' }),
    delivery_id: Type.String({ description: 'Id of the delivery, such as `dlv_…`' }),
    event: Type.String({ description: 'Name of the event that was sent' }),
    response_status: Nullable(Type.Integer({ description: 'HTTP status of the answer' })),
    duration_ms: Type.Integer({ description: 'Milliseconds until the answer' }),
    response_body: Nullable(Type.String({ description: 'Body of the reply, at most 4 KiB of it' })),
    error: Nullable(Type.String({ description: 'Error code of the failure, such as HTTP_STATUS or TIMEOUT' })),
    payload: Type.Unknown({ description: 'Payload that was sent' }),
  },
  { title: 'WebhookTest' },
)

export const CatalogueRecord = Type.Object(
  {
    name: Type.String({ description: 'Event name used in subscriptions, such as `sms.delivered`' }),
    area: Type.String({ description: 'Area of the API, such as `sms`' }),
    summary: Type.String({ description: 'Description of the event, in a sentence' }),
    aliases: Type.Array(Type.String(), { description: 'Other names that a subscription may use' }),
    schema: Type.Unknown({ description: 'JSON Schema of the body' }),
    example: Type.Unknown({ description: 'A body' }),
  },
  { title: 'EventDescription' },
)
