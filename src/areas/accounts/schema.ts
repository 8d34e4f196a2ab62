// SPDX-License-Identifier: Apache-2.0
// Shapes of accounts, keys, tokens, usage, limits and logs.
import { Type } from 'typebox'
import { doorNames } from '../../kernel/door-names.ts'
import { callbackEvents, envelopes } from '../../platform/auth.ts'
import {
  Amount,
  At,
  dayRangeQuery,
  EnvironmentName,
  listQuery,
  Moment,
  Nullable,
  OneOf,
  TimeZone,
} from '../../platform/schema/fields.ts'
import { AccountSettings } from './account-settings.ts'

export const KeyId = Type.Unsafe<`key_${string}`>({
  type: 'string',
  description: 'Id of the key, such as `key_…`; not the key itself',
})
export const AccountId = Type.Unsafe<`acc_${string}`>({
  type: 'string',
  description: 'Id of the account, such as `acc_…`',
})

const keyFields = {
  id: KeyId,
  name: Type.String({ description: 'Label of the key' }),
  environment: EnvironmentName({ description: 'Environment that the key works in' }),
  prefix: Type.String({ description: 'First 13 characters of the key' }),
  last4: Type.String({ description: 'Last 4 characters of the key' }),
  scopes: Type.Array(Type.String(), { description: 'Scopes of the key' }),
  status: OneOf(['active', 'expiring', 'revoked', 'expired'], {
    description: '`expiring` still works, until its grace period ends',
  }),
  created_at: At({ description: 'Time of creation' }),
  created_by: Type.String({ description: 'Creator of the key' }),
  member_id: Nullable(
    Type.Unsafe<`mbr_${string}`>({
      type: 'string',
      description:
        'Id of the member who created it, directly or with another key: the key has at most the member’s permissions, and ends with the member. Null if no member did',
    }),
  ),
  last_used_at: Nullable(At({ description: 'Time of the last use; null if never' })),
  last_used_ip: Nullable(Type.String({ description: 'IP address of its last request' })),
  expires_at: Nullable(At({ description: 'Expiry time; null for none' })),
  rotated_from: Nullable(KeyId),
  rotation_due_at: At({ description: 'Recommended rotation time, 90 days after creation; the key stays valid' }),
  allowed_ips: Type.Array(Type.String(), { description: 'Addresses and ranges that may use the key; empty for any' }),
  rate_limit_per_second: Nullable(Type.Integer({ description: 'Rate limit of the key; null for the default' })),
  exposed_at: Nullable(At({ description: 'Time at which the key was sent over a connection without TLS' })),
  strict: Type.Boolean({ description: 'True if unknown fields are refused by default' }),
  envelope: OneOf(envelopes, { description: 'Default envelope of replies' }),
  callback_events: Nullable(OneOf(callbackEvents, { description: 'Changes sent to a `callback_url` by default' })),
  door: Nullable(Type.String({ description: 'Door of the key, such as `twilio`; null if it has none' })),
}

export const KeyRecord = Type.Object(keyFields, { title: 'ApiKey' })
export const NewKeyRecord = Type.Object(
  {
    ...keyFields,
    key: Type.String({ sensitive: true, description: 'Key, shown only once' }),
    door_access: Type.Optional(
      Type.Object(
        {
          account_sid: Type.String({ description: 'User name of the client' }),
          auth_token: Type.String({ sensitive: true, description: 'Secret of the client: the key' }),
          base_url: Type.String({ description: 'Base URL in place of the other provider’s' }),
        },
        { description: 'Credentials for a client of the door; only for the key of a door' },
      ),
    ),
  },
  { title: 'NewApiKey' },
)

export const Name = (description: string) =>
  Type.String({ minLength: 1, maxLength: 100, rule: 'must have 1 to 100 characters', description })
