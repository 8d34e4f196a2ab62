// SPDX-License-Identifier: Apache-2.0
// Draft of a message: validated addresses, content, sender, time and price, or the error.
import type { Static } from 'typebox'
import { type Mailbox, parseMailbox } from '../../../kernel/email-address.ts'
import { AppError } from '../../../kernel/errors.ts'
import { newIdAndUuid } from '../../../kernel/ids.ts'
import type { Currency } from '../../../kernel/money.ts'
import { dayMs, minuteMs, parseMoment } from '../../../kernel/time.ts'
import type { App } from '../../../platform/app.ts'
import type { Occasion } from '../../../platform/events.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import { type Content, type ContentBody, sizeOf } from '../contents.ts'
import { rendered } from '../delivery/compose.ts'
import { type Sender, senderFor } from '../domains/senders.ts'
import { priceOf } from '../prices.ts'
import { type EmailSend, maxMessageBytes, maxRecipients, maxTtlSeconds } from '../schema.ts'
import { compile } from '../templates/engine.ts'
import { type FoundTemplate, findTemplate } from '../templates/find.ts'
import { attachmentsOf } from './attachments.ts'

/** Context of a send: tenant, time and currency. */
export interface Sending extends Occasion {
  readonly actor: string
  readonly ip: string
  readonly currency: Currency
  /** Free of charge: mail of the platform itself. */
  readonly isFree?: boolean
}

interface DraftRecipient {
  readonly email: string
  readonly name: string | null
  readonly type: 'to' | 'cc' | 'bcc'
}

export interface Draft {
  readonly uuid: string
  readonly from: Mailbox
  readonly sender: Sender
  readonly recipients: readonly DraftRecipient[]
  readonly content: Content
  readonly subject: string
  readonly stream: 'transactional' | 'bulk'
  readonly source: 'api' | 'smtp' | 'system'
  readonly template: string | null
  readonly variables: Record<string, unknown> | null
  readonly tags: readonly string[]
  /** JSON text. */
  readonly metadata: string
  readonly tracking: { readonly opens: boolean; readonly clicks: boolean }
  readonly callbackUrl: string | null
  readonly reference: string | null
  readonly scheduledAt: Date | null
  readonly ttlSeconds: number
  readonly unitPrice: bigint
  readonly warnings: readonly string[]
}

type Input = Static<typeof EmailSend>

export async function draftOf(app: App, sending: Sending, input: Input): Promise<Draft> {
  const addressed = addressesOf(input)
  const body = bodyOf(input, addressed)
  const { attachments, files } = attachmentsOf(input.attachments)
  const scheduledAt = scheduledTime(input.scheduled_at, sending.nowMs)
  const sender = await requireSender(app, sending.tenant, addressed.from)
  const template = input.template === undefined ? null : await findTemplate(app, sending.tenant, input.template)
  const said = await sayable(
    app,
    sending.tenant,
    { ...body, attachments, template: template && { id: template.id, version: template.version } },
    input,
    template,
  )
  const content = { body: said.body, raw: null, files }
  if (messageSize(content) > maxMessageBytes)
    throw new AppError('ATTACHMENT_TOO_LARGE', 'the message would be larger than 25 MiB')
  return {
    uuid: newIdAndUuid('email', sending.receivedMs).uuid,
    from: addressed.from,
    sender,
    recipients: addressed.recipients,
    content,
    subject: said.subject,
    stream: input.stream ?? 'transactional',
    source: 'api',
    template: template?.name ?? null,
    variables: input.variables ?? null,
    tags: input.tags ?? [],
    metadata: JSON.stringify(input.metadata ?? {}),
    tracking: { opens: input.tracking?.opens ?? true, clicks: input.tracking?.clicks ?? true },
    callbackUrl: input.callback_url ?? null,
    reference: input.reference ?? null,
    scheduledAt,
    ttlSeconds: input.ttl ?? maxTtlSeconds,
    unitPrice: sending.isFree ? 0n : priceOf(app, sending.tenant, sending.currency, sending.receivedMs),
    warnings: said.warnings,
  }
}

/** Message size: base64 adds a third, line breaks a little more. */
export function messageSize(content: Content): number {
  return sizeOf({ ...content, files: null }) + Math.ceil((content.files?.length ?? 0) * 1.37)
}

interface Addressed {
  from: Mailbox
  recipients: DraftRecipient[]
  to: string[]
  cc: string[]
}

function addressesOf(input: Input): Addressed {
  const from = mailbox(input.from, 'from')
  const to = [input.to].flat()
  const named = [
    ...to.map((text, i) => ({ text, type: 'to' as const, field: Array.isArray(input.to) ? `to[${i}]` : 'to' })),
    ...(input.cc ?? []).map((text, i) => ({ text, type: 'cc' as const, field: `cc[${i}]` })),
    ...(input.bcc ?? []).map((text, i) => ({ text, type: 'bcc' as const, field: `bcc[${i}]` })),
  ]
  if (named.length > maxRecipients)
    throw new AppError('TOO_MANY_RECIPIENTS', `to, cc and bcc name ${named.length}; ${maxRecipients} are taken`)
  const recipients = new Map<string, DraftRecipient>()
  for (const { text, type, field } of named) {
    const { name, address } = mailbox(text, field)
    if (!recipients.has(address.toLowerCase())) recipients.set(address.toLowerCase(), { email: address, name, type })
  }
  return { from, recipients: [...recipients.values()], to, cc: input.cc ?? [] }
}

