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
  environment: EnvironmentName({ description: 'Where it works' }),
  prefix: Type.String({ description: 'First 13 characters of the key' }),
  last4: Type.String({ description: 'Last 4 characters of the key' }),
  scopes: Type.Array(Type.String(), { description: 'What it may do' }),
  status: OneOf(['active', 'expiring', 'revoked', 'expired'], {
    description: '`expiring` still works, until its grace period ends',
  }),
  created_at: At({ description: 'When it was made' }),
  created_by: Type.String({ description: 'Who made it' }),
  member_id: Nullable(
    Type.Unsafe<`mbr_${string}`>({
      type: 'string',
      description:
        'Member who made it, or whose key did: it does no more than they may, and ends with them. Null when no member did',
    }),
  ),
  last_used_at: Nullable(At({ description: 'Null if it never was' })),
  last_used_ip: Nullable(Type.String({ description: 'Address of its last request' })),
  expires_at: Nullable(At({ description: 'Null for a key that does not expire' })),
  rotated_from: Nullable(KeyId),
  rotation_due_at: At({ description: '90 days after it was made; a reminder' }),
  allowed_ips: Type.Array(Type.String(), { description: 'Addresses and ranges it is accepted from; empty for any' }),
  rate_limit_per_second: Nullable(Type.Integer({ description: 'Its own limit; null for the default' })),
  exposed_at: Nullable(At({ description: 'When the key was seen on a connection without TLS' })),
  strict: Type.Boolean({ description: 'Refuses fields that are not known, unless a request says otherwise' }),
  envelope: OneOf(envelopes, { description: 'How replies are wrapped, unless a request says otherwise' }),
  callback_events: Nullable(
    OneOf(callbackEvents, { description: 'What a `callback_url` is told, unless a request says otherwise' }),
  ),
  door: Nullable(Type.String({ description: 'Door that it was made for, such as `twilio`; null of any other key' })),
}

export const KeyRecord = Type.Object(keyFields, { title: 'ApiKey' })
export const NewKeyRecord = Type.Object(
  {
    ...keyFields,
    key: Type.String({ sensitive: true, description: 'The key itself, shown this once' }),
    door_access: Type.Optional(
      Type.Object(
        {
          account_sid: Type.String({ description: 'User name of the program' }),
          auth_token: Type.String({ sensitive: true, description: 'Its secret: the key' }),
          base_url: Type.String({ description: 'Address to use in place of the other provider’s' }),
        },
        { description: 'What a program of the door is given; only of a key for a door' },
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
  description:
    'What the key may do, such as `sms:write` or `*`; at most what the key that asks may do, and all of that unless given',
})
const allowedIps = Type.Array(Type.String({ maxLength: 60 }), {
  maxItems: 100,
  rule: 'must list at most 100 addresses or ranges',
  description:
    'Addresses and CIDR ranges it is accepted from, such as `203.0.113.7` or `10.0.0.0/8`; empty, as unless given, for any',
})

/** Defaults for the replies to a key's requests, where a request does not say otherwise. */
const manners = {
  strict: Type.Optional(
    Type.Boolean({
      rule: 'must be true or false',
      description: 'Refuse fields that are not known, as `Pamoja-Strict: true` does; false unless set',
    }),
  ),
  envelope: Type.Optional(
    OneOf(envelopes, { description: 'How replies are wrapped, as with `Pamoja-Envelope`; both unless set' }),
  ),
  callback_events: Type.Optional(
    Nullable(
      OneOf(callbackEvents, {
        description:
          'What the `callback_url` of a text is told: each change of status, or `final`, the last; null, as unless set, for the account’s',
      }),
    ),
  ),
}

export const KeyCreate = Type.Object({
  name: Name('By which you tell it from your other keys, such as `Checkout server`'),
  environment: Type.Optional(EnvironmentName({ description: 'Defaults to the environment of the key that asks' })),
  scopes: Type.Optional(scopes),
  expires_at: Type.Optional(
    Moment({ description: 'When it stops working; never unless given, but no later than the key that asks' }),
  ),
  allowed_ips: Type.Optional(allowedIps),
  door: Type.Optional(
    OneOf(doorNames, {
      description:
        'Door that the key is for: it is kept sealed beside its hash, because the other provider’s callbacks are signed with it',
    }),
  ),
  ...manners,
})

export const KeyUpdate = Type.Object({
  name: Type.Optional(Name('Label of the key')),
  scopes: Type.Optional(scopes),
  expires_at: Type.Optional(Nullable(Moment(), { description: 'null for a key that does not expire' })),
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
      description: 'Seconds for which the old key goes on working',
    }),
  ),
})