const scopes = Type.Array(Type.String({ maxLength: 40 }), {
  minItems: 1,
  maxItems: 50,
  rule: 'must list 1 to 50 scopes',
  description: 'Scopes of the key, such as `sms:write` or `*`; at most, and by default, those of the requesting key',
})
const allowedIps = Type.Array(Type.String({ maxLength: 60 }), {
  maxItems: 100,
  rule: 'must list at most 100 addresses or ranges',
  description:
    'IP addresses and CIDR ranges that may use the key, such as `203.0.113.7` or `10.0.0.0/8`; default empty, for any',
})

/** Defaults for the replies to a key's requests, where a request does not say otherwise. */
const manners = {
  strict: Type.Optional(
    Type.Boolean({
      rule: 'must be true or false',
      description: 'True refuses unknown fields, as `Pamoja-Strict: true` does; default false',
    }),
  ),
  envelope: Type.Optional(
    OneOf(envelopes, { description: 'Envelope of replies, as in `Pamoja-Envelope`; default both' }),
  ),
  callback_events: Type.Optional(
    Nullable(
      OneOf(callbackEvents, {
        description:
          'Changes sent to the `callback_url` of a text: every change of status, or `final`, the last; null (default) for the account’s setting',
      }),
    ),
  ),
}

export const KeyCreate = Type.Object({
  name: Name('Label, such as `Checkout server`'),
  environment: Type.Optional(
    EnvironmentName({ description: 'Environment of the key; default: that of the requesting key' }),
  ),
  scopes: Type.Optional(scopes),
  expires_at: Type.Optional(
    Moment({ description: 'Expiry time; default never, but no later than that of the requesting key' }),
  ),
  allowed_ips: Type.Optional(allowedIps),
  door: Type.Optional(
    OneOf(doorNames, {
      description:
        'Door that the key is for. It is stored encrypted beside its hash, because it signs the other provider’s callbacks',
    }),
  ),
  ...manners,
})

export const KeyUpdate = Type.Object({
  name: Type.Optional(Name('Label of the key')),
  scopes: Type.Optional(scopes),
  expires_at: Type.Optional(Nullable(Moment(), { description: 'Expiry time; null for none' })),
  allowed_ips: Type.Optional(allowedIps),
  ...manners,
})

export const KeyRotate = Type.Object({
  grace_period: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 604_800,
      default: 86_400,
      rule: 'must be 0 to 604800 seconds',
      description: 'Seconds for which the old key stays valid',
    }),
  ),
})

export const TokenRequest = Type.Object({
  scope: Type.Optional(
    Type.String({ maxLength: 1000, description: 'Scopes, space-separated; a subset of those of the key' }),
  ),
  expires_in: Type.Optional(
    Type.Integer({
      minimum: 60,
      maximum: 3600,
      default: 900,
      rule: 'must be 60 to 3600 seconds',
      description: 'Lifetime of the token in seconds; it ends with its key at the latest',
    }),
  ),
  subject: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 100,
      rule: 'must have 1 to 100 characters',
      description: 'Your own id for the user of the token',
    }),
  ),
  grant_type: Type.Optional(
    Type.String({ maxLength: 60, description: '`client_credentials`, for clients of OAuth 2' }),
  ),
  client_id: Type.Optional(Type.String({ maxLength: 60, description: 'Id of the key, for clients of OAuth 2' })),
  client_secret: Type.Optional(
    Type.String({
      maxLength: 100,
      sensitive: true,
      description: 'The key, when it is not in the Authorization header',
    }),
  ),
})

export const TokenReply = Type.Object(
  {
    access_token: Type.String({
      sensitive: true,
      description: 'Access token, sent as a bearer token in place of the key',
    }),
    token_type: Type.Literal('Bearer', { description: 'Kind of token for the header Authorization' }),
    expires_in: Type.Integer({
      description: 'Lifetime in seconds; shorter than requested if the key expires earlier',
    }),
    scope: Type.String({ description: 'Granted scopes, space-separated' }),
  },
  { title: 'AccessToken' },
)

export const WhoAmI = Type.Object(
  {
    account_id: AccountId,
    environment: EnvironmentName({ description: 'Environment of the credential: `test` or `live`' }),
    key_id: KeyId,
    scopes: Type.Array(Type.String(), { description: 'Scopes of the credential' }),
    plan: Type.String({ description: 'Plan that sets the limits of the account' }),
  },
  { title: 'WhoAmI' },
)

