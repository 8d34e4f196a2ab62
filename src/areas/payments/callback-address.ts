// SPDX-License-Identifier: Apache-2.0
// An address for each attempt, which nobody can know but those who were told: it names the attempt and proves it.
import { randomBytes, timingSafeEqual } from 'node:crypto'
import { AppError } from '../../kernel/errors.ts'
import { bucketCount } from '../../kernel/ids.ts'
import type { App } from '../../platform/app.ts'
import { maybe } from '../../platform/db.ts'
import type { Tenant } from '../../platform/tenant.ts'
import { type AttemptRow, findAttempt } from './store.ts'

const tokenBytes = 16
/** Bucket, account, environment, attempt and token. Providers refuse some words in a path, so it has none. */
const nameBytes = 2 + 16 + 1 + 16 + tokenBytes

export function newToken(): Buffer {
  return randomBytes(tokenBytes)
}

export function callbackUrl(app: App, tenant: Tenant, attempt: Pick<AttemptRow, 'id' | 'token'>): string {
  return `${app.publicUrl}/hooks/p/${secretNameOf(tenant, attempt)}`
}

/** What only those know who were told of the attempt. */
export function secretNameOf(tenant: Tenant, { id, token }: Pick<AttemptRow, 'id' | 'token'>): string {
  const bucket = Buffer.alloc(2)
  bucket.writeUInt16BE(tenant.bucket)
  const environment = Buffer.from([tenant.environment === 'live' ? 1 : 0])
  return Buffer.concat([bucket, bytesOf(tenant.account), environment, bytesOf(id), token]).toString('base64url')
}

/** The attempt that a secret name names; throws when there is none. */
export async function attemptNamed(app: App, name: string): Promise<{ tenant: Tenant; attempt: AttemptRow }> {
  const bytes = Buffer.from(name, 'base64url')
  if (bytes.length !== nameBytes || bytes.readUInt16BE() >= bucketCount) throw nothingHere()
  const tenant: Tenant = {
    bucket: bytes.readUInt16BE(),
    account: uuidAt(bytes, 2),
    environment: bytes[18] === 1 ? 'live' : 'test',
  }
  const attempt = await maybe(app.db.query(findAttempt, { ...tenant, id: uuidAt(bytes, 19) }))
  if (!attempt || !timingSafeEqual(attempt.token, bytes.subarray(35))) throw nothingHere()
  return { tenant, attempt }
}

function bytesOf(uuid: string): Buffer {
  return Buffer.from(uuid.replaceAll('-', ''), 'hex')
}

function uuidAt(bytes: Buffer, start: number): string {
  const hex = bytes.subarray(start, start + 16).toString('hex')
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}

export function nothingHere(): AppError {
  return new AppError('NOT_FOUND', 'nothing is expected under this address')
}
