// SPDX-License-Identifier: Apache-2.0
// Africa's Talking: texts, what came in, calls, balance and access tokens as its clients ask for them. Refused in its
// words: premium texts, airtime, queues and media.
import { AppError } from '../../kernel/errors.ts'
import { msOfId, timeOfUuid, uuidOf } from '../../kernel/ids.ts'
import type { Reply } from '../../platform/api/dialect.ts'
import { type Door, type DoorCall, internationalNumber } from '../../platform/api/door.ts'
import { type HookAnswer, text } from '../../platform/api/hook.ts'
import { dialect } from './callbacks.ts'
import { callAll } from './calls.ts'
import { messageIdOf, moneyOf } from './forms.ts'
import { xmlOf } from './xml.ts'

const maxBytes = 1024 * 1024
const maxRecipients = 1_000
/** Texts that came in, in one reply. */
const maxFetched = 100
const tokenSeconds = 3_600

type Fields = Readonly<Record<string, string | undefined>>

/** Status of a recipient: number and word. */
type Verdict = readonly [number, string]
const sent: Verdict = [101, 'Success']
const queued: Verdict = [102, 'Queued']
const otherwise: Verdict = [500, 'InternalServerError']
const insufficient: Verdict = [405, 'InsufficientBalance']

const verdicts: Readonly<Record<string, Verdict>> = {
  INVALID_PHONE: [403, 'InvalidPhoneNumber'],
  INSUFFICIENT_BALANCE: insufficient,
  OPTED_OUT: [406, 'UserInBlacklist'],
  NO_ROUTE: [407, 'CouldNotRoute'],
  COUNTRY_NOT_ENABLED: [407, 'CouldNotRoute'],
  PROVIDER_UNAVAILABLE: [501, 'GatewayError'],
  SENDER_NOT_ALLOWED: [402, 'InvalidSenderId'],
}

interface Recipient {
  statusCode: number
  number: string
  status: string
  cost: string
  messageId: string
  messageParts: number
}

export const africastalking: Door = {
  name: 'africastalking',
  title: 'Africa’s Talking',
  maxBytes,
  secretOf: ({ headers }) => firstOf(headers.apikey) ?? firstOf(headers.authtoken)?.replace(/^ATTkn_/, '') ?? null,
  routes: [
    { method: 'POST', path: '/version1/messaging', handle: (call) => sendTexts(call, formOf(call)) },
    { method: 'POST', path: '/version1/messaging/bulk', handle: (call) => sendTexts(call, bulkOf(call)) },
    { method: 'GET', path: '/version1/messaging', handle: fetchTexts },
    { method: 'POST', path: '/call', handle: placeCalls },
    { method: 'GET', path: '/version1/user', handle: user },
    { method: 'POST', path: '/auth-token/generate', handle: token },
    { method: 'POST', path: '/version1/airtime/send', handle: refuseAirtime },
  ],
  refused,
  dialect,
}

function firstOf(value: string | string[] | undefined): string | null {
  return (Array.isArray(value) ? value[0] : value) ?? null
}

function formOf({ form }: DoorCall): Fields {
  const names = ['username', 'to', 'message', 'from', 'bulkSMSMode', 'enqueue']
  return Object.fromEntries(names.map((name) => [name, form.get(name)]))
}

/** Fields of the JSON body that bulk texts have. */
function bulkOf({ json }: DoorCall): Fields {
  const { username, message, senderId, phoneNumbers, enqueue } = Object(json)
  const to = Array.isArray(phoneNumbers) ? phoneNumbers.join(',') : undefined
  const texts = { username, message, from: senderId, to, enqueue: enqueue ? '1' : undefined }
  return Object.fromEntries(Object.entries(texts).map(([name, value]) => [name, value ? String(value) : undefined]))
}

