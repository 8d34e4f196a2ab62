// SPDX-License-Identifier: Apache-2.0
// Dial: find the owner of the code, end the phone's open session on it, and create a session.
import { AppError } from '../../kernel/errors.ts'
import type { App } from '../../platform/app.ts'
import { one, statement } from '../../platform/db.ts'
import { type Occasion, occasionNow } from '../../platform/events.ts'
import { type Environment, tenantOf } from '../../platform/tenant.ts'
import { type Beginning, begin, replaceLive, resumed } from './begin.ts'
import { accountFacts, registered, setupNow } from './known-codes.ts'
import { sessionPrice, unpriced } from './pricing.ts'
import type { Session } from './session.ts'
import { extraParts } from './shortcode.ts'
import { plainSetup, unregistered } from './shortcode-store.ts'

const clockOf = statement.home<{ account: string; environment: string }, { ms: bigint }>(
  'ussd.clock_offset',
  'select accounts.clock_offset_ms($account::uuid, $environment::text) as ms',
)

export interface Dial {
  readonly gateway: string
  /** Dialog id of the network; null uses the session's id. */
  readonly dialog: string | null
  readonly mark: string | null
  readonly phone: string
  readonly dialled: string
  readonly network: string | null
  readonly language: string | null
  /** A known dialog creates no session. */
  readonly isNew: boolean
  /** The reply to the dial carries the first screen. */
  readonly isShownAtOnce: boolean
}

export type DialOutcome =
  | { readonly kind: 'begun'; readonly session: Session }
  /** The dialog exists. */
  | { readonly kind: 'known' }
  | { readonly kind: 'refused'; readonly error: AppError }

/** Creates a session in the given account, if the code is its own; in the sandbox an unregistered code is. */
export async function dialled(app: App, occasion: Occasion, dial: Dial): Promise<DialOutcome> {
  const { tenant } = occasion
  const row = await registered(app, tenant.environment, dial.dialled)
  if (row ? row.account_id !== tenant.account : tenant.environment === 'live') return refused(notAnswered(dial.dialled))
  const { currency, is_suspended: isSuspended } = await accountFacts(app, tenant.account)
  if (isSuspended) return refused(new AppError('ACCOUNT_SUSPENDED'))
  const cost = sessionPrice(app, occasion, currency, dial.phone)
  if (cost === null) return refused(unpriced(currency))
  const code = row ?? unregistered(dial.dialled)
  const setup = row ? await setupNow(app, tenant, row) : plainSetup
  const before = await resumed(app, occasion, dial.phone, code)
  const { verdict, session } = await beginAlone(app, occasion, {
    sessionId: null,
    direction: 'dial',
    ...{ phone: dial.phone, shortcode: code.code, gateway: dial.gateway, dialog: dial.dialog, mark: dial.mark },
    network: dial.network,
    language: dial.language ?? code.language_default,
    input: extraParts(dial.dialled, code.code).join('*') || null,
    screen: null,
    timeout: code.timeout,
    setup,
    data: before?.data ?? {},
    metadata: null,
    ...{ cost, currency },
    resumedFrom: before?.session_id ?? null,
    requestHash: null,
    isAlone: true,
    ...{ isNew: dial.isNew, isShownAtOnce: dial.isShownAtOnce },
  })
  if (verdict === 'known') return { kind: 'known' }
  if (verdict === 'begun') return { kind: 'begun', session }
  return refused(new AppError('INSUFFICIENT_BALANCE', 'a session costs more than the wallet balance of the account'))
}

/** Creates a session; end the phone's open ones on the code only when the commit reports them, since few phones have one. */
async function beginAlone(app: App, occasion: Occasion, beginning: Beginning): ReturnType<typeof begin> {
  const begun = await begin(app, occasion, beginning)
  if (begun.verdict !== 'live') return begun
  await replaceLive(app, occasion, beginning.phone, beginning.shortcode)
  return begin(app, occasion, { ...beginning, isAlone: false })
}

export function refused(error: AppError): DialOutcome {
  return { kind: 'refused', error }
}

/** Error that reveals no more: the code may be another account's. */
export function notAnswered(dialled: string): AppError {
  return new AppError('SHORTCODE_NOT_ALLOWED', `${dialled} is not one of your registered codes`)
}

/** Occasion of the account whose code was dialled; null when there is none. */
export async function occasionOf(app: App, environment: Environment, text: string): Promise<Occasion | null> {
  const row = await registered(app, environment, text)
  if (!row) return null
  // Only test accounts have their own clock.
  const { ms } =
    environment === 'live' ? { ms: 0n } : await one(app.db.query(clockOf, { account: row.account_id, environment }))
  return occasionNow(app.clock, tenantOf(row), ms)
}
