// SPDX-License-Identifier: Apache-2.0
// The ledger on a page: any history of operations, and what must come of each of them.
import assert from 'node:assert/strict'
import fc from 'fast-check'
import type { Currency } from '../src/kernel/money.ts'
import type { Leg } from '../src/ledger/wallets.ts'

export const currencies = ['KES', 'USD'] as const

export type Operation =
  | { kind: 'charge'; items: { tenant: number; source: number; step: string; currency: Currency; micros: bigint }[] }
  | { kind: 'post'; tenant: number; source: number; step: string; legs: Leg[] }
  | { kind: 'reverse'; tenant: number; source: number; step: string }
  | { kind: 'hold'; tenant: number; source: number; step: string; currency: Currency; micros: bigint }
  | { kind: 'capture'; tenant: number; source: number; step: string; capture: string; micros: bigint }
  | { kind: 'release'; tenant: number; source: number; step: string }
  | { kind: 'overdraft'; tenant: number; currency: Currency; micros: bigint }

const tenantCount = 3
export const sourceCount = 4
const anyTenant = fc.nat({ max: tenantCount - 1 })
const anyMicros = fc.bigInt({ min: 1n, max: 60n })

/** Few sources and steps, so that operations meet. */
export function anyOperation(
  currency: fc.Arbitrary<Currency>,
  tenant = anyTenant,
  source = fc.nat({ max: sourceCount - 1 }),
): fc.Arbitrary<Operation> {
  const step = fc.constantFrom('a', 'b', 'c')
  const about = { tenant, source, step }
  const side = fc.constantFrom('wallet', 'wallet', 'float', 'revenue')
  const leg = fc
    .record({ debit: side, credit: side, micros: anyMicros, currency })
    .filter(({ debit, credit }) => debit !== credit)
  const credit = fc.record({
    debit: fc.constant('float'),
    credit: fc.constant('wallet'),
    micros: fc.bigInt({ min: 50n, max: 150n }),
    currency,
  })
  return fc.oneof(
    { weight: 5, arbitrary: anyCharge(currency, tenant, source) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('post'), ...about, legs: fc.tuple(credit) }) },
    {
      weight: 2,
      arbitrary: fc.record({
        kind: fc.constant('post'),
        ...about,
        legs: fc.array(leg, { minLength: 1, maxLength: 3 }),
      }),
    },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('reverse'), ...about }) },
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('hold'), ...about, currency, micros: anyMicros }) },
    {
      weight: 4,
      arbitrary: fc.record({
        kind: fc.constant('capture'),
        ...about,
        capture: fc.constantFrom('a', 'x', 'y'),
        micros: fc.bigInt({ min: 1n, max: 30n }),
      }),
    },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('release'), ...about }) },
    {
      weight: 1,
      arbitrary: fc.record({
        kind: fc.constant('overdraft'),
        tenant,
        currency,
        micros: fc.bigInt({ min: 0n, max: 40n }),
      }),
    },
  )
}

function anyCharge(
  currency: fc.Arbitrary<Currency>,
  tenant: fc.Arbitrary<number>,
  source: fc.Arbitrary<number>,
): fc.Arbitrary<Operation> {
  const step = fc.constantFrom('a', 'b', 'd', 'e', 'f')
  const micros = fc.oneof(anyMicros, anyMicros, fc.constant(0n))
  return fc.record({
    kind: fc.constant('charge'),
    items: fc.array(fc.record({ tenant, source, step, currency, micros }), { minLength: 1, maxLength: 9 }),
  })
}

/** Several operations on one wallet, or a batch over many. A source keeps to one currency, as an object has one. */
export function anyTransaction(): fc.Arbitrary<Operation[]> {
  const onOneWallet = fc.tuple(anyTenant, fc.constantFrom(0, 1)).chain(([tenant, parity]) => {
    const sources = fc.constantFrom(parity, parity + 2)
    return fc.array(anyOperation(fc.constant(currencies[parity] ?? 'KES'), fc.constant(tenant), sources), {
      minLength: 1,
      maxLength: 3,
    })
  })
  const overMany = anyCharge(fc.constant('KES'), anyTenant, fc.nat({ max: sourceCount - 1 })).map((operation) => {
    if (operation.kind !== 'charge') return [operation]
    return [
      {
        ...operation,
        items: operation.items.map((item) => ({ ...item, currency: currencies[item.source % 2] ?? 'KES' })),
      },
    ]
  })
  return fc.oneof(onOneWallet, overMany)
}

export interface Model {
  wallets: Map<string, { balance: bigint; held: bigint; overdraft: bigint }>
  holds: Map<string, { currency: Currency; amount: bigint; captured: bigint; released: bigint }>
  postings: Map<string, Leg[]>
}

export function newModel(): Model {
  return { wallets: new Map(), holds: new Map(), postings: new Map() }
}

