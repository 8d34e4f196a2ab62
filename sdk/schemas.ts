// SPDX-License-Identifier: Apache-2.0
// Shapes of the API that have a name. Made by tools/sdk.mjs from openapi.json: do not edit.

export type AccessToken = {
  /** Sent as a bearer token, in place of the key */
  access_token: string
  /** How it is sent */
  token_type: 'Bearer'
  /** Seconds; fewer than asked for where the key ends before */
  expires_in: number
  /** What it may do, space-separated */
  scope: string
}

export type Account = {
  /** Id of the account, such as `acc_…` */
  id: string
  /** As your customers read it */
  name: string
  /** ISO 3166, such as KE */
  country: string
  /** Of its first wallets */
  currency: string
  /** IANA name, such as Africa/Nairobi */
  timezone: string
  /** Decides its limits */
  plan: string
  /** `suspended`: requests are refused, and jobs wait */
  status: 'active' | 'suspended'
  /** All there are; null where one is not set */
  settings: {
  default_sender: string | null
  email_webhook_url: string | null
  invoice_number_pattern: string | null
  invoice_overpayment: ('credit' | 'refund') | null
  /** Major units of the account’s currency: wallet.low_balance tells when the wallet falls below; null for never */
  low_balance_threshold: (number | string) | null
  /** Must list at most 10 numbers of days from 1 to 60 */
  dunning_days: number[] | null
  dunning_end: ('cancel' | 'keep_past_due') | null
  brand_color: string | null
  brand_logo: string | null
  tax_number: string | null
  address: string | null
  require_totp: boolean | null
  sms_text_days: number | null
  /** Words of your own by which handsets opt out, opt in or ask for help, beside STOP, START and HELP */
  sms_words: ({
  /** Opt the handset out, as STOP does. Must list at most 20 words */
  stop?: string[] | undefined
  /** Let it have your messages again, as START does. Must list at most 20 words */
  start?: string[] | undefined
  /** Are answered with how to opt out, as HELP is. Must list at most 20 words */
  help?: string[] | undefined
}) | null
}
  /** When it was opened */
  created_at: string
}

export type Agent = {
  /** Your own id of the agent */
  agent_id: string
  name: string | null
  email: string | null
  /** What the agent does; only `available` is given calls */
  status: 'offline' | 'available' | 'ringing' | 'on_call' | 'wrap_up' | 'break' | 'away' | 'training' | 'meeting'
  reason: string | null
  /** When the agent took on this status */
  since: string
  next_status: ('available' | 'break' | 'away' | 'training' | 'meeting') | null
  /** What the agent can do, for queues that ask for it; a list replaces the one before. Must be at most 50 skills */
  skills: {
  /** Your word for it, such as `billing`; the same for agents and queues. Must have 1 to 64 characters */
  name: string
  /** How well: 5 is best. Must be 1 to 5 */
  level: number
}[]
  /** Queues that the agent serves, `que_…` */
  queues: string[]
  /** Where calls reach the agent; the browser unless told */
  endpoint: {
  /** How the agent is reached; webrtc unless told */
  type: 'webrtc' | 'sip' | 'phone'
  /** Of a SIP phone. Must be a SIP URI, such as sip:ada@example.org */
  uri?: string | undefined
  /** Of a phone. Must be E.164, such as +254711000001 */
  number?: string | undefined
}
  /** What the agent speaks, such as `sw-KE` */
  languages: string[]
  /** Calls at a time: 1 */
  max_calls: number
  external_ref: string | null
  call_id: string | null
  logged_in_at: string | null
  /** When the agent first logged in */
  created_at: string
}

export type AgentCall = {
  /** Id of the customer’s call, such as `call_…` */
  call_id: string
  /** It is about to be placed */
  status: 'initiated'
  /** When it was asked for */
  started_at: string
}

export type AgentContext = {
  /** Your own id of the agent */
  agent_id: string
  /** What the agent does; only `available` is given calls */
  status: 'offline' | 'available' | 'ringing' | 'on_call' | 'wrap_up' | 'break' | 'away' | 'training' | 'meeting'
  /** The call that is asked for, or the agent’s present one; null without one */
  call: ({
  /** The customer’s call, `call_…` */
  call_id: string
  /** `inbound` to your number, `outbound` from it */
  direction: 'inbound' | 'outbound'
  /** Who calls */
  from: string
  /** Who is called */
  to: string
  queue_id: string | null
  /** Seconds that the customer waited, up to now if not yet answered */
  wait_seconds: number
  /** What the customer chose in menus, in order */
  ivr_path: ({
  /** Key of the menu */
  menu: string
  /** Keys of the choice or the digits typed; stars where they are masked */
  digit: string
  label: string | null
})[]
  /** Your own notes of the call, and the variables that menus and rules set */
  custom_data: Record<string, unknown>
}) | null
  /** Who is spoken to; null without a call or a number */
  customer: ({
  /** The other side of the call, or the number that is asked for */
  phone: string
  name: string | null
  email: string | null
  language: string | null
  /** Tags that the call was given */
  tags: string[]
  /** `custom_data` of the call */
  attributes: Record<string, unknown>
}) | null
  /** What there was with the customer before, newest first */
  history: {
  /** Calls with the customer, at most 10 */
  calls: ({
  /** Id of the call, such as `call_…` */
  call_id: string
  /** `inbound` to your number, `outbound` from it */
  direction: 'inbound' | 'outbound'
  queue_id: string | null
  agent_id: string | null
  outcome: string | null
  /** When it came to the queue or the agent */
  started_at: string
  ended_at: string | null
  disposition: string | null
})[]
  /** Texts, at most 5 */
  sms: {
  /** Id by which it is read */
  id: string
  /** How it stands, in the words of its own area */
  status: string
  /** When it was made */
  created_at: string
}[]
  /** Messages of the messengers, at most 5 */
  messages: {
  /** Id by which it is read */
  id: string
  /** How it stands, in the words of its own area */
  status: string
  /** When it was made */
  created_at: string
}[]
  /** E-mails, at most 5 */
  emails: {
  /** Id by which it is read */
  id: string
  /** How it stands, in the words of its own area */
  status: string
  /** When it was made */
  created_at: string
}[]
  /** Payments, at most 5 */
  payments: {
  /** Id by which it is read */
  id: string
  /** How it stands, in the words of its own area */
  status: string
  /** When it was made */
  created_at: string
}[]
  /** USSD sessions, at most 5 */
  ussd_sessions: {
  /** Id by which it is read */
  id: string
  /** How it stands, in the words of its own area */
  status: string
  /** When it was made */
  created_at: string
}[]
  /** Verifications of the customer, at most 5 */
  verifications: {
  /** Id by which it is read */
  id: string
  /** How it stands, in the words of its own area */
  status: string
  /** When it was made */
  created_at: string
}[]
}
  /** Notes of the last 20 calls with the customer, newest first */
  notes: ({
  /** What was noted */
  text: string
  agent_id: string | null
  /** When that call ended, or began if it goes on */
  created_at: string
})[]
}

export type AgentLogin = {
  /** Your own id of the agent */
  agent_id: string
  /** Id of the session, such as `ses_…` */
  session_id: string
  /** What the agent does; only `available` is given calls */
  status: 'offline' | 'available' | 'ringing' | 'on_call' | 'wrap_up' | 'break' | 'away' | 'training' | 'meeting'
  /** What the agent can do, for queues that ask for it; a list replaces the one before. Must be at most 50 skills */
  skills: {
  /** Your word for it, such as `billing`; the same for agents and queues. Must have 1 to 64 characters */
  name: string
  /** How well: 5 is best. Must be 1 to 5 */
  level: number
}[]
  /** Queues that the agent serves, `que_…` */
  queues: string[]
  /** Where calls reach the agent; the browser unless told */
  endpoint: {
  /** How the agent is reached; webrtc unless told */
  type: 'webrtc' | 'sip' | 'phone'
  /** Of a SIP phone. Must be a SIP URI, such as sip:ada@example.org */
  uri?: string | undefined
  /** Of a phone. Must be E.164, such as +254711000001 */
  number?: string | undefined
}
  /** When the session began */
  logged_in_at: string
  /** Speaks for this agent, for 8 hours */
  token: string
  /** When the token ends: after 8 hours, or with the key that asked */
  token_expires_at: string
  /** Where a browser takes calls */
  desk: {
  /** WebSocket of the agent’s desk */
  ws_url: string
  /** By which the browser finds its public address; may be empty */
  ice_servers: {
  /** Address of a STUN server */
  urls: string
}[]
}
}

export type AgentLogout = {
  /** Your own id of the agent */
  agent_id: string
  /** Logged out */
  status: 'offline'
  /** When the session ended */
  logged_out_at: string
  /** Seconds that the session lasted */
  session_seconds: number
}

export type AgentSessionEvent = {
  /** Whose call centre it is, such as `acc_…` */
  account_id: string
  /** Id of the agent, as you gave it */
  agent_id: string
  /** Id of the login, such as `ses_…` */
  session_id: string
  /** What the agent does now */
  status: 'offline' | 'available' | 'ringing' | 'on_call' | 'wrap_up' | 'break' | 'away' | 'training' | 'meeting'
  /** Seconds logged in */
  duration: number
  reason: string | null
}

export type AgentStatus = {
  /** Your own id of the agent */
  agent_id: string
  /** What the agent does; only `available` is given calls */
  status: 'offline' | 'available' | 'ringing' | 'on_call' | 'wrap_up' | 'break' | 'away' | 'training' | 'meeting'
  /** What the agent did before the request */
  previous_status: 'offline' | 'available' | 'ringing' | 'on_call' | 'wrap_up' | 'break' | 'away' | 'training' | 'meeting'
  reason: string | null
  /** When the agent took on this status */
  since: string
  next_status: ('available' | 'break' | 'away' | 'training' | 'meeting') | null
}

export type AgentStatusChangedEvent = {
  /** Whose call centre it is, such as `acc_…` */
  account_id: string
  /** Id of the agent, as you gave it */
  agent_id: string
  /** What the agent does from now on; calls go to `available` ones */
  status: 'offline' | 'available' | 'ringing' | 'on_call' | 'wrap_up' | 'break' | 'away' | 'training' | 'meeting'
  /** What the agent did until now */
  previous_status: 'offline' | 'available' | 'ringing' | 'on_call' | 'wrap_up' | 'break' | 'away' | 'training' | 'meeting'
  reason: string | null
  /** When it changed */
  since: string
  /** Seconds that the previous status lasted */
  previous_seconds: number
  call_id: string | null
}

export type ApiKey = {
  /** Id of the key, such as `key_…`; not the key itself */
  id: string
  /** By which you tell it from your other keys */
  name: string
  /** Where it works */
  environment: 'test' | 'live'
  /** First 13 characters of the key */
  prefix: string
  /** Last 4 characters of the key */
  last4: string
  /** What it may do */
  scopes: string[]
  /** `expiring` still works, until its grace period ends */
  status: 'active' | 'expiring' | 'revoked' | 'expired'
  /** When it was made */
  created_at: string
  /** Who made it */
  created_by: string
  last_used_at: string | null
  last_used_ip: string | null
  expires_at: string | null
  rotated_from: string | null
  /** 90 days after it was made; a reminder */
  rotation_due_at: string
  /** Addresses and ranges it is accepted from; empty for any */
  allowed_ips: string[]
  rate_limit_per_second: number | null
  exposed_at: string | null
  /** Refuses fields that are not known, unless a request says otherwise */
  strict: boolean
  /** How replies are wrapped, unless a request says otherwise */
  envelope: 'both' | 'flat' | 'data'
}

export type ApiKeyRevokedEvent = {
  /** Id of the key, such as `key_…`; not the key itself */
  key_id: string
  /** By which you tell it from your other keys */
  name: string
  /** First 13 characters of the key */
  prefix: string
  /** Last 4 characters of the key */
  last4: string
}

export type ApiKeyRotationDueEvent = {
  /** Id of the key, such as `key_…`; not the key itself */
  key_id: string
  /** By which you tell it from your other keys */
  name: string
  /** First 13 characters of the key */
  prefix: string
  /** Last 4 characters of the key */
  last4: string
  /** 90 days after the key was made */
  rotation_due_at: string
}

export type AuditEntry = {
  /** Id of the entry */
  id: string
  /** When it was done */
  at: string
  /** Who did it */
  actor: {
  /** Such as `key` or `member` */
  type: string
  /** Which one */
  id: string
}
  /** What was done, such as `apikey.create` */
  action: string
  /** What it was done to */
  target: string
  /** As it was, or null */
  before: unknown
  /** As it became, or null */
  after: unknown
  /** Where the request came from */
  ip: string
  /** X-Request-Id of that request */
  request_id: string
}

export type AutoRecharge = {
  /** Which wallet is filled */
  currency: string
  /** Whether it is on */
  enabled: boolean
  /** `paused` after three failures in a row, until it is set again */
  status: 'active' | 'paused' | 'disabled'
  /** The wallet is filled when less is available; null, as amount and method are, where it was never set */
  threshold: number | null
  amount: number | null
  method: ('mobile_money' | 'card') | null
  phone: string | null
  card_token: string | null
  provider: string | null
  /** How often in a day at most */
  max_per_day: number
  daily_limit: number | null
  /** Failures since the last success */
  consecutive_failures: number
  last_recharge_at: string | null
  created_at: string | null
  updated_at: string | null
}

/** Where the payer transfers the money to */
export type BankTransfer = {
  /** Where to pay into */
  bank_name: string
  /** By which payers’ banks know it */
  bank_code: string
  /** Made for this payment alone */
  account_number: string
  /** Whom the transfer is made out to */
  account_name: string
  /** Exactly this */
  amount: number
  /** Until when the transfer must be there */
  expires_at: string
}

export type BillingCustomer = {
  /** Id of the customer, such as `cus_…` */
  customer_id: string
  name: string | null
  email: string | null
  phone: string | null
  tax_number: string | null
  address: string | null
  /** What the customer has in hand: it is taken off the next invoices */
  credits: {
  /** Of the credit */
  currency: string
  /** In major units */
  amount: number
}[]
  /** When the customer was made */
  created_at: string
  /** When the customer was last changed */
  updated_at: string
}

export type BillingPlan = {
  /** Id of the plan, such as `plan_…` */
  plan_id: string
  code: string | null
  /** As customers read it on invoices */
  name: string
  description: string | null
  /** Of a period, in major units */
  amount: number
  /** Of all its amounts */
  currency: string
  /** Unit of the period */
  interval: 'day' | 'week' | 'month' | 'year'
  /** How many of these units make a period */
  interval_count: number
  /** Days before the first charge */
  trial_days: number
  /** Percent */
  tax_rate: number
  /** The amounts contain the tax */
  tax_inclusive: boolean
  /** Charged once, with the first period */
  setup_fee: number
  /** False: nobody new can subscribe */
  active: boolean
  /** Your own notes, such as `{"order": "1042"}`: stored, and repeated in replies and events. Must be an object of at most 50 names of 1 to 40 characters, with text of at most 500 characters, numbers or booleans, 8 KiB in all */
  metadata: Record<string, string | number | boolean>
  /** When it was made */
  created_at: string
}

export type BlacklistAdded = {
  /** Id of the entry, such as `blk_…` */
  blacklist_id?: string | undefined
  /** What the value is, such as `phone` or `card_bin` */
  type?: 'phone' | 'email' | 'email_domain' | 'card' | 'card_bin' | 'card_fingerprint' | 'ip' | 'ip_range' | 'device_id' | 'bank_account' | 'customer_id' | 'country' | undefined
  /** As it is compared; of a card masked */
  value?: string | undefined
  reason?: string | null | undefined
  /** Whether payments, payouts or both are refused */
  applies_to?: ('payment' | 'payout')[] | undefined
  expires_at?: string | null | undefined
  /** When it was put on the list */
  created_at?: string | undefined
  /** How many were not there before */
  created: number
  /** All of a bulk, in its order */
  entries?: BlacklistEntry[] | undefined
}

export type BlacklistDeleted = {
  /** Id of the entry */
  blacklist_id: string
  /** True: it is off the list */
  deleted: true
}

export type BlacklistEntry = {
  /** Id of the entry, such as `blk_…` */
  blacklist_id: string
  /** What the value is, such as `phone` or `card_bin` */
  type: 'phone' | 'email' | 'email_domain' | 'card' | 'card_bin' | 'card_fingerprint' | 'ip' | 'ip_range' | 'device_id' | 'bank_account' | 'customer_id' | 'country'
  /** As it is compared; of a card masked */
  value: string
  reason: string | null
  /** Whether payments, payouts or both are refused */
  applies_to: ('payment' | 'payout')[]
  expires_at: string | null
  /** When it was put on the list */
  created_at: string
}

export type BusinessHours = {
  /** Id of the business hours, such as `bh_…` */
  business_hours_id: string
  /** By which they are set again */
  name: string
  /** In which the times below are meant. Must be an IANA time zone, such as Africa/Nairobi */
  timezone: string
  /** When it is open; a day without intervals is closed */
  weekly: {
  /** When it is open; closed unless given. Must be at most 4 intervals */
  monday?: {
  /** From when. Must be a time such as 08:00; after midnight it goes on, such as 26:00 */
  open: string
  /** Until when. Must be a time such as 08:00; after midnight it goes on, such as 26:00 */
  close: string
}[] | undefined
  /** When it is open; closed unless given. Must be at most 4 intervals */
  tuesday?: {
  /** From when. Must be a time such as 08:00; after midnight it goes on, such as 26:00 */
  open: string
  /** Until when. Must be a time such as 08:00; after midnight it goes on, such as 26:00 */
  close: string
}[] | undefined
  /** When it is open; closed unless given. Must be at most 4 intervals */
  wednesday?: {
  /** From when. Must be a time such as 08:00; after midnight it goes on, such as 26:00 */
  open: string
  /** Until when. Must be a time such as 08:00; after midnight it goes on, such as 26:00 */
  close: string
}[] | undefined
  /** When it is open; closed unless given. Must be at most 4 intervals */
  thursday?: {
  /** From when. Must be a time such as 08:00; after midnight it goes on, such as 26:00 */
  open: string
  /** Until when. Must be a time such as 08:00; after midnight it goes on, such as 26:00 */
  close: string
}[] | undefined
  /** When it is open; closed unless given. Must be at most 4 intervals */
  friday?: {
  /** From when. Must be a time such as 08:00; after midnight it goes on, such as 26:00 */
  open: string
  /** Until when. Must be a time such as 08:00; after midnight it goes on, such as 26:00 */
  close: string
}[] | undefined
  /** When it is open; closed unless given. Must be at most 4 intervals */
  saturday?: {
  /** From when. Must be a time such as 08:00; after midnight it goes on, such as 26:00 */
  open: string
  /** Until when. Must be a time such as 08:00; after midnight it goes on, such as 26:00 */
  close: string
}[] | undefined
  /** When it is open; closed unless given. Must be at most 4 intervals */
  sunday?: {
  /** From when. Must be a time such as 08:00; after midnight it goes on, such as 26:00 */
  open: string
  /** Until when. Must be a time such as 08:00; after midnight it goes on, such as 26:00 */
  close: string
}[] | undefined
}
  /** Days on which other hours hold. Must be at most 400 holidays */
  holidays?: ({
  /** The day. Must be a date such as 2026-03-01 */
  date: string
  /** What it is called, for yourself */
  name?: string | undefined
  /** When it is open; closed all day unless given. Must be at most 4 intervals */
  intervals?: {
  /** From when. Must be a time such as 08:00; after midnight it goes on, such as 26:00 */
  open: string
  /** Until when. Must be a time such as 08:00; after midnight it goes on, such as 26:00 */
  close: string
}[] | undefined
  /** True: on this day of every year */
  every_year?: boolean | undefined
})[] | undefined
  closed_action?: CallDestination | undefined
  /** The queues that keep these hours, by this list or by their own `business_hours_id` */
  queue_ids: string[]
  /** Whether it is open at this moment */
  open_now: boolean
  next_change_at: string | null
  /** When it was made */
  created_at: string
  /** When it was last changed */
  updated_at: string
}

export type BusinessHoursSet = {
  /** Id of the business hours, such as `bh_…` */
  business_hours_id: string
  /** By which they are set again */
  name: string
  /** In which the times below are meant. Must be an IANA time zone, such as Africa/Nairobi */
  timezone: string
  /** When it is open; a day without intervals is closed */
  weekly: {
  /** When it is open; closed unless given. Must be at most 4 intervals */
  monday?: {
  /** From when. Must be a time such as 08:00; after midnight it goes on, such as 26:00 */
  open: string
  /** Until when. Must be a time such as 08:00; after midnight it goes on, such as 26:00 */
  close: string
}[] | undefined
  /** When it is open; closed unless given. Must be at most 4 intervals */
  tuesday?: {
  /** From when. Must be a time such as 08:00; after midnight it goes on, such as 26:00 */
  open: string
  /** Until when. Must be a time such as 08:00; after midnight it goes on, such as 26:00 */
  close: string
}[] | undefined
  /** When it is open; closed unless given. Must be at most 4 intervals */
  wednesday?: {
  /** From when. Must be a time such as 08:00; after midnight it goes on, such as 26:00 */
  open: string
  /** Until when. Must be a time such as 08:00; after midnight it goes on, such as 26:00 */
  close: string
}[] | undefined
  /** When it is open; closed unless given. Must be at most 4 intervals */
  thursday?: {
  /** From when. Must be a time such as 08:00; after midnight it goes on, such as 26:00 */
  open: string
  /** Until when. Must be a time such as 08:00; after midnight it goes on, such as 26:00 */
  close: string
}[] | undefined
  /** When it is open; closed unless given. Must be at most 4 intervals */
  friday?: {
  /** From when. Must be a time such as 08:00; after midnight it goes on, such as 26:00 */
  open: string
  /** Until when. Must be a time such as 08:00; after midnight it goes on, such as 26:00 */
  close: string
}[] | undefined
  /** When it is open; closed unless given. Must be at most 4 intervals */
  saturday?: {
  /** From when. Must be a time such as 08:00; after midnight it goes on, such as 26:00 */
  open: string
  /** Until when. Must be a time such as 08:00; after midnight it goes on, such as 26:00 */
  close: string
}[] | undefined
  /** When it is open; closed unless given. Must be at most 4 intervals */
  sunday?: {
  /** From when. Must be a time such as 08:00; after midnight it goes on, such as 26:00 */
  open: string
  /** Until when. Must be a time such as 08:00; after midnight it goes on, such as 26:00 */
  close: string
}[] | undefined
}
  /** Days on which other hours hold. Must be at most 400 holidays */
  holidays?: ({
  /** The day. Must be a date such as 2026-03-01 */
  date: string
  /** What it is called, for yourself */
  name?: string | undefined
  /** When it is open; closed all day unless given. Must be at most 4 intervals */
  intervals?: {
  /** From when. Must be a time such as 08:00; after midnight it goes on, such as 26:00 */
  open: string
  /** Until when. Must be a time such as 08:00; after midnight it goes on, such as 26:00 */
  close: string
}[] | undefined
  /** True: on this day of every year */
  every_year?: boolean | undefined
})[] | undefined
  closed_action?: CallDestination | undefined
  /** The queues that keep these hours, by this list or by their own `business_hours_id` */
  queue_ids: string[]
  /** Whether it is open at this moment */
  open_now: boolean
  next_change_at: string | null
  /** When it was made */
  created_at: string
  /** When it was last changed */
  updated_at: string
  /** Whether hours of this name were there, and are changed */
  existed: boolean
}

export type Call = {
  /** Id of the call, such as `call_…` */
  call_id: string
  /** Shared by all legs that are bridged together */
  conversation_uuid: string
  /** `completed`, `failed`, `rejected`, `busy` and `timeout` are final */
  status: 'initiated' | 'started' | 'ringing' | 'answered' | 'completed' | 'failed' | 'rejected' | 'busy' | 'timeout'
  phase: string | null
  /** `inbound` to your number, `outbound` from it */
  direction: 'inbound' | 'outbound'
  /** Who calls */
  from: string
  /** Who is called */
  to: string
  agent_id: string | null
  queue_id: string | null
  ivr_id: string | null
  conference_id: string | null
  parent_call_id: string | null
  /** Your own notes of the call */
  custom_data: Record<string, unknown>
  /** Whether it is recorded */
  record: boolean
  /** Its recordings, such as `rec_…` */
  recording_ids: string[]
  /** When it was placed or came in */
  started_at: string
  ringing_at: string | null
  answered_at: string | null
  ended_at: string | null
  /** Whole seconds from the answer to the end */
  duration: number
  hangup_cause: string | null
  hangup_by: string | null
  sip_code: number | null
  /** In major units of `currency`; final once the call is over */
  cost: number
  /** Of the cost */
  currency: string
  /** How it sounded; null until it is over */
  quality: {
  /** Opinion score, estimated from the others: 1 is bad, 4.5 is best */
  mos: number
  /** Milliseconds by which the audio arrives unevenly */
  jitter_ms: number
  /** Percent of the audio packets that did not arrive */
  packet_loss_pct: number
  /** Milliseconds to the other side and back */
  rtt_ms: number
} | null
}

export type CallAbandonedEvent = {
  /** Whose call it is, such as `acc_…` */
  account_id: string
  /** Id of the call, such as `call_…` */
  call_id: string
  /** Shared by all legs that were bridged together */
  conversation_uuid: string
  /** `inbound` to your number, `outbound` from it */
  direction: 'inbound' | 'outbound'
  /** Who calls */
  from: string
  /** Who is called */
  to: string
  agent_id: string | null
  queue_id: string | null
  /** Your own notes of the call */
  custom_data: Record<string, unknown>
  /** Order of the events of one call: 0 when it is initiated, then from 1 */
  sequence: number
  /** Place in the queue when the caller gave up, from 1 */
  position: number
  /** How long the caller had waited in the queue */
  wait_seconds: number
}

export type CallAnsweredEvent = {
  /** Whose call it is, such as `acc_…` */
  account_id: string
  /** Id of the call, such as `call_…` */
  call_id: string
  /** Shared by all legs that were bridged together */
  conversation_uuid: string
  /** `inbound` to your number, `outbound` from it */
  direction: 'inbound' | 'outbound'
  /** Who calls */
  from: string
  /** Who is called */
  to: string
  agent_id: string | null
  queue_id: string | null
  /** Your own notes of the call */
  custom_data: Record<string, unknown>
  /** Order of the events of one call: 0 when it is initiated, then from 1 */
  sequence: number
  /** Somebody, or your flow, took the call */
  status: 'answered'
  /** Seconds of talk so far: none */
  duration: number
  /** When that was */
  answered_at: string
  /** From its beginning to the answer */
  wait_seconds: number
  /** `flow` of an inbound call, `agent` of one to an agent, or the `callee` */
  answered_by: 'agent' | 'flow' | 'callee'
}

export type CallCenterReport = {
  /** From when calls are counted */
  from: string
  /** Until when, this moment not included */
  to: string
  /** Length of time that a row covers */
  interval: '15m' | '30m' | 'hour' | 'day' | 'week' | 'month'
  /** Of days and hours, such as Africa/Nairobi */
  timezone: string
  /** What rows are cut by besides the interval */
  group_by: ('queue' | 'agent' | 'number' | 'direction' | 'hour_of_day' | 'disposition')[]
  /** Columns that `rows` and `totals` have */
  metrics: string[]
  /** One for each interval and group that had a call, oldest first */
  rows: ({
  /** When the interval of the row begins */
  interval_start: string
  queue_id?: string | null | undefined
  agent_id?: string | null | undefined
  number?: string | null | undefined
  direction?: string | null | undefined
  hour_of_day?: number | null | undefined
  disposition?: string | null | undefined
  /** Calls that came to a queue or an agent, and calls that agents made */
  offered?: number | undefined
  /** Calls that were answered */
  answered?: number | undefined
  /** Callers who gave up waiting, the short ones too */
  abandoned?: number | undefined
  /** Gave up within five seconds */
  short_abandoned?: number | undefined
  /** Calls that a queue sent to its overflow */
  overflowed?: number | undefined
  /** Calls that an agent handed to somebody else */
  transferred?: number | undefined
  /** Answered in time, of answered and abandoned without the short ones; null if nobody called */
  service_level_percent?: number | null | undefined
  asa_seconds?: number | null | undefined
  aht_seconds?: number | null | undefined
  abandon_rate_percent?: number | null | undefined
  occupancy_percent?: number | null | undefined
  /** Seconds of talk, without hold */
  talk_seconds?: number | undefined
  /** Seconds that callers were kept on hold */
  hold_seconds?: number | undefined
  /** Seconds that agents took after calls */
  wrap_up_seconds?: number | undefined
  /** Seconds of the longest wait in a queue; 0 if nobody waited */
  max_wait_seconds?: number | undefined
  wait_p50?: number | null | undefined
  wait_p90?: number | null | undefined
  first_call_resolution_percent?: number | null | undefined
  /** What the calls cost, in major units of the account’s currency */
  cost?: number | undefined
})[]
  /** Over all rows */
  totals: {
  /** Calls that came to a queue or an agent, and calls that agents made */
  offered?: number | undefined
  /** Calls that were answered */
  answered?: number | undefined
  /** Callers who gave up waiting, the short ones too */
  abandoned?: number | undefined
  /** Gave up within five seconds */
  short_abandoned?: number | undefined
  /** Calls that a queue sent to its overflow */
  overflowed?: number | undefined
  /** Calls that an agent handed to somebody else */
  transferred?: number | undefined
  /** Answered in time, of answered and abandoned without the short ones; null if nobody called */
  service_level_percent?: number | null | undefined
  asa_seconds?: number | null | undefined
  aht_seconds?: number | null | undefined
  abandon_rate_percent?: number | null | undefined
  occupancy_percent?: number | null | undefined
  /** Seconds of talk, without hold */
  talk_seconds?: number | undefined
  /** Seconds that callers were kept on hold */
  hold_seconds?: number | undefined
  /** Seconds that agents took after calls */
  wrap_up_seconds?: number | undefined
  /** Seconds of the longest wait in a queue; 0 if nobody waited */
  max_wait_seconds?: number | undefined
  wait_p50?: number | null | undefined
  wait_p90?: number | null | undefined
  first_call_resolution_percent?: number | null | undefined
  /** What the calls cost, in major units of the account’s currency */
  cost?: number | undefined
}
}

export type CallCompletedEvent = {
  /** Whose call it is, such as `acc_…` */
  account_id: string
  /** Id of the call, such as `call_…` */
  call_id: string
  /** Shared by all legs that were bridged together */
  conversation_uuid: string
  /** `inbound` to your number, `outbound` from it */
  direction: 'inbound' | 'outbound'
  /** Who calls */
  from: string
  /** Who is called */
  to: string
  agent_id: string | null
  queue_id: string | null
  /** Your own notes of the call */
  custom_data: Record<string, unknown>
  /** Order of the events of one call: 0 when it is initiated, then from 1 */
  sequence: number
  /** `completed` if it was answered; otherwise why it was not */
  status: 'completed' | 'failed' | 'rejected' | 'busy' | 'timeout'
  /** Whole seconds from the answer to the end */
  duration: number
  /** Why it ended */
  hangup_cause: 'normal' | 'cancelled' | 'busy' | 'rejected' | 'no_answer' | 'invalid_number' | 'no_route' | 'network_error' | 'media_timeout' | 'flow_error' | 'max_duration' | 'insufficient_funds'
  hangup_by: ('caller' | 'callee' | 'agent' | 'api' | 'system') | null
  /** The duration without hold */
  talk_seconds: number
  /** How long it was on hold */
  hold_seconds: number
  /** From its beginning to the answer; 0 if nobody answered */
  wait_seconds: number
  /** Its recordings, such as `rec_…` */
  recording_ids: string[]
  /** In major units of `currency` */
  cost: number
  /** Of the cost */
  currency: string
  /** How it sounded; null where nothing was measured */
  quality: {
  /** Opinion score, estimated from the others: 1 is bad, 4.5 is best */
  mos: number
  /** Milliseconds by which the audio arrives unevenly */
  jitter_ms: number
  /** Percent of the audio packets that did not arrive */
  packet_loss_pct: number
  /** Milliseconds to the other side and back */
  rtt_ms: number
} | null
  disposition: string | null
  /** When it was over */
  ended_at: string
}

export type CallCreated = {
  /** Id of the call, such as `call_…` */
  call_id: string
  /** Shared by all legs that are bridged together */
  conversation_uuid: string
  /** `completed`, `failed`, `rejected`, `busy` and `timeout` are final */
  status: 'initiated' | 'started' | 'ringing' | 'answered' | 'completed' | 'failed' | 'rejected' | 'busy' | 'timeout'
  /** `inbound` to your number, `outbound` from it */
  direction: 'inbound' | 'outbound'
  /** The number that the other side sees */
  from: string
  /** Who is called */
  to: string
  /** When it was placed or came in */
  started_at: string
}

/** Where a call goes */
export type CallDestination = {
  /** Where the call goes; decides which of the fields below is needed */
  type: 'queue' | 'ivr' | 'agent' | 'phone' | 'sip' | 'application' | 'voicemail' | 'message' | 'hangup'
  /** Of a queue, an IVR or an agent */
  id?: string | undefined
  /** Of a phone. Must be E.164, such as +254711000001 */
  number?: string | undefined
  /** Of a SIP phone. Must be a SIP URI, such as sip:ada@example.org */
  uri?: string | undefined
  /** Of an application: asked for the flow */
  answer_url?: string | undefined
  /** Spoken, of a message or before a voicemail */
  text?: string | undefined
  /** What is spoken and understood, such as `sw-KE`; that of what it belongs to, and in the end `en-US`, unless told */
  language?: 'en-NG' | 'en-KE' | 'en-ZA' | 'en-US' | 'fr-SN' | 'fr-FR' | 'ar-EG' | 'ar-001' | 'sw-KE' | 'am-ET' | 'ha-NG' | 'yo-NG' | 'ig-NG' | 'zu-ZA' | 'xh-ZA' | 'af-ZA' | 'so-SO' | 'wo-SN' | 'pt-AO' | undefined
}

export type CallHandling = {
  /** The customer’s call, `call_…` */
  call_id: string
  agent_id: string | null
  /** Whether the customer hears music */
  on_hold: boolean
  disposition: string | null
  notes: string | null
  /** Tags that the call was given */
  tags: string[]
}

export type CallInitiatedEvent = {
  /** Whose call it is, such as `acc_…` */
  account_id: string
  /** Id of the call, such as `call_…` */
  call_id: string
  /** Shared by all legs that were bridged together */
  conversation_uuid: string
  /** `inbound` to your number, `outbound` from it */
  direction: 'inbound' | 'outbound'
  /** Who calls */
  from: string
  /** Who is called */
  to: string
  agent_id: string | null
  queue_id: string | null
  /** Your own notes of the call */
  custom_data: Record<string, unknown>
  /** Order of the events of one call: 0 when it is initiated, then from 1 */
  sequence: number
  /** It was accepted, and nobody rings yet */
  status: 'initiated'
  /** When it was placed or came in */
  started_at: string
}

export type CallInputEvent = {
  /** Whose call it is, such as `acc_…` */
  account_id: string
  /** Id of the call, such as `call_…` */
  call_id: string
  /** Shared by all legs that were bridged together */
  conversation_uuid: string
  /** `inbound` to your number, `outbound` from it */
  direction: 'inbound' | 'outbound'
  /** Who calls */
  from: string
  /** Who is called */
  to: string
  agent_id: string | null
  queue_id: string | null
  /** Your own notes of the call */
  custom_data: Record<string, unknown>
  /** Order of the events of one call: 0 when it is initiated, then from 1 */
  sequence: number
  /** Digits, empty if there were none */
  dtmf: string
  speech: {
  /** The likeliest first */
  results: {
  /** What was understood */
  text: string
  /** How certain that is: 0 to 1 */
  confidence: number
}[]
} | null
  /** Whether the time was over before the input was complete */
  timed_out: boolean
}

export type CallMonitor = {
  /** Id of the monitor, such as `mon_…` */
  monitor_id: string
  /** The call that is listened to, `call_…` */
  call_id: string
  supervisor_id: string | null
  /** listen: nobody hears the supervisor; whisper: the agent does; barge: everybody does */
  mode: 'listen' | 'whisper' | 'barge'
  /** `connecting` until the supervisor answers */
  status: 'connecting' | 'active' | 'ended'
  supervisor_call_id: string | null
  /** When it was asked for */
  started_at: string
}

