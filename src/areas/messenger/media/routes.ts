// SPDX-License-Identifier: Apache-2.0
// Routes of media: upload and download.
import { type Static, Type } from 'typebox'
import { AppError } from '../../../kernel/errors.ts'
import { uuidOf } from '../../../kernel/ids.ts'
import { download, IdParam, multipart, noContent, type Route, read, write } from '../../../platform/api/route.ts'
import { At, Nullable } from '../../../platform/schema/fields.ts'
import { FileRefused } from '../../../platform/storage/file-kind.ts'
import { downloadOf } from '../../../platform/storage/signed-files.ts'
import type { ArrivedFile, StoredFile } from '../../../platform/storage.ts'
import { type Found, inspect } from './inspect.ts'
import { checkMedia, maxMediaBytes, mediaFiles, mediaIdOf, openMedia } from './media.ts'

const MediaRecord = Type.Object(
  {
    media_id: Type.String({ description: 'Id of the file in messages' }),
    type: Type.String({ description: 'Content type' }),
    expires_at: Nullable(At({ description: 'Time at which it is erased' })),
    sha256: Type.String({ description: 'SHA-256 of the file, in hexadecimal' }),
    file_size: Type.Integer({ description: 'Size in bytes' }),
    filename: Nullable(Type.String({ description: 'Name of the file as it was uploaded' })),
  },
  { title: 'MessengerMediaRecord' },
)

const slackBytes = 1024 * 1024

interface Received {
  readonly file: ArrivedFile
  readonly found: Found
}

const uploadMedia = multipart({
  path: '/v1/messenger/media',
  operation: 'messenger.uploadMedia',
  summary: 'Upload media to send',
  description: 'Images up to 5 MB, video and audio up to 16 MB, documents up to 100 MB. Kept for 30 days.',
  scope: 'messenger:write',
  limit: 'messenger',
  // Above the storage limit, so that storage gives the error.
  files: { file: { maxBytes: maxMediaBytes + slackBytes, description: 'Picture, video, audio or document' } },
  bodyLimitBytes: maxMediaBytes + 2 * slackBytes,
  body: Type.Object({
    type: Type.Optional(Type.String({ maxLength: 200, description: 'Content type; default: that of the part' })),
  }),
  reply: { status: 201, schema: MediaRecord, location: ({ media_id }) => `/v1/messenger/media/${media_id}` },
  errors: ['131053'],
  async receive(app, { name, type, bytes }, _input, { tenant, nowMs }): Promise<Received> {
    try {
      const shortName = name === null ? null : name.slice(0, 240)
      const file = await app.storage.put(mediaFiles, { tenant, type: plain(type), name: shortName, bytes, nowMs })
      return { file, found: await inspect(file) }
    } catch (error) {
      if (error instanceof FileRefused) throw new AppError('131053', error.message)
      throw error
    }
  },
  discard: (app, { file }) => app.storage.discard(file),
  async handle(app, tx, { body }, _caller, [received]) {
    if (!received) throw new AppError('131053', 'there is no file')
    const { file, found } = received.kept
    const declared = plain(body.type ?? received.type)
    checkMedia(declared, file.bytes)
    if ('problem' in found) throw new AppError('131053', `the file ${found.problem}`)
    if (found.type !== declared) throw new AppError('131053', `type says ${declared}, and the file is ${found.type}`)
    await app.storage.keep(tx, file, declared)
    return recordOf({ ...file, kind: mediaFiles.name, type: declared })
  },
})

const getMedia = download({
  path: '/v1/messenger/media/:id',
  operation: 'messenger.getMedia',
  summary: 'Download media',
  scope: 'messenger:read',
  params: IdParam,
  types: ['*/*'],
  errors: ['NOT_FOUND', 'MEDIA_EXPIRED'],
  handle: async (app, { params }, { tenant, nowMs }) => downloadOf(await openMedia(app, tenant, params.id, nowMs)),
})

const getInfo = read({
  method: 'GET',
  path: '/v1/messenger/media/:id/info',
  operation: 'messenger.getMediaInfo',
  summary: 'Get information about media',
  scope: 'messenger:read',
  params: IdParam,
  reply: { status: 200, schema: MediaRecord },
  errors: ['NOT_FOUND', 'MEDIA_EXPIRED'],
  handle: async (app, { params }, { tenant, nowMs }) => recordOf((await openMedia(app, tenant, params.id, nowMs)).file),
})

const deleteMedia = write({
  method: 'DELETE',
  path: '/v1/messenger/media/:id',
  operation: 'messenger.deleteMedia',
  summary: 'Delete media',
  scope: 'messenger:write',
  limit: 'messenger',
  params: IdParam,
  reply: noContent,
  errors: ['NOT_FOUND', 'MEDIA_EXPIRED'],
  async handle(app, tx, { params }, { tenant, nowMs }) {
    await openMedia(app, tenant, params.id, nowMs)
    const uuid = uuidOf('media', params.id)
    if (uuid) await app.storage.drop(tx, tenant, [uuid])
    return {}
  },
})

function recordOf({ id, type, expiresAt, sha256, bytes, name }: StoredFile): Static<typeof MediaRecord> {
  return {
    media_id: mediaIdOf(id),
    type,
    expires_at: expiresAt,
    sha256: sha256.toString('hex'),
    file_size: bytes,
    filename: name,
  }
}

/** Content type without parameters, in lower case. */
function plain(type: string): string {
  return type.split(';', 1)[0]?.trim().toLowerCase() ?? ''
}

export const mediaRoutes: readonly Route[] = [uploadMedia, getMedia, getInfo, deleteMedia]
