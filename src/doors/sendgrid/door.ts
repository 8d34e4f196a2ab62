// SPDX-License-Identifier: Apache-2.0
// SendGrid: v3 mail/send. Each personalization is one mail; what can be known to be wrong is found before any is sent.
import { parseMailbox } from '../../kernel/email-address.ts'
import { AppError } from '../../kernel/errors.ts'
import { idOf } from '../../kernel/ids.ts'
import { type Door, type DoorCall, uuidInHex } from '../../platform/api/door.ts'
import type { HookAnswer } from '../../platform/api/hook.ts'
import { dialect, hexOf } from './callbacks.ts'

/** Files are held in memory while they pass; larger ones go to the own API. */
const maxBytes = 17 * 1024 * 1024
const maxPersonalizations = 1_000
const maxRecipients = 50

type Fields = Readonly<Record<string, unknown>>

export const sendgrid: Door = {
  name: 'sendgrid',
  title: 'SendGrid',
  maxBytes,
  secretOf: ({ headers }) => /^Bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1] ?? null,
  routes: [
    { method: 'POST', path: '/v3/mail/send', handle: send },
    { method: 'GET', path: '/v3/scopes', handle: scopes },
  ],
  refused,
  dialect,
}

async function scopes(call: DoorCall): Promise<HookAnswer> {
  const { headers } = answer({}, 200)
  const me = await call.run('auth.whoami')
  return { status: 200, headers, body: JSON.stringify({ scopes: me.raw('scopes') ?? [] }) }
}

async function send(call: DoorCall): Promise<HookAnswer> {
  const mail = fieldsOf(call.json)
  const people = listOf(mail.personalizations)
  if (people.length < 1 || people.length > maxPersonalizations)
    throw refusal(
      'personalizations',
      `The personalizations field is required and must have 1 to ${maxPersonalizations} items.`,
    )
  const common = commonOf(mail)
  const bodies = people.map((person, i) => ({ ...common, ...mailOf(mail, person, `personalizations.${i}`) }))
  if (fieldsOf(fieldsOf(mail.mail_settings).sandbox_mode).enable === true) return { ...answer({}, 200), body: '' }
  let first: string | null = null
  for (const [i, body] of bodies.entries()) {
    const sent = await call.run('email.send', { body, part: String(i) }).catch((error: unknown) => {
      throw error instanceof AppError && i > 0 ? halfway(error, i, bodies.length) : error
    })
    first ??= hexOf(sent.text('message_id'))
  }
  return { status: 202, headers: { 'x-message-id': first ?? '' }, body: '' }
}

/** What nobody could know before, such as that the money is not enough for all. */
function halfway(error: AppError, sent: number, total: number): AppError {
  return new AppError(error.code, `${error.details} (${sent} of ${total} personalizations were sent)`, error.extras)
}

/** What all mails of a request share. */
function commonOf(mail: Fields): object {
  const tracking = fieldsOf(mail.tracking_settings)
  const counts = (name: string): boolean => fieldsOf(tracking[name]).enable !== false
  const replyTo = mail.reply_to_list ?? (mail.reply_to === undefined ? undefined : [mail.reply_to])
  const attachments = listOf(mail.attachments).map(attachmentOf)
  return {
    from: addressOf(mail.from, 'from'),
    ...(replyTo === undefined ? {} : { reply_to: addressesOf(replyTo, 'reply_to') }),
    ...(attachments.length === 0 ? {} : { attachments }),
    ...(Array.isArray(mail.categories) ? { tags: mail.categories.map(String) } : {}),
    tracking: { opens: counts('open_tracking'), clicks: counts('click_tracking') },
  }
}

function mailOf(mail: Fields, person: Fields, at: string): object {
  const template = templateOf(mail.template_id)
  const to = addressesOf(person.to, `${at}.to`)
  const cc = addressesOf(person.cc, `${at}.cc`)
  const bcc = addressesOf(person.bcc, `${at}.bcc`)
  if (to.length === 0) throw refusal(`${at}.to`, 'The to array is required for all personalization objects.')
  if (to.length + cc.length + bcc.length > maxRecipients)
    throw refusal(`${at}.to`, `A personalization must have at most ${maxRecipients} recipients.`)
  const subject = person.subject ?? mail.subject
  if (template === null && (typeof subject !== 'string' || subject === ''))
    throw refusal('subject', 'The subject is required. You can get around this requirement if you use a template.')
  const swapped = swapper(fieldsOf(person.substitutions))
  const sendAt = person.send_at ?? mail.send_at
  const metadata = { ...fieldsOf(mail.custom_args), ...fieldsOf(person.custom_args) }
  return {
    ...{ to, cc, bcc },
    ...(typeof subject === 'string' ? { subject: swapped(subject) } : {}),
    headers: { ...fieldsOf(mail.headers), ...fieldsOf(person.headers) },
    metadata: Object.fromEntries(Object.entries(metadata).map(([name, value]) => [name, String(value)])),
    ...(sendAt === undefined ? {} : { scheduled_at: momentOf(sendAt) }),
    ...(template === null
      ? contentOf(mail.content, swapped)
      : { template, variables: fieldsOf(person.dynamic_template_data) }),
  }
}

