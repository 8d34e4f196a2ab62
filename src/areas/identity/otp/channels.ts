// SPDX-License-Identifier: Apache-2.0
// Channels of one-time codes, each through its area's door and at its price. They are tried in the caller's order; one
// that cannot carry the code now is skipped.
import type { Static } from 'typebox'
import { AppError } from '../../../kernel/errors.ts'
import type { App } from '../../../platform/app.ts'
import type { Caller } from '../../../platform/auth.ts'
import { mailForAccount } from '../../email/area.ts'
import { codeForAccount } from '../../messenger/area.ts'
import { sendForAccount } from '../../sms/area.ts'
import { callWithCode } from './by-voice.ts'
import { codeOf, messageWith, subjectIn } from './code.ts'
import type { Channel, OtpSend } from './schema.ts'
import type { OtpRow } from './store.ts'

export interface Carried {
  readonly channel: Channel
  readonly messageId: string | null
}

interface CodeToSend {
  readonly input: Static<typeof OtpSend>
  readonly otp: OtpRow
  readonly code: string
  readonly text: string
  /** Idempotency key of one sending. */
  readonly key: string
}

/** Sends over a channel; returns the id of what was sent. */
type Carry = (app: App, caller: Caller, errand: CodeToSend) => Promise<string | null>

/** Sandbox number that no channel reaches. */
const undeliverableNumber = '+254700000001'
const usualSender = 'Verify'

const carriers: Readonly<Record<Channel, Carry>> = {
  sms: (app, caller, { input, text, key }) =>
    sendForAccount(app, caller, { to: input.phone, from: input.from ?? usualSender, message: text, key }),
  messenger: (app, caller, { input, text, code, key }) =>
    codeForAccount(app, caller, { to: input.phone, code, text, language: input.language ?? 'en', key }),
  email: (app, caller, { input, text, key }) => byMail(app, caller, input, text, key),
  voice: (app, caller, { input, otp }) =>
    callWithCode(app, caller, {
      ...{ otp: otp.id, to: input.phone, from: input.from, message: input.message, language: input.language },
    }),
}

function byMail(app: App, caller: Caller, input: Static<typeof OtpSend>, text: string, key: string) {
  const paragraphs = text.split('\n').map((line) => `<p>${escaped(line)}</p>`)
  return mailForAccount(app, caller, {
    to: input.email ?? '',
    fromName: input.from ?? usualSender,
    fromLocal: 'verify',
    subject: subjectIn(input.language),
    html: paragraphs.join('\n'),
    key,
  })
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`)
}

/** Sends a code; throws the last channel's error, or PROVIDER_UNAVAILABLE when none was available. */
export async function carry(app: App, caller: Caller, input: Static<typeof OtpSend>, otp: OtpRow): Promise<Carried> {
  const code = codeOf(app.secrets, caller.tenant.environment, otp)
  const wanted = [input.channel ?? 'sms'].flat()
  let refusal: AppError | null = null
  for (const channel of wanted) {
    if (isUnreachable(caller, input.phone, channel)) continue
    const text = messageWith(code, channel === 'sms' ? input : { ...input, app_hash: undefined, web_origin: undefined })
    const errand = { input, otp, code, text, key: `otp ${otp.id} ${otp.sends} ${channel}` }
    try {
      return { channel, messageId: await carriers[channel](app, caller, errand) }
    } catch (problem) {
      if (!(problem instanceof AppError)) throw problem
      if (!isMissing(problem)) refusal = problem
    }
  }
  if (refusal) throw refusal
  throw new AppError('PROVIDER_UNAVAILABLE', `no channel could send the code: ${wanted.join(', ')}`, {
    extra: { channels: wanted },
  })
}

function isUnreachable({ tenant }: Caller, phone: string, channel: Channel): boolean {
  return tenant.environment === 'test' && phone === undeliverableNumber && channel !== 'email'
}

/** Error codes that mean the channel is unavailable for this account or person, rather than a bad request. */
const missing = new Set([
  'MAIL_NOT_CONFIGURED',
  'PROVIDER_UNAVAILABLE',
  '131047',
  '131051',
  '130472',
  'NUMBER_NOT_OWNED',
])

function isMissing({ code, status }: AppError): boolean {
  return status >= 500 || missing.has(code)
}