export function judge(model: Model, operation: Operation): string[] {
  if (operation.kind === 'charge') return operation.items.map((item) => judgeCharge(model, item))
  const key = 'source' in operation ? keyOf(operation.tenant, operation.source, operation.step) : ''
  if (operation.kind === 'post') return [judgePost(model, operation.tenant, key, operation.legs)]
  if (operation.kind === 'reverse') {
    const legs = model.postings.get(key)?.map((leg) => ({ ...leg, debit: leg.credit, credit: leg.debit }))
    return [legs ? judgePost(model, operation.tenant, `${key}:reversal`, legs) : 'nothing to reverse']
  }
  if (operation.kind === 'hold') return [judgeHold(model, key, operation)]
  if (operation.kind === 'overdraft') return [judgeOverdraft(model, operation)]
  const held = model.holds.get(key)
  if (!held) return ['missing']
  const wallet = model.wallets.get(`${operation.tenant} ${held.currency}`) ?? assert.fail('a hold without a wallet')
  const remaining = held.amount - held.captured - held.released
  if (operation.kind === 'release') {
    wallet.held -= remaining
    held.released += remaining
    return [remaining > 0n ? 'released' : 'closed']
  }
  const captureKey = keyOf(operation.tenant, operation.source, operation.capture)
  if (model.postings.has(captureKey)) return ['replayed']
  if (remaining === 0n) return ['closed']
  if (operation.micros > remaining) return ['exceeds']
  held.captured += operation.micros
  wallet.held -= operation.micros
  wallet.balance -= operation.micros
  model.postings.set(captureKey, [
    { debit: 'wallet', credit: 'float', micros: operation.micros, currency: held.currency },
  ])
  return ['captured']
}

function judgeCharge(
  model: Model,
  {
    tenant,
    source,
    step,
    currency,
    micros,
  }: { tenant: number; source: number; step: string; currency: Currency; micros: bigint },
): string {
  const key = keyOf(tenant, source, step)
  const wallet = model.wallets.get(`${tenant} ${currency}`)
  if (model.postings.has(key)) return 'replayed'
  if (micros === 0n) return 'charged'
  if (!wallet || wallet.balance - wallet.held + wallet.overdraft < micros) return 'insufficient'
  wallet.balance -= micros
  model.postings.set(key, [{ debit: 'wallet', credit: 'revenue:sms', micros, currency }])
  return 'charged'
}

function judgePost(model: Model, tenant: number, key: string, legs: Leg[]): string {
  const stored = model.postings.get(key)
  if (stored && JSON.stringify(stored, bigintText) !== JSON.stringify(legs, bigintText)) return 'other legs'
  for (const { currency, debit, credit } of legs)
    if ([debit, credit].includes('wallet') && !model.wallets.has(`${tenant} ${currency}`))
      model.wallets.set(`${tenant} ${currency}`, { balance: 0n, held: 0n, overdraft: 0n })
  if (stored) return 'replayed'
  const nets = netOf(legs)
  for (const [currency, net] of nets) {
    const wallet = model.wallets.get(`${tenant} ${currency}`)
    if (wallet && net < 0n && wallet.balance + net - wallet.held < -wallet.overdraft) return 'insufficient'
  }
  for (const [currency, net] of nets) {
    const wallet = model.wallets.get(`${tenant} ${currency}`)
    if (wallet) wallet.balance += net
  }
  model.postings.set(key, legs)
  return 'posted'
}

function judgeHold(
  model: Model,
  key: string,
  { tenant, currency, micros }: { tenant: number; currency: Currency; micros: bigint },
): string {
  const wallet = model.wallets.get(`${tenant} ${currency}`)
  if (model.holds.has(key)) return 'replayed'
  if (!wallet || wallet.balance - wallet.held + wallet.overdraft < micros) return 'insufficient'
  wallet.held += micros
  model.holds.set(key, { currency, amount: micros, captured: 0n, released: 0n })
  return 'held'
}

function judgeOverdraft(
  model: Model,
  { tenant, currency, micros }: { tenant: number; currency: Currency; micros: bigint },
): string {
  const wallet = model.wallets.get(`${tenant} ${currency}`) ?? { balance: 0n, held: 0n, overdraft: 0n }
  if (wallet.balance - wallet.held < -micros) return 'CONFLICT'
  model.wallets.set(`${tenant} ${currency}`, { ...wallet, overdraft: micros })
  return 'set'
}

export function netOf(legs: readonly Leg[]): Map<Currency, bigint> {
  const nets = new Map<Currency, bigint>()
  for (const { debit, credit, micros, currency } of legs) {
    const change = credit === 'wallet' ? micros : debit === 'wallet' ? -micros : 0n
    nets.set(currency, (nets.get(currency) ?? 0n) + change)
  }
  return nets
}

export function keyOf(tenant: number, source: number, step: string): string {
  return `${tenant} ${source} ${step}`
}

export function bigintText(_: string, value: unknown): unknown {
  return typeof value === 'bigint' ? value.toString() : value
}