export type CallProgressEvent = {
  /** Whose call it is, such as `acc_…` */
  account_id: string
  /** Id of the call, such as `call_…` */
  call_id: string
  /** Shared by all legs that were bridged together */
  conversation_uuid: string
  /** `inbound` to your number, `outbound` from it */
  direction: 'inbound' | 'outbound'
  /** Who calls */
  from: string
  /** Who is called */
  to: string
  agent_id: string | null
  queue_id: string | null
  /** Your own notes of the call */
  custom_data: Record<string, unknown>
  /** Order of the events of one call: 0 when it is initiated, then from 1 */
  sequence: number
  /** How far it came; after any but `started` and `ringing` comes `call.completed` */
  status: 'started' | 'ringing' | 'failed' | 'rejected' | 'busy' | 'timeout'
  /** Whole seconds from the answer on: 0 where nobody answered */
  duration: number
  reason: ('normal' | 'cancelled' | 'busy' | 'rejected' | 'no_answer' | 'invalid_number' | 'no_route' | 'network_error' | 'media_timeout' | 'flow_error' | 'max_duration' | 'insufficient_funds') | null
  sip_code: number | null
}

export type CallQueuedEvent = {
  /** Whose call it is, such as `acc_…` */
  account_id: string
  /** Id of the call, such as `call_…` */
  call_id: string
  /** Shared by all legs that were bridged together */
  conversation_uuid: string
  /** `inbound` to your number, `outbound` from it */
  direction: 'inbound' | 'outbound'
  /** Who calls */
  from: string
  /** Who is called */
  to: string
  agent_id: string | null
  queue_id: string | null
  /** Your own notes of the call */
  custom_data: Record<string, unknown>
  /** Order of the events of one call: 0 when it is initiated, then from 1 */
  sequence: number
  /** Place in the queue, from 1 */
  position: number
  /** Those with a higher one are answered first */
  priority: number
  estimated_wait_seconds: number | null
  /** When it entered the queue */
  queued_at: string
}

export type CallTraceEntry = {
  /** Place in the call, from 1 */
  position: number
  /** event: told to event_url; flow: what happened to the flow; sip: signalling */
  kind: string
  sequence: number | null
  /** When it happened */
  at: string
  /** What happened; the names depend on `kind` */
  data: Record<string, unknown>
}

export type CallTransfer = {
  /** Id of the transfer, such as `trf_…` */
  transfer_id: string
  /** The call that goes on elsewhere, `call_…` */
  call_id: string
  /** `warm` speaks with the other first, `cold` goes at once */
  transfer_type: 'warm' | 'cold'
  /** An agent, `que_…`, E.164 or a SIP URI, as it was given */
  destination: string
  /** `consulting` while the agent speaks with the other; the last three are final */
  status: 'ringing' | 'consulting' | 'completed' | 'failed' | 'cancelled'
  consult_call_id: string | null
  /** When it was asked for */
  started_at: string
}

export type CallTransferredEvent = {
  /** Whose call it is, such as `acc_…` */
  account_id: string
  /** Id of the call, such as `call_…` */
  call_id: string
  /** Shared by all legs that were bridged together */
  conversation_uuid: string
  /** `inbound` to your number, `outbound` from it */
  direction: 'inbound' | 'outbound'
  /** Who calls */
  from: string
  /** Who is called */
  to: string
  agent_id: string | null
  queue_id: string | null
  /** Your own notes of the call */
  custom_data: Record<string, unknown>
  /** Order of the events of one call: 0 when it is initiated, then from 1 */
  sequence: number
  /** Id of the transfer, such as `trf_…` */
  transfer_id: string
  /** `warm`: the agent speaks to the other side first */
  transfer_type: 'warm' | 'cold'
  /** Where the call goes */
  destination: string
  /** How far it came; `consulting` while the agent speaks to the other side */
  status: 'ringing' | 'consulting' | 'completed' | 'failed' | 'cancelled'
  consult_call_id: string | null
  /** When the transfer began */
  started_at: string
}

export type CallbackSecret = {
  /** Signs requests to the URLs of single requests */
  secret: string
  next_secret: string | null
  activates_at: string | null
}

/** The card that pays */
export type Card = {
  /** As the first digits tell */
  brand: 'visa' | 'mastercard' | 'verve' | 'american-express'
  /** The last digits of its number */
  last4: string
  /** Until when it is valid */
  exp_month: number
  /** Until when it is valid, in four digits */
  exp_year: number
}

export type CaughtEmail = {
  /** Id of the message in the sandbox */
  id: string
  message_id: string | null
  /** From, as the reader sees it */
  from: string
  /** The recipient */
  to: string
  /** Sender of the envelope (MAIL FROM), where bounces go */
  envelope_from: string
  /** Subject, as the reader sees it */
  subject: string
  /** Bytes of the message as it came */
  size: number
  tls: string | null
  /** When the mailbox took it */
  received_at: string
}

export type CaughtEmailChecks = {
  /** Each DKIM signature, in the order of the header */
  dkim: ({
  /** Such as `pass` or `fail` */
  result: string
  /** Who signed (d=) */
  domain: string
  /** Which key of the domain (s=) */
  selector: string
  /** Such as `rsa-sha256` */
  algorithm: string
  reason: string | null
})[]
  /** Whether the domain of the envelope allows the sending address */
  spf: {
  /** Such as `pass` or `fail` */
  result: string
  /** Domain of the envelope sender */
  domain: string
}
  /** Whether SPF or DKIM speaks for the domain in From */
  dmarc: {
  /** Such as `pass` or `fail` */
  result: string
  /** Domain of the address in From */
  domain: string
  policy: string | null
}
  tls: string | null
  /** Header fields, in their order */
  headers: {
  /** Name of the field */
  name: string
  /** What it says */
  value: string
}[]
  /** Addresses of the links in it */
  links: string[]
}

export type CaughtEmailContent = {
  /** Id of the message in the sandbox */
  id: string
  message_id: string | null
  /** From, as the reader sees it */
  from: string
  /** The recipient */
  to: string
  /** Sender of the envelope (MAIL FROM), where bounces go */
  envelope_from: string
  /** Subject, as the reader sees it */
  subject: string
  /** Bytes of the message as it came */
  size: number
  tls: string | null
  /** When the mailbox took it */
  received_at: string
  html: string | null
  text: string | null
  /** Files that came with it */
  attachments: {
  /** Name of the file */
  filename: string
  /** Such as `application/pdf` */
  content_type: string
  /** Bytes of the file */
  size: number
}[]
}

export type Conference = {
  /** Id of the conference, such as `conf_…` */
  conference_id: string
  /** What it is called, for yourself */
  name: string
  /** `initiated` until somebody joins, `ended` once everybody has left */
  status: 'initiated' | 'active' | 'ended'
  /** Whether what everybody says is recorded */
  record: boolean
  recording_id: string | null
  /** Everybody, those who left too */
  participants: ConferenceParticipant[]
  /** When it was made */
  created_at: string
}

export type ConferenceEvent = {
  /** Whose call centre it is, such as `acc_…` */
  account_id: string
  /** Id of the conference, such as `conf_…` */
  conference_id: string
  /** As you called it */
  name: string
  participant: ({
  /** Id of the participant, such as `par_…` */
  id: string
  number: string | null
  agent_id: string | null
}) | null
  /** How many are in it now */
  participants: number
}

export type ConferenceParticipant = {
  /** Id of the participant, such as `par_…` */
  participant_id: string
  call_id: string | null
  /** A number in E.164, or an agent */
  endpoint: string
  /** Whether others may have to wait for this one */
  role: 'participant' | 'moderator'
  /** `held` hears music and is not heard; `left` and `failed` are final */
  status: 'dialing' | 'joined' | 'held' | 'left' | 'failed'
  /** Whether the participant is not heard */
  muted: boolean
  joined_at: string | null
}

export type Credit = {
  /** Id of the account, such as `acc_…` */
  account_id: string
  /** Which wallet was filled */
  environment: 'test' | 'live'
  /** Your own id of the credit, as it was given */
  reference: string
  /** What was put in, in major units */
  amount: number
  /** Of the amounts */
  currency: string
  /** After the credit */
  balance: number
}

/** Who pays, as far as you said */
export type Customer = {
  /** What they are called */
  name?: string | undefined
  /** Their mail address */
  email?: string | undefined
  /** Where they can be called */
  phone?: string | undefined
  /** Your own id of them, or `cus_…` of who was billed */
  customer_id?: string | undefined
  /** Theirs, as it stands on invoices */
  tax_number?: string | undefined
  /** Theirs, as it stands on invoices */
  address?: string | undefined
}

export type Debt = {
  /** Id of the lost dispute, such as `dsp_…` */
  dispute_id: string
  /** Id of the disputed payment, such as `pay_…` */
  payment_id: string
  /** Who owes it, such as `acc_…` */
  account_id: string
  /** `test` or `live` */
  environment: 'test' | 'live'
  /** What the dispute was about */
  amount: number
  /** What is still missing of it */
  amount_owed: number
  /** Of the amounts */
  currency: string
  closed_at: string | null
}

export type Deleted = {
  /** Id of what is gone */
  id: string
  /** True: it is gone */
  deleted: true
}

export type Delivery = {
  /** Id of the delivery, such as `dlv_…` */
  id: string
  /** The webhook it goes to */
  webhook_id: string
  /** The same on every attempt, replay and endpoint */
  event_id: string
  /** Name of the event, such as `sms.delivered` */
  event: string
  /** What the event is about */
  resource_id: string
  /** `failed` once no further attempt is made */
  status: 'pending' | 'delivering' | 'delivered' | 'failed' | 'cancelled'
  /** How often it was tried */
  attempts: number
  /** When the event happened */
  created_at: string
  delivered_at: string | null
  next_attempt_at: string | null
  last_error: string | null
  response_status: number | null
  duration_ms: number | null
  /** It was sent by POST /v1/webhooks/{id}/test */
  test: boolean
  replay_of: string | null
}

export type DeliveryDetail = {
  /** Id of the delivery, such as `dlv_…` */
  id: string
  /** The webhook it goes to */
  webhook_id: string
  /** The same on every attempt, replay and endpoint */
  event_id: string
  /** Name of the event, such as `sms.delivered` */
  event: string
  /** What the event is about */
  resource_id: string
  /** `failed` once no further attempt is made */
  status: 'pending' | 'delivering' | 'delivered' | 'failed' | 'cancelled'
  /** How often it was tried */
  attempts: number
  /** When the event happened */
  created_at: string
  delivered_at: string | null
  next_attempt_at: string | null
  last_error: string | null
  response_status: number | null
  duration_ms: number | null
  /** It was sent by POST /v1/webhooks/{id}/test */
  test: boolean
  replay_of: string | null
  /** What is sent */
  request: {
  /** Where to */
  url: string
  /** Values of your own headers are masked */
  headers: Record<string, string>
  body: string | null
}
  /** Each attempt, oldest first */
  attempts_log: ({
  /** Which one, from 1 */
  attempt: number
  /** When it was made */
  at: string
  /** Where it went: the webhook’s URL at that time */
  url: string
  status: number | null
  /** Milliseconds in all */
  duration_ms: number
  dns_ms: number | null
  connect_ms: number | null
  tls_ms: number | null
  ip: string | null
  error: string | null
  reason: string | null
  response_headers: Record<string, string> | null
  response_body: string | null
})[]
}

/** The dispute, with what it holds back and its outcome */
export type Dispute = {
  /** Id of the dispute, such as `dsp_…` */
  dispute_id: string
  /** Id of the payment, such as `pay_…` */
  payment_id: string
  /** You have `won` or `lost` it once that is decided */
  status: 'open' | 'won' | 'lost'
  /** What the payer wants back */
  amount: number
  /** ISO 4217, such as KES; of all amounts here */
  currency: string
  /** What is set aside in your wallet until it is decided */
  amount_held: number
  /** What a lost dispute took that was not in your wallet, as far as it was not taken from it since */
  amount_owed: number
  /** What the payer told the bank */
  reason: 'fraudulent' | 'duplicate' | 'not_received' | 'not_as_described' | 'not_credited' | 'other'
  /** The dispute as the acquirer names it */
  provider_reference: string
  /** When the acquirer told of it */
  created_at: string
  closed_at: string | null
}

export type Email = {
  /** Id of the message, such as `em_…` */
  message_id: string
  /** How far it came, of all recipients together */
  status: 'scheduled' | 'queued' | 'sent' | 'delivered' | 'bounced' | 'failed' | 'cancelled'
  /** As readers see it */
  from: string
  /** One address, or a list */
  to: string | string[]
  /** Who got a copy, for all to see */
  cc: string[]
  /** Who got a copy that nobody sees */
  bcc: string[]
  /** As it was given, or as its template has it */
  subject: string
  template: string | null
  bulk_id: string | null
  /** `bulk` is what people may unsubscribe from */
  stream: 'transactional' | 'bulk'
  /** By which messages can be listed and counted */
  tags: string[]
  /** Your own notes, such as `{"order": "1042"}`: stored, and repeated in replies and events. Must be an object of at most 50 names of 1 to 40 characters, with text of at most 500 characters, numbers or booleans, 8 KiB in all */
  metadata: Record<string, string | number | boolean>
  /** What is counted of readers */
  tracking: {
  /** Whether opening is counted */
  opens: boolean
  /** Whether links are counted */
  clicks: boolean
}
  reference: string | null
  scheduled_at: string | null
  /** When it was accepted */
  created_at: string
  sent_at: string | null
  delivered_at: string | null
  opened_at: string | null
  clicked_at: string | null
  /** How often it was opened, as far as pictures are shown */
  open_count: number
  /** How often its links were followed */
  click_count: number
  /** How often delivery was tried */
  attempts: number
  next_attempt_at: string | null
  reason: string | null
  /** Bytes of the whole message */
  size: number
  /** In major units of `currency` */
  cost: number
  /** Of the cost */
  currency: string
  /** What became of it, for each of them */
  recipients: ({
  /** The address */
  email: string
  /** Where it stood */
  type: 'to' | 'cc' | 'bcc'
  /** How far it came */
  status: 'scheduled' | 'queued' | 'sent' | 'delivered' | 'bounced' | 'failed' | 'cancelled'
  /** How often delivery was tried */
  attempts: number
  smtp_code: number | null
  enhanced_code: string | null
  smtp_response: string | null
  mx: string | null
  tls: string | null
  /** How the server was known: not at all, by any certificate, or by the one that MTA-STS or DANE asks for */
  tls_level: ('plain' | 'encrypted' | 'mta_sts' | 'dane') | null
  bounce_type: ('hard' | 'soft') | null
  reason: string | null
  delivered_at: string | null
})[]
}

export type EmailAccepted = {
  /** Id of the message, such as `em_…` */
  message_id: string
  /** `failed` if every recipient is suppressed */
  status: 'scheduled' | 'queued' | 'failed'
  /** As readers see it */
  from: string
  /** As you sent it; copies are not repeated */
  to: string | string[]
  scheduled_at: string | null
  /** To how many it goes, without those that are suppressed */
  recipients: number
  /** Addresses left out because they bounced, complained or unsubscribed */
  suppressed: string[]
  reason: string | null
  /** In major units of `currency` */
  cost: number
  /** Of the cost */
  currency: string
  /** What will look wrong, such as placeholders without a value */
  warnings: string[]
  /** When it was accepted */
  timestamp: string
}

export type EmailAnalytics = {
  /** Recipients whose message was offered to a server */
  sent: number
  /** Recipients whose server took it */
  delivered: number
  /** Recipients who opened it at least once */
  opened: number
  /** Recipients who followed a link */
  clicked: number
  /** Recipients from whom it was sent back */
  bounced: number
  /** Recipients who called it spam */
  complained: number
  /** Recipients who unsubscribed by it */
  unsubscribed: number
  /** Recipients whose server asked to try again later */
  deferred: number
  /** Recipients whom it did not reach for another reason */
  failed: number
  /** Recipients for whom a scanner or a prefetching mail client opened it */
  machine_opens: number
  /** Percent of sent that were delivered; 0 when none were sent */
  deliverability_rate: number
  /** Percent of delivered that were opened; 0 when none were delivered */
  open_rate: number
  /** Percent of delivered with a click; 0 when none were delivered */
  click_rate: number
  /** First day, UTC */
  from: string
  /** Last day, UTC */
  to: string
  /** The same figures for each day, tag and so on, as `group_by` says; empty without it */
  series: ({
  key: string | null
  /** Recipients whose message was offered to a server */
  sent: number
  /** Recipients whose server took it */
  delivered: number
  /** Recipients who opened it at least once */
  opened: number
  /** Recipients who followed a link */
  clicked: number
  /** Recipients from whom it was sent back */
  bounced: number
  /** Recipients who called it spam */
  complained: number
  /** Recipients who unsubscribed by it */
  unsubscribed: number
  /** Recipients whose server asked to try again later */
  deferred: number
  /** Recipients whom it did not reach for another reason */
  failed: number
  /** Recipients for whom a scanner or a prefetching mail client opened it */
  machine_opens: number
  /** Percent of sent that were delivered; 0 when none were sent */
  deliverability_rate: number
  /** Percent of delivered that were opened; 0 when none were delivered */
  open_rate: number
  /** Percent of delivered with a click; 0 when none were delivered */
  click_rate: number
})[]
}

export type EmailBouncedEvent = {
  /** Id of the message, such as `em_…` */
  message_id: string
  /** The recipient */
  email: string
  /** Why it came back, in words */
  reason: string
  bulk_id: string | null
  /** As the message was sent with */
  tags: string[]
  /** Your own notes, such as `{"order": "1042"}`: stored, and repeated in replies and events. Must be an object of at most 50 names of 1 to 40 characters, with text of at most 500 characters, numbers or booleans, 8 KiB in all */
  metadata: Record<string, string | number | boolean>
  /** `hard` for an address that does not exist; it is then suppressed */
  bounce_type: 'hard' | 'soft'
  /** Why, in a word */
  category: 'invalid_recipient' | 'mailbox_full' | 'policy' | 'spam' | 'domain_error' | 'expired' | 'other'
  smtp_code: number | null
  enhanced_code: string | null
  diagnostic: string | null
  /** The server refused it (`smtp`), or reported later that it came back (`dsn`) */
  source: 'smtp' | 'dsn'
}

export type EmailBulk = {
  /** Id of the bulk, such as `emb_…` */
  bulk_id: string
  /** `completed` once every part went out */
  status: 'scheduled' | 'queued' | 'sending' | 'paused' | 'completed' | 'cancelled'
  /** Recipients that you gave */
  total: number
  /** Messages that go out */
  accepted: number
  /** Recipients with a mistake */
  rejected: number
  /** Recipients left out because they bounced, complained or unsubscribed */
  suppressed: number
  /** In how many parts it goes out */
  batches: number
  /** Parts that went out */
  batches_sent: number
  /** Messages by what became of them */
  counts: {
  /** Not offered to a server yet */
  queued: number
  /** Offered to a server, without an outcome so far */
  sent: number
  /** Taken by a server */
  delivered: number
  /** Opened at least once */
  opened: number
  /** With a link that was followed */
  clicked: number
  /** Sent back */
  bounced: number
  /** Called spam */
  complained: number
  /** Led somebody to unsubscribe */
  unsubscribed: number
  /** Not delivered for another reason, or cancelled */
  failed: number
}
  /** When it was accepted */
  created_at: string
  started_at: string | null
  completed_at: string | null
  paused_reason: ('bounce_rate' | 'complaint_rate' | 'request') | null
}

export type EmailBulkAccepted = {
  /** Id of the bulk, such as `emb_…` */
  bulk_id: string
  /** `scheduled` if it begins later */
  status: 'scheduled' | 'queued'
  /** Recipients that you gave */
  total: number
  /** Messages that will go out */
  accepted: number
  /** Recipients with a mistake, which `errors` names */
  rejected: number
  /** Recipients left out because they bounced, complained or unsubscribed */
  suppressed: number
  /** Messages in a part */
  batch_size: number
  /** In how many parts it goes out */
  batches: number
  /** Of all messages, in major units of `currency` */
  cost: number
  /** Of the cost */
  currency: string
  /** The id of each message */
  messages: {
  /** The recipient */
  email: string
  /** Id of the message, such as `em_…` */
  message_id: string
}[]
  /** What is wrong with which recipient */
  errors: {
  /** Position in your list, from 0 */
  index: number
  /** The address as you gave it */
  email: string
  /** Such as INVALID_EMAIL or DUPLICATE_RECIPIENT */
  code: string
  /** The same in words */
  message: string
}[]
  /** What you may want to change next time */
  warnings: string[]
  /** When it was accepted */
  timestamp: string
}

export type EmailBulkCompletedEvent = {
  /** Id of the bulk, such as `emb_…` */
  bulk_id: string
  /** `completed` once every part went out */
  status: 'completed' | 'cancelled'
  /** Recipients that you gave */
  total: number
  /** Messages that go out */
  accepted: number
  /** Recipients with a mistake */
  rejected: number
  /** Recipients left out because they bounced, complained or unsubscribed */
  suppressed: number
  /** In how many parts it goes out */
  batches: number
  /** Parts that went out */
  batches_sent: number
  /** Messages by what became of them */
  counts: {
  /** Not offered to a server yet */
  queued: number
  /** Offered to a server, without an outcome so far */
  sent: number
  /** Taken by a server */
  delivered: number
  /** Opened at least once */
  opened: number
  /** With a link that was followed */
  clicked: number
  /** Sent back */
  bounced: number
  /** Called spam */
  complained: number
  /** Led somebody to unsubscribe */
  unsubscribed: number
  /** Not delivered for another reason, or cancelled */
  failed: number
}
  /** When it was accepted */
  created_at: string
  started_at: string | null
  /** When its last message ended */
  completed_at: string
  paused_reason: ('bounce_rate' | 'complaint_rate') | null
}

export type EmailClickedEvent = {
  /** Id of the message, such as `em_…` */
  message_id: string
  /** The recipient */
  email: string
  /** Where the link leads */
  url: string
  user_agent: string | null
  ip: string | null
  bulk_id: string | null
  /** As the message was sent with */
  tags: string[]
  /** Your own notes, such as `{"order": "1042"}`: stored, and repeated in replies and events. Must be an object of at most 50 names of 1 to 40 characters, with text of at most 500 characters, numbers or booleans, 8 KiB in all */
  metadata: Record<string, string | number | boolean>
  /** Which link of the message, from 0 */
  link_index: number
  /** Probably a scanner or a prefetching mail client */
  machine: boolean
}

export type EmailComplainedEvent = {
  /** Id of the message, such as `em_…` */
  message_id: string
  /** The recipient */
  email: string
  bulk_id: string | null
  /** As the message was sent with */
  tags: string[]
  /** Your own notes, such as `{"order": "1042"}`: stored, and repeated in replies and events. Must be an object of at most 50 names of 1 to 40 characters, with text of at most 500 characters, numbers or booleans, 8 KiB in all */
  metadata: Record<string, string | number | boolean>
  /** Kind of the report, such as `abuse` */
  feedback_type: string
  reporter: string | null
}

export type EmailContent = {
  /** Id of the message, such as `em_…` */
  message_id: string
  /** What `content` is: the one that was asked for */
  part: 'html' | 'text' | 'raw' | 'headers'
  content: string | null
}

export type EmailDeliveredEvent = {
  /** Id of the message, such as `em_…` */
  message_id: string
  /** The recipient */
  email: string
  bulk_id: string | null
  /** As the message was sent with */
  tags: string[]
  /** Your own notes, such as `{"order": "1042"}`: stored, and repeated in replies and events. Must be an object of at most 50 names of 1 to 40 characters, with text of at most 500 characters, numbers or booleans, 8 KiB in all */
  metadata: Record<string, string | number | boolean>
  /** The line that the server answered with */
  smtp_response: string
  mx: string | null
  tls: string | null
  /** How the server was known: not at all, by any certificate, or by the one that MTA-STS or DANE asks for */
  tls_level: ('plain' | 'encrypted' | 'mta_sts' | 'dane') | null
  /** How often delivery was tried */
  attempts: number
}

export type EmailDomain = {
  /** Id of the domain */
  id: string
  /** What you send from */
  domain: string
  /** Messages go out from a `verified` one only */
  status: 'pending' | 'verified' | 'failed'
  /** When it was added */
  created_at: string
  verified_at: string | null
  last_checked_at: string | null
  last_error: string | null
  /** Of the present signing key */
  dkim_selector: string
  /** What has to be in your DNS, and what was found there */
  records: ({
  /** Kind of record */
  type: 'TXT' | 'CNAME'
  /** Full name of the record */
  name: string
  /** What it has to say */
  value: string
  /** What it is for */
  purpose: 'verification' | 'dkim' | 'return_path' | 'tracking' | 'dmarc'
  /** Whether the domain is verified only with it */
  required: boolean
  /** What was found when DNS was last asked */
  status: 'pending' | 'valid' | 'invalid' | 'missing'
  /** What DNS says instead, where that is wrong */
  found?: string | undefined
})[]
  /** The same as records */
  dns_records: ({
  /** Kind of record */
  type: 'TXT' | 'CNAME'
  /** Full name of the record */
  name: string
  /** What it has to say */
  value: string
  /** What it is for */
  purpose: 'verification' | 'dkim' | 'return_path' | 'tracking' | 'dmarc'
  /** Whether the domain is verified only with it */
  required: boolean
  /** What was found when DNS was last asked */
  status: 'pending' | 'valid' | 'invalid' | 'missing'
  /** What DNS says instead, where that is wrong */
  found?: string | undefined
})[]
}

export type EmailDomainEvent = {
  /** Id of the domain, such as `dom_…` */
  id: string
  /** Which domain, such as shop.example */
  domain: string
  /** Messages go out from a `verified` one only */
  status: 'verified' | 'failed'
  /** When it was added */
  created_at: string
  verified_at: string | null
  /** When its records were last looked up */
  last_checked_at: string
  /** Name of the signing key in your DNS */
  dkim_selector: string
  /** What your DNS should have */
  records: ({
  /** Kind of DNS record */
  type: 'TXT' | 'CNAME'
  /** Where it stands in your DNS */
  name: string
  /** What it must say */
  value: string
  /** What it is for */
  purpose: 'verification' | 'dkim' | 'return_path' | 'tracking' | 'dmarc'
  /** Whether the domain is not verified without it */
  required: boolean
  /** What the last look found */
  status: 'pending' | 'valid' | 'invalid' | 'missing'
})[]
}

export type EmailEvent = {
  /** Id of the event, such as `evt_…` */
  id: string
  /** What happened, such as `email.delivered` */
  event: string
  /** What webhooks receive */
  payload: Record<string, unknown>
}

export type EmailNotSentEvent = {
  /** Id of the message, such as `em_…` */
  message_id: string
  /** The recipient */
  email: string
  /** Why not */
  reason: string
  next_attempt_at: string | null
  bulk_id: string | null
  /** As the message was sent with */
  tags: string[]
  /** Your own notes, such as `{"order": "1042"}`: stored, and repeated in replies and events. Must be an object of at most 50 names of 1 to 40 characters, with text of at most 500 characters, numbers or booleans, 8 KiB in all */
  metadata: Record<string, string | number | boolean>
}

export type EmailOpenedEvent = {
  /** Id of the message, such as `em_…` */
  message_id: string
  /** The recipient */
  email: string
  user_agent: string | null
  ip: string | null
  bulk_id: string | null
  /** As the message was sent with */
  tags: string[]
  /** Your own notes, such as `{"order": "1042"}`: stored, and repeated in replies and events. Must be an object of at most 50 names of 1 to 40 characters, with text of at most 500 characters, numbers or booleans, 8 KiB in all */
  metadata: Record<string, string | number | boolean>
  /** Probably a scanner or a prefetching mail client */
  machine: boolean
  client: ({
  name: string | null
  os: string | null
  device: string | null
}) | null
  country: string | null
}

export type EmailSentEvent = {
  /** Id of the message, such as `em_…` */
  message_id: string
  /** The recipient */
  email: string
  bulk_id: string | null
  /** As the message was sent with */
  tags: string[]
  /** Your own notes, such as `{"order": "1042"}`: stored, and repeated in replies and events. Must be an object of at most 50 names of 1 to 40 characters, with text of at most 500 characters, numbers or booleans, 8 KiB in all */
  metadata: Record<string, string | number | boolean>
  mx: string | null
  ip_pool: string | null
}

export type EmailSuppression = {
  /** Id of the entry */
  id: string
  /** Who is not written to */
  email: string
  /** Why */
  reason: 'hard_bounce' | 'complaint' | 'unsubscribe' | 'manual'
  /** Whether nothing at all is sent, or nothing that people may unsubscribe from */
  applies_to: 'all' | 'bulk'
  message_id: string | null
  detail: string | null
  /** Since when */
  created_at: string
  expires_at: string | null
}

export type EmailSuppressionsAdded = {
  /** Addresses that were not on the list before */
  added: number
  /** Addresses that were on it already */
  existing: number
}

export type EmailTemplate = {
  /** Id of the template, such as `tmpl_…` */
  id: string
  /** By which messages name it */
  name: string
  /** With {{placeholders}} */
  subject: string
  /** With {{placeholders}} */
  html: string
  text: string | null
  description: string | null
  /** Values for {{placeholders}}, at most 64 KiB and 8 levels */
  defaults: Record<string, unknown>
  /** Names of the placeholders in it */
  variables: string[]
  /** One more with each change */
  version: number
  /** Always `active` */
  status: 'active'
  /** When it was made */
  created_at: string
  /** When it was last changed */
  updated_at: string
}

export type EmailTemplatePreview = {
  /** With the variables filled in */
  subject: string
  /** With the variables filled in */
  html: string
  text: string | null
  /** Names of placeholders that got no value */
  missing: string[]
}

export type EmailTrackingWebhook = {
  /** Id of the webhook, such as `wh_…` */
  id: string
  /** Where events are posted */
  url: string
  /** Names of the events that it gets */
  events: string[]
  /** False: nothing is delivered to it */
  enabled: boolean
  /** Shown when it is first set */
  secret?: string | undefined
  /** When it was set */
  created_at: string
  updated_at: string | null
}

export type EmailUnsubscribedEvent = {
  /** Id of the message, such as `em_…` */
  message_id: string
  /** The recipient */
  email: string
  user_agent: string | null
  ip: string | null
  bulk_id: string | null
  /** As the message was sent with */
  tags: string[]
  /** Your own notes, such as `{"order": "1042"}`: stored, and repeated in replies and events. Must be an object of at most 50 names of 1 to 40 characters, with text of at most 500 characters, numbers or booleans, 8 KiB in all */
  metadata: Record<string, string | number | boolean>
  /** How they did: the button of their mail client, the page behind the link, by mail, or by your request */
  source: 'one_click' | 'page' | 'mailto' | 'api'
}

export type Error = {
  /** False: `error` says what went wrong */
  success: false
  /** What went wrong; some codes add members of their own. */
  error: {
  code: ErrorCode
  /** What the code means and what to do */
  message: string
  /** What exactly was wrong */
  details: string
  /** As in X-Request-Id */
  request_id: string
  /** When it was answered */
  timestamp: string
  /** Each field that breaks a rule */
  fields?: {
  /** Such as `messages[3].to` */
  field: string
  code: ErrorCode
  /** What its value must be */
  message: string
}[] | undefined
  /** The code in the documentation */
  doc_url?: string | undefined
}
}

/** What went wrong, for programs. Always a string, numeric codes too. New codes may be added. */
export type ErrorCode = 'INVALID_REQUEST' | 'INVALID_URL' | 'INVALID_EVENT' | 'INVALID_DATE_RANGE' | 'UNAUTHORIZED' | 'INSUFFICIENT_FUNDS' | 'INSUFFICIENT_WALLET_BALANCE' | 'INSUFFICIENT_BALANCE' | 'CARD_DECLINED' | 'CARD_EXPIRED' | 'INCORRECT_CVV' | 'DEBIT_REFUSED' | 'AUTHENTICATION_FAILED' | 'FORBIDDEN' | 'HTTPS_REQUIRED' | 'PAYMENT_BLOCKED' | 'ACCOUNT_SUSPENDED' | 'SENDER_NOT_ALLOWED' | 'COUNTRY_NOT_ENABLED' | 'SHORTCODE_NOT_ALLOWED' | 'DOMAIN_NOT_VERIFIED' | 'OPTED_OUT' | 'NUMBER_NOT_OWNED' | 'DESTINATION_NOT_ALLOWED' | 'OTP_BLOCKED' | '131047' | '131051' | 'NOT_FOUND' | 'TEMPLATE_NOT_FOUND' | 'DOMAIN_NOT_FOUND' | 'WEBHOOK_NOT_CONFIGURED' | 'MEDIA_EXPIRED' | 'DELIVERY_NOT_FOUND' | 'WEBHOOK_NOT_FOUND' | 'METHOD_NOT_ALLOWED' | 'DUPLICATE_REFERENCE' | 'REQUEST_IN_PROGRESS' | 'INVALID_STATE' | 'CONFLICT' | 'DUPLICATE_SESSION' | 'SESSION_ENDED' | 'SESSION_EXPIRED' | 'NO_PENDING_INPUT' | 'TRANSACTION_TIMEOUT' | 'REFUND_NOT_ALLOWED' | 'MESSAGE_NOT_CANCELLABLE' | 'NO_PENDING_SECRET' | 'CALL_NOT_ACTIVE' | 'AGENT_NOT_AVAILABLE' | 'AGENT_NOT_LOGGED_IN' | 'AGENT_BUSY' | 'QUEUE_FULL' | 'CONFERENCE_FULL' | 'NOT_CANCELLABLE' | 'TEMPLATE_EXISTS' | 'TEMPLATE_IN_USE' | 'DOMAIN_EXISTS' | 'OTP_ALREADY_USED' | 'CHALLENGE_USED' | 'LEGAL_HOLD' | 'PAYLOAD_TOO_LARGE' | 'UNSUPPORTED_MEDIA_TYPE' | 'RANGE_NOT_SATISFIABLE' | 'VALIDATION_ERROR' | 'INVALID_PHONE' | 'INVALID_SHORTCODE' | 'DATA_TOO_LARGE' | 'MENU_INVALID' | 'INVALID_CALL_FLOW' | 'UNSUPPORTED_LANGUAGE' | 'INVALID_CARD' | 'MESSAGE_TOO_LONG' | 'ENCODING_ERROR' | 'NO_ROUTE' | 'INVALID_EMAIL' | 'INVALID_DOMAIN' | 'TEMPLATE_SYNTAX' | 'MISSING_VARIABLE' | 'ATTACHMENT_TOO_LARGE' | 'ATTACHMENT_BLOCKED' | 'TOO_MANY_RECIPIENTS' | 'MAIL_NOT_CONFIGURED' | 'UNSUPPORTED_CURRENCY' | 'UNSUPPORTED_PROVIDER' | 'UNSUPPORTED_METHOD' | 'BATCH_TOO_LARGE' | 'AMOUNT_TOO_LOW' | 'AMOUNT_TOO_HIGH' | 'REFUND_EXCEEDS_PAYMENT' | 'WEBHOOK_LIMIT_REACHED' | 'INVALID_DOCUMENT_TYPE' | 'IMAGE_QUALITY_LOW' | 'IMAGE_TOO_LARGE' | 'NO_FACE_DETECTED' | 'MULTIPLE_FACES' | 'FACE_MISMATCH' | 'LIVENESS_FAILED' | 'DOCUMENT_UNREADABLE' | 'CHALLENGE_EXPIRED' | 'CONSENT_REQUIRED' | 'OTP_INVALID' | 'OTP_EXPIRED' | '130472' | '131026' | '131052' | '131053' | '133004' | 'OTP_COOLDOWN' | 'OTP_SEND_LIMIT' | 'OTP_ATTEMPTS_EXCEEDED' | 'RATE_LIMITED' | 'RATE_LIMIT_EXCEEDED' | 'CONCURRENCY_LIMIT' | 'TOO_MANY_STREAMS' | '130429' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE' | 'REGISTRY_UNAVAILABLE' | 'PROVIDER_UNAVAILABLE'

