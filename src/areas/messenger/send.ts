// SPDX-License-Identifier: Apache-2.0
// Sends a message: validates and prices it, then accepts it in a group commit that stores, charges and queues it, or
// nothing.

import type { Static } from 'typebox'
import { AppError } from '../../kernel/errors.ts'
import { idOf, newUuid, uuidOf } from '../../kernel/ids.ts'
import { chargeOf, chargeRow } from '../../ledger/charges.ts'
import { audited, auditRow } from '../../platform/api/audit.ts'
import { type Keyed, keyRow } from '../../platform/api/idempotency.ts'
import type { App } from '../../platform/app.ts'
import type { Caller } from '../../platform/auth.ts'
import { operation } from '../../platform/commit.ts'
import type { Occasion } from '../../platform/events.ts'
import { checkCallback } from '../../platform/outbound/callback-url.ts'
import { jobRow } from '../../platform/work.ts'
import { type Channel, channelOf } from './channels.ts'
import {
  type Content,
  checkParameters,
  contentOf,
  languageOf,
  notOptedIn,
  type TemplateInput,
  windowClosed,
} from './content.ts'
import { fallbackJob } from './fallback.ts'
import { usableMedia } from './media/media.ts'
import { type Price, priceOf, type Unit } from './pricing.ts'
import type { SendInput, SendReply } from './schema.ts'
import { findContact } from './store.ts'
import { submitJob } from './submit.ts'
import { findTemplateByName } from './templates/store.ts'

const submit = operation.tenant(
  'messenger.submit',
  {
    bucket: 'smallint',
    account: 'uuid',
    environment: 'text',
    id: 'uuid',
    type: 'text',
    recipient: 'text',
    sender: 'text',
    content: 'jsonb',
    context_id: 'text',
    template: 'text',
    language: 'text',
    metadata: 'jsonb',
    reference: 'text',
    callback_url: 'text',
    fallback: 'jsonb',
    unit: 'text',
    cost: 'bigint',
    currency: 'text',
    country: 'text',
    clock_offset_ms: 'bigint',
    created_at: 'timestamptz',
    needs_window: 'boolean',
    request: 'text',
    charge: chargeRow,
    job: jobRow,
    timer: jobRow,
    audit: auditRow,
    key: keyRow,
  },
  { seen: 'text', verdict: 'text', existing: 'uuid' },
)

/** Validated message with its price. */
interface Draft {
  readonly id: string
  readonly content: Content
  readonly template: { name: string; language: string } | null
  readonly unit: Unit
  readonly price: Price
  readonly channel: Channel
}

/** Context of a send: tenant, time and caller. */
export interface Sending extends Occasion {
  readonly requestId: string
  readonly actor: string
  readonly ip: string
  /** Account currency. */
  readonly currency: string
  /** Message UUID, where a retry must use the same. */
  readonly id?: string
}

export function sendingOf(caller: Caller): Sending {
  return { ...caller, currency: caller.principal.facts.currency }
}

export async function send(
  app: App,
  input: SendInput,
  caller: Sending,
  keyed: Keyed,
): Promise<Static<typeof SendReply>> {
  refuseByNumber(input.to, caller)
  if (input.require_opt_in === true) await requireOptIn(app, input.to, caller)
  const draft = await draftOf(app, await withinWindow(app, input, caller), caller)
  const reply = replyOf(draft, input, caller)
  await accept(app, draft, input, caller, keyed, reply)
  return reply
}

/** Refuses sandbox numbers that simulate errors. */
function refuseByNumber(to: string, { tenant }: Sending): void {
  if (tenant.environment !== 'test') return
  if (to.endsWith('000003')) throw new AppError('130472', `${to} is not a messenger user; nothing was sent or charged`)
  if (to.endsWith('000004')) throw notOptedIn(to)
}

/** Requires an opt-in. The commit refuses opt-outs; this refuses unknown users too. */
async function requireOptIn(app: App, to: string, { tenant }: Sending): Promise<void> {
  const contact = await findContact(app.db, tenant, to)
  if (contact?.opted_in_at == null) throw notOptedIn(to)
}

/** The request, or its fallback_template while the window is closed. */
async function withinWindow(app: App, input: SendInput, { tenant, nowMs }: Sending): Promise<SendInput> {
  const { fallback_template: template, type, to } = input
  if (template === undefined || type === 'template') return input
  const contact = await findContact(app.db, tenant, to)
  return isOpen(contact?.window_expires_at ?? null, nowMs) ? input : { ...input, type: 'template', template }
}

