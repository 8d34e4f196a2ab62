// SPDX-License-Identifier: Apache-2.0
// Media: files uploaded by customers or sent by users. The type is verified, the size limited by kind, and files are
// kept for 30 days.
import { AppError } from '../../../kernel/errors.ts'
import { idOf, uuidOf } from '../../../kernel/ids.ts'
import type { App } from '../../../platform/app.ts'
import type { Caller } from '../../../platform/auth.ts'
import { fileKind } from '../../../platform/storage/file-kind.ts'
import type { OpenedFile, StoredFile } from '../../../platform/storage.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import { ooxml } from './inspect.ts'

const megabyte = 1024 * 1024
export const maxMediaBytes = 100 * megabyte

/** Message kind → allowed content types and size limit. */
const kinds: Readonly<Record<string, { types: readonly string[]; most: number }>> = {
  image: { types: ['image/jpeg', 'image/png'], most: 5 * megabyte },
  video: { types: ['video/mp4', 'video/3gpp'], most: 16 * megabyte },
  audio: { types: ['audio/aac', 'audio/mpeg', 'audio/amr', 'audio/ogg'], most: 16 * megabyte },
  document: {
    types: [
      'application/pdf',
      'application/msword',
      'application/vnd.ms-excel',
      'application/vnd.ms-powerpoint',
      ...Object.values(ooxml),
      'text/plain',
    ],
    most: maxMediaBytes,
  },
}

/**
 * The type is verified after the whole upload, since the telling part may come last; until then the largest limit
 * applies.
 */
export const mediaFiles = fileKind({ name: 'messenger.media', types: { '*': maxMediaBytes }, keepDays: 30 })

/** Checks the type and size of a file; throws 131053. */
export function checkMedia(type: string, bytes: number): void {
  const kind = Object.values(kinds).find(({ types }) => types.includes(type))
  if (!kind) throw new AppError('131053', `files of the type ${type} are not taken`)
  if (bytes > kind.most)
    throw new AppError('131053', `the file has ${bytes} bytes; a file of the type ${type} may have ${kind.most}`)
}

export function mediaIdOf(uuid: string): string {
  return idOf('media', uuid)
}

/** Media of a message; throws 131053 unless it belongs to the account and suits the message type. */
export async function usableMedia(
  app: App,
  caller: Pick<Caller, 'tenant' | 'nowMs'>,
  id: string,
  type: string,
): Promise<void> {
  const uuid = uuidOf('media', id)
  const file = uuid && (await app.storage.find(caller.tenant, uuid))
  if (!isMedia(file) || isExpired(file, caller.nowMs))
    throw new AppError('131053', `there is no media ${id.slice(0, 40)}, or its 30 days are over: upload it again`)
  const kind = kinds[type]
  if (kind && !kind.types.includes(file.type))
    throw new AppError('131053', `the media is ${file.type}, which is no ${type}`)
}

/** Opens media; throws NOT_FOUND, or MEDIA_EXPIRED after its retention. */
export async function openMedia(app: App, tenant: Tenant, id: string, nowMs: number): Promise<OpenedFile> {
  const uuid = uuidOf('media', id)
  const found = uuid && (await app.storage.find(tenant, uuid))
  if (!uuid || !found) throw new AppError('NOT_FOUND', 'there is no media with this id; ids of media begin with media_')
  const opened = found === 'gone' ? null : await app.storage.open(tenant, uuid)
  if (opened === null || isExpired(opened.file, nowMs)) throw new AppError('MEDIA_EXPIRED', 'its 30 days are over')
  if (!isMedia(opened.file)) throw new AppError('NOT_FOUND', 'there is no media with this id')
  return opened
}

function isMedia(file: StoredFile | 'gone' | '' | null): file is StoredFile {
  return typeof file === 'object' && file !== null && file.kind === mediaFiles.name
}

function isExpired({ expiresAt }: StoredFile, nowMs: number): boolean {
  return expiresAt !== null && expiresAt.getTime() < nowMs
}