export type Event = {
  /** Id of the event, such as `evt_…` */
  id: string
  /** Name in the event catalogue */
  event: string
  /** What it happened to */
  resource_id: string
  /** When it happened */
  created_at: string
  request_id: string | null
  /** What subscribers receive */
  payload: unknown
}

export type EventDescription = {
  /** By which webhooks subscribe to it, such as `sms.delivered` */
  name: string
  /** Part of the API that it comes from, such as `sms` */
  area: string
  /** When it happens, in a sentence */
  summary: string
  /** Other names that a subscription may use */
  aliases: string[]
  /** JSON Schema of the body */
  schema: unknown
  /** A body */
  example: unknown
}

export type EventDetail = {
  /** Id of the event, such as `evt_…` */
  id: string
  /** Name in the event catalogue */
  event: string
  /** What it happened to */
  resource_id: string
  /** When it happened */
  created_at: string
  request_id: string | null
  /** What subscribers receive */
  payload: unknown
  /** The webhooks that it was told to, and how that went; what was told again is in their logs */
  deliveries: ({
  /** Id of the delivery, such as `dlv_…` */
  id: string
  /** The webhook it goes to */
  webhook_id: string
  /** `failed` once no further attempt is made */
  status: 'pending' | 'delivering' | 'delivered' | 'failed' | 'cancelled'
  /** How often it was tried */
  attempts: number
  delivered_at: string | null
  next_attempt_at: string | null
  last_error: string | null
  response_status: number | null
})[]
}

export type FailedJob = {
  /** Id of the job, such as `job_…` */
  id: string
  /** Which kind of job it is, such as `sms.batch` */
  lane: string
  account_id: string | null
  environment: string | null
  /** How often it was tried */
  attempts: number
  last_error: string | null
  /** When it was queued */
  created_at: string
  /** `stranded`: it has waited for more than a minute at a place (`lane@place`) that nobody serves */
  state: 'failed' | 'stranded'
}

export type FoundThing = {
  /** message, email, call, payment, payout, invoice, delivery or request */
  kind: string
  /** Id of what was found */
  id: string
  status: string | null
  /** Whose it is, such as `acc_…` */
  account_id: string
  /** As its customers read it */
  account_name: string
  /** `test` or `live` */
  environment: 'test' | 'live'
  /** When it was made */
  created_at: string
  /** Where an operator reads it whole */
  path: string
}

export type FraudBacktest = {
  /** Id of the rule, such as `frl_…` */
  rule_id: string
  /** Checks that it was held against, the oldest first */
  checked: number
  /** Checks that it matches */
  matched: number
  /** Of those, how many were decided less strictly, or are allowed by it */
  changed: number
  /** Checks of which a velocity that it asks for is not known */
  unknown_velocity: number
  /** What had been decided about those that it matches */
  decisions: {
  /** Were let through */
  allow: number
  /** Were marked */
  review: number
  /** Were challenged */
  require_3ds: number
  /** Were blocked */
  block: number
}
  /** Ids of the first checks that it matches */
  samples: string[]
  /** False when there are more than 100000 */
  complete: boolean
}

export type FraudReviewEvent = {
  /** False in the test environment */
  livemode: boolean
  /** Order of the events of one object, from 1 */
  sequence: number
  payment_id: string | null
  payout_id: string | null
  /** How risky it is, and why */
  risk: {
  /** 0 for none to 100 */
  risk_score: number
  /** The score in a word */
  risk_level: 'low' | 'medium' | 'high' | 'very_high'
  /** What raised it */
  flags: string[]
  /** What became of it by that */
  decision: 'allow' | 'require_3ds' | 'review' | 'block'
}
  payment?: Payment | undefined
  payout?: Payout | undefined
}

export type FraudRule = {
  /** Id of the rule, such as `frl_…` */
  rule_id: string
  /** Stands in the risk check of what it matched */
  name: string
  description: string | null
  /** What becomes of a payment that it matches */
  action: 'allow' | 'require_3ds' | 'review' | 'block'
  /** Whether all conditions must hold or any of them; `all` unless given */
  match: 'all' | 'any'
  /** What a payment must have for the rule to match */
  conditions: Record<string, unknown>[]
  /** Whether it judges payments, payouts or both */
  applies_to: ('payment' | 'payout')[]
  /** Added to the risk score when it matches */
  score: number
  /** Lower comes first */
  priority: number
  /** Whether it is asked at all */
  enabled: boolean
  /** Recorded when it matches, and nothing else */
  dry_run: boolean
  /** How often it matched in the last 24 hours */
  hits_24h: number
  /** When it was made */
  created_at: string
  /** When it was last changed */
  updated_at: string
}

export type FraudRuleDeleted = {
  /** Id of the rule that is gone */
  rule_id: string
  /** True: it is gone */
  deleted: true
}

export type HandsetText = {
  /** Id of the message, such as `sms_…` */
  message_id: string
  /** `written`: on the handset, to you */
  direction: 'received' | 'written'
  /** Who wrote it: a sender, or the number of the handset */
  from: string
  /** Who got it */
  to: string
  /** Null when its text has been erased */
  message: string | null
  /** When it arrived, or was written */
  at: string
}

export type HeardText = {
  /** Id of the call, such as `call_…` */
  call_id: string
  /** Which language was understood */
  language: string
  /** All that was said */
  text: string
  /** Keys that were pressed for the phone */
  digits: string
  /** The same, piece by piece */
  segments: {
  /** Seconds from the beginning of what is kept */
  start: number
  /** Seconds from the beginning of what is kept */
  end: number
  /** What was said */
  text: string
  /** 0 to 1 */
  confidence: number
}[]
}

export type IdentityAudit = {
  /** Id of the check */
  id: string
  /** The entries, oldest first */
  data: IdentityAuditEntry[]
  next_cursor: string | null
  /** Whether each of these entries follows from the one before */
  chain_valid: boolean
}

export type IdentityAuditEntry = {
  /** Id of the entry, such as `aud_…` */
  entry_id: string
  /** Place in the chain of this check, from 1 */
  sequence: number
  /** When it was done */
  timestamp: string
  /** What was done */
  action: string
  /** Who did it: `type`, `id` and, for a request, `ip` */
  actor: unknown
  /** What else is known of it */
  details: unknown
  /** `hash` of the entry before; null for the first */
  previous_hash: string | null
  /** `sha256:` and the digest of `previous_hash` and the entry, in hex */
  hash: string
}

export type IdentityBlocklistEntry = {
  /** Id of the entry, such as `idb_…` */
  id: string
  /** What the value is */
  kind: 'document' | 'phone' | 'email' | 'device' | 'external_id'
  /** The end of the value */
  hint: string
  reason: string | null
  /** When it was blocked */
  created_at: string
}

export type IdentityDocumentType = {
  /** Issuing country, ISO 3166 */
  country: string
  /** What it is, such as `passport` */
  document_type: 'passport' | 'national_id' | 'drivers_license' | 'voter_id' | 'residence_permit' | 'refugee_id' | 'nin_slip' | 'proof_of_address'
  /** How many sides there are to photograph */
  sides: number
  /** Whether it has machine-readable lines */
  has_mrz: boolean
  /** Whether it has a barcode */
  has_barcode: boolean
  number_pattern: string | null
  /** What is looked at, such as `mrz_check_digits` */
  checks: string[]
  /** Whether a registry can be asked */
  registry: boolean
  /** Checked against the issuer; otherwise its rules can only warn */
  verified: boolean
  /** Where these facts are from */
  source: string
}

export type IdentityErasure = {
  /** Id of the verification, such as `ver_…` */
  verification_id: string
  /** Of the verification, which stays */
  status: string
  /** When its personal data were erased */
  erased_at: string
  /** Always false: what is held is not erased */
  legal_hold: false
}

export type IdentityFaceMatch = {
  /** Id of the comparison, such as `fmt_…` */
  face_match_id: string
  /** Whether the similarity reaches the threshold */
  match: boolean
  /** 0 to 100 */
  confidence: number
  /** 0 to 1 */
  similarity_score: number
  /** What was compared with */
  threshold: number
  /** What was found in each picture */
  faces: {
  /** The face of one picture */
  image_a: {
  /** Faces in the picture */
  count: number
  /** x, y, width, height of the face that was compared */
  box: number[]
  /** 0 to 1; low where the face is small or hard to see */
  quality: number
}
  /** The face of one picture */
  image_b: {
  /** Faces in the picture */
  count: number
  /** x, y, width, height of the face that was compared */
  box: number[]
  /** 0 to 1; low where the face is small or hard to see */
  quality: number
}
}
  reference: string | null
  /** When they were compared */
  created_at: string
  /** In major units of `currency` */
  cost: number
  /** Of the cost */
  currency: string
}

export type IdentityLiveness = {
  /** What the frames are sent with; only where a challenge was asked for */
  challenge_id?: string | undefined
  /** Only where a challenge was asked for */
  nonce?: string | undefined
  /** When the challenge ends */
  expires_at?: string | undefined
  /** Id of the check, such as `liv_…` */
  liveness_id?: string | undefined
  /** Whether a living person was seen */
  passed?: boolean | undefined
  /** 0 to 100; at most 80 for `passive` */
  confidence?: number | undefined
  /** As it was asked for */
  method: 'passive' | 'active'
  /** What to do, in this order; or what became of each */
  steps: (string | {
  /** What was asked for, such as `turn_left` */
  step: string
  /** Whether it was done */
  passed: boolean
  /** What was measured, such as `yaw` */
  measure: Record<string, number>
})[]
  /** What was measured */
  signals?: Record<string, boolean | string> | undefined
  /** When it was checked, or the challenge was made */
  created_at: string
  /** In major units of `currency` */
  cost?: number | undefined
  /** Of the cost */
  currency?: string | undefined
}

export type IdentityMedia = {
  /** Id of the picture, such as `imd_…` */
  media_id: string
  type: string | null
  expires_at: string | null
}

export type IdentityOtpEvent = {
  /** Id of the code, such as `otp_…` */
  otp_id: string
  /** Masked */
  phone: string
  /** How it went */
  channel: 'sms' | 'voice' | 'messenger' | 'email'
  purpose: string | null
  /** How often a code was typed */
  attempts: number
  /** How often it may be typed wrong before it is worth nothing */
  attempts_left: number
  reason: string | null
  verification_id: string | null
}

export type IdentityOtpSent = {
  /** Id of the code, such as `otp_…` */
  otp_id: string
  /** Who got it */
  phone: string
  /** How it was sent */
  channel: 'sms' | 'voice' | 'messenger' | 'email'
  /** Always `pending`: it waits for the code to be typed */
  status: 'pending'
  /** Digits of the code */
  code_length: number
  /** Until when it can be typed */
  expires_at: string
  /** When the same request sends it again; sooner is refused */
  resend_after: string
  /** How often it can be sent again */
  sends_remaining: number
  message_id: string | null
  /** Test keys only */
  sandbox_code?: string | undefined
}

export type IdentityOtpVerified = {
  /** Id of the code */
  otp_id: string
  /** Whose number this proves */
  phone: string
  /** Always true: a wrong code is refused */
  verified: true
  /** Always `verified` */
  status: 'verified'
  /** When the right code came */
  verified_at: string
  /** How it went */
  channel: string
}

export type IdentityPolicyRecord = {
  /** Doubtful cases wait for a person; otherwise they are rejected */
  manual_review: boolean
  /** Whether to wait for a registry that does not answer */
  registry_on_outage: 'retry' | 'fail'
  /** Refuse verifications without `consent` */
  consent_required: boolean
  /** Who asked for a verification may not approve it after it was rejected */
  four_eyes: boolean
  /** When a single picture passes as alive */
  accept_passive_liveness: 'low_risk' | 'never'
  /** Younger persons are rejected as UNDERAGE; 0 unless set, for any age. Must be 0 to 120 */
  minimum_age: number
  /** How long pictures are kept; 0 erases them with the verdict. Must be 0 to 365 days */
  image_days: number
  /** How long what was read is kept. Must be 0 to 3650 days */
  record_days: number
  /** Whether suspicious codes are held back or only noted */
  otp_guard: 'block' | 'monitor'
  /** Countries that codes go to; none: all */
  otp_countries: string[]
  /** Codes that the account may send in 24 hours; 10000 unless set. Must be 1 to 1000000 */
  otp_daily_limit: number
  /** One more with each change */
  version: number
}

export type IdentityRegistry = {
  /** Id of the registry, such as `reg_…` */
  id: string
  /** As you named it */
  name: string
  /** Whose people it knows, ISO 3166 */
  country: string
  /** Kinds of documents that it can be asked about */
  id_types: string[]
  /** Where it answers; `/lookup` is added */
  url: string
  /** When it was connected */
  created_at: string
}

export type IdentityRegistryCreate = {
  /** By which you tell it from others */
  name: string
  /** Whose documents it knows. Must be an ISO 3166 country code, such as KE */
  country: string
  /** None: all of the country */
  id_types?: ('passport' | 'national_id' | 'drivers_license' | 'voter_id' | 'residence_permit' | 'refugee_id' | 'nin_slip' | 'proof_of_address')[] | undefined
  /** Where it answers. Must be a URL without a slash at its end; /lookup is added to it */
  url: string
  /** Sent as a bearer token */
  token: string
}

export type IdentityRiskScore = {
  /** Id of the score, such as `rsk_…` */
  risk_id: string
  /** 0 for none to 100 */
  risk_score: number
  /** The score in a word */
  risk_level: 'low' | 'medium' | 'high' | 'very_high'
  /** What raised it, such as `phone_voip` */
  flags: string[]
  /** How much each flag weighs, and why */
  factors: {
  /** One of `flags` */
  flag: string
  /** What it adds to the score */
  weight: number
  /** What was found */
  detail: string
}[]
  /** What could not be asked, and so did not count */
  unavailable_signals: string[]
  /** Your own notes, such as `{"order": "1042"}`: stored, and repeated in replies and events. Must be an object of at most 50 names of 1 to 40 characters, with text of at most 500 characters, numbers or booleans, 8 KiB in all */
  metadata: Record<string, string | number | boolean>
  /** When it was scored */
  created_at: string
  /** In major units of `currency` */
  cost: number
  /** Of the cost */
  currency: string
}

export type IdentityScan = {
  /** Id of the reading, such as `scn_…` */
  scan_id: string
  document_type: string | null
  country: string | null
  /** What was read, by its name, such as `last_name` */
  fields: Record<string, {
  /** As it was read */
  value: string
  /** 0 to 100 */
  confidence: number
  /** Machine-readable lines, a barcode, or the print */
  source: 'mrz' | 'barcode' | 'visual'
  box: number[] | null
}>
  mrz: {
  /** Such as TD3 */
  format: string
  /** Whether its check digits are right */
  valid: boolean
  /** As they were read */
  lines: string[]
  /** What is wrong with them; empty if they are valid */
  errors: string[]
} | null
  /** What the barcodes say */
  barcodes: {
  /** Kind of barcode, such as `PDF417` */
  format: string
  /** What it says */
  text: string
}[]
  /** Of the picture of the front */
  quality: {
  /** Variance of the edges, 0 for a blur; below 60 it cannot be read well */
  sharpness: number
  /** Mean, 0 for black to 1 for white */
  brightness: number
  /** Share of the picture overexposed in one patch, 0 to 1 */
  glare: number
  /** Pixels */
  width: number
  /** Pixels */
  height: number
  /** Whether the picture is good enough to be read */
  acceptable: boolean
}
  portrait: string | null
  text: string | null
  /** Milliseconds that it took */
  processing_ms: number
  /** When it was read */
  created_at: string
  /** In major units of `currency` */
  cost: number
  /** Of the cost */
  currency: string
}

export type IdentitySubjectErasure = {
  /** Your own id of the person */
  external_id: string
  /** Each verification of this person */
  erased: IdentityErasure[]
}

export type IdentityVerification = {
  /** Id of the verification, such as `ver_…` */
  verification_id: string
  /** `pending` until the verdict is there */
  status: 'verified' | 'pending' | 'rejected' | 'expired'
  /** What was asked for */
  checks_performed: string[]
  /** What was found, in short */
  results: {
  document_authentic: boolean | null
  face_match: boolean | null
  liveness_passed: boolean | null
  overall_risk: ('low' | 'medium' | 'high' | 'very_high') | null
}
  /** When it was asked for */
  created_at: string
  completed_at: string | null
  /** What it waits for; a person decides in `awaiting_review` */
  stage: 'queued' | 'processing' | 'awaiting_registry' | 'awaiting_review' | 'done'
  reference: string | null
  /** That the person agreed, as it was sent; null if nothing was sent, and once the record is erased */
  consent: ({
  /** Always true: the person agreed */
  granted: true
  granted_at: string | null
  privacy_notice_url: string | null
  language: string | null
}) | null
  /** What was read from the document; null until then, and once the record is erased */
  document: ({
  /** What it is, such as `passport` */
  document_type: string
  /** Issuing country, ISO 3166 */
  country: string
  document_number: string | null
  first_name: string | null
  last_name: string | null
  date_of_birth: string | null
  sex: string | null
  nationality: string | null
  issue_date: string | null
  expiry_date: string | null
  personal_number: string | null
  mrz: {
  /** Such as TD3 */
  format: string
  /** Whether its check digits are right */
  valid: boolean
  /** As they were read */
  lines: string[]
} | null
}) | null
  /** What was looked at, one by one */
  checks: ({
  /** What was looked at, such as `mrz_check_digits` */
  check: string
  /** `unavailable` could not be asked, `skipped` was not wanted */
  result: 'pass' | 'fail' | 'warn' | 'skipped' | 'unavailable'
  /** How much a failure of it counts */
  weight: 'critical' | 'major' | 'minor'
  /** What was found */
  detail: string
})[]
  face_match: {
  /** Whether it is one person */
  match: boolean
  /** 0 to 100 */
  confidence: number
  /** 0 to 1 */
  similarity_score: number
} | null
  liveness: ({
  /** Whether a living person was seen */
  passed: boolean
  /** 0 to 100 */
  confidence: number
  /** One picture, or movements */
  method: 'passive' | 'active'
}) | null
  risk_assessment: ({
  /** 0 for none to 100 */
  risk_score: number
  /** The score in a word */
  risk_level: 'low' | 'medium' | 'high' | 'very_high'
  /** What raised it */
  flags: string[]
}) | null
  /** Why it was rejected; empty unless it was */
  failure_reasons: ({
  /** Such as DOCUMENT_EXPIRED */
  code: string
  check: string | null
  /** The same in words */
  message: string
  /** A better picture can help */
  retryable: boolean
})[]
  /** What a person decided; null if none did */
  review: ({
  decision: string | null
  reason: string | null
  by: string | null
  at: string | null
}) | null
  previous_verification_id: string | null
  /** Your own notes, such as `{"order": "1042"}`: stored, and repeated in replies and events. Must be an object of at most 50 names of 1 to 40 characters, with text of at most 500 characters, numbers or booleans, 8 KiB in all */
  metadata: Record<string, string | number | boolean>
  /** When what is kept of it is erased */
  retention: {
  /** Of the pictures */
  images_erased_at: string
  /** Of what was read */
  record_erased_at: string
}
  erased_at: string | null
  engine: {
  /** Of the rules that decide */
  version: string
  /** What read the document; empty if nothing did */
  ocr: string
  /** What compared the faces; empty if nothing did */
  face: string
  /** Similarity from which faces are one person, 0 to 1 */
  threshold: number
} | null
  /** In major units of `currency` */
  cost: number
  /** Of the cost */
  currency: string
  /** With `include=images`: the address of each picture by its field, for 60 seconds */
  images?: Record<string, string> | undefined
}

export type IdentityVerificationEvent = {
  /** Id of the verification, such as `ver_…` */
  verification_id: string
  /** `pending` until the verdict is there */
  status: 'pending' | 'verified' | 'rejected' | 'expired'
  /** What it waits for; a person decides in `awaiting_review` */
  stage: 'queued' | 'processing' | 'awaiting_registry' | 'awaiting_review' | 'done'
  /** What was looked at, such as `face_match` */
  checks_performed: string[]
  /** What was found, in short */
  results: {
  document_authentic: boolean | null
  face_match: boolean | null
  liveness_passed: boolean | null
  overall_risk: ('low' | 'medium' | 'high' | 'very_high') | null
}
  risk_assessment: ({
  /** 0 for none to 100 */
  risk_score: number
  /** The score in a word */
  risk_level: 'low' | 'medium' | 'high' | 'very_high'
  /** What raised the score */
  flags: string[]
}) | null
  reason: string | null
  /** Why it was rejected; empty otherwise */
  failure_reasons: ({
  /** For programs, such as `FACE_MISMATCH` */
  code: string
  check: string | null
  /** The same in words */
  message: string
  /** A better picture can help */
  retryable: boolean
})[]
  reference: string | null
  /** Your own notes, such as `{"order": "1042"}`: stored, and repeated in replies and events. Must be an object of at most 50 names of 1 to 40 characters, with text of at most 500 characters, numbers or booleans, 8 KiB in all */
  metadata: Record<string, string | number | boolean>
  /** True in the test environment */
  sandbox: boolean
  /** When it was asked for */
  created_at: string
  completed_at: string | null
}

export type IdentityVerificationListed = {
  /** Id of the verification, such as `ver_…` */
  verification_id: string
  /** `pending` until the verdict is there */
  status: 'verified' | 'pending' | 'rejected' | 'expired'
  /** What was asked for */
  checks_performed: string[]
  /** What was found, in short */
  results: {
  document_authentic: boolean | null
  face_match: boolean | null
  liveness_passed: boolean | null
  overall_risk: ('low' | 'medium' | 'high' | 'very_high') | null
}
  /** When it was asked for */
  created_at: string
  completed_at: string | null
  /** What it waits for; a person decides in `awaiting_review` */
  stage: 'queued' | 'processing' | 'awaiting_registry' | 'awaiting_review' | 'done'
  reference: string | null
  face_match: {
  /** Whether it is one person */
  match: boolean
  /** 0 to 100 */
  confidence: number
  /** 0 to 1 */
  similarity_score: number
} | null
  liveness: ({
  /** Whether a living person was seen */
  passed: boolean
  /** 0 to 100 */
  confidence: number
  /** One picture, or movements */
  method: 'passive' | 'active'
}) | null
  risk_assessment: ({
  /** 0 for none to 100 */
  risk_score: number
  /** The score in a word */
  risk_level: 'low' | 'medium' | 'high' | 'very_high'
  /** What raised it */
  flags: string[]
}) | null
  /** Why it was rejected; empty unless it was */
  failure_reasons: ({
  /** Such as DOCUMENT_EXPIRED */
  code: string
  check: string | null
  /** The same in words */
  message: string
  /** A better picture can help */
  retryable: boolean
})[]
  /** What a person decided; null if none did */
  review: ({
  decision: string | null
  reason: string | null
  by: string | null
  at: string | null
}) | null
  previous_verification_id: string | null
  /** Your own notes, such as `{"order": "1042"}`: stored, and repeated in replies and events. Must be an object of at most 50 names of 1 to 40 characters, with text of at most 500 characters, numbers or booleans, 8 KiB in all */
  metadata: Record<string, string | number | boolean>
  /** When what is kept of it is erased */
  retention: {
  /** Of the pictures */
  images_erased_at: string
  /** Of what was read */
  record_erased_at: string
}
  erased_at: string | null
  engine: {
  /** Of the rules that decide */
  version: string
  /** What read the document; empty if nothing did */
  ocr: string
  /** What compared the faces; empty if nothing did */
  face: string
  /** Similarity from which faces are one person, 0 to 1 */
  threshold: number
} | null
  /** In major units of `currency` */
  cost: number
  /** Of the cost */
  currency: string
}

export type InvitedMember = {
  /** Id of the member, such as `mbr_…` */
  id: string
  /** By which they sign in */
  email: string
  /** As the console greets them; empty if none was given */
  name: string
  /** See docs/console.md for what each may do */
  role: 'owner' | 'admin' | 'developer' | 'finance' | 'supervisor' | 'agent' | 'reviewer' | 'viewer'
  /** `invited` until they accept; a `disabled` one cannot sign in */
  status: 'invited' | 'active' | 'disabled'
  /** Whether they also run the installation */
  operator: boolean
  /** Whether signing in needs a second factor */
  totp_enabled: boolean
  last_login_at: string | null
  /** When they were invited */
  created_at: string
  /** Shown once: pass it on to them. It works for a week */
  invite_url: string
}

/** The invoice, with its lines and what was paid of it */
export type Invoice = {
  /** Id of the invoice, such as `inv_…` */
  invoice_id: string
  number: string | null
  /** A `draft` can be changed; `open` waits for its money; `uncollectible` was given up */
  status: 'draft' | 'open' | 'paid' | 'void' | 'uncollectible'
  customer: Customer
  /** ISO 4217, such as KES; of all amounts here */
  currency: string
  /** Its lines */
  items: {
  /** What is sold */
  description: string
  /** How many of it */
  quantity: number
  /** For one of it, in major units */
  unit_amount: number
  /** Taken off the line: its own, and its share of that of the invoice */
  discount: number
  /** Percent */
  tax_rate: number
  /** Of the line, before discount and tax */
  amount: number
  /** Of the line */
  tax: number
}[]
  /** The amounts hold their tax already */
  tax_inclusive: boolean
  /** All lines, before discount and tax */
  subtotal: number
  /** Taken off by all discounts */
  discount_total: number
  /** Of all lines */
  tax_total: number
  /** What the customer owes in all */
  total: number
  /** What came of it so far */
  amount_paid: number
  /** What is still to be paid */
  amount_due: number
  /** How much of amount_paid the customer had in hand */
  credit_applied: number
  /** What was given back since it was paid. What is given back before is taken off amount_paid */
  amount_refunded: number
  /** Open, and past its due date */
  overdue: boolean
  /** Last day to pay, UTC */
  due_date: string
  hosted_url: string | null
  pdf_url: string | null
  /** Ids of the payments that paid it or a part of it, such as `pay_…` */
  payments: string[]
  /** Null: all that are offered */
  payment_methods: string[] | null
  notes: string | null
  reference: string | null
  subscription_id: string | null
  sent_at: string | null
  paid_at: string | null
  voided_at: string | null
  void_reason: string | null
  /** Your own notes, such as `{"order": "1042"}`: stored, and repeated in replies and events. Must be an object of at most 50 names of 1 to 40 characters, with text of at most 500 characters, numbers or booleans, 8 KiB in all */
  metadata: Record<string, string | number | boolean>
  /** When it was made */
  created_at: string
}

export type InvoiceEvent = {
  /** False in the test environment */
  livemode: boolean
  /** Order of the events of one object, from 1 */
  sequence: number
  /** Id of the invoice, such as `inv_…` */
  invoice_id: string
  number: string | null
  /** A `draft` can be changed; `open` waits for its money; `uncollectible` was given up */
  status: 'draft' | 'open' | 'paid' | 'void' | 'uncollectible'
  /** What came of it so far */
  amount_paid: number
  /** What the customer owes in all */
  total: number
  /** ISO 4217, such as KES; of all amounts here */
  currency: string
  customer: Customer
  /** Your own notes, such as `{"order": "1042"}`: stored, and repeated in replies and events. Must be an object of at most 50 names of 1 to 40 characters, with text of at most 500 characters, numbers or booleans, 8 KiB in all */
  metadata: Record<string, string | number | boolean>
  subscription_id: string | null
  payment_id: string | null
  invoice: Invoice
}

export type InvoicePaidEvent = {
  /** False in the test environment */
  livemode: boolean
  /** Order of the events of one object, from 1 */
  sequence: number
  /** Id of the invoice, such as `inv_…` */
  invoice_id: string
  number: string | null
  /** A `draft` can be changed; `open` waits for its money; `uncollectible` was given up */
  status: 'draft' | 'open' | 'paid' | 'void' | 'uncollectible'
  /** What came of it so far */
  amount_paid: number
  /** What the customer owes in all */
  total: number
  /** ISO 4217, such as KES; of all amounts here */
  currency: string
  customer: Customer
  /** Your own notes, such as `{"order": "1042"}`: stored, and repeated in replies and events. Must be an object of at most 50 names of 1 to 40 characters, with text of at most 500 characters, numbers or booleans, 8 KiB in all */
  metadata: Record<string, string | number | boolean>
  subscription_id: string | null
  payment_id: string | null
  invoice: Invoice
  /** The last one; null when the customer’s credit covered it */
  payment: Payment | null
}