/** Whether the window is open, to the second: still at exactly 24 hours. */
export function isOpen(expiresAt: Date | null, nowMs: number): boolean {
  return expiresAt !== null && Math.floor(nowMs / 1000) <= Math.floor(expiresAt.getTime() / 1000)
}

async function draftOf(app: App, input: SendInput, caller: Sending): Promise<Draft> {
  const content = contentOf(input)
  await checkCallback(app, caller.tenant, input.callback_url)
  for (const { id, type } of content.media) await usableMedia(app, caller, id, type)
  const used = content.type === 'template' && input.template ? await templateFor(app, caller, input.template) : null
  const unit = used?.unit ?? 'service'
  return {
    id: caller.id ?? newUuid(caller.receivedMs),
    content,
    template: used && { name: used.name, language: used.language },
    unit,
    price: priceOf(app, caller, unit, input.to),
    channel: await channelOf(app, caller.tenant),
  }
}

export async function templateFor(app: App, { tenant }: Sending, template: TemplateInput) {
  const { name } = template
  const language = languageOf(template)
  const found = await findTemplateByName(app.db, tenant, name, language)
  if (found === null) throw new AppError('131026', `there is no template ${name} in ${language}`)
  if (found.status !== 'APPROVED')
    throw new AppError('131026', `the template ${name} in ${language} is ${found.status}`)
  checkParameters(found.components, template.components)
  return { name, language, unit: unitOf(found.category) }
}

function unitOf(category: string): Unit {
  if (category === 'MARKETING') return 'marketing'
  return category === 'AUTHENTICATION' ? 'authentication' : 'utility'
}

function replyOf({ id: uuid, content, price }: Draft, { to }: SendInput, { nowMs }: Sending): Static<typeof SendReply> {
  const id = idOf('messengerMessage', uuid)
  return {
    messaging_product: 'messenger',
    message_id: id,
    to,
    status: 'accepted',
    type: content.type,
    contacts: [{ input: to, wa_id: to.slice(1) }],
    messages: [{ id }],
    cost: price.cost,
    currency: price.currency,
    timestamp: new Date(nowMs),
  }
}

async function accept(
  app: App,
  draft: Draft,
  input: SendInput,
  caller: Sending,
  keyed: Keyed,
  reply: Static<typeof SendReply>,
): Promise<void> {
  const { tenant, receivedMs, nowMs } = caller
  const { id, content, template, price, channel } = draft
  const { to, fallback } = input
  const job = app.work.prepare(submitJob, tenant, { message: id })
  const timer =
    fallback?.after === undefined
      ? null
      : app.work.prepare(fallbackJob, tenant, { message: id }, { delayMs: fallback.after * 1000 })
  const context = input.context?.message_id
  const { currency, cost: micros } = price
  const by = { ...caller, id: newUuid(receivedMs) }
  const { seen, verdict, existing } = await app.commit(submit, {
    ...tenant,
    id,
    type: content.type,
    recipient: to,
    sender: `+${channel.displayNumber}`,
    content: JSON.stringify(content.object),
    context_id: context === undefined ? null : uuidOf('messengerMessage', context) && context,
    template: template?.name ?? null,
    language: template?.language ?? null,
    metadata: JSON.stringify(input.metadata ?? {}),
    reference: input.reference ?? null,
    callback_url: input.callback_url ?? null,
    fallback: fallback ? JSON.stringify(fallback) : null,
    unit: draft.unit,
    cost: price.cost,
    currency: price.currency,
    country: price.country,
    clock_offset_ms: BigInt(nowMs - receivedMs),
    created_at: new Date(nowMs),
    needs_window: content.type !== 'template',
    request: caller.requestId,
    charge: chargeOf(tenant, { currency, micros, sourceId: id, credit: 'revenue:messenger' }, receivedMs),
    job,
    timer,
    audit: audited({ by, action: 'messenger.send', target: reply.message_id }),
    key: keyed.row(reply),
  })
  keyed.settle(seen)
  if (verdict === 'window_closed') throw windowClosed(to)
  if (verdict === 'opted_out') throw notOptedIn(to)
  if (verdict === 'duplicate')
    throw new AppError('DUPLICATE_REFERENCE', `the reference ${input.reference} was used before`, {
      extra: { existing_id: existing && idOf('messengerMessage', existing) },
    })
  if (verdict === 'insufficient')
    throw new AppError('INSUFFICIENT_BALANCE', `the message costs more than the ${price.currency} wallet holds`)
  app.work.begin(job)
}
