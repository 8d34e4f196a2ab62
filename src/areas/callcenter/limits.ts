// SPDX-License-Identifier: Apache-2.0
// Limits of what an account may create: routing reads all of it for every call, and ignores rows beyond these bounds.
import { AppError } from '../../kernel/errors.ts'
import { one, statement, type Tx } from '../../platform/db.ts'
import { mine, type Tenant } from '../../platform/tenant.ts'

const countOf = (table: string) =>
  statement.tenant<Tenant, { count: number }>(
    `callcenter.count_${table}`,
    `select count(*)::int as count from callcenter.${table} where ${mine}`,
  )

/** Equal to the limits of the lists that routing reads. */
const limits = {
  agents: { most: 10_000, count: countOf('agents'), words: 'agents' },
  queues: { most: 2_000, count: countOf('queues'), words: 'queues' },
  ivrs: { most: 1_000, count: countOf('ivrs'), words: 'IVRs' },
  rules: { most: 2_000, count: countOf('rules'), words: 'routing rules' },
  prompts: { most: 1_000, count: countOf('prompts'), words: 'prompts' },
  reportSchedules: { most: 100, count: countOf('report_schedules'), words: 'report schedules' },
  businessHours: { most: 1_000, count: countOf('business_hours'), words: 'business hours' },
} as const

/** Refuses what was just inserted beyond the limit. The switchboard must be locked before the insert. */
export async function requireFewer(tx: Tx, tenant: Tenant, what: keyof typeof limits): Promise<void> {
  const { most, count, words } = limits[what]
  const now = await one(tx.query(count, tenant))
  if (now.count > most) throw new AppError('CONFLICT', `an account has at most ${most} ${words}: remove or change one`)
}

const bytesOf = (table: string, bytes: string) =>
  statement.tenant<Tenant, { bytes: bigint }>(
    `callcenter.bytes_of_${table}`,
    `select coalesce(sum(${bytes}), 0)::bigint as bytes from callcenter.${table} where ${mine}`,
  )

/** Of IVRs, every call reads all of an account. */
const sizes = {
  ivrs: { mebibytes: 8, bytes: bytesOf('ivrs', 'octet_length(document::text)'), words: 'IVRs of an account, as JSON,' },
  prompts: { mebibytes: 1_024, bytes: bytesOf('prompts', 'bytes'), words: 'prompts of an account' },
} as const

/** Refuses what was just saved when all of its kind are too large together. The switchboard must be locked before. */
export async function requireSmaller(tx: Tx, tenant: Tenant, what: keyof typeof sizes): Promise<void> {
  const { mebibytes, bytes, words } = sizes[what]
  const now = await one(tx.query(bytes, tenant))
  if (Number(now.bytes) > mebibytes * 1_024 * 1_024)
    throw new AppError('CONFLICT', `the ${words} have at most ${mebibytes} MiB: remove or shorten one`)
}
