// SPDX-License-Identifier: Apache-2.0
// Webhook for delivery reports of the operator's relay or a feedback loop: JSON, or a mailed report (RFC 3464, RFC
// 5965). Each event names the signed envelope sender, so the token alone cannot forge one.
import { timingSafeEqual } from 'node:crypto'
import { Type } from 'typebox'
import Value from 'typebox/value'
import { AppError } from '../../../kernel/errors.ts'
import { fieldsOf, type HookCall, hook, json } from '../../../platform/api/hook.ts'
import type { App } from '../../../platform/app.ts'
import { OneOf } from '../../../platform/schema/fields.ts'
import { fieldOf, parseHeader } from '../../../protocols/mime/header.ts'
import { recipientOf, takeReport, takeReturn } from './returns.ts'
import { storeAction } from './spool.ts'

const maxEvents = 1_000

const ProviderEvent = Type.Object({
  event: OneOf(['delivered', 'bounced', 'complained', 'unsubscribed']),
  /** Envelope sender of the message. */
  return_path: Type.String({ maxLength: 320 }),
  email: Type.Optional(Type.String({ maxLength: 320 })),
  /** `5.1.1` */
  status: Type.Optional(Type.String({ pattern: '^[245]\\.\\d{1,3}\\.\\d{1,3}$' })),
  diagnostic: Type.Optional(Type.String({ maxLength: 1_000 })),
  mx: Type.Optional(Type.String({ maxLength: 253 })),
  feedback_type: Type.Optional(Type.String({ maxLength: 50 })),
})
const ProviderEvents = Type.Object({ events: Type.Array(ProviderEvent, { maxItems: maxEvents }) })

export const providerHook = hook({
  methods: ['POST'],
  path: '/hooks/inbound/email/:token',
  operation: 'email.providerEvents',
  summary: 'Receive bounces and complaints from a relay',
  maxBytes: 5 * 1024 * 1024,
  limits: [{ by: 'address', perSecond: 200 }],
  async handle(app, call) {
    if (!isOurs(app.config.PAMOJA_MAIL_HOOK_TOKEN, call.params.token))
      throw new AppError('NOT_FOUND', 'there is nothing at this address')
    const taken = isMail(call) ? await takeMail(app, call.bytes) : await takeEvents(app, call)
    return json({ success: true, ...taken })
  },
})

function isOurs(expected: string | null, given: string): boolean {
  if (expected === null) return false
  const [a, b] = [Buffer.from(given), Buffer.from(expected)]
  return a.length === b.length && timingSafeEqual(a, b)
}

interface Taken {
  accepted: number
  /** Events of mail not sent from here. */
  ignored: number
}

function isMail({ headers }: Pick<HookCall, 'headers'>): boolean {
  return /^message\/rfc822\b/i.test(headers['content-type'] ?? '')
}

async function takeMail(app: App, content: Buffer): Promise<Taken> {
  const to = fieldOf(parseHeader(content).fields, 'To') ?? ''
  const recipient = recipientOf(app, /[^\s<>,]+@[^\s<>,]+/.exec(to)?.[0] ?? '')
  if (recipient) await takeReturn(app, recipient, content)
  return recipient ? { accepted: 1, ignored: 0 } : { accepted: 0, ignored: 1 }
}

async function takeEvents(app: App, call: Pick<HookCall, 'query' | 'headers' | 'bytes'>): Promise<Taken> {
  const given = fieldsOf(call)
  const body = Array.isArray(given) ? { events: given } : given
  if (!Value.Check(ProviderEvents, body))
    throw new AppError(
      'INVALID_REQUEST',
      `events must be a list of at most ${maxEvents}, each with event (delivered, bounced, complained or unsubscribed) and return_path`,
    )
  const taken = { accepted: 0, ignored: 0 }
  for (const event of body.events) {
    const recipient = recipientOf(app, event.return_path)
    if (recipient) taken.accepted += 1
    else taken.ignored += 1
    if (!recipient) continue
    if (event.event === 'unsubscribed')
      await storeAction(app, recipient, { kind: 'unsubscribe', source: 'api', userAgent: null, ip: null })
    else if (event.event === 'complained')
      await storeAction(app, recipient, {
        kind: 'complain',
        feedbackType: event.feedback_type ?? 'abuse',
        reporter: null,
      })
    else
      await takeReport(app, recipient, {
        address: event.email ?? '',
        action: event.event === 'delivered' ? 'delivered' : 'failed',
        status: event.status ?? (event.event === 'delivered' ? '2.0.0' : '5.0.0'),
        diagnostic: event.diagnostic ?? null,
        server: event.mx ?? null,
      })
  }
  return taken
}
