// SPDX-License-Identifier: Apache-2.0
// Deciding about a payment or payout before anybody is asked for it, inside the transaction that accepts it: it is counted,
// what is known of the other side is read in the same statement, and the decision is stored with all that it rests on.
import { idOf } from '../../../kernel/ids.ts'
import { dayMs } from '../../../kernel/time.ts'
import type { App } from '../../../platform/app.ts'
import type { Tx } from '../../../platform/db.ts'
import type { Occasion } from '../../../platform/events.ts'
import { encodeItems } from '../../../platform/items.ts'
import { type BlacklistType, type Candidate, candidatesOf, placesOf } from './blacklist.ts'
import { type Action, type Decision, decide } from './decide.ts'
import { type Facts, type FieldValue, factsOf, type Subject, storedFacts } from './fields.ts'
import { type Policy, policyOf, usualKey } from './policy.ts'
import { failedOfDay, type Level, scoreOf } from './score.ts'
import {
  countFates,
  insertCheck,
  type Looked,
  look,
  lookColumns,
  placeColumns,
  tallyColumns,
  uncount,
} from './store.ts'
import { hashed, type Tally, tallyOf, totalOf, velocityName } from './velocity.ts'

export interface Assessment extends Decision {
  /** The UUID of the check; that of the payment or payout, where there is one. */
  readonly checkId: string
  readonly flags: readonly string[]
  readonly blacklistHits: readonly { id: string; type: BlacklistType; shown: string }[]
  /** What a payment that is blocked fails with. */
  readonly failureReason: 'BLOCKED_BY_RULE' | 'BLACKLISTED' | null
}

/**
 * Whether it is about something that happens: `enforced` is counted and may be blocked, `asked` is a question in advance,
 * `repeated` one about something that was counted when it happened.
 */
export type Mode = 'enforced' | 'asked' | 'repeated'

/** Decides about something that is about to happen, and stores the decision. The caller does what it says. */
export async function assess(app: App, tx: Tx, occasion: Occasion, subject: Subject): Promise<Assessment> {
  const { assessment, check } = await weigh(app, tx, { occasion, subject, mode: 'enforced' })
  await storeCheck(tx, occasion, check)
  return assessment
}

/** A decision and all that it rests on, as it is stored. */
export interface Check {
  id: string
  direction: Subject['direction']
  enforced: boolean
  currency: string
  amount: bigint
  score: number
  decision: Action
  inputs: string
  matched: readonly string[]
  payer: string | null
  watched: string
}

export async function storeCheck(tx: Tx, { tenant, nowMs }: Occasion, check: Check): Promise<void> {
  await tx.query(insertCheck, { ...tenant, ...check, at: new Date(nowMs) })
}

/** Something to be decided about. */
export interface Weighing {
  readonly occasion: Occasion
  readonly subject: Subject
  readonly mode: Mode
  /** Facts that its own check knew, where it is asked about again. */
  readonly known?: Facts
}

export interface Weighed {
  readonly assessment: Assessment
  /** For the caller to store. */
  readonly check: Check
  /** Where it counted itself. */
  readonly counted: Counted
}

/** Counts and decides. */
export async function weigh(app: App, tx: Tx, weighing: Weighing): Promise<Weighed> {
  const [weighed] = await weighTogether(app, tx, [weighing])
  if (!weighed) throw new Error('a decision was asked for and none was made')
  return weighed
}

/** The same for several at once: as if they had come one after the other. */
export async function weighTogether(app: App, tx: Tx, all: readonly Weighing[]): Promise<Weighed[]> {
  const seen = await lookUp(
    app,
    tx,
    all.map(({ occasion: { tenant, receivedMs, nowMs }, subject, mode, known = new Map() }) => ({
      tenant,
      subject,
      mode,
      facts: new Map([...known, ...factsOf(subject, nowMs)]),
      payer: payerOf(subject),
      at: new Date(nowMs),
      realAt: new Date(receivedMs),
    })),
  )
  return seen.map(weighedOf)
}

/** What is decided on what was seen. */
function weighedOf({ looking, policy, usual, tallies, looked, counted }: Seen): Weighed {
  const { tenant, subject, mode, payer, at } = looking
  const { direction, currency, method, micros } = subject
  const nowMs = at.getTime()
  const facts = new Map(looking.facts)
  const totals = totalsOf(tallies, looked, mode)
  for (const [field, value] of historyOf(totals, payer, looked, nowMs)) facts.set(field, value)
  const scored = scoreOf({
    direction,
    facts,
    totals,
    usualMicros: usual.get(usualKey(direction, currency)) ?? null,
    hint: tenant.environment === 'test' ? (subject.riskHint ?? null) : null,
  })
  facts.set('risk_score', scored.score)
  const hits = looked.hits ?? []
  const entries = new Set(hits.map(({ type, value }) => placeText({ type, value })))
  const own = new Set(candidatesOf(subject).map(placeText))
  const blacklistHits = hits.filter((hit) => hit.applies_to.includes(direction) && own.has(placeText(hit)))
  const isBlacklisted = blacklistHits.length > 0
  const listed = (type: BlacklistType, value: string) =>
    placesOf(type, value).some((place) => entries.has(placeText(place)))
  const decision = decide(policy.rules, { facts, totals, listed, direction, method, scored, isBlacklisted })
  const check: Check = {
    id: subject.id,
    direction,
    enforced: mode === 'enforced',
    currency,
    amount: micros,
    score: decision.score,
    decision: decision.decision,
    inputs: JSON.stringify({
      facts: storedFacts(facts),
      totals: Object.fromEntries([...totals].map(([name, total]) => [name, String(total)])),
      listed: [...entries],
    }),
    matched: decision.matched.map(({ id }) => id),
    payer,
    watched: JSON.stringify(mode === 'enforced' ? watched(tallies) : []),
  }
  const assessment: Assessment = {
    ...decision,
    checkId: subject.id,
    flags: [...scored.flags, ...(isBlacklisted ? ['blacklisted'] : [])],
    blacklistHits: blacklistHits.map(({ id, type, shown }) => ({ id, type, shown })),
    failureReason: decision.decision !== 'block' ? null : isBlacklisted ? 'BLACKLISTED' : 'BLOCKED_BY_RULE',
  }
  return { assessment, check, counted }
}