export const AccountRecord = Type.Object(
  {
    id: AccountId,
    name: Type.String({ description: 'Name shown to your customers' }),
    country: Type.String({ description: 'Country code, ISO 3166, such as KE' }),
    currency: Type.String({ description: 'Currency of the account’s first wallets and of amounts in its settings' }),
    timezone: Type.String({ description: 'IANA name, such as Africa/Nairobi' }),
    plan: Type.String({ description: 'Plan that sets its limits' }),
    status: OneOf(['active', 'suspended'], {
      description: '`suspended`: requests are refused, and jobs are held back',
    }),
    settings: Type.Unsafe<Record<string, unknown>>(
      Type.Required(AccountSettings, { description: 'All settings; null for one that is not set' }),
    ),
    created_at: At({ description: 'Time at which the account was created' }),
  },
  { title: 'Account' },
)

export const AccountUpdate = Type.Object({
  name: Type.Optional(Name('Name shown to your customers on invoices, receipts and payment pages')),
  timezone: Type.Optional(
    TimeZone({ description: 'Time zone of receipts and payment pages, and of the days of subscriptions' }),
  ),
  settings: Type.Optional(AccountSettings),
})

const LimitStates = Type.Array(
  Type.Object({
    policy: Type.String({ description: 'Name of the limit: `key`, or `plan-` followed by the area' }),
    limit: Type.Integer({ description: 'Requests allowed in a window' }),
    window: Type.Integer({ description: 'Length of a window, in seconds' }),
    remaining: Type.Integer({ description: 'Requests left in this window' }),
    resets_at: At({ description: 'Time at which the limit resets' }),
  }),
  { description: 'Current state of each limit' },
)

export const LimitsReply = Type.Object(
  { plan: Type.String({ description: 'Plan that sets the limits of the account' }), limits: LimitStates },
  { title: 'Limits' },
)

export const UsageQuery = Type.Object({
  start_date: Type.Optional(
    Type.String({
      maxLength: 40,
      description: 'First day, inclusive, UTC: YYYY-MM-DD; default 29 days before the last',
    }),
  ),
  end_date: Type.Optional(
    Type.String({
      maxLength: 40,
      description: 'Last day, inclusive, UTC: YYYY-MM-DD; default today. At most 366 days in all, 92 by country',
    }),
  ),
  group_by: Type.Optional(
    Type.Array(OneOf(['day', 'area', 'operation', 'country']), {
      maxItems: 4,
      rule: 'must list day, area, operation or country',
      description: 'Comma-separated; default day,area. Requests have no country and costs no operation',
    }),
  ),
})

export const UsageReply = Type.Object(
  {
    start_date: Type.String({ description: 'First day, UTC' }),
    end_date: Type.String({ description: 'Last day, UTC' }),
    requests: Type.Integer({ description: 'Number of requests in the period' }),
    errors: Type.Integer({ description: 'Requests that were refused or failed' }),
    rows: Type.Array(
      Type.Object({
        day: Nullable(Type.String({ description: 'Day as YYYY-MM-DD, UTC' })),
        area: Nullable(Type.String({ description: 'Area, such as `sms`' })),
        operation: Nullable(Type.String({ description: 'Name of the operation, such as `sms.send`' })),
        requests: Type.Integer({ description: 'Total number of requests' }),
        errors: Type.Integer({ description: 'Requests that were refused or failed' }),
      }),
      { description: 'Requests grouped by `group_by`; fields that it does not name are null' },
    ),
    spend: Type.Array(
      Type.Object({
        day: Nullable(Type.String({ description: 'Day as YYYY-MM-DD, UTC' })),
        area: Nullable(Type.String({ description: 'Area, such as `sms`' })),
        country: Nullable(Type.String({ description: 'Destination country; null for charges without one' })),
        currency: Type.String({ description: 'Currency of the cost, ISO 4217' }),
        cost: Amount({ description: 'Cost less refunds' }),
        count: Type.Integer({ description: 'Number of charges' }),
      }),
      { description: 'Charges grouped by `group_by`' },
    ),
    limits: LimitStates,
  },
  { title: 'Usage' },
)

