// SPDX-License-Identifier: Apache-2.0
// The transaction of a batch: it accepts what can be accepted and pays for all of it last; an entry that cannot be accepted
// stops no other.
import type { Static } from 'typebox'
import { idOf, newUuid } from '../../../kernel/ids.ts'
import { minuteMs } from '../../../kernel/time.ts'
import { walletsOf } from '../../../ledger/wallets.ts'
import { record } from '../../../platform/api/audit.ts'
import type { App } from '../../../platform/app.ts'
import type { Caller } from '../../../platform/auth.ts'
import { encodeItems } from '../../../platform/commit/row-encoding.ts'
import { one, statement, type Tx } from '../../../platform/db.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import type { NewJob } from '../../../platform/work.ts'
import { callersCurrency } from '../prices/pricing.ts'
import { acceptOne, itemOf, jobOfMany } from '../sending/accept.ts'
import type { Draft } from '../sending/draft.ts'
import { beyondWallet, forcedRefusal, optedOut, referenceUsed, tooExpensive } from '../sending/refusals.ts'
import type { Notes } from '../store.ts'
import { batchJob, firstLookMs } from './complete.ts'
import type { Entry } from './entries.ts'
import type { BulkReply } from './schema.ts'
import { insertBatch, type Rejection } from './store.ts'

/** Messages per statement of a transaction. */
const chunkSize = 500

/** Does for many what `acceptOne` does for one, except that the transaction charges for all of them last. */
const accept = statement.tenant<{ bucket: number; items: Buffer }, { verdict: string; existing: string | null }>(
  'sms.accept',
  `select v.verdict, v.existing
     from unnest(sms.accept($items::sms.submit_item[], false))
          with ordinality as v(verdict, existing, n)
    order by v.n`,
)

const charge = statement.tenant<
  Tenant & {
    currency: string
    ids: readonly string[]
    amounts: readonly string[]
    transfers: readonly string[]
  },
  { insufficient: boolean }
>(
  'sms.charge',
  `select coalesce('insufficient' = any(ledger.charge(array(
            select row($bucket::smallint, $account::uuid, $environment::text, $currency::text, i.amount, i.id, 'charge',
                       i.transfer, 'revenue:sms')::ledger.charge_item
              from unnest($ids::uuid[], $amounts::bigint[], $transfers::uuid[]) as i(id, amount, transfer)))),
          false) as insufficient`,
)

/** Outcome of an entry, as the reply shows it. */
export type EntryOutcome = Static<typeof BulkReply>['messages'][number]

interface Accepted {
  batch: string
  outcomes: EntryOutcome[]
  head: { accepted: number; rejected: number; segments: number; cost: bigint; currency: string }
}

/** Accepts what can be accepted, all of it or nothing as far as money goes. */
export async function acceptBatch(
  app: App,
  tx: Tx,
  entries: readonly Entry[],
  metadata: Notes,
  caller: Caller,
): Promise<Accepted> {
  const currency = callersCurrency(caller)
  const batch = newUuid(caller.receivedMs)
  const drafts = entries.flatMap((entry) => ('draft' in entry ? [entry] : []))
  const total = drafts.reduce((sum, { draft }) => sum + draft.cost, 0n)
  if (drafts.some(({ draft }) => forcedRefusal(draft, caller) === 'INSUFFICIENT_BALANCE'))
    throw tooExpensive(currency, total, 0n)
  const { verdicts, jobs } = await decide(app, tx, batch, drafts, caller)
  const outcomes = entries.map((entry) => outcomeOf(entry, verdicts.get(entry.index), currency))
  const head = headOf(outcomes, currency)
  await insertBatch(tx, caller.tenant, {
    id: batch,
    total: entries.length,
    ...head,
    metadata,
    rejections: outcomes.flatMap(rejectionOf),
    created_at: new Date(caller.nowMs),
  })
  const watch = app.work.prepare(batchJob, caller.tenant, { batch }, { delayMs: firstLookMs })
  await app.work.add(tx, watch)
  await record(tx, caller, 'sms.send_batch', idOf('smsBatch', batch), { after: { accepted: head.accepted } })
  const paying = drafts.filter(({ index }) => verdicts.get(index)?.verdict === 'accepted').map(({ draft }) => draft)
  await pay(tx, paying, caller)
  tx.afterCommit(() => {
    for (const job of jobs) app.work.begin(job)
  })
  return { batch, outcomes, head }
}

interface Verdict {
  verdict: string
  existing: string | null
}

interface Decided {
  /** Verdicts by the index of the entry. */
  verdicts: ReadonlyMap<number, Verdict>
  /** Jobs of the accepted messages. */
  jobs: readonly NewJob[]
}

