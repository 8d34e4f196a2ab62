// SPDX-License-Identifier: Apache-2.0
// Numbers that a caller without the right to write to everybody may reach, with `sms:send` or `payments:request` alone: one at a
// time, and for a member, one they have to do with in a call or a conversation. Areas tell which those are.
import { AppError } from '../../kernel/errors.ts'
import type { Caller } from '../auth.ts'
import type { Database } from '../db.ts'
import type { Tenant } from '../tenant.ts'
import { allows, type Scope } from './scopes.ts'

/** Member who wants to reach a number. */
interface Dealer {
  readonly tenant: Tenant
  /** The member's UUID. */
  readonly member: string
  readonly scopes: ReadonlySet<string>
  /** Account time. */
  readonly nowMs: number
}

/** Whether a member has to do with a number, in E.164. */
export type Dealing = (db: Database, dealer: Dealer, phone: string) => Promise<boolean>

/** Number that a request names, and what else of it needs the wider scope. */
interface Asked {
  readonly to: string | readonly unknown[] | undefined
  readonly more: Readonly<Record<string, unknown>>
}

interface Knowing {
  readonly db: Database
  readonly dealings: readonly Dealing[]
}

/** Requires a caller without the wider scope to ask for one number that they may reach, and nothing more. Throws FORBIDDEN. */
export async function requireDealing(app: Knowing, caller: Caller, wider: Scope, { to, more }: Asked): Promise<void> {
  const { scopes, facts } = caller.principal
  if (to === undefined || allows(scopes, wider)) return
  const refusal = (details: string) => new AppError('FORBIDDEN', details, { extra: { required_scope: wider } })
  if (typeof to !== 'string') throw refusal(`a list of numbers needs the scope ${wider}; without it, name one number`)
  const given = Object.keys(more).find((name) => more[name] !== undefined)
  if (given !== undefined) throw refusal(`${given} needs the scope ${wider}`)
  if (facts.member === null) return
  const dealer = { tenant: caller.tenant, member: facts.member, scopes, nowMs: caller.nowMs }
  for (const dealing of app.dealings) if (await dealing(app.db, dealer, to)) return
  throw refusal(
    `without the scope ${wider} a member can name only the number of their own call, live or of the last 24 hours, or of a conversation assigned to them`,
  )
}
