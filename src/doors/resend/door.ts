// SPDX-License-Identifier: Apache-2.0
// Resend: mail, one or up to a hundred at once, read, listed, moved and cancelled. Its ids are the UUIDs of ours.
import { parseMailbox } from '../../kernel/email-address.ts'
import { AppError } from '../../kernel/errors.ts'
import { idOf, uuidOf } from '../../kernel/ids.ts'
import { parseMoment } from '../../kernel/time.ts'
import type { Reply } from '../../platform/api/dialect.ts'
import { type Door, type DoorCall, notHere } from '../../platform/api/door.ts'
import type { HookAnswer } from '../../platform/api/hook.ts'
import { dialect } from './callbacks.ts'

/** Files are held in memory while they pass; larger ones go to the own API. */
const maxBytes = 17 * 1024 * 1024
const maxBatch = 100

type Fields = Readonly<Record<string, unknown>>

export const resend: Door = {
  name: 'resend',
  title: 'Resend',
  maxBytes,
  secretOf: ({ headers }) => /^Bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1] ?? null,
  routes: [
    { method: 'POST', path: '/emails', handle: send },
    { method: 'POST', path: '/emails/batch', handle: sendBatch },
    { method: 'GET', path: '/emails', handle: list },
    { method: 'GET', path: '/emails/:id', handle: get },
    { method: 'PATCH', path: '/emails/:id', handle: reschedule },
    { method: 'POST', path: '/emails/:id/cancel', handle: cancel },
  ],
  refused,
  dialect,
}

async function send(call: DoorCall): Promise<HookAnswer> {
  const sent = await call.run('email.send', { body: mailOf(fieldsOf(call.json)) })
  return answer({ id: uuidOfMail(sent.text('message_id')) })
}

/** `strict`: what is wrong with one is found before any is sent. `permissive`: the others are sent. */
async function sendBatch(call: DoorCall): Promise<HookAnswer> {
  const mails = Array.isArray(call.json) ? call.json.map(fieldsOf) : []
  if (mails.length < 1 || mails.length > maxBatch)
    throw refusal(422, 'validation_error', `The batch must have 1 to ${maxBatch} emails.`)
  const isPermissive = call.headers['x-batch-validation'] === 'permissive'
  const data: object[] = []
  const errors: object[] = []
  const bodies = mails.map((mail, index) => {
    try {
      return mailOf(mail)
    } catch (error) {
      if (!isPermissive || !(error instanceof AppError)) throw error
      errors.push({ index, message: error.details })
      return null
    }
  })
  for (const [index, body] of bodies.entries()) {
    if (body === null) continue
    try {
      const sent = await call.run('email.send', { body, part: String(index) })
      data.push({ id: uuidOfMail(sent.text('message_id')) })
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      if (!isPermissive) throw data.length === 0 ? error : halfway(error, data.length, bodies.length)
      errors.push({ index, message: error.details || error.code })
    }
  }
  return answer(isPermissive ? { data, errors } : { data })
}

/** What nobody could know before, such as that the money is not enough for all. */
function halfway(error: AppError, sent: number, total: number): AppError {
  return new AppError(error.code, `${error.details} (${sent} of ${total} emails were sent)`, error.extras)
}

async function get(call: DoorCall): Promise<HookAnswer> {
  const params = { message_id: ownId(call) }
  const mail = await call.run('email.get', { params })
  const part = async (name: 'html' | 'text'): Promise<string | null> => {
    try {
      return (await call.run('email.getContent', { params, query: { part: name } })).maybe('content')
    } catch (error) {
      if (error instanceof AppError && error.code === 'NOT_FOUND') return null
      throw error
    }
  }
  return answer({ object: 'email', ...shown(mail), html: await part('html'), text: await part('text') })
}

async function list(call: DoorCall): Promise<HookAnswer> {
  const { query } = call
  const [after, before] = [query.get('after'), query.get('before')]
  if (before !== undefined) throw refusal(422, 'validation_error', 'The `before` parameter is not supported by Pamoja.')
  const cursor = after === undefined ? undefined : idOf('email', uuidIn(after))
  const page = await call.run('email.list', { query: { limit: query.get('limit') ?? 20, cursor } })
  const hasMore = page.maybe('next_cursor') !== null
  return answer({ object: 'list', has_more: hasMore, data: page.list('data').map(shown) })
}

async function reschedule(call: DoorCall): Promise<HookAnswer> {
  const { scheduled_at } = fieldsOf(call.json)
  await call.run('email.reschedule', { params: { message_id: ownId(call) }, body: scheduled(scheduled_at) })
  return answer({ object: 'email', id: call.params.id })
}

async function cancel(call: DoorCall): Promise<HookAnswer> {
  await call.run('email.cancel', { params: { message_id: ownId(call) } })
  return answer({ object: 'email', id: call.params.id })
}

function shown(mail: Reply): object {
  const to = mail.raw('to')
  return {
    id: uuidOfMail(mail.text('message_id')),
    from: mail.text('from'),
    to: Array.isArray(to) ? to : [to],
    cc: mail.raw('cc'),
    bcc: mail.raw('bcc'),
    reply_to: null,
    subject: mail.text('subject'),
    created_at: mail.text('created_at'),
    scheduled_at: mail.maybe('scheduled_at'),
    last_event: lastEvent(mail),
  }
}

function lastEvent(mail: Reply): string {
  if (mail.maybe('clicked_at') !== null) return 'clicked'
  if (mail.maybe('opened_at') !== null) return 'opened'
  const status = mail.text('status')
  return status === 'cancelled' ? 'canceled' : status
}