async function sendTexts(call: DoorCall, given: Fields): Promise<HookAnswer> {
  requireUser(given.username)
  if (given.bulkSMSMode === '0') throw new AppError('INVALID_REQUEST', 'Premium messages are not supported')
  const to = (given.to ?? '').split(',').filter((one) => one.trim() !== '')
  if (to.length === 0 || to.length > maxRecipients)
    throw new AppError('INVALID_REQUEST', `to must have 1 to ${maxRecipients} numbers, separated by commas`)
  const numbers = [...new Set(to.map(internationalNumber))]
  const from = given.from ?? (await defaultSender(call))
  const text = { from, message: given.message ?? '' }
  const word = given.enqueue === '1' ? queued : sent
  return sentTo(call, await recipientsOf(call, numbers, text, word))
}

/** Verdict for each recipient. Where the money is not enough for all, those that can be paid for go, in order. */
async function recipientsOf(
  call: DoorCall,
  numbers: readonly string[],
  text: { from: string; message: string },
  word: Verdict,
): Promise<Recipient[]> {
  try {
    return recipientsIn(await call.run('sms.send', { body: { to: numbers, ...text } }), word)
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    const told = refusalsIn(error)
    if (told) return told
    if (error.code !== 'INSUFFICIENT_BALANCE') throw error
    return numbers.length === 1 ? [refusedNumber(numbers[0] ?? '', insufficient)] : oneByOne(call, numbers, text, word)
  }
}

async function oneByOne(
  call: DoorCall,
  numbers: readonly string[],
  text: { from: string; message: string },
  word: Verdict,
): Promise<Recipient[]> {
  const recipients: Recipient[] = []
  for (const [i, number] of numbers.entries()) {
    try {
      const reply = await call.run('sms.send', { body: { to: [number], ...text }, part: String(i) })
      recipients.push(...recipientsIn(reply, word))
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      recipients.push(refusedNumber(number, verdicts[error.code] ?? otherwise))
    }
  }
  return recipients
}

function recipientsIn(reply: Reply, word: Verdict): Recipient[] {
  return reply.list('messages').map((one) => {
    const code = one.maybe('error_code')
    const id = one.maybe('message_id')
    if (code !== null || id === null) return refusedNumber(one.text('to'), verdicts[code ?? ''] ?? otherwise)
    const [statusCode, status] = word
    return {
      statusCode,
      number: one.text('to'),
      status,
      cost: moneyOf(one.number('cost'), one.text('currency')),
      messageId: messageIdOf(one.text('message_id')),
      messageParts: one.number('segments'),
    }
  })
}

/** Verdicts of a request of which nothing was accepted; null when it was refused for another reason. */
function refusalsIn({ code, extras }: AppError): Recipient[] | null {
  const problems = extras.extra?.errors
  if (code === 'SENDER_NOT_ALLOWED' || !Array.isArray(problems)) return null
  return problems.map((problem) => {
    const { to, error_code } = Object(problem)
    return refusedNumber(String(to), verdicts[String(error_code)] ?? otherwise)
  })
}

function refusedNumber(number: string, [statusCode, status]: Verdict): Recipient {
  return { statusCode, number, status, cost: '0', messageId: 'None', messageParts: 0 }
}

function sentTo(call: DoorCall, recipients: readonly Recipient[]): HookAnswer {
  const accepted = recipients.filter(({ messageId }) => messageId !== 'None')
  const currency = accepted[0]?.cost.split(' ')[0] ?? ''
  const total = accepted.reduce((sum, { cost }) => sum + Math.round(Number(cost.split(' ')[1]) * 10_000), 0)
  const cost = currency === '' ? '0' : moneyOf(total / 10_000, currency)
  const Message = `Sent to ${accepted.length}/${recipients.length} Total Cost: ${cost}`
  return answer(call, { SMSMessageData: { Message, Recipients: recipients } }, 201)
}

async function defaultSender(call: DoorCall): Promise<string> {
  const account = await call.run('account.get')
  const sender = account.part('settings').maybe('default_sender')
  if (sender === null) throw new AppError('SENDER_NOT_ALLOWED', 'from is missing and the account has no default_sender')
  return sender
}

