// SPDX-License-Identifier: Apache-2.0
// The tenant: opening an account, reading and changing it, moving its sandbox clock.
import type { Static } from 'typebox'
import { AppError, invalid } from '../../kernel/errors.ts'
import { type Command, usualCommandOf, wordOf } from '../../kernel/handset-words.ts'
import { bucketOf, newUuid, uuidOf } from '../../kernel/ids.ts'
import { type Currency, currencies, isCurrency, parseAmount } from '../../kernel/money.ts'
import { zoneOf } from '../../kernel/time-zones.ts'
import { openWallet } from '../../ledger/wallets.ts'
import { record } from '../../platform/api/audit.ts'
import type { App } from '../../platform/app.ts'
import type { Caller } from '../../platform/auth.ts'
import { maybe, one, type Queryable, type Tx } from '../../platform/db.ts'
import { forget } from './keys.ts'
import type { AccountUpdate } from './schema.ts'
import {
  type Account,
  type AccountRow,
  accountOf,
  advanceClock,
  findAccount,
  findPlan,
  insertAccount,
  lockAccount,
  noteClock,
  resetClock,
  updateAccount,
} from './store.ts'

/** Creates an account with its two wallets, in the time zone of its country. The caller creates its keys. */
export async function openAccount(
  app: Pick<App, 'clock'>,
  tx: Tx,
  wanted: { name: string; country: string; currency: Currency; timezone?: string; plan: string; operator?: boolean },
): Promise<AccountRow> {
  await requirePlan(tx, wanted.plan)
  const id = newUuid(app.clock.nowMs())
  const { timezone = zoneOf(wanted.country) ?? 'UTC', operator = false } = wanted
  const row = await one(tx.query(insertAccount, { ...wanted, id, bucket: bucketOf(id), timezone, operator }))
  for (const environment of ['test', 'live'] as const)
    await openWallet(tx, { bucket: row.bucket, account: id, environment }, wanted.currency)
  return row
}

export async function currentAccount(queryable: Queryable, caller: Caller): Promise<Account> {
  return accountOf(await one(queryable.query(findAccount, { id: caller.tenant.account })))
}

export async function changeAccount(
  app: App,
  tx: Tx,
  input: Static<typeof AccountUpdate>,
  caller: Caller,
): Promise<Account> {
  const { before, after } = await alter(tx, caller.tenant.account, (row) => ({
    ...row,
    name: input.name ?? row.name,
    timezone: input.timezone ?? row.timezone,
    settings: settingsOf(row.settings, checked(input.settings, row.currency)),
  }))
  await record(tx, caller, 'account.update', caller.accountId, { before: editable(before), after: editable(after) })
  await forget(app, tx, caller.tenant.account)
  return accountOf(after)
}

function checked(settings: Static<typeof AccountUpdate>['settings'], currency: string) {
  const threshold = settings?.low_balance_threshold ?? null
  const micros = threshold === null || !isCurrency(currency) ? null : parseAmount(threshold, currencies[currency])
  const problem = micros === 0n ? 'must be more than 0' : typeof micros === 'object' ? micros?.problem : undefined
  if (problem) throw invalid('settings.low_balance_threshold', problem)
  const days = settings?.dunning_days ?? []
  if (days.some((day, i) => day <= (days[i - 1] ?? 0)))
    throw invalid('settings.dunning_days', 'must rise: all of them count from the first failure')
  checkWords(settings?.sms_words ?? {})
  return settings
}

/** A word that means something already, or is to mean two things, would not do what its owner expects. */
function checkWords(own: Partial<Record<Command, readonly string[]>>): void {
  const meanings = new Map<string, Command>()
  for (const command of ['stop', 'start', 'help'] as const)
    for (const word of (own[command] ?? []).map(wordOf)) {
      const meaning = usualCommandOf(word)?.command ?? meanings.get(word) ?? command
      if (meaning !== command)
        throw invalid(`settings.sms_words.${command}`, `must not have ${word}, which is for ${meaning}`)
      meanings.set(word, command)
    }
}

/** Settings after a change: those from before with the new ones. Null removes a setting. */
function settingsOf(before: object, wanted: object = {}): Record<string, unknown> {
  return Object.fromEntries(Object.entries({ ...before, ...wanted }).filter(([, value]) => value !== null))
}

/** Changes an account row under its lock. */
export async function alter(
  tx: Tx,
  account: string,
  change: (row: AccountRow) => AccountRow,
): Promise<{ before: AccountRow; after: AccountRow }> {
  const before = await maybe(tx.query(lockAccount, { id: account }))
  if (!before) throw noSuchAccount()
  const wanted = change(before)
  if (wanted.plan !== before.plan) await requirePlan(tx, wanted.plan)
  const after = await one(
    tx.query(updateAccount, {
      id: account,
      name: wanted.name,
      timezone: wanted.timezone,
      settings: JSON.stringify(wanted.settings),
      plan: wanted.plan,
      limits: JSON.stringify(wanted.limits),
      allowances: JSON.stringify(wanted.allowances),
      status: wanted.status,
    }),
  )
  return { before, after }
}

/** Moves the clock that the test environment of an account lives by, and everything that waits for it. */
export async function moveClock(
  app: App,
  tx: Tx,
  ms: number,
  caller: Caller,
): Promise<{ now: Date; offset_seconds: number }> {
  const { bucket, account } = caller.tenant
  const { offset_ms } = await one(tx.query(advanceClock, { account, ms }))
  await tx.query(noteClock, { bucket, account, ms: offset_ms })
  await app.work.bringForward(tx, caller.tenant, ms)
  await forget(app, tx, account)
  return { now: new Date(caller.receivedMs + Number(offset_ms)), offset_seconds: Number(offset_ms) / 1000 }
}

/** Sets a test account's clock back to the real time. What was made while it was ahead keeps its time. */
export async function setClockBack(app: App, tx: Tx, caller: Caller): Promise<{ now: Date; offset_seconds: number }> {
  const { bucket, account } = caller.tenant
  const before = await maybe(tx.query(resetClock, { account }))
  await tx.query(noteClock, { bucket, account, ms: 0n })
  if (before) await app.work.putOffCalendar(tx, caller.tenant, Number(before.offset_ms))
  await forget(app, tx, account)
  return { now: new Date(caller.receivedMs), offset_seconds: 0 }
}

/** The UUID in a path, or NOT_FOUND. */
export function accountUuid(id: string): string {
  const uuid = uuidOf('account', id)
  if (uuid === null) throw noSuchAccount()
  return uuid
}

export async function requireAccount(queryable: Queryable, id: string): Promise<AccountRow> {
  const row = await maybe(queryable.query(findAccount, { id: accountUuid(id) }))
  if (!row) throw noSuchAccount()
  return row
}

function noSuchAccount(): AppError {
  return new AppError('NOT_FOUND', 'there is no such account; account ids begin with acc_')
}

async function requirePlan(tx: Tx, name: string): Promise<void> {
  if (!(await maybe(tx.query(findPlan, { name }))))
    throw invalid('plan', `must be a plan of this installation, not "${name.slice(0, 60)}"`)
}

function editable({ name, timezone, settings }: AccountRow): object {
  return { name, timezone, settings }
}
