// SPDX-License-Identifier: Apache-2.0
// Loads a recipient for sending, from the handover of this node or the database.
import type { App } from '../../../platform/app.ts'
import { Handover } from '../../../platform/concurrency/handover.ts'
import { maybe, statement } from '../../../platform/db.ts'
import { onePerApp } from '../../../platform/program/one-per-app.ts'
import type { Tenant } from '../../../platform/tenant.ts'

export type Status = 'scheduled' | 'queued' | 'sent' | 'delivered' | 'bounced' | 'failed' | 'cancelled'
export type Notes = Record<string, string | number | boolean>

export interface OutgoingRow {
  id: string
  status: Status
  email: string
  name: string | null
  number: number
  attempts: number
  sent_at: Date | null
  sender: string
  domain: string
  stream: 'transactional' | 'bulk'
  content_id: string
  bulk_id: string | null
  variables: Record<string, unknown> | null
  tags: string[]
  /** JSON text. */
  metadata: string
  track_opens: boolean
  track_clicks: boolean
  callback_url: string | null
  request_id: string | null
  created_at: Date
  expires_at: Date
  clock_offset_ms: bigint
  is_suspended: boolean
  suppressed: string | null
  bulk_status: string | null
  /** Last reply of a server, without its enhanced code. */
  smtp_response: string | null
  enhanced_code: string | null
}

const load = statement.tenant<Tenant & { message: string; number: number }, OutgoingRow>(
  'email.load_outgoing',
  `select m.id, r.status, r.email, r.name, r.number, r.attempts, r.sent_at, r.smtp_response, r.enhanced_code, m.sender, m.domain, m.stream, m.content_id, m.bulk_id,
          m.variables, m.tags, m.metadata, m.track_opens, m.track_clicks, m.callback_url, m.request_id, m.created_at, m.expires_at,
          accounts.clock_offset_ms(m.account_id, m.environment) as clock_offset_ms, accounts.is_suspended(m.account_id) as is_suspended,
          (select s.reason from email.suppressions s
            where s.bucket = $bucket and s.account_id = $account and s.environment = $environment and s.email = lower(r.email)
              and (s.applies_to = 'all' or m.stream = 'bulk') and (s.expires_at is null or s.expires_at > now())) as suppressed,
          (select b.status from email.bulks b
            where b.bucket = $bucket and b.account_id = $account and b.environment = $environment and b.id = m.bulk_id) as bulk_status
     from email.messages m
     join email.recipients r on r.bucket = m.bucket and r.account_id = m.account_id and r.environment = m.environment
                            and r.message_id = m.id and r.number = $number
    where m.bucket = $bucket and m.account_id = $account and m.environment = $environment and m.id = $message`,
)

const rememberMs = 10_000
const maxRemembered = 10_000
const accepted = onePerApp(() => new Handover<OutgoingRow>(rememberMs, maxRemembered))

export function rememberAccepted(app: App, row: OutgoingRow): void {
  accepted(app).keep(`${row.id} ${row.number}`, row)
}

export async function loadOutgoing(
  app: App,
  tenant: Tenant,
  message: string,
  number: number,
): Promise<OutgoingRow | null> {
  return accepted(app).take(`${message} ${number}`) ?? (await maybe(app.db.query(load, { ...tenant, message, number })))
}

export function notesOf(metadata: string): Notes {
  const notes: Notes = JSON.parse(metadata)
  return notes
}
