// SPDX-License-Identifier: Apache-2.0
// Numbers for incoming calls and what answers each: an application, queue, menu or agent.
import type { App } from '../../../platform/app.ts'
import type { Queryable } from '../../../platform/db.ts'
import type { Environment, Tenant } from '../../../platform/tenant.ts'
import { numbersFor, type OwnedNumber } from '../../numbers/area.ts'
import type { Target } from '../store.ts'

/** Assignment of a number. */
export interface Answering {
  readonly answer_url: string | null
  readonly event_url: string | null
  readonly fallback_url: string | null
  readonly answer_method: 'POST' | 'GET'
  /** Target in another area, in place of an application. */
  readonly target: Target | null
}

export type NumberRow = OwnedNumber<Answering>

export const voiceNumbers = numbersFor<Answering>('voice')

/** Unassigned, like a new number. */
export const unanswered: Answering = {
  answer_url: null,
  event_url: null,
  fallback_url: null,
  answer_method: 'POST',
  target: null,
}

/** Number with the account that owns it. */
async function findNumber(queryable: Queryable, environment: Environment, number: string): Promise<NumberRow | null> {
  const [row] = await voiceNumbers.owners(queryable, environment, [number])
  return row ?? null
}

/** The first of some numbers that an account owns. */
export async function findFirstNumber(
  queryable: Queryable,
  environment: Environment,
  numbers: readonly string[],
): Promise<NumberRow | null> {
  const rows = await voiceNumbers.owners(queryable, environment, numbers)
  return rows.toSorted((a, b) => numbers.indexOf(a.number) - numbers.indexOf(b.number))[0] ?? null
}

/** Target of an account's number; null when not assigned. */
export async function numberTarget(app: App, tenant: Tenant, number: string): Promise<Target | null> {
  const [row] = await voiceNumbers.owners(app.db, tenant.environment, [number], tenant.account)
  if (!row) return null
  const { target, answer_url } = row.settings
  return target ?? (answer_url === null ? null : { type: 'application', answer_url })
}

/** Caller id of test calls when the account has no number; nobody owns it. */
const sandboxNumber = '+254709000000'

/** Default caller id of an account; null for a live account without numbers. */
export async function firstNumber(app: App, { environment, account }: Tenant): Promise<string | null> {
  const [row] = await voiceNumbers.inOrder(app.db, environment, account, 1)
  return row?.number ?? (environment === 'test' ? sandboxNumber : null)
}

/** Owner of a number: a test key owns every number no other account registered. */
export async function ownership(app: App, tenant: Tenant, number: string): Promise<'own' | 'nobody' | 'another'> {
  const owner = await findNumber(app.db, tenant.environment, number)
  if (owner === null) return tenant.environment === 'test' ? 'own' : 'nobody'
  return owner.account_id === tenant.account ? 'own' : 'another'
}
