// SPDX-License-Identifier: Apache-2.0
// Messages to `whatsapp:` addresses: texts of the own messenger.
import type { Reply } from '../../platform/api/dialect.ts'
import { type DoorCall, internationalNumber } from '../../platform/api/door.ts'
import { accountSid, apiVersion, callbackTo, dateOf, sidOf, twilioError, unsupported } from './forms.ts'

const prefix = 'whatsapp:'

export function isWhatsApp(address: string): boolean {
  return address.startsWith(prefix)
}

export async function sendWhatsApp(call: DoorCall, to: string, message: string): Promise<object> {
  const { form } = call
  const from = form.get('From')
  if (from === undefined || !isWhatsApp(from)) throw twilioError(21603, "A 'From' address with whatsapp: is required.")
  if (form.get('SendAt')) throw unsupported('SendAt of a WhatsApp message')
  const statusCallback = form.get('StatusCallback')
  const body = {
    to: internationalNumber(to.slice(prefix.length)),
    type: 'text',
    text: { body: message },
    ...(statusCallback ? { callback_url: callbackTo(statusCallback, undefined) } : {}),
  }
  const made = await call.run('messenger.send', { body })
  return shown(call, made, { from, message, created: made.text('timestamp') })
}

/** Message that was read. */
export function whatsAppOf(call: DoorCall, row: Reply): object {
  const message = row.part('text').maybe('body') ?? ''
  return shown(call, row, { from: addressOf(row.text('from')), message, created: row.text('accepted_at') })
}

interface About {
  readonly from: string
  readonly message: string
  readonly created: string
}

function shown(call: DoorCall, row: Reply, { from, message, created }: About): object {
  const sid = sidOf('SM', row.text('message_id'), 'messengerMessage')
  const account = accountSid(call)
  const sent = row.maybe('sent_at')
  const [error] = row.list('errors')
  const code = error ? channelCode(error.text('code')) : null
  const uri = `/${apiVersion}/Accounts/${account}/Messages/${sid}.json`
  return {
    sid,
    account_sid: account,
    messaging_service_sid: null,
    api_version: apiVersion,
    body: message,
    from,
    to: addressOf(row.text('to')),
    status: statuses[row.text('status')] ?? row.text('status'),
    direction: row.maybe('direction') === 'inbound' ? 'inbound' : 'outbound-api',
    num_segments: '1',
    num_media: '0',
    price: sent === null ? null : (-row.number('cost')).toFixed(5),
    price_unit: row.maybe('currency'),
    error_code: code,
    error_message: error?.maybe('title') ?? null,
    date_created: dateOf(created),
    date_updated: dateOf(
      row.maybe('read_at') ?? row.maybe('delivered_at') ?? row.maybe('failed_at') ?? sent ?? created,
    ),
    date_sent: dateOf(sent),
    uri,
    subresource_uris: { media: uri.replace('.json', '/Media.json') },
  }
}

const statuses: Readonly<Record<string, string>> = { accepted: 'queued' }

/** Code of the Cloud API → code of Twilio's WhatsApp channel. */
const channelCodes: Readonly<Record<string, number>> = { '131047': 63016, '131026': 63024, '130429': 63018 }

function channelCode(code: string): number {
  return channelCodes[code] ?? 63005
}

/** `whatsapp:+254711000001`. */
function addressOf(number: string): string {
  return `${prefix}+${number.replace(/\D/g, '')}`
}

/** Fields that tell what became of a message. */
export function whatsAppReport(payload: Reply, AccountSid: string): Record<string, string> | null {
  const [change] = payload.list('entry').flatMap((entry) => entry.list('changes'))
  const value = change?.part('value')
  const [told] = value?.list('statuses') ?? []
  if (!value || !told) return null
  const sid = sidOf('SM', told.text('id'), 'messengerMessage')
  const status = told.text('status')
  const [error] = told.list('errors')
  return {
    MessageSid: sid,
    SmsSid: sid,
    MessageStatus: status,
    SmsStatus: status,
    AccountSid,
    From: addressOf(value.part('metadata').text('display_phone_number')),
    To: addressOf(told.text('recipient_id')),
    ChannelPrefix: 'whatsapp',
    ApiVersion: apiVersion,
    ...(error ? { ErrorCode: String(channelCode(error.text('code'))) } : {}),
  }
}