export const LogQuery = Type.Object({
  ...listQuery,
  ...dayRangeQuery,
  status: Type.Optional(
    Type.Integer({
      minimum: 100,
      maximum: 599,
      rule: 'must be an HTTP status',
      description: 'HTTP status of the reply, such as 422',
    }),
  ),
  operation: Type.Optional(
    Type.String({ maxLength: 60, description: 'Full name of the operation, such as `sms.send`' }),
  ),
  method: Type.Optional(
    OneOf(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'], { description: 'HTTP method of the request' }),
  ),
  key_id: Type.Optional(
    Type.String({
      maxLength: 60,
      description: 'Filter by id of the API key, such as `key_…`; tokens count as their key',
    }),
  ),
})

export const LogRecord = Type.Object(
  {
    request_id: Type.String({ description: 'X-Request-Id of the response' }),
    at: At({ description: 'Time of the request' }),
    method: Type.String({ description: 'HTTP method, such as POST' }),
    path: Type.String({ description: 'Path of the request, such as `/v1/sms/send`' }),
    operation: Nullable(
      Type.String({ description: 'Name of the operation, such as `sms.send`; null for an unknown address' }),
    ),
    status: Type.Integer({ description: 'HTTP status of the answer' }),
    error_code: Nullable(Type.String({ description: 'Error code such as VALIDATION_ERROR; null if it succeeded' })),
    duration_ms: Type.Number({ description: 'Milliseconds until the answer' }),
    key_id: Nullable(KeyId, { description: 'Id of the key; null for a request of a member signed in to the console' }),
    key_name: Nullable(Type.String({ description: 'Name of the key; null for a request of the console' })),
    member: Nullable(
      Type.Object({
        id: Type.String({ description: 'Id of the member, such as `mbr_…`' }),
        name: Nullable(Type.String({ description: 'Name or address of the member; null if removed' })),
      }),
      {
        description: 'Member who created the key, or made the request in the console; null for a key without a member',
      },
    ),
    ip: Type.String({ description: 'IP address of the client' }),
    warning: Nullable(Type.String({ description: 'Advice to the caller, such as on a key sent without TLS' })),
    request_body: Nullable(Type.String({ description: 'Secrets masked, cut after 4 KiB' })),
    response_body: Nullable(Type.String({ description: 'Secrets masked, cut after 4 KiB' })),
  },
  { title: 'RequestLogEntry' },
)

export const AuditQuery = Type.Object({
  ...listQuery,
  ...dayRangeQuery,
  action: Type.Optional(
    Type.String({ maxLength: 60, description: 'Full name of the action, such as `apikey.create`' }),
  ),
  target: Type.Optional(
    Type.String({
      maxLength: 60,
      description: 'Id of the object, exactly as in `target` of an entry, such as `wh_…`',
    }),
  ),
})

export const AuditRecord = Type.Object(
  {
    id: Type.String({ description: 'Id of the entry' }),
    at: At({ description: 'Time of the action' }),
    actor: Type.Object(
      {
        type: Type.String({ description: 'Kind of actor, such as `key` or `member`' }),
        id: Type.String({ description: 'Id of the actor' }),
        name: Nullable(
          Type.String({ description: 'Name of the key, or name or address of the member; null if deleted' }),
        ),
      },
      { description: 'Actor of the change' },
    ),
    action: Type.String({ description: 'Name of the action, such as `apikey.create`' }),
    target: Type.String({ description: 'Id of the object that was changed' }),
    before: Type.Unknown({ description: 'Previous values, or null' }),
    after: Type.Unknown({ description: 'New values, or null' }),
    ip: Type.String({ description: 'IP address of the request' }),
    request_id: Type.String({ description: 'X-Request-Id of that request' }),
  },
  { title: 'AuditEntry' },
)
