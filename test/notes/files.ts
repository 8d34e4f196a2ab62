// SPDX-License-Identifier: Apache-2.0
// Files of notes: an example of every kind of route that bytes come and go by, and of a hook with a signed body.
import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Type } from 'typebox'
import { AppError } from '../../src/kernel/errors.ts'
import { newUuid } from '../../src/kernel/ids.ts'
import { hook, json, redirect, status, text } from '../../src/platform/api/hook.ts'
import { download, IdParam, multipart, noContent, read, write } from '../../src/platform/api/route.ts'
import type { App } from '../../src/platform/app.ts'
import type { Caller } from '../../src/platform/auth.ts'
import { maybe, type Queryable, statement } from '../../src/platform/db.ts'
import { Nullable } from '../../src/platform/schema/fields.ts'
import { mine, type Tenant } from '../../src/platform/tenant.ts'

export const maxFileBytes = 256 * 1024

const Title = Type.String({ minLength: 1, maxLength: 100, rule: 'must have 1 to 100 characters' })

const FileRecord = Type.Object(
  {
    file_id: Type.String(),
    name: Nullable(Type.String()),
    type: Type.String(),
    title: Type.String(),
    size: Type.Integer(),
    sha256: Type.String(),
  },
  { title: 'NoteFile' },
)

interface FileRow {
  id: string
  name: string | null
  type: string
  title: string
  size: number
  sha256: string
}

const insertFile = statement.tenant<Tenant & FileRow, object>(
  'notes.insert_file',
  `insert into notes.files (bucket, account_id, environment, id, name, type, title, size, sha256)
   values ($bucket, $account, $environment, $id, $name, $type, $title, $size, $sha256)`,
)

const findFile = statement.tenant<Tenant & { id: string }, FileRow>(
  'notes.find_file',
  `select id, name, type, title, size::int as size, sha256 from notes.files where ${mine} and id = $id`,
)

const renameFile = statement.tenant<Tenant & { id: string; title: string }, FileRow>(
  'notes.rename_file',
  `update notes.files set title = $title where ${mine} and id = $id
   returning id, name, type, title, size::int as size, sha256`,
)

const deleteFile = statement.tenant<Tenant & { id: string }, { id: string }>(
  'notes.delete_file',
  `delete from notes.files where ${mine} and id = $id returning id`,
)

export function folderOf({ config }: App): string {
  return join(config.PAMOJA_HOME, 'note-files')
}

const shown = ({ id, ...row }: FileRow) => ({ file_id: id, ...row })

const sendFile = multipart({
  path: '/v1/note-files',
  operation: 'notes.sendFile',
  summary: 'Upload a file',
  scope: 'sms:write',
  limit: 'sms',
  body: Type.Object({ title: Title, copies: Type.Optional(Type.Integer({ minimum: 1, rule: 'must be 1 or more' })) }),
  files: { file: { maxBytes: maxFileBytes, types: ['text/plain'], description: 'Text file, 256 KiB at most' } },
  bodyLimitBytes: 2 * maxFileBytes,
  reply: { status: 201, schema: FileRecord, location: ({ file_id }) => `/v1/note-files/${file_id}` },
  errors: ['CONFLICT'],
  receive: async (app, { bytes }, _input, caller) => {
    const id = newUuid(caller.receivedMs)
    await mkdir(folderOf(app), { recursive: true })
    const path = join(folderOf(app), id)
    try {
      await writeFile(path, bytes)
    } catch (error) {
      await rm(path, { force: true })
      throw error
    }
    return id
  },
  discard: (app, id) => rm(join(folderOf(app), id), { force: true }),
  handle: async (_app, tx, { body }, { tenant }, [file]) => {
    if (!file) throw new AppError('VALIDATION_ERROR', 'file is missing')
    if (body.title === 'refused') throw new AppError('CONFLICT', 'nothing has this title')
    const { kept: id, name, type, size, sha256 } = file
    const row = { id, name, type, title: body.title, size, sha256 }
    await tx.query(insertFile, { ...tenant, ...row })
    return shown(row)
  },
})

const sendInline = write({
  method: 'POST',
  path: '/v1/note-files/inline',
  operation: 'notes.sendInline',
  summary: 'Upload a small file, as JSON or as a part',
  scope: 'sms:write',
  limit: 'sms',
  body: Type.Object({
    title: Title,
    content: Type.String({ maxLength: 8_192, sensitive: true, description: 'Content, Base64' }),
    pages: Type.Optional(Type.Array(Type.String({ sensitive: true }))),
  }),
  files: { content: { maxBytes: 4_096 }, pages: { maxBytes: 4_096, most: 3, optional: true } },
  reply: { status: 200, schema: Type.Object({ size: Type.Integer(), sha256: Type.String(), pages: Type.Integer() }) },
  examples: [{ name: 'Three bytes', body: { title: 'Small', content: 'YWJj' } }],
  handle: async (_app, _tx, { body }) => {
    const bytes = Buffer.from(body.content, 'base64')
    const sha256 = createHash('sha256').update(bytes).digest('hex')
    return { size: bytes.length, sha256, pages: body.pages?.length ?? 0 }
  },
})

