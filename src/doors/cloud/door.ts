// SPDX-License-Identifier: Apache-2.0
// WhatsApp Cloud API: messages, files and templates of the messenger. Its shapes are the own messenger's already; ids,
// numbers without a plus and errors differ.
import { AppError } from '../../kernel/errors.ts'
import { uuidOf } from '../../kernel/ids.ts'
import type { Dialect, Reply } from '../../platform/api/dialect.ts'
import { type Door, type DoorCall, internationalNumber } from '../../platform/api/door.ts'
import type { HookAnswer } from '../../platform/api/hook.ts'
import { decimalOf, messageIdOf, ownIdOf, unknownObject, wamidOf } from './forms.ts'

/** Files are held in memory while they pass; larger ones are uploaded to the own API. */
const maxBytes = 17 * 1024 * 1024

const taken = new Set(['text', 'image', 'video', 'audio', 'document', 'interactive', 'template'])
const mediaTypes = ['image', 'video', 'audio', 'document'] as const

const dialect: Dialect = {
  events: ['messenger.message', 'messenger.status'],
  tell({ name, payload }, { url, accountId }) {
    if (!dialect.events.includes(name)) return null
    const entry = payload.list('entry').map((one) => ({
      id: decimalOf('account', accountId),
      changes: one.list('changes').map((change) => ({ field: 'messages', value: inWords(change.raw('value')) })),
    }))
    const body = JSON.stringify({ object: 'whatsapp_business_account', entry })
    return { method: 'POST', url, contentType: 'application/json', body }
  },
}

/** Value of a change with the names and ids of the Cloud API. */
function inWords(value: unknown, name = ''): unknown {
  if (Array.isArray(value)) return value.map((one) => inWords(one, name))
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, inWords(one, key)]))
  if (typeof value !== 'string') return value
  if (name === 'messaging_product') return 'whatsapp'
  // Only ids: what a person wrote may look like one.
  if (name !== 'id' && name !== 'message_id') return value
  if (uuidOf('messengerMessage', value) !== null) return wamidOf(value)
  return uuidOf('media', value) === null ? value : decimalOf('media', value)
}

export const cloud: Door = {
  name: 'cloud',
  title: 'the WhatsApp Cloud API',
  maxBytes,
  secretOf({ headers, query }) {
    const [, key] = /^Bearer +(\S+)$/i.exec(headers.authorization ?? '') ?? []
    return key ?? query.get('access_token')
  },
  routes: [
    { method: 'POST', path: '/:version/:number/messages', handle: message },
    { method: 'POST', path: '/:version/:number/media', handle: upload },
    { method: 'GET', path: '/:version/:business/message_templates', handle: listTemplates },
    { method: 'POST', path: '/:version/:business/message_templates', handle: createTemplate },
    { method: 'DELETE', path: '/:version/:business/message_templates', handle: deleteTemplate },
    { method: 'GET', path: '/:version/:business/subscribed_apps', handle: listApps },
    { method: 'POST', path: '/:version/:business/subscribed_apps', handle: changeApps },
    { method: 'DELETE', path: '/:version/:business/subscribed_apps', handle: changeApps },
    { method: 'GET', path: '/:version/:media', handle: getObject },
    { method: 'POST', path: '/:version/:template', handle: changeTemplate },
    { method: 'DELETE', path: '/:version/:media', handle: deleteMedia },
  ],
  refused,
  dialect,
}

function requireVersion({ params }: DoorCall): void {
  if (!/^v\d+\.\d+$/.test(params.version ?? '')) throw unknownObject(params.version ?? '')
}

async function message(call: DoorCall): Promise<HookAnswer> {
  requireVersion(call)
  const given: Record<string, unknown> = { ...Object(call.json ?? {}) }
  if (given.status === 'read') {
    await call.run('messenger.markRead', {
      params: { id: messageIdOf(String(given.message_id)) },
      body: { typing: given.typing_indicator !== undefined },
    })
    return answer({ success: true })
  }
  const type = String(given.type ?? 'text')
  if (!taken.has(type)) throw refusal(131051, `Message type ${type} is not supported`)
  const { messaging_product: _, recipient_type: __, biz_opaque_callback_data: ___, ...rest } = given
  const to = String(given.to ?? '')
  const body = { ...rest, type, to: internationalNumber(to), ...contextOf(given.context), ...mediaIn(given) }
  const sent = await call.run('messenger.send', { body })
  return answer({
    messaging_product: 'whatsapp',
    contacts: [{ input: to, wa_id: sent.text('to').replace('+', '') }],
    messages: [{ id: wamidOf(sent.text('message_id')) }],
  })
}

function contextOf(given: unknown): object {
  const { message_id } = Object(given ?? {})
  return typeof message_id === 'string' ? { context: { message_id: messageIdOf(message_id) } } : {}
}

/** Files by id, with the own one. */
function mediaIn(given: Readonly<Record<string, unknown>>): object {
  return Object.fromEntries(
    mediaTypes.flatMap((type) => {
      const file = Object(given[type] ?? {})
      return typeof file.id === 'string' ? [[type, { ...file, id: ownIdOf('media', file.id) }]] : []
    }),
  )
}

async function upload(call: DoorCall): Promise<HookAnswer> {
  requireVersion(call)
  const raw = { contentType: call.headers['content-type'] ?? '', bytes: call.bytes }
  const kept = await call.run('messenger.uploadMedia', { raw })
  return answer({ id: decimalOf('media', kept.text('media_id')) })
}

