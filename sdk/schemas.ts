// SPDX-License-Identifier: Apache-2.0
// Shapes of the API that have a name. Made by tools/sdk.mjs from openapi.json: do not edit.

export type AccessToken = {
  access_token: string
  token_type: 'Bearer'
  /** Seconds; fewer than asked for where the key ends before */
  expires_in: number
  scope: string
}

export type Account = {
  /** Id of the account */
  id: string
  name: string
  country: string
  currency: string
  timezone: string
  plan: string
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
  /** Must list at most 20 words */
  stop?: string[] | undefined
  /** Must list at most 20 words */
  start?: string[] | undefined
  /** Must list at most 20 words */
  help?: string[] | undefined
}) | null
}
  created_at: string
}

export type Agent = {
  agent_id: string
  name: string | null
  email: string | null
  status: 'offline' | 'available' | 'ringing' | 'on_call' | 'wrap_up' | 'break' | 'away' | 'training' | 'meeting'
  reason: string | null
  since: string
  next_status: ('available' | 'break' | 'away' | 'training' | 'meeting') | null
  /** Must be at most 50 skills */
  skills: {
  /** Must have 1 to 64 characters */
  name: string
  /** Must be 1 to 5 */
  level: number
}[]
  queues: string[]
  endpoint: {
  /** How the agent is reached; webrtc unless told */
  type: 'webrtc' | 'sip' | 'phone'
  /** Must be a SIP URI, such as sip:ada@example.org */
  uri?: string | undefined
  /** Of a phone */
  number?: string | undefined
}
  languages: string[]
  max_calls: number
  external_ref: string | null
  call_id: string | null
  logged_in_at: string | null
  created_at: string
}

export type AgentCall = {
  call_id: string
  status: 'initiated'
  started_at: string
}

export type AgentContext = {
  agent_id: string
  status: 'offline' | 'available' | 'ringing' | 'on_call' | 'wrap_up' | 'break' | 'away' | 'training' | 'meeting'
  call: ({
  call_id: string
  direction: 'inbound' | 'outbound'
  from: string
  to: string
  queue_id: string | null
  wait_seconds: number
  ivr_path: ({
  menu: string
  digit: string
  label: string | null
})[]
  custom_data: Record<string, unknown>
}) | null
  customer: ({
  phone: string
  name: string | null
  email: string | null
  language: string | null
  tags: string[]
  attributes: Record<string, unknown>
}) | null
  history: {
  calls: ({
  call_id: string
  direction: 'inbound' | 'outbound'
  queue_id: string | null
  agent_id: string | null
  outcome: string | null
  started_at: string
  ended_at: string | null
  disposition: string | null
})[]
  sms: {
  id: string
  status: string
  created_at: string
}[]
  messages: {
  id: string
  status: string
  created_at: string
}[]
  emails: {
  id: string
  status: string
  created_at: string
}[]
  payments: {
  id: string
  status: string
  created_at: string
}[]
  ussd_sessions: {
  id: string
  status: string
  created_at: string
}[]
  verifications: {
  id: string
  status: string
  created_at: string
}[]
}
  notes: ({
  text: string
  agent_id: string | null
  created_at: string
})[]
}

export type AgentLogin = {
  agent_id: string
  session_id: string
  status: 'offline' | 'available' | 'ringing' | 'on_call' | 'wrap_up' | 'break' | 'away' | 'training' | 'meeting'
  /** Must be at most 50 skills */
  skills: {
  /** Must have 1 to 64 characters */
  name: string
  /** Must be 1 to 5 */
  level: number
}[]
  queues: string[]
  endpoint: {
  /** How the agent is reached; webrtc unless told */
  type: 'webrtc' | 'sip' | 'phone'
  /** Must be a SIP URI, such as sip:ada@example.org */
  uri?: string | undefined
  /** Of a phone */
  number?: string | undefined
}
  logged_in_at: string
  /** Speaks for this agent, for 8 hours */
  token: string
  token_expires_at: string
  desk: {
  ws_url: string
  ice_servers: {
  urls: string
}[]
}
}

export type AgentLogout = {
  agent_id: string
  status: 'offline'
  logged_out_at: string
  session_seconds: number
}

export type AgentSessionEvent = {
  account_id: string
  agent_id: string
  session_id: string
  status: 'offline' | 'available' | 'ringing' | 'on_call' | 'wrap_up' | 'break' | 'away' | 'training' | 'meeting'
  /** Seconds logged in */
  duration: number
  reason: string | null
}

export type AgentStatus = {
  agent_id: string
  status: 'offline' | 'available' | 'ringing' | 'on_call' | 'wrap_up' | 'break' | 'away' | 'training' | 'meeting'
  previous_status: 'offline' | 'available' | 'ringing' | 'on_call' | 'wrap_up' | 'break' | 'away' | 'training' | 'meeting'
  reason: string | null
  since: string
  next_status: ('available' | 'break' | 'away' | 'training' | 'meeting') | null
}

export type AgentStatusChangedEvent = {
  account_id: string
  agent_id: string
  status: 'offline' | 'available' | 'ringing' | 'on_call' | 'wrap_up' | 'break' | 'away' | 'training' | 'meeting'
  previous_status: 'offline' | 'available' | 'ringing' | 'on_call' | 'wrap_up' | 'break' | 'away' | 'training' | 'meeting'
  reason: string | null
  since: string
  /** How long the previous status lasted */
  previous_seconds: number
  call_id: string | null
}

export type ApiKey = {
  /** Id of the key */
  id: string
  name: string
  environment: 'test' | 'live'
  /** First 13 characters of the key */
  prefix: string
  /** Last 4 characters of the key */
  last4: string
  scopes: string[]
  status: 'active' | 'expiring' | 'revoked' | 'expired'
  created_at: string
  created_by: string
  last_used_at: string | null
  last_used_ip: string | null
  expires_at: string | null
  rotated_from: string | null
  /** 90 days after it was made; a reminder */
  rotation_due_at: string
  allowed_ips: string[]
  rate_limit_per_second: number | null
  exposed_at: string | null
  strict: boolean
  envelope: 'both' | 'flat' | 'data'
}

export type ApiKeyRevokedEvent = {
  /** Id of the key */
  key_id: string
  name: string
  prefix: string
  last4: string
}

export type ApiKeyRotationDueEvent = {
  /** Id of the key */
  key_id: string
  name: string
  prefix: string
  last4: string
  /** 90 days after the key was made */
  rotation_due_at: string
}

export type AuditEntry = {
  id: string
  at: string
  actor: {
  type: string
  id: string
}
  action: string
  target: string
  /** As it was, or null */
  before: unknown
  /** As it became, or null */
  after: unknown
  ip: string
  request_id: string
}

export type AutoRecharge = {
  currency: string
  enabled: boolean
  status: 'active' | 'paused' | 'disabled'
  /** null, with all that follows from it, where it was never set */
  threshold: number | null
  amount: number | null
  method: ('mobile_money' | 'card') | null
  phone: string | null
  card_token: string | null
  provider: string | null
  max_per_day: number
  daily_limit: number | null
  consecutive_failures: number
  last_recharge_at: string | null
  created_at: string | null
  updated_at: string | null
}

export type BankTransfer = {
  bank_name: string
  bank_code: string
  account_number: string
  account_name: string
  /** Exactly this */
  amount: number
  expires_at: string
}

export type BillingCustomer = {
  customer_id: string
  name: string | null
  email: string | null
  phone: string | null
  tax_number: string | null
  address: string | null
  /** What the customer has in hand: it is taken off the next invoices */
  credits: {
  currency: string
  amount: number
}[]
  created_at: string
  updated_at: string
}

export type BillingPlan = {
  plan_id: string
  code: string | null
  name: string
  description: string | null
  amount: number
  currency: string
  interval: 'day' | 'week' | 'month' | 'year'
  interval_count: number
  trial_days: number
  /** Percent */
  tax_rate: number
  tax_inclusive: boolean
  setup_fee: number
  active: boolean
  /** Must be an object of at most 50 names of 1 to 40 characters, with text of at most 500 characters, numbers or booleans, 8 KiB in all */
  metadata: Record<string, string | number | boolean>
  created_at: string
}

export type BlacklistAdded = {
  blacklist_id?: string | undefined
  type?: 'phone' | 'email' | 'email_domain' | 'card' | 'card_bin' | 'card_fingerprint' | 'ip' | 'ip_range' | 'device_id' | 'bank_account' | 'customer_id' | 'country' | undefined
  /** As it is compared; of a card masked */
  value?: string | undefined
  reason?: string | null | undefined
  applies_to?: ('payment' | 'payout')[] | undefined
  expires_at?: string | null | undefined
  created_at?: string | undefined
  /** How many were not there before */
  created: number
  /** All of a bulk, in its order */
  entries?: BlacklistEntry[] | undefined
}

export type BlacklistDeleted = {
  blacklist_id: string
  deleted: true
}

export type BlacklistEntry = {
  blacklist_id: string
  type: 'phone' | 'email' | 'email_domain' | 'card' | 'card_bin' | 'card_fingerprint' | 'ip' | 'ip_range' | 'device_id' | 'bank_account' | 'customer_id' | 'country'
  /** As it is compared; of a card masked */
  value: string
  reason: string | null
  applies_to: ('payment' | 'payout')[]
  expires_at: string | null
  created_at: string
}

export type BusinessHours = {
  business_hours_id: string
  name: string
  /** Must be an IANA time zone, such as Africa/Nairobi */
  timezone: string
  weekly: {
  /** Must be at most 4 intervals */
  monday?: {
  /** Must be a time such as 08:00; after midnight it goes on, such as 26:00 */
  open: string
  /** Must be a time such as 08:00; after midnight it goes on, such as 26:00 */
  close: string
}[] | undefined
  /** Must be at most 4 intervals */
  tuesday?: {
  /** Must be a time such as 08:00; after midnight it goes on, such as 26:00 */
  open: string
  /** Must be a time such as 08:00; after midnight it goes on, such as 26:00 */
  close: string
}[] | undefined
  /** Must be at most 4 intervals */
  wednesday?: {
  /** Must be a time such as 08:00; after midnight it goes on, such as 26:00 */
  open: string
  /** Must be a time such as 08:00; after midnight it goes on, such as 26:00 */
  close: string
}[] | undefined
  /** Must be at most 4 intervals */
  thursday?: {
  /** Must be a time such as 08:00; after midnight it goes on, such as 26:00 */
  open: string
  /** Must be a time such as 08:00; after midnight it goes on, such as 26:00 */
  close: string
}[] | undefined
  /** Must be at most 4 intervals */
  friday?: {
  /** Must be a time such as 08:00; after midnight it goes on, such as 26:00 */
  open: string
  /** Must be a time such as 08:00; after midnight it goes on, such as 26:00 */
  close: string
}[] | undefined
  /** Must be at most 4 intervals */
  saturday?: {
  /** Must be a time such as 08:00; after midnight it goes on, such as 26:00 */
  open: string
  /** Must be a time such as 08:00; after midnight it goes on, such as 26:00 */
  close: string
}[] | undefined
  /** Must be at most 4 intervals */
  sunday?: {
  /** Must be a time such as 08:00; after midnight it goes on, such as 26:00 */
  open: string
  /** Must be a time such as 08:00; after midnight it goes on, such as 26:00 */
  close: string
}[] | undefined
}
  /** Must be at most 400 holidays */
  holidays?: ({
  /** Must be a date such as 2026-03-01 */
  date: string
  name?: string | undefined
  /** Must be at most 4 intervals */
  intervals?: {
  /** Must be a time such as 08:00; after midnight it goes on, such as 26:00 */
  open: string
  /** Must be a time such as 08:00; after midnight it goes on, such as 26:00 */
  close: string
}[] | undefined
  every_year?: boolean | undefined
})[] | undefined
  queue_ids?: string[] | undefined
  closed_action?: CallDestination | undefined
  open_now: boolean
  next_change_at: string | null
  created_at: string
  updated_at: string
}

export type BusinessHoursSet = {
  business_hours_id: string
  name: string
  /** Must be an IANA time zone, such as Africa/Nairobi */
  timezone: string
  weekly: {
  /** Must be at most 4 intervals */
  monday?: {
  /** Must be a time such as 08:00; after midnight it goes on, such as 26:00 */
  open: string
  /** Must be a time such as 08:00; after midnight it goes on, such as 26:00 */
  close: string
}[] | undefined
  /** Must be at most 4 intervals */
  tuesday?: {
  /** Must be a time such as 08:00; after midnight it goes on, such as 26:00 */
  open: string
  /** Must be a time such as 08:00; after midnight it goes on, such as 26:00 */
  close: string
}[] | undefined
  /** Must be at most 4 intervals */
  wednesday?: {
  /** Must be a time such as 08:00; after midnight it goes on, such as 26:00 */
  open: string
  /** Must be a time such as 08:00; after midnight it goes on, such as 26:00 */
  close: string
}[] | undefined
  /** Must be at most 4 intervals */
  thursday?: {
  /** Must be a time such as 08:00; after midnight it goes on, such as 26:00 */
  open: string
  /** Must be a time such as 08:00; after midnight it goes on, such as 26:00 */
  close: string
}[] | undefined
  /** Must be at most 4 intervals */
  friday?: {
  /** Must be a time such as 08:00; after midnight it goes on, such as 26:00 */
  open: string
  /** Must be a time such as 08:00; after midnight it goes on, such as 26:00 */
  close: string
}[] | undefined
  /** Must be at most 4 intervals */
  saturday?: {
  /** Must be a time such as 08:00; after midnight it goes on, such as 26:00 */
  open: string
  /** Must be a time such as 08:00; after midnight it goes on, such as 26:00 */
  close: string
}[] | undefined
  /** Must be at most 4 intervals */
  sunday?: {
  /** Must be a time such as 08:00; after midnight it goes on, such as 26:00 */
  open: string
  /** Must be a time such as 08:00; after midnight it goes on, such as 26:00 */
  close: string
}[] | undefined
}
  /** Must be at most 400 holidays */
  holidays?: ({
  /** Must be a date such as 2026-03-01 */
  date: string
  name?: string | undefined
  /** Must be at most 4 intervals */
  intervals?: {
  /** Must be a time such as 08:00; after midnight it goes on, such as 26:00 */
  open: string
  /** Must be a time such as 08:00; after midnight it goes on, such as 26:00 */
  close: string
}[] | undefined
  every_year?: boolean | undefined
})[] | undefined
  queue_ids?: string[] | undefined
  closed_action?: CallDestination | undefined
  open_now: boolean
  next_change_at: string | null
  created_at: string
  updated_at: string
  existed: boolean
}

export type Call = {
  call_id: string
  /** Shared by all legs that are bridged together */
  conversation_uuid: string
  status: 'initiated' | 'started' | 'ringing' | 'answered' | 'completed' | 'failed' | 'rejected' | 'busy' | 'timeout'
  phase: string | null
  direction: 'inbound' | 'outbound'
  from: string
  to: string
  agent_id: string | null
  queue_id: string | null
  ivr_id: string | null
  conference_id: string | null
  parent_call_id: string | null
  custom_data: Record<string, unknown>
  record: boolean
  recording_ids: string[]
  started_at: string
  ringing_at: string | null
  answered_at: string | null
  ended_at: string | null
  /** Whole seconds from the answer to the end */
  duration: number
  hangup_cause: string | null
  hangup_by: string | null
  sip_code: number | null
  cost: number
  currency: string
  quality: {
  mos: number
  jitter_ms: number
  packet_loss_pct: number
  rtt_ms: number
} | null
}

export type CallAbandonedEvent = {
  account_id: string
  call_id: string
  /** Shared by all legs that were bridged together */
  conversation_uuid: string
  direction: 'inbound' | 'outbound'
  from: string
  to: string
  agent_id: string | null
  queue_id: string | null
  custom_data: Record<string, unknown>
  /** Order of the events of one call: 0 when it is initiated, then from 1 */
  sequence: number
  position: number
  /** Seconds */
  wait_seconds: number
}

export type CallAnsweredEvent = {
  account_id: string
  call_id: string
  /** Shared by all legs that were bridged together */
  conversation_uuid: string
  direction: 'inbound' | 'outbound'
  from: string
  to: string
  agent_id: string | null
  queue_id: string | null
  custom_data: Record<string, unknown>
  /** Order of the events of one call: 0 when it is initiated, then from 1 */
  sequence: number
  status: 'answered'
  /** Seconds of talk so far: none */
  duration: number
  answered_at: string
  /** Seconds */
  wait_seconds: number
  answered_by: 'agent' | 'flow' | 'callee'
}

export type CallCenterReport = {
  from: string
  to: string
  interval: '15m' | '30m' | 'hour' | 'day' | 'week' | 'month'
  timezone: string
  group_by: ('queue' | 'agent' | 'number' | 'direction' | 'hour_of_day' | 'disposition')[]
  metrics: string[]
  rows: ({
  interval_start: string
  queue_id?: string | null | undefined
  agent_id?: string | null | undefined
  number?: string | null | undefined
  direction?: string | null | undefined
  hour_of_day?: number | null | undefined
  disposition?: string | null | undefined
  offered?: number | undefined
  answered?: number | undefined
  abandoned?: number | undefined
  /** Gave up within five seconds */
  short_abandoned?: number | undefined
  overflowed?: number | undefined
  transferred?: number | undefined
  /** Answered in time, of answered and abandoned without the short ones; null if nobody called */
  service_level_percent?: number | null | undefined
  asa_seconds?: number | null | undefined
  aht_seconds?: number | null | undefined
  abandon_rate_percent?: number | null | undefined
  occupancy_percent?: number | null | undefined
  talk_seconds?: number | undefined
  hold_seconds?: number | undefined
  wrap_up_seconds?: number | undefined
  max_wait_seconds?: number | undefined
  wait_p50?: number | null | undefined
  wait_p90?: number | null | undefined
  first_call_resolution_percent?: number | null | undefined
  cost?: number | undefined
})[]
  totals: {
  offered?: number | undefined
  answered?: number | undefined
  abandoned?: number | undefined
  /** Gave up within five seconds */
  short_abandoned?: number | undefined
  overflowed?: number | undefined
  transferred?: number | undefined
  /** Answered in time, of answered and abandoned without the short ones; null if nobody called */
  service_level_percent?: number | null | undefined
  asa_seconds?: number | null | undefined
  aht_seconds?: number | null | undefined
  abandon_rate_percent?: number | null | undefined
  occupancy_percent?: number | null | undefined
  talk_seconds?: number | undefined
  hold_seconds?: number | undefined
  wrap_up_seconds?: number | undefined
  max_wait_seconds?: number | undefined
  wait_p50?: number | null | undefined
  wait_p90?: number | null | undefined
  first_call_resolution_percent?: number | null | undefined
  cost?: number | undefined
}
}

export type CallCompletedEvent = {
  account_id: string
  call_id: string
  /** Shared by all legs that were bridged together */
  conversation_uuid: string
  direction: 'inbound' | 'outbound'
  from: string
  to: string
  agent_id: string | null
  queue_id: string | null
  custom_data: Record<string, unknown>
  /** Order of the events of one call: 0 when it is initiated, then from 1 */
  sequence: number
  status: 'completed' | 'failed' | 'rejected' | 'busy' | 'timeout'
  /** Seconds */
  duration: number
  hangup_cause: 'normal' | 'cancelled' | 'busy' | 'rejected' | 'no_answer' | 'invalid_number' | 'no_route' | 'network_error' | 'media_timeout' | 'flow_error' | 'max_duration' | 'insufficient_funds'
  hangup_by: ('caller' | 'callee' | 'agent' | 'api' | 'system') | null
  /** Seconds */
  talk_seconds: number
  /** Seconds */
  hold_seconds: number
  /** Seconds */
  wait_seconds: number
  recording_ids: string[]
  cost: number
  currency: string
  quality: {
  mos: number
  jitter_ms: number
  packet_loss_pct: number
  rtt_ms: number
} | null
  disposition: string | null
  ended_at: string
}

export type CallCreated = {
  call_id: string
  conversation_uuid: string
  status: 'initiated' | 'started' | 'ringing' | 'answered' | 'completed' | 'failed' | 'rejected' | 'busy' | 'timeout'
  direction: 'inbound' | 'outbound'
  from: string
  to: string
  started_at: string
}

export type CallDestination = {
  type: 'queue' | 'ivr' | 'agent' | 'phone' | 'sip' | 'application' | 'voicemail' | 'message' | 'hangup'
  /** Of a queue, an IVR or an agent */
  id?: string | undefined
  /** Of a phone */
  number?: string | undefined
  /** Must be a SIP URI, such as sip:ada@example.org */
  uri?: string | undefined
  /** Of an application: asked for the flow */
  answer_url?: string | undefined
  /** Spoken, of a message or before a voicemail */
  text?: string | undefined
  language?: 'en-NG' | 'en-KE' | 'en-ZA' | 'en-US' | 'fr-SN' | 'fr-FR' | 'ar-EG' | 'ar-001' | 'sw-KE' | 'am-ET' | 'ha-NG' | 'yo-NG' | 'ig-NG' | 'zu-ZA' | 'xh-ZA' | 'af-ZA' | 'so-SO' | 'wo-SN' | 'pt-AO' | undefined
}