/** Texts that came in after one of them, oldest first. */
async function fetchTexts(call: DoorCall): Promise<HookAnswer> {
  requireUser(call.query.get('username'))
  const after = Number(call.query.get('lastReceivedId') ?? 0)
  const since = Number.isSafeInteger(after) && after > 0 ? new Date(Math.floor(after / 4_096)) : null
  const shortCode = call.query.get('shortCode')
  const keyword = call.query.get('keyword')?.toUpperCase()
  const query = {
    direction: 'inbound',
    limit: maxFetched,
    order: 'asc',
    ...(since ? { start_date: since.toISOString() } : {}),
    ...(shortCode ? { to: shortCode } : {}),
  }
  const page = await call.run('sms.list', { query })
  const texts = page
    .list('data')
    .map((one) => ({ one, id: numberOf(one.text('message_id')) }))
    .filter(({ id, one }) => id > after && (!keyword || (one.maybe('message') ?? '').toUpperCase().startsWith(keyword)))
    .map(({ one, id }) => ({
      id,
      from: one.text('from'),
      to: one.text('to'),
      text: one.maybe('message') ?? '',
      date: one.text('created_at'),
      linkId: '',
    }))
  return answer(call, { SMSMessageData: { Messages: texts } }, 200)
}

/** Whole number of an id: its milliseconds and its counter, so that later ones are larger. */
function numberOf(id: string): number {
  const uuid = uuidOf('smsInbound', id)
  const ms = uuid === null ? msOfId(id) : timeOfUuid(uuid).getTime()
  return (ms ?? 0) * 4_096 + Number.parseInt(uuid?.slice(15, 18) ?? '0', 16)
}

async function placeCalls(call: DoorCall): Promise<HookAnswer> {
  requireUser(call.form.get('username'))
  return answer(call, await callAll(call), 201)
}

async function user(call: DoorCall): Promise<HookAnswer> {
  requireUser(call.query.get('username'))
  const balance = await call.run('wallet.balance')
  return answer(call, { UserData: { balance: moneyOf(balance.number('balance'), balance.text('currency')) } }, 200)
}

async function token(call: DoorCall): Promise<HookAnswer> {
  const made = await call.run('auth.token', { body: { expires_in: tokenSeconds } })
  const lifetimeInSeconds = made.number('expires_in')
  return answer(call, { token: `ATTkn_${made.text('access_token')}`, lifetimeInSeconds, description: 'Success' }, 200)
}

async function refuseAirtime(call: DoorCall): Promise<HookAnswer> {
  const nothing = { numSent: 0, totalAmount: '0', totalDiscount: '0', responses: [] }
  return answer(call, { errorMessage: 'Airtime is not supported by Pamoja', ...nothing }, 400)
}

function requireUser(name: string | undefined): void {
  if (!name) throw new AppError('INVALID_REQUEST', 'username is missing')
}

function answer({ headers }: Pick<DoorCall, 'headers'>, value: object, status: number): HookAnswer {
  return inForm(headers.accept ?? '', value, status)
}

/** JSON without a charset, which the Python client would take for text; or XML where it is asked for. Bytes get no charset. */
function inForm(accept: string, value: object, status: number): HookAnswer {
  const isXml = /\bxml\b/.test(accept) && !/json/.test(accept)
  const type = isXml ? 'application/xml' : 'application/json'
  return { status, headers: { 'content-type': type }, body: Buffer.from(isXml ? xmlOf(value) : JSON.stringify(value)) }
}

function refused(error: AppError, { path, accept }: { path: string; accept: string }): HookAnswer {
  const { code, status, details } = error
  if (code === 'UNAUTHORIZED') return text('The supplied authentication is invalid', 401)
  if (code === 'SENDER_NOT_ALLOWED')
    return inForm(accept, { SMSMessageData: { Message: 'InvalidSenderId', Recipients: [] } }, 201)
  const isTexts = path.startsWith('/version1/messaging') || path.startsWith('/version1/subscription')
  const words = details || code
  const body = isTexts
    ? { SMSMessageData: { Message: words, Recipients: [] } }
    : { errorMessage: words, ...(path === '/call' ? { entries: [] } : {}) }
  // The programs of this dialect read of a number that may not call, rather than to be thrown at.
  if (path === '/call' && code === 'NUMBER_NOT_OWNED') return inForm(accept, body, 201)
  return inForm(accept, body, status === 404 || status === 422 ? 400 : status)
}