export type Ivr = {
  /** Id of the IVR, such as `ivr_…` */
  ivr_id: string
  /** From 1, and one more with each change */
  version: number
  /** `draft` is not reached by calls */
  status: 'active' | 'draft'
  /** Different from your other IVRs */
  name: string
  /** What is spoken and understood, such as `sw-KE` */
  language: string
  /** Key of the menu that calls begin with */
  entry: string
  /** By their keys; a menu has options to choose from, or collects digits. Must be 1 to 200 menus by their keys */
  menus: Record<string, {
  /** What is said */
  prompt?: {
  /** `{{variable}}` is filled in */
  text?: string | undefined
  /** What is spoken and understood, such as `sw-KE`; that of what it belongs to, and in the end `en-US`, unless told */
  language?: 'en-NG' | 'en-KE' | 'en-ZA' | 'en-US' | 'fr-SN' | 'fr-FR' | 'ar-EG' | 'ar-001' | 'sw-KE' | 'am-ET' | 'ha-NG' | 'yo-NG' | 'ig-NG' | 'zu-ZA' | 'xh-ZA' | 'af-ZA' | 'so-SO' | 'wo-SN' | 'pt-AO' | undefined
  /** A sound in place of the text */
  url?: string | undefined
} | undefined
  /** What can be chosen, by the keys that are pressed. Must name keys 0-9, * and # */
  options?: Record<string, {
  /** What it is, for yourself and the trace */
  label?: string | undefined
  /** Words that choose it too, where `speech` is taken */
  phrases?: string[] | undefined
  /** One of menu, a destination, webhook, set with then, repeat and back */
  action: {
  /** Key of the menu that comes next. Must have 1 to 64 letters, digits, dashes and underscores */
  menu?: string | undefined
  /** Asked for a list of actions */
  webhook?: string | undefined
  /** True: the menu is said again */
  repeat?: true | undefined
  /** True: the menu before */
  back?: true | undefined
  /** Variables of the call by name, for `{{name}}` in prompts and for conditions of routing rules */
  set?: Record<string, string | number | boolean> | undefined
  /** Where the call goes; decides which of the fields below is needed */
  type?: 'queue' | 'ivr' | 'agent' | 'phone' | 'sip' | 'application' | 'voicemail' | 'message' | 'hangup' | undefined
  /** Of a queue, an IVR or an agent */
  id?: string | undefined
  /** Of a phone. Must be E.164, such as +254711000001 */
  number?: string | undefined
  /** Of a SIP phone. Must be a SIP URI, such as sip:ada@example.org */
  uri?: string | undefined
  /** Of an application: asked for the flow */
  answer_url?: string | undefined
  /** Spoken, of a message or before a voicemail */
  text?: string | undefined
  /** What is spoken and understood, such as `sw-KE`; that of what it belongs to, and in the end `en-US`, unless told */
  language?: 'en-NG' | 'en-KE' | 'en-ZA' | 'en-US' | 'fr-SN' | 'fr-FR' | 'ar-EG' | 'ar-001' | 'sw-KE' | 'am-ET' | 'ha-NG' | 'yo-NG' | 'ig-NG' | 'zu-ZA' | 'xh-ZA' | 'af-ZA' | 'so-SO' | 'wo-SN' | 'pt-AO' | undefined
  /** Where it goes on after `set` */
  then?: {
  /** Key of the menu that comes next. Must have 1 to 64 letters, digits, dashes and underscores */
  menu?: string | undefined
  /** Asked for a list of actions */
  webhook?: string | undefined
  /** True: the menu is said again */
  repeat?: true | undefined
  /** True: the menu before */
  back?: true | undefined
  /** Variables of the call by name, for `{{name}}` in prompts and for conditions of routing rules */
  set?: Record<string, string | number | boolean> | undefined
  /** Where the call goes; decides which of the fields below is needed */
  type?: 'queue' | 'ivr' | 'agent' | 'phone' | 'sip' | 'application' | 'voicemail' | 'message' | 'hangup' | undefined
  /** Of a queue, an IVR or an agent */
  id?: string | undefined
  /** Of a phone. Must be E.164, such as +254711000001 */
  number?: string | undefined
  /** Of a SIP phone. Must be a SIP URI, such as sip:ada@example.org */
  uri?: string | undefined
  /** Of an application: asked for the flow */
  answer_url?: string | undefined
  /** Spoken, of a message or before a voicemail */
  text?: string | undefined
  /** What is spoken and understood, such as `sw-KE`; that of what it belongs to, and in the end `en-US`, unless told */
  language?: 'en-NG' | 'en-KE' | 'en-ZA' | 'en-US' | 'fr-SN' | 'fr-FR' | 'ar-EG' | 'ar-001' | 'sw-KE' | 'am-ET' | 'ha-NG' | 'yo-NG' | 'ig-NG' | 'zu-ZA' | 'xh-ZA' | 'af-ZA' | 'so-SO' | 'wo-SN' | 'pt-AO' | undefined
} | undefined
}
}> | undefined
  /** How the choice is made; unless told by keys, within 5 seconds */
  input?: {
  /** Keys (`dtmf`), spoken words, or both; keys unless told */
  types?: ('dtmf' | 'speech')[] | undefined
  /** After how many keys the choice is complete; as many as the longest option or `collect.max` unless told. Must be 1 to 20 */
  max_digits?: number | undefined
  /** Seconds to wait for the first key or word; 5 unless told. Must be 1 to 30 seconds */
  timeout?: number | undefined
  /** Whether a key stops the prompt; true unless told */
  bargein?: boolean | undefined
} | undefined
  /** Takes digits such as an order number, and no choice */
  collect?: {
  /** Name under which the call then has them: `order` is `{{order}}` in prompts. Must have 1 to 64 letters, digits, dashes and underscores */
  variable: string
  /** Fewest digits */
  min?: number | undefined
  /** Most digits; 20 unless told */
  max?: number | undefined
  /** What the digits must fit: characters, classes such as \d or [a-z], alternatives with |, and at most two of * + ? {n,m}, without groups */
  pattern?: string | undefined
  /** Keeps what was typed out of traces and events; only your servers are told */
  mask?: boolean | undefined
  /** One of menu, a destination, webhook, set with then, repeat and back */
  next: {
  /** Key of the menu that comes next. Must have 1 to 64 letters, digits, dashes and underscores */
  menu?: string | undefined
  /** Asked for a list of actions */
  webhook?: string | undefined
  /** True: the menu is said again */
  repeat?: true | undefined
  /** True: the menu before */
  back?: true | undefined
  /** Variables of the call by name, for `{{name}}` in prompts and for conditions of routing rules */
  set?: Record<string, string | number | boolean> | undefined
  /** Where the call goes; decides which of the fields below is needed */
  type?: 'queue' | 'ivr' | 'agent' | 'phone' | 'sip' | 'application' | 'voicemail' | 'message' | 'hangup' | undefined
  /** Of a queue, an IVR or an agent */
  id?: string | undefined
  /** Of a phone. Must be E.164, such as +254711000001 */
  number?: string | undefined
  /** Of a SIP phone. Must be a SIP URI, such as sip:ada@example.org */
  uri?: string | undefined
  /** Of an application: asked for the flow */
  answer_url?: string | undefined
  /** Spoken, of a message or before a voicemail */
  text?: string | undefined
  /** What is spoken and understood, such as `sw-KE`; that of what it belongs to, and in the end `en-US`, unless told */
  language?: 'en-NG' | 'en-KE' | 'en-ZA' | 'en-US' | 'fr-SN' | 'fr-FR' | 'ar-EG' | 'ar-001' | 'sw-KE' | 'am-ET' | 'ha-NG' | 'yo-NG' | 'ig-NG' | 'zu-ZA' | 'xh-ZA' | 'af-ZA' | 'so-SO' | 'wo-SN' | 'pt-AO' | undefined
  /** Where it goes on after `set` */
  then?: {
  /** Key of the menu that comes next. Must have 1 to 64 letters, digits, dashes and underscores */
  menu?: string | undefined
  /** Asked for a list of actions */
  webhook?: string | undefined
  /** True: the menu is said again */
  repeat?: true | undefined
  /** True: the menu before */
  back?: true | undefined
  /** Variables of the call by name, for `{{name}}` in prompts and for conditions of routing rules */
  set?: Record<string, string | number | boolean> | undefined
  /** Where the call goes; decides which of the fields below is needed */
  type?: 'queue' | 'ivr' | 'agent' | 'phone' | 'sip' | 'application' | 'voicemail' | 'message' | 'hangup' | undefined
  /** Of a queue, an IVR or an agent */
  id?: string | undefined
  /** Of a phone. Must be E.164, such as +254711000001 */
  number?: string | undefined
  /** Of a SIP phone. Must be a SIP URI, such as sip:ada@example.org */
  uri?: string | undefined
  /** Of an application: asked for the flow */
  answer_url?: string | undefined
  /** Spoken, of a message or before a voicemail */
  text?: string | undefined
  /** What is spoken and understood, such as `sw-KE`; that of what it belongs to, and in the end `en-US`, unless told */
  language?: 'en-NG' | 'en-KE' | 'en-ZA' | 'en-US' | 'fr-SN' | 'fr-FR' | 'ar-EG' | 'ar-001' | 'sw-KE' | 'am-ET' | 'ha-NG' | 'yo-NG' | 'ig-NG' | 'zu-ZA' | 'xh-ZA' | 'af-ZA' | 'so-SO' | 'wo-SN' | 'pt-AO' | undefined
} | undefined
}
} | undefined
  /** What becomes of a caller who does not choose, or chooses what is not there */
  on_timeout?: {
  /** How often the menu is tried again before `action`. Must be 0 to 10; 2 unless told */
  retries?: number | undefined
  /** What is said */
  prompt?: {
  /** `{{variable}}` is filled in */
  text?: string | undefined
  /** What is spoken and understood, such as `sw-KE`; that of what it belongs to, and in the end `en-US`, unless told */
  language?: 'en-NG' | 'en-KE' | 'en-ZA' | 'en-US' | 'fr-SN' | 'fr-FR' | 'ar-EG' | 'ar-001' | 'sw-KE' | 'am-ET' | 'ha-NG' | 'yo-NG' | 'ig-NG' | 'zu-ZA' | 'xh-ZA' | 'af-ZA' | 'so-SO' | 'wo-SN' | 'pt-AO' | undefined
  /** A sound in place of the text */
  url?: string | undefined
} | undefined
  /** One of menu, a destination, webhook, set with then, repeat and back */
  action?: {
  /** Key of the menu that comes next. Must have 1 to 64 letters, digits, dashes and underscores */
  menu?: string | undefined
  /** Asked for a list of actions */
  webhook?: string | undefined
  /** True: the menu is said again */
  repeat?: true | undefined
  /** True: the menu before */
  back?: true | undefined
  /** Variables of the call by name, for `{{name}}` in prompts and for conditions of routing rules */
  set?: Record<string, string | number | boolean> | undefined
  /** Where the call goes; decides which of the fields below is needed */
  type?: 'queue' | 'ivr' | 'agent' | 'phone' | 'sip' | 'application' | 'voicemail' | 'message' | 'hangup' | undefined
  /** Of a queue, an IVR or an agent */
  id?: string | undefined
  /** Of a phone. Must be E.164, such as +254711000001 */
  number?: string | undefined
  /** Of a SIP phone. Must be a SIP URI, such as sip:ada@example.org */
  uri?: string | undefined
  /** Of an application: asked for the flow */
  answer_url?: string | undefined
  /** Spoken, of a message or before a voicemail */
  text?: string | undefined
  /** What is spoken and understood, such as `sw-KE`; that of what it belongs to, and in the end `en-US`, unless told */
  language?: 'en-NG' | 'en-KE' | 'en-ZA' | 'en-US' | 'fr-SN' | 'fr-FR' | 'ar-EG' | 'ar-001' | 'sw-KE' | 'am-ET' | 'ha-NG' | 'yo-NG' | 'ig-NG' | 'zu-ZA' | 'xh-ZA' | 'af-ZA' | 'so-SO' | 'wo-SN' | 'pt-AO' | undefined
  /** Where it goes on after `set` */
  then?: {
  /** Key of the menu that comes next. Must have 1 to 64 letters, digits, dashes and underscores */
  menu?: string | undefined
  /** Asked for a list of actions */
  webhook?: string | undefined
  /** True: the menu is said again */
  repeat?: true | undefined
  /** True: the menu before */
  back?: true | undefined
  /** Variables of the call by name, for `{{name}}` in prompts and for conditions of routing rules */
  set?: Record<string, string | number | boolean> | undefined
  /** Where the call goes; decides which of the fields below is needed */
  type?: 'queue' | 'ivr' | 'agent' | 'phone' | 'sip' | 'application' | 'voicemail' | 'message' | 'hangup' | undefined
  /** Of a queue, an IVR or an agent */
  id?: string | undefined
  /** Of a phone. Must be E.164, such as +254711000001 */
  number?: string | undefined
  /** Of a SIP phone. Must be a SIP URI, such as sip:ada@example.org */
  uri?: string | undefined
  /** Of an application: asked for the flow */
  answer_url?: string | undefined
  /** Spoken, of a message or before a voicemail */
  text?: string | undefined
  /** What is spoken and understood, such as `sw-KE`; that of what it belongs to, and in the end `en-US`, unless told */
  language?: 'en-NG' | 'en-KE' | 'en-ZA' | 'en-US' | 'fr-SN' | 'fr-FR' | 'ar-EG' | 'ar-001' | 'sw-KE' | 'am-ET' | 'ha-NG' | 'yo-NG' | 'ig-NG' | 'zu-ZA' | 'xh-ZA' | 'af-ZA' | 'so-SO' | 'wo-SN' | 'pt-AO' | undefined
} | undefined
} | undefined
} | undefined
  /** What becomes of a caller who does not choose, or chooses what is not there */
  on_invalid?: {
  /** How often the menu is tried again before `action`. Must be 0 to 10; 2 unless told */
  retries?: number | undefined
  /** What is said */
  prompt?: {
  /** `{{variable}}` is filled in */
  text?: string | undefined
  /** What is spoken and understood, such as `sw-KE`; that of what it belongs to, and in the end `en-US`, unless told */
  language?: 'en-NG' | 'en-KE' | 'en-ZA' | 'en-US' | 'fr-SN' | 'fr-FR' | 'ar-EG' | 'ar-001' | 'sw-KE' | 'am-ET' | 'ha-NG' | 'yo-NG' | 'ig-NG' | 'zu-ZA' | 'xh-ZA' | 'af-ZA' | 'so-SO' | 'wo-SN' | 'pt-AO' | undefined
  /** A sound in place of the text */
  url?: string | undefined
} | undefined
  /** One of menu, a destination, webhook, set with then, repeat and back */
  action?: {
  /** Key of the menu that comes next. Must have 1 to 64 letters, digits, dashes and underscores */
  menu?: string | undefined
  /** Asked for a list of actions */
  webhook?: string | undefined
  /** True: the menu is said again */
  repeat?: true | undefined
  /** True: the menu before */
  back?: true | undefined
  /** Variables of the call by name, for `{{name}}` in prompts and for conditions of routing rules */
  set?: Record<string, string | number | boolean> | undefined
  /** Where the call goes; decides which of the fields below is needed */
  type?: 'queue' | 'ivr' | 'agent' | 'phone' | 'sip' | 'application' | 'voicemail' | 'message' | 'hangup' | undefined
  /** Of a queue, an IVR or an agent */
  id?: string | undefined
  /** Of a phone. Must be E.164, such as +254711000001 */
  number?: string | undefined
  /** Of a SIP phone. Must be a SIP URI, such as sip:ada@example.org */
  uri?: string | undefined
  /** Of an application: asked for the flow */
  answer_url?: string | undefined
  /** Spoken, of a message or before a voicemail */
  text?: string | undefined
  /** What is spoken and understood, such as `sw-KE`; that of what it belongs to, and in the end `en-US`, unless told */
  language?: 'en-NG' | 'en-KE' | 'en-ZA' | 'en-US' | 'fr-SN' | 'fr-FR' | 'ar-EG' | 'ar-001' | 'sw-KE' | 'am-ET' | 'ha-NG' | 'yo-NG' | 'ig-NG' | 'zu-ZA' | 'xh-ZA' | 'af-ZA' | 'so-SO' | 'wo-SN' | 'pt-AO' | undefined
  /** Where it goes on after `set` */
  then?: {
  /** Key of the menu that comes next. Must have 1 to 64 letters, digits, dashes and underscores */
  menu?: string | undefined
  /** Asked for a list of actions */
  webhook?: string | undefined
  /** True: the menu is said again */
  repeat?: true | undefined
  /** True: the menu before */
  back?: true | undefined
  /** Variables of the call by name, for `{{name}}` in prompts and for conditions of routing rules */
  set?: Record<string, string | number | boolean> | undefined
  /** Where the call goes; decides which of the fields below is needed */
  type?: 'queue' | 'ivr' | 'agent' | 'phone' | 'sip' | 'application' | 'voicemail' | 'message' | 'hangup' | undefined
  /** Of a queue, an IVR or an agent */
  id?: string | undefined
  /** Of a phone. Must be E.164, such as +254711000001 */
  number?: string | undefined
  /** Of a SIP phone. Must be a SIP URI, such as sip:ada@example.org */
  uri?: string | undefined
  /** Of an application: asked for the flow */
  answer_url?: string | undefined
  /** Spoken, of a message or before a voicemail */
  text?: string | undefined
  /** What is spoken and understood, such as `sw-KE`; that of what it belongs to, and in the end `en-US`, unless told */
  language?: 'en-NG' | 'en-KE' | 'en-ZA' | 'en-US' | 'fr-SN' | 'fr-FR' | 'ar-EG' | 'ar-001' | 'sw-KE' | 'am-ET' | 'ha-NG' | 'yo-NG' | 'ig-NG' | 'zu-ZA' | 'xh-ZA' | 'af-ZA' | 'so-SO' | 'wo-SN' | 'pt-AO' | undefined
} | undefined
} | undefined
} | undefined
}>
  /** Variables that calls begin with, for `{{name}}` in prompts and for conditions of routing rules */
  variables: Record<string, string | number | boolean>
  business_hours_id: string | null
  closed: CallDestination | null
  /** When it was made */
  created_at: string
  /** When it was last changed */
  updated_at: string
}

export type JobAction = {
  /** Id of the job, such as `job_…` */
  id: string
  /** `queued`: it runs again; `discarded`: it is gone */
  status: 'queued' | 'discarded'
}

export type Limits = {
  /** Decides the limits of the account */
  plan: string
  /** Each limit as it stands now */
  limits: {
  /** `key`, or `plan-` and the area */
  policy: string
  /** Requests in a window */
  limit: number
  /** Length of a window, in seconds */
  window: number
  /** Requests left in this window */
  remaining: number
  /** When all of them are there again */
  resets_at: string
}[]
}

export type ListenedDelivery = {
  /** The headers of the request */
  headers: Record<string, string>
  /** Its body, exactly: what is signed */
  body: string
}

export type MessengerAccepted = {
  /** Always `messenger`, for clients of the Cloud API */
  messaging_product: 'messenger'
  /** Id of the message, such as `mmsg_…` */
  message_id: string
  /** Who gets it, in E.164 */
  to: string
  /** It was accepted; what becomes of it is told by messenger.status */
  status: 'accepted'
  /** What was sent; `template` where `fallback_template` went instead */
  type: 'template' | 'text' | 'image' | 'video' | 'audio' | 'document' | 'interactive'
  /** The recipient once more, where clients of the Cloud API look for it */
  contacts: {
  /** As you sent it */
  input: string
  /** The user’s id in the messenger */
  wa_id: string
}[]
  /** The message_id once more, where clients of the Cloud API look for it */
  messages: {
  /** The message_id */
  id: string
}[]
  /** In major units of `currency` */
  cost: number
  /** Of the cost */
  currency: string
  /** When it was accepted */
  timestamp: string
}

export type MessengerChannel = {
  /** Id of the channel, such as `mch_…` */
  id: string
  /** Whose channel it is, such as `acc_…` */
  account_id: string
  /** As it was named */
  name: string
  /** Where the provider’s API is */
  base_url: string
  /** What the provider calls the number */
  phone_number_id: string
  /** Under which templates are registered */
  business_id: string
  /** What users see, digits without a plus */
  display_number: string
  /** To be entered as the webhook at the provider */
  ingress_url: string
  /** When it was connected */
  created_at: string
}

export type MessengerChannelCreate = {
  /** Whose number it is */
  account_id: string
  /** By which you tell it from other numbers */
  name: string
  /** Where the provider’s API is. Must be a URL without a path, such as https://graph.facebook.com */
  base_url: string
  /** Stands in the address that messages are posted to. Must be the id that the provider gave the number */
  phone_number_id: string
  /** Under which templates are registered. Must be the id of the business account */
  business_id: string
  /** What users see, without a plus: 254711000001. Must be the digits of the number */
  display_number: string
  /** With which messages are sent */
  token: string
  /** With which the provider signs its calls */
  app_secret: string
  /** With which the provider asks for the challenge */
  verify_token: string
}

export type MessengerConversation = {
  /** The number again */
  id: string
  /** The user, in E.164 */
  phone: string
  name: string | null
  /** Whether messages other than templates may be sent now */
  window_open: boolean
  window_expires_at: string | null
  last_inbound_at: string | null
  /** They do not want messages */
  opted_out: boolean
}

export type MessengerInboundMessage = {
  /** The user’s number, without a plus */
  from: string
  /** Id of the message, such as `mmsg_…` */
  id: string
  /** Epoch seconds, as a text */
  timestamp: string
  /** Kind of content: the field of this name has it */
  type: 'text' | 'image' | 'video' | 'audio' | 'document' | 'sticker' | 'interactive' | 'button' | 'location' | 'contacts' | 'reaction' | 'unsupported'
  /** A written message */
  text?: {
  /** What the user wrote */
  body: string
} | undefined
  image?: MessengerMedia | undefined
  video?: MessengerMedia | undefined
  audio?: MessengerMedia | undefined
  document?: MessengerMedia | undefined
  sticker?: MessengerMedia | undefined
  /** An answer to buttons or a list of yours */
  interactive?: {
  /** Whether a button was pressed or a row chosen */
  type: 'button_reply' | 'list_reply'
  /** What the user chose */
  button_reply?: {
  /** As you gave it with the button or row */
  id: string
  /** What stands on it */
  title: string
  /** What stands below the title of a row */
  description?: string | undefined
} | undefined
  /** What the user chose */
  list_reply?: {
  /** As you gave it with the button or row */
  id: string
  /** What stands on it */
  title: string
  /** What stands below the title of a row */
  description?: string | undefined
} | undefined
} | undefined
  /** A button of a template that was pressed */
  button?: {
  /** As you gave it with the button */
  payload: string
  /** What stands on it */
  text: string
} | undefined
  /** A place */
  location?: {
  /** Degrees, north positive */
  latitude: number
  /** Degrees, east positive */
  longitude: number
  /** What the place is called */
  name?: string | undefined
  /** In one line */
  address?: string | undefined
} | undefined
  /** Cards of people, as the provider passes them on */
  contacts?: unknown[] | undefined
  /** A reaction to a message */
  reaction?: {
  /** The message that the user reacts to */
  message_id: string
  /** What they chose; empty where they took it back */
  emoji: string
} | undefined
  /** Present in an answer to a message */
  context?: {
  /** The message it answers */
  id: string
} | undefined
}

/** A file that the user sent */
export type MessengerMedia = {
  /** Media id to download it with */
  id: string
  /** Such as image/jpeg */
  mime_type: string
  /** Of the file, as the provider says */
  sha256: string
  /** What the user wrote below it */
  caption?: string | undefined
  /** What it is called on the user’s phone */
  filename?: string | undefined
}

export type MessengerMediaRecord = {
  /** What messages name it by */
  media_id: string
  /** Content type */
  type: string
  expires_at: string | null
  /** Of the file, in hexadecimal */
  sha256: string
  /** Bytes */
  file_size: number
  filename: string | null
}

export type MessengerMessage = {
  /** Id of the message, such as `mmsg_…` */
  message_id: string
  /** Who has it, in E.164 */
  to: string
  /** Who wrote it, in E.164 */
  from: string
  /** `outbound` from you, `inbound` from a user */
  direction: 'outbound' | 'inbound'
  /** Which of the fields below it is */
  type: string
  /** What was sent or came in; only where `type` is the name of this field */
  text?: unknown | undefined
  /** What was sent or came in; only where `type` is the name of this field */
  image?: unknown | undefined
  /** What was sent or came in; only where `type` is the name of this field */
  video?: unknown | undefined
  /** What was sent or came in; only where `type` is the name of this field */
  audio?: unknown | undefined
  /** What was sent or came in; only where `type` is the name of this field */
  document?: unknown | undefined
  /** What was sent or came in; only where `type` is the name of this field */
  sticker?: unknown | undefined
  /** What was sent or came in; only where `type` is the name of this field */
  interactive?: unknown | undefined
  /** What was sent or came in; only where `type` is the name of this field */
  button?: unknown | undefined
  /** What was sent or came in; only where `type` is the name of this field */
  location?: unknown | undefined
  /** What was sent or came in; only where `type` is the name of this field */
  contacts?: unknown | undefined
  /** What was sent or came in; only where `type` is the name of this field */
  reaction?: unknown | undefined
  /** Which template was sent */
  template?: {
  /** Name of the template */
  name: string
  /** Such as `en` */
  language: string
} | undefined
  context: {
  /** Its id, such as `mmsg_…` */
  message_id: string
} | null
  /** How far it came; `received` is one of a user */
  status: 'accepted' | 'sent' | 'delivered' | 'read' | 'failed' | 'received'
  /** When you sent it, or it came in */
  accepted_at: string
  sent_at: string | null
  delivered_at: string | null
  read_at: string | null
  failed_at: string | null
  errors: (({
  /** As in the Cloud API, such as 131047 */
  code: number
  /** In a few words */
  title: string
  /** What to do about it */
  message: string
  /** What is known beyond that */
  error_data: {
  /** What to do about it */
  details: string
  /** The provider’s own code */
  provider_code?: number | undefined
}
})[]) | null
  /** Your own notes, such as `{"order": "1042"}`: stored, and repeated in replies and events. Must be an object of at most 50 names of 1 to 40 characters, with text of at most 500 characters, numbers or booleans, 8 KiB in all */
  metadata: Record<string, string | number | boolean>
  conversation: ({
  /** The user’s number */
  id: string
  /** What it is priced as */
  category: string
  window_expires_at: string | null
}) | null
  fallback_message_id: string | null
  /** In major units of `currency` */
  cost: number
  currency: string | null
  provider_id: string | null
}

export type MessengerMessageEvent = {
  /** Always this */
  object: 'messenger_business_account'
  /** One for your account */
  entry: {
  /** Your account */
  id: string
  /** What happened; `value` holds it */
  changes: {
  /** Always this */
  field: 'messages'
  /** Who wrote what */
  value: {
  /** Always this */
  messaging_product: 'messenger'
  /** The channel it came over */
  metadata: {
  /** Your number, as users see it */
  display_phone_number: string
  /** Id of that number at the provider */
  phone_number_id: string
}
  /** Who wrote */
  contacts: {
  /** As users show themselves */
  profile: {
  /** As the user calls themself */
  name: string
}
  /** The user’s number, without a plus */
  wa_id: string
}[]
  /** What they wrote */
  messages: MessengerInboundMessage[]
}
}[]
}[]
}

export type MessengerMessageStatus = {
  /** Id of the message, such as `mmsg_…` */
  id: string
  /** How far the message came */
  status: 'sent' | 'delivered' | 'read' | 'failed'
  /** Epoch seconds, as a text */
  timestamp: string
  /** The user’s number, without a plus */
  recipient_id: string
  /** Why it failed */
  errors?: ({
  /** For programs, such as 131047 */
  code: number
  /** What the code means */
  title: string
  /** The same in a sentence */
  message: string
  /** More about it */
  error_data?: {
  /** What exactly was wrong */
  details: string
  /** The code as the provider gave it */
  provider_code?: number | undefined
} | undefined
})[] | undefined
  /** Whom it is with */
  conversation?: {
  /** The user’s number */
  id: string
  /** What it is priced as */
  category?: string | undefined
} | undefined
  /** What it costs by */
  pricing?: {
  /** Whether it is charged */
  billable: boolean
  /** What it is priced as, such as `utility` */
  category: string
} | undefined
  /** Your own notes, such as `{"order": "1042"}`: stored, and repeated in replies and events. Must be an object of at most 50 names of 1 to 40 characters, with text of at most 500 characters, numbers or booleans, 8 KiB in all */
  metadata?: Record<string, string | number | boolean> | undefined
}

export type MessengerOptIn = {
  /** The user, in E.164 */
  phone: string
  /** `opted_in` or `opted_out` */
  status: string
  opted_in_at: string | null
  opted_out_at: string | null
  source: string | null
}

export type MessengerSend = {
  /** Accepted and ignored */
  messaging_product?: string | undefined
  /** Accepted and ignored */
  recipient_type?: string | undefined
  /** Who gets it. Must be E.164, such as +254711000001 */
  to: string
  /** Which of the fields below it is */
  type: 'template' | 'text' | 'image' | 'video' | 'audio' | 'document' | 'interactive'
  /** Only to users who wrote to you within the last 24 hours */
  text?: {
  /** What the user reads. Must have 1 to 4096 characters */
  body: string
  /** Show a preview of the first link in it; false unless given */
  preview_url?: boolean | undefined
} | undefined
  /** A picture of at most 5 MB, by link or by id */
  image?: {
  /** An https:// URL from which it is fetched */
  link?: string | undefined
  /** A media_id */
  id?: string | undefined
  /** What stands below it; audio has none. Must have 1 to 1024 characters */
  caption?: string | undefined
} | undefined
  /** A video of at most 16 MB, by link or by id */
  video?: {
  /** An https:// URL from which it is fetched */
  link?: string | undefined
  /** A media_id */
  id?: string | undefined
  /** What stands below it; audio has none. Must have 1 to 1024 characters */
  caption?: string | undefined
} | undefined
  /** A sound of at most 16 MB, by link or by id */
  audio?: {
  /** An https:// URL from which it is fetched */
  link?: string | undefined
  /** A media_id */
  id?: string | undefined
  /** What stands below it; audio has none. Must have 1 to 1024 characters */
  caption?: string | undefined
} | undefined
  /** A file of at most 100 MB, by link or by id */
  document?: {
  /** An https:// URL from which it is fetched */
  link?: string | undefined
  /** A media_id */
  id?: string | undefined
  /** What stands below it; audio has none. Must have 1 to 1024 characters */
  caption?: string | undefined
  /** What it is called in the chat, with its extension. Must have 1 to 240 characters */
  filename?: string | undefined
} | undefined
  /** A question with buttons or a list; the answer comes as messenger.message */
  interactive?: {
  /** Up to 3 buttons, or a list of up to 10 rows that a button opens */
  type: 'button' | 'list'
  /** What stands above the message */
  header?: {
  /** The only kind there is */
  type: 'text'
  /** A bold line above the message. Must have 1 to 60 characters */
  text: string
} | undefined
  /** What the user is asked */
  body: {
  /** The message itself. Must have 1 to 1024 characters */
  text: string
}
  /** What stands below the message */
  footer?: {
  /** A grey line below the message. Must have 1 to 60 characters */
  text: string
} | undefined
  /** What the user can choose */
  action: {
  /** Needed where `type` is `button`. Must have 1 to 3 buttons */
  buttons?: {
  /** The only kind there is */
  type: 'reply'
  /** What it says, and what it answers with */
  reply: {
  /** What you get back when it is pressed; different in every button. Must have 1 to 256 characters */
  id: string
  /** What stands on it; different on every button. Must have 1 to 19 characters */
  title: string
}
}[] | undefined
  /** What stands on the button that opens the list; needed where `type` is `list`. Must have 1 to 20 characters */
  button?: string | undefined
  /** Needed where `type` is `list`. Must have 1 to 10 sections of 1 to 10 rows */
  sections?: ({
  /** Heading of the rows; needed where there are several sections. Must have 1 to 24 characters */
  title?: string | undefined
  /** What can be chosen; at most 10 in all sections together */
  rows: ({
  /** What you get back when it is chosen; different in every row. Must have 1 to 200 characters */
  id: string
  /** What the user chooses by. Must have 1 to 24 characters */
  title: string
  /** A smaller line below the title. Must have 1 to 72 characters */
  description?: string | undefined
})[]
})[] | undefined
}
} | undefined
  /** A template of yours; the only type that reaches users who have not written */
  template?: {
  /** Name of an approved template of yours */
  name: string
  /** Language of the template, such as `en`, `sw` or `en_US` */
  language: string | {
  /** Language of the template, such as `en`, `sw` or `en_US` */
  code: string
}
  /** Values for the parts that have placeholders; left out where none has */
  components?: ({
  /** Which part of the template the values are for */
  type: 'header' | 'body' | 'button'
  /** Kind of the button: one that answers with a payload, or one whose address ends with a text */
  sub_type?: 'quick_reply' | 'url' | undefined
  /** Which button, counted from 0 */
  index?: number | string | undefined
  /** Values of its placeholders in the order {{1}}, {{2}}; as many as there are placeholders */
  parameters?: ({
  /** Which of the fields below it is */
  type: 'text' | 'currency' | 'date_time' | 'image' | 'video' | 'document' | 'payload'
  /** What stands in place of the placeholder. Must have 1 to 1024 characters */
  text?: string | undefined
  /** What you get back when the button is pressed; users do not see it. Must have 1 to 256 characters */
  payload?: string | undefined
  /** An amount of money */
  currency?: {
  /** How it is written, such as `KES 1,500`. Must have 1 to 100 characters */
  fallback_value: string
  /** ISO 4217, such as KES */
  code: string
  /** The amount times 1000: 1500000 for 1,500.00 */
  amount_1000: number
} | undefined
  /** A day or time */
  date_time?: {
  /** How it is written, such as `1 March, 9:15`. Must have 1 to 100 characters */
  fallback_value: string
} | undefined
  /** Picture of the header, by link or by id */
  image?: {
  /** An https:// URL from which it is fetched */
  link?: string | undefined
  /** A media_id */
  id?: string | undefined
  /** What stands below it; audio has none. Must have 1 to 1024 characters */
  caption?: string | undefined
} | undefined
  /** Video of the header, by link or by id */
  video?: {
  /** An https:// URL from which it is fetched */
  link?: string | undefined
  /** A media_id */
  id?: string | undefined
  /** What stands below it; audio has none. Must have 1 to 1024 characters */
  caption?: string | undefined
} | undefined
  /** Document of the header, by link or by id */
  document?: {
  /** An https:// URL from which it is fetched */
  link?: string | undefined
  /** A media_id */
  id?: string | undefined
  /** What stands below it; audio has none. Must have 1 to 1024 characters */
  caption?: string | undefined
  /** What it is called in the chat, with its extension. Must have 1 to 240 characters */
  filename?: string | undefined
} | undefined
})[] | undefined
})[] | undefined
} | undefined
  /** Shows it as an answer to a message of the chat */
  context?: {
  /** What it answers */
  message_id: string
} | undefined
  /** Sent instead while the user has not written for 24 hours */
  fallback_template?: {
  /** Name of an approved template of yours */
  name: string
  /** Language of the template, such as `en`, `sw` or `en_US` */
  language: string | {
  /** Language of the template, such as `en`, `sw` or `en_US` */
  code: string
}
  /** Values for the parts that have placeholders; left out where none has */
  components?: ({
  /** Which part of the template the values are for */
  type: 'header' | 'body' | 'button'
  /** Kind of the button: one that answers with a payload, or one whose address ends with a text */
  sub_type?: 'quick_reply' | 'url' | undefined
  /** Which button, counted from 0 */
  index?: number | string | undefined
  /** Values of its placeholders in the order {{1}}, {{2}}; as many as there are placeholders */
  parameters?: ({
  /** Which of the fields below it is */
  type: 'text' | 'currency' | 'date_time' | 'image' | 'video' | 'document' | 'payload'
  /** What stands in place of the placeholder. Must have 1 to 1024 characters */
  text?: string | undefined
  /** What you get back when the button is pressed; users do not see it. Must have 1 to 256 characters */
  payload?: string | undefined
  /** An amount of money */
  currency?: {
  /** How it is written, such as `KES 1,500`. Must have 1 to 100 characters */
  fallback_value: string
  /** ISO 4217, such as KES */
  code: string
  /** The amount times 1000: 1500000 for 1,500.00 */
  amount_1000: number
} | undefined
  /** A day or time */
  date_time?: {
  /** How it is written, such as `1 March, 9:15`. Must have 1 to 100 characters */
  fallback_value: string
} | undefined
  /** Picture of the header, by link or by id */
  image?: {
  /** An https:// URL from which it is fetched */
  link?: string | undefined
  /** A media_id */
  id?: string | undefined
  /** What stands below it; audio has none. Must have 1 to 1024 characters */
  caption?: string | undefined
} | undefined
  /** Video of the header, by link or by id */
  video?: {
  /** An https:// URL from which it is fetched */
  link?: string | undefined
  /** A media_id */
  id?: string | undefined
  /** What stands below it; audio has none. Must have 1 to 1024 characters */
  caption?: string | undefined
} | undefined
  /** Document of the header, by link or by id */
  document?: {
  /** An https:// URL from which it is fetched */
  link?: string | undefined
  /** A media_id */
  id?: string | undefined
  /** What stands below it; audio has none. Must have 1 to 1024 characters */
  caption?: string | undefined
  /** What it is called in the chat, with its extension. Must have 1 to 240 characters */
  filename?: string | undefined
} | undefined
})[] | undefined
})[] | undefined
} | undefined
  /** What goes by SMS when the message does not arrive */
  fallback?: {
  /** The only one there is */
  channel: 'sms'
  /** Sender of the text */
  from: string
  /** What the text says; charged by its segments. Must have 1 to 1530 characters */
  message: string
  /** Seconds after which a message that is not delivered goes on by SMS; without it, only one that failed. Must be 10 to 86400 seconds */
  after?: number | undefined
} | undefined
  /** True: refused with 131051 unless the user opted in */
  require_opt_in?: boolean | undefined
  /** Your own notes, such as `{"order": "1042"}`: stored, and repeated in replies and events. Must be an object of at most 50 names of 1 to 40 characters, with text of at most 500 characters, numbers or booleans, 8 KiB in all */
  metadata?: Record<string, string | number | boolean> | undefined
  /** Gets the statuses of this message */
  callback_url?: string | undefined
  /** Your own id of the message, never used before. Must be 1 to 255 visible ASCII characters */
  reference?: string | undefined
}

export type MessengerStatusEvent = {
  /** Always this */
  object: 'messenger_business_account'
  /** One for your account */
  entry: {
  /** Your account */
  id: string
  /** What happened; `value` holds it */
  changes: {
  /** Always this */
  field: 'messages'
  /** What became of which */
  value: {
  /** Always this */
  messaging_product: 'messenger'
  /** The channel it came over */
  metadata: {
  /** Your number, as users see it */
  display_phone_number: string
  /** Id of that number at the provider */
  phone_number_id: string
}
  /** What became of messages of yours */
  statuses: MessengerMessageStatus[]
}
}[]
}[]
}

export type MessengerTemplate = {
  /** Such as `tpl_…` */
  id: string
  /** By which it is sent */
  name: string
  /** Such as `en`, `sw` or `en_US` */
  language: string
  /** UTILITY, MARKETING or AUTHENTICATION */
  category: string
  /** Only an `APPROVED` one can be sent */
  status: 'PENDING' | 'APPROVED' | 'REJECTED' | 'PAUSED' | 'DISABLED'
  /** The parts of the message, as they were given */
  components: unknown[]
  rejected_reason: string | null
  /** How users take it, as the provider says */
  quality: string
  /** When it was made */
  created_at: string
  /** When it, or its status, last changed */
  updated_at: string
}

export type MessengerTemplateAnswer = {
  /** Always `messenger`, for clients of the Cloud API */
  messaging_product?: 'messenger' | undefined
  /** Id of the message, such as `mmsg_…` */
  message_id?: string | undefined
  /** Who gets it, in E.164 */
  to?: string | undefined
  /** accepted, or the state of the template */
  status: string
  /** What was sent; `template` where `fallback_template` went instead */
  type?: 'template' | 'text' | 'image' | 'video' | 'audio' | 'document' | 'interactive' | undefined
  /** The recipient once more, where clients of the Cloud API look for it */
  contacts?: {
  /** As you sent it */
  input: string
  /** The user’s id in the messenger */
  wa_id: string
}[] | undefined
  /** The message_id once more, where clients of the Cloud API look for it */
  messages?: {
  /** The message_id */
  id: string
}[] | undefined
  /** In major units of `currency` */
  cost?: number | undefined
  /** Of the cost */
  currency?: string | undefined
  /** When it was accepted */
  timestamp?: string | undefined
  /** Such as `tpl_…` */
  id?: string | undefined
  /** By which it is sent */
  name?: string | undefined
  /** Such as `en`, `sw` or `en_US` */
  language?: string | undefined
  /** UTILITY, MARKETING or AUTHENTICATION */
  category?: string | undefined
  /** The parts of the message, as they were given */
  components?: unknown[] | undefined
  rejected_reason?: string | null | undefined
  /** How users take it, as the provider says */
  quality?: string | undefined
  /** When it was made */
  created_at?: string | undefined
  /** When it, or its status, last changed */
  updated_at?: string | undefined
}

export type MessengerTemplateCreate = {
  /** By which it is sent; each language of it is a template of its own. Must be 1 to 512 small letters, digits and underscores */
  name: string
  /** What its text is written in. Must be a language such as en, sw or en_US */
  language: string
  /** What it is for, as the provider prices it: news of an order, advertising, or a code */
  category: 'UTILITY' | 'MARKETING' | 'AUTHENTICATION'
  /** The parts of the message. Must have 1 to 4 components */
  components: ({
  /** Which part it is; each at most once, and a `BODY` always */
  type: 'HEADER' | 'BODY' | 'FOOTER' | 'BUTTONS'
  /** With placeholders {{1}}, {{2}}, not at its beginning or end. A header or footer has at most 60 characters. Must have 1 to 1024 characters */
  text?: string | undefined
  /** What a `HEADER` shows; `TEXT` unless given */
  format?: 'TEXT' | 'IMAGE' | 'VIDEO' | 'DOCUMENT' | undefined
  /** What can be tapped; only of a component whose `type` is `BUTTONS` */
  buttons?: ({
  /** Answers you, opens a page, or calls a number; `QUICK_REPLY` does not stand beside the others */
  type: 'QUICK_REPLY' | 'URL' | 'PHONE_NUMBER'
  /** What stands on it */
  text: string
  /** Where `URL` leads, https://; may end with the placeholder {{1}} */
  url?: string | undefined
  /** Whom `PHONE_NUMBER` calls, in E.164 */
  phone_number?: string | undefined
})[] | undefined
  /** Sample values for the placeholders, as the provider’s reviewers want them */
  example?: unknown | undefined
})[]
}

export type MessengerTemplateEvent = {
  /** Id of the template, such as `tpl_…` */
  template_id: string
  /** By which it is sent */
  name: string
  /** Such as `en` */
  language: string
  /** Only an `APPROVED` one can be sent */
  status: 'PENDING' | 'APPROVED' | 'REJECTED' | 'PAUSED' | 'DISABLED'
  reason: string | null
}

export type MessengerThread = {
  /** The number again */
  id: string
  /** The user, in E.164 */
  phone: string
  name: string | null
  /** Whether messages other than templates may be sent now */
  window_open: boolean
  window_expires_at: string | null
  last_inbound_at: string | null
  /** They do not want messages */
  opted_out: boolean
  /** The newest 50, newest first */
  messages: MessengerMessage[]
}

export type MonitorEvent = {
  /** Whose call centre it is, such as `acc_…` */
  account_id: string
  /** Id of the monitoring, such as `mon_…` */
  monitor_id: string
  /** The call that is listened to */
  call_id: string
  supervisor_id: string | null
  /** Heard by nobody, by the agent alone (`whisper`) or by both (`barge`) */
  mode: 'listen' | 'whisper' | 'barge'
  /** `active` once the supervisor hears the call */
  status: 'connecting' | 'active' | 'ended'
  supervisor_call_id: string | null
  /** When it was asked for */
  started_at: string
  ended_at: string | null
}

