// SPDX-License-Identifier: Apache-2.0
// Messages of Twilio: texts of the own API.
import { AppError } from '../../kernel/errors.ts'
import type { Reply } from '../../platform/api/dialect.ts'
import { type DoorCall, internationalNumber } from '../../platform/api/door.ts'
import type { HookAnswer } from '../../platform/api/hook.ts'
import {
  accountSid,
  answer,
  apiVersion,
  callbackTo,
  dateOf,
  deliveryCode,
  messageStatus,
  ownId,
  requireAccount,
  sidOf,
  twilioError,
  unsupported,
} from './forms.ts'
import { isWhatsApp, sendWhatsApp, whatsAppOf } from './whatsapp.ts'

const maxPage = 200

export async function createMessage(call: DoorCall): Promise<HookAnswer> {
  requireAccount(call)
  const { form } = call
  const to = form.get('To')
  const message = form.get('Body')
  if (to === undefined) throw twilioError(21604, "A 'To' phone number is required.")
  if (form.all('MediaUrl').length > 0) throw twilioError(21620, 'MediaUrl is not supported by Pamoja')
  if (message === undefined || message === '') throw twilioError(21602, 'Message body is required.')
  if (isWhatsApp(to)) return answer(await sendWhatsApp(call, to, message), 201)
  const from = form.get('From') ?? (form.get('MessagingServiceSid') ? await defaultSender(call) : undefined)
  if (from === undefined) throw twilioError(21603, "A 'From' phone number is required.")
  const statusCallback = form.get('StatusCallback')
  const body = {
    to: internationalNumber(to),
    from: internationalNumber(from),
    message,
    ...(statusCallback ? { callback_url: callbackTo(statusCallback, undefined) } : {}),
    ...scheduleOf(form.get('SendAt'), form.get('ScheduleType')),
    ...validityOf(form.get('ValidityPeriod')),
    ...(form.get('SmartEncoded') === 'true' ? { encoding: 'gsm7' } : {}),
    ...(form.get('ShortenUrls') === 'true' ? { shorten_urls: true } : {}),
  }
  const made = await call.run('sms.send', { body })
  return answer(messageOf(call, made, { message, created: made.text('timestamp') }), 201)
}

async function defaultSender(call: DoorCall): Promise<string | undefined> {
  return (await call.run('account.get')).part('settings').maybe('default_sender') ?? undefined
}

function scheduleOf(at: string | undefined, type: string | undefined): { scheduled_at?: string } {
  if (at === undefined) return {}
  if (type !== 'fixed') throw twilioError(20001, 'SendAt needs ScheduleType=fixed')
  return { scheduled_at: at }
}

function validityOf(seconds: string | undefined): { validity?: number } {
  if (seconds === undefined) return {}
  const given = Number(seconds)
  if (!Number.isInteger(given) || given < 1) throw twilioError(20001, 'ValidityPeriod must be a number of seconds')
  return { validity: Math.max(60, given) }
}

export async function getMessage(call: DoorCall): Promise<HookAnswer> {
  requireAccount(call)
  const sid = call.params.sid ?? ''
  const text =
    (await found(call, 'sms.get', ownId('SM', sid, 'sms'))) ??
    (await found(call, 'sms.get', ownId('SM', sid, 'smsInbound')))
  if (text) return answer(messageOf(call, text))
  const chat = await found(call, 'messenger.get', ownId('SM', sid, 'messengerMessage'))
  if (!chat) throw new AppError('NOT_FOUND', `The requested resource ${sid} was not found`)
  return answer(whatsAppOf(call, chat))
}

/** Message of an id; null where there is none, or none that the key may read. */
async function found(call: DoorCall, operation: string, id: string): Promise<Reply | null> {
  try {
    return await call.run(operation, { params: { id } })
  } catch (error) {
    const isMissing = error instanceof AppError && error.code === 'NOT_FOUND'
    const isClosed = operation === 'messenger.get' && error instanceof AppError && error.code === 'FORBIDDEN'
    if (!isMissing && !isClosed) throw error
    return null
  }
}