/** A file, or else a template: their ids have the same form. */
async function getObject(call: DoorCall): Promise<HookAnswer> {
  requireVersion(call)
  try {
    return await getMedia(call)
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'NOT_FOUND') throw error
    const id = ownIdOf('messengerTemplate', call.params.media ?? '')
    return answer(templateOf(await call.run('messenger.getTemplate', { params: { id } })))
  }
}

/** The file itself is below the own API, and wants the same key. */
async function getMedia(call: DoorCall): Promise<HookAnswer> {
  const id = ownIdOf('media', call.params.media ?? '')
  const info = await call.run('messenger.getMediaInfo', { params: { id } })
  return answer({
    messaging_product: 'whatsapp',
    url: call.baseUrl.replace(/\/compat\/cloud$/, `/api/v1/messenger/media/${id}`),
    mime_type: info.text('type'),
    sha256: info.text('sha256'),
    file_size: info.number('file_size'),
    id: call.params.media,
  })
}

async function deleteMedia(call: DoorCall): Promise<HookAnswer> {
  requireVersion(call)
  await call.run('messenger.deleteMedia', { params: { id: ownIdOf('media', call.params.media ?? '') } })
  return answer({ success: true })
}

async function listTemplates(call: DoorCall): Promise<HookAnswer> {
  requireVersion(call)
  const { query } = call
  const wanted = { limit: query.get('limit'), cursor: query.get('after'), name: query.get('name') }
  const page = await call.run('messenger.listTemplates', {
    query: { ...wanted, status: query.get('status'), language: query.get('language') },
  })
  const after = page.maybe('next_cursor')
  const cursors = { before: query.get('after') ?? '', after: after ?? '' }
  const next = after === null ? {} : { next: `${call.baseUrl}${call.path}?${query.with({ after })}` }
  return answer({ data: page.list('data').map(templateOf), paging: { cursors, ...next } })
}

function templateOf(row: Reply): object {
  const fields = ['name', 'status', 'category', 'language', 'components'].map((name) => [name, row.raw(name)])
  return { id: decimalOf('messengerTemplate', row.text('id')), ...Object.fromEntries(fields) }
}

async function createTemplate(call: DoorCall): Promise<HookAnswer> {
  requireVersion(call)
  const { name, language, category, components } = Object(call.json ?? {})
  const made = await call.run('messenger.createTemplate', { body: { name, language, category, components } })
  const { id, status } = { id: decimalOf('messengerTemplate', made.text('id')), status: made.text('status') }
  return answer({ id, status, category: made.text('category') })
}

async function changeTemplate(call: DoorCall): Promise<HookAnswer> {
  requireVersion(call)
  const id = ownIdOf('messengerTemplate', call.params.template ?? '')
  const { components } = Object(call.json ?? {})
  await call.run('messenger.changeTemplate', { params: { id }, body: { components } })
  return answer({ success: true })
}

/** Webhooks are made in Pamoja, which tells them without a subscription. */
async function listApps(call: DoorCall): Promise<HookAnswer> {
  requireVersion(call)
  return answer({ data: [] })
}

async function changeApps(call: DoorCall): Promise<HookAnswer> {
  requireVersion(call)
  return answer({ success: true })
}

async function deleteTemplate(call: DoorCall): Promise<HookAnswer> {
  requireVersion(call)
  const [name, id] = [call.query.get('name'), call.query.get('hsm_id')]
  const page = await call.run('messenger.listTemplates', { query: { name, limit: 200 } })
  const named = page.list('data').map((row) => row.text('id'))
  const gone = id === undefined ? named : named.filter((one) => decimalOf('messengerTemplate', one) === id)
  if (gone.length === 0) throw unknownObject(name ?? '')
  for (const [i, one] of gone.entries())
    await call.run('messenger.deleteTemplate', { params: { id: one }, part: String(i) })
  return answer({ success: true })
}

/** Refusal with a code of the Cloud API. */
function refusal(cloud: number, details: string): AppError {
  return new AppError('INVALID_REQUEST', details, { extra: { cloud } })
}

/** Own code → HTTP status and code. Codes of the messenger that are numbers are the Cloud API's. */
const codes: Readonly<Record<string, readonly [number, number]>> = {
  UNAUTHORIZED: [401, 190],
  FORBIDDEN: [403, 10],
  ACCOUNT_SUSPENDED: [403, 10],
  INVALID_PHONE: [400, 131009],
  RATE_LIMITED: [429, 130429],
  INSUFFICIENT_BALANCE: [402, 131042],
  TEMPLATE_NOT_FOUND: [400, 132001],
}

function refused({ code, status, details, extras }: AppError, { requestId }: { requestId: string }): HookAnswer {
  const own = extras.extra?.cloud
  const number = typeof own === 'number' ? own : /^\d+$/.test(code) ? Number(code) : null
  const [http, shown] =
    number === null
      ? (codes[code] ?? (status >= 500 ? [500, 131000] : [400, 100]))
      : [number === 130429 ? 429 : 400, number]
  const error = {
    message: `(#${shown}) ${details || code}`,
    type: 'OAuthException',
    code: shown,
    ...(code === 'NOT_FOUND' ? { error_subcode: 33 } : {}),
    error_data: { messaging_product: 'whatsapp', details: details || code },
    fbtrace_id: requestId,
  }
  return answer({ error }, http)
}

function answer(value: object, status = 200): HookAnswer {
  return { status, headers: { 'content-type': 'application/json; charset=utf-8' }, body: JSON.stringify(value) }
}