/** Mail in the words of the own API; throws what is wrong with it. */
function mailOf(mail: Fields): object {
  for (const name of ['from', 'to'])
    if (mail[name] === undefined) throw refusal(422, 'missing_required_field', `Missing \`${name}\` field.`)
  const { template } = mail
  if (mail.html === undefined && mail.text === undefined && template === undefined)
    throw refusal(422, 'validation_error', 'Missing `html` or `text` field.')
  if (mail.subject === undefined && template === undefined)
    throw refusal(422, 'missing_required_field', 'Missing `subject` field.')
  const { id, variables } = fieldsOf(template)
  const [to, cc, bcc] = [mail.to, mail.cc, mail.bcc].map(addressesIn)
  return {
    ...{ from: mail.from, to, cc, bcc, subject: mail.subject, html: mail.html, text: mail.text },
    ...(mail.reply_to === undefined ? {} : { reply_to: addressesIn(mail.reply_to) }),
    headers: mail.headers,
    metadata: Object.fromEntries(listOf(mail.tags).map(({ name, value }) => [String(name), String(value)])),
    ...(mail.attachments === undefined ? {} : { attachments: listOf(mail.attachments).map(attachmentOf) }),
    ...(mail.scheduled_at === undefined ? {} : scheduled(mail.scheduled_at)),
    ...(template === undefined ? {} : { template: String(id), variables: variables ?? {} }),
  }
}

function addressesIn(given: unknown): string[] {
  const all = given === undefined || given === null ? [] : [given].flat()
  for (const one of all)
    if (typeof one !== 'string' || !parseMailbox(one))
      throw refusal(
        422,
        'validation_error',
        'Invalid email address. It needs to follow the `email@example.com` or `Name <email@example.com>` format.',
      )
  return all.map(String)
}

function attachmentOf({ filename, content, path, content_type, content_id }: Fields): object {
  if (path !== undefined)
    throw refusal(422, 'invalid_attachment', 'An attachment must have `content`: `path` is not supported by Pamoja.')
  const { data } = fieldsOf(content)
  const octets = Array.isArray(data) ? Buffer.from(data.map(Number)).toString('base64') : content
  if (typeof filename !== 'string' || typeof octets !== 'string')
    throw refusal(422, 'invalid_attachment', 'An attachment must have a `filename` and `content`.')
  return {
    ...{ filename, content: octets },
    ...(content_type === undefined ? {} : { contentType: content_type }),
    ...(content_id === undefined ? {} : { content_id, disposition: 'inline' }),
  }
}

function scheduled(given: unknown): object {
  if (typeof given !== 'string' || !parseMoment(given))
    throw refusal(422, 'validation_error', 'The `scheduled_at` field must be a time in ISO 8601.')
  return { scheduled_at: given }
}

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {}
}

const listOf = (value: unknown): Fields[] => (Array.isArray(value) ? value.map(fieldsOf) : [])

function uuidOfMail(id: string): string {
  return uuidOf('email', id) ?? id
}

function uuidIn(text: string): string {
  if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)) throw notHere(`The email ${text.slice(0, 40)}`)
  return text.toLowerCase()
}

function ownId({ params }: DoorCall): string {
  return idOf('email', uuidIn(params.id ?? ''))
}

function refusal(status: number, name: string, message: string): AppError {
  return new AppError('INVALID_REQUEST', message, { extra: { resend: `${status} ${name}` } })
}

/** Own code -> status and name. */
const names: Readonly<Record<string, readonly [number, string]>> = {
  FORBIDDEN: [401, 'restricted_api_key'],
  HTTPS_REQUIRED: [403, 'validation_error'],
  DOMAIN_NOT_VERIFIED: [403, 'validation_error'],
  DESTINATION_NOT_ALLOWED: [403, 'validation_error'],
  ACCOUNT_SUSPENDED: [403, 'validation_error'],
  ATTACHMENT_BLOCKED: [422, 'invalid_attachment'],
  ATTACHMENT_TOO_LARGE: [422, 'invalid_attachment'],
  DUPLICATE_REFERENCE: [409, 'invalid_idempotent_request'],
  REQUEST_IN_PROGRESS: [409, 'concurrent_idempotent_requests'],
  NOT_FOUND: [404, 'not_found'],
  TEMPLATE_NOT_FOUND: [404, 'not_found'],
  INSUFFICIENT_BALANCE: [429, 'monthly_quota_exceeded'],
}

function refused({ code, status, details, extras }: AppError): HookAnswer {
  const own = extras.extra?.resend
  const [given = '', known = ''] = typeof own === 'string' ? own.split(' ') : []
  const [statusCode, name] = known === '' ? nameOf(code, status, details) : [Number(given), known]
  return answer({ statusCode, name, message: details || code }, statusCode)
}

function nameOf(code: string, status: number, details: string): readonly [number, string] {
  if (code === 'UNAUTHORIZED') return /missing/.test(details) ? [401, 'missing_api_key'] : [403, 'invalid_api_key']
  if (status === 429) return [429, 'rate_limit_exceeded']
  if (status >= 500) return [500, 'internal_server_error']
  return names[code] ?? [422, 'validation_error']
}

function answer(value: object, status = 200): HookAnswer {
  return { status, headers: { 'content-type': 'application/json; charset=utf-8' }, body: JSON.stringify(value) }
}
