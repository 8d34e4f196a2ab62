// SPDX-License-Identifier: Apache-2.0
// Callbacks of Twilio: forms, by POST or GET, each signed with the account's key for this door.
import { createHmac } from 'node:crypto'
import type { Dialect, DialectRequest, Listener, Reply, ToldEvent } from '../../platform/api/dialect.ts'
import { apiVersion, callStatus, deliveryCode, messageStatus, sidOf } from './forms.ts'
import { flowOf, repliesIn } from './twiml.ts'
import { whatsAppReport } from './whatsapp.ts'

type Fields = Readonly<Record<string, string>>

export const dialect: Dialect = {
  events: ['sms.status', 'sms.sent', 'sms.delivered', 'sms.failed', 'sms.received', 'messenger.status'],
  signsWithKey: true,
  tell(event, listener) {
    const fields = fieldsOf(event, listener)
    return fields && signed(fields, listener)
  },
  /** Several messages are one text, in lines: the own API sends one reply. */
  answer(event, body) {
    const replies = event === 'sms.received' ? repliesIn(body) : []
    return replies.length === 0 ? '' : JSON.stringify({ reply: replies.join('\n') })
  },
  flow: flowOf,
}

function fieldsOf({ name, payload }: ToldEvent, listener: Listener): Fields | null {
  const account = sidOf('AC', listener.accountId, 'account')
  if (name === 'sms.received') return incoming(payload, account)
  if (name === 'messenger.status') return whatsAppReport(payload, account)
  if (name.startsWith('sms.')) return dialect.events.includes(name) ? report(payload, account) : null
  if (name === 'voice.event') return statusOf(payload, account, listener)
  // A flow without an address of its own asks at the status callback, which has no flow.
  if (!name.startsWith('voice.') || listener.options.includes('status')) return null
  return questionOf(name, payload, account, listener.options)
}

function report(payload: Reply, AccountSid: string): Fields {
  const sid = sidOf('SM', payload.text('message_id'), 'sms')
  const code = payload.maybe('error_code')
  const status = messageStatus(payload.text('status'), code)
  const number = deliveryCode(code)
  return {
    MessageSid: sid,
    SmsSid: sid,
    MessageStatus: status,
    SmsStatus: status,
    AccountSid,
    From: payload.text('from'),
    To: payload.text('to'),
    ApiVersion: apiVersion,
    ...(number === null ? {} : { ErrorCode: String(number) }),
  }
}

function incoming(payload: Reply, AccountSid: string): Fields {
  const sid = sidOf('SM', payload.text('message_id'), 'smsInbound')
  return {
    MessageSid: sid,
    SmsSid: sid,
    SmsMessageSid: sid,
    AccountSid,
    From: payload.text('from'),
    To: payload.text('to'),
    Body: payload.text('message'),
    NumMedia: '0',
    NumSegments: String(payload.number('parts')),
    SmsStatus: 'received',
    ApiVersion: apiVersion,
  }
}

function callFields(payload: Reply, AccountSid: string, CallStatus: string): Fields {
  const [From, To] = [payload.text('from'), payload.text('to')]
  return {
    CallSid: sidOf('CA', payload.text('call_id'), 'call'),
    AccountSid,
    ...{ From, To, Caller: From, Called: To },
    CallStatus,
    Direction: payload.text('direction') === 'inbound' ? 'inbound' : 'outbound-api',
    ApiVersion: apiVersion,
  }
}

/** Own status → event, in the order in which they are told. */
const progress = ['initiated', 'ringing', 'answered', 'completed']
const events: Readonly<Record<string, string | null>> = {
  initiated: null,
  started: 'initiated',
  ringing: 'ringing',
  answered: 'answered',
}

/** Status of a call; null of one that was not asked for. */
function statusOf(payload: Reply, account: string, { options }: Listener): Fields | null {
  const status = payload.maybe('status')
  if (status === null || payload.raw('error') !== undefined || payload.raw('machine') !== undefined) return null
  const event = status in events ? events[status] : 'completed'
  if (!event || !options.includes(event)) return null
  const seconds = payload.number('duration')
  const ended = { CallDuration: String(seconds), Duration: String(Math.ceil(seconds / 60)) }
  return {
    ...callFields(payload, account, callStatus(status, payload.maybe('reason'))),
    SequenceNumber: String(progress.indexOf(event)),
    Timestamp: new Date(payload.text('timestamp')).toUTCString().replace('GMT', '+0000'),
    CallbackSource: 'call-progress-events',
    ...(event === 'completed' ? ended : {}),
  }
}

/** Question for the next document; null when nothing was typed or said, and the flow goes on by itself. */
function questionOf(name: string, payload: Reply, account: string, options: readonly string[]): Fields | null {
  const isRinging = name === 'voice.answer' && payload.text('direction') === 'inbound'
  const about = callFields(payload, account, isRinging ? 'ringing' : 'in-progress')
  if (options.includes('gather')) {
    const typed = gathered(payload)
    return Object.keys(typed).length > 0 || options.includes('empty') ? { ...about, ...typed } : null
  }
  if (options.includes('dial')) return { ...about, ...dialled(payload) }
  const verb = payload.part('payload').maybe('verb')
  return { ...about, ...recorded(payload), ...(verb === 'dial' ? { DialCallStatus: 'failed' } : {}) }
}

function gathered(payload: Reply): Fields {
  const digits = payload.maybe('dtmf') ?? ''
  const [best] = payload.part('speech').list('results')
  return {
    ...(digits === '' ? {} : { Digits: digits }),
    ...(best ? { SpeechResult: best.text('text'), Confidence: best.text('confidence') } : {}),
  }
}

function dialled(payload: Reply): Fields {
  const status = payload.text('status')
  return { DialCallStatus: callStatus(status, null), DialCallDuration: String(payload.number('duration')) }
}

function recorded(payload: Reply): Fields {
  const id = payload.maybe('recording_uuid')
  if (id === null) return {}
  return {
    RecordingSid: sidOf('RE', id, 'recording'),
    RecordingUrl: payload.maybe('recording_url') ?? '',
    RecordingDuration: payload.text('duration'),
    RecordingStatus: 'completed',
  }
}

/** Request with its signature: HMAC-SHA1 of the URL and, of a POST, each name and value in the order of the names. */
function signed(fields: Fields, { url, options, doorKey }: Listener): DialectRequest {
  const isGet = options.includes('get')
  const query = new URLSearchParams(fields).toString()
  const whole = isGet ? `${url}${url.includes('?') ? '&' : '?'}${query}` : url
  const text = isGet
    ? ''
    : Object.keys(fields)
        .sort()
        .map((name) => name + fields[name])
        .join('')
  const signature =
    doorKey &&
    createHmac('sha1', doorKey)
      .update(whole + text)
      .digest('base64')
  return {
    method: isGet ? 'GET' : 'POST',
    url: whole,
    contentType: 'application/x-www-form-urlencoded',
    body: isGet ? '' : query,
    ...(signature ? { headers: { 'X-Twilio-Signature': signature } } : {}),
  }
}
