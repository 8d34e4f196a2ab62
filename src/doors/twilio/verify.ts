// SPDX-License-Identifier: Apache-2.0
// One-time codes as Twilio Verify has them, and the lookup of a number.
import { AppError } from '../../kernel/errors.ts'
import type { Reply } from '../../platform/api/dialect.ts'
import { type DoorCall, internationalNumber } from '../../platform/api/door.ts'
import type { HookAnswer } from '../../platform/api/hook.ts'
import { accountSid, answer, ownId, requireAccount, sidOf, twilioError } from './forms.ts'

const channels: Readonly<Record<string, string>> = { sms: 'sms', call: 'voice', whatsapp: 'messenger' }

export async function startVerification(call: DoorCall): Promise<HookAnswer> {
  requireAccount(call)
  const { form, params } = call
  const to = form.get('To') ?? ''
  const word = form.get('Channel') ?? 'sms'
  const channel = channels[word]
  if (channel === undefined || form.get('CustomCode'))
    throw twilioError(60200, 'Invalid parameter: Channel must be sms, call or whatsapp, without CustomCode')
  const [locale, length] = [form.get('Locale'), form.get('CodeLength')]
  const sent = await call.run('identity.sendOtp', {
    body: {
      phone: internationalNumber(to),
      channel,
      ...purposeOf(call),
      ...(locale ? { language: locale } : {}),
      ...(length ? { code_length: Number(length) } : {}),
    },
  })
  return answer(
    verificationOf(call, sent, {
      to: sent.text('phone'),
      word,
      status: 'pending',
      valid: false,
      service: params.service ?? '',
    }),
    201,
  )
}

/** A wrong code is no error here: the verification stays pending. */
export async function checkVerification(call: DoorCall): Promise<HookAnswer> {
  requireAccount(call)
  const { form, params } = call
  const [to, sid] = [form.get('To'), form.get('VerificationSid')]
  const service = params.service ?? ''
  const whom = sid ? { otp_id: ownId('VE', sid, 'otp') } : { phone: internationalNumber(to ?? ''), ...purposeOf(call) }
  try {
    const right = await call.run('identity.verifyOtp', { body: { ...whom, code: form.get('Code') ?? '' } })
    return answer(
      verificationOf(call, right, { to: right.text('phone'), word: 'sms', status: 'approved', valid: true, service }),
      201,
    )
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'OTP_INVALID') throw error
    return answer(
      verificationOf(call, null, { to: to ?? '', word: 'sms', status: 'pending', valid: false, service }, sid),
      201,
    )
  }
}

/** Purpose of a code: the service, unless it is the account's own. */
function purposeOf({ params, accountId }: DoorCall): { purpose?: string } {
  const service = (params.service ?? '').slice(2)
  return service === sidOf('', accountId, 'account') ? {} : { purpose: service }
}

interface Shown {
  readonly to: string
  readonly word: string
  readonly status: string
  readonly valid: boolean
  readonly service: string
}

function verificationOf(
  call: DoorCall,
  row: Reply | null,
  { to, word, status, valid, service }: Shown,
  sid = '',
): object {
  const now = new Date(call.nowMs).toISOString()
  return {
    sid: row ? sidOf('VE', row.text('otp_id'), 'otp') : sid,
    service_sid: service,
    account_sid: accountSid(call),
    to,
    channel: word,
    status,
    valid,
    lookup: {},
    amount: null,
    payee: null,
    send_code_attempts: [],
    date_created: now,
    date_updated: now,
    url: `${call.baseUrl}/v2/Services/${service}/Verifications/${row ? sidOf('VE', row.text('otp_id'), 'otp') : sid}`,
  }
}

export async function lookup(call: DoorCall): Promise<HookAnswer> {
  requireAccount(call)
  const phone = internationalNumber(call.params.number ?? '')
  const wanted = (call.query.get('Fields') ?? '').split(',')
  const facts = await call.run('sms.lookup', { params: { phone } })
  const code = facts.maybe('mcc_mnc')
  const line = {
    type: facts.maybe('type'),
    carrier_name: facts.maybe('network'),
    mobile_country_code: code?.slice(0, 3) ?? null,
    mobile_network_code: code?.slice(3) ?? null,
    error_code: null,
  }
  const isValid = facts.raw('valid') === true
  return answer({
    calling_country_code: facts.maybe('calling_code')?.replace('+', '') ?? null,
    country_code: facts.maybe('country'),
    phone_number: facts.text('phone'),
    national_format: facts.maybe('national_format'),
    valid: isValid,
    validation_errors: isValid ? [] : ['INVALID_LENGTH'],
    line_type_intelligence: wanted.includes('line_type_intelligence') ? line : null,
    ...Object.fromEntries(
      [
        'caller_name',
        'sim_swap',
        'call_forwarding',
        'line_status',
        'identity_match',
        'reassigned_number',
        'sms_pumping_risk',
      ].map((name) => [name, null]),
    ),
    url: `${call.baseUrl}/v2/PhoneNumbers/${encodeURIComponent(phone)}`,
  })
}