export type CallHandling = {
  call_id: string
  agent_id: string | null
  on_hold: boolean
  disposition: string | null
  notes: string | null
  tags: string[]
}

export type CallInitiatedEvent = {
  account_id: string
  call_id: string
  /** Shared by all legs that were bridged together */
  conversation_uuid: string
  direction: 'inbound' | 'outbound'
  from: string
  to: string
  agent_id: string | null
  queue_id: string | null
  custom_data: Record<string, unknown>
  /** Order of the events of one call: 0 when it is initiated, then from 1 */
  sequence: number
  status: 'initiated'
  started_at: string
}

export type CallInputEvent = {
  account_id: string
  call_id: string
  /** Shared by all legs that were bridged together */
  conversation_uuid: string
  direction: 'inbound' | 'outbound'
  from: string
  to: string
  agent_id: string | null
  queue_id: string | null
  custom_data: Record<string, unknown>
  /** Order of the events of one call: 0 when it is initiated, then from 1 */
  sequence: number
  /** Digits, empty if there were none */
  dtmf: string
  speech: {
  results: {
  text: string
  confidence: number
}[]
} | null
  timed_out: boolean
}

export type CallMonitor = {
  monitor_id: string
  call_id: string
  supervisor_id: string | null
  mode: 'listen' | 'whisper' | 'barge'
  status: 'connecting' | 'active' | 'ended'
  supervisor_call_id: string | null
  started_at: string
}

export type CallProgressEvent = {
  account_id: string
  call_id: string
  /** Shared by all legs that were bridged together */
  conversation_uuid: string
  direction: 'inbound' | 'outbound'
  from: string
  to: string
  agent_id: string | null
  queue_id: string | null
  custom_data: Record<string, unknown>
  /** Order of the events of one call: 0 when it is initiated, then from 1 */
  sequence: number
  status: 'started' | 'ringing' | 'failed' | 'rejected' | 'busy' | 'timeout'
  /** Seconds */
  duration: number
  reason: ('normal' | 'cancelled' | 'busy' | 'rejected' | 'no_answer' | 'invalid_number' | 'no_route' | 'network_error' | 'media_timeout' | 'flow_error' | 'max_duration' | 'insufficient_funds') | null
  sip_code: number | null
}

export type CallQueuedEvent = {
  account_id: string
  call_id: string
  /** Shared by all legs that were bridged together */
  conversation_uuid: string
  direction: 'inbound' | 'outbound'
  from: string
  to: string
  agent_id: string | null
  queue_id: string | null
  custom_data: Record<string, unknown>
  /** Order of the events of one call: 0 when it is initiated, then from 1 */
  sequence: number
  position: number
  priority: number
  estimated_wait_seconds: number | null
  queued_at: string
}

export type CallTraceEntry = {
  /** Place in the call, from 1 */
  position: number
  /** event: told to event_url; flow: what happened to the flow; sip: signalling */
  kind: string
  sequence: number | null
  at: string
  data: Record<string, unknown>
}

export type CallTransfer = {
  transfer_id: string
  call_id: string
  transfer_type: 'warm' | 'cold'
  destination: string
  status: 'ringing' | 'consulting' | 'completed' | 'failed' | 'cancelled'
  consult_call_id: string | null
  started_at: string
}

export type CallTransferredEvent = {
  account_id: string
  call_id: string
  /** Shared by all legs that were bridged together */
  conversation_uuid: string
  direction: 'inbound' | 'outbound'
  from: string
  to: string
  agent_id: string | null
  queue_id: string | null
  custom_data: Record<string, unknown>
  /** Order of the events of one call: 0 when it is initiated, then from 1 */
  sequence: number
  transfer_id: string
  transfer_type: 'warm' | 'cold'
  destination: string
  status: 'ringing' | 'consulting' | 'completed' | 'failed' | 'cancelled'
  consult_call_id: string | null
  started_at: string
}

export type CallbackSecret = {
  /** Signs requests to the URLs of single requests */
  secret: string
  next_secret: string | null
  activates_at: string | null
}

export type Card = {
  brand: 'visa' | 'mastercard' | 'verve' | 'american-express'
  last4: string
  exp_month: number
  exp_year: number
}

export type CaughtEmail = {
  id: string
  message_id: string | null
  /** From, as the reader sees it */
  from: string
  /** The recipient */
  to: string
  envelope_from: string
  subject: string
  size: number
  tls: string | null
  received_at: string
}

export type CaughtEmailChecks = {
  dkim: ({
  result: string
  domain: string
  selector: string
  algorithm: string
  reason: string | null
})[]
  spf: {
  result: string
  domain: string
}
  dmarc: {
  result: string
  domain: string
  policy: string | null
}
  tls: string | null
  headers: {
  name: string
  value: string
}[]
  links: string[]
}

export type CaughtEmailContent = {
  id: string
  message_id: string | null
  /** From, as the reader sees it */
  from: string
  /** The recipient */
  to: string
  envelope_from: string
  subject: string
  size: number
  tls: string | null
  received_at: string
  html: string | null
  text: string | null
  attachments: {
  filename: string
  content_type: string
  size: number
}[]
}

export type Conference = {
  conference_id: string
  name: string
  status: 'initiated' | 'active' | 'ended'
  record: boolean
  recording_id: string | null
  participants: ConferenceParticipant[]
  created_at: string
}

export type ConferenceEvent = {
  account_id: string
  conference_id: string
  name: string
  participant: ({
  id: string
  number: string | null
  agent_id: string | null
}) | null
  /** How many are in it now */
  participants: number
}

export type ConferenceParticipant = {
  participant_id: string
  call_id: string | null
  endpoint: string
  role: 'participant' | 'moderator'
  status: 'dialing' | 'joined' | 'held' | 'left' | 'failed'
  muted: boolean
  joined_at: string | null
}

export type Credit = {
  /** Id of the account */
  account_id: string
  environment: 'test' | 'live'
  reference: string
  amount: number
  currency: string
  /** After the credit */
  balance: number
}

export type Customer = {
  name?: string | undefined
  email?: string | undefined
  phone?: string | undefined
  customer_id?: string | undefined
  tax_number?: string | undefined
  address?: string | undefined
}

export type Debt = {
  dispute_id: string
  payment_id: string
  account_id: string
  environment: 'test' | 'live'
  /** What the dispute was about */
  amount: number
  /** What is still missing of it */
  amount_owed: number
  currency: string
  closed_at: string | null
}

export type Deleted = {
  id: string
  deleted: true
}

export type Delivery = {
  id: string
  webhook_id: string
  /** The same on every attempt, replay and endpoint */
  event_id: string
  event: string
  /** What the event is about */
  resource_id: string
  status: 'pending' | 'delivering' | 'delivered' | 'failed' | 'cancelled'
  attempts: number
  created_at: string
  delivered_at: string | null
  next_attempt_at: string | null
  last_error: string | null
  response_status: number | null
  duration_ms: number | null
  test: boolean
  replay_of: string | null
}

