// SPDX-License-Identifier: Apache-2.0
// Velocities: counts, sums and distinct values over a window, counted in steps of time, so that a window is a sum of
// few rows. The step is the largest that fits six times into the window; a window reaches back to the beginning of its
// first step, so it is up to a sixth longer than it says and never shorter.
import { createHash } from 'node:crypto'
import { nilUuid, uuidText } from '../../../kernel/ids.ts'
import type { Facts } from './fields.ts'

export const metrics = ['count', 'sum', 'distinct'] as const
export type Metric = (typeof metrics)[number]

/** Outcomes of a payment or payout. */
export const countedStatuses = ['completed', 'failed', 'cancelled', 'expired', 'reversed'] as const

export interface Velocity {
  readonly metric: Metric
  /** Quantity that is summed, or whose distinct values are counted. */
  readonly of: string | null
  /** Fields that counted ones must share. */
  readonly by: readonly string[]
  readonly windowSeconds: number
  /** Counted when they reach one of these; null: when they are asked for. */
  readonly statuses: readonly string[] | null
}

const unitSeconds: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 }
const minWindowSeconds = 30
const maxWindowSeconds = 90 * 86_400
const steps = [86_400, 21_600, 3_600, 900, 300, 60, 15, 5] as const
const stepsInWindow = 6
const smallestStep = 5

/** The seconds of `30s` to `90d`; null when it is no such window. */
export function windowSeconds(text: string): number | null {
  const [, count, unit] = /^(\d{1,7})([smhd])$/.exec(text) ?? []
  const seconds = Number(count) * (unitSeconds[unit ?? ''] ?? Number.NaN)
  return seconds >= minWindowSeconds && seconds <= maxWindowSeconds ? seconds : null
}

export function stepOf(seconds: number): number {
  return steps.find((step) => step * stepsInWindow <= seconds) ?? smallestStep
}

/** Names a velocity: two conditions that ask the same have the same answer. */
export function velocityName({ metric, of, by, windowSeconds, statuses }: Velocity): string {
  return [metric, of ?? '', [...by].sort().join('+'), windowSeconds, [...(statuses ?? [])].sort().join('+')].join(' ')
}

/** Tally of a subject: which rows count, from when on, and what the subject adds to them. */
export interface Tally {
  readonly name: string
  readonly metric: Metric
  /** A hash of what is counted and of whom. */
  readonly tally: string
  readonly step: number
  /** Beginning of the step that the subject falls into, and of the first that is added up, in seconds. */
  readonly start: number
  readonly since: number
  /** A hash of what is told apart. */
  readonly item: string
  readonly amount: bigint
  readonly keepSeconds: number
  readonly statuses: readonly string[] | null
}

/** Tally of a velocity for a subject; null where it has nothing to be counted by. */
export function tallyOf(velocity: Velocity, direction: string, facts: Facts, nowMs: number): Tally | null {
  const { metric, of, by, windowSeconds: seconds, statuses } = velocity
  const values = [...by].sort().map((field) => facts.get(field))
  const counted = of === null ? undefined : facts.get(of)
  if (values.includes(undefined) || (of !== null && counted === undefined)) return null
  // Amounts of different currencies do not add up.
  const currency = metric === 'sum' ? facts.get('currency') : null
  const what = [direction, metric, of, currency, [...by].sort(), [...(statuses ?? [])].sort(), values.map(String)]
  const step = stepOf(seconds)
  const nowSeconds = Math.floor(nowMs / 1_000)
  return {
    name: velocityName(velocity),
    metric,
    tally: hashed(JSON.stringify(what)),
    step,
    start: nowSeconds - (nowSeconds % step),
    since: nowSeconds - seconds - ((nowSeconds - seconds) % step),
    item: metric === 'distinct' ? hashed(String(counted)) : nilUuid,
    amount: metric === 'sum' && typeof counted === 'bigint' ? counted : 0n,
    keepSeconds: seconds + step,
    statuses,
  }
}

/** 128 bits of SHA-256 in the form of a UUID, which is how PostgreSQL keeps them best. */
export function hashed(text: string): string {
  return uuidText(createHash('sha256').update(text).digest())
}

/** Sums of the rows of a tally. */
export interface Found {
  readonly count: bigint
  readonly total: bigint
  readonly items: number
  readonly hasItem: boolean
}

/** Total that a condition compares, with the subject itself, which was counted already or is added here. */
export function totalOf({ metric, amount, statuses }: Tally, found: Found, isCounted: boolean): bigint {
  const adds = !isCounted && statuses === null
  if (metric === 'count') return found.count + (adds ? 1n : 0n)
  if (metric === 'sum') return found.total + (adds ? amount : 0n)
  return BigInt(found.items + (adds && !found.hasItem ? 1 : 0))
}