/** What each velocity comes to with what is being decided about: a question in advance was counted nowhere yet. */
function totalsOf(tallies: readonly Tally[], looked: Looked, mode: Mode): Map<string, bigint> {
  return new Map(
    tallies.map((tally, i) => {
      const [count = 0, total = 0, items = 0, hasItem = false] = looked.totals?.[i] ?? []
      const found = { count: BigInt(count), total: BigInt(total), items, hasItem }
      return [tally.name, totalOf(tally, found, mode !== 'asked')]
    }),
  )
}

/** The facts about the other side that only its past tells. */
function historyOf(totals: ReadonlyMap<string, bigint>, payer: string | null, looked: Looked, nowMs: number): Facts {
  const facts = new Map<string, FieldValue>()
  const failed = totals.get(velocityName(failedOfDay))
  if (failed !== undefined) facts.set('failed_last_24h', Number(failed))
  if (payer !== null) facts.set('is_first_payment', looked.first_at === null)
  if (looked.first_at) facts.set('customer_age_days', Math.floor((nowMs - looked.first_at.getTime()) / dayMs))
  return facts
}

/** Counts what became of payments or payouts whose checks asked for it, in the transaction that moved them there. */
export async function noteFate(
  tx: Tx,
  { tenant, nowMs, receivedMs }: Occasion,
  ids: readonly string[],
  status: string,
): Promise<void> {
  await tx.query(countFates, { ...tenant, ids, status, at: new Date(nowMs), realAt: new Date(receivedMs) })
}

/** What was found, as it is stored with a payment or payout and read by customers. */
export interface Risk {
  risk_check_id: string
  risk_score: number
  risk_level: Level
  flags: string[]
  decision: Action
  rule_id: string | null
}

export function riskOf({ checkId, score, level, flags, decision, ruleId }: Assessment): Risk {
  return {
    risk_check_id: idOf('riskCheck', checkId),
    risk_score: score,
    risk_level: level,
    flags: [...flags],
    decision,
    rule_id: ruleId && idOf('fraudRule', ruleId),
  }
}

/** Rules that change faster than they can be read are taken as they were. */
const mostReloads = 3

interface Looking {
  tenant: Occasion['tenant']
  subject: Subject
  facts: Facts
  payer: string | null
  mode: Mode
  at: Date
  realAt: Date
}

interface Seen {
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

/** One statement, as a rule; another for those whose rules have changed since this node read them. */
async function lookUp(app: App, tx: Tx, all: readonly Looking[]): Promise<Seen[]> {
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
      return looked.version === policy.version || reload === mostReloads ? [] : [looking]
    })
  }
  return all.flatMap((looking) => seen.get(looking) ?? [])
}

/** What is asked about a subject, by rules as this node knows them. */
interface View {
  looking: Looking
  policy: Policy
  usual: ReadonlyMap<string, bigint>
  tallies: readonly Tally[]
  /** Those that it counts itself in now. */
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

/** Whoever is counted together with another is looked at after it, so that it sees the other and is not seen by it. */
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

/** Takes back what was counted in this transaction of what there will be nothing of. */
export async function takeBack(tx: Tx, { looking, tallies }: Counted): Promise<void> {
  if (tallies.length === 0) return
  await tx.query(uncount, {
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

/** Where rules look for what they were told to look for. */
function asked({ lists }: Policy, facts: Facts): Candidate[] {
  return lists.flatMap(({ field, type }) => {
    const fact = facts.get(field)
    return typeof fact === 'string' ? placesOf(type, fact) : []
  })
}

function watched(tallies: readonly Tally[]) {
  return unique(
    tallies.filter(({ statuses }) => statuses !== null),
    ({ tally, step, item }) => `${tally} ${step} ${item}`,
  ).map(({ tally, step, item, amount, keepSeconds, statuses }) => ({
    tally,
    step,
    item,
    amount: String(amount),
    keep: keepSeconds,
    statuses,
  }))
}

/** Who it is about, by the best that is known: the customer's own id, the phone, the address, the card, the account. */
function payerOf({ direction, customer, phone, card, bank }: Subject): string | null {
  const known = [
    ['customer', customer?.customer_id],
    ['phone', phone],
    ['email', customer?.email?.toLowerCase()],
    ['card', card?.fingerprint],
    ['bank', bank?.accountNumber],
  ].find(([, value]) => value)
  return known ? hashed(JSON.stringify([direction, ...known])) : null
}

function rowText({ tally, step, start, item }: Tally): string {
  return `${tally} ${step} ${start} ${item}`
}

function placeText({ type, value }: { type: string; value: string }): string {
  return `${type} ${value}`
}

/** Each once, the last of those with the same name. */
function unique<T>(all: readonly T[], nameOf: (one: T) => string): T[] {
  return [...new Map(all.map((one) => [nameOf(one), one])).values()]
}