export function mailbox(text: string, field: string): Mailbox {
  const parsed = parseMailbox(text)
  if (!parsed)
    throw new AppError('INVALID_EMAIL', `${field} is not an address such as amina@shop.example`, { extra: { field } })
  return parsed
}

const allowedHeader =
  /^(?:x-[a-z0-9-]{1,60}|references|in-reply-to|auto-submitted|precedence|feedback-id|list-[a-z-]{1,40})$/i
const maxVariablesBytes = 64 * 1024

export function bodyOf(
  input: Omit<Input, 'to' | 'cc' | 'bcc'>,
  addressed: { from: Mailbox; to: string[] | null; cc: string[] },
): ContentBody {
  if (input.template === undefined && input.html === undefined && !input.text)
    throw new AppError('VALIDATION_ERROR', 'html is required, unless a template or text is given')
  if (input.template === undefined && input.subject === undefined)
    throw new AppError('VALIDATION_ERROR', 'subject is required, unless a template has it')
  checkVariables(input.variables ?? {}, 'variables')
  const replyTo = input.reply_to === undefined ? [] : [input.reply_to].flat()
  replyTo.forEach((text, i) => void mailbox(text, `reply_to[${i}]`))
  for (const [name, value] of Object.entries(input.headers ?? {})) {
    if (!allowedHeader.test(name))
      throw new AppError(
        'VALIDATION_ERROR',
        `headers.${name.slice(0, 60)} may not be set: X-*, List-*, References, In-Reply-To, Auto-Submitted, Precedence and Feedback-ID may`,
      )
    if (/[\r\n\0]/.test(value)) throw new AppError('VALIDATION_ERROR', `headers.${name} must be one line`)
  }
  return {
    from: { name: addressed.from.name, address: addressed.from.address },
    to: addressed.to,
    cc: addressed.cc,
    replyTo,
    subject: input.subject ?? null,
    html: input.html ?? null,
    text: input.text ?? null,
    template: null,
    renders: input.template !== undefined || input.variables !== undefined,
    headers: input.headers ?? {},
    attachments: [],
    unsubscribe: input.unsubscribe ?? input.stream === 'bulk',
    variables: {},
  }
}

export function checkVariables(variables: Record<string, unknown>, field: string): void {
  if (Buffer.byteLength(JSON.stringify(variables)) > maxVariablesBytes)
    throw new AppError('VALIDATION_ERROR', `${field} must have at most 64 KiB as JSON`)
  const depth = (value: unknown): number =>
    typeof value === 'object' && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depth)) : 0
  if (depth(variables) > 8) throw new AppError('VALIDATION_ERROR', `${field} must have at most 8 levels`)
}

/** Scheduled time; null for now. */
export function scheduledTime(text: string | undefined, nowMs: number): Date | null {
  const at = text === undefined ? null : parseMoment(text)
  if (at === null) return null
  if (at.getTime() < nowMs + minuteMs || at.getTime() > nowMs + 30 * dayMs)
    throw new AppError('VALIDATION_ERROR', 'scheduled_at must be 1 minute to 30 days ahead')
  return at
}

export async function requireSender(app: App, tenant: Tenant, { domain }: Mailbox): Promise<Sender> {
  const sender = await senderFor(app, tenant, domain)
  if (!sender)
    throw new AppError('DOMAIN_NOT_VERIFIED', `${domain} is not verified for this account`, { extra: { domain } })
  return sender
}

/** Renders once to refuse errors now; missing variables give warnings. */
async function sayable(
  app: App,
  tenant: Tenant,
  body: ContentBody,
  { strict = false, variables }: Pick<Input, 'strict' | 'variables'>,
  template: FoundTemplate | null,
): Promise<{ body: ContentBody; subject: string; warnings: string[] }> {
  if (!body.renders) return { body, subject: body.subject ?? '', warnings: [] }
  if (body.subject !== null) compile(body.subject, 'subject')
  if (body.html !== null) compile(body.html, 'html')
  if (body.subject === null && !template?.subject)
    throw new AppError('VALIDATION_ERROR', 'subject is required: the template has none')
  const sample = {
    id: '00000000-0000-7000-8000-000000000000',
    email: 'x@example.com',
    name: null,
    variables: variables ?? {},
  }
  const { subject, missing } = await rendered(app, tenant, sample, body, { unsubscribeUrl: 'https://example.com/u' })
  if (strict && missing.length > 0)
    throw new AppError('MISSING_VARIABLE', `no value for ${missing.slice(0, 10).join(', ')}`, { extra: { missing } })
  return { body, subject: subject.slice(0, 998), warnings: missing.map((name) => `no value for {{${name}}}`) }
}
