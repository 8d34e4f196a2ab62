// SPDX-License-Identifier: Apache-2.0
// Reports of mail servers to the sender of a message: delivery status notifications (RFC 3464) and abuse reports (RFC
// 5965). Written for the sandbox; read from any server.
import { randomBytes } from 'node:crypto'
import { fieldOf, type HeaderField, headerField, parseFields, parseHeader } from './mime/header.ts'
import { bytesOf, everyPart, parseMessage } from './mime/parse.ts'

export interface DeliveryReport {
  readonly recipients: readonly {
    readonly address: string
    readonly action: 'failed' | 'delayed' | 'delivered' | 'relayed' | 'expanded'
    /** `5.1.1` */
    readonly status: string
    readonly diagnostic: string | null
    readonly server: string | null
  }[]
}

export interface AbuseReport {
  readonly feedbackType: string
  readonly reporter: string | null
  readonly recipient: string | null
  readonly originalMessageId: string | null
}

const maxRecipients = 100

/** The report of a message; null when it carries none. */
export function parseDeliveryReport(content: Buffer): DeliveryReport | null {
  for (const part of everyPart(parseMessage(content))) {
    if (part.type !== 'message/delivery-status' && part.type !== 'message/global-delivery-status') continue
    const blocks = bytesOf(content, part)
      .toString('utf8')
      .split(/\r?\n\s*\r?\n/)
    const recipients = blocks.slice(0, maxRecipients + 1).flatMap((block) => recipientOf(block) ?? [])
    return recipients.length > 0 ? { recipients } : null
  }
  return null
}

function recipientOf(block: string): DeliveryReport['recipients'][number] | null {
  const fields = parseFields(`${block.trim()}\r\n`)
  const address = fieldOf(fields, 'original-recipient') ?? fieldOf(fields, 'final-recipient')
  const action = (fieldOf(fields, 'action') ?? '').toLowerCase()
  const status = /\b([245]\.\d{1,3}\.\d{1,3})\b/.exec(fieldOf(fields, 'status') ?? '')?.[1]
  if (address === null || status === undefined || !isAction(action)) return null
  const diagnostic = fieldOf(fields, 'diagnostic-code')
  return {
    address: afterType(address),
    action,
    status,
    diagnostic: diagnostic === null ? null : afterType(diagnostic),
    server: afterType(fieldOf(fields, 'remote-mta') ?? '') || null,
  }
}

const actions = ['failed', 'delayed', 'delivered', 'relayed', 'expanded'] as const

function isAction(text: string): text is (typeof actions)[number] {
  return actions.some((action) => action === text)
}

/** `rfc822; a@b.c` -> `a@b.c` */
function afterType(value: string): string {
  return plain(value.slice(value.indexOf(';') + 1))
}

const maxTextLength = 1_000

/** Text that can be stored and shown: a report may contain anything. */
function plain(value: string): string {
  return value
    .replace(/\p{Cc}/gu, ' ')
    .trim()
    .slice(0, maxTextLength)
}

function plainField(fields: readonly HeaderField[], name: string): string | null {
  const value = fieldOf(fields, name)
  return value === null ? null : plain(value)
}

export function parseAbuseReport(content: Buffer): AbuseReport | null {
  const parts = [...everyPart(parseMessage(content))]
  const report = parts.find(({ type }) => type === 'message/feedback-report')
  if (!report) return null
  const fields = parseFields(`${bytesOf(content, report).toString('utf8').trim()}\r\n`)
  const original = parts.find(({ type }) => type === 'message/rfc822' || type === 'text/rfc822-headers')
  const header = original ? parseHeader(bytesOf(content, original)).fields : []
  return {
    feedbackType: (plainField(fields, 'feedback-type') ?? 'abuse').toLowerCase().slice(0, 50),
    reporter: plainField(fields, 'reporting-mta') ?? plainField(fields, 'user-agent'),
    recipient: plainField(fields, 'original-rcpt-to')?.replace(/^<|>$/g, '') ?? null,
    originalMessageId: plainField(header, 'message-id'),
  }
}

interface ReportOf {
  reporter: string
  to: string
  recipient: string
  /** Header of the message that is told of. */
  originalHeader: string
  at: Date
}

export function composeDeliveryReport(about: ReportOf & { status: string; diagnostic: string }): Buffer {
  const status =
    `Reporting-MTA: dns; ${about.reporter}\r\nArrival-Date: ${about.at.toUTCString()}\r\n\r\n` +
    `Final-Recipient: rfc822; ${about.recipient}\r\nAction: failed\r\nStatus: ${about.status}\r\n` +
    `Remote-MTA: dns; ${about.reporter}\r\nDiagnostic-Code: smtp; ${about.diagnostic}\r\n`
  return report(
    about,
    'Undelivered Mail Returned to Sender',
    'delivery-status',
    status,
    'The message could not be delivered.',
  )
}

export function composeAbuseReport(about: ReportOf & { feedbackType: string }): Buffer {
  const feedback =
    `Feedback-Type: ${about.feedbackType}\r\nUser-Agent: Sandbox/1.0\r\nVersion: 1\r\n` +
    `Original-Rcpt-To: ${about.recipient}\r\nReporting-MTA: dns; ${about.reporter}\r\n`
  return report(about, 'Abuse report', 'feedback-report', feedback, 'This is a report about a message that you sent.')
}

function report(
  { reporter, to, originalHeader, at }: ReportOf,
  subject: string,
  kind: string,
  body: string,
  words: string,
): Buffer {
  const boundary = `=_${randomBytes(12).toString('hex')}`
  const fields =
    headerField('From', `Mail Delivery System <mailer-daemon@${reporter}>`) +
    headerField('To', to) +
    headerField('Subject', subject) +
    headerField('Date', at.toUTCString().replace('GMT', '+0000')) +
    headerField('Message-ID', `<${randomBytes(12).toString('hex')}@${reporter}>`) +
    headerField('MIME-Version', '1.0') +
    headerField('Auto-Submitted', 'auto-replied') +
    headerField('Content-Type', `multipart/report; report-type=${kind}; boundary="${boundary}"`)
  const part = (type: string, text: string) => `--${boundary}\r\nContent-Type: ${type}\r\n\r\n${text}\r\n`
  return Buffer.from(
    `${fields}\r\n${part('text/plain; charset=utf-8', words)}${part(`message/${kind}`, body)}${part('text/rfc822-headers', originalHeader)}--${boundary}--\r\n`,
  )
}
