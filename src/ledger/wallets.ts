// SPDX-License-Identifier: Apache-2.0
// Wallets and postings, one at a time: for verbs that run in a plain transaction. Charges of hot verbs go through the SQL
// function ledger.charge inside their own group commit. Every function here is safe to repeat: a posting is named by the
// object it is about and the step, and a step happens once.
import { AppError } from '../kernel/errors.ts'
import { bucketOf, newUuid } from '../kernel/ids.ts'
import { type Currency, isCurrency } from '../kernel/money.ts'
import { maybe, one, type Queryable, statement, type Tx } from '../platform/db.ts'
import { type Environment, mine, type Tenant, tenantOf } from '../platform/tenant.ts'

export interface Wallet {
  currency: Currency
  balanceMicros: bigint
  heldMicros: bigint
  overdraftMicros: bigint
  availableMicros: bigint
  updatedAt: Date
}

/** Source of a posting: the object's UUID and the step. Together they are the posting's key. */
export interface Step {
  sourceId: string
  step: string
}

/** `wallet` is the tenant's own money; other names are contra accounts, such as `revenue:sms` or `float:mpesa`. */
export interface Leg {
  debit: string
  credit: string
  micros: bigint
  currency: Currency
}

interface WalletRow {
  currency: string
  balance: bigint
  held: bigint
  overdraft: bigint
  updated_at: Date
}

type StepParameters = Tenant & { source: string; step: string }

const selectWallets = statement.tenant<Tenant, WalletRow>(
  'ledger.wallets_of',
  `select currency, balance, held, overdraft, updated_at from ledger.wallets
    where ${mine} order by currency`,
)

const selectMany = statement.everywhere<
  { buckets: number[]; accounts: string[] },
  WalletRow & { account_id: string; bucket: number; environment: Environment }
>(
  'ledger.wallets_of_many',
  `select bucket, account_id, environment, currency, balance, held, overdraft, updated_at from ledger.wallets
    where bucket = any($buckets::smallint[]) and account_id = any($accounts::uuid[])`,
)

const postLegs = statement.tenant<
  StepParameters & {
    ids: string[]
    debits: string[]
    credits: string[]
    amounts: string[]
    currencies: string[]
    reverses: string | null
    description: string | null
  },
  { verdict: string }
>(
  'ledger.post',
  `select ledger.post($bucket::smallint, $account::uuid, $environment::text, $source::uuid, $step::text,
      (select array_agg(row(l.id, l.debit, l.credit, l.amount, l.currency)::ledger.leg order by l.ord)
         from unnest($ids::uuid[], $debits::text[], $credits::text[], $amounts::bigint[], $currencies::text[])
              with ordinality as l(id, debit, credit, amount, currency, ord)),
      $reverses::text, $description::text) as verdict`,
)

const legsOf = statement.tenant<
  StepParameters,
  { id: string; debit: string; credit: string; amount: bigint; currency: string }
>(
  'ledger.legs_of',
  `select id, debit, credit, amount, currency from ledger.transfers
    where ${mine} and source_id = $source and step = $step
    order by leg`,
)

const holdMoney = statement.tenant<StepParameters & { currency: string; amount: bigint }, { verdict: string }>(
  'ledger.hold',
  `select ledger.hold($bucket::smallint, $account::uuid, $environment::text, $source::uuid, $step::text, $currency::text,
                      $amount::bigint) as verdict`,
)

const captureHold = statement.tenant<
  StepParameters & { capture: string; amount: bigint; credit: string; id: string },
  { verdict: string }
>(
  'ledger.capture',
  `select ledger.capture($bucket::smallint, $account::uuid, $environment::text, $source::uuid, $step::text,
                         $capture::text, $amount::bigint, $credit::text, $id::uuid) as verdict`,
)

const releaseHold = statement.tenant<StepParameters, { verdict: string }>(
  'ledger.release',
  `select ledger.release($bucket::smallint, $account::uuid, $environment::text, $source::uuid, $step::text) as verdict`,
)

const releasePart = statement.tenant<StepParameters & { amount: bigint }, { verdict: string }>(
  'ledger.release_part',
  `select ledger.release_part($bucket::smallint, $account::uuid, $environment::text, $source::uuid, $step::text,
                              $amount::bigint) as verdict`,
)

const lockWallet = statement.tenant<Tenant & { currency: string }, { available: bigint }>(
  'ledger.lock_wallet',
  `select balance - held + overdraft as available from ledger.wallets
    where ${mine} and currency = $currency
    for update`,
)

const makeWallet = statement.tenant<Tenant & { currency: string }, object>(
  'ledger.make_wallet',
  `insert into ledger.wallets (bucket, account_id, environment, currency)
   values ($bucket, $account, $environment, $currency) on conflict do nothing`,
)

const updateOverdraft = statement.tenant<Tenant & { currency: string; amount: bigint }, WalletRow>(
  'ledger.set_overdraft',
  `update ledger.wallets set overdraft = $amount, updated_at = now()
    where ${mine} and currency = $currency
      and balance - held >= -$amount::bigint
   returning currency, balance, held, overdraft, updated_at`,
)

export async function walletsOf(queryable: Queryable, tenant: Tenant): Promise<Wallet[]> {
  return (await queryable.query(selectWallets, { ...tenant })).map(walletOf)
}

/** The wallets of several accounts, in both environments. */
export async function walletsOfMany(
  queryable: Queryable,
  accounts: readonly string[],
): Promise<{ tenant: Tenant; wallet: Wallet }[]> {
  const buckets = [...new Set(accounts.map(bucketOf))]
  const rows = await queryable.query(selectMany, { buckets, accounts: [...accounts] })
  return rows.map((row) => ({ tenant: tenantOf(row), wallet: walletOf(row) }))
}