/** Time of `send_at`, which is seconds since 1970. */
function momentOf(sendAt: unknown): string {
  const moment = new Date(typeof sendAt === 'number' ? sendAt * 1000 : Number.NaN)
  if (Number.isNaN(moment.getTime())) throw refusal('send_at', 'The send_at parameter must be seconds since 1970.')
  return moment.toISOString()
}

function contentOf(content: unknown, swapped: (text: string) => string): object {
  const given = listOf(content)
  const part = (type: string): string | undefined => {
    const found = given.find((one) => String(one.type).startsWith(type))?.value
    return typeof found === 'string' && found !== '' ? swapped(found) : undefined
  }
  const [html, text] = [part('text/html'), part('text/plain')]
  if (html === undefined && text === undefined)
    throw refusal('content', 'Unless a valid template_id is provided, the content parameter is required.')
  return { ...(html === undefined ? {} : { html }), ...(text === undefined ? {} : { text }) }
}

/** Replaces the names of substitutions by their values, as they are written. */
function swapper(substitutions: Fields): (text: string) => string {
  const pairs = Object.entries(substitutions)
  return (text) => pairs.reduce((said, [name, value]) => said.replaceAll(name, String(value)), text)
}

function templateOf(given: unknown): string | null {
  if (given === undefined) return null
  const uuid = uuidInHex('d-', String(given))
  if (uuid === null) throw refusal('template_id', 'The template_id must be a valid dynamic template: d- and 32 digits.')
  return idOf('emailTemplate', uuid)
}

function attachmentOf({ content, filename, type, disposition, content_id }: Fields, i: number): object {
  if (typeof content !== 'string' || typeof filename !== 'string')
    throw refusal(`attachments.${i}`, 'The attachment must have content and a filename.')
  return {
    ...{ content, filename },
    ...(type === undefined ? {} : { contentType: type }),
    ...(disposition === undefined ? {} : { disposition }),
    ...(content_id === undefined ? {} : { content_id }),
  }
}

function addressesOf(given: unknown, field: string): string[] {
  return listOf(given).map((one, i) => addressOf(one, `${field}.${i}`))
}

/** `Name <address>` of an object with both. */
function addressOf(given: unknown, field: string): string {
  const { email, name } = typeof given === 'string' ? { email: given, name: undefined } : fieldsOf(given)
  const bare = typeof email === 'string' ? parseMailbox(email) : null
  if (!bare) throw refusal(`${field}.email`, 'Does not contain a valid address.')
  const shown = typeof name === 'string' ? name.replace(/["\\<>\p{Cc}]/gu, ' ').trim() : ''
  return shown === '' ? String(email) : `"${shown}" <${bare.address}>`
}

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {}
}

const listOf = (value: unknown): Fields[] => (Array.isArray(value) ? value.map(fieldsOf) : [])

function refusal(field: string, message: string): AppError {
  return new AppError('INVALID_REQUEST', message, { extra: { sendgrid: field } })
}

/** Own code -> status and field. */
const statuses: Readonly<Record<string, readonly [number, string | null]>> = {
  UNAUTHORIZED: [401, null],
  FORBIDDEN: [403, null],
  HTTPS_REQUIRED: [403, null],
  DOMAIN_NOT_VERIFIED: [403, 'from'],
  INSUFFICIENT_BALANCE: [403, null],
  ACCOUNT_SUSPENDED: [403, null],
  TEMPLATE_NOT_FOUND: [400, 'template_id'],
  ATTACHMENT_TOO_LARGE: [413, 'attachments'],
  ATTACHMENT_BLOCKED: [400, 'attachments'],
  NOT_FOUND: [404, null],
  REQUEST_IN_PROGRESS: [409, null],
  DUPLICATE_REFERENCE: [409, null],
}

function refused({ code, status, details, extras }: AppError): HookAnswer {
  const own = extras.extra?.sendgrid
  const [http, field] =
    typeof own === 'string'
      ? [400, own]
      : (statuses[code] ?? [status >= 500 || status === 429 || status === 413 ? status : 400, null])
  return answer({ errors: [{ message: details || code, field, help: null }] }, http)
}

function answer(value: object, status: number): HookAnswer {
  return { status, headers: { 'content-type': 'application/json' }, body: JSON.stringify(value) }
}
