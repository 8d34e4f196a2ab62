// SPDX-License-Identifier: Apache-2.0
// Records of the API, as far as the console shows them.

export interface SmsMessage {
  message_id: string
  status: string
  direction: 'outbound' | 'inbound'
  to: string
  from: string
  message: string | null
  segments: number
  encoding: string
  cost: number
  currency: string
  created_at: string
  error_code: string | null
  error: string | null
  reference: string | null
  country: string | null
  network: string | null
  attempts: number
  timeline: { status: string; at: string; error_code: string | null; carrier_code: string | null }[]
}

export interface HandsetText {
  message_id: string
  direction: 'received' | 'written'
  from: string
  to: string
  message: string | null
  at: string
}

export interface Transaction {
  transaction_id: string
  type: string
  payment_id: string | null
  status: string
  amount: number
  fee: number
  currency: string
  method: string
  provider: string | null
  phone: string | null
  reference: string | null
  created_at: string
}

export interface Payment {
  payment_id: string
  status: string
  amount: number
  currency: string
  fee: number
  net_amount: number
  amount_refunded: number
  method: string
  provider: string | null
  phone: string | null
  reference: string | null
  description: string | null
  provider_reference: string | null
  failure_message: string | null
  created_at: string
  completed_at: string | null
  expires_at: string | null
}

export interface Webhook {
  id: string
  url: string
  events: string[]
  enabled: boolean
  description: string | null
  disabled_reason: string | null
  created_at: string
}

export interface Delivery {
  id: string
  event: string
  event_id: string
  resource_id: string
  status: string
  attempts: number
  created_at: string
  delivered_at: string | null
  next_attempt_at: string | null
  last_error: string | null
  response_status: number | null
  duration_ms: number | null
}

export interface LoggedRequest {
  request_id: string
  at: string
  method: string
  path: string
  status: number
  error_code: string | null
  duration_ms: number
  ip: string
}

export interface ApiKey {
  id: string
  name: string
  environment: string
  prefix: string
  last4: string
  scopes: string[]
  status: string
  created_at: string
  last_used_at: string | null
}

export interface WalletBalance {
  currency: string
  balance: number
  available: number
  held: number
  pending: number
}

export interface Usage {
  requests: number
  errors: number
  rows: { day: string | null; area: string | null; requests: number; errors: number }[]
  spend: { area: string | null; country: string | null; currency: string; cost: number }[]
  limits: { policy: string; limit: number; window: number; remaining: number }[]
}