export async function openWallet(tx: Tx, tenant: Tenant, currency: Currency): Promise<void> {
  await tx.query(makeWallet, { ...tenant, currency })
}

/** Lets a wallet go below zero by so much. Refused when it is already deeper. */
export async function setOverdraft(tx: Tx, tenant: Tenant, currency: Currency, micros: bigint): Promise<Wallet> {
  await openWallet(tx, tenant, currency)
  const row = await maybe(tx.query(updateOverdraft, { ...tenant, currency, amount: micros }))
  if (!row) throw new AppError('CONFLICT', 'the balance of the wallet is already below this overdraft')
  return walletOf(row)
}

/** Moves money along the legs, once per step. */
export async function post(
  tx: Tx,
  tenant: Tenant,
  { sourceId, step }: Step,
  legs: readonly Leg[],
  atMs: number,
  { reverses = null, description = null }: { reverses?: string | null; description?: string | null } = {},
): Promise<'posted' | 'replayed' | 'insufficient'> {
  const { verdict } = await one(
    tx.query(postLegs, {
      ...tenant,
      source: sourceId,
      step,
      ids: legs.map(() => newUuid(atMs)),
      debits: legs.map(({ debit }) => debit),
      credits: legs.map(({ credit }) => credit),
      amounts: legs.map(({ micros }) => micros.toString()),
      currencies: legs.map(({ currency }) => currency),
      reverses,
      description,
    }),
  )
  return oneOf(verdict, ['posted', 'replayed', 'insufficient'])
}

/** Legs that a step posted; none if it was never taken. */
export async function postedLegs(
  queryable: Queryable,
  tenant: Tenant,
  { sourceId, step }: Step,
): Promise<(Leg & { id: string })[]> {
  const rows = await queryable.query(legsOf, { ...tenant, source: sourceId, step })
  return rows.map(({ amount: micros, currency, ...names }) => ({ ...names, micros, currency: currencyHeld(currency) }))
}

/** Posts the mirror image of a step, once. */
export async function reverse(
  tx: Tx,
  tenant: Tenant,
  { sourceId, step }: Step,
  atMs: number,
): Promise<'posted' | 'replayed' | 'insufficient'> {
  const legs = await postedLegs(tx, tenant, { sourceId, step })
  if (legs.length === 0) throw new Error(`there is no step ${step} of ${sourceId} to reverse`)
  const mirrored = legs.map(({ debit, credit, ...money }) => ({ debit: credit, credit: debit, ...money }))
  return post(tx, tenant, { sourceId, step: `${step}:reversal` }, mirrored, atMs, { reverses: step })
}

/** Sets money aside until it is captured or released. */
export async function hold(
  tx: Tx,
  tenant: Tenant,
  { sourceId, step }: Step,
  micros: bigint,
  currency: Currency,
): Promise<'held' | 'replayed' | 'insufficient'> {
  const { verdict } = await one(tx.query(holdMoney, { ...tenant, source: sourceId, step, currency, amount: micros }))
  return oneOf(verdict, ['held', 'replayed', 'insufficient'])
}

/** Available amount, at least zero, locked until the transaction ends. */
export async function lockAvailable(tx: Tx, tenant: Tenant, currency: Currency): Promise<bigint> {
  const found = await maybe(tx.query(lockWallet, { ...tenant, currency }))
  return found && found.available > 0n ? found.available : 0n
}

/** Pays out of a hold. `capture` names this payment among those of the hold. */
export async function capture(
  tx: Tx,
  tenant: Tenant,
  { sourceId, step }: Step,
  capture: string,
  micros: bigint,
  credit: string,
  atMs: number,
): Promise<'captured' | 'replayed' | 'closed' | 'exceeds' | 'missing'> {
  const { verdict } = await one(
    tx.query(captureHold, { ...tenant, source: sourceId, step, capture, amount: micros, credit, id: newUuid(atMs) }),
  )
  return oneOf(verdict, ['captured', 'replayed', 'closed', 'exceeds', 'missing'])
}

/** Gives back what is left of a hold. */
export async function release(
  tx: Tx,
  tenant: Tenant,
  { sourceId, step }: Step,
): Promise<'released' | 'closed' | 'missing'> {
  const { verdict } = await one(tx.query(releaseHold, { ...tenant, source: sourceId, step }))
  return oneOf(verdict, ['released', 'closed', 'missing'])
}

/** Releases a part of a hold. The caller must make sure that it happens once: the release has no key of its own. */
export async function releaseSome(
  tx: Tx,
  tenant: Tenant,
  { sourceId, step }: Step,
  micros: bigint,
): Promise<'released' | 'closed' | 'exceeds' | 'missing'> {
  const { verdict } = await one(tx.query(releasePart, { ...tenant, source: sourceId, step, amount: micros }))
  return oneOf(verdict, ['released', 'closed', 'exceeds', 'missing'])
}

function walletOf({ currency, balance, held, overdraft, updated_at }: WalletRow): Wallet {
  return {
    currency: currencyHeld(currency),
    balanceMicros: balance,
    heldMicros: held,
    overdraftMicros: overdraft,
    availableMicros: balance - held + overdraft,
    updatedAt: updated_at,
  }
}

/** A currency that the ledger holds. */
export function currencyHeld(text: string): Currency {
  if (!isCurrency(text)) throw new Error(`the ledger holds an unknown currency: ${text}`)
  return text
}

function oneOf<const Words extends readonly string[]>(text: string, words: Words): Words[number] {
  const word = words.find((known) => known === text)
  if (word === undefined) throw new Error(`the ledger answered ${text}`)
  return word
}
