// SPDX-License-Identifier: Apache-2.0
// Delivery receipts: a receipt finds its message by the id that the carrier gave it, changes its state where that is
// still open, and becomes an event. One that comes before its id is known waits in the database.
import { buckets } from '../../../kernel/ids.ts'
import type { App } from '../../../platform/app.ts'
import { operation, surely } from '../../../platform/commit.ts'
import { gathered } from '../../../platform/concurrency/gather.ts'
import { statement } from '../../../platform/db.ts'
import type { Chore } from '../../../platform/nodes/maintenance.ts'
import { onePerApp } from '../../../platform/program/one-per-app.ts'
import { mine, type Tenant, tenantOf } from '../../../platform/tenant.ts'
import type { Receipt } from '../carrier.ts'
import { goOn } from '../fallback/fallback.ts'
import { networkOf } from '../network/network.ts'
import { takeTaken } from './handover.ts'
import { type NamedPart, type StoredMessage, storedFrom } from './load.ts'
import type { Undelivered } from './queue.ts'
import { reroute } from './reroute.ts'
import { changeOf, storeReceipt, tell, transferId } from './status.ts'
import { noteReceipt } from './trace.ts'

/** Receipts come for at most a message's validity and a day; their ids are forgotten some time after that. */
const keepIdsDays = 4
const sweepMs = 10_000
const sweepRows = 500

/** In every cell: whose message it is about is not known yet. */
const holdReceipt = operation.everywhere(
  'sms.hold_receipt',
  { carrier: 'text', id: 'text', receipt: 'jsonb' },
  { known: 'boolean' },
)

interface CarrierId {
  readonly carrier: string
  readonly id: string
}

/** The message that a carrier's id stands for, and which part of it. */
interface Named extends StoredMessage {
  carrier: string
  carrier_id: string
  part: number
  /** Number of parts that the carrier got. */
  parts: number
}

const findNamed = statement.everywhere<
  { buckets: readonly number[]; carriers: readonly string[]; ids: readonly string[] },
  Named
>(
  'sms.find_by_carrier_ids',
  storedFrom(
    `sms.messages_named($carriers::text[], $ids::text[]) n cross join lateral (select (n.message).*) m
              where m.bucket = any($buckets::smallint[])`,
    ['carrier', 'carrier_id', 'part', 'parts'],
  ),
)

function partOf(named: Named): NamedPart {
  return { message: named, part: named.part, parts: named.parts, holder: named.route }
}

const finder = onePerApp((app) =>
  gathered(async (asked: readonly CarrierId[]): Promise<{ named: Named | null; failure: unknown }[]> => {
    const { rows, failure } = await app.db.queryReached(findNamed, {
      buckets,
      carriers: asked.map(({ carrier }) => carrier),
      ids: asked.map(({ id }) => id),
    })
    const byId = new Map(rows.map((row) => [`${row.carrier} ${row.carrier_id}`, row]))
    return asked.map(({ carrier, id }) => ({ named: byId.get(`${carrier} ${id}`) ?? null, failure }))
  }),
)

/** The message of a carrier's id. While a cell is away, only what it may have is not known. */
async function findPart(app: App, sought: CarrierId): Promise<Named | null> {
  const { named, failure } = await finder(app)(sought)
  if (named === null && failure !== null) throw failure
  return named
}

interface EarlyRow {
  carrier: string
  id: string
  early: { status: 'delivered' | 'failed'; errorCode: string | null; carrierCode: string | null }
}

const findEarly = statement.everywhere<
  { buckets: readonly number[]; carrier: string; ids: readonly string[] },
  EarlyRow
>(
  'sms.find_early_receipts',
  `select carrier, id, early from sms.carrier_ids
    where carrier = $carrier and id = any($ids::text[]) and early is not null and bucket = any($buckets::smallint[])`,
)

/** Removes copies of an early receipt that were held for other binds of its centre, and in other cells. */
const forgetCopies = statement.everywhere<{ carriers: readonly string[]; id: string }, object>(
  'sms.forget_early_copies',
  'delete from sms.carrier_ids where carrier = any($carriers::text[]) and id = $id and bucket is null',
)

/** Early receipts whose message is known, left by a caller that died. */
const findForgotten = statement.everywhere<{ buckets: readonly number[]; most: number }, EarlyRow>(
  'sms.find_forgotten_receipts',
  `select carrier, id, early from sms.carrier_ids
    where early is not null and bucket = any($buckets::smallint[]) and created_at < now() - interval '10 seconds'
    order by created_at limit $most::int`,
)

/**
 * Notes a delivery after the end, in the record only: no event and no charge. A part counts if its carrier had the
 * message in the end, as in sms.receipt; one that no carrier took may be out all the same, when a node died.
 */
const noteLate = statement.tenant<
  Tenant & { id: string; carrier: string; part: number; parts: number; at: Date },
  object
>(
  'sms.note_late',
  `update sms.messages
      set delivered_parts = delivered_parts | (1::bigint << $part::int),
          late_at = case when delivered_parts | (1::bigint << $part::int) = (1::bigint << $parts::int) - 1
                         then coalesce(late_at, $at) end
    where ${mine} and id = $id
      and status = 'failed' and error_code = 'EXPIRED'
      and ($parts::int = 1 or coalesce(route, $carrier) = $carrier)`,
)

const purgeIds = statement.everywhere<{ buckets: readonly number[]; days: number }, object>(
  'sms.purge_carrier_ids',
  `delete from sms.carrier_ids
    where (bucket is null or bucket = any($buckets::smallint[])) and created_at < now() - $days::int * interval '1 day'`,
)

