// SPDX-License-Identifier: Apache-2.0
// Risk decision on a payment or payout before the provider is asked, inside the transaction that accepts it: it is
// counted, the history of the other side is read in the same statement, and the decision is stored with its reasons.
import { idOf } from '../../../kernel/ids.ts'
import { dayMs } from '../../../kernel/time.ts'
import type { App } from '../../../platform/app.ts'
import type { Tx } from '../../../platform/db.ts'
import type { Occasion } from '../../../platform/events.ts'
import { type BlacklistType, candidatesOf, placesOf } from './blacklist.ts'
import { type Action, type Decision, decide } from './decide.ts'
import { type Facts, type FieldValue, factsOf, type Subject, storedFacts } from './fields.ts'
import { type Counted, lookUp, type Mode, placeText, type Seen, unique } from './lookup.ts'
import { usualKey } from './policy.ts'
import { failedOfDay, type Level, scoreOf } from './score.ts'
import { countFates, insertCheck, type Looked } from './store.ts'
import { hashed, type Tally, totalOf, velocityName } from './velocity.ts'

export interface Assessment extends Decision {
  /** The UUID of the check; that of the payment or payout, where there is one. */
  readonly checkId: string
  readonly flags: readonly string[]
  readonly blacklistHits: readonly { id: string; type: BlacklistType; shown: string }[]
  /** Failure reason of a payment that is blocked. */
  readonly failureReason: 'BLOCKED_BY_RULE' | 'BLACKLISTED' | null
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
  /** Record of the assessment, for the caller to store. */
  readonly check: Check
  /** Counters that it was added to. */
  readonly counted: Counted
}

/** Counts and decides. */
export async function weigh(app: App, tx: Tx, weighing: Weighing): Promise<Weighed> {
  const [weighed] = await weighBatch(app, tx, [weighing])
  if (!weighed) throw new Error('a decision was asked for and none was made')
  return weighed
}

/** Decides on several at once, as if they had come one after the other. */
export async function weighBatch(app: App, tx: Tx, all: readonly Weighing[]): Promise<Weighed[]> {
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

/** Decision on the facts that were read. */
function weighedOf({ looking, policy, usual, tallies, looked, counted }: Seen): Weighed {
  const { tenant, subject, mode, payer, at } = looking
  const { direction, currency, method, micros, card } = subject
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
  const canProve = method === 'card' && card?.isSaved !== true
  const decision = decide(policy.rules, { facts, totals, listed, direction, canProve, scored, isBlacklisted })
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

/** Totals of the velocities, with the subject itself: a check in advance was counted nowhere yet. */
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

/** Risk as it is stored with a payment or payout and read by customers. */
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

/** Identity of the other side, by the best that is known: the customer's own id, the phone, the address, the card, the account. */
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
