// SPDX-License-Identifier: Apache-2.0
// Risk score before any rule: points for each unusual fact, in components that add up. Without a rule, a phone that is
// asked often and fails often stays below the threshold of review.
import type { Facts, RiskHint } from './fields.ts'
import { type Velocity, velocityName } from './velocity.ts'

export const levels = ['low', 'medium', 'high', 'very_high'] as const
export type Level = (typeof levels)[number]

export const reviewFrom = 60
export const blockFrom = 80
const highFrom = reviewFrom
const veryHighFrom = blockFrom
const mediumFrom = 30

export function levelOf(score: number): Level {
  return score >= veryHighFrom ? 'very_high' : score >= highFrom ? 'high' : score >= mediumFrom ? 'medium' : 'low'
}

export const componentNames = ['velocity', 'amount', 'identity', 'card', 'geo', 'history', 'rules'] as const
export type Components = Readonly<Record<(typeof componentNames)[number], number>>

export interface Scored {
  readonly score: number
  readonly components: Components
  readonly flags: readonly string[]
}

const hour = 3_600
const day = 24 * hour

function counting(field: string, windowSeconds: number, statuses: readonly string[] | null = null): Velocity {
  return { metric: 'count', of: null, by: [field], windowSeconds, statuses }
}

export const failedOfDay = counting('phone', day, ['failed'])
const askedOfDay = counting('phone', day)

/** Velocities that are always counted: points from so many on. */
const counted: readonly { velocity: Velocity; flag: string; points: readonly (readonly [from: number, points: number])[] }[] = [
  { velocity: counting('phone', hour), flag: 'velocity_phone_1h', points: [[4, 10], [7, 20], [12, 30]] },
  { velocity: askedOfDay, flag: 'velocity_phone_24h', points: [[12, 5], [30, 10]] },
  { velocity: counting('device_id', hour), flag: 'velocity_device_1h', points: [[5, 10], [10, 25]] },
  { velocity: counting('ip_address', hour), flag: 'velocity_ip_1h', points: [[20, 5], [60, 15]] },
  { velocity: counting('card_fingerprint', hour), flag: 'velocity_card_1h', points: [[4, 15], [8, 30]] },
] // biome-ignore format: a table reads better dense

export const alwaysCounted: readonly Velocity[] = [...counted.map(({ velocity }) => velocity), failedOfDay]

const maxForVelocity = 35
/** Times the amount that 95 of 100 of the account's own stay below. */
const amountPoints = [[5n, 15], [2n, 10], [1n, 5]] as const // biome-ignore format: a table reads better dense
const unusualPoints = 10
const newCustomerPoints = 5
/** Points of a new recipient; few enough that a phone paid often and failing often is not sent to review by them. */
const newRecipientPoints = 9
const disposablePoints = 10
const cardCountryPoints = 15
const countryPoints = 10
const askedBeforeShare = 4n
const historyPoints = 15
/** Least score of a test card that provokes risk. */
const hinted: Readonly<Record<RiskHint, number>> = { high: 65, very_high: 90 }

const disposableDomains = new Set([
  '10minutemail.com',
  'discard.email',
  'dispostable.com',
  'fakeinbox.com',
  'getnada.com',
  'guerrillamail.com',
  'mailinator.com',
  'maildrop.cc',
  'moakt.com',
  'sharklasers.com',
  'temp-mail.org',
  'tempmail.com',
  'throwawaymail.com',
  'trashmail.com',
  'yopmail.com',
])

export interface Scorable {
  readonly direction: 'payment' | 'payout'
  readonly facts: Facts
  readonly totals: ReadonlyMap<string, bigint>
  /** 95th percentile of the account's amounts in this currency; null while there are too few. */
  readonly usualMicros: bigint | null
  readonly hint: RiskHint | null
}

export function scoreOf({ direction, facts, totals, usualMicros, hint }: Scorable): Scored {
  const flags: string[] = []
  const note = (isSo: boolean, points: number, flag: string): number => {
    if (isSo && points > 0) flags.push(flag)
    return isSo ? points : 0
  }
  const velocity = Math.min(
    maxForVelocity,
    counted.reduce((sum, { velocity, flag, points }) => {
      const total = totals.get(velocityName(velocity)) ?? 0n
      return sum + note(true, points.findLast(([from]) => total >= BigInt(from))?.[1] ?? 0, flag)
    }, 0),
  )
  const amount = amountScore(facts.get('amount'), usualMicros)
  if (amount >= unusualPoints) flags.push('amount_unusual')
  const isFirst = facts.get('is_first_payment') === true
  const isDisposable = disposableDomains.has(String(facts.get('email_domain')))
  const identity =
    (direction === 'payment'
      ? note(isFirst, newCustomerPoints, 'new_customer')
      : note(isFirst, newRecipientPoints, 'new_recipient')) + note(isDisposable, disposablePoints, 'disposable_email')
  const geo = note(differ(facts, 'ip_country', 'phone_country'), countryPoints, 'ip_country_differs')
  const history = note(failsOften(totals), historyPoints, 'failed_often_24h')
  const cardCountry = differ(facts, 'card_country', 'phone_country') || differ(facts, 'card_country', 'ip_country')
  let card = note(cardCountry, cardCountryPoints, 'card_country_differs')
  const sum = velocity + amount + identity + card + geo + history
  if (hint !== null && sum < hinted[hint]) {
    card += hinted[hint] - sum
    flags.push('test_card')
  }
  const components = { velocity, amount, identity, card, geo, history, rules: 0 }
  return {
    score: Math.min(
      100,
      Object.values(components).reduce((a, b) => a + b),
    ),
    components,
    flags,
  }
}

function amountScore(amount: unknown, usualMicros: bigint | null): number {
  if (usualMicros === null || typeof amount !== 'bigint') return 0
  return amountPoints.find(([times]) => amount > times * usualMicros)?.[1] ?? 0
}

/** Whether at least half of the requests failed. */
function failsOften(totals: ReadonlyMap<string, bigint>): boolean {
  const asked = totals.get(velocityName(askedOfDay)) ?? 0n
  const failed = totals.get(velocityName(failedOfDay)) ?? 0n
  return asked > askedBeforeShare && failed * 2n >= asked - 1n
}

function differ(facts: Facts, one: string, other: string): boolean {
  const [a, b] = [facts.get(one), facts.get(other)]
  return a !== undefined && b !== undefined && a !== b
}
