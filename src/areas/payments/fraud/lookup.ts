// SPDX-License-Identifier: Apache-2.0
// Lookup of the facts for risk decisions: each subject is counted, and the facts that its rules need are read, with one
// statement for all subjects of a transaction, as if they had come one after the other.
import type { App } from '../../../platform/app.ts'
import { encodeItems } from '../../../platform/commit/row-encoding.ts'
import type { Tx } from '../../../platform/db.ts'
import type { Occasion } from '../../../platform/events.ts'
import { type Candidate, candidatesOf, placesOf } from './blacklist.ts'
import type { Facts, Subject } from './fields.ts'
import { type Policy, policyOf } from './policy.ts'
import { type Looked, look, lookColumns, placeColumns, tallyColumns, uncount } from './store.ts'
import { type Tally, tallyOf } from './velocity.ts'

/**
 * Mode of an assessment: `enforced` is counted and may be blocked, `asked` is a question in advance,
 * `repeated` one about something that was counted when it happened.
 */
export type Mode = 'enforced' | 'asked' | 'repeated'

/** Rules that change faster than they can be read are taken as they were. */
const maxReloads = 3

export interface Looking {
  tenant: Occasion['tenant']
  subject: Subject
  facts: Facts
  payer: string | null
  mode: Mode
  at: Date
  realAt: Date
}

export interface Seen {
  looking: Looking
  policy: Policy
  usual: ReadonlyMap<string, bigint>
  tallies: readonly Tally[]
  looked: Looked
  counted: Counted
}

/** Rows that a subject counted itself in. */
export interface Counted {
  readonly looking: Pick<Looking, 'tenant' | 'payer' | 'at' | 'realAt'>
  readonly tallies: readonly Tally[]
}

/** Looks up all subjects with one statement; with a second for those whose rules changed since this node read them. */
export async function lookUp(app: App, tx: Tx, all: readonly Looking[]): Promise<Seen[]> {
  const seen = new Map<Looking, Seen>()
  const counted = new Map<Looking, Tally[]>(all.map((looking) => [looking, []]))
  let waiting = all
  for (let reload = 0; waiting.length > 0; reload++) {
    const views: View[] = []
    for (const looking of waiting)
      views.push(viewOf(looking, await policyOf(app, tx, looking.tenant, reload > 0), counted.get(looking) ?? []))
    const rows: Looked[] = []
    for (const turn of inTurns(views)) rows.push(...(await lookAt(tx, turn)))
    waiting = views.flatMap(({ looking, policy, usual, tallies, counting }, i) => {
      const looked = rows[i]
      if (!looked) throw new Error('something was looked for and nothing was said of it')
      const own = [...(counted.get(looking) ?? []), ...counting]
      counted.set(looking, own)
      seen.set(looking, { looking, policy, usual, tallies, looked, counted: { looking, tallies: own } })
      return looked.version === policy.version || reload === maxReloads ? [] : [looking]
    })
  }
  return all.flatMap((looking) => seen.get(looking) ?? [])
}

/** Lookup of a subject, by rules as this node knows them. */
interface View {
  looking: Looking
  policy: Policy
  usual: ReadonlyMap<string, bigint>
  tallies: readonly Tally[]
  /** Counters that this one is added to. */
  counting: readonly Tally[]
  places: readonly Candidate[]
}

function viewOf(
  looking: Looking,
  { policy, usual }: { policy: Policy; usual: ReadonlyMap<string, bigint> },
  before: readonly Tally[],
): View {
  const { subject, facts, mode, at } = looking
  // Of those that are counted in the same row, the last one says how long it is kept.
  const tallies = policy.velocities[subject.direction]
    .flatMap((velocity) => tallyOf(velocity, subject.direction, facts, at.getTime()) ?? [])
    .sort((a, b) => a.keepSeconds - b.keepSeconds)
  const isCounted = new Set(before.map(rowText))
  const counting =
    mode === 'enforced'
      ? unique(
          tallies.filter((tally) => tally.statuses === null && !isCounted.has(rowText(tally))),
          rowText,
        )
      : []
  const places = policy.hasEntries ? unique([...candidatesOf(subject), ...asked(policy, facts)], placeText) : []
  return { looking, policy, usual, tallies, counting, places }
}

/** Order within a batch: the later subject sees the earlier one in its counts, and not the other way round. */
function* inTurns(views: readonly View[]): Iterable<readonly View[]> {
  let turn: View[] = []
  let counted = new Set<string>()
  for (const view of views) {
    const { account, environment } = view.looking.tenant
    const own = view.counting.map(({ tally }) => `${account} ${environment} ${tally}`)
    if (own.some((tally) => counted.has(tally))) {
      yield turn
      turn = []
      counted = new Set()
    }
    turn.push(view)
    for (const tally of own) counted.add(tally)
  }
  if (turn.length > 0) yield turn
}

function lookAt(tx: Tx, views: readonly View[]): Promise<Looked[]> {
  return tx.query(look, {
    buckets: views.map(({ looking }) => looking.tenant.bucket),
    items: encodeItems(
      lookColumns,
      views.map(({ looking }) => itemOf(looking)),
    ),
    tallies: encodeItems(
      tallyColumns,
      views.flatMap(({ tallies, counting }, i) =>
        tallies.map((tally) => rowOf(tally, i + 1, counting.includes(tally))),
      ),
    ),
    places: encodeItems(
      placeColumns,
      views.flatMap(({ places }, i) => places.map(({ type, value }) => ({ n: i + 1, type, value }))),
    ),
  })
}

/** Takes back what this transaction counted for subjects that are not stored. */
export async function takeBack(tx: Tx, { looking, tallies }: Counted): Promise<void> {
  if (tallies.length === 0) return
  await tx.query(uncount, {
    buckets: [looking.tenant.bucket],
    items: encodeItems(lookColumns, [itemOf(looking)]),
    tallies: encodeItems(
      tallyColumns,
      tallies.map((tally) => rowOf(tally, 1, true)),
    ),
  })
}

function itemOf({ tenant, payer, at, realAt }: Counted['looking']) {
  const { bucket, account, environment } = tenant
  return { bucket, account, environment, payer, at, real_at: realAt }
}

/** `n`: of which item it is. */
function rowOf({ tally, step, start, since, item, amount, keepSeconds: keep }: Tally, n: number, counts: boolean) {
  return { n, tally, step, start: BigInt(start), since: BigInt(since), item, amount, keep, counts }
}

/** Lists lookups that the rules need. */
function asked({ lists }: Policy, facts: Facts): Candidate[] {
  return lists.flatMap(({ field, type }) => {
    const fact = facts.get(field)
    return typeof fact === 'string' ? placesOf(type, fact) : []
  })
}

function rowText({ tally, step, start, item }: Tally): string {
  return `${tally} ${step} ${start} ${item}`
}

export function placeText({ type, value }: { type: string; value: string }): string {
  return `${type} ${value}`
}

/** Items without duplicates: the last of those with the same name. */
export function unique<T>(all: readonly T[], nameOf: (one: T) => string): T[] {
  return [...new Map(all.map((one) => [nameOf(one), one])).values()]
}