export async function changeMessage(call: DoorCall): Promise<HookAnswer> {
  requireAccount(call)
  if (call.form.get('Status') !== 'canceled') throw unsupported('A change of a message other than Status=canceled')
  const id = ownId('SM', call.params.sid ?? '', 'sms')
  return answer(messageOf(call, await call.run('sms.cancel', { params: { id } })))
}

export async function deleteMessage(call: DoorCall): Promise<HookAnswer> {
  requireAccount(call)
  throw unsupported('Deleting a message: records stay, and it')
}

export async function listMessages(call: DoorCall): Promise<HookAnswer> {
  const sid = requireAccount(call)
  const { query } = call
  const size = Math.min(maxPage, Math.max(1, Number(query.get('PageSize') ?? 50) || 50))
  const day = query.get('DateSent')
  const [to, from] = [query.get('To'), query.get('From')]
  const page = await call.run('sms.list', {
    query: {
      limit: size,
      cursor: query.get('PageToken'),
      to: to && internationalNumber(to),
      from: from && internationalNumber(from),
      start_date: day ?? query.get('DateSent>'),
      end_date: day ?? query.get('DateSent<'),
    },
  })
  const number = Number(query.get('Page') ?? 0) || 0
  return answer(
    pageOf(call, `/${apiVersion}/Accounts/${sid}/Messages.json`, 'messages', page, { size, number }, (row) =>
      messageOf(call, row),
    ),
  )
}

/** Page of a list; the client puts its base address before the URIs. */
export function pageOf(
  { query }: DoorCall,
  path: string,
  name: string,
  page: Reply,
  { size, number }: { size: number; number: number },
  shown: (row: Reply) => object,
): object {
  const rows = page.list('data').map(shown)
  const next = page.maybe('next_cursor')
  const uri = (at: number, PageToken: string | null) =>
    `${path}?${query.with({ PageSize: String(size), Page: String(at), PageToken })}`
  return {
    [name]: rows,
    page: number,
    page_size: size,
    start: number * size,
    end: number * size + Math.max(0, rows.length - 1),
    uri: uri(number, query.get('PageToken') ?? null),
    first_page_uri: uri(0, null),
    next_page_uri: next === null ? null : uri(number + 1, next),
    previous_page_uri: null,
  }
}

function messageOf(call: DoorCall, row: Reply, made: { message?: string; created?: string } = {}): object {
  const sid = sidOf('SM', row.text('message_id'), 'sms', 'smsInbound')
  const account = accountSid(call)
  const code = row.maybe('error_code')
  const created = made.created ?? row.text('created_at')
  const sent = row.maybe('sent_at')
  const waits = row.text('status') === 'queued' && row.maybe('scheduled_at') !== null
  const isInbound = row.maybe('direction') === 'inbound'
  const uri = `/${apiVersion}/Accounts/${account}/Messages/${sid}.json`
  return {
    sid,
    account_sid: account,
    messaging_service_sid: null,
    api_version: apiVersion,
    body: made.message ?? row.maybe('message') ?? '',
    from: row.text('from'),
    to: row.text('to'),
    status: waits ? 'scheduled' : messageStatus(row.text('status'), code, sent !== null),
    direction: isInbound ? 'inbound' : 'outbound-api',
    num_segments: String(row.number('segments')),
    num_media: '0',
    price: sent === null ? null : (-row.number('cost')).toFixed(5),
    price_unit: row.text('currency'),
    error_code: deliveryCode(code),
    error_message: code === null ? null : (row.maybe('error') ?? code),
    date_created: dateOf(created),
    date_updated: dateOf(row.maybe('delivered_at') ?? row.maybe('failed_at') ?? sent ?? created),
    date_sent: dateOf(sent),
    uri,
    subresource_uris: { media: uri.replace('.json', '/Media.json') },
  }
}