export const TokenRequest = Type.Object({
  scope: Type.Optional(
    Type.String({ maxLength: 1000, description: 'Space-separated; a part of what the key carries' }),
  ),
  expires_in: Type.Optional(
    Type.Integer({
      minimum: 60,
      maximum: 3600,
      default: 900,
      rule: 'must be 60 to 3600 seconds',
      description: 'Seconds until the token ends; it never outlives its key',
    }),
  ),
  subject: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 100,
      rule: 'must have 1 to 100 characters',
      description: 'Who acts with the token',
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
    access_token: Type.String({ sensitive: true, description: 'Sent as a bearer token, in place of the key' }),
    token_type: Type.Literal('Bearer', { description: 'How it is sent' }),
    expires_in: Type.Integer({ description: 'Seconds; fewer than asked for where the key ends before' }),
    scope: Type.String({ description: 'What it may do, space-separated' }),
  },
  { title: 'AccessToken' },
)

export const WhoAmI = Type.Object(
  {
    account_id: AccountId,
    environment: EnvironmentName({ description: '`test` or `live`, as the credential says' }),
    key_id: KeyId,
    scopes: Type.Array(Type.String(), { description: 'What the credential may do' }),
    plan: Type.String({ description: 'Decides the limits of the account' }),
  },
  { title: 'WhoAmI' },
)

export const AccountRecord = Type.Object(
  {
    id: AccountId,
    name: Type.String({ description: 'As your customers read it' }),
    country: Type.String({ description: 'ISO 3166, such as KE' }),
    currency: Type.String({ description: 'Of its first wallets' }),
    timezone: Type.String({ description: 'IANA name, such as Africa/Nairobi' }),
    plan: Type.String({ description: 'Decides its limits' }),
    status: OneOf(['active', 'suspended'], { description: '`suspended`: requests are refused, and jobs wait' }),
    settings: Type.Unsafe<Record<string, unknown>>(
      Type.Required(AccountSettings, { description: 'All there are; null where one is not set' }),
    ),
    created_at: At({ description: 'When it was opened' }),
  },
  { title: 'Account' },
)

export const AccountUpdate = Type.Object({
  name: Type.Optional(Name('As your customers read it on invoices, receipts and payment pages')),
  timezone: Type.Optional(
    TimeZone({ description: 'Zone of times on receipts and payment pages, and of the days of subscriptions' }),
  ),
  settings: Type.Optional(AccountSettings),
})

const LimitStates = Type.Array(
  Type.Object({
    policy: Type.String({ description: '`key`, or `plan-` and the area' }),
    limit: Type.Integer({ description: 'Requests in a window' }),
    window: Type.Integer({ description: 'Length of a window, in seconds' }),
    remaining: Type.Integer({ description: 'Requests left in this window' }),
    resets_at: At({ description: 'When all of them are there again' }),
  }),
  { description: 'Each limit as it stands now' },
)

export const LimitsReply = Type.Object(
  { plan: Type.String({ description: 'Decides the limits of the account' }), limits: LimitStates },
  { title: 'Limits' },
)

export const UsageQuery = Type.Object({
  start_date: Type.Optional(
    Type.String({
      maxLength: 40,
      description: 'First day, inclusive, UTC: YYYY-MM-DD; unless given 29 days before the last, which makes 30',
    }),
  ),
  end_date: Type.Optional(
    Type.String({
      maxLength: 40,
      description: 'Last day, inclusive, UTC: YYYY-MM-DD; today unless given. At most 366 days in all, 92 by country',
    }),
  ),
  group_by: Type.Optional(
    Type.Array(OneOf(['day', 'area', 'operation', 'country']), {
      maxItems: 4,
      rule: 'must list day, area, operation or country',
      description: 'Comma-separated; day,area unless given. Requests have no country and costs no operation',
    }),
  ),
})

