// SPDX-License-Identifier: Apache-2.0
// Calls of Twilio, whose flows are TwiML; and recordings, account and balance.
import type { Reply } from '../../platform/api/dialect.ts'
import { type DoorCall, internationalNumber } from '../../platform/api/door.ts'
import { type HookAnswer, redirect } from '../../platform/api/hook.ts'
import {
  accountSid,
  answer,
  apiVersion,
  callbackTo,
  callStatus,
  dateOf,
  ownId,
  requireAccount,
  sidOf,
  twilioError,
  unsupported,
} from './forms.ts'
import { pageOf } from './messages.ts'
import { flowOf } from './twiml.ts'

const maxPage = 200

export async function createCall(call: DoorCall): Promise<HookAnswer> {
  requireAccount(call)
  const { form } = call
  const [to, from] = [form.get('To'), form.get('From')]
  if (!to) throw twilioError(21201, "No 'To' number specified")
  if (!from) throw twilioError(21213, "No 'From' number specified")
  if (form.get('SendDigits')) throw unsupported('SendDigits')
  const fallback = form.get('FallbackUrl')
  const timeout = Number(form.get('Timeout') ?? 60)
  const detection = form.get('MachineDetection')
  const body = {
    to: internationalNumber(to),
    from: internationalNumber(from),
    ...flowIn(call),
    ...(fallback ? { fallback_url: callbackTo(fallback, form.get('FallbackMethod')) } : {}),
    ...eventsOf(call),
    ring_timeout: Math.min(120, Math.max(5, Number.isInteger(timeout) ? timeout : 60)),
    ...(form.get('Record') === 'true' ? { record: true } : {}),
    ...(detection ? { machine_detection: detection === 'DetectMessageEnd' ? 'leave_message' : 'continue' } : {}),
  }
  return answer(callOf(call, await call.run('voice.createCall', { body })), 201)
}

/** Flow of a request: the address of a document, or the document itself. */
function flowIn({ form }: DoorCall): { answer_url: string } | { actions: readonly object[] } {
  const [url, twiml] = [form.get('Url'), form.get('Twiml')]
  if (url) return { answer_url: callbackTo(url, form.get('Method')) }
  if (!twiml) throw twilioError(21205, 'Url or Twiml is required')
  const actions = flowOf(twiml, null)
  if (actions === null || actions.length === 0)
    throw twilioError(12100, 'Twiml is not a well formed document with verbs')
  return { actions }
}

/** Status callbacks; only the end is told unless events are named. */
function eventsOf({ form }: DoorCall): { event_url?: string } {
  const url = form.get('StatusCallback')
  const method = form.get('StatusCallbackMethod')
  const named = form.all('StatusCallbackEvent').flatMap((one) => one.split(/[\s,]+/))
  const known = named.filter((one) => ['initiated', 'ringing', 'answered', 'completed'].includes(one))
  return url ? { event_url: callbackTo(url, method, 'status', ...(known.length > 0 ? known : ['completed'])) } : {}
}

export async function getCall(call: DoorCall): Promise<HookAnswer> {
  requireAccount(call)
  return answer(callOf(call, await call.run('voice.getCall', { params: callId(call) })))
}

export async function changeCall(call: DoorCall): Promise<HookAnswer> {
  requireAccount(call)
  const status = call.form.get('Status')
  const params = callId(call)
  if (status === 'completed' || status === 'canceled') {
    const before = await call.run('voice.getCall', { params })
    if (before.maybe('ended_at') !== null) throw twilioError(21220, 'The call is not in progress')
    return answer(callOf(call, await call.run('voice.hangup', { params, body: {} })))
  }
  return answer(callOf(call, await call.run('voice.redirect', { params, body: flowIn(call) })))
}