export type NewApiKey = {
  /** Id of the key, such as `key_…`; not the key itself */
  id: string
  /** By which you tell it from your other keys */
  name: string
  /** Where it works */
  environment: 'test' | 'live'
  /** First 13 characters of the key */
  prefix: string
  /** Last 4 characters of the key */
  last4: string
  /** What it may do */
  scopes: string[]
  /** `expiring` still works, until its grace period ends */
  status: 'active' | 'expiring' | 'revoked' | 'expired'
  /** When it was made */
  created_at: string
  /** Who made it */
  created_by: string
  last_used_at: string | null
  last_used_ip: string | null
  expires_at: string | null
  rotated_from: string | null
  /** 90 days after it was made; a reminder */
  rotation_due_at: string
  /** Addresses and ranges it is accepted from; empty for any */
  allowed_ips: string[]
  rate_limit_per_second: number | null
  exposed_at: string | null
  /** Refuses fields that are not known, unless a request says otherwise */
  strict: boolean
  /** How replies are wrapped, unless a request says otherwise */
  envelope: 'both' | 'flat' | 'data'
  /** The key itself, shown this once */
  key: string
}

export type NewWebhook = {
  /** Id of the webhook, such as `wh_…` */
  id: string
  /** Where events are posted */
  url: string
  /** Names of the events that it gets */
  events: string[]
  /** False: nothing is delivered to it */
  enabled: boolean
  description: string | null
  /** When it was made */
  created_at: string
  /** When it was last changed */
  updated_at: string
  /** One delivery at a time, in the order of events */
  ordered: boolean
  rate_limit: number | null
  /** Only events whose payload has these values */
  filters: Record<string, string | number | boolean>
  /** Names of the custom headers; values are masked */
  headers: Record<string, string>
  disabled_reason: string | null
  secret_activates_at: string | null
  health: WebhookHealth
  /** Signs every delivery; shown this once */
  secret: string
}

export type OpenedAccount = {
  /** Id of the account, such as `acc_…` */
  id: string
  /** As its customers read it */
  name: string
  /** ISO 3166, such as KE */
  country: string
  /** Of its first wallets */
  currency: string
  /** IANA name, such as Africa/Nairobi */
  timezone: string
  /** Decides its limits */
  plan: string
  /** Requests a minute by area; null for no limit */
  limits: {
  email?: number | null | undefined
  identity?: number | null | undefined
  messenger?: number | null | undefined
  payments?: number | null | undefined
  sms?: number | null | undefined
  voice?: number | null | undefined
}
  /** What the account has in place of its plan’s; what is not named is the plan’s */
  allowances: {
  api_keys?: number | null | undefined
  webhooks?: number | null | undefined
  webhook_retention_days?: number | null | undefined
  webhook_concurrency?: number | null | undefined
  sms_weight?: number | null | undefined
}
  /** `suspended`: requests are refused, and jobs wait */
  status: 'active' | 'suspended'
  /** When it was opened */
  created_at: string
  /** A test key with every scope, shown this once */
  test_api_key: string
}

export type OperatorAccount = {
  /** Id of the account, such as `acc_…` */
  id: string
  /** As its customers read it */
  name: string
  /** ISO 3166, such as KE */
  country: string
  /** Of its first wallets */
  currency: string
  /** IANA name, such as Africa/Nairobi */
  timezone: string
  /** Decides its limits */
  plan: string
  /** Requests a minute by area; null for no limit */
  limits: {
  email?: number | null | undefined
  identity?: number | null | undefined
  messenger?: number | null | undefined
  payments?: number | null | undefined
  sms?: number | null | undefined
  voice?: number | null | undefined
}
  /** What the account has in place of its plan’s; what is not named is the plan’s */
  allowances: {
  api_keys?: number | null | undefined
  webhooks?: number | null | undefined
  webhook_retention_days?: number | null | undefined
  webhook_concurrency?: number | null | undefined
  sms_weight?: number | null | undefined
}
  /** `suspended`: requests are refused, and jobs wait */
  status: 'active' | 'suspended'
  /** When it was opened */
  created_at: string
}

export type OperatorAccountDetail = {
  /** Id of the account, such as `acc_…` */
  id: string
  /** As its customers read it */
  name: string
  /** ISO 3166, such as KE */
  country: string
  /** Of its first wallets */
  currency: string
  /** IANA name, such as Africa/Nairobi */
  timezone: string
  /** Decides its limits */
  plan: string
  /** Requests a minute by area; null for no limit */
  limits: {
  email?: number | null | undefined
  identity?: number | null | undefined
  messenger?: number | null | undefined
  payments?: number | null | undefined
  sms?: number | null | undefined
  voice?: number | null | undefined
}
  /** What the account has in place of its plan’s; what is not named is the plan’s */
  allowances: {
  api_keys?: number | null | undefined
  webhooks?: number | null | undefined
  webhook_retention_days?: number | null | undefined
  webhook_concurrency?: number | null | undefined
  sms_weight?: number | null | undefined
}
  /** `suspended`: requests are refused, and jobs wait */
  status: 'active' | 'suspended'
  /** When it was opened */
  created_at: string
  /** One for each environment and currency */
  wallets: ({
  /** Which of its two environments */
  environment: 'test' | 'live'
  /** Of the amounts */
  currency: string
  /** In major units, with what is held */
  balance: number
  /** Set aside for what is not certain yet */
  held: number
  /** How far the balance may go below zero */
  overdraft: number
  /** What can be spent: the balance without what is held, and the overdraft */
  available: number
})[]
}

export type OperatorSmsNumber = {
  /** Who receives on it, such as `acc_…` */
  account_id: string
  /** What handsets write to */
  number: string
  /** Others have keywords on it too */
  shared: boolean
  /** What becomes of messages by their first word */
  keywords: ({
  /** What the message begins with */
  keyword: string
  webhook_url: string | null
  auto_reply: string | null
})[]
  default_webhook_url: string | null
  /** When it was taken */
  created_at: string
  /** When it was last changed */
  updated_at: string
}

export type OperatorSmsSenderId = {
  /** Whose sender it is, such as `acc_…` */
  account_id: string
  /** Id of the sender, such as `snd_…` */
  id: string
  /** What handsets show as `from` */
  sender: string
  /** Senders of `test` are approved at once and reach no handset */
  environment: 'test' | 'live'
  /** Null: all of them */
  countries: string[] | null
  /** What you said you send with it */
  purpose: string
  /** The example that you gave */
  sample: string
  /** Messages go out with an `approved` one only */
  status: 'pending' | 'approved' | 'rejected'
  reason: string | null
  /** When it was asked for */
  created_at: string
  decided_at: string | null
}

export type OperatorVoiceNumber = {
  /** In E.164 */
  number: string
  /** Whose number it is, such as `acc_…` */
  account_id: string
  /** When the account got it */
  assigned_at: string
}

export type OverduePayout = {
  /** Id of the payout, such as `po_…` */
  payout_id: string
  /** `reversed`: a completed one came back, and the wallet has the money again */
  status: 'pending' | 'processing' | 'completed' | 'failed' | 'cancelled' | 'reversed'
  /** As the provider knows it */
  provider_id: string
  /** Whose it is, such as `acc_…` */
  account_id: string
  /** `test` or `live` */
  environment: 'test' | 'live'
  /** Who was asked to pay, such as `mpesa` */
  provider: string
  /** Where the provider is, ISO 3166 */
  country: string
  /** In major units */
  amount: number
  /** Of the amount */
  currency: string
  /** When it was asked for */
  created_at: string
  overdue_at: string | null
}

export type OverdueRefund = {
  /** Id of the refund, such as `re_…` */
  refund_id: string
  /** Id of the payment that it gives back, such as `pay_…` */
  payment_id: string
  /** How far it came */
  status: 'pending' | 'processing' | 'completed' | 'failed'
  /** As the provider knows it */
  provider_id: string
  /** Whose it is, such as `acc_…` */
  account_id: string
  /** `test` or `live` */
  environment: 'test' | 'live'
  /** Who was asked to pay, such as `mpesa` */
  provider: string
  /** Where the provider is, ISO 3166 */
  country: string
  /** In major units */
  amount: number
  /** Of the amount */
  currency: string
  /** When it was asked for */
  created_at: string
  overdue_at: string | null
}

export type OwnedNumber = {
  /** E.164, a short code, or a code that handsets dial */
  number: string
  country: string | null
  /** What it can be used for */
  capabilities: ('voice' | 'sms' | 'ussd' | 'messenger')[]
  /** Others have keywords on it too */
  shared: boolean
  /** When you first had it */
  created_at: string
}

export type PasswordReset = {
  /** Id of the member, such as `mbr_…` */
  id: string
  /** Shown once */
  reset_url: string
  /** Until when the link works */
  expires_at: string
}

/** The payment, with how far it came */
export type Payment = {
  /** Id of the payment, such as `pay_…` */
  payment_id: string
  /** `requires_action` waits for the payer at `redirect_url` */
  status: 'pending' | 'processing' | 'requires_action' | 'completed' | 'failed' | 'cancelled' | 'expired'
  /** In major units */
  amount: number
  /** ISO 4217, such as KES; of all amounts here */
  currency: string
  provider: string | null
  completed_at: string | null
  receipt_url: string | null
  /** How the money moves */
  method: 'mobile_money' | 'card' | 'bank_transfer'
  phone: string | null
  reference: string | null
  description: string | null
  customer: Customer
  /** Your own notes, such as `{"order": "1042"}`: stored, and repeated in replies and events. Must be an object of at most 50 names of 1 to 40 characters, with text of at most 500 characters, numbers or booleans, 8 KiB in all */
  metadata: Record<string, string | number | boolean>
  /** What it cost you, in major units */
  fee: number
  /** What your wallet gets: the amount less the fee */
  net_amount: number
  provider_reference: string | null
  /** By all refunds that did not fail */
  amount_refunded: number
  /** How much of it was given back */
  refund_status: 'none' | 'partial' | 'full'
  /** What was given back of it */
  refunds: Refund[]
  failure_reason: string | null
  failure_message: string | null
  /** How risky it looked; null where it was not judged */
  risk: ({
  /** 0 for none to 100 */
  risk_score: number
  /** The score in a word */
  risk_level: 'low' | 'medium' | 'high' | 'very_high'
  /** What raised it */
  flags: string[]
  /** What became of it by that */
  decision?: 'allow' | 'require_3ds' | 'review' | 'block' | undefined
  /** The rule that decided it */
  rule_id?: string | null | undefined
  /** The check, such as `rsk_…`, that tells more */
  risk_check_id?: string | undefined
}) | null
  /** The money came after the payment had been given up */
  late: boolean
  invoice_id: string | null
  /** The link over which it was paid */
  payment_link_id?: string | undefined
  /** Of a top-up, with what follows, where it is read */
  type?: 'topup' | undefined
  /** Which wallet it fills */
  wallet_id?: string | undefined
  /** What the wallet held with it; null until the money is there */
  new_balance?: number | null | undefined
  /** Of a payment that was disputed */
  dispute_status?: 'open' | 'won' | 'lost' | undefined
  /** Where to send the payer; while that is awaited */
  redirect_url?: string | undefined
  card?: Card | undefined
  /** The card as it was saved */
  card_token?: string | undefined
  /** Until then the money is set aside, to be captured */
  authorised_until?: string | undefined
  /** What was set aside before it was captured */
  amount_authorised?: number | undefined
  bank?: PaymentBank | undefined
  bank_transfer?: BankTransfer | undefined
  /** What the payer dials to see what waits for approval; until the payment is over */
  ussd_code?: string | undefined
  expires_at: string | null
  /** When it was asked for */
  created_at: string
  /** When something last changed */
  updated_at: string
}

export type PaymentActionEvent = {
  /** False in the test environment */
  livemode: boolean
  /** Order of the events of one object, from 1 */
  sequence: number
  /** Id of the payment, such as `pay_…` */
  payment_id: string
  /** `requires_action` waits for the payer at `redirect_url` */
  status: 'pending' | 'processing' | 'requires_action' | 'completed' | 'failed' | 'cancelled' | 'expired'
  /** In major units */
  amount: number
  /** ISO 4217, such as KES; of all amounts here */
  currency: string
  /** Your own notes, such as `{"order": "1042"}`: stored, and repeated in replies and events. Must be an object of at most 50 names of 1 to 40 characters, with text of at most 500 characters, numbers or booleans, 8 KiB in all */
  metadata: Record<string, string | number | boolean>
  customer: Customer
  failure_reason: string | null
  /** Where to send the payer */
  redirect_url: string
  payment: Payment
}

/** The account that is debited */
export type PaymentBank = {
  /** As GET /v1/payments/methods lists it in `banks` */
  bank_code: string
  /** Its last four characters */
  account_number: string
  /** Holder, as you gave it */
  account_name: string
}

export type PaymentDiscrepancy = {
  /** Id of the payment, such as `pay_…` */
  payment_id: string
  /** Whose it is, such as `acc_…` */
  account_id: string
  /** `test` or `live` */
  environment: 'test' | 'live'
  /** `requires_action` waits for the payer at `redirect_url` */
  status: 'pending' | 'processing' | 'requires_action' | 'completed' | 'failed' | 'cancelled' | 'expired'
  /** Who collected it, such as `mpesa` */
  provider: string
  /** Of `asked_amount` */
  currency: string
  /** What the payer was asked for */
  asked_amount: number
  told_amount: number | null
  told_currency: string | null
  told_words: string | null
  provider_reference: string | null
  /** When the difference was found */
  found_at: string
  resolved_at: string | null
  note: string | null
}

export type PaymentDiscrepancyResolved = {
  /** Id of the payment, such as `pay_…` */
  payment_id: string
  /** Whose it is, such as `acc_…` */
  account_id: string
  /** `test` or `live` */
  environment: 'test' | 'live'
  /** `requires_action` waits for the payer at `redirect_url` */
  status: 'pending' | 'processing' | 'requires_action' | 'completed' | 'failed' | 'cancelled' | 'expired'
  /** Who collected it, such as `mpesa` */
  provider: string
  /** Of `asked_amount` */
  currency: string
  /** What the payer was asked for */
  asked_amount: number
  told_amount: number | null
  told_currency: string | null
  told_words: string | null
  provider_reference: string | null
  /** When the difference was found */
  found_at: string
  resolved_at: string | null
  note: string | null
  /** What was done with the money in suspense */
  action: 'none' | 'credit_account' | 'returned_to_payer'
  /** Out of suspense */
  amount_moved: number
  /** Of `amount_moved` */
  currency_moved: string
}

export type PaymentDisputeEvent = {
  /** False in the test environment */
  livemode: boolean
  /** Order of the events of one object, from 1 */
  sequence: number
  /** Id of the payment, such as `pay_…` */
  payment_id: string
  /** `requires_action` waits for the payer at `redirect_url` */
  status: 'pending' | 'processing' | 'requires_action' | 'completed' | 'failed' | 'cancelled' | 'expired'
  /** In major units */
  amount: number
  /** ISO 4217, such as KES; of all amounts here */
  currency: string
  /** Your own notes, such as `{"order": "1042"}`: stored, and repeated in replies and events. Must be an object of at most 50 names of 1 to 40 characters, with text of at most 500 characters, numbers or booleans, 8 KiB in all */
  metadata: Record<string, string | number | boolean>
  customer: Customer
  failure_reason: string | null
  /** Id of the dispute, such as `dsp_…` */
  dispute_id: string
  /** You have `won` or `lost` it once that is decided */
  dispute_status: 'open' | 'won' | 'lost'
  payment: Payment
  dispute: Dispute
}

export type PaymentEvent = {
  /** False in the test environment */
  livemode: boolean
  /** Order of the events of one object, from 1 */
  sequence: number
  /** Id of the payment, such as `pay_…` */
  payment_id: string
  /** `requires_action` waits for the payer at `redirect_url` */
  status: 'pending' | 'processing' | 'requires_action' | 'completed' | 'failed' | 'cancelled' | 'expired'
  /** In major units */
  amount: number
  /** ISO 4217, such as KES; of all amounts here */
  currency: string
  /** Your own notes, such as `{"order": "1042"}`: stored, and repeated in replies and events. Must be an object of at most 50 names of 1 to 40 characters, with text of at most 500 characters, numbers or booleans, 8 KiB in all */
  metadata: Record<string, string | number | boolean>
  customer: Customer
  failure_reason: string | null
  payment: Payment
}

/** The link, with how often it was paid */
export type PaymentLink = {
  /** Id of the link, such as `plink_…` */
  payment_link_id: string
  /** Where it is paid; whoever has it may pay */
  url: string
  /** `completed` once it was paid max_uses times, `inactive` once it was deactivated */
  status: 'active' | 'inactive' | 'expired' | 'completed'
  /** What is paid each time, in major units */
  amount: number
  /** Of the amount */
  currency: string
  /** What the payer reads */
  description: string
  /** Null: all that are offered */
  payment_methods: string[] | null
  /** Null: as often as somebody does */
  max_uses: number | null
  /** Payments over it that were completed */
  uses: number
  /** What these came to; refunds are not taken off */
  amount_collected: number
  redirect_url: string | null
  /** Your own notes, such as `{"order": "1042"}`: stored, and repeated in replies and events. Must be an object of at most 50 names of 1 to 40 characters, with text of at most 500 characters, numbers or booleans, 8 KiB in all */
  metadata: Record<string, string | number | boolean>
  expires_at: string | null
  deactivated_at: string | null
  /** When it was made */
  created_at: string
}

export type PaymentLinkPaidEvent = {
  /** False in the test environment */
  livemode: boolean
  /** Order of the events of one object, from 1 */
  sequence: number
  /** Id of the link, such as `plink_…` */
  payment_link_id: string
  /** Id of the payment, such as `pay_…` */
  payment_id: string
  /** What was paid, in major units */
  amount: number
  /** Of the amount */
  currency: string
  /** How often it was paid, with this one */
  uses: number
  /** It came although the link was paid max_uses times by then, by transfer or late: give it back if you must */
  over_limit: boolean
  /** Your own notes, such as `{"order": "1042"}`: stored, and repeated in replies and events. Must be an object of at most 50 names of 1 to 40 characters, with text of at most 500 characters, numbers or booleans, 8 KiB in all */
  metadata: Record<string, string | number | boolean>
  payment: Payment
  payment_link: PaymentLink
}

export type PaymentMethod = {
  /** What a payment names as `method` */
  method: 'mobile_money' | 'card' | 'bank_transfer'
  /** What a payment names as `provider` */
  provider: string
  /** What payers know it by */
  name: string
  /** Where its payers are */
  countries: string[]
  /** What it takes */
  currencies: string[]
  /** Whether it collects (`in`), pays out (`out`), or both */
  directions: ('in' | 'out')[]
  /** In the one currency; for cards where `currency` is asked for */
  min_amount?: number | undefined
  /** The most it takes at once */
  max_amount?: number | undefined
  /** Amounts have no decimals */
  whole_units_only: boolean
  /** Of a collection, or with `direction=out` of a payout */
  fee?: {
  /** Percent of the amount */
  percent: number
  /** Added to that, in major units */
  fixed: number
  /** Of `fixed` */
  currency: string
} | undefined
  /** `down`: payments by it are refused for now */
  status: 'up' | 'degraded' | 'down'
  /** A picture to show beside the name */
  logo_url: string
  /** What a payer dials to see what waits for approval */
  ussd_code?: string | undefined
  /** Whether the payer is asked on the phone, or sent to `redirect_url` */
  confirms_on?: 'phone' | 'page' | undefined
  /** Cards that are taken */
  brands?: ('visa' | 'mastercard' | 'verve' | 'american-express')[] | undefined
  /** Whether payers prove who they are */
  supports_3ds?: boolean | undefined
  /** Those whose accounts can be reached */
  banks?: {
  /** By which payouts name the bank */
  bank_code: string
  /** As people know it */
  name: string
}[] | undefined
}

export type PaymentProvider = {
  /** Such as `mpesa-ke-live` */
  id: string
  /** Such as `mpesa` */
  provider: string
  /** `test` takes the place of the simulator */
  environment: 'test' | 'live'
  /** Where the account is, ISO 3166 */
  country: string
  /** False: nothing new is sent to it */
  enabled: boolean
  /** As the answering node sees it */
  status: 'up' | 'degraded' | 'down'
  /** When it was entered */
  created_at: string
  /** When it was last changed */
  updated_at: string
  /** Where the provider is asked. Must be a URL such as https://api.safaricom.co.ke */
  base_url?: string | undefined
  /** The paybill number. Must have 4 to 10 digits */
  shortcode?: string | undefined
  /** Who pays out. Must have 1 to 64 visible ASCII characters */
  initiator_name?: string | undefined
  /** The provider’s certificate, for which the password is encrypted. Must be an RSA public key or a certificate with one, as PEM */
  certificate?: string | undefined
  /** The number that payouts are made from. Must have 4 to 10 digits */
  payout_shortcode?: string | undefined
  /** Such as mtnuganda. Must have 3 to 40 small letters, such as mtnuganda */
  target_environment?: string | undefined
  /** The provider’s, for which the PIN is encrypted. Must be an RSA public key or a certificate with one, as PEM */
  payout_public_key?: string | undefined
  /** Such as ci, or dev. Must have 2 or 3 small letters, such as ci */
  webpay_market?: string | undefined
  /** The page that payers are sent to. Must be a URL without a query */
  checkout_url?: string | undefined
  /** Of the merchant. Must have 4 to 32 digits */
  merchant_app_id?: string | undefined
  /** The short code of the merchant. Must have 4 to 10 digits */
  merchant_code?: string | undefined
  /** The part of the path that says which country it is, such as vodacomTZN. Must be such as vodacomTZN */
  open_api_market?: string | undefined
  /** The shortcode. Must have 4 to 12 letters or digits */
  service_provider_code?: string | undefined
  /** The provider’s, for which keys are encrypted. Must be an RSA public key or a certificate with one, as PEM */
  open_api_public_key?: string | undefined
  /** Whether payments are in earnest. Must be live or sandbox */
  ecocash_mode?: string | undefined
}

export type PaymentRefundedEvent = {
  /** False in the test environment */
  livemode: boolean
  /** Order of the events of one object, from 1 */
  sequence: number
  /** Id of the payment, such as `pay_…` */
  payment_id: string
  /** `requires_action` waits for the payer at `redirect_url` */
  status: 'pending' | 'processing' | 'requires_action' | 'completed' | 'failed' | 'cancelled' | 'expired'
  /** In major units */
  amount: number
  /** ISO 4217, such as KES; of all amounts here */
  currency: string
  /** Your own notes, such as `{"order": "1042"}`: stored, and repeated in replies and events. Must be an object of at most 50 names of 1 to 40 characters, with text of at most 500 characters, numbers or booleans, 8 KiB in all */
  metadata: Record<string, string | number | boolean>
  customer: Customer
  failure_reason: string | null
  /** Id of the refund, such as `re_…` */
  refund_id: string
  /** By all refunds that did not fail */
  amount_refunded: number
  /** How much of it was given back */
  refund_status: 'none' | 'partial' | 'full'
  payment: Payment
  refund: Refund
}

export type PaymentStatement = {
  /** Id of the statement, such as `stm_…` */
  id: string
  /** Whose statement it is, such as `mpesa` */
  provider: string
  /** `test` or `live` */
  environment: 'test' | 'live'
  /** Where the account is, ISO 3166 */
  country: string
  /** Of all its amounts */
  currency: string
  /** Which of the money the account holds */
  covers: 'everything' | 'collections' | 'payouts'
  /** `open` until a file came, `matching` while its lines are looked for */
  status: 'open' | 'matching' | 'matched'
  /** That were new */
  lines: number
  /** That an earlier file had brought */
  known_lines: number
  /** That were not complete, or moved nothing */
  skipped_lines: number
  first_at: string | null
  last_at: string | null
  closing_balance: number | null
  closing_at: string | null
  float_balance: number | null
  difference: number | null
  /** When it was opened */
  created_at: string
  matched_at: string | null
}

export type PaymentStatementLine = {
  /** Of the line; of what is on no statement where it is ours_only */
  id: string
  class: ('matched' | 'theirs_only' | 'amount_differs' | 'booked' | 'ours_only') | null
  /** What the line is */
  kind: 'collection' | 'payout' | 'refund' | 'fee' | 'settlement' | 'other'
  /** Whether the money came in or went out */
  direction: 'in' | 'out'
  receipt: string | null
  /** In major units */
  amount: number
  /** Of the amount */
  currency: string
  /** When the money moved */
  occurred_at: string
  phone: string | null
  details: string | null
  matched_by: ('receipt' | 'payer' | 'hand') | null
  account_id: string | null
  payment_id: string | null
  payout_id: string | null
  refund_id: string | null
  booking: ('suspense' | 'fee' | 'bank') | null
}

export type PaymentStatementWhole = {
  /** Id of the statement, such as `stm_…` */
  id: string
  /** Whose statement it is, such as `mpesa` */
  provider: string
  /** `test` or `live` */
  environment: 'test' | 'live'
  /** Where the account is, ISO 3166 */
  country: string
  /** Of all its amounts */
  currency: string
  /** Which of the money the account holds */
  covers: 'everything' | 'collections' | 'payouts'
  /** `open` until a file came, `matching` while its lines are looked for */
  status: 'open' | 'matching' | 'matched'
  /** That were new */
  lines: number
  /** That an earlier file had brought */
  known_lines: number
  /** That were not complete, or moved nothing */
  skipped_lines: number
  first_at: string | null
  last_at: string | null
  closing_balance: number | null
  closing_at: string | null
  float_balance: number | null
  difference: number | null
  /** When it was opened */
  created_at: string
  matched_at: string | null
  /** The new lines by what was found; `ours_only` are payments, payouts and refunds that are on no statement */
  classes: {
  /** Lines that are a payment, payout or refund of the same amount */
  matched: {
  /** How many there are */
  lines: number
  /** Of all of them, in either direction */
  amount: number
  /** What came in less what went out */
  net: number
}
  /** Lines for which nothing of ours was found */
  theirs_only: {
  /** How many there are */
  lines: number
  /** Of all of them, in either direction */
  amount: number
  /** What came in less what went out */
  net: number
}
  /** Lines that are something of ours with another amount */
  amount_differs: {
  /** How many there are */
  lines: number
  /** Of all of them, in either direction */
  amount: number
  /** What came in less what went out */
  net: number
}
  /** Fees of the provider, and settlements to the bank, as the ledger has them */
  booked: {
  /** How many there are */
  lines: number
  /** Of all of them, in either direction */
  amount: number
  /** What came in less what went out */
  net: number
}
  /** Payments, payouts and refunds that are on no statement */
  ours_only: {
  /** How many there are */
  lines: number
  /** Of all of them, in either direction */
  amount: number
  /** What came in less what went out */
  net: number
}
}
}

/** The payout, with how far it came */
export type Payout = {
  /** Id of the payout, such as `po_…` */
  payout_id: string
  /** `reversed`: a completed one came back, and the wallet has the money again */
  status: 'pending' | 'processing' | 'completed' | 'failed' | 'cancelled' | 'reversed'
  /** In major units */
  amount: number
  /** ISO 4217, such as KES; of all amounts here */
  currency: string
  recipient: PayoutRecipient
  /** What it cost you, in major units */
  fee: number
  /** How the money moves */
  method: 'mobile_money' | 'card' | 'bank_transfer'
  provider: string | null
  description: string | null
  reference: string | null
  batch_id: string | null
  /** Your own notes, such as `{"order": "1042"}`: stored, and repeated in replies and events. Must be an object of at most 50 names of 1 to 40 characters, with text of at most 500 characters, numbers or booleans, 8 KiB in all */
  metadata: Record<string, string | number | boolean>
  scheduled_at: string | null
  /** It waits for somebody to approve or reject it */
  in_review: boolean
  /** How risky it looked; null where it was not judged */
  risk: ({
  /** 0 for none to 100 */
  risk_score: number
  /** The score in a word */
  risk_level: 'low' | 'medium' | 'high' | 'very_high'
  /** What raised it */
  flags: string[]
  /** What became of it by that */
  decision?: 'allow' | 'require_3ds' | 'review' | 'block' | undefined
  /** The rule that decided it */
  rule_id?: string | null | undefined
  /** The check, such as `rsk_…`, that tells more */
  risk_check_id?: string | undefined
}) | null
  provider_reference: string | null
  failure_reason: string | null
  failure_message: string | null
  /** When it was asked for */
  created_at: string
  completed_at: string | null
  /** When something last changed */
  updated_at: string
}

/** The bulk of payouts, with its counts */
export type PayoutBatch = {
  /** Id of the bulk, such as `pob_…` */
  batch_id: string
  /** `completed` once every payout is paid or failed */
  status: 'processing' | 'completed' | 'cancelled'
  /** Items that you sent */
  total_count: number
  /** Items that became payouts */
  accepted_count: number
  /** Payouts that were paid */
  completed_count: number
  /** Payouts that failed */
  failed_count: number
  /** Payouts that you cancelled */
  cancelled_count: number
  /** Of all payouts that were accepted */
  total_amount: number
  /** Of all payouts that were accepted */
  total_fee: number
  /** ISO 4217, such as KES; of all amounts here */
  currency: string
  /** When it was asked for */
  created_at: string
}

export type PayoutBatchCompletedEvent = {
  /** False in the test environment */
  livemode: boolean
  /** Order of the events of one object, from 1 */
  sequence: number
  /** Id of the bulk, such as `pob_…` */
  batch_id: string
  /** `cancelled` if you called it off */
  status: 'completed' | 'cancelled'
  /** Items by what became of them */
  counts: {
  /** Items that you sent */
  total: number
  /** Items that became payouts */
  accepted: number
  /** Payouts that were paid */
  completed: number
  /** Payouts that failed */
  failed: number
  /** Payouts that you cancelled */
  cancelled: number
}
  batch: PayoutBatch
}

export type PayoutBatchRecord = {
  /** Id of the bulk, such as `pob_…` */
  batch_id: string
  /** `completed` once every payout is paid or failed */
  status: 'processing' | 'completed' | 'cancelled'
  /** Items that you sent */
  total_count: number
  /** Items that became payouts */
  accepted_count: number
  /** Payouts that were paid */
  completed_count: number
  /** Payouts that failed */
  failed_count: number
  /** Payouts that you cancelled */
  cancelled_count: number
  /** Of all payouts that were accepted */
  total_amount: number
  /** Of all payouts that were accepted */
  total_fee: number
  /** ISO 4217, such as KES; of all amounts here */
  currency: string
  /** When it was asked for */
  created_at: string
  reference: string | null
  description: string | null
  /** Your own notes, such as `{"order": "1042"}`: stored, and repeated in replies and events. Must be an object of at most 50 names of 1 to 40 characters, with text of at most 500 characters, numbers or booleans, 8 KiB in all */
  metadata: Record<string, string | number | boolean>
  /** The items, in your order */
  payouts: ({
  /** Place in your list, from 0 */
  index: number
  payout_id: string | null
  /** `reversed`: a completed one came back, and the wallet has the money again */
  status: 'pending' | 'processing' | 'completed' | 'failed' | 'cancelled' | 'reversed'
  /** In major units */
  amount?: number | undefined
  /** Of the amount */
  currency?: string | undefined
  reference?: string | null | undefined
  failure_reason?: string | null | undefined
  /** Why it was refused */
  error?: {
  /** Such as INVALID_PHONE */
  code: string
  /** The same in words */
  message: string
} | undefined
})[]
  next_cursor: string | null
}

export type PayoutEvent = {
  /** False in the test environment */
  livemode: boolean
  /** Order of the events of one object, from 1 */
  sequence: number
  /** Id of the payout, such as `po_…` */
  payout_id: string
  /** `reversed`: a completed one came back, and the wallet has the money again */
  status: 'pending' | 'processing' | 'completed' | 'failed' | 'cancelled' | 'reversed'
  /** In major units */
  amount: number
  /** ISO 4217, such as KES; of all amounts here */
  currency: string
  recipient: PayoutRecipient
  /** Your own notes, such as `{"order": "1042"}`: stored, and repeated in replies and events. Must be an object of at most 50 names of 1 to 40 characters, with text of at most 500 characters, numbers or booleans, 8 KiB in all */
  metadata: Record<string, string | number | boolean>
  failure_reason: string | null
  payout: Payout
}

/** Who is paid */
export type PayoutRecipient = {
  name: string | null
  /** Where one was given */
  email?: string | undefined
  phone: string | null
  bank: {
  /** As the bank writes it */
  account_number: string
  /** As GET /v1/payments/methods lists it in `banks` */
  bank_code: string
  /** Holder, as you gave it */
  account_name: string
} | null
}

export type Plan = {
  /** Name of the plan, by which accounts are moved to it */
  name: string
  /** Requests a minute by area; null for no limit */
  limits: {
  email?: number | null | undefined
  identity?: number | null | undefined
  messenger?: number | null | undefined
  payments?: number | null | undefined
  sms?: number | null | undefined
  voice?: number | null | undefined
}
  /** When its limits last changed */
  updated_at: string
}

export type Playing = {
  /** Id of the call, such as `call_…` */
  call_id: string
  /** Id of what is played */
  play_id: string
  /** It is played, or waits for what is played before it */
  status: 'playing'
  /** When it was asked for */
  started_at: string
}

export type Price = {
  /** Id of the price, such as `prc_…` */
  id: string
  /** What is sold, such as `sms` */
  area: string
  /** Per what, such as `segment` */
  unit: string
  country: string | null
  network: string | null
  account_id: string | null
  /** Per unit, to a millionth */
  amount: number
  /** Of the amount */
  currency: string
  /** From when it holds */
  effective_from: string
  /** When it was set */
  created_at: string
}

export type PriceImport = {
  /** Prices that were set */
  imported: number
}

export type Queue = {
  /** Id of the queue, such as `que_…` */
  queue_id: string
  /** Different from your other queues */
  name: string
  /** Who is called first; longest_idle unless told */
  strategy?: 'longest_idle' | 'round_robin' | 'skills' | 'least_calls' | 'ring_all' | 'priority' | undefined
  /** Only agents with all of these are given its calls. Must be at most 20 skills */
  skills_required?: ({
  /** Your word for it, such as `billing`; the same for agents and queues. Must have 1 to 64 characters */
  name: string
  /** How well it must be mastered at least. Must be 1 to 5; 1 unless told */
  min_level?: number | undefined
})[] | undefined
  skill_relax_seconds: number | null
  /** Agents of the queue, besides those who log in to it. Must be at most 1000 agents */
  agents?: string[] | undefined
  /** Seconds that a caller waits at most; 0 is for ever */
  max_wait_seconds: number
  /** How many callers may wait */
  max_size: number
  music_url: string | null
  announcements?: ({
  /** Say which place in the queue they have; false unless told */
  position?: boolean | undefined
  /** Say how many minutes it will take, once that can be told; false unless told */
  estimated_wait?: boolean | undefined
  /** Seconds between two announcements; 30 unless told. Must be 10 to 600 */
  every_seconds?: number | undefined
  /** Said first, before place and wait. Must have 1 to 500 characters */
  text?: string | undefined
  /** What is spoken and understood, such as `sw-KE`; that of what it belongs to, and in the end `en-US`, unless told */
  language?: 'en-NG' | 'en-KE' | 'en-ZA' | 'en-US' | 'fr-SN' | 'fr-FR' | 'ar-EG' | 'ar-001' | 'sw-KE' | 'am-ET' | 'ha-NG' | 'yo-NG' | 'ig-NG' | 'zu-ZA' | 'xh-ZA' | 'af-ZA' | 'so-SO' | 'wo-SN' | 'pt-AO' | undefined
}) | null | undefined
  /** Where callers go that the queue does not take or keep */
  overflow?: ({
  /** A wait longer than max_wait_seconds, as many callers as max_size, nobody logged in, or out of hours. Must name at least one cause */
  on: ('max_wait' | 'full' | 'no_agents' | 'closed')[]
  action: CallDestination
}) | null | undefined
  /** A caller who presses the key hangs up, keeps the place and is called back */
  callback?: ({
  /** False: nobody is called back */
  enabled: boolean
  /** What a waiting caller presses to be called back; needed when `enabled`. Must be one of 0-9, * and # */
  key?: string | undefined
  /** How often a caller is called back who does not answer; 3 unless told. Must be 1 to 10 */
  max_attempts?: number | undefined
}) | null | undefined
  /** What the service level is measured by: 80 % within 20 seconds unless told */
  sla?: {
  /** Share of callers that should be answered in time. Must be 1 to 100 */
  target_percent: number
  /** Within how many seconds of waiting that is. Must be 1 to 3600 */
  threshold_seconds: number
} | undefined
  /** Seconds that an agent is rung */
  offer_timeout: number
  /** Seconds after a call in which an agent gets none */
  wrap_up_seconds: number
  /** Seconds of waiting that raise the priority by one */
  aging_seconds: number
  /** Whether the calls of the queue are recorded */
  record: boolean
  /** What is spoken to who waits, such as `sw-KE` */
  language: string
  business_hours_id: string | null
  /** Priority of a call that has none of its own, 1 to 10 */
  priority: number
  /** `closed` takes nobody, `paused` keeps who waits and gives no calls to agents */
  status: 'open' | 'closed' | 'paused'
  /** When it was made */
  created_at: string
  /** When it was last changed */
  updated_at: string
}

