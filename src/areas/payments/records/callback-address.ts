// SPDX-License-Identifier: Apache-2.0
// Callback addresses, one for each request to a provider. Only that provider is told it: the address names the request
// and proves it.
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { AppError } from '../../../kernel/errors.ts'
import { bucketCount, uuidText } from '../../../kernel/ids.ts'
import type { App } from '../../../platform/app.ts'
import { maybe } from '../../../platform/db.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import { type AttemptRow, findAttempt } from './store.ts'

const tokenBytes = 16
/** Bucket, account, environment and subject, id and token. Providers refuse some words in a path; in hexadecimal there are none. */
const nameBytes = 2 + 16 + 1 + 16 + tokenBytes

/** Subjects of addresses. The number is part of the address, next to the environment. */
const subjects = { attempt: 0, payout: 1, refund: 2 } as const
export type Subject = keyof typeof subjects

export interface Address {
  readonly subject: Subject
  readonly tenant: Tenant
  /** Id of the payment, payout or refund that the address is for. */
  readonly id: string
  readonly token: Buffer
  /** Number of the address among several for the same thing, 0 to 15. */
  readonly topic: number
}

/** Request that came to a callback address. */
export interface Callback {
  readonly bytes: Buffer
  readonly headers: IncomingHttpHeaders
  /** Body of the call; null when it was no JSON. */
  readonly body: unknown
}

/** Callback with its parsed address. The receiver checks the token first. */
export interface Call extends Address, Callback {}

export function newToken(): Buffer {
  return randomBytes(tokenBytes)
}

export function callbackUrl(
  app: App,
  tenant: Tenant,
  { id, token }: { id: string; token: Buffer },
  subject: Subject = 'attempt',
  topic = 0,
): string {
  return `${app.publicUrl}/hooks/p/${secretNameOf({ subject, tenant, id, token, topic })}`
}

/** Secret name of an address, for its URL. */
export function secretNameOf({ subject, tenant, id, token, topic }: Address): string {
  const bucket = Buffer.alloc(2)
  bucket.writeUInt16BE(tenant.bucket)
  // One bit for the environment, three for the subject, four for the topic.
  const kind = Buffer.from([(topic << 4) | (subjects[subject] << 1) | (tenant.environment === 'live' ? 1 : 0)])
  return Buffer.concat([bucket, bytesOf(tenant.account), kind, bytesOf(id), token]).toString('hex')
}

/** Address that a secret name encodes; throws when it encodes none. The receiver checks the token. */
export function addressOf(name: string): Address {
  const bytes = Buffer.from(name, 'hex')
  const kind = bytes[18] ?? 0
  const subject = subjectOf((kind >> 1) & 7)
  if (bytes.length !== nameBytes || bytes.readUInt16BE() >= bucketCount || subject === null) throw nothingHere()
  const tenant: Tenant = {
    bucket: bytes.readUInt16BE(),
    account: uuidText(bytes.subarray(2)),
    environment: (kind & 1) === 1 ? 'live' : 'test',
  }
  return { subject, tenant, id: uuidText(bytes.subarray(19)), token: bytes.subarray(35), topic: kind >> 4 }
}

/** Token of the address that an attempt's payer is given: nobody finds the provider's by it, and so calls in its name. */
export function payerToken(token: Buffer): Buffer {
  return createHash('sha256').update('payer').update(token).digest().subarray(0, tokenBytes)
}

/** The attempt that the secret name of a payer's address names; throws when there is none. */
export async function attemptOfPayer(app: App, name: string): Promise<{ tenant: Tenant; attempt: AttemptRow }> {
  const { subject, tenant, id, token } = addressOf(name)
  const attempt = subject === 'attempt' ? await maybe(app.db.query(findAttempt, { ...tenant, id })) : null
  if (!attempt || !timingSafeEqual(payerToken(attempt.token), token)) throw nothingHere()
  return { tenant, attempt }
}

function subjectOf(number: number): Subject | null {
  const names: readonly Subject[] = ['attempt', 'payout', 'refund']
  return names.find((name) => subjects[name] === number) ?? null
}

function bytesOf(uuid: string): Buffer {
  return Buffer.from(uuid.replaceAll('-', ''), 'hex')
}

export function nothingHere(): AppError {
  return new AppError('NOT_FOUND', 'no callback is expected at this URL')
}
