// SPDX-License-Identifier: Apache-2.0
// Media: files that customers upload to send, and those that users sent. Each is what it claims to be, within the size of its
// kind, and kept for 30 days.
import { AppError } from '../../../kernel/errors.ts'
import { idOf, uuidOf } from '../../../kernel/ids.ts'
import type { App } from '../../../platform/app.ts'
import type { Caller } from '../../../platform/auth.ts'
import { fileKind } from '../../../platform/storage/file-kind.ts'
import type { OpenedFile, StoredFile } from '../../../platform/storage.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import { ooxml } from './inspect.ts'

const megabyte = 1024 * 1024
export const mostMediaBytes = 100 * megabyte

/** The kind of message that shows it -> the content types, and the most bytes. */
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
    most: mostMediaBytes,
  },
}

/** Its type is known when all of it has come: the part that says so may be the last. Until then it may be the largest. */
export const mediaFiles = fileKind({ name: 'messenger.media', types: { '*': mostMediaBytes }, keepDays: 30 })

/** Throws 131053 when a file of this type may not be so large, or when no file may be of it. */
export function checkMedia(type: string, bytes: number): void {
  const kind = Object.values(kinds).find(({ types }) => types.includes(type))
  if (!kind) throw new AppError('131053', `files of the type ${type} are not taken`)
  if (bytes > kind.most)
    throw new AppError('131053', `the file has ${bytes} bytes; a file of the type ${type} may have ${kind.most}`)
}

export function mediaIdOf(uuid: string): string {
  return idOf('media', uuid)
}

/** Throws 131053 unless it is media of the account that a message of this type can show. */
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

/** Media to be read; throws NOT_FOUND, or MEDIA_EXPIRED when its time is over. */
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
