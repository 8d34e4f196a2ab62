// SPDX-License-Identifier: Apache-2.0
// Numbers that calls come in at: which application, queue, menu or agent answers each.
import type { App } from '../../../platform/app.ts'
import type { Queryable } from '../../../platform/db.ts'
import type { Environment, Tenant } from '../../../platform/tenant.ts'
import { numbersFor, type OwnedNumber } from '../../numbers/area.ts'
import type { Target } from '../store.ts'

/** What answers calls to a number. */
export interface Answering {
  readonly answer_url: string | null
  readonly event_url: string | null
  readonly fallback_url: string | null
  readonly answer_method: 'POST' | 'GET'
  /** Something of another area that answers in place of an application. */
  readonly target: Target | null
}

export type NumberRow = OwnedNumber<Answering>

export const voiceNumbers = numbersFor<Answering>('voice')

/** Nothing, as for a number that was just given. */
export const unanswered: Answering = {
  answer_url: null,
  event_url: null,
  fallback_url: null,
  answer_method: 'POST',
  target: null,
}

/** The number and the one account that has it. */
export async function findNumber(
  queryable: Queryable,
  environment: Environment,
  number: string,
): Promise<NumberRow | null> {
  const [row] = await voiceNumbers.owners(queryable, environment, [number])
  return row ?? null
}

/** What answers calls to a number of an account; null: nothing that it has said. */
export async function numberTarget(app: App, tenant: Tenant, number: string): Promise<Target | null> {
  const [row] = await voiceNumbers.owners(app.db, tenant.environment, [number], tenant.account)
  if (!row) return null
  const { target, answer_url } = row.settings
  return target ?? (answer_url === null ? null : { type: 'application', answer_url })
}

/** Number that calls of a test key show where the account has none; it is nobody's. */
const sandboxNumber = '+254709000000'

/** The number that an account calls from where it names none; null for a live account without one. */
export async function firstNumber(app: App, { environment, account }: Tenant): Promise<string | null> {
  const [row] = await voiceNumbers.inOrder(app.db, environment, account, 1)
  return row?.number ?? (environment === 'test' ? sandboxNumber : null)
}

/** Whose a number is: a test key owns every one that nobody else registered. */
export async function ownership(app: App, tenant: Tenant, number: string): Promise<'own' | 'nobody' | 'another'> {
  const owner = await findNumber(app.db, tenant.environment, number)
  if (owner === null) return tenant.environment === 'test' ? 'own' : 'nobody'
  return owner.account_id === tenant.account ? 'own' : 'another'
}