export type QueueSlaBreachedEvent = {
  /** Whose call centre it is, such as `acc_…` */
  account_id: string
  /** Id of the queue, such as `que_…` */
  queue_id: string
  /** As you called the queue */
  name: string
  /** Of today’s calls, UTC, those that were answered in time */
  service_level_percent: number
  /** What it should be, as `sla` of the queue says */
  target_percent: number
  /** Within which an answer is in time, as `sla` of the queue says */
  threshold_seconds: number
  /** Callers in the queue now */
  waiting: number
  /** How long the first of them has waited */
  longest_wait_seconds: number
}

export type QueueStatus = {
  /** Id of the queue, such as `que_…` */
  queue_id: string
  /** Different from your other queues */
  name: string
  /** Who is called first; longest_idle unless told */
  strategy?: 'longest_idle' | 'round_robin' | 'skills' | 'least_calls' | 'ring_all' | 'priority' | undefined
  /** Only agents with all of these are given its calls. Must be at most 20 skills */
  skills_required?: ({
  /** Your word for it, such as `billing`; the same for agents and queues. Must have 1 to 64 characters */
  name: string
  /** How well it must be mastered at least. Must be 1 to 5; 1 unless told */
  min_level?: number | undefined
})[] | undefined
  skill_relax_seconds: number | null
  /** Agents of the queue, besides those who log in to it. Must be at most 1000 agents */
  agents?: string[] | undefined
  /** Seconds that a caller waits at most; 0 is for ever */
  max_wait_seconds: number
  /** How many callers may wait */
  max_size: number
  music_url: string | null
  announcements?: ({
  /** Say which place in the queue they have; false unless told */
  position?: boolean | undefined
  /** Say how many minutes it will take, once that can be told; false unless told */
  estimated_wait?: boolean | undefined
  /** Seconds between two announcements; 30 unless told. Must be 10 to 600 */
  every_seconds?: number | undefined
  /** Said first, before place and wait. Must have 1 to 500 characters */
  text?: string | undefined
  /** What is spoken and understood, such as `sw-KE`; that of what it belongs to, and in the end `en-US`, unless told */
  language?: 'en-NG' | 'en-KE' | 'en-ZA' | 'en-US' | 'fr-SN' | 'fr-FR' | 'ar-EG' | 'ar-001' | 'sw-KE' | 'am-ET' | 'ha-NG' | 'yo-NG' | 'ig-NG' | 'zu-ZA' | 'xh-ZA' | 'af-ZA' | 'so-SO' | 'wo-SN' | 'pt-AO' | undefined
}) | null | undefined
  /** Where callers go that the queue does not take or keep */
  overflow?: ({
  /** A wait longer than max_wait_seconds, as many callers as max_size, nobody logged in, or out of hours. Must name at least one cause */
  on: ('max_wait' | 'full' | 'no_agents' | 'closed')[]
  action: CallDestination
}) | null | undefined
  /** A caller who presses the key hangs up, keeps the place and is called back */
  callback?: ({
  /** False: nobody is called back */
  enabled: boolean
  /** What a waiting caller presses to be called back; needed when `enabled`. Must be one of 0-9, * and # */
  key?: string | undefined
  /** How often a caller is called back who does not answer; 3 unless told. Must be 1 to 10 */
  max_attempts?: number | undefined
}) | null | undefined
  /** What the service level is measured by: 80 % within 20 seconds unless told */
  sla?: {
  /** Share of callers that should be answered in time. Must be 1 to 100 */
  target_percent: number
  /** Within how many seconds of waiting that is. Must be 1 to 3600 */
  threshold_seconds: number
} | undefined
  /** Seconds that an agent is rung */
  offer_timeout: number
  /** Seconds after a call in which an agent gets none */
  wrap_up_seconds: number
  /** Seconds of waiting that raise the priority by one */
  aging_seconds: number
  /** Whether the calls of the queue are recorded */
  record: boolean
  /** What is spoken to who waits, such as `sw-KE` */
  language: string
  business_hours_id: string | null
  /** Priority of a call that has none of its own, 1 to 10 */
  priority: number
  /** `closed` takes nobody, `paused` keeps who waits and gives no calls to agents */
  status: 'open' | 'closed' | 'paused'
  /** When it was made */
  created_at: string
  /** When it was last changed */
  updated_at: string
  /** How it is now */
  live: {
  /** Callers who wait */
  waiting: number
  /** Seconds that the longest of them waits; 0 if nobody does */
  longest_wait_seconds: number
  estimated_wait_seconds: number | null
  /** How many agents of the queue do what */
  agents: {
  /** Agents who are logged in */
  logged_in: number
  /** Agents who are free */
  available: number
  /** Agents who are on a call or being rung */
  on_call: number
  /** Agents who are wrapping up a call */
  wrap_up: number
  /** Agents on a break, away, in training or in a meeting */
  paused: number
}
  service_level_percent: number | null
  /** Who waits, in order, at most 50 */
  calls: {
  /** Id of the call, such as `call_…` */
  call_id: string
  /** Who calls */
  from: string
  /** Place in the queue, from 1 */
  position: number
  /** Seconds that the caller has waited */
  waited_seconds: number
  /** With what the wait has added */
  priority: number
}[]
}
}

export type QueueWithSummary = {
  /** Id of the queue, such as `que_…` */
  queue_id: string
  /** Different from your other queues */
  name: string
  /** Who is called first; longest_idle unless told */
  strategy?: 'longest_idle' | 'round_robin' | 'skills' | 'least_calls' | 'ring_all' | 'priority' | undefined
  /** Only agents with all of these are given its calls. Must be at most 20 skills */
  skills_required?: ({
  /** Your word for it, such as `billing`; the same for agents and queues. Must have 1 to 64 characters */
  name: string
  /** How well it must be mastered at least. Must be 1 to 5; 1 unless told */
  min_level?: number | undefined
})[] | undefined
  skill_relax_seconds: number | null
  /** Agents of the queue, besides those who log in to it. Must be at most 1000 agents */
  agents?: string[] | undefined
  /** Seconds that a caller waits at most; 0 is for ever */
  max_wait_seconds: number
  /** How many callers may wait */
  max_size: number
  music_url: string | null
  announcements?: ({
  /** Say which place in the queue they have; false unless told */
  position?: boolean | undefined
  /** Say how many minutes it will take, once that can be told; false unless told */
  estimated_wait?: boolean | undefined
  /** Seconds between two announcements; 30 unless told. Must be 10 to 600 */
  every_seconds?: number | undefined
  /** Said first, before place and wait. Must have 1 to 500 characters */
  text?: string | undefined
  /** What is spoken and understood, such as `sw-KE`; that of what it belongs to, and in the end `en-US`, unless told */
  language?: 'en-NG' | 'en-KE' | 'en-ZA' | 'en-US' | 'fr-SN' | 'fr-FR' | 'ar-EG' | 'ar-001' | 'sw-KE' | 'am-ET' | 'ha-NG' | 'yo-NG' | 'ig-NG' | 'zu-ZA' | 'xh-ZA' | 'af-ZA' | 'so-SO' | 'wo-SN' | 'pt-AO' | undefined
}) | null | undefined
  /** Where callers go that the queue does not take or keep */
  overflow?: ({
  /** A wait longer than max_wait_seconds, as many callers as max_size, nobody logged in, or out of hours. Must name at least one cause */
  on: ('max_wait' | 'full' | 'no_agents' | 'closed')[]
  action: CallDestination
}) | null | undefined
  /** A caller who presses the key hangs up, keeps the place and is called back */
  callback?: ({
  /** False: nobody is called back */
  enabled: boolean
  /** What a waiting caller presses to be called back; needed when `enabled`. Must be one of 0-9, * and # */
  key?: string | undefined
  /** How often a caller is called back who does not answer; 3 unless told. Must be 1 to 10 */
  max_attempts?: number | undefined
}) | null | undefined
  /** What the service level is measured by: 80 % within 20 seconds unless told */
  sla?: {
  /** Share of callers that should be answered in time. Must be 1 to 100 */
  target_percent: number
  /** Within how many seconds of waiting that is. Must be 1 to 3600 */
  threshold_seconds: number
} | undefined
  /** Seconds that an agent is rung */
  offer_timeout: number
  /** Seconds after a call in which an agent gets none */
  wrap_up_seconds: number
  /** Seconds of waiting that raise the priority by one */
  aging_seconds: number
  /** Whether the calls of the queue are recorded */
  record: boolean
  /** What is spoken to who waits, such as `sw-KE` */
  language: string
  business_hours_id: string | null
  /** Priority of a call that has none of its own, 1 to 10 */
  priority: number
  /** `closed` takes nobody, `paused` keeps who waits and gives no calls to agents */
  status: 'open' | 'closed' | 'paused'
  /** When it was made */
  created_at: string
  /** When it was last changed */
  updated_at: string
  /** How it is now */
  live: {
  /** Callers who wait */
  waiting: number
  /** Seconds that the longest of them waits; 0 if nobody does */
  longest_wait_seconds: number
  estimated_wait_seconds: number | null
  /** How many agents of the queue do what */
  agents: {
  /** Agents who are logged in */
  logged_in: number
  /** Agents who are free */
  available: number
  /** Agents who are on a call or being rung */
  on_call: number
  /** Agents who are wrapping up a call */
  wrap_up: number
  /** Agents on a break, away, in training or in a meeting */
  paused: number
}
  service_level_percent: number | null
}
}

export type RealtimeMetrics = {
  /** When it was measured */
  generated_at: string
  /** What the counts cover; `today` is since midnight UTC */
  window: 'today' | '15m' | '30m' | '60m'
  /** All queues together, or the one that is asked for */
  totals: {
  /** Callers who wait now */
  waiting: number
  /** Seconds that the longest of them waits; 0 if nobody does */
  longest_wait_seconds: number
  estimated_wait_seconds: number | null
  /** Calls in which somebody speaks with an agent now */
  active_calls: number
  /** Agents who are logged in */
  agents_logged_in: number
  /** Agents who are free */
  agents_available: number
  /** Agents who are on a call or being rung */
  agents_on_call: number
  /** Agents who are wrapping up a call */
  agents_wrap_up: number
  /** Agents on a break, away, in training or in a meeting */
  agents_paused: number
  /** Calls that came to a queue or an agent, and calls that agents made */
  offered: number
  /** Calls that were answered */
  answered: number
  /** Callers who gave up waiting, the short ones too */
  abandoned: number
  /** Gave up within five seconds */
  short_abandoned: number
  /** Calls that a queue sent to its overflow */
  overflowed: number
  /** Calls that an agent handed to somebody else */
  transferred: number
  /** Answered in time, of answered and abandoned without the short ones; null if nobody called */
  service_level_percent: number | null
  asa_seconds: number | null
  aht_seconds: number | null
  abandon_rate_percent: number | null
  occupancy_percent: number | null
}
  /** Each queue, or the one that is asked for */
  queues: ({
  /** Id of the queue, such as `que_…` */
  queue_id: string
  /** Name of the queue */
  name: string
  /** Callers who wait now */
  waiting: number
  /** Seconds that the longest of them waits; 0 if nobody does */
  longest_wait_seconds: number
  estimated_wait_seconds: number | null
  /** Calls in which somebody speaks with an agent now */
  active_calls: number
  /** Agents who are logged in */
  agents_logged_in: number
  /** Agents who are free */
  agents_available: number
  /** Agents who are on a call or being rung */
  agents_on_call: number
  /** Agents who are wrapping up a call */
  agents_wrap_up: number
  /** Agents on a break, away, in training or in a meeting */
  agents_paused: number
  /** Calls that came to a queue or an agent, and calls that agents made */
  offered: number
  /** Calls that were answered */
  answered: number
  /** Callers who gave up waiting, the short ones too */
  abandoned: number
  /** Gave up within five seconds */
  short_abandoned: number
  /** Calls that a queue sent to its overflow */
  overflowed: number
  /** Calls that an agent handed to somebody else */
  transferred: number
  /** Answered in time, of answered and abandoned without the short ones; null if nobody called */
  service_level_percent: number | null
  asa_seconds: number | null
  aht_seconds: number | null
  abandon_rate_percent: number | null
  occupancy_percent: number | null
})[]
  /** Agents who are logged in; of the queue that is asked for */
  agents: ({
  /** Your own id of the agent */
  agent_id: string
  name: string | null
  /** What the agent does; only `available` is given calls */
  status: 'offline' | 'available' | 'ringing' | 'on_call' | 'wrap_up' | 'break' | 'away' | 'training' | 'meeting'
  /** When the agent took on this status */
  since: string
  call_id: string | null
  queue_id: string | null
  /** Calls of the window that the agent answered */
  calls_handled: number
  /** Seconds of talk and hold in them */
  talk_seconds: number
  occupancy_percent: number | null
})[]
}

export type Recording = {
  /** Id of the recording, such as `rec_…` */
  recording_id: string
  call_id: string | null
  conference_id: string | null
  /** Seconds of sound */
  duration: number
  file_url: string | null
  /** What was said, as text */
  transcription: {
  /** Whether the text is there */
  available: boolean
  language: string | null
  url: string | null
  confidence: number | null
  error: string | null
}
  /** `file_url` is there once it is `ready` */
  status: 'recording' | 'processing' | 'ready' | 'failed' | 'deleted'
  /** Of the file */
  format: 'wav' | 'mp3'
  /** Of two, the caller is left and the others are right */
  channels: number
  size_bytes: number | null
  sha256: string | null
  /** When it began */
  started_at: string
  expires_at: string | null
  reason: string | null
}

export type RecordingEvent = {
  /** Whose recording it is, such as `acc_…` */
  account_id: string
  /** Id of the recording, such as `rec_…` */
  recording_id: string
  call_id: string | null
  conference_id: string | null
  /** Seconds of sound */
  duration: number
  file_url: string | null
  /** What was said, as text */
  transcription: {
  /** Whether the text is there */
  available: boolean
  language: string | null
  url: string | null
  confidence: number | null
  error: string | null
}
  /** `file_url` is there once it is `ready` */
  status: 'recording' | 'processing' | 'ready' | 'failed' | 'deleted'
  /** Of the file */
  format: 'wav' | 'mp3'
  /** Of two, the caller is left and the others are right */
  channels: number
  size_bytes: number | null
  sha256: string | null
  /** When it began */
  started_at: string
  expires_at: string | null
  reason: string | null
}

export type Redelivery = {
  /** The new delivery */
  delivery_id: string
  /** The delivery that is sent again */
  replay_of: string
}

/** The refund, with how far it came */
export type Refund = {
  /** Id of the refund, such as `re_…` */
  refund_id: string
  /** Id of the payment, such as `pay_…` */
  payment_id: string
  /** How far it came */
  status: 'pending' | 'processing' | 'completed' | 'failed'
  /** In major units */
  amount: number
  /** ISO 4217, such as KES; of all amounts here */
  currency: string
  reason: ('duplicate' | 'fraudulent' | 'requested_by_customer' | 'other') | null
  /** Of the payment, by all refunds that did not fail */
  amount_refunded: number
  /** What is left of the payment */
  amount_refundable: number
  provider_reference: string | null
  failure_reason: string | null
  failure_message: string | null
  description: string | null
  reference: string | null
  /** Your own notes, such as `{"order": "1042"}`: stored, and repeated in replies and events. Must be an object of at most 50 names of 1 to 40 characters, with text of at most 500 characters, numbers or booleans, 8 KiB in all */
  metadata: Record<string, string | number | boolean>
  /** When it was asked for */
  created_at: string
  completed_at: string | null
}

export type RefundFailedEvent = {
  /** False in the test environment */
  livemode: boolean
  /** Order of the events of one object, from 1 */
  sequence: number
  /** Id of the refund, such as `re_…` */
  refund_id: string
  /** Id of the payment, such as `pay_…` */
  payment_id: string
  /** The money stays with you */
  status: 'failed'
  /** In major units */
  amount: number
  /** ISO 4217, such as KES; of all amounts here */
  currency: string
  /** Why, as the provider says */
  failure_reason: string
  refund: Refund
}

export type ReplayProgress = {
  /** Id of the replay, such as `rpl_…` */
  replay_id: string
  /** `done` once all of them are queued */
  state: 'running' | 'done'
  /** Deliveries in all */
  count: number
  /** Deliveries that were sent again so far, or are about to be */
  queued: number
}

export type ReplayStarted = {
  /** Id of the replay, such as `rpl_…` */
  replay_id: string
  /** Deliveries that will be sent again */
  count: number
}

export type RequestLogEntry = {
  /** X-Request-Id of the response */
  request_id: string
  /** When it came */
  at: string
  /** Such as POST */
  method: string
  /** As it was asked for */
  path: string
  operation: string | null
  /** HTTP status of the answer */
  status: number
  error_code: string | null
  /** Milliseconds until the answer */
  duration_ms: number
  /** Id of the key, such as `key_…`; not the key itself */
  key_id: string
  /** Where it came from */
  ip: string
  warning: string | null
  request_body: string | null
  response_body: string | null
}

export type RiskCheck = {
  /** Id of the check, such as `rsk_…` */
  risk_check_id: string
  /** 0 for none to 100 */
  risk_score: number
  /** The score in a word */
  risk_level: 'low' | 'medium' | 'high' | 'very_high'
  /** What raised it */
  flags: string[]
  /** What would become of the payment */
  decision: 'allow' | 'require_3ds' | 'review' | 'block'
  /** The same three once more, as identity checks have them */
  risk_assessment: {
  /** 0 for none to 100 */
  risk_score: number
  /** The score in a word */
  risk_level: 'low' | 'medium' | 'high' | 'very_high'
  /** What raised it */
  flags: string[]
}
  /** Rules of yours that match */
  matched_rules: ({
  /** Id of the rule, such as `frl_…` */
  rule_id: string
  /** What you call the rule */
  name: string
  /** What it asks for */
  action: 'allow' | 'require_3ds' | 'review' | 'block'
  /** It is recorded, and decides nothing */
  dry_run: boolean
})[]
  /** What stands on your blacklist */
  blacklist_hits: ({
  /** Id of the entry */
  blacklist_id: string
  /** What it is */
  type: 'phone' | 'email' | 'email_domain' | 'card' | 'card_bin' | 'card_fingerprint' | 'ip' | 'ip_range' | 'device_id' | 'bank_account' | 'customer_id' | 'country'
  /** As it is compared; of a card masked */
  value: string
})[]
  /** They add up to the score: velocity, amount, identity, card, geo, history, rules */
  components: {
  /** How often the phone, device, address or card was used lately */
  velocity: number
  /** How unusual the amount is */
  amount: number
  /** Who pays, as far as it looks unusual */
  identity: number
  /** What looks unusual of the card */
  card: number
  /** Country of the address and of the phone that differ */
  geo: number
  /** Failures of the phone in the last day */
  history: number
  /** Scores of your rules */
  rules: number
}
  /** When it was checked */
  created_at: string
}

export type RotatedCallbackSecret = {
  /** Signs requests to the URLs of single requests */
  secret: string
  /** From when it signs alone */
  activates_at: string
}

export type RotatedWebhookSecret = {
  /** Id of the webhook, such as `wh_…` */
  id: string
  /** Signs every delivery; shown this once */
  secret: string
  /** From when deliveries are signed with it alone */
  activates_at: string
}

export type RoutingRule = {
  /** Id of the rule, such as `rule_…` */
  rule_id: string
  /** By which you tell it from your others. Must have 1 to 64 characters */
  name: string
  /** Rules are tried in this order. Must be a whole number; lower ones come first */
  priority: number
  /** False: it is not tried */
  enabled: boolean
  /** Whether all conditions must hold or any of them */
  match: 'all' | 'any'
  /** Without any, the rule matches every call. Must be at most 20 conditions */
  conditions?: ({
  /** What is looked at: also `to`, `language`, `time_of_day`, `customer.tag` and `variable.<name>`. Must be a field that calls have, such as from_country, weekday or queue.<id>.waiting */
  field: string
  /** How the field is compared with `value` */
  op: 'eq' | 'ne' | 'in' | 'not_in' | 'prefix' | 'gt' | 'gte' | 'lt' | 'lte' | 'exists' | 'open' | 'closed'
  /** What it is compared with; a list for `in`. Must be a text, a number, true, false, or a list */
  value?: string | number | boolean | ((string | number)[]) | undefined
})[] | undefined
  /** Where the call goes, and what it takes there */
  action: {
  /** Where the call goes; decides which of the fields below is needed */
  type: 'queue' | 'ivr' | 'agent' | 'phone' | 'sip' | 'application' | 'voicemail' | 'message' | 'hangup'
  /** Of a queue, an IVR or an agent */
  id?: string | undefined
  /** Of a phone. Must be E.164, such as +254711000001 */
  number?: string | undefined
  /** Of a SIP phone. Must be a SIP URI, such as sip:ada@example.org */
  uri?: string | undefined
  /** Of an application: asked for the flow */
  answer_url?: string | undefined
  /** Spoken, of a message or before a voicemail */
  text?: string | undefined
  /** What is spoken and understood, such as `sw-KE`; that of what it belongs to, and in the end `en-US`, unless told */
  language?: 'en-NG' | 'en-KE' | 'en-ZA' | 'en-US' | 'fr-SN' | 'fr-FR' | 'ar-EG' | 'ar-001' | 'sw-KE' | 'am-ET' | 'ha-NG' | 'yo-NG' | 'ig-NG' | 'zu-ZA' | 'xh-ZA' | 'af-ZA' | 'so-SO' | 'wo-SN' | 'pt-AO' | undefined
  /** In the queue; that of the queue unless told. Must be 1 to 10 */
  priority?: number | undefined
  /** What the agent must have, besides what the queue asks for */
  skills?: ({
  /** Your word for it, such as `billing`; the same for agents and queues. Must have 1 to 64 characters */
  name: string
  /** How well it must be mastered at least. Must be 1 to 5; 1 unless told */
  min_level?: number | undefined
})[] | undefined
  /** Variables that the call then has */
  set?: Record<string, string | number | boolean> | undefined
}
  /** false goes on with the next rule, whose action then counts */
  stop: boolean
  /** When it was made */
  created_at: string
  /** When it was last changed */
  updated_at: string
}

export type RoutingSimulation = {
  /** Null: nobody answers */
  destination: CallDestination | null
  matched_rule_id: string | null
  /** The hours that were looked at last; null if none were */
  business_hours: {
  /** Id of the business hours, `bh_…` */
  id: string
  /** Whether they are open at that time */
  open: boolean
} | null
  estimated_wait_seconds: number | null
  /** Free agents who could be given the call */
  eligible_agents: {
  /** Your own id of the agent */
  agent_id: string
  /** Sum of the agent’s levels in the skills that are asked for */
  score: number
  /** Seconds since the agent became free */
  idle_seconds: number
}[]
  /** How it was decided, step by step */
  trace: ({
  /** From 1 */
  step: number
  /** What was looked at */
  kind: 'number' | 'rule' | 'business_hours' | 'ivr' | 'queue' | 'overflow' | 'agent'
  id: string | null
  /** What came of it */
  result: 'matched' | 'skipped' | 'entered' | 'selected'
  /** Why, in a few words */
  reason: string
})[]
  /** What is not as it should be, such as a queue that is not there */
  warnings: string[]
}

export type SandboxBankCredit = {
  /** Id of the payment that the account is for */
  payment_id: string
  /** Where the money went */
  account_number: string
  /** What was transferred, in major units */
  amount: number
  /** Of the amount */
  currency: string
}

export type SandboxClock = {
  /** What time it is for this test account */
  now: string
  /** Seconds by which that is ahead of the real time */
  offset_seconds: number
}

export type SandboxDisputeClose = {
  /** Id of the dispute, such as `dsp_…` */
  dispute_id: string
  /** Id of the disputed payment, such as `pay_…` */
  payment_id: string
  /** What the bank decides; `won` is for you */
  outcome: 'won' | 'lost'
}

export type SandboxDnsRecords = {
  /** What DNS now says for the name */
  records: {
  /** Name of the record */
  name: string
  /** Kind of record, such as `TXT` */
  type: string
  /** What it says */
  value: string
}[]
}

export type SandboxHook = {
  /** Id of the hook, such as `hook_…` */
  id: string
  /** Takes every method; its query says how it answers */
  url: string
  /** Requests so far */
  caught: number
  /** When it was made */
  created_at: string
}

export type SandboxHookRequest = {
  /** Id of the request, such as `hkr_…` */
  id: string
  /** HTTP method, such as `POST` */
  method: string
  /** The script it was answered by, as it stood in the URL */
  query: string
  /** As they came */
  headers: Record<string, string>
  /** At most 64 KiB of it */
  body: string
  /** Whether the body was longer */
  truncated: boolean
  /** Whether X-Service-Signature fits; null when there is none, or nothing to hold it against */
  signature_valid: boolean | null
  response_status: number | null
  /** When it came */
  received_at: string
}

export type SandboxPayers = {
  /** Payers whose prompt waits for a PIN; `*` is everybody. Others decide by their number. Must list at most 100 numbers */
  by_hand: string[]
}

export type SandboxPhone = {
  /** Id of the call, such as `call_…` */
  call_id: string
  /** True: the phone does it */
  done: boolean
}

export type SandboxPrompt = {
  /** Id of the payment, such as `pay_…` */
  payment_id: string
  /** `over`: it went away by itself, or could not be paid */
  status: 'waiting' | 'approved' | 'refused' | 'over'
  /** Who asks, such as `mpesa` */
  provider: string
  /** What is to be paid, in major units */
  amount: number
  /** Of the amount */
  currency: string
  reference: string | null
  description: string | null
  failure_reason: string | null
  /** When the handset was asked */
  asked_at: string
  /** When it goes away by itself */
  expires_at: string
}

export type SandboxPromptAnswer = {
  /** Id of the payment, such as `pay_…` */
  payment_id: string
  /** Types the PIN, or cancels the prompt */
  decision: 'approve' | 'refuse'
}

export type SavedCard = {
  /** Begins with tok_ */
  card_token: string
  /** As the first digits tell */
  brand: 'visa' | 'mastercard' | 'verve' | 'american-express'
  /** The last digits of its number */
  last4: string
  /** Until when it is valid */
  exp_month: number
  /** Until when it is valid, in four digits */
  exp_year: number
  customer: Customer
  /** When it was saved */
  created_at: string
}

export type SmsAccountCountries = {
  /** Whose limits these are, such as `acc_…` */
  account_id: string
  /** The only ones it may send to; null: all that are enabled */
  countries: string[] | null
  updated_at: string | null
}

export type SmsAnalytics = {
  /** First day */
  from_date: string
  /** Last day */
  to_date: string
  /** Of the cost */
  currency: string
  /** All of them */
  messages: number
  /** Not sent yet */
  queued: number
  /** Taken by the network, and nothing heard since */
  sent: number
  /** On the handset */
  delivered: number
  /** Did not arrive */
  failed: number
  delivery_rate: number | null
  /** What was charged for */
  segments: number
  /** Without what was given back */
  cost: number
  /** Half, 95 % and 99 % of messages took no longer */
  latency_seconds: {
  /** From the network’s taking it to its report from the handset */
  p50: number | null
  /** From the network’s taking it to its report from the handset */
  p95: number | null
  /** From the network’s taking it to its report from the handset */
  p99: number | null
}
  /** The same figures by country */
  countries: ({
  country: string | null
  /** All of them */
  messages: number
  /** Not sent yet */
  queued: number
  /** Taken by the network, and nothing heard since */
  sent: number
  /** On the handset */
  delivered: number
  /** Did not arrive */
  failed: number
  delivery_rate: number | null
  /** What was charged for */
  segments: number
  /** Without what was given back */
  cost: number
})[]
  /** Messages by why they failed */
  errors: {
  /** Why they failed */
  error_code: string
  /** How many did */
  messages: number
}[]
}

export type SmsBalance = {
  /** Of the wallet, in major units */
  balance: number
  /** Of the amounts */
  currency: string
  /** Set aside for what is not certain yet */
  reserved: number
  /** What can be spent */
  available: number
  /** How far the balance may go below zero */
  credit_limit: number
  /** Fewer than a hundred segments are left */
  low_balance: boolean
  /** How many segments to the country of the account that buys */
  estimated_segments: number
  /** When the balance last changed */
  updated_at: string
}

export type SmsBatch = {
  /** Id of the bulk, such as `smb_…` */
  batch_id: string
  /** `completed` once every message is delivered or failed */
  status: 'queued' | 'completed' | 'cancelled'
  /** Entries that you sent */
  total: number
  /** Messages that go out */
  accepted: number
  /** Entries that were refused */
  rejected: number
  /** Of all messages */
  segments: number
  /** Of all messages, in major units of `currency` */
  cost: number
  /** Of the cost */
  currency: string
  /** When it was accepted */
  timestamp: string
  /** Messages by status */
  counts: {
  /** Not sent yet */
  queued: number
  /** Taken by the network, without a report so far */
  sent: number
  /** On the handset */
  delivered: number
  /** Will not arrive */
  failed: number
}
  /** Your own notes, such as `{"order": "1042"}`: stored, and repeated in replies and events. Must be an object of at most 50 names of 1 to 40 characters, with text of at most 500 characters, numbers or booleans, 8 KiB in all */
  metadata: Record<string, string | number | boolean>
  completed_at: string | null
  /** One entry for each of your list, in its order */
  messages?: ({
  /** Place in your list, from 0 */
  index: number
  /** The number in E.164 */
  to: string
  message_id: string | null
  /** `queued`, `sent` (the network has it), `delivered`, `failed`, or `received` from a handset */
  status: 'queued' | 'sent' | 'delivered' | 'failed' | 'received'
  /** What it is charged for */
  segments: number
  /** In major units of `currency`; 0 if it was refused */
  cost: number
  /** Of the cost */
  currency: string
  error_code: string | null
  /** The message that has this reference */
  existing_id?: string | undefined
  /** Why it was refused, in words */
  error?: string | undefined
})[] | undefined
  /** Whether there are further entries */
  has_more?: boolean | undefined
  next_cursor?: string | null | undefined
}

export type SmsBatchCompletedEvent = {
  /** Id of the bulk, such as `smb_…` */
  batch_id: string
  /** `cancelled` if it was called off before all of it went out */
  status: 'completed' | 'cancelled'
  /** Entries that you gave */
  total: number
  /** Entries that became messages */
  accepted: number
  /** Entries that were refused */
  rejected: number
  /** What it was charged for */
  segments: number
  /** Of all messages, less what was given back */
  cost: number
  /** Of the cost */
  currency: string
  /** Messages by status */
  counts: {
  /** Not sent */
  queued: number
  /** Taken by the network, and no report came */
  sent: number
  /** On the handset */
  delivered: number
  /** Did not arrive */
  failed: number
}
  /** Your own notes, such as `{"order": "1042"}`: stored, and repeated in replies and events. Must be an object of at most 50 names of 1 to 40 characters, with text of at most 500 characters, numbers or booleans, 8 KiB in all */
  metadata: Record<string, string | number | boolean>
  /** When it was accepted */
  created_at: string
  /** When its last message ended, or no report could come any more */
  completed_at: string
}