/** Takes what the network says of a part; fulfilled when it is stored. */
export async function takeReceipt(app: App, receipt: Receipt): Promise<void> {
  const { carrierId: id, status, errorCode, carrierCode } = receipt
  const carriers = networkOf(app).sharers(receipt.carrier)
  for (const carrier of carriers) {
    const handedOver = await takeTaken(app, carrier, id)
    if (handedOver) return apply(app, handedOver, { ...receipt, carrier })
  }
  // The second time is for an answer that came between looking and storing.
  for (let times = 0; times < 2; times++) {
    const found = await Promise.all(carriers.map((carrier) => findPart(app, { carrier, id })))
    const named = found.find((one) => one !== null)
    if (named) return apply(app, partOf(named), { ...receipt, carrier: named.carrier })
    // Held for every carrier that shares the ids: the one that gets the answer finds it.
    const early = JSON.stringify({ status, errorCode, carrierCode })
    const held = await Promise.all(
      carriers.map((carrier) =>
        surely(() => app.committer.commitEverywhere(holdReceipt, { carrier, id, receipt: early })),
      ),
    )
    if (!held.flat().some(({ known }) => known)) return
    await forget(app, carriers, id)
  }
  app.log.warn(
    { carrier: receipt.carrier, id },
    'receipt of a message that is no longer stored: it is ignored; nothing to do unless this repeats often',
  )
}

/** Applies receipts that came before the answers which gave them their ids. */
export async function applyEarly(app: App, carrier: string, ids: readonly string[]): Promise<void> {
  await applyAll(app, await app.db.query(findEarly, { buckets, carrier, ids }))
}

async function applyAll(app: App, rows: readonly EarlyRow[]): Promise<void> {
  await Promise.all(
    rows.map(async ({ carrier, id, early }) => {
      const named = await findPart(app, { carrier, id })
      if (!named) return
      await apply(app, partOf(named), { carrier, carrierId: id, ...early }, true)
      await forget(app, networkOf(app).sharers(carrier), id)
    }),
  )
}

async function forget({ db }: App, carriers: readonly string[], id: string): Promise<void> {
  if (carriers.length > 1 || !db.hasOneCell) await db.query(forgetCopies, { carriers, id })
}

/** Applies a receipt. `wasEarly`: it waited in the database and is removed there, even when it changes nothing. */
async function apply(app: App, named: NamedPart, receipt: Receipt, wasEarly = false): Promise<void> {
  const { message, part, parts, holder } = named
  const { carrier } = receipt
  noteReceipt(app, message, receipt)
  if (message.status === 'failed' && receipt.status === 'delivered') await arrivedLate(app, named, carrier)
  if (receipt.status === 'delivered' && parts > 1 && holder !== carrier)
    app.log.info(
      { carrier, sms: message.id, part },
      'part delivered by a carrier after its message was moved to another: the recipient may get it twice; check the carrier if this repeats',
    )
  if (message.status !== 'sent' && message.status !== 'queued' && !wasEarly) return
  if (receipt.status === 'delivered' || !(await reroute(app, named, receipt)))
    await store(app, named, receipt, wasEarly)
}

/** Ends a message that its carrier could not deliver and no other can take. */
export async function endUndelivered(
  app: App,
  message: StoredMessage,
  { part, carrier, carrierId, errorCode, carrierCode }: Undelivered,
): Promise<void> {
  const receipt = { carrier, carrierId, status: 'failed' as const, errorCode, carrierCode }
  await store(app, { message, part, parts: message.segments, holder: carrier }, receipt, false)
}

async function store(
  app: App,
  { message, part, parts }: NamedPart,
  receipt: Receipt,
  wasEarly: boolean,
): Promise<void> {
  const { carrier, carrierId, status, errorCode, carrierCode } = receipt
  const change = changeOf(app, message, status, errorCode)
  const verdict = await app.commitSurely(storeReceipt, {
    ...tenantOf(message),
    id: message.id,
    part,
    parts,
    carrier,
    carrier_id: wasEarly ? carrierId : null,
    status,
    error_code: errorCode,
    carrier_code: carrierCode,
    at: change.at,
    ...change.columns,
    transfer: status === 'failed' && isPaidBack(app, message) ? transferId(app) : null,
  })
  tell(app, change, verdict)
  if (verdict.changed && status === 'failed') await goOn(app, tenantOf(message), message.id)
}

/** Whether the route of a message says that it costs nothing where the network could not deliver it. */
function isPaidBack(app: App, { environment, account_id: account, country, network }: StoredMessage): boolean {
  return networkOf(app).routeFor({ environment, account, country, network })?.refundUndelivered ?? false
}

async function arrivedLate(app: App, { message, part, parts }: NamedPart, carrier: string): Promise<void> {
  const { bucket, account_id: account, environment, id, clock_offset_ms } = message
  const at = new Date(app.clock.nowMs() + Number(clock_offset_ms))
  await app.db.query(noteLate, { bucket, account, environment, id, carrier, part, parts, at })
}

export const receiptChores: readonly Chore[] = [
  {
    name: 'sms early receipts',
    everyMs: sweepMs,
    run: async (app) => applyAll(app, (await app.db.queryReached(findForgotten, { buckets, most: sweepRows })).rows),
  },
  {
    name: 'sms carrier ids',
    run: async ({ db }) => {
      await db.query(purgeIds, { buckets, days: keepIdsDays })
    },
  },
]