const getFile = download({
  path: '/v1/note-files/:id',
  operation: 'notes.getFile',
  summary: 'Download a file',
  scope: 'sms:read',
  params: IdParam,
  types: ['text/plain'],
  errors: ['NOT_FOUND'],
  handle: async (app, { params }, { tenant }) => {
    const { id, name, type, size, sha256: tag } = await known(app.db, tenant, params.id)
    const path = join(folderOf(app), id)
    const open = (range: { first: number; last: number } | null) =>
      createReadStream(path, range ? { start: range.first, end: range.last } : {})
    return { type, size, tag, ...(name === null ? {} : { name }), open }
  },
})

const getTitle = read({
  method: 'GET',
  path: '/v1/note-files/:id/title',
  operation: 'notes.getTitle',
  summary: 'Get the title of a file',
  scope: 'sms:read',
  params: IdParam,
  reply: { status: 200, schema: Type.String(), text: true },
  errors: ['NOT_FOUND'],
  handle: async (app, { params }, { tenant }) => (await known(app.db, tenant, params.id)).title,
})

const putFile = write({
  method: 'PUT',
  path: '/v1/note-files/:id',
  operation: 'notes.putFile',
  summary: 'Rename a file',
  scope: 'sms:write',
  limit: 'sms',
  params: IdParam,
  body: Type.Object({ title: Title }),
  form: true,
  reply: { status: 200, schema: FileRecord },
  errors: ['NOT_FOUND'],
  handle: async (_app, tx, { params, body }, { tenant }) => {
    const row = isUuid(params.id) ? await maybe(tx.query(renameFile, { ...tenant, id: params.id, ...body })) : null
    if (!row) throw nothingHere()
    return shown(row)
  },
})

const dropFile = write({
  method: 'DELETE',
  path: '/v1/note-files/:id',
  operation: 'notes.dropFile',
  summary: 'Delete a file',
  scope: 'sms:write',
  limit: 'sms',
  params: IdParam,
  reply: noContent,
  errors: ['NOT_FOUND'],
  handle: async (_app, tx, { params }, { tenant }) => {
    const row = isUuid(params.id) ? await maybe(tx.query(deleteFile, { ...tenant, id: params.id })) : null
    if (!row) throw nothingHere()
    return {}
  },
  follow: async (app, { params }, _caller: Caller) => {
    await rm(join(folderOf(app), params.id), { force: true })
    return {}
  },
})

async function known(queryable: Queryable, tenant: Tenant, id: string): Promise<FileRow> {
  const row = isUuid(id) ? await maybe(queryable.query(findFile, { ...tenant, id })) : null
  if (!row) throw nothingHere()
  return row
}

function isUuid(text: string): boolean {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text)
}

function nothingHere(): AppError {
  return new AppError('NOT_FOUND', 'there is no such file')
}

export const hookSecret = 'a secret of the carrier'
export const maxHookBytes = 4_096

/** Signed as carriers sign: over the bytes of the body. Answers in the way that the query names. */
const carrierHook = hook({
  methods: ['POST', 'PUT'],
  path: '/notes/calls/:carrier',
  operation: 'notes.takeCall',
  summary: 'Receive a callback of a carrier',
  maxBytes: maxHookBytes,
  limits: [{ by: 'carrier', perMinute: 30 }],
  handle: async (app, { params, query, bytes, headers }) => {
    const signature = Buffer.from(String(headers['x-signature'] ?? ''), 'hex')
    const expected = createHmac('sha256', hookSecret).update(bytes).digest()
    if (signature.length !== expected.length || !timingSafeEqual(signature, expected))
      throw new AppError('UNAUTHORIZED', 'the signature is wrong')
    switch (query.as) {
      case 'json':
        return json({ carrier: params.carrier, bytes: bytes.length })
      case 'redirect':
        return redirect('https://example.com/søk')
      case 'nothing':
        return status(204)
      case 'cut':
        return 'cut'
      case 'file':
        return { type: 'text/plain', size: 3, tag: 'abc', open: () => bytesOf('abc') }
      case 'short':
        return { type: 'text/plain', size: 10, tag: 'abc', open: () => bytesOf('abc') }
      case 'stored':
        await mkdir(folderOf(app), { recursive: true })
        await writeFile(join(folderOf(app), 'call'), bytes)
        return text('CON Karibu')
      default:
        return text(`END ${createHash('sha256').update(bytes).digest('hex')}`)
    }
  },
})

async function* bytesOf(words: string): AsyncGenerator<Buffer> {
  yield Buffer.from(words)
}

export const fileRoutes = [sendFile, sendInline, getFile, getTitle, putFile, dropFile]
export const fileHooks = [carrierHook]