export const UsageReply = Type.Object(
  {
    start_date: Type.String({ description: 'First day, UTC' }),
    end_date: Type.String({ description: 'Last day, UTC' }),
    requests: Type.Integer({ description: 'In all these days' }),
    errors: Type.Integer({ description: 'Requests that were refused or failed' }),
    rows: Type.Array(
      Type.Object({
        day: Nullable(Type.String({ description: 'YYYY-MM-DD, UTC' })),
        area: Nullable(Type.String({ description: 'Such as `sms`' })),
        operation: Nullable(Type.String({ description: 'Such as `sms.send`' })),
        requests: Type.Integer({ description: 'All of them' }),
        errors: Type.Integer({ description: 'Those that were refused or failed' }),
      }),
      { description: 'Requests by what `group_by` names; null where it is not named' },
    ),
    spend: Type.Array(
      Type.Object({
        day: Nullable(Type.String({ description: 'YYYY-MM-DD, UTC' })),
        area: Nullable(Type.String({ description: 'Such as `sms`' })),
        country: Nullable(Type.String({ description: 'Where it went; null for what goes to no country' })),
        currency: Type.String({ description: 'Of the cost' }),
        cost: Amount({ description: 'Less what was given back' }),
        count: Type.Integer({ description: 'How often something was paid for' }),
      }),
      { description: 'What was charged, by what `group_by` names' },
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
      description: 'What the request was answered with, such as 422; one status at a time',
    }),
  ),
  operation: Type.Optional(
    Type.String({ maxLength: 60, description: 'Whole name of the operation, such as `sms.send`' }),
  ),
  method: Type.Optional(
    OneOf(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'], { description: 'HTTP method of the request' }),
  ),
  key_id: Type.Optional(
    Type.String({
      maxLength: 60,
      description: 'Id of the key that asked, such as `key_…`; a token counts as the key it was made with',
    }),
  ),
})

export const LogRecord = Type.Object(
  {
    request_id: Type.String({ description: 'X-Request-Id of the response' }),
    at: At({ description: 'When it came' }),
    method: Type.String({ description: 'Such as POST' }),
    path: Type.String({ description: 'As it was asked for' }),
    operation: Nullable(Type.String({ description: 'Such as `sms.send`; null for an address that is none' })),
    status: Type.Integer({ description: 'HTTP status of the answer' }),
    error_code: Nullable(Type.String({ description: 'Such as VALIDATION_ERROR; null if it succeeded' })),
    duration_ms: Type.Number({ description: 'Milliseconds until the answer' }),
    key_id: KeyId,
    ip: Type.String({ description: 'Where it came from' }),
    warning: Nullable(Type.String({ description: 'What the caller should change, such as a key without TLS' })),
    request_body: Nullable(Type.String({ description: 'Secrets masked, cut after 4 KiB' })),
    response_body: Nullable(Type.String({ description: 'Secrets masked, cut after 4 KiB' })),
  },
  { title: 'RequestLogEntry' },
)

export const AuditQuery = Type.Object({
  ...listQuery,
  ...dayRangeQuery,
  action: Type.Optional(
    Type.String({ maxLength: 60, description: 'Whole name of what was done, such as `apikey.create`' }),
  ),
  target: Type.Optional(
    Type.String({
      maxLength: 60,
      description: 'Id of what it was done to, exactly as in `target` of an entry, such as `wh_…`',
    }),
  ),
})

export const AuditRecord = Type.Object(
  {
    id: Type.String({ description: 'Id of the entry' }),
    at: At({ description: 'When it was done' }),
    actor: Type.Object(
      {
        type: Type.String({ description: 'Such as `key` or `member`' }),
        id: Type.String({ description: 'Which one' }),
        name: Nullable(Type.String({ description: 'Name of the key, or name or address of the member; null if gone' })),
      },
      { description: 'Who did it' },
    ),
    action: Type.String({ description: 'What was done, such as `apikey.create`' }),
    target: Type.String({ description: 'What it was done to' }),
    before: Type.Unknown({ description: 'As it was, or null' }),
    after: Type.Unknown({ description: 'As it became, or null' }),
    ip: Type.String({ description: 'Where the request came from' }),
    request_id: Type.String({ description: 'X-Request-Id of that request' }),
  },
  { title: 'AuditEntry' },
)