export type SmsBind = {
  /** Where the message centre takes connections. Must be a host name or address */
  host?: string | undefined
  /** Its TCP port. Must be 1 to 65535 */
  port?: number | undefined
  /** Whether the centre speaks TLS. Its certificate must be for the host, of a public authority or of tls_ca */
  tls?: boolean | undefined
  /** Certificates in PEM of authorities that are trusted besides the public ones. Must be null, or at most 65,536 characters of PEM */
  tls_ca?: string | null | undefined
  /** Our name there, as the operator of the centre gave it. Must have 1 to 15 characters */
  system_id?: string | undefined
  /** Category that some centres want in the bind; mostly empty. Must have at most 12 characters */
  system_type?: string | undefined
  /** What the centre wants to be told of every text, such as `CMT`; mostly nothing. Must have at most 5 letters, digits or signs of ASCII */
  service_type?: string | undefined
  /** Whether a session sends and receives over one connection, or over a `pair` of them, a transmitter and a receiver */
  bind_mode?: 'transceiver' | 'pair' | undefined
  /** Sessions with the centre. Must be 1 to 32 */
  sessions?: number | undefined
  /** Seconds of silence after which the connection is tested. Must be 1 to 3600 */
  enquire_link_seconds?: number | undefined
  /** A name for the message centre, the same for all binds that lead to it: it may bring receipts over any of them. Binds with the same host, port and system_id need none. Must be null, or have 1 to 40 small letters, digits or -, and begin with a letter */
  centre?: string | null | undefined
  /** How the message centre writes ids in answers */
  answer_ids?: 'exact' | 'text' | 'hex' | 'decimal' | undefined
  /** How the message centre writes ids in receipts */
  receipt_ids?: 'exact' | 'text' | 'hex' | 'decimal' | undefined
  /** How a long message is handed over: in parts with a header of 8-bit (`udh`) or 16-bit (`udh16`) reference, in parts told by `sar` parameters, or whole in the parameter message_payload (`payload`) */
  concatenation?: 'udh' | 'udh16' | 'sar' | 'payload' | undefined
  /** What the message centre takes text for whose data_coding is 0, in both directions */
  alphabet?: 'gsm' | 'latin1' | undefined
  /** The type of number that the message centre wants of a short code which texts are from. Must be 0 to 6 */
  short_code_ton?: number | undefined
  /** The same for its numbering plan. Must be 0 to 18 */
  short_code_npi?: number | undefined
  /** How an HTTP aggregator is spoken to; for the kind `http` only. Must be an object with `request` and what else the aggregator needs */
  profile?: {
  /** How a message is handed over */
  request: {
  /** What the aggregator expects; `query` is the format of GET */
  method: 'GET' | 'POST'
  /** Where messages are posted. Must be a URL */
  url: string
  /** Kept encrypted and shown masked. A value in its masked form stays as it was. Must be an object of at most 100 members */
  headers?: Record<string, string> | undefined
  /** Where the fields go, and how they are written */
  format: 'json' | 'form' | 'query'
  /** The fields of the request, of any depth for `json`. Texts may hold {{to}}, {{to_digits}}, {{from}}, {{text}}, {{id}}, {{parts}}, {{encoding}}, {{validity_seconds}}, {{password}}, {{receipts_url}} and {{inbound_url}}, each escaped for its place. Kept encrypted; what is not only one of these is shown masked, and a value in its masked form stays as it was. Must be an object of at most 100 members */
  fields: Record<string, unknown>
}
  /** How the aggregator knows us; nothing is sent for it unless given */
  auth?: {
  /** How the password of the bind is sent */
  kind: 'none' | 'basic' | 'bearer' | 'header'
  /** For `basic` */
  username?: string | undefined
  /** For `header`: its name */
  header?: string | undefined
} | undefined
  /** What an answer looks like that took the message; an HTTP status of 200, 201 or 202 unless given */
  success?: {
  /** HTTP statuses; 200, 201 and 202 unless given. Must list statuses from 200 to 299 */
  status?: number[] | undefined
  /** The id, or ids, that receipts will name; without it they name {{id}}; `*` in a pointer is every element. Must be a JSON pointer such as /messages/0/id, or a regular expression with one group */
  id?: string | undefined
} | undefined
  /** What becomes of messages that the aggregator does not take */
  errors?: {
  /** The aggregator’s own code, in an answer of whatever status; `*` in a pointer is every element. Must be a JSON pointer such as /messages/0/id, or a regular expression with one group */
  code?: string | undefined
  /** What becomes of a message by the aggregator’s own code, such as `{"E1": {"as": "retry"}}`. Must be an object of at most 100 members */
  codes?: Record<string, {
  /** Nobody will take it; the same again a little later; another carrier may take it */
  as: 'reject' | 'retry' | 'reroute'
  /** The `error_code` of a rejected message */
  error?: 'INVALID_NUMBER' | 'UNKNOWN_SUBSCRIBER' | 'ABSENT_SUBSCRIBER' | 'UNDELIVERABLE' | 'EXPIRED' | 'REJECTED' | 'BLOCKED' | 'SPAM_REJECTED' | 'INVALID_SENDER' | 'CARRIER_ERROR' | 'ENCODING_ERROR' | undefined
}> | undefined
  /** What becomes of a message by HTTP status, such as `{"402": {"as": "reroute"}}`, where its code says nothing. Must be an object of at most 100 members */
  statuses?: Record<string, {
  /** Nobody will take it; the same again a little later; another carrier may take it */
  as: 'reject' | 'retry' | 'reroute'
  /** The `error_code` of a rejected message */
  error?: 'INVALID_NUMBER' | 'UNKNOWN_SUBSCRIBER' | 'ABSENT_SUBSCRIBER' | 'UNDELIVERABLE' | 'EXPIRED' | 'REJECTED' | 'BLOCKED' | 'SPAM_REJECTED' | 'INVALID_SENDER' | 'CARRIER_ERROR' | 'ENCODING_ERROR' | undefined
}> | undefined
} | undefined
  /** Where delivery reports say what; without it none are taken */
  receipts?: {
  /** The list, when a call brings several; `*` in a pointer is every element. Must be a JSON pointer such as /messages/0/id, or a regular expression with one group */
  each?: string | undefined
  /** The id that the answer gave; `*` in a pointer is every element. Must be a JSON pointer such as /messages/0/id, or a regular expression with one group */
  id: string
  /** The status; `*` in a pointer is every element. Must be a JSON pointer such as /messages/0/id, or a regular expression with one group */
  status: string
  /** The aggregator’s own code; `*` in a pointer is every element. Must be a JSON pointer such as /messages/0/id, or a regular expression with one group */
  error?: string | undefined
  /** What each status means: delivered, an `error_code`, or ignored when it is not final. Must be an object of at most 100 members */
  statuses: Record<string, 'delivered' | 'ignored' | 'INVALID_NUMBER' | 'UNKNOWN_SUBSCRIBER' | 'ABSENT_SUBSCRIBER' | 'UNDELIVERABLE' | 'EXPIRED' | 'REJECTED' | 'BLOCKED' | 'SPAM_REJECTED' | 'INVALID_SENDER' | 'CARRIER_ERROR' | 'ENCODING_ERROR'>
} | undefined
  /** Where messages of handsets say what; without it none are taken */
  inbound?: {
  /** The list, when a call brings several; `*` in a pointer is every element. Must be a JSON pointer such as /messages/0/id, or a regular expression with one group */
  each?: string | undefined
  /** The handset; `*` in a pointer is every element. Must be a JSON pointer such as /messages/0/id, or a regular expression with one group */
  from: string
  /** The number, short code or sender it writes to; `*` in a pointer is every element. Must be a JSON pointer such as /messages/0/id, or a regular expression with one group */
  to: string
  /** What it writes; `*` in a pointer is every element. Must be a JSON pointer such as /messages/0/id, or a regular expression with one group */
  text: string
} | undefined
} | undefined
  /** By which routes name the bind */
  name: string
  /** Which protocol it speaks, such as `smpp` */
  kind: string
  /** Messages without an answer, of one session */
  window: number
  rate: number | null
  /** Seconds after which a message without an answer goes another way */
  response_timeout_seconds: number
  /** False: its connections are closed and it gets no messages */
  enabled: boolean
  /** The answering node already uses it as it is */
  in_force: boolean
  node: string | null
  /** Whether messages can go over it, as that node says, or last said to the others */
  is_up: boolean
  last_error: string | null
  /** Sessions that the answering node has open, a pair counting as one; for `http` 1 while it answers. This and what follows is known only to the node that has it open */
  bound: number
  /** Messages that wait there for the carrier or its answer */
  pending: number
  current_rate: number | null
  receipts_url: string | null
  inbound_url: string | null
  /** When it was entered */
  created_at: string
  /** When it was last changed */
  updated_at: string
}

export type SmsBulkReply = {
  /** Id of the bulk, such as `smb_…` */
  batch_id: string
  /** `completed` once every message is delivered or failed */
  status: 'queued' | 'completed' | 'cancelled'
  /** Entries that you sent */
  total: number
  /** Messages that go out */
  accepted: number
  /** Entries that were refused */
  rejected: number
  /** Of all messages */
  segments: number
  /** Of all messages, in major units of `currency` */
  cost: number
  /** Of the cost */
  currency: string
  /** When it was accepted */
  timestamp: string
  /** One entry for each of your list, in its order */
  messages: ({
  /** Place in your list, from 0 */
  index: number
  /** The number in E.164 */
  to: string
  message_id: string | null
  /** `queued`, `sent` (the network has it), `delivered`, `failed`, or `received` from a handset */
  status: 'queued' | 'sent' | 'delivered' | 'failed' | 'received'
  /** What it is charged for */
  segments: number
  /** In major units of `currency`; 0 if it was refused */
  cost: number
  /** Of the cost */
  currency: string
  error_code: string | null
  /** The message that has this reference */
  existing_id?: string | undefined
  /** Why it was refused, in words */
  error?: string | undefined
})[]
}

export type SmsConsentEvent = {
  /** Whose wish it is, in E.164 */
  phone: string
  /** The sender it is about, `*` for all */
  from: string
  reason: string | null
  /** By a word such as STOP, by request, from a file, or as the carrier told us */
  source: 'keyword' | 'api' | 'import' | 'carrier'
  message_id: string | null
  /** When it was recorded */
  created_at: string
}

export type SmsCountry = {
  /** ISO 3166, such as KE */
  country: string
  /** False: nobody may send there */
  enabled: boolean
  /** `required`: only approved senders */
  sender_registration: 'required' | 'open'
  /** Nobody said otherwise; then tests may use any sender */
  is_default: boolean
}

export type SmsEstimate = {
  /** For each recipient */
  segments: number
  /** `gsm7` has 160 characters in a segment, `ucs2` 70 */
  encoding: 'gsm7' | 'ucs2'
  /** Characters of your text */
  length: number
  /** Septets, or UTF-16 units */
  units_used: number
  /** Until another segment is needed */
  units_left: number
  /** Characters that make it UCS-2 */
  non_gsm: string[]
  suggestion: string | null
  suggestion_segments: number | null
  /** Of all recipients, in major units of `currency` */
  cost: number
  /** Of the cost */
  currency: string
  /** Numbers that it would go to */
  recipients: number
}

export type SmsLookup = {
  /** The number that was asked for */
  phone: string
  /** Whether such a number can exist */
  valid: boolean
  country: string | null
  calling_code: string | null
  national_format: string | null
  type: string | null
  network: string | null
  mcc_mnc: string | null
  original_network: string | null
  ported: boolean | null
  /** The numbering plan, or the list of ported numbers */
  source: 'prefix' | 'mnp'
  reachable: boolean | null
  /** When it was looked up */
  checked_at: string
}

export type SmsMessage = {
  /** Id of the message, such as `sms_…` */
  message_id: string
  /** `queued`, `sent` (the network has it), `delivered`, `failed`, or `received` from a handset */
  status: 'queued' | 'sent' | 'delivered' | 'failed' | 'received'
  /** `outbound` from you, `inbound` from a handset */
  direction: 'outbound' | 'inbound'
  /** Who has it: a number, or your short code */
  to: string
  /** Who wrote it: your sender, or a handset */
  from: string
  message: string | null
  /** What it is charged for */
  segments: number
  /** The same as segments */
  parts: number
  /** `gsm7` has 160 characters in a segment, `ucs2` 70 */
  encoding: 'gsm7' | 'ucs2'
  /** In major units of `currency`; 0 if it failed before the network had it */
  cost: number
  /** In major units of `currency` */
  price_per_segment: number
  /** Of cost and price */
  currency: string
  /** When it was accepted or came in */
  created_at: string
  scheduled_at: string | null
  sent_at: string | null
  delivered_at: string | null
  failed_at: string | null
  error_code: string | null
  error: string | null
  /** What it became over another channel; only where it was to go on */
  fallback_message_id?: string | null | undefined
  /** Your own notes, such as `{"order": "1042"}`: stored, and repeated in replies and events. Must be an object of at most 50 names of 1 to 40 characters, with text of at most 500 characters, numbers or booleans, 8 KiB in all */
  metadata: Record<string, string | number | boolean>
  reference: string | null
  country: string | null
  network: string | null
  /** How often it was offered to a carrier */
  attempts: number
  /** The bind that took it; only told to keys with the scope operator */
  route?: string | null | undefined
  batch_id: string | null
  /** What became of it, oldest first */
  timeline: ({
  /** `queued`, `sent` (the network has it), `delivered`, `failed`, or `received` from a handset */
  status: 'queued' | 'sent' | 'delivered' | 'failed' | 'received'
  /** When it became so */
  at: string
  error_code: string | null
  carrier_code: string | null
})[]
}

export type SmsMessageOrBatch = {
  /** Id of the message, such as `sms_…` */
  message_id?: string | undefined
  /** Of the message, or of the batch */
  status?: string | undefined
  /** `outbound` from you, `inbound` from a handset */
  direction?: 'outbound' | 'inbound' | undefined
  /** One number, or all of the batch */
  to?: string | string[] | undefined
  /** Who wrote it: your sender, or a handset */
  from?: string | undefined
  message?: string | null | undefined
  /** Of all messages */
  segments?: number | undefined
  /** The same as segments */
  parts?: number | undefined
  /** `gsm7` has 160 characters in a segment, `ucs2` 70 */
  encoding?: 'gsm7' | 'ucs2' | undefined
  /** Of all messages, in major units of `currency` */
  cost?: number | undefined
  /** In major units of `currency` */
  price_per_segment?: number | undefined
  /** Of the cost */
  currency?: string | undefined
  /** When it was accepted or came in */
  created_at?: string | undefined
  scheduled_at?: string | null | undefined
  sent_at?: string | null | undefined
  delivered_at?: string | null | undefined
  failed_at?: string | null | undefined
  error_code?: string | null | undefined
  error?: string | null | undefined
  /** What it became over another channel; only where it was to go on */
  fallback_message_id?: string | null | undefined
  /** Your own notes, such as `{"order": "1042"}`: stored, and repeated in replies and events. Must be an object of at most 50 names of 1 to 40 characters, with text of at most 500 characters, numbers or booleans, 8 KiB in all */
  metadata?: Record<string, string | number | boolean> | undefined
  reference?: string | null | undefined
  country?: string | null | undefined
  network?: string | null | undefined
  /** How often it was offered to a carrier */
  attempts?: number | undefined
  /** The bind that took it; only told to keys with the scope operator */
  route?: string | null | undefined
  batch_id?: string | null | undefined
  /** What became of it, oldest first */
  timeline?: ({
  /** `queued`, `sent` (the network has it), `delivered`, `failed`, or `received` from a handset */
  status: 'queued' | 'sent' | 'delivered' | 'failed' | 'received'
  /** When it became so */
  at: string
  error_code: string | null
  carrier_code: string | null
})[] | undefined
  /** Entries that you sent */
  total?: number | undefined
  /** Messages that go out */
  accepted?: number | undefined
  /** Entries that were refused */
  rejected?: number | undefined
  /** When it was accepted */
  timestamp?: string | undefined
  /** Messages by status */
  counts?: {
  /** Not sent yet */
  queued: number
  /** Taken by the network, without a report so far */
  sent: number
  /** On the handset */
  delivered: number
  /** Will not arrive */
  failed: number
} | undefined
  completed_at?: string | null | undefined
  /** One entry for each of your list, in its order */
  messages?: ({
  /** Place in your list, from 0 */
  index: number
  /** The number in E.164 */
  to: string
  message_id: string | null
  /** `queued`, `sent` (the network has it), `delivered`, `failed`, or `received` from a handset */
  status: 'queued' | 'sent' | 'delivered' | 'failed' | 'received'
  /** What it is charged for */
  segments: number
  /** In major units of `currency`; 0 if it was refused */
  cost: number
  /** Of the cost */
  currency: string
  error_code: string | null
  /** The message that has this reference */
  existing_id?: string | undefined
  /** Why it was refused, in words */
  error?: string | undefined
})[] | undefined
  /** Whether there are further entries */
  has_more?: boolean | undefined
  next_cursor?: string | null | undefined
  /** The short links in its text, if it was sent with shorten_urls */
  links?: ({
  /** Where it leads */
  url: string
  /** What stands in the text */
  short_url: string
  /** How often it was opened */
  clicks: number
  first_clicked_at: string | null
  last_clicked_at: string | null
})[] | undefined
}

export type SmsNumber = {
  /** What handsets write to */
  number: string
  /** Others have keywords on it too */
  shared: boolean
  /** What becomes of messages by their first word */
  keywords: ({
  /** What the message begins with */
  keyword: string
  webhook_url: string | null
  auto_reply: string | null
})[]
  default_webhook_url: string | null
  /** When it was taken */
  created_at: string
  /** When it was last changed */
  updated_at: string
}

export type SmsNumberDeleted = {
  /** The number again */
  id: string
  /** What handsets wrote to */
  number: string
  /** True: it is given up */
  deleted: true
}

export type SmsOptOut = {
  /** Who does not want messages */
  phone: string
  /** The sender it is about, a number without its plus; `*` for all */
  from: string
  reason: string | null
  /** By a word such as STOP, by request, from a file, or as the carrier told us */
  source: 'keyword' | 'api' | 'import' | 'carrier'
  /** When it was recorded */
  created_at: string
}

export type SmsOptOutOfNumber = {
  /** Who does not want messages */
  phone: string
  /** The sender it is about, a number without its plus; `*` for all */
  from: string
  reason: string | null
  /** By a word such as STOP, by request, from a file, or as the carrier told us */
  source: 'keyword' | 'api' | 'import' | 'carrier'
  /** When it was recorded */
  created_at: string
  /** All of the number; the fields beside are those of the first */
  opt_outs: SmsOptOut[]
}

export type SmsOptOutRemoved = {
  /** The number again */
  id: string
  /** Who gets messages again */
  phone: string
  /** True: none is left */
  deleted: true
  /** How many opt-outs there were */
  removed: number
}

export type SmsPortedNumber = {
  /** The number that moved */
  phone: string
  /** Where the number is now */
  network: string
  mcc_mnc: string | null
  original_network: string | null
  /** When it was entered */
  updated_at: string
}

export type SmsPrice = {
  /** ISO 3166, such as KE */
  country: string
  network: string | null
  mcc_mnc: string | null
  /** Messages that come in cost nothing */
  direction: 'outbound'
  /** Per segment */
  price: number
  /** Of the price */
  currency: string
  effective_from: string | null
}

export type SmsReceivedEvent = {
  /** Id of the message, such as `smi_…` */
  message_id: string
  /** The handset, in E.164 */
  from: string
  /** Your short code or number */
  to: string
  /** What it says */
  message: string
  keyword: string | null
  /** Segments it came in */
  parts: number
  network: string | null
  in_reply_to: string | null
  /** A part never arrived */
  partial?: boolean | undefined
}

export type SmsRoute = {
  /** Id of the route, such as `smr_…` */
  id: string
  /** `test` or `live` */
  environment: string
  account_id: string | null
  country: string | null
  network: string | null
  /** Binds of a tier share the messages; the next tier is for when none of them can take one */
  tiers: {
  /** Name of the bind */
  bind: string
  /** Its share among the binds of the tier */
  weight: number
}[][]
  /** What becomes of a message whose connection, or node, was lost before the answer: sent again, or failed */
  on_unknown: 'maybe_twice' | 'maybe_never'
  /** Whether a message that the network could not deliver goes over the next tier */
  reroute_on_undelivered: boolean
  /** Whether a message that was sent and that the network then could not deliver costs nothing */
  refund_undelivered: boolean
  /** What becomes of a message while none of the binds can take it: it waits for them, or is refused with PROVIDER_UNAVAILABLE */
  when_down: 'queue' | 'refuse'
  /** The answering node already sends by it */
  in_force: boolean
  /** When it was made */
  created_at: string
  /** When it was last changed */
  updated_at: string
}

export type SmsSandboxBehaviour = {
  delay_ms: number | null
  error: ('UNDELIVERABLE' | 'REJECTED' | 'UNKNOWN_SUBSCRIBER' | 'NO_RECEIPT' | 'EXPIRED' | 'THROTTLED') | null
  /** Handsets that get their messages only when they are taken off this list; `*` is all. Must list at most 100 numbers */
  out_of_coverage: string[]
}

export type SmsSandboxBehaviourChange = {
  delay_ms?: number | null | undefined
  error?: ('UNDELIVERABLE' | 'REJECTED' | 'UNKNOWN_SUBSCRIBER' | 'NO_RECEIPT' | 'EXPIRED' | 'THROTTLED') | null | undefined
  /** Handsets that get their messages only when they are taken off this list; `*` is all. Must list at most 100 numbers */
  out_of_coverage?: string[] | undefined
}

export type SmsSendReply = {
  /** `queued`, `sent` (the network has it), `delivered`, `failed`, or `received` from a handset */
  status: 'queued' | 'sent' | 'delivered' | 'failed' | 'received'
  /** The message, or the batch when `to` is a list */
  message_id: string
  /** As you sent it */
  to: string | string[]
  /** The sender that the handset shows */
  from: string
  /** For each recipient */
  segments: number
  /** Of all recipients, in major units of `currency` */
  cost: number
  /** Of the cost */
  currency: string
  /** When it was accepted */
  timestamp: string
  /** `gsm7` has 160 characters in a segment, `ucs2` 70 */
  encoding: 'gsm7' | 'ucs2'
  country: string | null
  network: string | null
  scheduled_at: string | null
  /** One entry for each recipient, in your order; only where `to` is a list */
  messages?: ({
  /** The number in E.164 */
  to: string
  message_id: string | null
  /** `queued`, `sent` (the network has it), `delivered`, `failed`, or `received` from a handset */
  status: 'queued' | 'sent' | 'delivered' | 'failed' | 'received'
  /** What it is charged for */
  segments: number
  /** In major units of `currency`; 0 if it was refused */
  cost: number
  /** Of the cost */
  currency: string
  error_code: string | null
  /** The message that has this reference */
  existing_id?: string | undefined
})[] | undefined
  /** Recipients that will get it; only where `to` is a list */
  accepted?: number | undefined
  /** Recipients that will not, and why is said of each; only where `to` is a list */
  rejected?: number | undefined
}

export type SmsSenderId = {
  /** Id of the sender, such as `snd_…` */
  id: string
  /** What handsets show as `from` */
  sender: string
  /** Senders of `test` are approved at once and reach no handset */
  environment: 'test' | 'live'
  /** Null: all of them */
  countries: string[] | null
  /** What you said you send with it */
  purpose: string
  /** The example that you gave */
  sample: string
  /** Messages go out with an `approved` one only */
  status: 'pending' | 'approved' | 'rejected'
  reason: string | null
  /** When it was asked for */
  created_at: string
  decided_at: string | null
}

export type SmsStatusEvent = {
  /** Id of the message, such as `sms_…` */
  message_id: string
  /** `sent`: the network has it; the others are final */
  status: 'sent' | 'delivered' | 'failed'
  /** Who gets it, in E.164 */
  to: string
  /** The sender that the handset shows */
  from: string
  /** Segments the text was sent in */
  parts: number
  error_code: string | null
  /** Your own notes, such as `{"order": "1042"}`: stored, and repeated in replies and events. Must be an object of at most 50 names of 1 to 40 characters, with text of at most 500 characters, numbers or booleans, 8 KiB in all */
  metadata: Record<string, string | number | boolean>
  batch_id: string | null
  network: string | null
}

export type SmtpCredential = {
  /** Id of the credential, such as `smtp_…` */
  id: string
  /** By which you tell it from your others */
  name: string
  /** With which to sign in */
  username: string
  /** Where to connect to */
  host: string
  /** Port of that host */
  port: number
  /** Only these may be sent from; empty: all of yours */
  domains: string[]
  /** Only these addresses may connect; empty: all */
  allowed_ips: string[]
  /** When it was made */
  created_at: string
  last_used_at: string | null
}

export type SmtpCredentialWithPassword = {
  /** Id of the credential, such as `smtp_…` */
  id: string
  /** By which you tell it from your others */
  name: string
  /** With which to sign in */
  username: string
  /** Where to connect to */
  host: string
  /** Port of that host */
  port: number
  /** Only these may be sent from; empty: all of yours */
  domains: string[]
  /** Only these addresses may connect; empty: all */
  allowed_ips: string[]
  /** When it was made */
  created_at: string
  last_used_at: string | null
  /** Shown this once */
  password: string
}

export type SpeakingVoice = {
  /** What it speaks, such as `sw-KE` */
  language: string
  /** Name that requests give as `voice` */
  voice: string
  /** How it sounds */
  gender: 'female' | 'male' | 'neutral'
  /** The program that speaks, such as `espeak-ng` */
  engine: string
  /** `approximate` reads the language by rules of its spelling, with the sounds of another */
  quality: 'native' | 'approximate'
  /** Whether its engine is installed here */
  available: boolean
}

export type StoppedPlaying = {
  /** Id of the call, such as `call_…` */
  call_id: string
  play_id: string | null
  /** Nothing is played any more */
  status: 'stopped'
  /** When it was stopped */
  started_at: string
}

/** The subscription, with its period and its next charge */
export type Subscription = {
  /** Id of the subscription, such as `sub_…` */
  subscription_id: string
  /** `incomplete` waits for its first payment, `past_due` for one that failed */
  status: 'trialing' | 'incomplete' | 'active' | 'past_due' | 'paused' | 'cancelled'
  /** The plan, such as `plan_…` */
  plan_id: string
  customer: Customer
  /** How many of the plan */
  quantity: number
  /** Of a period, in major units */
  amount: number
  /** ISO 4217, such as KES; of all amounts here */
  currency: string
  /** From when it is paid for */
  current_period_start: string
  /** Until when it is paid for */
  current_period_end: string
  trial_end: string | null
  /** Day on which periods begin */
  billing_anchor: string
  next_billing_at: string | null
  /** True: it ends when what was paid for is over, and is not renewed */
  cancel_at_period_end: boolean
  cancelled_at: string | null
  cancel_reason: string | null
  latest_invoice_id: string | null
  /** How periods are paid */
  payment_method: {
  /** `invoice`: by the link of each invoice */
  type: 'mobile_money' | 'card' | 'invoice'
  phone: string | null
  provider: string | null
  card_token: string | null
}
  /** Whether a change in mid-period is charged by its part */
  proration: 'create_prorations' | 'none'
  /** Periods begun */
  cycles: number
  max_cycles: number | null
  reference: string | null
  /** Your own notes, such as `{"order": "1042"}`: stored, and repeated in replies and events. Must be an object of at most 50 names of 1 to 40 characters, with text of at most 500 characters, numbers or booleans, 8 KiB in all */
  metadata: Record<string, string | number | boolean>
  /** When it was made */
  created_at: string
}

export type SubscriptionEvent = {
  /** False in the test environment */
  livemode: boolean
  /** Order of the events of one object, from 1 */
  sequence: number
  /** Id of the subscription, such as `sub_…` */
  subscription_id: string
  /** `incomplete` waits for its first payment, `past_due` for one that failed */
  status: 'trialing' | 'incomplete' | 'active' | 'past_due' | 'paused' | 'cancelled'
  /** Id of its plan, such as `plan_…` */
  plan_id: string
  customer: Customer
  cancelled_at: string | null
  cancel_reason: string | null
  /** Your own notes, such as `{"order": "1042"}`: stored, and repeated in replies and events. Must be an object of at most 50 names of 1 to 40 characters, with text of at most 500 characters, numbers or booleans, 8 KiB in all */
  metadata: Record<string, string | number | boolean>
  subscription: Subscription
}

/** Part of every reply that is no error */
export type Succeeded = {
  /** True; an error has false, and says what in `error` */
  success: true
}

export type System = {
  /** Of the node that answers */
  version: string
  /** Where the schema of the database stands */
  migrations: {
  /** Migrations that the database has */
  applied: number
  /** The newest of them */
  latest: string
  /** When that one was applied */
  latest_at: string
}
  /** Nodes that are alive */
  nodes: {
  /** Id of the node, such as `node_…` */
  id: string
  /** Name of its machine */
  host: string
  /** What it runs */
  version: string
  /** What it does, such as `api` or `dispatch` */
  roles: string[]
  /** When it started */
  started_at: string
  /** When it last said that it is alive */
  seen_at: string
}[]
  /** Jobs by lane */
  queues: {
  /** Which kind of job */
  lane: string
  /** Jobs that could run now */
  due: number
  /** Jobs leased to a node */
  running: number
  /** Jobs for later */
  scheduled: number
  /** Jobs that used up their attempts and wait for a person */
  failed: number
  /** How long the oldest due job has waited */
  oldest_seconds: number
}[]
}

export type TeamMember = {
  /** Id of the member, such as `mbr_…` */
  id: string
  /** By which they sign in */
  email: string
  /** As the console greets them; empty if none was given */
  name: string
  /** See docs/console.md for what each may do */
  role: 'owner' | 'admin' | 'developer' | 'finance' | 'supervisor' | 'agent' | 'reviewer' | 'viewer'
  /** `invited` until they accept; a `disabled` one cannot sign in */
  status: 'invited' | 'active' | 'disabled'
  /** Whether they also run the installation */
  operator: boolean
  /** Whether signing in needs a second factor */
  totp_enabled: boolean
  last_login_at: string | null
  /** When they were invited */
  created_at: string
}

export type Timeline = {
  /** What it is the timeline of */
  id: string
  /** Oldest first */
  frames: TimelineFrame[]
}

export type TimelineFrame = {
  /** When it began */
  at: string
  /** `request` is yours, `state` a status of ours; the others went over the wire */
  kind: 'request' | 'state' | 'smpp' | 'provider' | 'callback' | 'webhook'
  direction: ('in' | 'out') | null
  /** What it was, such as `submit_sm`, a method and path, or the status */
  title: string
  peer: string | null
  status: string | null
  is_ok: boolean | null
  duration_ms: number | null
  request: string | null
  answer: string | null
  /** What was said and answered over SMPP; empty for other kinds */
  pdus: TimelinePdu[]
}

export type TimelinePdu = {
  /** Name of the PDU, such as `submit_sm` */
  command: string
  /** Its octets; the text is stars where only the recipient may read it */
  hex: string
  /** Its fields, in the order of the octets */
  fields: {
  /** Name of the field in SMPP */
  name: string
  /** First octet */
  start: number
  /** Octets */
  length: number
  /** What it says, in words */
  value: string
}[]
}

export type Topup = {
  /** Id of the payment, such as `pay_…` */
  payment_id: string
  /** `requires_action` waits for the payer at `redirect_url` */
  status: 'pending' | 'processing' | 'requires_action' | 'completed' | 'failed' | 'cancelled' | 'expired'
  /** In major units */
  amount: number
  /** ISO 4217, such as KES; of all amounts here */
  currency: string
  provider: string | null
  completed_at: string | null
  receipt_url: string | null
  /** How the money moves */
  method: 'mobile_money' | 'card' | 'bank_transfer'
  phone: string | null
  reference: string | null
  description: string | null
  customer: Customer
  /** Your own notes, such as `{"order": "1042"}`: stored, and repeated in replies and events. Must be an object of at most 50 names of 1 to 40 characters, with text of at most 500 characters, numbers or booleans, 8 KiB in all */
  metadata: Record<string, string | number | boolean>
  /** What it cost you, in major units */
  fee: number
  /** What your wallet gets: the amount less the fee */
  net_amount: number
  provider_reference: string | null
  /** By all refunds that did not fail */
  amount_refunded: number
  /** How much of it was given back */
  refund_status: 'none' | 'partial' | 'full'
  /** What was given back of it */
  refunds: Refund[]
  failure_reason: string | null
  failure_message: string | null
  /** How risky it looked; null where it was not judged */
  risk: ({
  /** 0 for none to 100 */
  risk_score: number
  /** The score in a word */
  risk_level: 'low' | 'medium' | 'high' | 'very_high'
  /** What raised it */
  flags: string[]
  /** What became of it by that */
  decision?: 'allow' | 'require_3ds' | 'review' | 'block' | undefined
  /** The rule that decided it */
  rule_id?: string | null | undefined
  /** The check, such as `rsk_…`, that tells more */
  risk_check_id?: string | undefined
}) | null
  /** The money came after the payment had been given up */
  late: boolean
  invoice_id: string | null
  /** The link over which it was paid */
  payment_link_id?: string | undefined
  /** Of a top-up, with what follows, where it is read */
  type: 'topup'
  /** Which wallet it fills */
  wallet_id: string
  /** What the wallet held with it; null until the money is there */
  new_balance: number | null
  /** Of a payment that was disputed */
  dispute_status?: 'open' | 'won' | 'lost' | undefined
  /** Where to send the payer; while that is awaited */
  redirect_url?: string | undefined
  card?: Card | undefined
  /** The card as it was saved */
  card_token?: string | undefined
  /** Until then the money is set aside, to be captured */
  authorised_until?: string | undefined
  /** What was set aside before it was captured */
  amount_authorised?: number | undefined
  bank?: PaymentBank | undefined
  bank_transfer?: BankTransfer | undefined
  /** What the payer dials to see what waits for approval; until the payment is over */
  ussd_code?: string | undefined
  expires_at: string | null
  /** When it was asked for */
  created_at: string
  /** When something last changed */
  updated_at: string
}

export type Transaction = {
  /** Id of the transaction, such as `txn_…` */
  transaction_id: string
  /** What moved the money */
  type: 'payment' | 'topup' | 'refund' | 'payout'
  payment_id: string | null
  payout_id: string | null
  refund_id: string | null
  /** How far it came */
  status: 'pending' | 'processing' | 'requires_action' | 'completed' | 'failed' | 'cancelled' | 'expired' | 'reversed'
  /** In major units of `currency`; always positive */
  amount: number
  /** What it cost you */
  fee: number
  /** The amount with the fee taken into account */
  net_amount: number
  /** Of the amounts */
  currency: string
  /** `credit` comes into your wallet, `debit` leaves it */
  direction: 'credit' | 'debit'
  /** How the money moves */
  method: 'mobile_money' | 'card' | 'bank_transfer'
  provider: string | null
  phone: string | null
  reference: string | null
  provider_reference: string | null
  description: string | null
  /** Your own notes, such as `{"order": "1042"}`: stored, and repeated in replies and events. Must be an object of at most 50 names of 1 to 40 characters, with text of at most 500 characters, numbers or booleans, 8 KiB in all */
  metadata: Record<string, string | number | boolean>
  /** When it was asked for */
  created_at: string
  completed_at: string | null
}

export type Transcription = {
  /** Id of the recording, such as `rec_…` */
  recording_id: string
  /** Which language was understood */
  language: string
  /** All that was said */
  text: string
  /** The same, piece by piece */
  segments: ({
  /** Seconds from the beginning */
  start: number
  /** Seconds from the beginning */
  end: number
  /** 0 is the left one */
  channel: number
  /** Null where all are on one channel */
  speaker: ('customer' | 'agent') | null
  /** What was said */
  text: string
  /** 0 to 1 */
  confidence: number
})[]
}

export type TriggeredEvent = {
  /** Id of the event, such as `evt_…` */
  id: string
  /** Name in the event catalogue */
  event: string
  /** When it was made */
  created_at: string
  /** What subscribers receive */
  payload: unknown
}

export type Usage = {
  /** First day, UTC */
  start_date: string
  /** Last day, UTC */
  end_date: string
  /** In all these days */
  requests: number
  /** Requests that were refused or failed */
  errors: number
  /** Requests by what `group_by` names; null where it is not named */
  rows: ({
  day: string | null
  area: string | null
  operation: string | null
  /** All of them */
  requests: number
  /** Those that were refused or failed */
  errors: number
})[]
  /** What was charged, by what `group_by` names */
  spend: ({
  day: string | null
  area: string | null
  country: string | null
  /** Of the cost */
  currency: string
  /** Less what was given back */
  cost: number
  /** How often something was paid for */
  count: number
})[]
  /** Each limit as it stands now */
  limits: {
  /** `key`, or `plan-` and the area */
  policy: string
  /** Requests in a window */
  limit: number
  /** Length of a window, in seconds */
  window: number
  /** Requests left in this window */
  remaining: number
  /** When all of them are there again */
  resets_at: string
}[]
}

export type UssdAnalytics = {
  /** Sessions that began on these days are counted */
  period: {
  /** First day, UTC; included */
  start_date: string
  /** Last day, UTC; included */
  end_date: string
}
  shortcode: string | null
  /** How many began */
  sessions?: number | undefined
  completion_rate?: number | null | undefined
  avg_duration?: number | null | undefined
  /** The most frequent inputs, at most 20 */
  popular_paths?: {
  /** What was typed, joined by `>`, such as `1>2` */
  path: string
  /** Sessions with these inputs */
  count: number
}[] | undefined
  /** Screens at which sessions expired or were given up, most frequent first, at most 20 */
  drop_off?: {
  /** Number of that screen, from 1 */
  step: number
  /** First line of the screen that the subscriber left */
  screen: string
  /** Sessions that ended there */
  sessions: number
  /** Percent of all sessions */
  rate: number
}[] | undefined
  error_rate?: number | null | undefined
  /** How long your application took */
  app_latency?: {
  p50: number | null
  p95: number | null
  p99: number | null
} | undefined
  /** Sessions by network, most first, at most 20 */
  networks?: ({
  network: string | null
  /** Sessions of its subscribers */
  sessions: number
})[] | undefined
  /** Hours or days with a session, oldest first; where `interval` is given */
  series?: {
  /** When the hour or day begins, UTC */
  at: string
  /** Sessions that began in it */
  sessions: number
  /** Those of them that were completed */
  completed: number
}[] | undefined
}

export type UssdCallback = {
  session_id?: string | null | undefined
  /** JSON: the subscriber, in E.164 */
  phone?: string | undefined
  /** JSON: what was dialled, such as *384*1# */
  shortcode?: string | undefined
  /** JSON: a dial, an input, or the end of the session; needed in this dialect */
  type?: 'initiation' | 'response' | 'release' | 'timeout' | undefined
  input?: string | null | undefined
  /** Of the screen that is answered: a repeat with the same step is the same answer */
  step?: number | undefined
  network?: string | null | undefined
  language?: string | null | undefined
  /** Africa’s Talking: id of the dialog */
  sessionId?: string | number | null | undefined
  /** Africa’s Talking: the code that was dialled */
  serviceCode?: string | number | null | undefined
  /** Africa’s Talking: the subscriber, in E.164 */
  phoneNumber?: string | number | null | undefined
  text?: string | null | undefined
  /** Africa’s Talking: code of the network, such as 63902 */
  networkCode?: string | number | null | undefined
  /** Hubtel: Initiation, Response, Release or Timeout */
  Type?: string | number | null | undefined
  /** Hubtel: the subscriber */
  Mobile?: string | number | null | undefined
  /** Hubtel: id of the dialog */
  SessionId?: string | number | null | undefined
  /** Hubtel: the code that was dialled */
  ServiceCode?: string | number | null | undefined
  Message?: string | null | undefined
  /** Hubtel: network of the subscriber */
  Operator?: string | number | null | undefined
  /** Hubtel: number of the call, by which a repeat is known */
  Sequence?: string | number | null | undefined
  ClientState?: string | null | undefined
}

