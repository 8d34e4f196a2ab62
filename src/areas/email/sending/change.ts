// SPDX-License-Identifier: Apache-2.0
// Changes to an accepted message: cancel, reschedule, resend, preview.

import { type Static, Type } from 'typebox'
import { AppError } from '../../../kernel/errors.ts'
import { idOf, newIdAndUuid, newUuid, timeOfUuid } from '../../../kernel/ids.ts'
import { dayMs } from '../../../kernel/time.ts'
import type { Keyed } from '../../../platform/api/idempotency.ts'
import { commit, read, write } from '../../../platform/api/route.ts'
import type { App } from '../../../platform/app.ts'
import type { Caller } from '../../../platform/auth.ts'
import { one, statement, type Tx } from '../../../platform/db.ts'
import { Moment, Nullable, OneOf } from '../../../platform/schema/fields.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import { parseFields } from '../../../protocols/mime/header.ts'
import { parseMessage, partOf, textOf } from '../../../protocols/mime/parse.ts'
import { loadContent } from '../contents.ts'
import { composeFor, rendered } from '../delivery/compose.ts'
import { loadOutgoing } from '../delivery/load.ts'
import { aboutOf, newsOf } from '../delivery/news.ts'
import { senderFor } from '../domains/senders.ts'
import { emailEvents } from '../events.ts'
import { priceOf } from '../prices.ts'
import { recordOf, requireMessage } from '../read.ts'
import { EmailAccepted, EmailRecord, MessageParam, maxTtlSeconds } from '../schema.ts'
import { findMessage } from '../store.ts'
import { textOfHtml } from '../tracking/html.ts'
import { accept } from './accept.ts'
import { mailbox, requireSender, scheduledTime } from './draft.ts'
import { sendingOf } from './send.ts'

export const cancelUnsent = statement.tenant<
  Tenant & { message: string | null; bulk: string | null; transfer: string },
  { message_id: string; number: number; email: string }
>(
  'email.cancel',
  'select message_id, number, email from email.cancel($bucket::smallint, $account, $environment, $message, $bulk, $transfer)',
)

async function cancel(app: App, tx: Tx, id: string, caller: Caller): Promise<Static<typeof EmailRecord>> {
  const row = await requireMessage(app, id, caller)
  const cancelled = await tx.query(cancelUnsent, {
    ...caller.tenant,
    message: row.id,
    bulk: null,
    transfer: newUuid(caller.receivedMs),
  })
  if (cancelled.length === 0) throw new AppError('NOT_CANCELLABLE', `the message is ${row.status}`)
  for (const { email } of cancelled) {
    const told = { ...row, email }
    const event = newsOf(app, emailEvents.cancelled, caller, told, {
      ...aboutOf(told),
      reason: 'cancelled by request',
      next_attempt_at: null,
    })
    await app.outbox.emitAll(tx, [event])
  }
  const after = await findMessage(tx, caller.tenant, row.id)
  return recordOf(after ?? row)
}

const cancelEmail = write({
  method: 'POST',
  path: '/v1/email/:message_id/cancel',
  needs: { operation: 'email.send', id: 'message_id' },
  operation: 'email.cancel',
  summary: 'Cancel an unsent email',
  scope: 'email:send',
  limit: 'email',
  params: MessageParam,
  reply: { status: 200, schema: EmailRecord },
  errors: ['NOT_FOUND', 'NOT_CANCELLABLE'],
  handle: (app, tx, { params }, caller) => cancel(app, tx, params.message_id, caller),
})

const reschedule = statement.tenant<Tenant & { message: string; at: Date; delayMs: number }, { moved: boolean }>(
  'email.reschedule',
  'select email.reschedule($bucket::smallint, $account, $environment, $message, $at, $delayMs::bigint) as moved',
)

const patchEmail = write({
  method: 'PATCH',
  path: '/v1/email/:message_id',
  needs: { operation: 'email.send', id: 'message_id' },
  operation: 'email.reschedule',
  summary: 'Reschedule an email',
  scope: 'email:send',
  limit: 'email',
  params: MessageParam,
  body: Type.Object({ scheduled_at: Moment({ description: 'Time to send it, 1 minute to 30 days ahead' }) }),
  reply: { status: 200, schema: EmailRecord },
  errors: ['NOT_FOUND', 'NOT_CANCELLABLE'],
  handle: async (app, tx, { params, body }, caller) => {
    const row = await requireMessage(app, params.message_id, caller)
    const at = scheduledTime(body.scheduled_at, caller.nowMs)
    if (!at) throw new AppError('VALIDATION_ERROR', 'scheduled_at is required')
    const { moved } = await one(
      tx.query(reschedule, { ...caller.tenant, message: row.id, at, delayMs: at.getTime() - caller.nowMs }),
    )
    if (!moved) throw new AppError('NOT_CANCELLABLE', `the message is ${row.status}`)
    const after = await findMessage(tx, caller.tenant, row.id)
    return recordOf(after ?? row)
  },
})

