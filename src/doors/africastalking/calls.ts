// SPDX-License-Identifier: Apache-2.0
// Calls of Africa's Talking. Their flow is that of the calling number's application, which answers in this dialect.
import { AppError } from '../../kernel/errors.ts'
import { msOfId, uuidOf } from '../../kernel/ids.ts'
import type { Reply } from '../../platform/api/dialect.ts'
import { type DoorCall, internationalNumber } from '../../platform/api/door.ts'
import { callbackTo } from './flow.ts'

const maxCalls = 100

/** Own code → status of a number that is not called. */
const statuses: Readonly<Record<string, string>> = {
  INVALID_PHONE: 'InvalidPhoneNumber',
  VALIDATION_ERROR: 'InvalidPhoneNumber',
  COUNTRY_NOT_ENABLED: 'DestinationNotSupported',
  DESTINATION_NOT_ALLOWED: 'DestinationNotSupported',
  NO_ROUTE: 'DestinationNotSupported',
  INSUFFICIENT_BALANCE: 'InsufficientCredit',
}

interface Entry {
  readonly phoneNumber: string
  readonly status: string
  readonly sessionId: string
}

/** Calls each number, in order. */
export async function callAll(call: DoorCall): Promise<{ errorMessage: 'None'; entries: Entry[] }> {
  const { form } = call
  const to = (form.get('to') ?? '').split(',').filter((one) => one.trim() !== '')
  if (to.length === 0 || to.length > maxCalls)
    throw new AppError('INVALID_REQUEST', `to must have 1 to ${maxCalls} numbers, separated by commas`)
  const from = internationalNumber(form.get('from') ?? '')
  const request = form.get('clientRequestId')
  const body = {
    from,
    ...(await applicationOf(call, from)),
    ...(request ? { custom_data: { client_request_id: request } } : {}),
  }
  const entries: Entry[] = []
  for (const [i, number] of [...new Set(to.map(internationalNumber))].entries()) {
    try {
      const made = await call.run('voice.createCall', { body: { ...body, to: number }, part: String(i) })
      entries.push({ phoneNumber: number, status: 'Queued', sessionId: sessionOf(made) })
    } catch (error) {
      const status = error instanceof AppError ? statuses[error.code] : undefined
      // What would be said of each number is said of the request, unless some are called already.
      if (!(error instanceof AppError) || (status === undefined && i === 0)) throw error
      entries.push({ phoneNumber: number, status: status ?? 'Failed', sessionId: 'None' })
    }
  }
  return { errorMessage: 'None', entries }
}

/** Addresses of the application of a number; refuses a number that has none of this dialect. */
async function applicationOf(call: DoorCall, from: string): Promise<{ answer_url: string; event_url: string }> {
  const numbers = await call.run('voice.listNumbers')
  const application = numbers
    .list('data')
    .find((one) => one.text('number') === from)
    ?.part('assigned_to')
  const url = application?.maybe('dialect') === 'africastalking' ? application.maybe('answer_url') : null
  if (!application || url === null)
    throw new AppError('NUMBER_NOT_OWNED', `Invalid callerId: ${from} has no application of this dialect`)
  return { answer_url: callbackTo(url), event_url: callbackTo(application.maybe('event_url') ?? url) }
}

/** `ATVId_` and the 32 digits of a call's UUID. */
function sessionOf(payload: Reply): string {
  return `ATVId_${(uuidOf('call', payload.text('call_id')) ?? '').replaceAll('-', '')}`
}

const hangupCauses: Readonly<Record<string, string>> = {
  normal: 'NORMAL_CLEARING',
  max_duration: 'NORMAL_CLEARING',
  cancelled: 'ORIGINATOR_CANCEL',
  busy: 'USER_BUSY',
  rejected: 'CALL_REJECTED',
  no_answer: 'NO_USER_RESPONSE',
  invalid_number: 'UNALLOCATED_NUMBER',
  media_timeout: 'RECOVERY_ON_TIMER_EXPIRE',
}
const goingOn = new Set(['initiated', 'started', 'ringing', 'answered'])

/** Form that asks about a call, or tells its end; null of what this dialect does not tell. */
export function callForm(
  name: string,
  payload: Reply,
  options: readonly string[],
): Readonly<Record<string, string>> | null {
  if (name === 'voice.event') return endOf(payload)
  const digits = payload.maybe('dtmf') ?? ''
  // Nothing was typed: the flow goes on with its next verb.
  if (options.includes('digits') && digits === '') return null
  const isRinging = name === 'voice.answer' && payload.text('direction') === 'inbound'
  const request = payload.part('custom_data').maybe('client_request_id')
  const recording = payload.maybe('recording_url')
  return {
    ...formOf(payload, '1', isRinging ? 'Ringing' : 'Active'),
    ...(request === null ? {} : { clientRequestId: request }),
    ...(options.includes('digits') ? { dtmfDigits: digits } : {}),
    ...(recording === null ? {} : { recordingUrl: recording }),
  }
}

/** End of a call, whose answer is not read. */
function endOf(payload: Reply): Readonly<Record<string, string>> | null {
  const status = payload.maybe('status')
  const isNote = payload.raw('error') !== undefined || payload.raw('machine') !== undefined
  if (status === null || isNote || goingOn.has(status)) return null
  const cause = hangupCauses[payload.maybe('reason') ?? ''] ?? 'NORMAL_TEMPORARY_FAILURE'
  return {
    ...formOf(payload, '0', status === 'completed' ? 'Completed' : cause),
    durationInSeconds: payload.text('duration'),
    currencyCode: payload.text('currency'),
    amount: payload.text('cost'),
    hangupCause: cause,
  }
}

/** Fields of every form: the phone is the caller, whoever began. */
function formOf(payload: Reply, isActive: '0' | '1', callSessionState: string): Record<string, string> {
  const isInbound = payload.text('direction') === 'inbound'
  const [from, to] = [payload.text('from'), payload.text('to')]
  return {
    isActive,
    sessionId: sessionOf(payload),
    direction: isInbound ? 'Inbound' : 'Outbound',
    callerNumber: isInbound ? from : to,
    destinationNumber: isInbound ? to : from,
    callSessionState,
    callStartTime: startOf(payload.text('call_id')),
  }
}

/** `2026-11-18 09:30:00`, UTC: calls have the time of their beginning in their id. */
function startOf(callId: string): string {
  return new Date(msOfId(callId) ?? 0).toISOString().slice(0, 19).replace('T', ' ')
}