export type UssdCallbackReply = {
  /** JSON: id of the session, for the calls that follow */
  session_id?: string | undefined
  /** JSON: whether the screen can be answered */
  action?: 'continue' | 'end' | undefined
  /** JSON: the screen */
  message?: string | undefined
  /** JSON: id of the screen, such as `ussd_…` */
  message_id?: string | undefined
  /** Hubtel: id of the dialog, as it came */
  SessionId?: string | undefined
  /** Hubtel: `response` can be answered */
  Type?: 'response' | 'release' | undefined
  /** Hubtel: the screen */
  Message?: string | undefined
  /** Hubtel: as it came */
  ClientState?: string | undefined
}

export type UssdContinue = {
  /** Your own id of the session, used once. Must have 1 to 64 letters, digits, or _ . : - */
  session_id: string
  /** What the subscriber typed. Must have 1 to 182 characters */
  input: string
  /** The screen. Must have 1 to 182 characters */
  message: string
  /** The session ends with this screen */
  end_session?: boolean | undefined
  /** Small state of your flow; sealed where it is stored. Must be an object of at most 4096 bytes as JSON */
  data?: Record<string, unknown> | undefined
  /** `data` is added to what is stored, rather than replacing it */
  data_merge?: boolean | undefined
}

export type UssdContinued = {
  /** `completed` where this was the last screen */
  status: 'active' | 'completed'
  /** Id of the screen */
  message_id: string
  /** Id of the session: `uss_…`, or the one you gave it */
  session_id: string
  /** Who is shown it */
  phone: string
  /** Number of the screen, from 1 */
  step: number
  input: string | null
  /** The screen */
  message: string
  /** Whether the session ends with it */
  end_session: boolean
  /** What the session now knows */
  data: Record<string, unknown>
  /** Screens cost nothing beside the session */
  cost: number
  expires_at: string | null
  /** When it was accepted */
  timestamp: string
  /** Screens that the message takes on the handset */
  screen_pages: number
}

export type UssdDryRun = {
  /** What the handset would show, in order */
  screens: ({
  /** What was typed before it; null for the first */
  input: string | null
  /** The screen */
  message: string
})[]
  /** `error`: a fetch node was told nothing usable */
  action: 'continue' | 'end' | 'error'
  /** Node of the last screen; null on an error */
  node: string | null
  /** What the session would know */
  variables: Record<string, unknown>
}

export type UssdEnd = {
  /** The screen. Must have 1 to 182 characters */
  message?: string | undefined
}

export type UssdGateway = {
  /** Id of the gateway, such as `usg_…` */
  id: string
  /** By which you tell it from other gateways */
  name: string
  /** Whether its subscribers are real (`live`) or yours to try (`test`) */
  environment: 'test' | 'live'
  /** Addresses or ranges that may call; none: anybody who knows the URL */
  allowed_ips: string[]
  /** When it was made */
  created_at: string
}

export type UssdGatewayCreate = {
  /** By which you tell it from other gateways. Must have 1 to 60 characters */
  name: string
  /** Whether its subscribers are real (`live`) or yours to try (`test`) */
  environment: 'test' | 'live'
  /** Addresses or ranges such as 41.90.0.0/16 that may call; anybody who knows the URL unless given. Must list at most 100 addresses */
  allowed_ips?: string[] | undefined
}

export type UssdGatewayCreated = {
  /** Id of the gateway, such as `usg_…` */
  id: string
  /** By which you tell it from other gateways */
  name: string
  /** Whether its subscribers are real (`live`) or yours to try (`test`) */
  environment: 'test' | 'live'
  /** Addresses or ranges that may call; none: anybody who knows the URL */
  allowed_ips: string[]
  /** When it was made */
  created_at: string
  /** What the gateway calls; shown this once */
  url: string
}

/** How the gateway differs from SMPP 3.4; nothing unless given */
export type UssdGatewayProfile = {
  /** `USSD` in SMPP; what the gateway wants to be told of every screen. Must have at most 5 letters, digits or signs of ASCII */
  service_type?: string | undefined
  /** Of the parameter with the operation; 1281 (0x0501) is ussd_service_op. Must be 1 to 65535 */
  op_tag?: number | undefined
  /** Of the parameter that names the dialog; 4995 (0x1383) is its_session_info. Must be 1 to 65535 */
  session_tag?: number | undefined
  /** Octets of the dialog’s number. Must be 1 to 6 */
  dialog_bytes?: number | undefined
  /** Operation -> the octet that stands for it */
  ops?: {
  /** A subscriber dialled a code; 1 unless told. Must be 0 to 255 */
  dialled?: number | undefined
  /** A screen that can be answered; 2 unless told. Must be 0 to 255 */
  asks?: number | undefined
  /** A screen that cannot be answered; 3 unless told. Must be 0 to 255 */
  tells?: number | undefined
  /** The last screen of a session; 17 unless told. Must be 0 to 255 */
  ends?: number | undefined
  /** A subscriber answered a screen; 18 unless told. Must be 0 to 255 */
  answered?: number | undefined
  /** The subscriber gave the session up; 129 unless told. Must be 0 to 255 */
  aborted?: number | undefined
  /** The network gave the session up; 130 unless told. Must be 0 to 255 */
  released?: number | undefined
} | undefined
}

export type UssdHandsetScreen = {
  /** Id of the session, by which it is answered */
  session_id: string
  message: string | null
  /** `continue`: the screen can be answered */
  action: 'continue' | 'end'
}

export type UssdInitiate = {
  /** Whose handset shows it. Must be E.164, such as +254711000001 */
  phone?: string | undefined
  /** The same as phone; one of them is needed. Must be E.164, such as +254711000001 */
  phone_number?: string | undefined
  /** Your own id of the session, used once. Must have 1 to 64 letters, digits, or _ . : - */
  session_id?: string | undefined
  /** A code that is assigned to you. Must be a shortcode such as *384# or *384*1# */
  shortcode: string
  /** The screen. Must have 1 to 182 characters */
  message: string
  /** Small state of your flow; sealed where it is stored. Must be an object of at most 4096 bytes as JSON */
  data?: Record<string, unknown> | undefined
  /** Seconds without activity after which the session expires. Must be 10 to 180 seconds */
  timeout?: number | undefined
  /** A notice that cannot be answered */
  end_session?: boolean | undefined
  /** Asked for the next screens of this session, in place of the shortcode’s URL */
  callback_url?: string | undefined
  /** Your own notes, such as `{"order": "1042"}`: stored, and repeated in replies and events. Must be an object of at most 50 names of 1 to 40 characters, with text of at most 500 characters, numbers or booleans, 8 KiB in all */
  metadata?: Record<string, string | number | boolean> | undefined
}

export type UssdMenu = {
  /** Id of the menu, such as `usn_…` */
  id: string
  /** From 1, and one more with each change; sessions stay on theirs */
  version: number
  /** By which you tell it from your others. Must have 1 to 100 characters */
  name: string
  /** In which every text must be written; the first is that of subscribers with another */
  languages?: string[] | undefined
  /** The screen that a session begins with. Must have 1 to 40 letters, digits, _ or - */
  start: string
  /** Screens by their names. Must have 1 to 200 screens */
  nodes: Record<string, {
  /** `{{data.name}}` stands for what the session knows. Must be a text, or an object with a text for each language */
  text?: string | Record<string, string> | undefined
  /** What can be chosen, shown below the text. Must list 1 to 50 options */
  options?: ({
  /** What is typed for it; its place in the list unless given. 0 is back and 00 the start where no option has them. Must be 1 to 4 keys of a telephone */
  key?: string | undefined
  /** `{{data.name}}` stands for what the session knows. Must be a text, or an object with a text for each language */
  label: string | Record<string, string>
  /** The screen it leads to. Must have 1 to 40 letters, digits, _ or - */
  next: string
})[] | undefined
  /** Takes what is typed and goes on to `next` */
  input?: {
  /** Name under which the session knows it: `amount` is `{{data.amount}}`. Must be a name such as amount */
  save: string
  /** What the input fits: characters, classes such as \d or [a-z], alternatives with |, and at most two of * + ? {n,m}, without groups */
  pattern?: string | undefined
  /** `{{data.name}}` stands for what the session knows. Must be a text, or an object with a text for each language */
  error?: string | Record<string, string> | undefined
} | undefined
  /** Asks your application before the screen is shown; its reply may hold `data`, `next` and `message` */
  fetch?: {
  /** What is asked by POST, https:// */
  url: string
  /** Milliseconds to wait for the reply; 3000 unless given. Must be 100 to 5000 */
  timeout_ms?: number | undefined
} | undefined
  /** The screen that follows an input or a fetch. Must have 1 to 40 letters, digits, _ or - */
  next?: string | undefined
  /** True: the session ends with this screen */
  end?: boolean | undefined
  /** A text to the subscriber when the screen is reached */
  sms?: {
  /** `{{data.name}}` stands for what the session knows. Must be a text, or an object with a text for each language */
  message: string | Record<string, string>
  /** The account’s default_sender, or the code, unless given */
  from?: string | undefined
} | undefined
  /** A payment that is asked of the phone when the session is over; on screens that end it */
  pay?: {
  /** In major units, or what the session knows. Must be an amount, or a text such as {{data.amount}} */
  amount: number | string
  /** What is paid in. Must be a currency such as KES */
  currency: string
  /** Such as `mpesa`; by the number of the subscriber unless given */
  provider?: string | undefined
} | undefined
}>
  /** When it was made */
  created_at: string
  /** When it was last changed */
  updated_at: string
}

export type UssdMenuDocument = {
  /** By which you tell it from your others. Must have 1 to 100 characters */
  name: string
  /** In which every text must be written; the first is that of subscribers with another */
  languages?: string[] | undefined
  /** The screen that a session begins with. Must have 1 to 40 letters, digits, _ or - */
  start: string
  /** Screens by their names. Must have 1 to 200 screens */
  nodes: Record<string, {
  /** `{{data.name}}` stands for what the session knows. Must be a text, or an object with a text for each language */
  text?: string | Record<string, string> | undefined
  /** What can be chosen, shown below the text. Must list 1 to 50 options */
  options?: ({
  /** What is typed for it; its place in the list unless given. 0 is back and 00 the start where no option has them. Must be 1 to 4 keys of a telephone */
  key?: string | undefined
  /** `{{data.name}}` stands for what the session knows. Must be a text, or an object with a text for each language */
  label: string | Record<string, string>
  /** The screen it leads to. Must have 1 to 40 letters, digits, _ or - */
  next: string
})[] | undefined
  /** Takes what is typed and goes on to `next` */
  input?: {
  /** Name under which the session knows it: `amount` is `{{data.amount}}`. Must be a name such as amount */
  save: string
  /** What the input fits: characters, classes such as \d or [a-z], alternatives with |, and at most two of * + ? {n,m}, without groups */
  pattern?: string | undefined
  /** `{{data.name}}` stands for what the session knows. Must be a text, or an object with a text for each language */
  error?: string | Record<string, string> | undefined
} | undefined
  /** Asks your application before the screen is shown; its reply may hold `data`, `next` and `message` */
  fetch?: {
  /** What is asked by POST, https:// */
  url: string
  /** Milliseconds to wait for the reply; 3000 unless given. Must be 100 to 5000 */
  timeout_ms?: number | undefined
} | undefined
  /** The screen that follows an input or a fetch. Must have 1 to 40 letters, digits, _ or - */
  next?: string | undefined
  /** True: the session ends with this screen */
  end?: boolean | undefined
  /** A text to the subscriber when the screen is reached */
  sms?: {
  /** `{{data.name}}` stands for what the session knows. Must be a text, or an object with a text for each language */
  message: string | Record<string, string>
  /** The account’s default_sender, or the code, unless given */
  from?: string | undefined
} | undefined
  /** A payment that is asked of the phone when the session is over; on screens that end it */
  pay?: {
  /** In major units, or what the session knows. Must be an amount, or a text such as {{data.amount}} */
  amount: number | string
  /** What is paid in. Must be a currency such as KES */
  currency: string
  /** Such as `mpesa`; by the number of the subscriber unless given */
  provider?: string | undefined
} | undefined
}>
}

export type UssdResponseEvent = {
  /** Id of the session: `uss_…`, or the one you gave it */
  session_id: string
  /** The subscriber, in E.164 */
  phone: string
  input: string | null
  /** What you keep with the session */
  data: Record<string, unknown>
  /** The code that was dialled, or that pushed */
  shortcode: string
  /** `initiation` when the code is dialled, then `response` */
  type: 'initiation' | 'response'
  /** Number of the screen that is asked for, from 1 */
  step: number
  /** All inputs so far, joined by `*` */
  text: string
  network: string | null
  /** When the next screen must be here */
  deadline: string
  resumed_from: string | null
  language: string | null
}

export type UssdSend = {
  /** Whose handset shows it. Must be E.164, such as +254711000001 */
  phone: string
  /** Your own id of the session, used once. Must have 1 to 64 letters, digits, or _ . : - */
  session_id: string
  /** A code that is assigned to you. Must be a shortcode such as *384# or *384*1# */
  shortcode: string
  /** The screen. Must have 1 to 182 characters */
  message: string
  /** Small state of your flow; sealed where it is stored. Must be an object of at most 4096 bytes as JSON */
  data?: Record<string, unknown> | undefined
  /** Seconds without activity after which the session expires. Must be 10 to 180 seconds */
  timeout?: number | undefined
  /** A notice that cannot be answered */
  end_session?: boolean | undefined
  /** Asked for the next screens of this session, in place of the shortcode’s URL */
  callback_url?: string | undefined
  /** Your own notes, such as `{"order": "1042"}`: stored, and repeated in replies and events. Must be an object of at most 50 names of 1 to 40 characters, with text of at most 500 characters, numbers or booleans, 8 KiB in all */
  metadata?: Record<string, string | number | boolean> | undefined
}

export type UssdSent = {
  /** The handset is being asked to show it */
  status: 'initiated'
  /** Id of the push, such as `ussd_…` */
  message_id: string
  /** Yours, or one that was made for you */
  session_id: string
  /** Who is shown it */
  phone: string
  /** Set aside now, and paid when the session ends */
  cost: number
  /** When it was accepted */
  timestamp: string
  /** Of the cost */
  currency: string
  /** The code it comes from */
  shortcode: string
  /** When the session ends without an answer */
  expires_at: string
}

export type UssdSession = {
  /** Id of the session: yours, or one that was made */
  session_id: string
  /** The subscriber, in E.164 */
  phone: string
  /** The code that was dialled, or that pushed */
  shortcode: string
  /** `initiated` until the first screen is shown, then `active` until it is `completed` or `expired` */
  status: 'initiated' | 'active' | 'completed' | 'expired'
  /** When it began */
  created_at: string
  /** When something was last typed or shown */
  last_activity: string
  expires_at: string | null
  /** Wiped 24 hours after the end */
  data: Record<string, unknown>
  /** Its screens, oldest first */
  history: ({
  /** Number of the screen, from 1 */
  step: number
  input: string | null
  /** What was shown */
  output: string
  /** When it was shown */
  at: string
  app_ms: number | null
  /** The input as your application gave it, where it differs */
  app_input?: string | undefined
})[]
  /** `dial` by the subscriber, `push` by you */
  direction: 'push' | 'dial'
  network: string | null
  language: string | null
  /** Seconds without activity after which it expires */
  timeout: number
  ended_at: string | null
  reason: ('completed' | 'expired' | 'user_cancelled' | 'network_released' | 'app_timeout' | 'app_error' | 'replaced' | 'undeliverable') | null
  /** Seconds from its beginning to its end, or until now */
  duration: number
  /** Screens so far */
  total_steps: number
  /** Screens that the last message takes on the handset */
  screen_pages: number
  /** In major units of `currency` */
  cost: number
  /** Of the cost */
  currency: string
  resumed_from: string | null
  /** Your own notes, such as `{"order": "1042"}`: stored, and repeated in replies and events. Must be an object of at most 50 names of 1 to 40 characters, with text of at most 500 characters, numbers or booleans, 8 KiB in all */
  metadata: Record<string, string | number | boolean>
}

export type UssdSessionEndedEvent = {
  /** Id of the session: `uss_…`, or the one you gave it */
  session_id: string
  /** The subscriber, in E.164 */
  phone: string
  /** Why it ended */
  reason: 'completed' | 'expired' | 'user_cancelled' | 'network_released' | 'app_timeout' | 'app_error' | 'replaced' | 'undeliverable'
  /** Seconds from its beginning to its end */
  duration: number
  /** Screens that were shown */
  total_steps: number
  /** `expired` if nobody answered in time */
  status: 'completed' | 'expired'
  /** What you keep with the session */
  data: Record<string, unknown>
}

export type UssdSessionStartedEvent = {
  /** Id of the session: `uss_…`, or the one you gave it */
  session_id: string
  /** The subscriber, in E.164 */
  phone: string
  /** The code that was dialled, or that pushed */
  shortcode: string
  /** Dialled by the `user`, or pushed by you */
  initiated_by: 'user' | 'application'
  /** What you keep with the session */
  data: Record<string, unknown>
}

export type UssdShortcode = {
  /** What is dialled, such as `*384*1#` */
  shortcode: string
  /** `webhook`: your URL is sent ussd.response; `text`: it speaks CON and END; `menu`: a stored menu answers */
  mode: 'webhook' | 'text' | 'menu'
  /** Asked for each screen */
  url: string | null
  /** Asked where `url` gives no answer and time is left */
  fallback_url: string | null
  menu_id: string | null
  /** Seconds without activity after which the session expires. Must be 10 to 180 seconds */
  timeout: number
  /** Seconds that the network waits for a screen; yours must be here a second sooner. Must be 3 to 60 seconds */
  network_limit: number
  /** The screen. Must have 1 to 182 characters */
  error_message: string
  /** Seconds after an expired session in which a redial goes on with its data. Must be 0 to 3600 seconds */
  resume_window: number
  language_default: string | null
  /** Words of the lines that turn pages */
  pages: {
  /** Leads to the next page of a long screen. Must have 1 to 20 characters */
  more: string
  /** Leads to the page before. Must have 1 to 20 characters */
  back: string
}
  /** Accents become letters of the GSM alphabet, so that more fits a screen */
  transliterate: boolean
  /** When it was assigned */
  created_at: string
  /** When it was last changed */
  updated_at: string
}

export type UssdShortcodeAssignment = {
  /** Whose code it becomes, such as `acc_…` */
  account_id: string
  /** A code that is assigned to you. Must be a shortcode such as *384# or *384*1# */
  shortcode: string
}

export type UssdShortcodeChange = {
  /** `webhook`: your URL is sent ussd.response; `text`: it speaks CON and END; `menu`: a stored menu answers */
  mode?: 'webhook' | 'text' | 'menu' | undefined
  /** Asked for each screen */
  url?: string | null | undefined
  /** Asked where `url` gives no answer and time is left */
  fallback_url?: string | null | undefined
  menu_id?: string | null | undefined
  /** Seconds without activity after which the session expires. Must be 10 to 180 seconds */
  timeout?: number | undefined
  /** Seconds that the network waits for a screen; yours must be here a second sooner. Must be 3 to 60 seconds */
  network_limit?: number | undefined
  /** The screen. Must have 1 to 182 characters */
  error_message?: string | undefined
  /** Seconds after an expired session in which a redial goes on with its data. Must be 0 to 3600 seconds */
  resume_window?: number | undefined
  language_default?: string | null | undefined
  /** Words of the lines that turn pages */
  pages?: {
  /** Leads to the next page of a long screen. Must have 1 to 20 characters */
  more: string
  /** Leads to the page before. Must have 1 to 20 characters */
  back: string
} | undefined
  /** Accents become letters of the GSM alphabet, so that more fits a screen */
  transliterate?: boolean | undefined
}

export type UssdShortcodeCreate = {
  /** A code that is assigned to you. Must be a shortcode such as *384# or *384*1# */
  shortcode: string
  /** `webhook`: your URL is sent ussd.response; `text`: it speaks CON and END; `menu`: a stored menu answers */
  mode?: 'webhook' | 'text' | 'menu' | undefined
  /** Asked for each screen */
  url?: string | null | undefined
  /** Asked where `url` gives no answer and time is left */
  fallback_url?: string | null | undefined
  menu_id?: string | null | undefined
  /** Seconds without activity after which the session expires. Must be 10 to 180 seconds */
  timeout?: number | undefined
  /** Seconds that the network waits for a screen; yours must be here a second sooner. Must be 3 to 60 seconds */
  network_limit?: number | undefined
  /** The screen. Must have 1 to 182 characters */
  error_message?: string | undefined
  /** Seconds after an expired session in which a redial goes on with its data. Must be 0 to 3600 seconds */
  resume_window?: number | undefined
  language_default?: string | null | undefined
  /** Words of the lines that turn pages */
  pages?: {
  /** Leads to the next page of a long screen. Must have 1 to 20 characters */
  more: string
  /** Leads to the page before. Must have 1 to 20 characters */
  back: string
} | undefined
  /** Accents become letters of the GSM alphabet, so that more fits a screen */
  transliterate?: boolean | undefined
}

export type UssdShortcodeDeleted = {
  /** What is no longer answered */
  shortcode: string
  /** True: it serves nobody from now on */
  deleted: true
}

export type UssdSmppGateway = {
  /** By which requests name it */
  name: string
  /** Where the gateway takes connections. Must be a host name or address */
  host: string
  /** Its TCP port. Must be 1 to 65535 */
  port: number
  /** Our name there, as the network gave it. Must have 1 to 15 characters */
  system_id: string
  /** Whether the gateway speaks TLS, with a certificate of a public authority */
  tls: boolean
  /** Category that some gateways want in the bind; mostly empty. Must have at most 12 characters */
  system_type: string
  /** One connection, or a transmitter and a receiver */
  bind_mode: 'transceiver' | 'pair'
  /** Screens that may wait for the gateway’s answer at a time; 100 unless told. Must be 1 to 1000 */
  window: number
  /** Seconds after which a screen without an answer of the gateway has failed; 10 unless told. Must be 1 to 60 */
  response_timeout_seconds: number
  /** Seconds of silence after which the connection is tested; 30 unless told. Must be 1 to 3600 */
  enquire_link_seconds: number
  /** Where pushed screens go over it; none: everywhere. Must list at most 100 beginnings of numbers such as +25470 */
  prefixes: string[]
  profile: UssdGatewayProfile
  /** False closes its connections; true unless told */
  enabled: boolean
  node: string | null
  /** Whether screens can go over it, as that node last said */
  is_up: boolean
  last_error: string | null
  /** When it was entered */
  created_at: string
  /** When its settings last changed */
  updated_at: string
}

export type UssdSmppGatewayChange = {
  /** Where the gateway takes connections. Must be a host name or address */
  host?: string | undefined
  /** Its TCP port. Must be 1 to 65535 */
  port?: number | undefined
  /** Our name there, as the network gave it. Must have 1 to 15 characters */
  system_id?: string | undefined
  /** As the network gave it; kept encrypted and never shown. Must have at most 8 characters */
  password?: string | undefined
  /** Whether the gateway speaks TLS, with a certificate of a public authority */
  tls?: boolean | undefined
  /** Category that some gateways want in the bind; mostly empty. Must have at most 12 characters */
  system_type?: string | undefined
  /** One connection, or a transmitter and a receiver */
  bind_mode?: 'transceiver' | 'pair' | undefined
  /** Screens that may wait for the gateway’s answer at a time; 100 unless told. Must be 1 to 1000 */
  window?: number | undefined
  /** Seconds after which a screen without an answer of the gateway has failed; 10 unless told. Must be 1 to 60 */
  response_timeout_seconds?: number | undefined
  /** Seconds of silence after which the connection is tested; 30 unless told. Must be 1 to 3600 */
  enquire_link_seconds?: number | undefined
  /** Where pushed screens go over it; none: everywhere. Must list at most 100 beginnings of numbers such as +25470 */
  prefixes?: string[] | undefined
  profile?: UssdGatewayProfile | undefined
  /** False closes its connections; true unless told */
  enabled?: boolean | undefined
}

export type UssdSmppGatewayCreate = {
  /** By which you tell it from other gateways; it cannot be changed. Must have 1 to 40 small letters, digits or -, and begin with a letter */
  name: string
  /** Where the gateway takes connections. Must be a host name or address */
  host: string
  /** Its TCP port. Must be 1 to 65535 */
  port: number
  /** Our name there, as the network gave it. Must have 1 to 15 characters */
  system_id: string
  /** As the network gave it; kept encrypted and never shown. Must have at most 8 characters */
  password: string
  /** Whether the gateway speaks TLS, with a certificate of a public authority */
  tls?: boolean | undefined
  /** Category that some gateways want in the bind; mostly empty. Must have at most 12 characters */
  system_type?: string | undefined
  /** One connection, or a transmitter and a receiver */
  bind_mode?: 'transceiver' | 'pair' | undefined
  /** Screens that may wait for the gateway’s answer at a time; 100 unless told. Must be 1 to 1000 */
  window?: number | undefined
  /** Seconds after which a screen without an answer of the gateway has failed; 10 unless told. Must be 1 to 60 */
  response_timeout_seconds?: number | undefined
  /** Seconds of silence after which the connection is tested; 30 unless told. Must be 1 to 3600 */
  enquire_link_seconds?: number | undefined
  /** Where pushed screens go over it; none: everywhere. Must list at most 100 beginnings of numbers such as +25470 */
  prefixes?: string[] | undefined
  profile?: UssdGatewayProfile | undefined
  /** False closes its connections; true unless told */
  enabled?: boolean | undefined
}

export type VoiceNumber = {
  /** In E.164 */
  number: string
  country: string | null
  /** What it can be used for, such as `voice` */
  capabilities: string[]
  /** What answers its calls; null: nothing does */
  assigned_to: ({
  /** What answers its calls */
  type: 'application' | 'queue' | 'ivr' | 'agent' | 'routing'
  /** Of a queue, an IVR or an agent */
  id?: string | undefined
  /** Of an application: asked for the flow of each call */
  answer_url?: string | undefined
  event_url?: string | null | undefined
  fallback_url?: string | null | undefined
  /** Of an application: how it is asked */
  answer_method?: 'POST' | 'GET' | undefined
}) | null
  /** When that was last changed */
  assigned_at: string
}

export type VoiceRate = {
  /** First digits of the numbers it is for, such as +2547 */
  prefix: string
  /** Of the price; accounts in it are charged by this rate */
  currency: string
  /** Price of a minute, in major units, to a millionth */
  minute: number
  /** When it was last set */
  updated_at: string
}

export type VoiceTrunk = {
  /** By which requests name it */
  name: string
  /** Where the network takes calls */
  host: string
  /** Its port there; 5060, or 5061 for TLS, unless told */
  port: number
  /** How SIP travels to the network */
  transport: 'udp' | 'tcp' | 'tls'
  domain: string | null
  username: string | null
  /** Whether a password is kept, which is never shown */
  has_password: boolean
  /** Whether this side registers there */
  registers: boolean
  /** First digits of the numbers that it takes; + alone takes every number */
  prefixes: string[]
  /** Of trunks that fit as well, the lower comes first */
  priority: number
  /** Calls at once, for each node */
  max_calls: number
  /** Addresses that its calls come from, beside that of the host */
  sources: string[]
  /** False: no calls go over it, and none are taken from it */
  enabled: boolean
  /** Whether it answers, as the answering node sees it */
  is_up: boolean
  /** Whether the network took our registration, as the answering node sees it */
  is_registered: boolean
  /** Calls over it on the answering node */
  calls: number
  last_error: string | null
  /** When it was entered */
  created_at: string
  /** When its settings last changed */
  updated_at: string
}

export type VoicemailReceivedEvent = {
  /** Whose call centre it is, such as `acc_…` */
  account_id: string
  /** Id of the voicemail, such as `vm_…` */
  voicemail_id: string
  /** The call in which it was left */
  call_id: string
  queue_id: string | null
  /** Who left it */
  from: string
  /** Seconds of sound */
  duration: number
  /** Where it is listened to */
  file_url: string
}

/** The wallet as it is now */
export type Wallet = {
  /** Id of the wallet, such as `wal_…` */
  wallet_id: string
  /** Of all its amounts */
  currency: string
  /** In major units, with what is held */
  balance: number
  /** What can be spent: the balance without what is held, and the credit limit */
  available: number
  /** Set aside for what is under way */
  held: number
  /** Top-ups that are not paid yet */
  pending: number
  /** True below the account’s low_balance_threshold */
  low_balance: boolean
  /** How it is filled by itself; null where that was never set */
  auto_recharge: ({
  /** Whether it is on */
  enabled: boolean
  /** The wallet is filled when less is available */
  threshold: number
  /** What is asked for each time, in major units */
  amount: number
  /** `paused` after three failures in a row */
  status: 'active' | 'paused' | 'disabled'
  /** Failures since the last success */
  consecutive_failures: number
}) | null
  /** When the balance last changed */
  updated_at: string
}

export type WalletBalance = {
  /** Id of the wallet, such as `wal_…` */
  wallet_id: string
  /** Of this wallet */
  currency: string
  /** In major units, with what is held */
  balance: number
  /** What can be spent: the balance without what is held, and the credit limit */
  available: number
  /** Set aside for what is not certain yet */
  held: number
  /** Collected, and not yet paid to us by the provider */
  pending: number
  /** How far the balance may go below zero */
  credit_limit: number
  /** All currencies */
  balances: {
  /** Of this wallet */
  currency: string
  /** In major units, with what is held */
  balance: number
  /** What can be spent: the balance without what is held, and the credit limit */
  available: number
  /** Set aside for what is not certain yet */
  held: number
  /** Collected, and not yet paid to us by the provider */
  pending: number
}[]
  /** True below the account’s low_balance_threshold */
  low_balance: boolean
  /** How the wallet is filled by itself; null where that was never set */
  auto_recharge: ({
  /** Whether it is on */
  enabled: boolean
  /** The wallet is filled when less is available */
  threshold: number
  /** What is asked for each time, in major units */
  amount: number
  /** `paused` after three failures in a row */
  status: 'active' | 'paused' | 'disabled'
  /** Failures since the last success */
  consecutive_failures: number
}) | null
  /** When the balance last changed */
  updated_at: string
}

export type WalletLowEvent = {
  /** False in the test environment */
  livemode: boolean
  /** Order of the events of one object, from 1 */
  sequence: number
  /** Of the wallet */
  currency: string
  /** What can be spent: the balance without what is held, and the credit limit */
  available: number
  /** What `available` should not fall below */
  threshold: number | null
  wallet: Wallet
}

export type WalletRechargeFailedEvent = {
  /** False in the test environment */
  livemode: boolean
  /** Order of the events of one object, from 1 */
  sequence: number
  /** Of the wallet */
  currency: string
  /** What can be spent: the balance without what is held, and the credit limit */
  available: number
  /** What `available` should not fall below */
  threshold: number | null
  /** Why it was not filled */
  failure_reason: string
  payment_id: string | null
  wallet: Wallet
}

export type WalletTopupEvent = {
  /** False in the test environment */
  livemode: boolean
  /** Order of the events of one object, from 1 */
  sequence: number
  /** Of the wallet */
  currency: string
  /** What can be spent: the balance without what is held, and the credit limit */
  available: number
  /** What `available` should not fall below */
  threshold: number | null
  /** What came in */
  amount: number
  /** The payment that filled it, such as `pay_…` */
  payment_id: string
  wallet: Wallet
}

export type WalletTransaction = {
  /** Not of a hold */
  transaction_id?: string | undefined
  /** What it was for */
  type: 'usage_sms' | 'usage_messenger' | 'usage_email' | 'usage_voice' | 'usage_ussd' | 'usage_identity' | 'payout' | 'payout_fee' | 'payout_reversal' | 'refund' | 'dispute' | 'usage_reversal' | 'topup' | 'payment' | 'adjustment' | 'hold'
  /** `debit` takes from the wallet, `credit` adds to it */
  direction: 'debit' | 'credit'
  /** In major units; always positive */
  amount: number
  /** Of the wallet */
  currency: string
  /** Not of a hold: it changes what is available, not the balance */
  balance_after?: number | undefined
  description: string | null
  /** What caused it */
  source: {
  /** Kind of the thing that caused it */
  type: 'sms' | 'messenger' | 'email' | 'voice' | 'ussd' | 'identity' | 'payment' | 'payout' | 'payout_batch' | 'refund' | 'dispute' | 'credit'
  /** Id of that thing, such as `sms_…` */
  id: string
}
  reference: string | null
  /** Your own notes, such as `{"order": "1042"}`: stored, and repeated in replies and events. Must be an object of at most 50 names of 1 to 40 characters, with text of at most 500 characters, numbers or booleans, 8 KiB in all */
  metadata: Record<string, string | number | boolean>
  /** When it was booked */
  created_at: string
  /** Of a hold, with what follows */
  hold_id?: string | undefined
  /** captured: all or a part of it was paid */
  status?: 'open' | 'captured' | 'released' | undefined
  /** What was paid from it */
  captured?: number | undefined
  /** What was given back of it */
  released?: number | undefined
  expires_at?: string | null | undefined
}

export type Webhook = {
  /** Id of the webhook, such as `wh_…` */
  id: string
  /** Where events are posted */
  url: string
  /** Names of the events that it gets */
  events: string[]
  /** False: nothing is delivered to it */
  enabled: boolean
  description: string | null
  /** When it was made */
  created_at: string
  /** When it was last changed */
  updated_at: string
  /** One delivery at a time, in the order of events */
  ordered: boolean
  rate_limit: number | null
  /** Only events whose payload has these values */
  filters: Record<string, string | number | boolean>
  /** Names of the custom headers; values are masked */
  headers: Record<string, string>
  disabled_reason: string | null
  secret_activates_at: string | null
  health: WebhookHealth
}

export type WebhookDetail = {
  /** Id of the webhook, such as `wh_…` */
  id: string
  /** Where events are posted */
  url: string
  /** Names of the events that it gets */
  events: string[]
  /** False: nothing is delivered to it */
  enabled: boolean
  description: string | null
  /** When it was made */
  created_at: string
  /** When it was last changed */
  updated_at: string
  /** One delivery at a time, in the order of events */
  ordered: boolean
  rate_limit: number | null
  /** Only events whose payload has these values */
  filters: Record<string, string | number | boolean>
  /** Names of the custom headers; values are masked */
  headers: Record<string, string>
  disabled_reason: string | null
  secret_activates_at: string | null
  health: WebhookHealth
  /** How far its latest replay is; null if it had none */
  replay: ReplayProgress | null
}

export type WebhookDisabledEvent = {
  /** Id of the webhook, such as `wh_…` */
  webhook_id: string
  /** Where it delivered to */
  url: string
  /** `gone`: it answered 410; `failing`: it failed for too long */
  disabled_reason: 'gone' | 'failing'
  failing_since: string | null
  /** Deliveries that failed since then */
  failed_deliveries: number
}

/** How its deliveries fare */
export type WebhookHealth = {
  /** `degraded`: the last attempt failed, or it is being tried; `failing`: ten attempts failed in a row */
  state: 'healthy' | 'degraded' | 'failing' | 'disabled'
  /** Attempts that succeeded in the last 24 hours */
  success_24h: number
  /** Attempts that failed in the last 24 hours */
  failure_24h: number
  /** Deliveries that wait for their first or next attempt, on whichever node */
  pending: number
  p50_ms: number | null
  p95_ms: number | null
  last_success_at: string | null
  last_failure_at: string | null
  last_status: number | null
}

export type WebhookPortalSession = {
  /** Shows the portal to whoever has it, until it expires */
  url: string
  /** Until when it works */
  expires_at: string
}

export type WebhookTest = {
  /** Whether the endpoint took it */
  delivered: boolean
  /** Id of the delivery, such as `dlv_…` */
  delivery_id: string
  /** Which event was sent */
  event: string
  response_status: number | null
  /** Milliseconds until the answer */
  duration_ms: number
  response_body: string | null
  error: string | null
  /** What was sent */
  payload: unknown
}

export type WebhookTestEvent = {
  /** Id of the webhook, such as `wh_…` */
  webhook_id: string
  /** A greeting, for whoever reads it */
  message: string
}

export type WhoAmI = {
  /** Id of the account, such as `acc_…` */
  account_id: string
  /** `test` or `live`, as the credential says */
  environment: 'test' | 'live'
  /** Id of the key, such as `key_…`; not the key itself */
  key_id: string
  /** What the credential may do */
  scopes: string[]
  /** Decides the limits of the account */
  plan: string
}