export type DeliveryDetail = {
  id: string
  webhook_id: string
  /** The same on every attempt, replay and endpoint */
  event_id: string
  event: string
  /** What the event is about */
  resource_id: string
  status: 'pending' | 'delivering' | 'delivered' | 'failed' | 'cancelled'
  attempts: number
  created_at: string
  delivered_at: string | null
  next_attempt_at: string | null
  last_error: string | null
  response_status: number | null
  duration_ms: number | null
  test: boolean
  replay_of: string | null
  request: {
  url: string
  headers: Record<string, string>
  body: string | null
}
  attempts_log: ({
  attempt: number
  at: string
  /** Where it went: the webhook’s URL at that time */
  url: string
  status: number | null
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

export type Dispute = {
  dispute_id: string
  payment_id: string
  status: 'open' | 'won' | 'lost'
  /** What the payer wants back */
  amount: number
  currency: string
  /** What is set aside in your wallet until it is decided */
  amount_held: number
  /** What a lost dispute took that was not in your wallet, as far as it was not taken from it since */
  amount_owed: number
  reason: 'fraudulent' | 'duplicate' | 'not_received' | 'not_as_described' | 'not_credited' | 'other'
  /** The dispute as the acquirer names it */
  provider_reference: string
  created_at: string
  closed_at: string | null
}

export type Email = {
  message_id: string
  status: 'scheduled' | 'queued' | 'sent' | 'delivered' | 'bounced' | 'failed' | 'cancelled'
  from: string
  to: string | string[]
  cc: string[]
  bcc: string[]
  subject: string
  template: string | null
  bulk_id: string | null
  stream: 'transactional' | 'bulk'
  tags: string[]
  /** Must be an object of at most 50 names of 1 to 40 characters, with text of at most 500 characters, numbers or booleans, 8 KiB in all */
  metadata: Record<string, string | number | boolean>
  tracking: {
  opens: boolean
  clicks: boolean
}
  reference: string | null
  scheduled_at: string | null
  created_at: string
  sent_at: string | null
  delivered_at: string | null
  opened_at: string | null
  clicked_at: string | null
  open_count: number
  click_count: number
  attempts: number
  next_attempt_at: string | null
  reason: string | null
  size: number
  cost: number
  currency: string
  recipients: ({
  email: string
  type: 'to' | 'cc' | 'bcc'
  status: 'scheduled' | 'queued' | 'sent' | 'delivered' | 'bounced' | 'failed' | 'cancelled'
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
  message_id: string
  status: 'scheduled' | 'queued' | 'failed'
  from: string
  to: string | string[]
  scheduled_at: string | null
  recipients: number
  suppressed: string[]
  reason: string | null
  cost: number
  currency: string
  warnings: string[]
  timestamp: string
}

export type EmailAnalytics = {
  sent: number
  delivered: number
  opened: number
  clicked: number
  bounced: number
  complained: number
  unsubscribed: number
  deferred: number
  failed: number
  machine_opens: number
  deliverability_rate: number
  open_rate: number
  click_rate: number
  from: string
  to: string
  series: ({
  key: string | null
  sent: number
  delivered: number
  opened: number
  clicked: number
  bounced: number
  complained: number
  unsubscribed: number
  deferred: number
  failed: number
  machine_opens: number
  deliverability_rate: number
  open_rate: number
  click_rate: number
})[]
}

export type EmailBouncedEvent = {
  message_id: string
  /** The recipient */
  email: string
  reason: string
  bulk_id: string | null
  tags: string[]
  /** Must be an object of at most 50 names of 1 to 40 characters, with text of at most 500 characters, numbers or booleans, 8 KiB in all */
  metadata: Record<string, string | number | boolean>
  bounce_type: 'hard' | 'soft'
  category: 'invalid_recipient' | 'mailbox_full' | 'policy' | 'spam' | 'domain_error' | 'expired' | 'other'
  smtp_code: number | null
  enhanced_code: string | null
  diagnostic: string | null
  source: 'smtp' | 'dsn'
}

export type EmailBulk = {
  bulk_id: string
  status: 'scheduled' | 'queued' | 'sending' | 'paused' | 'completed' | 'cancelled'
  total: number
  accepted: number
  rejected: number
  suppressed: number
  batches: number
  batches_sent: number
  counts: {
  queued: number
  sent: number
  delivered: number
  opened: number
  clicked: number
  bounced: number
  complained: number
  unsubscribed: number
  failed: number
}
  created_at: string
  started_at: string | null
  completed_at: string | null
  paused_reason: ('bounce_rate' | 'complaint_rate' | 'request') | null
}

export type EmailBulkAccepted = {
  bulk_id: string
  status: 'scheduled' | 'queued'
  total: number
  accepted: number
  rejected: number
  suppressed: number
  batch_size: number
  batches: number
  cost: number
  currency: string
  messages: {
  email: string
  message_id: string
}[]
  errors: {
  index: number
  email: string
  code: string
  message: string
}[]
  warnings: string[]
  timestamp: string
}

export type EmailBulkCompletedEvent = {
  bulk_id: string
  status: 'completed' | 'cancelled'
  total: number
  accepted: number
  rejected: number
  suppressed: number
  batches: number
  batches_sent: number
  counts: {
  queued: number
  sent: number
  delivered: number
  opened: number
  clicked: number
  bounced: number
  complained: number
  unsubscribed: number
  failed: number
}
  created_at: string
  started_at: string | null
  completed_at: string
  paused_reason: ('bounce_rate' | 'complaint_rate') | null
}

export type EmailClickedEvent = {
  message_id: string
  /** The recipient */
  email: string
  url: string
  user_agent: string | null
  ip: string | null
  bulk_id: string | null
  tags: string[]
  /** Must be an object of at most 50 names of 1 to 40 characters, with text of at most 500 characters, numbers or booleans, 8 KiB in all */
  metadata: Record<string, string | number | boolean>
  /** Which link of the message, from 0 */
  link_index: number
  /** Probably a scanner or a prefetching mail client */
  machine: boolean
}

export type EmailComplainedEvent = {
  message_id: string
  /** The recipient */
  email: string
  bulk_id: string | null
  tags: string[]
  /** Must be an object of at most 50 names of 1 to 40 characters, with text of at most 500 characters, numbers or booleans, 8 KiB in all */
  metadata: Record<string, string | number | boolean>
  feedback_type: string
  reporter: string | null
}

export type EmailContent = {
  message_id: string
  part: 'html' | 'text' | 'raw' | 'headers'
  content: string | null
}

export type EmailDeliveredEvent = {
  message_id: string
  /** The recipient */
  email: string
  bulk_id: string | null
  tags: string[]
  /** Must be an object of at most 50 names of 1 to 40 characters, with text of at most 500 characters, numbers or booleans, 8 KiB in all */
  metadata: Record<string, string | number | boolean>
  smtp_response: string
  mx: string | null
  tls: string | null
  /** How the server was known: not at all, by any certificate, or by the one that MTA-STS or DANE asks for */
  tls_level: ('plain' | 'encrypted' | 'mta_sts' | 'dane') | null
  attempts: number
}

export type EmailDomain = {
  id: string
  domain: string
  status: 'pending' | 'verified' | 'failed'
  created_at: string
  verified_at: string | null
  last_checked_at: string | null
  last_error: string | null
  dkim_selector: string
  records: ({
  type: 'TXT' | 'CNAME'
  name: string
  value: string
  purpose: 'verification' | 'dkim' | 'return_path' | 'tracking' | 'dmarc'
  required: boolean
  status: 'pending' | 'valid' | 'invalid' | 'missing'
  found?: string | undefined
})[]
  dns_records: ({
  type: 'TXT' | 'CNAME'
  name: string
  value: string
  purpose: 'verification' | 'dkim' | 'return_path' | 'tracking' | 'dmarc'
  required: boolean
  status: 'pending' | 'valid' | 'invalid' | 'missing'
  found?: string | undefined
})[]
}

export type EmailDomainEvent = {
  id: string
  domain: string
  status: 'verified' | 'failed'
  created_at: string
  verified_at: string | null
  last_checked_at: string
  dkim_selector: string
  records: ({
  type: 'TXT' | 'CNAME'
  name: string
  value: string
  purpose: 'verification' | 'dkim' | 'return_path' | 'tracking' | 'dmarc'
  required: boolean
  status: 'pending' | 'valid' | 'invalid' | 'missing'
})[]
}

export type EmailEvent = {
  id: string
  event: string
  payload: Record<string, unknown>
}

export type EmailNotSentEvent = {
  message_id: string
  /** The recipient */
  email: string
  reason: string
  next_attempt_at: string | null
  bulk_id: string | null
  tags: string[]
  /** Must be an object of at most 50 names of 1 to 40 characters, with text of at most 500 characters, numbers or booleans, 8 KiB in all */
  metadata: Record<string, string | number | boolean>
}

export type EmailOpenedEvent = {
  message_id: string
  /** The recipient */
  email: string
  user_agent: string | null
  ip: string | null
  bulk_id: string | null
  tags: string[]
  /** Must be an object of at most 50 names of 1 to 40 characters, with text of at most 500 characters, numbers or booleans, 8 KiB in all */
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
  message_id: string
  /** The recipient */
  email: string
  bulk_id: string | null
  tags: string[]
  /** Must be an object of at most 50 names of 1 to 40 characters, with text of at most 500 characters, numbers or booleans, 8 KiB in all */
  metadata: Record<string, string | number | boolean>
  mx: string | null
  ip_pool: string | null
}

export type EmailSuppression = {
  id: string
  email: string
  reason: 'hard_bounce' | 'complaint' | 'unsubscribe' | 'manual'
  applies_to: 'all' | 'bulk'
  message_id: string | null
  detail: string | null
  created_at: string
  expires_at: string | null
}

export type EmailSuppressionsAdded = {
  added: number
  existing: number
}

export type EmailTemplate = {
  id: string
  name: string
  subject: string
  html: string
  text: string | null
  description: string | null
  /** Values for {{placeholders}}, at most 64 KiB and 8 levels */
  defaults: Record<string, unknown>
  variables: string[]
  version: number
  status: 'active'
  created_at: string
  updated_at: string
}

export type EmailTemplatePreview = {
  subject: string
  html: string
  text: string | null
  missing: string[]
}

export type EmailTrackingWebhook = {
  id: string
  url: string
  events: string[]
  enabled: boolean
  /** Shown when it is first set */
  secret?: string | undefined
  created_at: string
  updated_at: string | null
}

export type EmailUnsubscribedEvent = {
  message_id: string
  /** The recipient */
  email: string
  user_agent: string | null
  ip: string | null
  bulk_id: string | null
  tags: string[]
  /** Must be an object of at most 50 names of 1 to 40 characters, with text of at most 500 characters, numbers or booleans, 8 KiB in all */
  metadata: Record<string, string | number | boolean>
  source: 'one_click' | 'page' | 'mailto' | 'api'
}

export type Error = {
  success: false
  /** Some codes add members of their own. */
  error: {
  code: ErrorCode
  /** What the code means and what to do */
  message: string
  /** What exactly was wrong */
  details: string
  /** As in X-Request-Id */
  request_id: string
  timestamp: string
  /** Each field that breaks a rule */
  fields?: {
  /** Such as `messages[3].to` */
  field: string
  code: ErrorCode
  message: string
}[] | undefined
  /** The code in the documentation */
  doc_url?: string | undefined
}
}

/** What went wrong, for programs. Always a string, numeric codes too. New codes may be added. */
export type ErrorCode = 'INVALID_REQUEST' | 'INVALID_URL' | 'INVALID_EVENT' | 'INVALID_DATE_RANGE' | 'UNAUTHORIZED' | 'INSUFFICIENT_FUNDS' | 'INSUFFICIENT_WALLET_BALANCE' | 'INSUFFICIENT_BALANCE' | 'CARD_DECLINED' | 'CARD_EXPIRED' | 'INCORRECT_CVV' | 'DEBIT_REFUSED' | 'AUTHENTICATION_FAILED' | 'FORBIDDEN' | 'HTTPS_REQUIRED' | 'PAYMENT_BLOCKED' | 'ACCOUNT_SUSPENDED' | 'SENDER_NOT_ALLOWED' | 'COUNTRY_NOT_ENABLED' | 'SHORTCODE_NOT_ALLOWED' | 'DOMAIN_NOT_VERIFIED' | 'OPTED_OUT' | 'NUMBER_NOT_OWNED' | 'DESTINATION_NOT_ALLOWED' | 'OTP_BLOCKED' | '131047' | '131051' | 'NOT_FOUND' | 'TEMPLATE_NOT_FOUND' | 'DOMAIN_NOT_FOUND' | 'WEBHOOK_NOT_CONFIGURED' | 'MEDIA_EXPIRED' | 'DELIVERY_NOT_FOUND' | 'WEBHOOK_NOT_FOUND' | 'METHOD_NOT_ALLOWED' | 'DUPLICATE_REFERENCE' | 'REQUEST_IN_PROGRESS' | 'INVALID_STATE' | 'CONFLICT' | 'DUPLICATE_SESSION' | 'SESSION_ENDED' | 'SESSION_EXPIRED' | 'NO_PENDING_INPUT' | 'TRANSACTION_TIMEOUT' | 'REFUND_NOT_ALLOWED' | 'MESSAGE_NOT_CANCELLABLE' | 'NO_PENDING_SECRET' | 'CALL_NOT_ACTIVE' | 'AGENT_NOT_AVAILABLE' | 'AGENT_NOT_LOGGED_IN' | 'AGENT_BUSY' | 'QUEUE_FULL' | 'CONFERENCE_FULL' | 'NOT_CANCELLABLE' | 'TEMPLATE_EXISTS' | 'TEMPLATE_IN_USE' | 'DOMAIN_EXISTS' | 'OTP_ALREADY_USED' | 'CHALLENGE_USED' | 'LEGAL_HOLD' | 'PAYLOAD_TOO_LARGE' | 'UNSUPPORTED_MEDIA_TYPE' | 'RANGE_NOT_SATISFIABLE' | 'VALIDATION_ERROR' | 'INVALID_PHONE' | 'INVALID_SHORTCODE' | 'DATA_TOO_LARGE' | 'MENU_INVALID' | 'INVALID_CALL_FLOW' | 'UNSUPPORTED_LANGUAGE' | 'INVALID_CARD' | 'MESSAGE_TOO_LONG' | 'ENCODING_ERROR' | 'NO_ROUTE' | 'INVALID_EMAIL' | 'INVALID_DOMAIN' | 'TEMPLATE_SYNTAX' | 'MISSING_VARIABLE' | 'ATTACHMENT_TOO_LARGE' | 'ATTACHMENT_BLOCKED' | 'TOO_MANY_RECIPIENTS' | 'MAIL_NOT_CONFIGURED' | 'UNSUPPORTED_CURRENCY' | 'UNSUPPORTED_PROVIDER' | 'UNSUPPORTED_METHOD' | 'BATCH_TOO_LARGE' | 'AMOUNT_TOO_LOW' | 'AMOUNT_TOO_HIGH' | 'REFUND_EXCEEDS_PAYMENT' | 'WEBHOOK_LIMIT_REACHED' | 'INVALID_DOCUMENT_TYPE' | 'IMAGE_QUALITY_LOW' | 'IMAGE_TOO_LARGE' | 'NO_FACE_DETECTED' | 'MULTIPLE_FACES' | 'FACE_MISMATCH' | 'LIVENESS_FAILED' | 'DOCUMENT_UNREADABLE' | 'CHALLENGE_EXPIRED' | 'CONSENT_REQUIRED' | 'OTP_INVALID' | 'OTP_EXPIRED' | '130472' | '131026' | '131052' | '131053' | '133004' | 'OTP_COOLDOWN' | 'OTP_SEND_LIMIT' | 'OTP_ATTEMPTS_EXCEEDED' | 'RATE_LIMITED' | 'RATE_LIMIT_EXCEEDED' | 'CONCURRENCY_LIMIT' | 'TOO_MANY_STREAMS' | '130429' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE' | 'REGISTRY_UNAVAILABLE' | 'PROVIDER_UNAVAILABLE'

export type Event = {
  id: string
  /** Name in the event catalogue */
  event: string
  /** What it happened to */
  resource_id: string
  created_at: string
  request_id: string | null
  /** What subscribers receive */
  payload: unknown
}

export type EventDescription = {
  name: string
  area: string
  summary: string
  aliases: string[]
  /** JSON Schema of the body */
  schema: unknown
  /** A body */
  example: unknown
}

export type EventDetail = {
  id: string
  /** Name in the event catalogue */
  event: string
  /** What it happened to */
  resource_id: string
  created_at: string
  request_id: string | null
  /** What subscribers receive */
  payload: unknown
  /** The webhooks that it was told to, and how that went; what was told again is in their logs */
  deliveries: ({
  id: string
  webhook_id: string
  status: 'pending' | 'delivering' | 'delivered' | 'failed' | 'cancelled'
  attempts: number
  delivered_at: string | null
  next_attempt_at: string | null
  last_error: string | null
  response_status: number | null
})[]
}

export type FailedJob = {
  id: string
  lane: string
  account_id: string | null
  environment: string | null
  attempts: number
  last_error: string | null
  created_at: string
  /** `stranded`: it has waited for more than a minute at a place (`lane@place`) that nobody serves */
  state: 'failed' | 'stranded'
}

export type FoundThing = {
  /** message, email, call, payment, payout, invoice, delivery or request */
  kind: string
  id: string
  status: string | null
  account_id: string
  account_name: string
  environment: 'test' | 'live'
  created_at: string
  /** Where an operator reads it whole */
  path: string
}

export type FraudBacktest = {
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
  risk: {
  risk_score: number
  risk_level: 'low' | 'medium' | 'high' | 'very_high'
  flags: string[]
  decision: 'allow' | 'review' | 'require_3ds' | 'block'
}
  payment?: Payment | undefined
  payout?: Payout | undefined
}

export type FraudRule = {
  rule_id: string
  name: string
  description: string | null
  action: 'allow' | 'require_3ds' | 'review' | 'block'
  /** `all` unless given */
  match: 'all' | 'any'
  conditions: Record<string, unknown>[]
  applies_to: ('payment' | 'payout')[]
  score: number
  priority: number
  enabled: boolean
  dry_run: boolean
  /** How often it matched in the last 24 hours */
  hits_24h: number
  created_at: string
  updated_at: string
}

export type FraudRuleDeleted = {
  rule_id: string
  deleted: true
}

export type HandsetText = {
  message_id: string
  /** `written`: on the handset, to you */
  direction: 'received' | 'written'
  from: string
  to: string
  /** Null when its text has been erased */
  message: string | null
  /** When it arrived, or was written */
  at: string
}

export type HeardText = {
  call_id: string
  language: string
  text: string
  /** Keys that were pressed for the phone */
  digits: string
  segments: {
  start: number
  end: number
  text: string
  confidence: number
}[]
}

export type IdentityAudit = {
  id: string
  data: IdentityAuditEntry[]
  next_cursor: string | null
  /** Whether each of these entries follows from the one before */
  chain_valid: boolean
}

export type IdentityAuditEntry = {
  entry_id: string
  sequence: number
  timestamp: string
  action: string
  actor: unknown
  details: unknown
  previous_hash: string | null
  hash: string
}

export type IdentityBlocklistEntry = {
  id: string
  kind: 'document' | 'phone' | 'email' | 'device' | 'external_id'
  /** The end of the value */
  hint: string
  reason: string | null
  created_at: string
}

export type IdentityDocumentType = {
  country: string
  document_type: 'passport' | 'national_id' | 'drivers_license' | 'voter_id' | 'residence_permit' | 'refugee_id' | 'nin_slip' | 'proof_of_address'
  sides: number
  has_mrz: boolean
  has_barcode: boolean
  number_pattern: string | null
  checks: string[]
  /** Whether a registry can be asked */
  registry: boolean
  /** Checked against the issuer; otherwise its rules can only warn */
  verified: boolean
  source: string
}

export type IdentityErasure = {
  verification_id: string
  status: string
  erased_at: string
  legal_hold: false
}

export type IdentityFaceMatch = {
  face_match_id: string
  match: boolean
  confidence: number
  similarity_score: number
  threshold: number
  faces: {
  image_a: {
  count: number
  box: number[]
  quality: number
}
  image_b: {
  count: number
  box: number[]
  quality: number
}
}
  reference: string | null
  created_at: string
  cost: number
  currency: string
}

export type IdentityLiveness = {
  challenge_id?: string | undefined
  nonce?: string | undefined
  expires_at?: string | undefined
  liveness_id?: string | undefined
  passed?: boolean | undefined
  confidence?: number | undefined
  method: 'passive' | 'active'
  steps: (string | {
  step: string
  passed: boolean
  measure: Record<string, number>
})[]
  signals?: Record<string, boolean | string> | undefined
  created_at: string
  cost?: number | undefined
  currency?: string | undefined
}

export type IdentityMedia = {
  media_id: string
  type: string | null
  expires_at: string | null
}

export type IdentityOtpEvent = {
  otp_id: string
  /** Masked */
  phone: string
  channel: 'sms' | 'voice' | 'messenger' | 'email'
  purpose: string | null
  attempts: number
  attempts_left: number
  reason: string | null
  verification_id: string | null
}

export type IdentityOtpSent = {
  otp_id: string
  phone: string
  channel: 'sms' | 'voice' | 'messenger' | 'email'
  status: 'pending'
  code_length: number
  expires_at: string
  resend_after: string
  sends_remaining: number
  message_id: string | null
  /** Test keys only */
  sandbox_code?: string | undefined
}

export type IdentityOtpVerified = {
  otp_id: string
  phone: string
  verified: true
  status: 'verified'
  verified_at: string
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
  /** Must be 0 to 120 */
  minimum_age: number
  /** How long pictures are kept; 0 erases them with the verdict */
  image_days: number
  /** How long what was read is kept */
  record_days: number
  /** Whether suspicious codes are held back or only noted */
  otp_guard: 'block' | 'monitor'
  /** Countries that codes go to; none: all */
  otp_countries: string[]
  /** Must be 1 to 1000000 */
  otp_daily_limit: number
  version: number
}

export type IdentityRegistry = {
  id: string
  name: string
  country: string
  id_types: string[]
  url: string
  created_at: string
}

export type IdentityRegistryCreate = {
  name: string
  /** Must be an ISO 3166 country code, such as KE */
  country: string
  /** None: all of the country */
  id_types?: ('passport' | 'national_id' | 'drivers_license' | 'voter_id' | 'residence_permit' | 'refugee_id' | 'nin_slip' | 'proof_of_address')[] | undefined
  /** Must be a URL without a slash at its end; /lookup is added to it */
  url: string
  /** Sent as a bearer token */
  token: string
}

export type IdentityRiskScore = {
  risk_id: string
  risk_score: number
  risk_level: 'low' | 'medium' | 'high' | 'very_high'
  flags: string[]
  factors: {
  flag: string
  weight: number
  detail: string
}[]
  unavailable_signals: string[]
  created_at: string
  cost: number
  currency: string
}

export type IdentityScan = {
  scan_id: string
  document_type: string | null
  country: string | null
  fields: Record<string, {
  value: string
  confidence: number
  source: 'mrz' | 'barcode' | 'visual'
  box: number[] | null
}>
  mrz: {
  format: string
  valid: boolean
  lines: string[]
  errors: string[]
} | null
  barcodes: {
  format: string
  text: string
}[]
  quality: {
  sharpness: number
  brightness: number
  glare: number
  width: number
  height: number
  acceptable: boolean
}
  portrait: string | null
  text: string | null
  processing_ms: number
  created_at: string
  cost: number
  currency: string
}

export type IdentitySubjectErasure = {
  external_id: string
  erased: IdentityErasure[]
}

export type IdentityVerification = {
  verification_id: string
  status: 'verified' | 'pending' | 'rejected' | 'expired'
  checks_performed: string[]
  results: {
  document_authentic: boolean | null
  face_match: boolean | null
  liveness_passed: boolean | null
  overall_risk: ('low' | 'medium' | 'high' | 'very_high') | null
}
  created_at: string
  completed_at: string | null
  stage: 'queued' | 'processing' | 'awaiting_registry' | 'awaiting_review' | 'done'
  reference: string | null
  document: ({
  document_type: string
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
  format: string
  valid: boolean
  lines: string[]
} | null
}) | null
  checks: ({
  check: string
  result: 'pass' | 'fail' | 'warn' | 'skipped' | 'unavailable'
  weight: 'critical' | 'major' | 'minor'
  detail: string
})[]
  face_match: {
  match: boolean
  confidence: number
  similarity_score: number
} | null
  liveness: ({
  passed: boolean
  confidence: number
  method: 'passive' | 'active'
}) | null
  risk_assessment: ({
  risk_score: number
  risk_level: 'low' | 'medium' | 'high' | 'very_high'
  flags: string[]
}) | null
  failure_reasons: ({
  code: string
  check: string | null
  message: string
  /** A better picture can help */
  retryable: boolean
})[]
  review: ({
  decision: string | null
  reason: string | null
  by: string | null
  at: string | null
}) | null
  previous_verification_id: string | null
  /** Must be an object of at most 50 names of 1 to 40 characters, with text of at most 500 characters, numbers or booleans, 8 KiB in all */
  metadata: Record<string, string | number | boolean>
  retention: {
  images_erased_at: string
  record_erased_at: string
}
  erased_at: string | null
  engine: {
  version: string
  ocr: string
  face: string
  threshold: number
} | null
  cost: number
  currency: string
  /** With `include=images`: the address of each picture by its field, for 60 seconds */
  images?: Record<string, string> | undefined
}

export type IdentityVerificationEvent = {
  verification_id: string
  status: 'pending' | 'verified' | 'rejected' | 'expired'
  stage: 'queued' | 'processing' | 'awaiting_registry' | 'awaiting_review' | 'done'
  checks_performed: string[]
  results: {
  document_authentic: boolean | null
  face_match: boolean | null
  liveness_passed: boolean | null
  overall_risk: ('low' | 'medium' | 'high' | 'very_high') | null
}
  risk_assessment: ({
  risk_score: number
  risk_level: 'low' | 'medium' | 'high' | 'very_high'
  flags: string[]
}) | null
  reason: string | null
  failure_reasons: ({
  code: string
  check: string | null
  message: string
  /** A better picture can help */
  retryable: boolean
})[]
  reference: string | null
  /** Must be an object of at most 50 names of 1 to 40 characters, with text of at most 500 characters, numbers or booleans, 8 KiB in all */
  metadata: Record<string, string | number | boolean>
  sandbox: boolean
  created_at: string
  completed_at: string | null
}

export type IdentityVerificationListed = {
  verification_id: string
  status: 'verified' | 'pending' | 'rejected' | 'expired'
  checks_performed: string[]
  results: {
  document_authentic: boolean | null
  face_match: boolean | null
  liveness_passed: boolean | null
  overall_risk: ('low' | 'medium' | 'high' | 'very_high') | null
}
  created_at: string
  completed_at: string | null
  stage: 'queued' | 'processing' | 'awaiting_registry' | 'awaiting_review' | 'done'
  reference: string | null
  face_match: {
  match: boolean
  confidence: number
  similarity_score: number
} | null
  liveness: ({
  passed: boolean
  confidence: number
  method: 'passive' | 'active'
}) | null
  risk_assessment: ({
  risk_score: number
  risk_level: 'low' | 'medium' | 'high' | 'very_high'
  flags: string[]
}) | null
  failure_reasons: ({
  code: string
  check: string | null
  message: string
  /** A better picture can help */
  retryable: boolean
})[]
  review: ({
  decision: string | null
  reason: string | null
  by: string | null
  at: string | null
}) | null
  previous_verification_id: string | null
  /** Must be an object of at most 50 names of 1 to 40 characters, with text of at most 500 characters, numbers or booleans, 8 KiB in all */
  metadata: Record<string, string | number | boolean>
  retention: {
  images_erased_at: string
  record_erased_at: string
}
  erased_at: string | null
  engine: {
  version: string
  ocr: string
  face: string
  threshold: number
} | null
  cost: number
  currency: string
}

export type InvitedMember = {
  id: string
  email: string
  name: string
  /** See docs/console.md for what each may do */
  role: 'owner' | 'admin' | 'developer' | 'finance' | 'supervisor' | 'agent' | 'reviewer' | 'viewer'
  status: 'invited' | 'active' | 'disabled'
  /** Whether they also run the installation */
  operator: boolean
  totp_enabled: boolean
  last_login_at: string | null
  created_at: string
  /** Shown once: pass it on to them. It works for a week */
  invite_url: string
}

export type Invoice = {
  invoice_id: string
  number: string | null
  status: 'draft' | 'open' | 'paid' | 'void' | 'uncollectible'
  customer: Customer
  currency: string
  items: {
  description: string
  quantity: number
  unit_amount: number
  discount: number
  /** Percent */
  tax_rate: number
  amount: number
  tax: number
}[]
  /** The amounts hold their tax already */
  tax_inclusive: boolean
  subtotal: number
  discount_total: number
  tax_total: number
  total: number
  amount_paid: number
  amount_due: number
  /** How much of amount_paid the customer had in hand */
  credit_applied: number
  /** What was given back since it was paid. What is given back before is taken off amount_paid */
  amount_refunded: number
  overdue: boolean
  due_date: string
  hosted_url: string | null
  pdf_url: string | null
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
  /** Must be an object of at most 50 names of 1 to 40 characters, with text of at most 500 characters, numbers or booleans, 8 KiB in all */
  metadata: Record<string, string | number | boolean>
  created_at: string
}

export type InvoiceEvent = {
  /** False in the test environment */
  livemode: boolean
  /** Order of the events of one object, from 1 */
  sequence: number
  invoice_id: string
  number: string | null
  status: 'draft' | 'open' | 'paid' | 'void' | 'uncollectible'
  amount_paid: number
  total: number
  currency: string
  customer: Customer
  /** Must be an object of at most 50 names of 1 to 40 characters, with text of at most 500 characters, numbers or booleans, 8 KiB in all */
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
  invoice_id: string
  number: string | null
  status: 'draft' | 'open' | 'paid' | 'void' | 'uncollectible'
  amount_paid: number
  total: number
  currency: string
  customer: Customer
  /** Must be an object of at most 50 names of 1 to 40 characters, with text of at most 500 characters, numbers or booleans, 8 KiB in all */
  metadata: Record<string, string | number | boolean>
  subscription_id: string | null
  payment_id: string | null
  invoice: Invoice
  /** The last one; null when the customer’s credit covered it */
  payment: Payment | null
}

export type Ivr = {
  ivr_id: string
  version: number
  status: 'active' | 'draft'
  name: string
  language: string
  entry: string
  /** Must be 1 to 200 menus by their keys */
  menus: Record<string, {
  prompt?: {
  /** `{{variable}}` is filled in */
  text?: string | undefined
  language?: 'en-NG' | 'en-KE' | 'en-ZA' | 'en-US' | 'fr-SN' | 'fr-FR' | 'ar-EG' | 'ar-001' | 'sw-KE' | 'am-ET' | 'ha-NG' | 'yo-NG' | 'ig-NG' | 'zu-ZA' | 'xh-ZA' | 'af-ZA' | 'so-SO' | 'wo-SN' | 'pt-AO' | undefined
  /** A sound in place of the text */
  url?: string | undefined
} | undefined
  /** Must name keys 0-9, * and # */
  options?: Record<string, {
  label?: string | undefined
  phrases?: string[] | undefined
  /** One of menu, a destination, webhook, set with then, repeat and back */
  action: {
  /** Must have 1 to 64 letters, digits, dashes and underscores */
  menu?: string | undefined
  /** Asked for a list of actions */
  webhook?: string | undefined
  repeat?: true | undefined
  back?: true | undefined
  set?: Record<string, string | number | boolean> | undefined
  type?: 'queue' | 'ivr' | 'agent' | 'phone' | 'sip' | 'application' | 'voicemail' | 'message' | 'hangup' | undefined
  /** Of a queue, an IVR or an agent */
  id?: string | undefined
  /** Of a phone */
  number?: string | undefined
  /** Must be a SIP URI, such as sip:ada@example.org */
  uri?: string | undefined
  /** Of an application: asked for the flow */
  answer_url?: string | undefined
  /** Spoken, of a message or before a voicemail */
  text?: string | undefined
  language?: 'en-NG' | 'en-KE' | 'en-ZA' | 'en-US' | 'fr-SN' | 'fr-FR' | 'ar-EG' | 'ar-001' | 'sw-KE' | 'am-ET' | 'ha-NG' | 'yo-NG' | 'ig-NG' | 'zu-ZA' | 'xh-ZA' | 'af-ZA' | 'so-SO' | 'wo-SN' | 'pt-AO' | undefined
  then?: {
  /** Must have 1 to 64 letters, digits, dashes and underscores */
  menu?: string | undefined
  /** Asked for a list of actions */
  webhook?: string | undefined
  repeat?: true | undefined
  back?: true | undefined
  set?: Record<string, string | number | boolean> | undefined
  type?: 'queue' | 'ivr' | 'agent' | 'phone' | 'sip' | 'application' | 'voicemail' | 'message' | 'hangup' | undefined
  /** Of a queue, an IVR or an agent */
  id?: string | undefined
  /** Of a phone */
  number?: string | undefined
  /** Must be a SIP URI, such as sip:ada@example.org */
  uri?: string | undefined
  /** Of an application: asked for the flow */
  answer_url?: string | undefined
  /** Spoken, of a message or before a voicemail */
  text?: string | undefined
  language?: 'en-NG' | 'en-KE' | 'en-ZA' | 'en-US' | 'fr-SN' | 'fr-FR' | 'ar-EG' | 'ar-001' | 'sw-KE' | 'am-ET' | 'ha-NG' | 'yo-NG' | 'ig-NG' | 'zu-ZA' | 'xh-ZA' | 'af-ZA' | 'so-SO' | 'wo-SN' | 'pt-AO' | undefined
} | undefined
}
}> | undefined
  input?: {
  types?: ('dtmf' | 'speech')[] | undefined
  /** Must be 1 to 20 */
  max_digits?: number | undefined
  /** Must be 1 to 30 seconds */
  timeout?: number | undefined
  bargein?: boolean | undefined
} | undefined
  collect?: {
  /** Must have 1 to 64 letters, digits, dashes and underscores */
  variable: string
  min?: number | undefined
  max?: number | undefined
  /** What the digits must fit: characters, classes such as \d or [a-z], alternatives with |, and at most two of * + ? {n,m}, without groups */
  pattern?: string | undefined
  /** Keeps what was typed out of traces and events; only your servers are told */
  mask?: boolean | undefined
  /** One of menu, a destination, webhook, set with then, repeat and back */
  next: {
  /** Must have 1 to 64 letters, digits, dashes and underscores */
  menu?: string | undefined
  /** Asked for a list of actions */
  webhook?: string | undefined
  repeat?: true | undefined
  back?: true | undefined
  set?: Record<string, string | number | boolean> | undefined
  type?: 'queue' | 'ivr' | 'agent' | 'phone' | 'sip' | 'application' | 'voicemail' | 'message' | 'hangup' | undefined
  /** Of a queue, an IVR or an agent */
  id?: string | undefined
  /** Of a phone */
  number?: string | undefined
  /** Must be a SIP URI, such as sip:ada@example.org */
  uri?: string | undefined
  /** Of an application: asked for the flow */
  answer_url?: string | undefined
  /** Spoken, of a message or before a voicemail */
  text?: string | undefined
  language?: 'en-NG' | 'en-KE' | 'en-ZA' | 'en-US' | 'fr-SN' | 'fr-FR' | 'ar-EG' | 'ar-001' | 'sw-KE' | 'am-ET' | 'ha-NG' | 'yo-NG' | 'ig-NG' | 'zu-ZA' | 'xh-ZA' | 'af-ZA' | 'so-SO' | 'wo-SN' | 'pt-AO' | undefined
  then?: {
  /** Must have 1 to 64 letters, digits, dashes and underscores */
  menu?: string | undefined
  /** Asked for a list of actions */
  webhook?: string | undefined
  repeat?: true | undefined
  back?: true | undefined
  set?: Record<string, string | number | boolean> | undefined
  type?: 'queue' | 'ivr' | 'agent' | 'phone' | 'sip' | 'application' | 'voicemail' | 'message' | 'hangup' | undefined
  /** Of a queue, an IVR or an agent */
  id?: string | undefined
  /** Of a phone */
  number?: string | undefined
  /** Must be a SIP URI, such as sip:ada@example.org */
  uri?: string | undefined
  /** Of an application: asked for the flow */
  answer_url?: string | undefined
  /** Spoken, of a message or before a voicemail */
  text?: string | undefined
  language?: 'en-NG' | 'en-KE' | 'en-ZA' | 'en-US' | 'fr-SN' | 'fr-FR' | 'ar-EG' | 'ar-001' | 'sw-KE' | 'am-ET' | 'ha-NG' | 'yo-NG' | 'ig-NG' | 'zu-ZA' | 'xh-ZA' | 'af-ZA' | 'so-SO' | 'wo-SN' | 'pt-AO' | undefined
} | undefined
}
} | undefined
  on_timeout?: {
  /** Must be 0 to 10; 2 unless told */
  retries?: number | undefined
  prompt?: {
  /** `{{variable}}` is filled in */
  text?: string | undefined
  language?: 'en-NG' | 'en-KE' | 'en-ZA' | 'en-US' | 'fr-SN' | 'fr-FR' | 'ar-EG' | 'ar-001' | 'sw-KE' | 'am-ET' | 'ha-NG' | 'yo-NG' | 'ig-NG' | 'zu-ZA' | 'xh-ZA' | 'af-ZA' | 'so-SO' | 'wo-SN' | 'pt-AO' | undefined
  /** A sound in place of the text */
  url?: string | undefined
} | undefined
  /** One of menu, a destination, webhook, set with then, repeat and back */
  action?: {
  /** Must have 1 to 64 letters, digits, dashes and underscores */
  menu?: string | undefined
  /** Asked for a list of actions */
  webhook?: string | undefined
  repeat?: true | undefined
  back?: true | undefined
  set?: Record<string, string | number | boolean> | undefined
  type?: 'queue' | 'ivr' | 'agent' | 'phone' | 'sip' | 'application' | 'voicemail' | 'message' | 'hangup' | undefined
  /** Of a queue, an IVR or an agent */
  id?: string | undefined
  /** Of a phone */
  number?: string | undefined
  /** Must be a SIP URI, such as sip:ada@example.org */
  uri?: string | undefined
  /** Of an application: asked for the flow */
  answer_url?: string | undefined
  /** Spoken, of a message or before a voicemail */
  text?: string | undefined
  language?: 'en-NG' | 'en-KE' | 'en-ZA' | 'en-US' | 'fr-SN' | 'fr-FR' | 'ar-EG' | 'ar-001' | 'sw-KE' | 'am-ET' | 'ha-NG' | 'yo-NG' | 'ig-NG' | 'zu-ZA' | 'xh-ZA' | 'af-ZA' | 'so-SO' | 'wo-SN' | 'pt-AO' | undefined
  then?: {
  /** Must have 1 to 64 letters, digits, dashes and underscores */
  menu?: string | undefined
  /** Asked for a list of actions */
  webhook?: string | undefined
  repeat?: true | undefined
  back?: true | undefined
  set?: Record<string, string | number | boolean> | undefined
  type?: 'queue' | 'ivr' | 'agent' | 'phone' | 'sip' | 'application' | 'voicemail' | 'message' | 'hangup' | undefined
  /** Of a queue, an IVR or an agent */
  id?: string | undefined
  /** Of a phone */
  number?: string | undefined
  /** Must be a SIP URI, such as sip:ada@example.org */
  uri?: string | undefined
  /** Of an application: asked for the flow */
  answer_url?: string | undefined
  /** Spoken, of a message or before a voicemail */
  text?: string | undefined
  language?: 'en-NG' | 'en-KE' | 'en-ZA' | 'en-US' | 'fr-SN' | 'fr-FR' | 'ar-EG' | 'ar-001' | 'sw-KE' | 'am-ET' | 'ha-NG' | 'yo-NG' | 'ig-NG' | 'zu-ZA' | 'xh-ZA' | 'af-ZA' | 'so-SO' | 'wo-SN' | 'pt-AO' | undefined
} | undefined
} | undefined
} | undefined
  on_invalid?: {
  /** Must be 0 to 10; 2 unless told */
  retries?: number | undefined
  prompt?: {
  /** `{{variable}}` is filled in */
  text?: string | undefined
  language?: 'en-NG' | 'en-KE' | 'en-ZA' | 'en-US' | 'fr-SN' | 'fr-FR' | 'ar-EG' | 'ar-001' | 'sw-KE' | 'am-ET' | 'ha-NG' | 'yo-NG' | 'ig-NG' | 'zu-ZA' | 'xh-ZA' | 'af-ZA' | 'so-SO' | 'wo-SN' | 'pt-AO' | undefined
  /** A sound in place of the text */
  url?: string | undefined
} | undefined
  /** One of menu, a destination, webhook, set with then, repeat and back */
  action?: {
  /** Must have 1 to 64 letters, digits, dashes and underscores */
  menu?: string | undefined
  /** Asked for a list of actions */
  webhook?: string | undefined
  repeat?: true | undefined
  back?: true | undefined
  set?: Record<string, string | number | boolean> | undefined
  type?: 'queue' | 'ivr' | 'agent' | 'phone' | 'sip' | 'application' | 'voicemail' | 'message' | 'hangup' | undefined
  /** Of a queue, an IVR or an agent */
  id?: string | undefined
  /** Of a phone */
  number?: string | undefined
  /** Must be a SIP URI, such as sip:ada@example.org */
  uri?: string | undefined
  /** Of an application: asked for the flow */
  answer_url?: string | undefined
  /** Spoken, of a message or before a voicemail */
  text?: string | undefined
  language?: 'en-NG' | 'en-KE' | 'en-ZA' | 'en-US' | 'fr-SN' | 'fr-FR' | 'ar-EG' | 'ar-001' | 'sw-KE' | 'am-ET' | 'ha-NG' | 'yo-NG' | 'ig-NG' | 'zu-ZA' | 'xh-ZA' | 'af-ZA' | 'so-SO' | 'wo-SN' | 'pt-AO' | undefined
  then?: {
  /** Must have 1 to 64 letters, digits, dashes and underscores */
  menu?: string | undefined
  /** Asked for a list of actions */
  webhook?: string | undefined
  repeat?: true | undefined
  back?: true | undefined
  set?: Record<string, string | number | boolean> | undefined
  type?: 'queue' | 'ivr' | 'agent' | 'phone' | 'sip' | 'application' | 'voicemail' | 'message' | 'hangup' | undefined
  /** Of a queue, an IVR or an agent */
  id?: string | undefined
  /** Of a phone */
  number?: string | undefined
  /** Must be a SIP URI, such as sip:ada@example.org */
  uri?: string | undefined
  /** Of an application: asked for the flow */
  answer_url?: string | undefined
  /** Spoken, of a message or before a voicemail */
  text?: string | undefined
  language?: 'en-NG' | 'en-KE' | 'en-ZA' | 'en-US' | 'fr-SN' | 'fr-FR' | 'ar-EG' | 'ar-001' | 'sw-KE' | 'am-ET' | 'ha-NG' | 'yo-NG' | 'ig-NG' | 'zu-ZA' | 'xh-ZA' | 'af-ZA' | 'so-SO' | 'wo-SN' | 'pt-AO' | undefined
} | undefined
} | undefined
} | undefined
}>
  variables: Record<string, string | number | boolean>
  business_hours_id: string | null
  closed: CallDestination | null
  created_at: string
  updated_at: string
}

export type JobAction = {
  id: string
  status: 'queued' | 'discarded'
}

export type Limits = {
  plan: string
  limits: {
  /** `key`, or `plan-` and the area */
  policy: string
  limit: number
  /** Seconds */
  window: number
  remaining: number
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
  messaging_product: 'messenger'
  message_id: string
  to: string
  status: 'accepted'
  type: 'template' | 'text' | 'image' | 'video' | 'audio' | 'document' | 'interactive'
  contacts: {
  input: string
  wa_id: string
}[]
  /** The message_id once more, where clients of the Cloud API look for it */
  messages: {
  id: string
}[]
  cost: number
  currency: string
  timestamp: string
}

export type MessengerChannel = {
  id: string
  account_id: string
  name: string
  base_url: string
  phone_number_id: string
  business_id: string
  display_number: string
  /** To be entered as the webhook at the provider */
  ingress_url: string
  created_at: string
}

export type MessengerChannelCreate = {
  /** Whose number it is */
  account_id: string
  name: string
  /** Must be a URL without a path, such as https://graph.facebook.com */
  base_url: string
  /** Must be the id that the provider gave the number */
  phone_number_id: string
  /** Must be the id of the business account */
  business_id: string
  /** Must be the digits of the number */
  display_number: string
  /** With which messages are sent */
  token: string
  /** With which the provider signs its calls */
  app_secret: string
  /** With which the provider asks for the challenge */
  verify_token: string
}

export type MessengerConversation = {
  id: string
  phone: string
  name: string | null
  /** Whether messages other than templates may be sent now */
  window_open: boolean
  window_expires_at: string | null
  last_inbound_at: string | null
  opted_out: boolean
}

export type MessengerInboundMessage = {
  from: string
  id: string
  /** Epoch seconds, as a text */
  timestamp: string
  type: 'text' | 'image' | 'video' | 'audio' | 'document' | 'sticker' | 'interactive' | 'button' | 'location' | 'contacts' | 'reaction' | 'unsupported'
  text?: {
  body: string
} | undefined
  image?: MessengerMedia | undefined
  video?: MessengerMedia | undefined
  audio?: MessengerMedia | undefined
  document?: MessengerMedia | undefined
  sticker?: MessengerMedia | undefined
  interactive?: {
  type: 'button_reply' | 'list_reply'
  button_reply?: {
  id: string
  title: string
  description?: string | undefined
} | undefined
  list_reply?: {
  id: string
  title: string
  description?: string | undefined
} | undefined
} | undefined
  button?: {
  payload: string
  text: string
} | undefined
  location?: {
  latitude: number
  longitude: number
  name?: string | undefined
  address?: string | undefined
} | undefined
  contacts?: unknown[] | undefined
  reaction?: {
  message_id: string
  emoji: string
} | undefined
  context?: {
  /** The message it answers */
  id: string
} | undefined
}

export type MessengerMedia = {
  /** Media id to download it with */
  id: string
  mime_type: string
  sha256: string
  caption?: string | undefined
  filename?: string | undefined
}

export type MessengerMediaRecord = {
  media_id: string
  /** Content type */
  type: string
  expires_at: string | null
  sha256: string
  file_size: number
  filename: string | null
}

export type MessengerMessage = {
  message_id: string
  to: string
  from: string
  direction: 'outbound' | 'inbound'
  type: string
  /** Present when the type is this */
  text?: unknown | undefined
  /** Present when the type is this */
  image?: unknown | undefined
  /** Present when the type is this */
  video?: unknown | undefined
  /** Present when the type is this */
  audio?: unknown | undefined
  /** Present when the type is this */
  document?: unknown | undefined
  /** Present when the type is this */
  sticker?: unknown | undefined
  /** Present when the type is this */
  interactive?: unknown | undefined
  /** Present when the type is this */
  button?: unknown | undefined
  /** Present when the type is this */
  location?: unknown | undefined
  /** Present when the type is this */
  contacts?: unknown | undefined
  /** Present when the type is this */
  reaction?: unknown | undefined
  template?: {
  name: string
  language: string
} | undefined
  context: {
  message_id: string
} | null
  status: 'accepted' | 'sent' | 'delivered' | 'read' | 'failed' | 'received'
  accepted_at: string
  sent_at: string | null
  delivered_at: string | null
  read_at: string | null
  failed_at: string | null
  errors: (({
  code: number
  title: string
  message: string
  error_data: {
  details: string
  provider_code?: number | undefined
}
})[]) | null
  /** Must be an object of at most 50 names of 1 to 40 characters, with text of at most 500 characters, numbers or booleans, 8 KiB in all */
  metadata: Record<string, string | number | boolean>
  conversation: ({
  id: string
  category: string
  window_expires_at: string | null
}) | null
  fallback_message_id: string | null
  cost: number
  currency: string | null
  provider_id: string | null
}

export type MessengerMessageEvent = {
  object: 'messenger_business_account'
  entry: {
  /** Your account */
  id: string
  changes: {
  field: 'messages'
  value: {
  messaging_product: 'messenger'
  metadata: {
  display_phone_number: string
  phone_number_id: string
}
  contacts: {
  profile: {
  name: string
}
  wa_id: string
}[]
  messages: MessengerInboundMessage[]
}
}[]
}[]
}

export type MessengerMessageStatus = {
  id: string
  status: 'sent' | 'delivered' | 'read' | 'failed'
  /** Epoch seconds, as a text */
  timestamp: string
  recipient_id: string
  errors?: ({
  code: number
  title: string
  message: string
  error_data?: {
  details: string
  provider_code?: number | undefined
} | undefined
})[] | undefined
  conversation?: {
  id: string
  category?: string | undefined
} | undefined
  pricing?: {
  billable: boolean
  category: string
} | undefined
  /** Must be an object of at most 50 names of 1 to 40 characters, with text of at most 500 characters, numbers or booleans, 8 KiB in all */
  metadata?: Record<string, string | number | boolean> | undefined
}

export type MessengerOptIn = {
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
  /** Who gets it */
  to: string
  /** Which of the fields below it is */
  type: 'template' | 'text' | 'image' | 'video' | 'audio' | 'document' | 'interactive'
  text?: {
  /** Must have 1 to 4096 characters */
  body: string
  preview_url?: boolean | undefined
} | undefined
  image?: {
  /** An https:// URL from which it is fetched */
  link?: string | undefined
  /** A media_id */
  id?: string | undefined
  /** Must have 1 to 1024 characters */
  caption?: string | undefined
} | undefined
  video?: {
  /** An https:// URL from which it is fetched */
  link?: string | undefined
  /** A media_id */
  id?: string | undefined
  /** Must have 1 to 1024 characters */
  caption?: string | undefined
} | undefined
  audio?: {
  /** An https:// URL from which it is fetched */
  link?: string | undefined
  /** A media_id */
  id?: string | undefined
  /** Must have 1 to 1024 characters */
  caption?: string | undefined
} | undefined
  document?: {
  /** An https:// URL from which it is fetched */
  link?: string | undefined
  /** A media_id */
  id?: string | undefined
  /** Must have 1 to 1024 characters */
  caption?: string | undefined
  /** Must have 1 to 240 characters */
  filename?: string | undefined
} | undefined
  interactive?: {
  type: 'button' | 'list'
  header?: {
  type: 'text'
  /** Must have 1 to 60 characters */
  text: string
} | undefined
  body: {
  /** Must have 1 to 1024 characters */
  text: string
}
  footer?: {
  /** Must have 1 to 60 characters */
  text: string
} | undefined
  action: {
  /** Must have 1 to 3 buttons */
  buttons?: {
  type: 'reply'
  reply: {
  /** Must have 1 to 256 characters */
  id: string
  /** Must have 1 to 19 characters */
  title: string
}
}[] | undefined
  /** Must have 1 to 20 characters */
  button?: string | undefined
  /** Must have 1 to 10 sections of 1 to 10 rows */
  sections?: ({
  /** Must have 1 to 24 characters */
  title?: string | undefined
  rows: ({
  /** Must have 1 to 200 characters */
  id: string
  /** Must have 1 to 24 characters */
  title: string
  /** Must have 1 to 72 characters */
  description?: string | undefined
})[]
})[] | undefined
}
} | undefined
  template?: {
  name: string
  language: string | {
  code: string
}
  components?: ({
  type: 'header' | 'body' | 'button'
  sub_type?: 'quick_reply' | 'url' | undefined
  index?: number | string | undefined
  parameters?: ({
  type: 'text' | 'currency' | 'date_time' | 'image' | 'video' | 'document' | 'payload'
  /** Must have 1 to 1024 characters */
  text?: string | undefined
  /** Must have 1 to 256 characters */
  payload?: string | undefined
  currency?: {
  /** Must have 1 to 100 characters */
  fallback_value: string
  code: string
  amount_1000: number
} | undefined
  date_time?: {
  /** Must have 1 to 100 characters */
  fallback_value: string
} | undefined
  image?: {
  /** An https:// URL from which it is fetched */
  link?: string | undefined
  /** A media_id */
  id?: string | undefined
  /** Must have 1 to 1024 characters */
  caption?: string | undefined
} | undefined
  video?: {
  /** An https:// URL from which it is fetched */
  link?: string | undefined
  /** A media_id */
  id?: string | undefined
  /** Must have 1 to 1024 characters */
  caption?: string | undefined
} | undefined
  document?: {
  /** An https:// URL from which it is fetched */
  link?: string | undefined
  /** A media_id */
  id?: string | undefined
  /** Must have 1 to 1024 characters */
  caption?: string | undefined
  /** Must have 1 to 240 characters */
  filename?: string | undefined
} | undefined
})[] | undefined
})[] | undefined
} | undefined
  context?: {
  /** What it answers */
  message_id: string
} | undefined
  fallback_template?: {
  name: string
  language: string | {
  code: string
}
  components?: ({
  type: 'header' | 'body' | 'button'
  sub_type?: 'quick_reply' | 'url' | undefined
  index?: number | string | undefined
  parameters?: ({
  type: 'text' | 'currency' | 'date_time' | 'image' | 'video' | 'document' | 'payload'
  /** Must have 1 to 1024 characters */
  text?: string | undefined
  /** Must have 1 to 256 characters */
  payload?: string | undefined
  currency?: {
  /** Must have 1 to 100 characters */
  fallback_value: string
  code: string
  amount_1000: number
} | undefined
  date_time?: {
  /** Must have 1 to 100 characters */
  fallback_value: string
} | undefined
  image?: {
  /** An https:// URL from which it is fetched */
  link?: string | undefined
  /** A media_id */
  id?: string | undefined
  /** Must have 1 to 1024 characters */
  caption?: string | undefined
} | undefined
  video?: {
  /** An https:// URL from which it is fetched */
  link?: string | undefined
  /** A media_id */
  id?: string | undefined
  /** Must have 1 to 1024 characters */
  caption?: string | undefined
} | undefined
  document?: {
  /** An https:// URL from which it is fetched */
  link?: string | undefined
  /** A media_id */
  id?: string | undefined
  /** Must have 1 to 1024 characters */
  caption?: string | undefined
  /** Must have 1 to 240 characters */
  filename?: string | undefined
} | undefined
})[] | undefined
})[] | undefined
} | undefined
  fallback?: {
  channel: 'sms'
  /** Sender of the text */
  from: string
  /** Must have 1 to 1530 characters */
  message: string
  /** Seconds after which a message that is not delivered goes on by SMS; without it, only one that failed */
  after?: number | undefined
} | undefined
  /** True: refused with 131051 unless the user opted in */
  require_opt_in?: boolean | undefined
  /** Must be an object of at most 50 names of 1 to 40 characters, with text of at most 500 characters, numbers or booleans, 8 KiB in all */
  metadata?: Record<string, string | number | boolean> | undefined
  /** Gets the statuses of this message */
  callback_url?: string | undefined
  /** Must be 1 to 255 visible ASCII characters */
  reference?: string | undefined
}

export type MessengerStatusEvent = {
  object: 'messenger_business_account'
  entry: {
  /** Your account */
  id: string
  changes: {
  field: 'messages'
  value: {
  messaging_product: 'messenger'
  metadata: {
  display_phone_number: string
  phone_number_id: string
}
  statuses: MessengerMessageStatus[]
}
}[]
}[]
}

export type MessengerTemplate = {
  id: string
  name: string
  language: string
  category: string
  status: 'PENDING' | 'APPROVED' | 'REJECTED' | 'PAUSED' | 'DISABLED'
  components: unknown[]
  rejected_reason: string | null
  quality: string
  created_at: string
  updated_at: string
}

export type MessengerTemplateAnswer = {
  messaging_product?: 'messenger' | undefined
  message_id?: string | undefined
  to?: string | undefined
  /** accepted, or the state of the template */
  status: string
  type?: 'template' | 'text' | 'image' | 'video' | 'audio' | 'document' | 'interactive' | undefined
  contacts?: {
  input: string
  wa_id: string
}[] | undefined
  /** The message_id once more, where clients of the Cloud API look for it */
  messages?: {
  id: string
}[] | undefined
  cost?: number | undefined
  currency?: string | undefined
  timestamp?: string | undefined
  id?: string | undefined
  name?: string | undefined
  language?: string | undefined
  category?: string | undefined
  components?: unknown[] | undefined
  rejected_reason?: string | null | undefined
  quality?: string | undefined
  created_at?: string | undefined
  updated_at?: string | undefined
}

export type MessengerTemplateCreate = {
  /** Must be 1 to 512 small letters, digits and underscores */
  name: string
  /** Must be a language such as en, sw or en_US */
  language: string
  category: 'UTILITY' | 'MARKETING' | 'AUTHENTICATION'
  /** Must have 1 to 4 components */
  components: ({
  type: 'HEADER' | 'BODY' | 'FOOTER' | 'BUTTONS'
  /** Must have 1 to 1024 characters */
  text?: string | undefined
  format?: 'TEXT' | 'IMAGE' | 'VIDEO' | 'DOCUMENT' | undefined
  buttons?: ({
  type: 'QUICK_REPLY' | 'URL' | 'PHONE_NUMBER'
  text: string
  url?: string | undefined
  phone_number?: string | undefined
})[] | undefined
  example?: unknown | undefined
})[]
}

export type MessengerTemplateEvent = {
  template_id: string
  name: string
  language: string
  status: 'PENDING' | 'APPROVED' | 'REJECTED' | 'PAUSED' | 'DISABLED'
  reason: string | null
}

export type MessengerThread = {
  id: string
  phone: string
  name: string | null
  /** Whether messages other than templates may be sent now */
  window_open: boolean
  window_expires_at: string | null
  last_inbound_at: string | null
  opted_out: boolean
  /** The newest 50, newest first */
  messages: MessengerMessage[]
}

export type MonitorEvent = {
  account_id: string
  monitor_id: string
  call_id: string
  supervisor_id: string | null
  mode: 'listen' | 'whisper' | 'barge'
  status: 'connecting' | 'active' | 'ended'
  supervisor_call_id: string | null
  started_at: string
  ended_at: string | null
}

export type NewApiKey = {
  /** Id of the key */
  id: string
  name: string
  environment: 'test' | 'live'
  /** First 13 characters of the key */
  prefix: string
  /** Last 4 characters of the key */
  last4: string
  scopes: string[]
  status: 'active' | 'expiring' | 'revoked' | 'expired'
  created_at: string
  created_by: string
  last_used_at: string | null
  last_used_ip: string | null
  expires_at: string | null
  rotated_from: string | null
  /** 90 days after it was made; a reminder */
  rotation_due_at: string
  allowed_ips: string[]
  rate_limit_per_second: number | null
  exposed_at: string | null
  strict: boolean
  envelope: 'both' | 'flat' | 'data'
  /** The key itself, shown this once */
  key: string
}

export type NewWebhook = {
  id: string
  url: string
  events: string[]
  enabled: boolean
  description: string | null
  created_at: string
  updated_at: string
  ordered: boolean
  rate_limit: number | null
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
  /** Id of the account */
  id: string
  name: string
  country: string
  currency: string
  timezone: string
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
  status: 'active' | 'suspended'
  created_at: string
  /** A test key with every scope, shown this once */
  test_api_key: string
}

export type OperatorAccount = {
  /** Id of the account */
  id: string
  name: string
  country: string
  currency: string
  timezone: string
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
  status: 'active' | 'suspended'
  created_at: string
}

export type OperatorAccountDetail = {
  /** Id of the account */
  id: string
  name: string
  country: string
  currency: string
  timezone: string
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
  status: 'active' | 'suspended'
  created_at: string
  wallets: ({
  environment: 'test' | 'live'
  currency: string
  balance: number
  held: number
  overdraft: number
  available: number
})[]
}

export type OperatorSmsNumber = {
  account_id: string
  number: string
  /** Others have keywords on it too */
  shared: boolean
  keywords: ({
  keyword: string
  webhook_url: string | null
  auto_reply: string | null
})[]
  default_webhook_url: string | null
  created_at: string
  updated_at: string
}

export type OperatorSmsSenderId = {
  account_id: string
  id: string
  sender: string
  environment: 'test' | 'live'
  /** Null: all of them */
  countries: string[] | null
  purpose: string
  sample: string
  status: 'pending' | 'approved' | 'rejected'
  reason: string | null
  created_at: string
  decided_at: string | null
}

export type OperatorVoiceNumber = {
  number: string
  account_id: string
  assigned_at: string
}

export type OverduePayout = {
  payout_id: string
  status: 'pending' | 'processing' | 'completed' | 'failed' | 'cancelled' | 'reversed'
  /** As the provider knows it */
  provider_id: string
  account_id: string
  environment: 'test' | 'live'
  provider: string
  country: string
  amount: number
  currency: string
  created_at: string
  overdue_at: string | null
}

export type OverdueRefund = {
  refund_id: string
  payment_id: string
  status: 'pending' | 'processing' | 'completed' | 'failed'
  /** As the provider knows it */
  provider_id: string
  account_id: string
  environment: 'test' | 'live'
  provider: string
  country: string
  amount: number
  currency: string
  created_at: string
  overdue_at: string | null
}

export type OwnedNumber = {
  /** E.164, a short code, or a code that handsets dial */
  number: string
  country: string | null
  capabilities: ('voice' | 'sms' | 'ussd' | 'messenger')[]
  /** Others have keywords on it too */
  shared: boolean
  created_at: string
}

export type PasswordReset = {
  id: string
  /** Shown once */
  reset_url: string
  expires_at: string
}

export type Payment = {
  payment_id: string
  status: 'pending' | 'processing' | 'requires_action' | 'completed' | 'failed' | 'cancelled' | 'expired'
  amount: number
  currency: string
  provider: string | null
  completed_at: string | null
  receipt_url: string | null
  method: 'mobile_money' | 'card' | 'bank_transfer'
  phone: string | null
  reference: string | null
  description: string | null
  customer: Customer
  /** Must be an object of at most 50 names of 1 to 40 characters, with text of at most 500 characters, numbers or booleans, 8 KiB in all */
  metadata: Record<string, string | number | boolean>
  fee: number
  net_amount: number
  provider_reference: string | null
  amount_refunded: number
  refund_status: 'none' | 'partial' | 'full'
  refunds: Refund[]
  failure_reason: string | null
  failure_message: string | null
  risk: ({
  risk_score: number
  risk_level: 'low' | 'medium' | 'high' | 'very_high'
  flags: string[]
  decision?: 'allow' | 'review' | 'require_3ds' | 'block' | undefined
  /** The rule that decided it */
  rule_id?: string | null | undefined
  risk_check_id?: string | undefined
}) | null
  /** The money came after the payment had been given up */
  late: boolean
  invoice_id: string | null
  /** The link over which it was paid */
  payment_link_id?: string | undefined
  /** Of a top-up, with what follows, where it is read */
  type?: 'topup' | undefined
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
  created_at: string
  updated_at: string
}

export type PaymentActionEvent = {
  /** False in the test environment */
  livemode: boolean
  /** Order of the events of one object, from 1 */
  sequence: number
  payment_id: string
  status: 'pending' | 'processing' | 'requires_action' | 'completed' | 'failed' | 'cancelled' | 'expired'
  amount: number
  currency: string
  /** Must be an object of at most 50 names of 1 to 40 characters, with text of at most 500 characters, numbers or booleans, 8 KiB in all */
  metadata: Record<string, string | number | boolean>
  customer: Customer
  failure_reason: string | null
  /** Where to send the payer */
  redirect_url: string
  payment: Payment
}

export type PaymentBank = {
  bank_code: string
  /** Its last four characters */
  account_number: string
  account_name: string
}

export type PaymentDiscrepancy = {
  payment_id: string
  account_id: string
  environment: 'test' | 'live'
  status: 'pending' | 'processing' | 'requires_action' | 'completed' | 'failed' | 'cancelled' | 'expired'
  provider: string
  currency: string
  /** What the payer was asked for */
  asked_amount: number
  told_amount: number | null
  told_currency: string | null
  told_words: string | null
  provider_reference: string | null
  found_at: string
  resolved_at: string | null
  note: string | null
}

export type PaymentDiscrepancyResolved = {
  payment_id: string
  account_id: string
  environment: 'test' | 'live'
  status: 'pending' | 'processing' | 'requires_action' | 'completed' | 'failed' | 'cancelled' | 'expired'
  provider: string
  currency: string
  /** What the payer was asked for */
  asked_amount: number
  told_amount: number | null
  told_currency: string | null
  told_words: string | null
  provider_reference: string | null
  found_at: string
  resolved_at: string | null
  note: string | null
  action: 'none' | 'credit_account' | 'returned_to_payer'
  /** Out of suspense */
  amount_moved: number
}

export type PaymentDisputeEvent = {
  /** False in the test environment */
  livemode: boolean
  /** Order of the events of one object, from 1 */
  sequence: number
  payment_id: string
  status: 'pending' | 'processing' | 'requires_action' | 'completed' | 'failed' | 'cancelled' | 'expired'
  amount: number
  currency: string
  /** Must be an object of at most 50 names of 1 to 40 characters, with text of at most 500 characters, numbers or booleans, 8 KiB in all */
  metadata: Record<string, string | number | boolean>
  customer: Customer
  failure_reason: string | null
  dispute_id: string
  dispute_status: 'open' | 'won' | 'lost'
  payment: Payment
  dispute: Dispute
}

export type PaymentEvent = {
  /** False in the test environment */
  livemode: boolean
  /** Order of the events of one object, from 1 */
  sequence: number
  payment_id: string
  status: 'pending' | 'processing' | 'requires_action' | 'completed' | 'failed' | 'cancelled' | 'expired'
  amount: number
  currency: string
  /** Must be an object of at most 50 names of 1 to 40 characters, with text of at most 500 characters, numbers or booleans, 8 KiB in all */
  metadata: Record<string, string | number | boolean>
  customer: Customer
  failure_reason: string | null
  payment: Payment
}

export type PaymentLink = {
  payment_link_id: string
  /** Where it is paid; whoever has it may pay */
  url: string
  /** `completed` once it was paid max_uses times, `inactive` once it was deactivated */
  status: 'active' | 'inactive' | 'expired' | 'completed'
  amount: number
  currency: string
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
  /** Must be an object of at most 50 names of 1 to 40 characters, with text of at most 500 characters, numbers or booleans, 8 KiB in all */
  metadata: Record<string, string | number | boolean>
  expires_at: string | null
  deactivated_at: string | null
  created_at: string
}

export type PaymentLinkPaidEvent = {
  /** False in the test environment */
  livemode: boolean
  /** Order of the events of one object, from 1 */
  sequence: number
  payment_link_id: string
  payment_id: string
  amount: number
  currency: string
  /** With this one */
  uses: number
  /** It came although the link was paid max_uses times by then, by transfer or late: give it back if you must */
  over_limit: boolean
  /** Must be an object of at most 50 names of 1 to 40 characters, with text of at most 500 characters, numbers or booleans, 8 KiB in all */
  metadata: Record<string, string | number | boolean>
  payment: Payment
  payment_link: PaymentLink
}

export type PaymentMethod = {
  method: 'mobile_money' | 'card' | 'bank_transfer'
  provider: string
  name: string
  countries: string[]
  currencies: string[]
  directions: ('in' | 'out')[]
  /** In the one currency; for cards where `currency` is asked for */
  min_amount?: number | undefined
  max_amount?: number | undefined
  whole_units_only: boolean
  /** Of a collection, or with `direction=out` of a payout */
  fee?: {
  percent: number
  fixed: number
  currency: string
} | undefined
  status: 'up' | 'degraded' | 'down'
  /** A picture to show beside the name */
  logo_url: string
  /** What a payer dials to see what waits for approval */
  ussd_code?: string | undefined
  /** Whether the payer is asked on the phone, or sent to `redirect_url` */
  confirms_on?: 'phone' | 'page' | undefined
  brands?: ('visa' | 'mastercard' | 'verve' | 'american-express')[] | undefined
  supports_3ds?: boolean | undefined
  /** Those whose accounts can be reached */
  banks?: {
  bank_code: string
  name: string
}[] | undefined
}

export type PaymentProvider = {
  /** Such as `mpesa-ke-live` */
  id: string
  provider: string
  environment: 'test' | 'live'
  country: string
  enabled: boolean
  /** As the answering node sees it */
  status: 'up' | 'degraded' | 'down'
  created_at: string
  updated_at: string
  /** Where the provider is asked */
  base_url?: string | undefined
  /** The paybill number */
  shortcode?: string | undefined
  /** Who pays out */
  initiator_name?: string | undefined
  /** The provider’s certificate, for which the password is encrypted */
  certificate?: string | undefined
  /** The number that payouts are made from */
  payout_shortcode?: string | undefined
  /** Such as mtnuganda */
  target_environment?: string | undefined
  /** The provider’s, for which the PIN is encrypted */
  payout_public_key?: string | undefined
  /** Such as ci, or dev */
  webpay_market?: string | undefined
  /** The page that payers are sent to */
  checkout_url?: string | undefined
  /** Of the merchant */
  merchant_app_id?: string | undefined
  /** The short code of the merchant */
  merchant_code?: string | undefined
  /** The part of the path that says which country it is, such as vodacomTZN */
  open_api_market?: string | undefined
  /** The shortcode */
  service_provider_code?: string | undefined
  /** The provider’s, for which keys are encrypted */
  open_api_public_key?: string | undefined
  /** Whether payments are in earnest */
  ecocash_mode?: string | undefined
}

export type PaymentRefundedEvent = {
  /** False in the test environment */
  livemode: boolean
  /** Order of the events of one object, from 1 */
  sequence: number
  payment_id: string
  status: 'pending' | 'processing' | 'requires_action' | 'completed' | 'failed' | 'cancelled' | 'expired'
  amount: number
  currency: string
  /** Must be an object of at most 50 names of 1 to 40 characters, with text of at most 500 characters, numbers or booleans, 8 KiB in all */
  metadata: Record<string, string | number | boolean>
  customer: Customer
  failure_reason: string | null
  refund_id: string
  amount_refunded: number
  refund_status: 'none' | 'partial' | 'full'
  payment: Payment
  refund: Refund
}

export type PaymentStatement = {
  id: string
  provider: string
  environment: 'test' | 'live'
  country: string
  currency: string
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
  created_at: string
  matched_at: string | null
}

export type PaymentStatementLine = {
  /** Of the line; of what is on no statement where it is ours_only */
  id: string
  class: ('matched' | 'theirs_only' | 'amount_differs' | 'booked' | 'ours_only') | null
  kind: 'collection' | 'payout' | 'refund' | 'fee' | 'settlement' | 'other'
  direction: 'in' | 'out'
  receipt: string | null
  amount: number
  currency: string
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
  id: string
  provider: string
  environment: 'test' | 'live'
  country: string
  currency: string
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
  created_at: string
  matched_at: string | null
  /** The new lines by what was found; `ours_only` are payments, payouts and refunds that are on no statement */
  classes: {
  matched: {
  lines: number
  /** Of all of them, in either direction */
  amount: number
  /** What came in less what went out */
  net: number
}
  theirs_only: {
  lines: number
  /** Of all of them, in either direction */
  amount: number
  /** What came in less what went out */
  net: number
}
  amount_differs: {
  lines: number
  /** Of all of them, in either direction */
  amount: number
  /** What came in less what went out */
  net: number
}
  booked: {
  lines: number
  /** Of all of them, in either direction */
  amount: number
  /** What came in less what went out */
  net: number
}
  ours_only: {
  lines: number
  /** Of all of them, in either direction */
  amount: number
  /** What came in less what went out */
  net: number
}
}
}

export type Payout = {
  payout_id: string
  status: 'pending' | 'processing' | 'completed' | 'failed' | 'cancelled' | 'reversed'
  amount: number
  currency: string
  recipient: PayoutRecipient
  fee: number
  method: 'mobile_money' | 'card' | 'bank_transfer'
  provider: string | null
  description: string | null
  reference: string | null
  batch_id: string | null
  /** Must be an object of at most 50 names of 1 to 40 characters, with text of at most 500 characters, numbers or booleans, 8 KiB in all */
  metadata: Record<string, string | number | boolean>
  scheduled_at: string | null
  /** It waits for somebody to approve or reject it */
  in_review: boolean
  risk: ({
  risk_score: number
  risk_level: 'low' | 'medium' | 'high' | 'very_high'
  flags: string[]
  decision?: 'allow' | 'review' | 'require_3ds' | 'block' | undefined
  /** The rule that decided it */
  rule_id?: string | null | undefined
  risk_check_id?: string | undefined
}) | null
  provider_reference: string | null
  failure_reason: string | null
  failure_message: string | null
  created_at: string
  completed_at: string | null
  updated_at: string
}

export type PayoutBatch = {
  batch_id: string
  status: 'processing' | 'completed' | 'cancelled'
  total_count: number
  accepted_count: number
  completed_count: number
  failed_count: number
  cancelled_count: number
  total_amount: number
  total_fee: number
  currency: string
  created_at: string
}

export type PayoutBatchCompletedEvent = {
  /** False in the test environment */
  livemode: boolean
  /** Order of the events of one object, from 1 */
  sequence: number
  batch_id: string
  status: 'completed' | 'cancelled'
  counts: {
  total: number
  accepted: number
  completed: number
  failed: number
  cancelled: number
}
  batch: PayoutBatch
}

export type PayoutBatchRecord = {
  batch_id: string
  status: 'processing' | 'completed' | 'cancelled'
  total_count: number
  accepted_count: number
  completed_count: number
  failed_count: number
  cancelled_count: number
  total_amount: number
  total_fee: number
  currency: string
  created_at: string
  reference: string | null
  description: string | null
  /** Must be an object of at most 50 names of 1 to 40 characters, with text of at most 500 characters, numbers or booleans, 8 KiB in all */
  metadata: Record<string, string | number | boolean>
  payouts: ({
  index: number
  payout_id: string | null
  status: 'pending' | 'processing' | 'completed' | 'failed' | 'cancelled' | 'reversed'
  amount?: number | undefined
  currency?: string | undefined
  reference?: string | null | undefined
  failure_reason?: string | null | undefined
  error?: {
  code: string
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
  payout_id: string
  status: 'pending' | 'processing' | 'completed' | 'failed' | 'cancelled' | 'reversed'
  amount: number
  currency: string
  recipient: PayoutRecipient
  /** Must be an object of at most 50 names of 1 to 40 characters, with text of at most 500 characters, numbers or booleans, 8 KiB in all */
  metadata: Record<string, string | number | boolean>
  failure_reason: string | null
  payout: Payout
}

export type PayoutRecipient = {
  name: string | null
  /** Where one was given */
  email?: string | undefined
  phone: string | null
  bank: {
  account_number: string
  bank_code: string
  account_name: string
} | null
}

export type Plan = {
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
  updated_at: string
}

export type Playing = {
  call_id: string
  play_id: string
  status: 'playing'
  started_at: string
}

export type Price = {
  id: string
  area: string
  unit: string
  country: string | null
  network: string | null
  account_id: string | null
  amount: number
  currency: string
  effective_from: string
  created_at: string
}

export type PriceImport = {
  imported: number
}

export type Queue = {
  queue_id: string
  name: string
  /** Who is called first; longest_idle unless told */
  strategy?: 'longest_idle' | 'round_robin' | 'skills' | 'least_calls' | 'ring_all' | 'priority' | undefined
  /** Must be at most 20 skills */
  skills_required?: ({
  /** Must have 1 to 64 characters */
  name: string
  /** Must be 1 to 5; 1 unless told */
  min_level?: number | undefined
})[] | undefined
  skill_relax_seconds: number | null
  /** Agents of the queue, besides those who log in to it */
  agents?: string[] | undefined
  max_wait_seconds: number
  max_size: number
  music_url: string | null
  announcements?: ({
  position?: boolean | undefined
  estimated_wait?: boolean | undefined
  /** Seconds between two announcements */
  every_seconds?: number | undefined
  /** Must have 1 to 500 characters */
  text?: string | undefined
  language?: 'en-NG' | 'en-KE' | 'en-ZA' | 'en-US' | 'fr-SN' | 'fr-FR' | 'ar-EG' | 'ar-001' | 'sw-KE' | 'am-ET' | 'ha-NG' | 'yo-NG' | 'ig-NG' | 'zu-ZA' | 'xh-ZA' | 'af-ZA' | 'so-SO' | 'wo-SN' | 'pt-AO' | undefined
}) | null | undefined
  /** Where callers go that the queue does not take or keep */
  overflow?: ({
  /** Must name at least one cause */
  on: ('max_wait' | 'full' | 'no_agents' | 'closed')[]
  action: CallDestination
}) | null | undefined
  /** A caller who presses the key hangs up, keeps the place and is called back */
  callback?: ({
  enabled: boolean
  /** Must be one of 0-9, * and # */
  key?: string | undefined
  /** How often a caller is called back who does not answer */
  max_attempts?: number | undefined
}) | null | undefined
  sla?: {
  /** Must be 1 to 100 */
  target_percent: number
  /** Must be 1 to 3600 */
  threshold_seconds: number
} | undefined
  offer_timeout: number
  wrap_up_seconds: number
  aging_seconds: number
  record: boolean
  language: string
  business_hours_id: string | null
  priority: number
  status: 'open' | 'closed' | 'paused'
  created_at: string
  updated_at: string
}

export type QueueSlaBreachedEvent = {
  account_id: string
  queue_id: string
  name: string
  service_level_percent: number
  target_percent: number
  threshold_seconds: number
  waiting: number
  longest_wait_seconds: number
}

export type QueueStatus = {
  queue_id: string
  name: string
  /** Who is called first; longest_idle unless told */
  strategy?: 'longest_idle' | 'round_robin' | 'skills' | 'least_calls' | 'ring_all' | 'priority' | undefined
  /** Must be at most 20 skills */
  skills_required?: ({
  /** Must have 1 to 64 characters */
  name: string
  /** Must be 1 to 5; 1 unless told */
  min_level?: number | undefined
})[] | undefined
  skill_relax_seconds: number | null
  /** Agents of the queue, besides those who log in to it */
  agents?: string[] | undefined
  max_wait_seconds: number
  max_size: number
  music_url: string | null
  announcements?: ({
  position?: boolean | undefined
  estimated_wait?: boolean | undefined
  /** Seconds between two announcements */
  every_seconds?: number | undefined
  /** Must have 1 to 500 characters */
  text?: string | undefined
  language?: 'en-NG' | 'en-KE' | 'en-ZA' | 'en-US' | 'fr-SN' | 'fr-FR' | 'ar-EG' | 'ar-001' | 'sw-KE' | 'am-ET' | 'ha-NG' | 'yo-NG' | 'ig-NG' | 'zu-ZA' | 'xh-ZA' | 'af-ZA' | 'so-SO' | 'wo-SN' | 'pt-AO' | undefined
}) | null | undefined
  /** Where callers go that the queue does not take or keep */
  overflow?: ({
  /** Must name at least one cause */
  on: ('max_wait' | 'full' | 'no_agents' | 'closed')[]
  action: CallDestination
}) | null | undefined
  /** A caller who presses the key hangs up, keeps the place and is called back */
  callback?: ({
  enabled: boolean
  /** Must be one of 0-9, * and # */
  key?: string | undefined
  /** How often a caller is called back who does not answer */
  max_attempts?: number | undefined
}) | null | undefined
  sla?: {
  /** Must be 1 to 100 */
  target_percent: number
  /** Must be 1 to 3600 */
  threshold_seconds: number
} | undefined
  offer_timeout: number
  wrap_up_seconds: number
  aging_seconds: number
  record: boolean
  language: string
  business_hours_id: string | null
  priority: number
  status: 'open' | 'closed' | 'paused'
  created_at: string
  updated_at: string
  live: {
  waiting: number
  longest_wait_seconds: number
  estimated_wait_seconds: number | null
  agents: {
  logged_in: number
  available: number
  on_call: number
  wrap_up: number
  paused: number
}
  service_level_percent: number | null
  calls: {
  call_id: string
  from: string
  position: number
  waited_seconds: number
  /** With what the wait has added */
  priority: number
}[]
}
}

export type QueueWithSummary = {
  queue_id: string
  name: string
  /** Who is called first; longest_idle unless told */
  strategy?: 'longest_idle' | 'round_robin' | 'skills' | 'least_calls' | 'ring_all' | 'priority' | undefined
  /** Must be at most 20 skills */
  skills_required?: ({
  /** Must have 1 to 64 characters */
  name: string
  /** Must be 1 to 5; 1 unless told */
  min_level?: number | undefined
})[] | undefined
  skill_relax_seconds: number | null
  /** Agents of the queue, besides those who log in to it */
  agents?: string[] | undefined
  max_wait_seconds: number
  max_size: number
  music_url: string | null
  announcements?: ({
  position?: boolean | undefined
  estimated_wait?: boolean | undefined
  /** Seconds between two announcements */
  every_seconds?: number | undefined
  /** Must have 1 to 500 characters */
  text?: string | undefined
  language?: 'en-NG' | 'en-KE' | 'en-ZA' | 'en-US' | 'fr-SN' | 'fr-FR' | 'ar-EG' | 'ar-001' | 'sw-KE' | 'am-ET' | 'ha-NG' | 'yo-NG' | 'ig-NG' | 'zu-ZA' | 'xh-ZA' | 'af-ZA' | 'so-SO' | 'wo-SN' | 'pt-AO' | undefined
}) | null | undefined
  /** Where callers go that the queue does not take or keep */
  overflow?: ({
  /** Must name at least one cause */
  on: ('max_wait' | 'full' | 'no_agents' | 'closed')[]
  action: CallDestination
}) | null | undefined
  /** A caller who presses the key hangs up, keeps the place and is called back */
  callback?: ({
  enabled: boolean
  /** Must be one of 0-9, * and # */
  key?: string | undefined
  /** How often a caller is called back who does not answer */
  max_attempts?: number | undefined
}) | null | undefined
  sla?: {
  /** Must be 1 to 100 */
  target_percent: number
  /** Must be 1 to 3600 */
  threshold_seconds: number
} | undefined
  offer_timeout: number
  wrap_up_seconds: number
  aging_seconds: number
  record: boolean
  language: string
  business_hours_id: string | null
  priority: number
  status: 'open' | 'closed' | 'paused'
  created_at: string
  updated_at: string
  live: {
  waiting: number
  longest_wait_seconds: number
  estimated_wait_seconds: number | null
  agents: {
  logged_in: number
  available: number
  on_call: number
  wrap_up: number
  paused: number
}
  service_level_percent: number | null
}
}

export type RealtimeMetrics = {
  generated_at: string
  window: 'today' | '15m' | '30m' | '60m'
  totals: {
  waiting: number
  longest_wait_seconds: number
  estimated_wait_seconds: number | null
  active_calls: number
  agents_logged_in: number
  agents_available: number
  agents_on_call: number
  agents_wrap_up: number
  agents_paused: number
  offered: number
  answered: number
  abandoned: number
  /** Gave up within five seconds */
  short_abandoned: number
  overflowed: number
  transferred: number
  /** Answered in time, of answered and abandoned without the short ones; null if nobody called */
  service_level_percent: number | null
  asa_seconds: number | null
  aht_seconds: number | null
  abandon_rate_percent: number | null
  occupancy_percent: number | null
}
  queues: ({
  queue_id: string
  name: string
  waiting: number
  longest_wait_seconds: number
  estimated_wait_seconds: number | null
  active_calls: number
  agents_logged_in: number
  agents_available: number
  agents_on_call: number
  agents_wrap_up: number
  agents_paused: number
  offered: number
  answered: number
  abandoned: number
  /** Gave up within five seconds */
  short_abandoned: number
  overflowed: number
  transferred: number
  /** Answered in time, of answered and abandoned without the short ones; null if nobody called */
  service_level_percent: number | null
  asa_seconds: number | null
  aht_seconds: number | null
  abandon_rate_percent: number | null
  occupancy_percent: number | null
})[]
  agents: ({
  agent_id: string
  name: string | null
  status: 'offline' | 'available' | 'ringing' | 'on_call' | 'wrap_up' | 'break' | 'away' | 'training' | 'meeting'
  since: string
  call_id: string | null
  queue_id: string | null
  calls_handled: number
  talk_seconds: number
  occupancy_percent: number | null
})[]
}

export type Recording = {
  recording_id: string
  call_id: string | null
  conference_id: string | null
  /** Seconds */
  duration: number
  file_url: string | null
  transcription: {
  available: boolean
  language: string | null
  url: string | null
  confidence: number | null
  error: string | null
}
  status: 'recording' | 'processing' | 'ready' | 'failed' | 'deleted'
  format: 'wav' | 'mp3'
  /** Of two, the caller is left and the others are right */
  channels: number
  size_bytes: number | null
  sha256: string | null
  started_at: string
  expires_at: string | null
  reason: string | null
}

export type RecordingEvent = {
  account_id: string
  recording_id: string
  call_id: string | null
  /** Seconds */
  duration: number
  file_url: string | null
  transcription: {
  available: boolean
  language: string | null
  url: string | null
  confidence: number | null
  error: string | null
}
  conference_id: string | null
  status: 'recording' | 'processing' | 'ready' | 'failed' | 'deleted'
  format: 'wav' | 'mp3'
  channels: number
  size_bytes: number | null
  sha256: string | null
  started_at: string
  expires_at: string | null
  reason: string | null
}

export type Redelivery = {
  /** The new delivery */
  delivery_id: string
  replay_of: string
}

export type Refund = {
  refund_id: string
  payment_id: string
  status: 'pending' | 'processing' | 'completed' | 'failed'
  amount: number
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
  /** Must be an object of at most 50 names of 1 to 40 characters, with text of at most 500 characters, numbers or booleans, 8 KiB in all */
  metadata: Record<string, string | number | boolean>
  created_at: string
  completed_at: string | null
}

export type RefundFailedEvent = {
  /** False in the test environment */
  livemode: boolean
  /** Order of the events of one object, from 1 */
  sequence: number
  refund_id: string
  payment_id: string
  status: 'failed'
  amount: number
  currency: string
  failure_reason: string
  refund: Refund
}

export type ReplayProgress = {
  replay_id: string
  state: 'running' | 'done'
  /** Deliveries in all */
  count: number
  /** Deliveries that were sent again so far, or are about to be */
  queued: number
}

export type ReplayStarted = {
  replay_id: string
  count: number
}

export type RequestLogEntry = {
  request_id: string
  at: string
  method: string
  path: string
  operation: string | null
  status: number
  error_code: string | null
  duration_ms: number
  /** Id of the key */
  key_id: string
  ip: string
  warning: string | null
  request_body: string | null
  response_body: string | null
}

export type RiskCheck = {
  risk_check_id: string
  risk_score: number
  risk_level: 'low' | 'medium' | 'high' | 'very_high'
  flags: string[]
  decision: 'allow' | 'require_3ds' | 'review' | 'block'
  risk_assessment: {
  risk_score: number
  risk_level: 'low' | 'medium' | 'high' | 'very_high'
  flags: string[]
}
  matched_rules: ({
  rule_id: string
  name: string
  action: 'allow' | 'require_3ds' | 'review' | 'block'
  dry_run: boolean
})[]
  blacklist_hits: ({
  blacklist_id: string
  type: 'phone' | 'email' | 'email_domain' | 'card' | 'card_bin' | 'card_fingerprint' | 'ip' | 'ip_range' | 'device_id' | 'bank_account' | 'customer_id' | 'country'
  value: string
})[]
  /** They add up to the score: velocity, amount, identity, card, geo, history, rules */
  components: {
  velocity: number
  amount: number
  identity: number
  card: number
  geo: number
  history: number
  rules: number
}
  created_at: string
}

export type RotatedCallbackSecret = {
  /** Signs requests to the URLs of single requests */
  secret: string
  activates_at: string
}

export type RotatedWebhookSecret = {
  id: string
  /** Signs every delivery; shown this once */
  secret: string
  activates_at: string
}

export type RoutingRule = {
  rule_id: string
  /** Must have 1 to 64 characters */
  name: string
  /** Must be a whole number; lower ones come first */
  priority: number
  enabled: boolean
  match: 'all' | 'any'
  /** Must be at most 20 conditions */
  conditions?: ({
  /** Must be a field that calls have, such as from_country, weekday or queue.<id>.waiting */
  field: string
  op: 'eq' | 'ne' | 'in' | 'not_in' | 'prefix' | 'gt' | 'gte' | 'lt' | 'lte' | 'exists' | 'open' | 'closed'
  /** Must be a text, a number, true, false, or a list */
  value?: string | number | boolean | ((string | number)[]) | undefined
})[] | undefined
  /** Where the call goes, and what it takes there */
  action: {
  type: 'queue' | 'ivr' | 'agent' | 'phone' | 'sip' | 'application' | 'voicemail' | 'message' | 'hangup'
  /** Of a queue, an IVR or an agent */
  id?: string | undefined
  /** Of a phone */
  number?: string | undefined
  /** Must be a SIP URI, such as sip:ada@example.org */
  uri?: string | undefined
  /** Of an application: asked for the flow */
  answer_url?: string | undefined
  /** Spoken, of a message or before a voicemail */
  text?: string | undefined
  language?: 'en-NG' | 'en-KE' | 'en-ZA' | 'en-US' | 'fr-SN' | 'fr-FR' | 'ar-EG' | 'ar-001' | 'sw-KE' | 'am-ET' | 'ha-NG' | 'yo-NG' | 'ig-NG' | 'zu-ZA' | 'xh-ZA' | 'af-ZA' | 'so-SO' | 'wo-SN' | 'pt-AO' | undefined
  /** Must be 1 to 10 */
  priority?: number | undefined
  skills?: ({
  /** Must have 1 to 64 characters */
  name: string
  /** Must be 1 to 5; 1 unless told */
  min_level?: number | undefined
})[] | undefined
  set?: Record<string, string | number | boolean> | undefined
}
  stop: boolean
  created_at: string
  updated_at: string
}

export type RoutingSimulation = {
  /** Null: nobody answers */
  destination: CallDestination | null
  matched_rule_id: string | null
  business_hours: {
  id: string
  open: boolean
} | null
  estimated_wait_seconds: number | null
  eligible_agents: {
  agent_id: string
  score: number
  idle_seconds: number
}[]
  trace: ({
  step: number
  kind: 'number' | 'rule' | 'business_hours' | 'ivr' | 'queue' | 'overflow' | 'agent'
  id: string | null
  result: 'matched' | 'skipped' | 'entered' | 'selected'
  reason: string
})[]
  warnings: string[]
}

export type SandboxBankCredit = {
  payment_id: string
  account_number: string
  amount: number
  currency: string
}

export type SandboxClock = {
  now: string
  offset_seconds: number
}

export type SandboxDisputeClose = {
  dispute_id: string
  payment_id: string
  /** What the bank decides; `won` is for you */
  outcome: 'won' | 'lost'
}

export type SandboxDnsRecords = {
  records: {
  name: string
  type: string
  value: string
}[]
}

export type SandboxHook = {
  id: string
  /** Takes every method; its query says how it answers */
  url: string
  /** Requests so far */
  caught: number
  created_at: string
}

export type SandboxHookRequest = {
  id: string
  method: string
  /** The script it was answered by, as it stood in the URL */
  query: string
  headers: Record<string, string>
  /** At most 64 KiB of it */
  body: string
  /** Whether the body was longer */
  truncated: boolean
  /** Whether X-Service-Signature fits; null when there is none, or nothing to hold it against */
  signature_valid: boolean | null
  response_status: number | null
  received_at: string
}

export type SandboxPayers = {
  /** Payers whose prompt waits for a PIN; `*` is everybody. Others decide by their number */
  by_hand: string[]
}

export type SandboxPhone = {
  call_id: string
  done: boolean
}

export type SandboxPrompt = {
  payment_id: string
  /** `over`: it went away by itself, or could not be paid */
  status: 'waiting' | 'approved' | 'refused' | 'over'
  provider: string
  amount: number
  currency: string
  reference: string | null
  description: string | null
  failure_reason: string | null
  asked_at: string
  expires_at: string
}

export type SandboxPromptAnswer = {
  payment_id: string
  decision: 'approve' | 'refuse'
}

export type SavedCard = {
  /** Begins with tok_ */
  card_token: string
  brand: 'visa' | 'mastercard' | 'verve' | 'american-express'
  last4: string
  exp_month: number
  exp_year: number
  customer: Customer
  created_at: string
}

export type SmsAccountCountries = {
  account_id: string
  countries: string[] | null
  updated_at: string | null
}

export type SmsAnalytics = {
  from_date: string
  to_date: string
  currency: string
  messages: number
  queued: number
  /** Taken by the operator, and nothing heard since */
  sent: number
  delivered: number
  failed: number
  delivery_rate: number | null
  segments: number
  /** Without what was given back */
  cost: number
  latency_seconds: {
  /** From the operator to the handset */
  p50: number | null
  /** From the operator to the handset */
  p95: number | null
  /** From the operator to the handset */
  p99: number | null
}
  countries: ({
  country: string | null
  messages: number
  queued: number
  /** Taken by the operator, and nothing heard since */
  sent: number
  delivered: number
  failed: number
  delivery_rate: number | null
  segments: number
  /** Without what was given back */
  cost: number
})[]
  errors: {
  error_code: string
  messages: number
}[]
}

export type SmsBalance = {
  balance: number
  currency: string
  reserved: number
  available: number
  credit_limit: number
  /** Fewer than a hundred segments are left */
  low_balance: boolean
  /** How many segments to the country of the account that buys */
  estimated_segments: number
  updated_at: string
}

export type SmsBatch = {
  batch_id: string
  status: 'queued' | 'completed' | 'cancelled'
  total: number
  accepted: number
  rejected: number
  segments: number
  cost: number
  currency: string
  timestamp: string
  counts: {
  queued: number
  sent: number
  delivered: number
  failed: number
}
  /** Must be an object of at most 50 names of 1 to 40 characters, with text of at most 500 characters, numbers or booleans, 8 KiB in all */
  metadata: Record<string, string | number | boolean>
  completed_at: string | null
  messages?: ({
  index: number
  to: string
  message_id: string | null
  status: 'queued' | 'sent' | 'delivered' | 'failed' | 'received'
  segments: number
  cost: number
  currency: string
  error_code: string | null
  /** The message that has this reference */
  existing_id?: string | undefined
  error?: string | undefined
})[] | undefined
  has_more?: boolean | undefined
  next_cursor?: string | null | undefined
}

export type SmsBatchCompletedEvent = {
  batch_id: string
  status: 'completed' | 'cancelled'
  total: number
  accepted: number
  rejected: number
  segments: number
  cost: number
  currency: string
  counts: {
  queued: number
  sent: number
  delivered: number
  failed: number
}
  /** Must be an object of at most 50 names of 1 to 40 characters, with text of at most 500 characters, numbers or booleans, 8 KiB in all */
  metadata: Record<string, string | number | boolean>
  created_at: string
  completed_at: string
}

export type SmsBind = {
  /** Must be a host name or address */
  host?: string | undefined
  /** Must be 1 to 65535 */
  port?: number | undefined
  /** Whether the centre speaks TLS. Its certificate must be for the host, of a public authority or of tls_ca */
  tls?: boolean | undefined
  /** Certificates in PEM of authorities that are trusted besides the public ones */
  tls_ca?: string | null | undefined
  /** Must have 1 to 15 characters */
  system_id?: string | undefined
  /** Must have at most 12 characters */
  system_type?: string | undefined
  /** What the centre wants to be told of every text, such as `CMT`; mostly nothing */
  service_type?: string | undefined
  /** Whether a session sends and receives over one connection, or over a `pair` of them, a transmitter and a receiver */
  bind_mode?: 'transceiver' | 'pair' | undefined
  /** Sessions with the centre */
  sessions?: number | undefined
  /** Must be 1 to 3600 */
  enquire_link_seconds?: number | undefined
  /** A name for the message centre, the same for all binds that lead to it: it may bring receipts over any of them. Binds with the same host, port and system_id need none */
  centre?: string | null | undefined
  /** How the message centre writes ids in answers */
  answer_ids?: 'exact' | 'text' | 'hex' | 'decimal' | undefined
  /** How the message centre writes ids in receipts */
  receipt_ids?: 'exact' | 'text' | 'hex' | 'decimal' | undefined
  /** How a long message is handed over: in parts with a header of 8-bit (`udh`) or 16-bit (`udh16`) reference, in parts told by `sar` parameters, or whole in the parameter message_payload (`payload`) */
  concatenation?: 'udh' | 'udh16' | 'sar' | 'payload' | undefined
  /** What the message centre takes text for whose data_coding is 0, in both directions */
  alphabet?: 'gsm' | 'latin1' | undefined
  /** The type of number that the message centre wants of a short code which texts are from */
  short_code_ton?: number | undefined
  /** The same for its numbering plan */
  short_code_npi?: number | undefined
  /** Must be an object with `request` and what else the aggregator needs */
  profile?: {
  request: {
  method: 'GET' | 'POST'
  /** Must be a URL */
  url: string
  /** Kept encrypted and shown masked. A value in its masked form stays as it was */
  headers?: Record<string, string> | undefined
  /** Where the fields go, and how they are written */
  format: 'json' | 'form' | 'query'
  /** The fields of the request, of any depth for `json`. Texts may hold {{to}}, {{to_digits}}, {{from}}, {{text}}, {{id}}, {{parts}}, {{encoding}}, {{validity_seconds}}, {{password}}, {{receipts_url}} and {{inbound_url}}, each escaped for its place. Kept encrypted; what is not only one of these is shown masked, and a value in its masked form stays as it was */
  fields: Record<string, unknown>
}
  auth?: {
  /** How the password of the bind is sent */
  kind: 'none' | 'basic' | 'bearer' | 'header'
  /** For `basic` */
  username?: string | undefined
  /** For `header`: its name */
  header?: string | undefined
} | undefined
  success?: {
  /** Must list statuses from 200 to 299 */
  status?: number[] | undefined
  /** The id, or ids, that receipts will name; without it they name {{id}}: a JSON pointer (`*` is every element), or a regular expression with one group */
  id?: string | undefined
} | undefined
  errors?: {
  /** The aggregator’s own code, in an answer of whatever status: a JSON pointer (`*` is every element), or a regular expression with one group */
  code?: string | undefined
  /** Must be an object of at most 100 members */
  codes?: Record<string, {
  /** Nobody will take it; the same again a little later; another carrier may take it */
  as: 'reject' | 'retry' | 'reroute'
  /** The `error_code` of a rejected message */
  error?: 'INVALID_NUMBER' | 'UNKNOWN_SUBSCRIBER' | 'ABSENT_SUBSCRIBER' | 'UNDELIVERABLE' | 'EXPIRED' | 'REJECTED' | 'BLOCKED' | 'SPAM_REJECTED' | 'INVALID_SENDER' | 'CARRIER_ERROR' | 'ENCODING_ERROR' | undefined
}> | undefined
  /** Must be an object of at most 100 members */
  statuses?: Record<string, {
  /** Nobody will take it; the same again a little later; another carrier may take it */
  as: 'reject' | 'retry' | 'reroute'
  /** The `error_code` of a rejected message */
  error?: 'INVALID_NUMBER' | 'UNKNOWN_SUBSCRIBER' | 'ABSENT_SUBSCRIBER' | 'UNDELIVERABLE' | 'EXPIRED' | 'REJECTED' | 'BLOCKED' | 'SPAM_REJECTED' | 'INVALID_SENDER' | 'CARRIER_ERROR' | 'ENCODING_ERROR' | undefined
}> | undefined
} | undefined
  receipts?: {
  /** The list, when a call brings several: a JSON pointer (`*` is every element), or a regular expression with one group */
  each?: string | undefined
  /** The id that the answer gave: a JSON pointer (`*` is every element), or a regular expression with one group */
  id: string
  /** The status: a JSON pointer (`*` is every element), or a regular expression with one group */
  status: string
  /** The aggregator’s own code: a JSON pointer (`*` is every element), or a regular expression with one group */
  error?: string | undefined
  /** What each status means: delivered, an `error_code`, or ignored when it is not final */
  statuses: Record<string, 'delivered' | 'ignored' | 'INVALID_NUMBER' | 'UNKNOWN_SUBSCRIBER' | 'ABSENT_SUBSCRIBER' | 'UNDELIVERABLE' | 'EXPIRED' | 'REJECTED' | 'BLOCKED' | 'SPAM_REJECTED' | 'INVALID_SENDER' | 'CARRIER_ERROR' | 'ENCODING_ERROR'>
} | undefined
  inbound?: {
  /** The list, when a call brings several: a JSON pointer (`*` is every element), or a regular expression with one group */
  each?: string | undefined
  /** The handset: a JSON pointer (`*` is every element), or a regular expression with one group */
  from: string
  /** The number, short code or sender it writes to: a JSON pointer (`*` is every element), or a regular expression with one group */
  to: string
  /** What it writes: a JSON pointer (`*` is every element), or a regular expression with one group */
  text: string
} | undefined
} | undefined
  name: string
  kind: string
  window: number
  rate: number | null
  response_timeout_seconds: number
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
  created_at: string
  updated_at: string
}

export type SmsBulkReply = {
  batch_id: string
  status: 'queued' | 'completed' | 'cancelled'
  total: number
  accepted: number
  rejected: number
  segments: number
  cost: number
  currency: string
  timestamp: string
  messages: ({
  index: number
  to: string
  message_id: string | null
  status: 'queued' | 'sent' | 'delivered' | 'failed' | 'received'
  segments: number
  cost: number
  currency: string
  error_code: string | null
  /** The message that has this reference */
  existing_id?: string | undefined
  error?: string | undefined
})[]
}

export type SmsConsentEvent = {
  phone: string
  /** The sender it is about, `*` for all */
  from: string
  reason: string | null
  source: 'keyword' | 'api' | 'import' | 'carrier'
  message_id: string | null
  created_at: string
}

export type SmsCountry = {
  country: string
  enabled: boolean
  sender_registration: 'required' | 'open'
  /** Nobody said otherwise; then tests may use any sender */
  is_default: boolean
}

export type SmsEstimate = {
  /** For each recipient */
  segments: number
  encoding: 'gsm7' | 'ucs2'
  /** Characters */
  length: number
  /** Septets, or UTF-16 units */
  units_used: number
  /** Until another segment is needed */
  units_left: number
  /** Characters that make it UCS-2 */
  non_gsm: string[]
  suggestion: string | null
  suggestion_segments: number | null
  cost: number
  currency: string
  recipients: number
}

export type SmsLookup = {
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
  checked_at: string
}

export type SmsMessage = {
  message_id: string
  status: 'queued' | 'sent' | 'delivered' | 'failed' | 'received'
  direction: 'outbound' | 'inbound'
  to: string
  from: string
  message: string | null
  segments: number
  /** The same as segments */
  parts: number
  encoding: 'gsm7' | 'ucs2'
  cost: number
  price_per_segment: number
  currency: string
  created_at: string
  scheduled_at: string | null
  sent_at: string | null
  delivered_at: string | null
  failed_at: string | null
  error_code: string | null
  error: string | null
  /** What it became over another channel; only where it was to go on */
  fallback_message_id?: string | null | undefined
  /** Must be an object of at most 50 names of 1 to 40 characters, with text of at most 500 characters, numbers or booleans, 8 KiB in all */
  metadata: Record<string, string | number | boolean>
  reference: string | null
  country: string | null
  network: string | null
  /** How often it was offered to a carrier */
  attempts: number
  /** The bind that took it; only told to keys with the scope operator */
  route?: string | null | undefined
  batch_id: string | null
  timeline: ({
  status: 'queued' | 'sent' | 'delivered' | 'failed' | 'received'
  at: string
  error_code: string | null
  carrier_code: string | null
})[]
}

export type SmsMessageOrBatch = {
  message_id?: string | undefined
  status?: string | undefined
  direction?: 'outbound' | 'inbound' | undefined
  to?: string | string[] | undefined
  from?: string | undefined
  message?: string | null | undefined
  segments?: number | undefined
  /** The same as segments */
  parts?: number | undefined
  encoding?: 'gsm7' | 'ucs2' | undefined
  cost?: number | undefined
  price_per_segment?: number | undefined
  currency?: string | undefined
  created_at?: string | undefined
  scheduled_at?: string | null | undefined
  sent_at?: string | null | undefined
  delivered_at?: string | null | undefined
  failed_at?: string | null | undefined
  error_code?: string | null | undefined
  error?: string | null | undefined
  /** What it became over another channel; only where it was to go on */
  fallback_message_id?: string | null | undefined
  /** Must be an object of at most 50 names of 1 to 40 characters, with text of at most 500 characters, numbers or booleans, 8 KiB in all */
  metadata?: Record<string, string | number | boolean> | undefined
  reference?: string | null | undefined
  country?: string | null | undefined
  network?: string | null | undefined
  /** How often it was offered to a carrier */
  attempts?: number | undefined
  /** The bind that took it; only told to keys with the scope operator */
  route?: string | null | undefined
  batch_id?: string | null | undefined
  timeline?: ({
  status: 'queued' | 'sent' | 'delivered' | 'failed' | 'received'
  at: string
  error_code: string | null
  carrier_code: string | null
})[] | undefined
  total?: number | undefined
  accepted?: number | undefined
  rejected?: number | undefined
  timestamp?: string | undefined
  counts?: {
  queued: number
  sent: number
  delivered: number
  failed: number
} | undefined
  completed_at?: string | null | undefined
  messages?: ({
  index: number
  to: string
  message_id: string | null
  status: 'queued' | 'sent' | 'delivered' | 'failed' | 'received'
  segments: number
  cost: number
  currency: string
  error_code: string | null
  /** The message that has this reference */
  existing_id?: string | undefined
  error?: string | undefined
})[] | undefined
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
  number: string
  /** Others have keywords on it too */
  shared: boolean
  keywords: ({
  keyword: string
  webhook_url: string | null
  auto_reply: string | null
})[]
  default_webhook_url: string | null
  created_at: string
  updated_at: string
}

export type SmsNumberDeleted = {
  /** The number again */
  id: string
  number: string
  deleted: true
}

export type SmsOptOut = {
  phone: string
  /** The sender it is about, a number without its plus; `*` for all */
  from: string
  reason: string | null
  source: 'keyword' | 'api' | 'import' | 'carrier'
  created_at: string
}

export type SmsOptOutOfNumber = {
  phone: string
  /** The sender it is about, a number without its plus; `*` for all */
  from: string
  reason: string | null
  source: 'keyword' | 'api' | 'import' | 'carrier'
  created_at: string
  opt_outs: SmsOptOut[]
}

export type SmsOptOutRemoved = {
  /** The number again */
  id: string
  phone: string
  deleted: true
  /** How many opt-outs there were */
  removed: number
}

export type SmsPortedNumber = {
  phone: string
  network: string
  mcc_mnc: string | null
  original_network: string | null
  updated_at: string
}

export type SmsPrice = {
  country: string
  network: string | null
  mcc_mnc: string | null
  direction: 'outbound'
  /** Per segment */
  price: number
  currency: string
  effective_from: string | null
}

export type SmsReceivedEvent = {
  message_id: string
  from: string
  /** Your short code or number */
  to: string
  message: string
  keyword: string | null
  parts: number
  network: string | null
  in_reply_to: string | null
  /** A part never arrived */
  partial?: boolean | undefined
}

export type SmsRoute = {
  id: string
  environment: string
  account_id: string | null
  country: string | null
  network: string | null
  tiers: {
  bind: string
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
  created_at: string
  updated_at: string
}

export type SmsSandboxBehaviour = {
  delay_ms: number | null
  error: ('UNDELIVERABLE' | 'REJECTED' | 'UNKNOWN_SUBSCRIBER' | 'NO_RECEIPT' | 'EXPIRED' | 'THROTTLED') | null
  /** Handsets that get their messages only when they are taken off this list; `*` is all */
  out_of_coverage: string[]
}

export type SmsSandboxBehaviourChange = {
  delay_ms?: number | null | undefined
  error?: ('UNDELIVERABLE' | 'REJECTED' | 'UNKNOWN_SUBSCRIBER' | 'NO_RECEIPT' | 'EXPIRED' | 'THROTTLED') | null | undefined
  /** Handsets that get their messages only when they are taken off this list; `*` is all */
  out_of_coverage?: string[] | undefined
}

export type SmsSendReply = {
  status: 'queued' | 'sent' | 'delivered' | 'failed' | 'received'
  /** The message, or the batch when `to` is a list */
  message_id: string
  to: string | string[]
  from: string
  /** For each recipient */
  segments: number
  cost: number
  currency: string
  timestamp: string
  encoding: 'gsm7' | 'ucs2'
  country: string | null
  network: string | null
  scheduled_at: string | null
  messages?: ({
  to: string
  message_id: string | null
  status: 'queued' | 'sent' | 'delivered' | 'failed' | 'received'
  segments: number
  cost: number
  currency: string
  error_code: string | null
  /** The message that has this reference */
  existing_id?: string | undefined
})[] | undefined
  accepted?: number | undefined
  rejected?: number | undefined
}

export type SmsSenderId = {
  id: string
  sender: string
  environment: 'test' | 'live'
  /** Null: all of them */
  countries: string[] | null
  purpose: string
  sample: string
  status: 'pending' | 'approved' | 'rejected'
  reason: string | null
  created_at: string
  decided_at: string | null
}

export type SmsStatusEvent = {
  message_id: string
  status: 'sent' | 'delivered' | 'failed'
  to: string
  from: string
  /** Segments the text was sent in */
  parts: number
  error_code: string | null
  /** Must be an object of at most 50 names of 1 to 40 characters, with text of at most 500 characters, numbers or booleans, 8 KiB in all */
  metadata: Record<string, string | number | boolean>
  batch_id: string | null
  network: string | null
}

export type SmtpCredential = {
  id: string
  name: string
  username: string
  host: string
  port: number
  domains: string[]
  allowed_ips: string[]
  created_at: string
  last_used_at: string | null
}

export type SmtpCredentialWithPassword = {
  id: string
  name: string
  username: string
  host: string
  port: number
  domains: string[]
  allowed_ips: string[]
  created_at: string
  last_used_at: string | null
  /** Shown this once */
  password: string
}

export type SpeakingVoice = {
  language: string
  voice: string
  gender: 'female' | 'male' | 'neutral'
  engine: string
  quality: 'native' | 'approximate'
  /** Whether its engine is installed here */
  available: boolean
}

export type StoppedPlaying = {
  call_id: string
  play_id: string | null
  status: 'stopped'
  /** When it was stopped */
  started_at: string
}

export type Subscription = {
  subscription_id: string
  status: 'trialing' | 'incomplete' | 'active' | 'past_due' | 'paused' | 'cancelled'
  plan_id: string
  customer: Customer
  quantity: number
  amount: number
  currency: string
  current_period_start: string
  current_period_end: string
  trial_end: string | null
  billing_anchor: string
  next_billing_at: string | null
  cancel_at_period_end: boolean
  cancelled_at: string | null
  cancel_reason: string | null
  latest_invoice_id: string | null
  payment_method: {
  type: 'mobile_money' | 'card' | 'invoice'
  phone: string | null
  provider: string | null
  card_token: string | null
}
  proration: 'create_prorations' | 'none'
  /** Periods begun */
  cycles: number
  max_cycles: number | null
  reference: string | null
  /** Must be an object of at most 50 names of 1 to 40 characters, with text of at most 500 characters, numbers or booleans, 8 KiB in all */
  metadata: Record<string, string | number | boolean>
  created_at: string
}

export type SubscriptionEvent = {
  /** False in the test environment */
  livemode: boolean
  /** Order of the events of one object, from 1 */
  sequence: number
  subscription_id: string
  status: 'trialing' | 'incomplete' | 'active' | 'past_due' | 'paused' | 'cancelled'
  plan_id: string
  customer: Customer
  cancelled_at: string | null
  cancel_reason: string | null
  /** Must be an object of at most 50 names of 1 to 40 characters, with text of at most 500 characters, numbers or booleans, 8 KiB in all */
  metadata: Record<string, string | number | boolean>
  subscription: Subscription
}

export type System = {
  version: string
  migrations: {
  /** Migrations that the database has */
  applied: number
  /** The newest of them */
  latest: string
  latest_at: string
}
  nodes: {
  id: string
  host: string
  version: string
  roles: string[]
  started_at: string
  seen_at: string
}[]
  queues: {
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
  id: string
  email: string
  name: string
  /** See docs/console.md for what each may do */
  role: 'owner' | 'admin' | 'developer' | 'finance' | 'supervisor' | 'agent' | 'reviewer' | 'viewer'
  status: 'invited' | 'active' | 'disabled'
  /** Whether they also run the installation */
  operator: boolean
  totp_enabled: boolean
  last_login_at: string | null
  created_at: string
}

export type Timeline = {
  id: string
  frames: TimelineFrame[]
}

export type TimelineFrame = {
  at: string
  kind: 'request' | 'state' | 'smpp' | 'provider' | 'callback' | 'webhook'
  direction: ('in' | 'out') | null
  title: string
  peer: string | null
  status: string | null
  is_ok: boolean | null
  duration_ms: number | null
  request: string | null
  answer: string | null
  pdus: TimelinePdu[]
}

export type TimelinePdu = {
  command: string
  hex: string
  fields: {
  name: string
  /** First octet */
  start: number
  length: number
  value: string
}[]
}

export type Topup = {
  payment_id: string
  status: 'pending' | 'processing' | 'requires_action' | 'completed' | 'failed' | 'cancelled' | 'expired'
  amount: number
  currency: string
  provider: string | null
  completed_at: string | null
  receipt_url: string | null
  method: 'mobile_money' | 'card' | 'bank_transfer'
  phone: string | null
  reference: string | null
  description: string | null
  customer: Customer
  /** Must be an object of at most 50 names of 1 to 40 characters, with text of at most 500 characters, numbers or booleans, 8 KiB in all */
  metadata: Record<string, string | number | boolean>
  fee: number
  net_amount: number
  provider_reference: string | null
  amount_refunded: number
  refund_status: 'none' | 'partial' | 'full'
  refunds: Refund[]
  failure_reason: string | null
  failure_message: string | null
  risk: ({
  risk_score: number
  risk_level: 'low' | 'medium' | 'high' | 'very_high'
  flags: string[]
  decision?: 'allow' | 'review' | 'require_3ds' | 'block' | undefined
  /** The rule that decided it */
  rule_id?: string | null | undefined
  risk_check_id?: string | undefined
}) | null
  /** The money came after the payment had been given up */
  late: boolean
  invoice_id: string | null
  /** The link over which it was paid */
  payment_link_id?: string | undefined
  /** Of a top-up, with what follows, where it is read */
  type: 'topup'
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
  created_at: string
  updated_at: string
}

export type Transaction = {
  transaction_id: string
  type: 'payment' | 'topup' | 'refund' | 'payout'
  payment_id: string | null
  payout_id: string | null
  refund_id: string | null
  status: 'pending' | 'processing' | 'requires_action' | 'completed' | 'failed' | 'cancelled' | 'expired' | 'reversed'
  amount: number
  fee: number
  net_amount: number
  currency: string
  direction: 'credit' | 'debit'
  method: 'mobile_money' | 'card' | 'bank_transfer'
  provider: string | null
  phone: string | null
  reference: string | null
  provider_reference: string | null
  description: string | null
  /** Must be an object of at most 50 names of 1 to 40 characters, with text of at most 500 characters, numbers or booleans, 8 KiB in all */
  metadata: Record<string, string | number | boolean>
  created_at: string
  completed_at: string | null
}

export type Transcription = {
  recording_id: string
  language: string
  text: string
  segments: ({
  /** Seconds from the beginning */
  start: number
  end: number
  /** 0 is the left one */
  channel: number
  /** Null where all are on one channel */
  speaker: ('customer' | 'agent') | null
  text: string
  confidence: number
})[]
}

export type TriggeredEvent = {
  id: string
  event: string
  created_at: string
  /** What subscribers receive */
  payload: unknown
}

export type Usage = {
  start_date: string
  end_date: string
  requests: number
  errors: number
  rows: ({
  day: string | null
  area: string | null
  operation: string | null
  requests: number
  errors: number
})[]
  spend: ({
  day: string | null
  area: string | null
  country: string | null
  currency: string
  /** Less what was given back */
  cost: number
  /** How often something was paid for */
  count: number
})[]
  limits: {
  /** `key`, or `plan-` and the area */
  policy: string
  limit: number
  /** Seconds */
  window: number
  remaining: number
  resets_at: string
}[]
}

export type UssdAnalytics = {
  period: {
  start_date: string
  end_date: string
}
  shortcode: string | null
  sessions?: number | undefined
  completion_rate?: number | null | undefined
  avg_duration?: number | null | undefined
  popular_paths?: {
  path: string
  count: number
}[] | undefined
  drop_off?: {
  step: number
  /** First line of the screen that the subscriber left */
  screen: string
  sessions: number
  /** Percent of all sessions */
  rate: number
}[] | undefined
  error_rate?: number | null | undefined
  app_latency?: {
  p50: number | null
  p95: number | null
  p99: number | null
} | undefined
  networks?: ({
  network: string | null
  sessions: number
})[] | undefined
  series?: {
  at: string
  sessions: number
  completed: number
}[] | undefined
}

export type UssdCallback = {
  session_id?: string | null | undefined
  phone?: string | undefined
  shortcode?: string | undefined
  type?: 'initiation' | 'response' | 'release' | 'timeout' | undefined
  input?: string | null | undefined
  /** Of the screen that is answered: a repeat with the same step is the same answer */
  step?: number | undefined
  network?: string | null | undefined
  language?: string | null | undefined
  sessionId?: string | number | null | undefined
  serviceCode?: string | number | null | undefined
  phoneNumber?: string | number | null | undefined
  text?: string | null | undefined
  networkCode?: string | number | null | undefined
  Type?: string | number | null | undefined
  Mobile?: string | number | null | undefined
  SessionId?: string | number | null | undefined
  ServiceCode?: string | number | null | undefined
  Message?: string | null | undefined
  Operator?: string | number | null | undefined
  Sequence?: string | number | null | undefined
  ClientState?: string | null | undefined
}

export type UssdCallbackReply = {
  session_id?: string | undefined
  action?: 'continue' | 'end' | undefined
  message?: string | undefined
  message_id?: string | undefined
  SessionId?: string | undefined
  Type?: 'response' | 'release' | undefined
  Message?: string | undefined
  ClientState?: string | undefined
}

export type UssdContinue = {
  /** Your own id of the session, used once */
  session_id: string
  /** What the subscriber typed */
  input: string
  /** The screen */
  message: string
  /** The session ends with this screen */
  end_session?: boolean | undefined
  /** Small state of your flow, at most 4096 bytes as JSON; sealed where it is stored */
  data?: Record<string, unknown> | undefined
  /** `data` is added to what is stored, rather than replacing it */
  data_merge?: boolean | undefined
}

export type UssdContinued = {
  status: 'active' | 'completed'
  message_id: string
  session_id: string
  phone: string
  step: number
  input: string | null
  message: string
  end_session: boolean
  data: Record<string, unknown>
  /** Screens cost nothing beside the session */
  cost: number
  expires_at: string | null
  timestamp: string
  /** Screens that the message takes on the handset */
  screen_pages: number
}

export type UssdDryRun = {
  screens: ({
  input: string | null
  message: string
})[]
  /** `error`: a fetch node was told nothing usable */
  action: 'continue' | 'end' | 'error'
  node: string | null
  /** What the session would know */
  variables: Record<string, unknown>
}

export type UssdEnd = {
  /** The screen */
  message?: string | undefined
}

export type UssdGateway = {
  id: string
  name: string
  environment: 'test' | 'live'
  allowed_ips: string[]
  created_at: string
}

export type UssdGatewayCreate = {
  /** Must have 1 to 60 characters */
  name: string
  environment: 'test' | 'live'
  /** Addresses or ranges such as 41.90.0.0/16 that may call; anybody who knows the URL unless given */
  allowed_ips?: string[] | undefined
}

export type UssdGatewayCreated = {
  id: string
  name: string
  environment: 'test' | 'live'
  allowed_ips: string[]
  created_at: string
  /** What the gateway calls; shown this once */
  url: string
}

export type UssdGatewayProfile = {
  /** Must have at most 5 letters, digits or signs of ASCII */
  service_type?: string | undefined
  /** Of the parameter with the operation; 1281 (0x0501) is ussd_service_op */
  op_tag?: number | undefined
  /** Of the parameter that names the dialog; 4995 (0x1383) is its_session_info */
  session_tag?: number | undefined
  /** Octets of the dialog’s number */
  dialog_bytes?: number | undefined
  /** Operation -> the octet that stands for it */
  ops?: {
  /** Must be 0 to 255 */
  dialled?: number | undefined
  /** Must be 0 to 255 */
  asks?: number | undefined
  /** Must be 0 to 255 */
  tells?: number | undefined
  /** Must be 0 to 255 */
  ends?: number | undefined
  /** Must be 0 to 255 */
  answered?: number | undefined
  /** Must be 0 to 255 */
  aborted?: number | undefined
  /** Must be 0 to 255 */
  released?: number | undefined
} | undefined
}

export type UssdHandsetScreen = {
  session_id: string
  message: string | null
  /** `continue`: the screen can be answered */
  action: 'continue' | 'end'
}

export type UssdInitiate = {
  /** Must be E.164, such as +254711000001 */
  phone?: string | undefined
  /** Must be E.164, such as +254711000001 */
  phone_number?: string | undefined
  /** Your own id of the session, used once */
  session_id?: string | undefined
  /** Must be a shortcode such as *384# or *384*1# */
  shortcode: string
  /** The screen */
  message: string
  /** Small state of your flow, at most 4096 bytes as JSON; sealed where it is stored */
  data?: Record<string, unknown> | undefined
  /** Seconds without activity after which the session expires */
  timeout?: number | undefined
  /** A notice that cannot be answered */
  end_session?: boolean | undefined
  /** Asked for the next screens of this session, in place of the shortcode’s URL */
  callback_url?: string | undefined
  /** Must be an object of at most 50 names of 1 to 40 characters, with text of at most 500 characters, numbers or booleans, 8 KiB in all */
  metadata?: Record<string, string | number | boolean> | undefined
}

export type UssdMenu = {
  id: string
  version: number
  /** Must have 1 to 100 characters */
  name: string
  languages?: string[] | undefined
  /** Must have 1 to 40 letters, digits, _ or - */
  start: string
  /** Must have 1 to 200 screens */
  nodes: Record<string, {
  /** A text, or one for each language; `{{data.name}}` stands for what the session knows */
  text?: string | Record<string, string> | undefined
  /** Must list 1 to 50 options */
  options?: ({
  /** Must be 1 to 4 keys of a telephone */
  key?: string | undefined
  /** A text, or one for each language; `{{data.name}}` stands for what the session knows */
  label: string | Record<string, string>
  /** Must have 1 to 40 letters, digits, _ or - */
  next: string
})[] | undefined
  input?: {
  /** Must be a name such as amount */
  save: string
  /** What the input fits: characters, classes such as \d or [a-z], alternatives with |, and at most two of * + ? {n,m}, without groups */
  pattern?: string | undefined
  /** A text, or one for each language; `{{data.name}}` stands for what the session knows */
  error?: string | Record<string, string> | undefined
} | undefined
  fetch?: {
  url: string
  /** Must be 100 to 5000 */
  timeout_ms?: number | undefined
} | undefined
  /** Must have 1 to 40 letters, digits, _ or - */
  next?: string | undefined
  end?: boolean | undefined
  /** A text to the subscriber when the screen is reached */
  sms?: {
  /** A text, or one for each language; `{{data.name}}` stands for what the session knows */
  message: string | Record<string, string>
  /** The account’s default_sender, or the code, unless given */
  from?: string | undefined
} | undefined
  /** A payment that is asked of the phone when the session is over; on screens that end it */
  pay?: {
  /** Must be an amount, or a text such as {{data.amount}} */
  amount: number | string
  /** Must be a currency such as KES */
  currency: string
  provider?: string | undefined
} | undefined
}>
  created_at: string
  updated_at: string
}

export type UssdMenuDocument = {
  /** Must have 1 to 100 characters */
  name: string
  languages?: string[] | undefined
  /** Must have 1 to 40 letters, digits, _ or - */
  start: string
  /** Must have 1 to 200 screens */
  nodes: Record<string, {
  /** A text, or one for each language; `{{data.name}}` stands for what the session knows */
  text?: string | Record<string, string> | undefined
  /** Must list 1 to 50 options */
  options?: ({
  /** Must be 1 to 4 keys of a telephone */
  key?: string | undefined
  /** A text, or one for each language; `{{data.name}}` stands for what the session knows */
  label: string | Record<string, string>
  /** Must have 1 to 40 letters, digits, _ or - */
  next: string
})[] | undefined
  input?: {
  /** Must be a name such as amount */
  save: string
  /** What the input fits: characters, classes such as \d or [a-z], alternatives with |, and at most two of * + ? {n,m}, without groups */
  pattern?: string | undefined
  /** A text, or one for each language; `{{data.name}}` stands for what the session knows */
  error?: string | Record<string, string> | undefined
} | undefined
  fetch?: {
  url: string
  /** Must be 100 to 5000 */
  timeout_ms?: number | undefined
} | undefined
  /** Must have 1 to 40 letters, digits, _ or - */
  next?: string | undefined
  end?: boolean | undefined
  /** A text to the subscriber when the screen is reached */
  sms?: {
  /** A text, or one for each language; `{{data.name}}` stands for what the session knows */
  message: string | Record<string, string>
  /** The account’s default_sender, or the code, unless given */
  from?: string | undefined
} | undefined
  /** A payment that is asked of the phone when the session is over; on screens that end it */
  pay?: {
  /** Must be an amount, or a text such as {{data.amount}} */
  amount: number | string
  /** Must be a currency such as KES */
  currency: string
  provider?: string | undefined
} | undefined
}>
}

export type UssdResponseEvent = {
  session_id: string
  phone: string
  input: string | null
  /** What you keep with the session */
  data: Record<string, unknown>
  shortcode: string
  type: 'initiation' | 'response'
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
  /** Must be E.164, such as +254711000001 */
  phone: string
  /** Your own id of the session, used once */
  session_id: string
  /** Must be a shortcode such as *384# or *384*1# */
  shortcode: string
  /** The screen */
  message: string
  /** Small state of your flow, at most 4096 bytes as JSON; sealed where it is stored */
  data?: Record<string, unknown> | undefined
  /** Seconds without activity after which the session expires */
  timeout?: number | undefined
  /** A notice that cannot be answered */
  end_session?: boolean | undefined
  /** Asked for the next screens of this session, in place of the shortcode’s URL */
  callback_url?: string | undefined
  /** Must be an object of at most 50 names of 1 to 40 characters, with text of at most 500 characters, numbers or booleans, 8 KiB in all */
  metadata?: Record<string, string | number | boolean> | undefined
}

export type UssdSent = {
  status: 'initiated'
  message_id: string
  session_id: string
  phone: string
  /** Set aside now, and paid when the session ends */
  cost: number
  timestamp: string
  currency: string
  shortcode: string
  expires_at: string
}

export type UssdSession = {
  session_id: string
  phone: string
  shortcode: string
  status: 'initiated' | 'active' | 'completed' | 'expired'
  created_at: string
  last_activity: string
  expires_at: string | null
  /** Wiped 24 hours after the end */
  data: Record<string, unknown>
  history: ({
  step: number
  input: string | null
  output: string
  at: string
  app_ms: number | null
  /** The input as your application gave it, where it differs */
  app_input?: string | undefined
})[]
  direction: 'push' | 'dial'
  network: string | null
  language: string | null
  timeout: number
  ended_at: string | null
  reason: ('completed' | 'expired' | 'user_cancelled' | 'network_released' | 'app_timeout' | 'app_error' | 'replaced' | 'undeliverable') | null
  /** Seconds */
  duration: number
  total_steps: number
  /** Screens that the last message takes on the handset */
  screen_pages: number
  cost: number
  currency: string
  resumed_from: string | null
  /** Must be an object of at most 50 names of 1 to 40 characters, with text of at most 500 characters, numbers or booleans, 8 KiB in all */
  metadata: Record<string, string | number | boolean>
}

export type UssdSessionEndedEvent = {
  session_id: string
  phone: string
  reason: 'completed' | 'expired' | 'user_cancelled' | 'network_released' | 'app_timeout' | 'app_error' | 'replaced' | 'undeliverable'
  /** Seconds */
  duration: number
  total_steps: number
  status: 'completed' | 'expired'
  /** What you keep with the session */
  data: Record<string, unknown>
}

export type UssdSessionStartedEvent = {
  session_id: string
  phone: string
  shortcode: string
  initiated_by: 'user' | 'application'
  /** What you keep with the session */
  data: Record<string, unknown>
}

export type UssdShortcode = {
  shortcode: string
  /** `webhook`: your URL is sent ussd.response; `text`: it speaks CON and END; `menu`: a stored menu answers */
  mode: 'webhook' | 'text' | 'menu'
  /** Asked for each screen */
  url: string | null
  /** Asked where `url` gives no answer and time is left */
  fallback_url: string | null
  menu_id: string | null
  /** Seconds without activity after which the session expires */
  timeout: number
  /** Seconds that the network waits for a screen; yours must be here a second sooner */
  network_limit: number
  /** The screen */
  error_message: string
  /** Seconds after an expired session in which a redial goes on with its data */
  resume_window: number
  language_default: string | null
  /** Words of the lines that turn pages */
  pages: {
  /** Must have 1 to 20 characters */
  more: string
  /** Must have 1 to 20 characters */
  back: string
}
  /** Accents become letters of the GSM alphabet, so that more fits a screen */
  transliterate: boolean
  created_at: string
  updated_at: string
}

export type UssdShortcodeAssignment = {
  account_id: string
  /** Must be a shortcode such as *384# or *384*1# */
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
  /** Seconds without activity after which the session expires */
  timeout?: number | undefined
  /** Seconds that the network waits for a screen; yours must be here a second sooner */
  network_limit?: number | undefined
  /** The screen */
  error_message?: string | undefined
  /** Seconds after an expired session in which a redial goes on with its data */
  resume_window?: number | undefined
  language_default?: string | null | undefined
  /** Words of the lines that turn pages */
  pages?: {
  /** Must have 1 to 20 characters */
  more: string
  /** Must have 1 to 20 characters */
  back: string
} | undefined
  /** Accents become letters of the GSM alphabet, so that more fits a screen */
  transliterate?: boolean | undefined
}

export type UssdShortcodeCreate = {
  /** Must be a shortcode such as *384# or *384*1# */
  shortcode: string
  /** `webhook`: your URL is sent ussd.response; `text`: it speaks CON and END; `menu`: a stored menu answers */
  mode?: 'webhook' | 'text' | 'menu' | undefined
  /** Asked for each screen */
  url?: string | null | undefined
  /** Asked where `url` gives no answer and time is left */
  fallback_url?: string | null | undefined
  menu_id?: string | null | undefined
  /** Seconds without activity after which the session expires */
  timeout?: number | undefined
  /** Seconds that the network waits for a screen; yours must be here a second sooner */
  network_limit?: number | undefined
  /** The screen */
  error_message?: string | undefined
  /** Seconds after an expired session in which a redial goes on with its data */
  resume_window?: number | undefined
  language_default?: string | null | undefined
  /** Words of the lines that turn pages */
  pages?: {
  /** Must have 1 to 20 characters */
  more: string
  /** Must have 1 to 20 characters */
  back: string
} | undefined
  /** Accents become letters of the GSM alphabet, so that more fits a screen */
  transliterate?: boolean | undefined
}

export type UssdShortcodeDeleted = {
  shortcode: string
  deleted: true
}

export type UssdSmppGateway = {
  name: string
  /** Must be a host name or address */
  host: string
  /** Must be 1 to 65535 */
  port: number
  /** Must have 1 to 15 characters */
  system_id: string
  /** Whether the gateway speaks TLS, with a certificate of a public authority */
  tls: boolean
  /** Must have at most 12 characters */
  system_type: string
  /** One connection, or a transmitter and a receiver */
  bind_mode: 'transceiver' | 'pair'
  /** Must be 1 to 1000 */
  window: number
  /** Must be 1 to 60 */
  response_timeout_seconds: number
  /** Must be 1 to 3600 */
  enquire_link_seconds: number
  /** Where pushed screens go over it; none: everywhere */
  prefixes: string[]
  profile: UssdGatewayProfile
  enabled: boolean
  node: string | null
  /** Whether screens can go over it, as that node last said */
  is_up: boolean
  last_error: string | null
  created_at: string
  updated_at: string
}

export type UssdSmppGatewayChange = {
  /** Must be a host name or address */
  host?: string | undefined
  /** Must be 1 to 65535 */
  port?: number | undefined
  /** Must have 1 to 15 characters */
  system_id?: string | undefined
  /** Must have at most 8 characters */
  password?: string | undefined
  /** Whether the gateway speaks TLS, with a certificate of a public authority */
  tls?: boolean | undefined
  /** Must have at most 12 characters */
  system_type?: string | undefined
  /** One connection, or a transmitter and a receiver */
  bind_mode?: 'transceiver' | 'pair' | undefined
  /** Must be 1 to 1000 */
  window?: number | undefined
  /** Must be 1 to 60 */
  response_timeout_seconds?: number | undefined
  /** Must be 1 to 3600 */
  enquire_link_seconds?: number | undefined
  /** Where pushed screens go over it; none: everywhere */
  prefixes?: string[] | undefined
  profile?: UssdGatewayProfile | undefined
  enabled?: boolean | undefined
}

export type UssdSmppGatewayCreate = {
  /** Must have 1 to 40 small letters, digits or -, and begin with a letter */
  name: string
  /** Must be a host name or address */
  host: string
  /** Must be 1 to 65535 */
  port: number
  /** Must have 1 to 15 characters */
  system_id: string
  /** Must have at most 8 characters */
  password: string
  /** Whether the gateway speaks TLS, with a certificate of a public authority */
  tls?: boolean | undefined
  /** Must have at most 12 characters */
  system_type?: string | undefined
  /** One connection, or a transmitter and a receiver */
  bind_mode?: 'transceiver' | 'pair' | undefined
  /** Must be 1 to 1000 */
  window?: number | undefined
  /** Must be 1 to 60 */
  response_timeout_seconds?: number | undefined
  /** Must be 1 to 3600 */
  enquire_link_seconds?: number | undefined
  /** Where pushed screens go over it; none: everywhere */
  prefixes?: string[] | undefined
  profile?: UssdGatewayProfile | undefined
  enabled?: boolean | undefined
}

export type VoiceNumber = {
  number: string
  country: string | null
  capabilities: string[]
  assigned_to: ({
  type: 'application' | 'queue' | 'ivr' | 'agent' | 'routing'
  id?: string | undefined
  answer_url?: string | undefined
  event_url?: string | null | undefined
  fallback_url?: string | null | undefined
  answer_method?: 'POST' | 'GET' | undefined
}) | null
  assigned_at: string
}

export type VoiceRate = {
  prefix: string
  currency: string
  minute: number
  updated_at: string
}

export type VoiceTrunk = {
  name: string
  host: string
  port: number
  transport: 'udp' | 'tcp' | 'tls'
  domain: string | null
  username: string | null
  has_password: boolean
  registers: boolean
  prefixes: string[]
  priority: number
  max_calls: number
  sources: string[]
  enabled: boolean
  /** Whether it answers, as the answering node sees it */
  is_up: boolean
  is_registered: boolean
  /** Calls over it on the answering node */
  calls: number
  last_error: string | null
  created_at: string
  updated_at: string
}

export type VoicemailReceivedEvent = {
  account_id: string
  voicemail_id: string
  call_id: string
  queue_id: string | null
  from: string
  /** Seconds */
  duration: number
  file_url: string
}

export type Wallet = {
  wallet_id: string
  currency: string
  balance: number
  available: number
  held: number
  pending: number
  low_balance: boolean
  auto_recharge: ({
  enabled: boolean
  threshold: number
  amount: number
  status: 'active' | 'paused' | 'disabled'
  consecutive_failures: number
}) | null
  updated_at: string
}

export type WalletBalance = {
  wallet_id: string
  currency: string
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
  currency: string
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
  auto_recharge: ({
  enabled: boolean
  threshold: number
  amount: number
  status: 'active' | 'paused' | 'disabled'
  consecutive_failures: number
}) | null
  updated_at: string
}

export type WalletLowEvent = {
  /** False in the test environment */
  livemode: boolean
  /** Order of the events of one object, from 1 */
  sequence: number
  currency: string
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
  currency: string
  available: number
  /** What `available` should not fall below */
  threshold: number | null
  failure_reason: string
  payment_id: string | null
  wallet: Wallet
}

export type WalletTopupEvent = {
  /** False in the test environment */
  livemode: boolean
  /** Order of the events of one object, from 1 */
  sequence: number
  currency: string
  available: number
  /** What `available` should not fall below */
  threshold: number | null
  amount: number
  payment_id: string
  wallet: Wallet
}

export type WalletTransaction = {
  /** Not of a hold */
  transaction_id?: string | undefined
  type: 'usage_sms' | 'usage_messenger' | 'usage_email' | 'usage_voice' | 'usage_ussd' | 'usage_identity' | 'payout' | 'payout_fee' | 'payout_reversal' | 'refund' | 'dispute' | 'usage_reversal' | 'topup' | 'payment' | 'adjustment' | 'hold'
  direction: 'debit' | 'credit'
  amount: number
  currency: string
  /** Not of a hold: it changes what is available, not the balance */
  balance_after?: number | undefined
  description: string | null
  source: {
  type: 'sms' | 'messenger' | 'email' | 'voice' | 'ussd' | 'identity' | 'payment' | 'payout' | 'payout_batch' | 'refund' | 'dispute' | 'credit'
  id: string
}
  reference: string | null
  /** Must be an object of at most 50 names of 1 to 40 characters, with text of at most 500 characters, numbers or booleans, 8 KiB in all */
  metadata: Record<string, string | number | boolean>
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
  id: string
  url: string
  events: string[]
  enabled: boolean
  description: string | null
  created_at: string
  updated_at: string
  ordered: boolean
  rate_limit: number | null
  filters: Record<string, string | number | boolean>
  /** Names of the custom headers; values are masked */
  headers: Record<string, string>
  disabled_reason: string | null
  secret_activates_at: string | null
  health: WebhookHealth
}

export type WebhookDetail = {
  id: string
  url: string
  events: string[]
  enabled: boolean
  description: string | null
  created_at: string
  updated_at: string
  ordered: boolean
  rate_limit: number | null
  filters: Record<string, string | number | boolean>
  /** Names of the custom headers; values are masked */
  headers: Record<string, string>
  disabled_reason: string | null
  secret_activates_at: string | null
  health: WebhookHealth
  replay: ReplayProgress | null
}

export type WebhookDisabledEvent = {
  webhook_id: string
  url: string
  disabled_reason: 'gone' | 'failing'
  failing_since: string | null
  failed_deliveries: number
}

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
  expires_at: string
}

export type WebhookTest = {
  delivered: boolean
  delivery_id: string
  event: string
  response_status: number | null
  duration_ms: number
  response_body: string | null
  error: string | null
  /** What was sent */
  payload: unknown
}

export type WebhookTestEvent = {
  webhook_id: string
  message: string
}

export type WhoAmI = {
  /** Id of the account */
  account_id: string
  environment: 'test' | 'live'
  /** Id of the key */
  key_id: string
  scopes: string[]
  plan: string
}