/** Resends the content to the same recipients or to another. */
async function resend(
  app: App,
  id: string,
  to: string | undefined,
  caller: Caller,
  keyed: Keyed,
): Promise<Static<typeof EmailAccepted>> {
  const row = await requireMessage(app, id, caller)
  const content = await loadContent(app, caller.tenant, row.content_id)
  if (!content) throw new AppError('NOT_FOUND', 'the content of the message is past its retention period')
  const sending = sendingOf(caller)
  const from = mailbox(row.sender, 'from')
  const recipients =
    to === undefined
      ? row.each.map(({ email, name, type }) => ({ email, name, type }))
      : [{ ...mailbox(to, 'to'), email: mailbox(to, 'to').address, type: 'to' as const }]
  return accept(
    app,
    {
      uuid: newIdAndUuid('email', caller.receivedMs).uuid,
      from,
      sender: await requireSender(app, caller.tenant, from),
      recipients: recipients.map(({ email, name, type }) => ({ email, name, type })),
      content: to === undefined ? content : { ...content, body: { ...content.body, to: null, cc: [] } },
      subject: row.subject,
      stream: row.stream,
      source: 'api',
      template: row.template,
      variables: row.variables,
      tags: row.tags,
      metadata: row.metadata,
      tracking: { opens: row.track_opens, clicks: row.track_clicks },
      callbackUrl: row.callback_url,
      reference: null,
      scheduledAt: null,
      ttlSeconds: maxTtlSeconds,
      unitPrice: priceOf(app, caller.tenant, sending.currency, caller.receivedMs),
      warnings: [],
    },
    sending,
    keyed,
  )
}

const resendEmail = commit({
  method: 'POST',
  path: '/v1/email/:message_id/resend',
  needs: { operation: 'email.send', id: 'message_id' },
  operation: 'email.resend',
  summary: 'Resend an email',
  scope: 'email:send',
  limit: 'email',
  params: MessageParam,
  body: Type.Object({
    to: Type.Optional(
      Type.String({ minLength: 1, maxLength: 320, description: 'New recipient, instead of the original ones' }),
    ),
  }),
  reply: { status: 200, schema: EmailAccepted },
  errors: ['NOT_FOUND', 'INVALID_EMAIL', 'DOMAIN_NOT_VERIFIED', 'DESTINATION_NOT_ALLOWED', 'INSUFFICIENT_BALANCE'],
  handle: (app, { params, body }, caller, keyed) => resend(app, params.message_id, body.to, caller, keyed),
})

const contentDays = { free: 3, others: 30 }
const parts = ['html', 'text', 'raw', 'headers'] as const

const ContentPart = Type.Object(
  {
    message_id: Type.String({ description: 'Id of the message, such as `em_…`' }),
    part: OneOf(parts, { description: 'Requested part, returned in `content`' }),
    content: Nullable(Type.String({ description: 'Content of the part; null if the message has none' })),
  },
  { title: 'EmailContent' },
)

async function contentOf(
  app: App,
  id: string,
  part: (typeof parts)[number],
  caller: Caller,
): Promise<Static<typeof ContentPart>> {
  const row = await requireMessage(app, id, caller)
  const days = caller.principal.facts.plan === 'free' ? contentDays.free : contentDays.others
  const content =
    caller.receivedMs - timeOfUuid(row.id).getTime() > days * dayMs
      ? null
      : await loadContent(app, caller.tenant, row.content_id)
  const outgoing = content && (await loadOutgoing(app, caller.tenant, row.id, 0))
  const sender = outgoing && (await senderFor(app, caller.tenant, outgoing.domain))
  if (!content || !outgoing || !sender)
    throw new AppError('NOT_FOUND', 'the content of the message is past its retention period')
  const shown = { message_id: idOf('email', row.id), part }
  if (part === 'html' || part === 'text')
    return { ...shown, content: content.raw ? partOfRaw(content.raw, part) : await said(part) }
  const bytes = (await composeFor(app, caller.tenant, outgoing, content, sender)).bytes.toString('utf8')
  if (part === 'raw') return { ...shown, content: bytes }
  const header = bytes.slice(0, bytes.indexOf('\r\n\r\n') + 2)
  return {
    ...shown,
    content: parseFields(header)
      .map(({ raw }) => raw)
      .join(''),
  }

  async function said(wanted: 'html' | 'text'): Promise<string | null> {
    if (!content || !outgoing || !sender) return null
    const unsubscribeUrl = `${sender.trackingUrl}/u/`
    const { html, text } = await rendered(app, caller.tenant, outgoing, content.body, { unsubscribeUrl })
    return wanted === 'html' ? html : (text ?? (html === null ? null : textOfHtml(html)))
  }
}

/** Text or html part of a message submitted over SMTP. */
function partOfRaw(raw: Buffer, part: 'html' | 'text'): string | null {
  const found = partOf(parseMessage(raw), part === 'html' ? 'text/html' : 'text/plain')
  return found ? textOf(raw, found) : null
}

const getContent = read({
  method: 'GET',
  path: '/v1/email/:message_id/content',
  needs: { operation: 'email.send', id: 'message_id' },
  operation: 'email.getContent',
  summary: 'Get the content of an email',
  scope: 'email:read',
  params: MessageParam,
  query: Type.Object({ part: Type.Optional(OneOf(parts, { description: 'Part to return; default html' })) }),
  reply: { status: 200, schema: ContentPart },
  errors: ['NOT_FOUND'],
  handle: (app, { params, query }, caller) => contentOf(app, params.message_id, query.part ?? 'html', caller),
})

export const changeRoutes = [cancelEmail, patchEmail, resendEmail, getContent]