export async function listCalls(call: DoorCall): Promise<HookAnswer> {
  const sid = requireAccount(call)
  const { query } = call
  const size = Math.min(maxPage, Math.max(1, Number(query.get('PageSize') ?? 50) || 50))
  const number = query.get('To', 'From')
  const page = await call.run('voice.listCalls', {
    query: { limit: size, cursor: query.get('PageToken'), number: number && internationalNumber(number) },
  })
  const at = { size, number: Number(query.get('Page') ?? 0) || 0 }
  return answer(
    pageOf(call, `/${apiVersion}/Accounts/${sid}/Calls.json`, 'calls', page, at, (row) => callOf(call, row)),
  )
}

function callId({ params }: DoorCall): { call_id: string } {
  return { call_id: ownId('CA', params.sid ?? '', 'call') }
}

function callOf(call: DoorCall, row: Reply): object {
  const sid = sidOf('CA', row.text('call_id'), 'call')
  const account = accountSid(call)
  const ended = row.maybe('ended_at')
  const parent = row.maybe('parent_call_id')
  const uri = `/${apiVersion}/Accounts/${account}/Calls/${sid}`
  return {
    sid,
    account_sid: account,
    parent_call_sid: parent && sidOf('CA', parent, 'call'),
    api_version: apiVersion,
    from: row.text('from'),
    from_formatted: row.text('from'),
    to: row.text('to'),
    to_formatted: row.text('to'),
    status: callStatus(row.text('status'), row.maybe('hangup_cause')),
    direction: row.text('direction') === 'inbound' ? 'inbound' : 'outbound-api',
    start_time: dateOf(row.maybe('answered_at')),
    end_time: dateOf(ended),
    duration: ended === null ? null : String(row.number('duration')),
    price: ended === null ? null : (-row.number('cost')).toFixed(5),
    price_unit: row.maybe('currency'),
    answered_by: null,
    forwarded_from: null,
    caller_name: null,
    group_sid: null,
    phone_number_sid: null,
    trunk_sid: null,
    queue_time: '0',
    date_created: dateOf(row.text('started_at')),
    date_updated: dateOf(ended ?? row.maybe('answered_at') ?? row.text('started_at')),
    uri: `${uri}.json`,
    subresource_uris: { recordings: `${uri}/Recordings.json` },
  }
}

export async function getRecording(call: DoorCall): Promise<HookAnswer> {
  const account = requireAccount(call)
  const [, name = '', ending = ''] = /^(RE\w+)(\.\w+)?$/.exec(call.params.file ?? '') ?? []
  const row = await call.run('voice.getRecording', { params: { recording_id: ownId('RE', name, 'recording') } })
  const file = row.maybe('file_url')
  if (ending === '.wav' || ending === '.mp3') {
    if (file === null || row.text('format') !== ending.slice(1))
      throw unsupported(`A recording of ${row.text('format')} as ${ending.slice(1)}`)
    return redirect(file, 302)
  }
  return answer({
    sid: name,
    account_sid: account,
    call_sid: sidOf('CA', row.text('call_id'), 'call'),
    api_version: apiVersion,
    status: file === null ? 'processing' : 'completed',
    channels: row.number('channels'),
    duration: String(row.number('duration')),
    uri: `/${apiVersion}/Accounts/${account}/Recordings/${name}.json`,
  })
}

export async function getBalance(call: DoorCall): Promise<HookAnswer> {
  const account_sid = requireAccount(call)
  const wallet = await call.run('wallet.balance')
  return answer({ account_sid, balance: wallet.number('balance').toFixed(2), currency: wallet.text('currency') })
}

export async function getAccount(call: DoorCall): Promise<HookAnswer> {
  const sid = requireAccount(call)
  const account = await call.run('account.get')
  return answer({
    sid,
    owner_account_sid: sid,
    friendly_name: account.text('name'),
    status: account.text('status'),
    type: 'Full',
    date_created: dateOf(account.text('created_at')),
    date_updated: dateOf(account.text('created_at')),
    uri: `/${apiVersion}/Accounts/${sid}.json`,
    subresource_uris: {},
  })
}
