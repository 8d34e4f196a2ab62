// SPDX-License-Identifier: Apache-2.0
// Returned mail over SMTP: bounces (RFC 3464), complaints (RFC 5965) and unsubscribe requests. Only addresses we signed
// are accepted, which prevents backscatter.
import type { App } from '../../../platform/app.ts'
import { isUnavailable, maybe, statement } from '../../../platform/db.ts'
import { occasionNow } from '../../../platform/events.ts'
import type { AreaListener } from '../../../platform/program/listeners.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import { type DeliveryReport, parseAbuseReport, parseDeliveryReport } from '../../../protocols/dsn.ts'
import { reply } from '../../../protocols/smtp/reply.ts'
import type { Peer, ServerHost } from '../../../protocols/smtp/server-session.ts'
import { bounceNews, storeChange } from '../delivery/finish.ts'
import { aboutOf, newsOf } from '../delivery/news.ts'
import { verdictOf } from '../delivery/verdict.ts'
import { emailEvents } from '../events.ts'
import { listenSmtp, networkCounted } from '../listening.ts'
import { mailWorld } from '../mail-world.ts'
import { type Recipient, readEnvelopeLocal } from '../tracking/token.ts'
import { storeAction } from './spool.ts'

const maxBytes = 5 * 1024 * 1024
const maxMessages = 1_000
const idleMs = 300_000
/** Bounds of one network: anybody may connect, and each recipient of ours knows an address that is taken. */
const connectionsOfNetwork = 50
const reportsPerMinute = 3_000
const tooMany = reply(450, '4.7.1 Too many reports from your network; try again in a minute')

export const returnsListener: AreaListener = {
  name: 'bounces',
  role: 'api',
  over: 'tcp',
  scheme: 'smtp',
  host: 'PAMOJA_SMTP_HOST',
  port: 'PAMOJA_BOUNCE_PORT',
  async open(app, place) {
    const serverHost: Omit<ServerHost, 'secureContext'> = {
      hostname: app.config.PAMOJA_MAIL_HOST,
      isSubmission: false,
      maxBytes,
      maxRecipients: 10,
      maxMessages,
      idleMs,
      sender: async (_from, peer) => ((await isAdmitted(app, peer)) ? null : tooMany),
      recipient: async (to) =>
        recipientOf(app, to)
          ? null
          : reply(550, '5.1.1 No such address; this server takes only reports about its own mail'),
      message: async ({ to }, content) => {
        try {
          for (const address of to) {
            const recipient = recipientOf(app, address)
            if (recipient) await takeReturn(app, recipient, content)
          }
          return reply(250, '2.0.0 Ok')
        } catch (error) {
          if (!isUnavailable(error))
            app.log.error(
              { error },
              'bounce or delivery report not stored: the sender of the report is asked to retry; check the database',
            )
          return reply(451, '4.3.0 Try again later')
        }
      },
    }
    const opened = await listenSmtp(app, 'bounces', place, serverHost, connectionsOfNetwork)
    mailWorld.of(app)?.reportTo({ host: place.host, port: opened.port })
    return opened
  },
}

async function isAdmitted(app: App, { address }: Peer): Promise<boolean> {
  const network = networkCounted(app, address)
  if (network === null) return true
  const policy = {
    name: 'bounces',
    key: `bounces:${network}`,
    limit: reportsPerMinute,
    windowMs: 60_000,
    shared: false,
  }
  return (await app.limits.admit([policy])).admitted
}

export type Returned = Recipient & { use: 'b' | 'u' }

export function recipientOf(app: App, address: string): Returned | null {
  return readEnvelopeLocal(app, address.slice(0, address.lastIndexOf('@')))
}

export async function takeReturn(app: App, recipient: Returned, content: Buffer): Promise<void> {
  if (recipient.use === 'u') {
    await storeAction(app, recipient, { kind: 'unsubscribe', source: 'mailto', userAgent: null, ip: null })
    return
  }
  const abuse = parseAbuseReport(content)
  if (abuse) {
    await storeAction(app, recipient, {
      kind: 'complain',
      feedbackType: abuse.feedbackType,
      reporter: abuse.reporter?.replace(/^dns;\s*/, '') ?? null,
    })
    return
  }
  const report = parseDeliveryReport(content)
  for (const one of report?.recipients ?? []) await takeReport(app, recipient, one)
}

interface Row {
  id: string
  number: number
  email: string
  attempts: number
  bulk_id: string | null
  tags: string[]
  metadata: string
  callback_url: string | null
  clock_offset_ms: bigint
}

const load = statement.tenant<Tenant & { message: string; number: number }, Row>(
  'email.load_returned',
  `select m.id, r.number, r.email, r.attempts, m.bulk_id, m.tags, m.metadata, m.callback_url,
          accounts.clock_offset_ms(m.account_id, m.environment) as clock_offset_ms
     from email.messages m
     join email.recipients r on r.bucket = m.bucket and r.account_id = m.account_id and r.environment = m.environment
                            and r.message_id = m.id and r.number = $number
    where m.bucket = $bucket and m.account_id = $account and m.environment = $environment and m.id = $message`,
)

export async function takeReport(
  app: App,
  { tenant, message, number }: Recipient,
  report: DeliveryReport['recipients'][number],
): Promise<void> {
  const row = await maybe(app.db.query(load, { ...tenant, message, number }))
  if (!row) return
  const occasion = occasionNow(app.clock, tenant, row.clock_offset_ms)
  if (report.action === 'delivered' || report.action === 'relayed') {
    const smtp_response = report.diagnostic ?? '250 delivered'
    const event = newsOf(app, emailEvents.delivered, occasion, row, {
      ...aboutOf(row),
      smtp_response,
      mx: report.server,
      tls: null,
      tls_level: null,
      attempts: row.attempts,
    })
    await storeChange(app, tenant, row, occasion, null, {
      status: 'delivered',
      attempts: row.attempts,
      reason: null,
      mx: report.server,
      events: [event],
    })
  }
  if (report.action !== 'failed') return
  const code = Number(/^([45]\d\d)\b/.exec(report.diagnostic ?? '')?.[1] ?? (report.status.startsWith('5') ? 550 : 450))
  const text = (report.diagnostic ?? report.status).replace(/^[45]\d\d[ -]?/, '')
  const judged = verdictOf({ code: code < 500 ? 550 : code, enhanced: report.status, text })
  const verdict =
    judged.kind === 'bounced'
      ? judged
      : {
          kind: 'bounced' as const,
          type: 'soft' as const,
          category: 'policy' as const,
          reason: text,
          reply: judged.reply,
          suppresses: false,
        }
  await storeChange(app, tenant, row, occasion, null, {
    status: 'bounced',
    attempts: row.attempts,
    reason: verdict.reason,
    verdict,
    suppress: verdict.suppresses ? 'hard_bounce' : null,
    events: [bounceNews(app, occasion, row, verdict, 'dsn')],
  })
}