/** Stores the messages with their jobs, or learns why not, some at a time. */
async function decide(
  app: App,
  tx: Tx,
  batch: string,
  drafts: readonly { index: number; draft: Draft }[],
  caller: Caller,
): Promise<Decided> {
  const verdicts = new Map<number, Verdict>()
  const jobs: NewJob[] = []
  for (let start = 0; start < drafts.length; start += chunkSize) {
    const chunk = drafts.slice(start, start + chunkSize).map(({ index, draft }, i) => ({
      index,
      draft,
      job: jobOfMany(app, draft, caller, afterMs(app, caller, start + i)),
    }))
    const items = chunk.map(({ index, draft, job }) =>
      Object.assign(itemOf(draft, job, caller), {
        batch,
        batch_index: index,
        refusal: forcedRefusal(draft, caller),
        charge: null,
      }),
    )
    const rows = await tx.query(accept, { bucket: caller.tenant.bucket, items: encodeItems(acceptOne.takes, items) })
    for (const [i, { index, job }] of chunk.entries()) {
      const row = rows[i]
      if (!row) throw new Error('a message was given no verdict')
      verdicts.set(index, row)
      if (row.verdict === 'accepted') jobs.push(job)
    }
  }
  return { verdicts, jobs }
}

/** Totals of a batch. */
function headOf(outcomes: readonly EntryOutcome[], currency: string): Accepted['head'] {
  const accepted = outcomes.filter(({ message_id }) => message_id !== null).length
  return {
    accepted,
    rejected: outcomes.length - accepted,
    segments: outcomes.reduce((sum, { segments, error_code }) => sum + (error_code === null ? segments : 0), 0),
    cost: outcomes.reduce((sum, { cost }) => sum + cost, 0n),
    currency,
  }
}

/**
 * A plan's messages of a minute go at once, those of the next when it has passed: neither a bulk nor a list of recipients is
 * refused for its size.
 */
function afterMs(app: App, { principal }: Caller, position: number): number {
  const perMinute = principal.planPolicies.sms?.limit
  if (perMinute === undefined || perMinute === 0 || app.config.PAMOJA_RATE_LIMITS === 'off') return 0
  return Math.floor(position / perMinute) * minuteMs
}

/** Charges last in the transaction: from here on the wallet is locked. */
async function pay(tx: Tx, drafts: readonly Draft[], caller: Caller): Promise<void> {
  if (drafts.length === 0) return
  const currency = callersCurrency(caller)
  const total = drafts.reduce((sum, { cost }) => sum + cost, 0n)
  // An insufficient balance is mostly seen without the lock, before each message is decided on.
  const wallet = (await walletsOf(tx, caller.tenant)).find((candidate) => candidate.currency === currency)
  const available = wallet?.availableMicros ?? 0n
  if (total > available) throw tooExpensive(currency, total, available)
  const { insufficient } = await one(
    tx.query(charge, {
      ...caller.tenant,
      currency,
      ids: drafts.map(({ uuid }) => uuid),
      amounts: drafts.map(({ cost }) => cost.toString()),
      transfers: drafts.map(() => newUuid(caller.receivedMs)),
    }),
  )
  if (insufficient) throw await beyondWallet(tx, caller.tenant, currency, total)
}

function outcomeOf(entry: Entry, decided: Verdict | undefined, currency: string): EntryOutcome {
  const { index, to } = entry
  const refused = { index, to, message_id: null, status: 'failed' as const, segments: 0, cost: 0n, currency }
  if (!('draft' in entry)) return { ...refused, error_code: entry.code, error: entry.why }
  const { draft } = entry
  if (decided?.verdict === 'duplicate')
    return {
      ...refused,
      error_code: 'DUPLICATE_REFERENCE',
      error: referenceUsed(draft, decided.existing).details,
      ...(decided.existing ? { existing_id: idOf('sms', decided.existing) } : {}),
    }
  const isOut = decided?.verdict === 'opted_out'
  return {
    index,
    message_id: idOf('sms', draft.uuid),
    to,
    status: isOut ? 'failed' : 'queued',
    segments: draft.text.segments,
    cost: isOut ? 0n : draft.cost,
    currency,
    error_code: isOut ? 'OPTED_OUT' : null,
    ...(isOut ? { error: optedOut(draft).details } : {}),
  }
}

function rejectionOf({ index, to, message_id, error_code, error = '', existing_id }: EntryOutcome): Rejection[] {
  if (message_id !== null || error_code === null) return []
  return [{ index, to, error_code, error, ...(existing_id === undefined ? {} : { existing_id }) }]
}
