// SPDX-License-Identifier: Apache-2.0
// From the network back to the customer: a receipt finds its message by the id that the carrier gave it, changes its
// state where that is still open, and is told of. One that comes before anybody knows its id waits in the database.
import type { App } from '../../platform/app.ts'
import { operation } from '../../platform/commit.ts'
import { statement } from '../../platform/db.ts'
import type { Chore } from '../../platform/maintenance.ts'
import { whenStored } from './answered.ts'
import type { Receipt } from './carrier.ts'
import { gathered, onePerApp } from './gather.ts'
import { changeOf, commitSurely, receipt as receiptOperation, type Stored, storedColumns, tell } from './outcome.ts'

/** Receipts come for at most a message's validity and a day; their ids are forgotten some time after that. */
const keepIdsDays = 4
const sweepMs = 10_000
const sweepRows = 500

const hold = operation('sms.hold_receipt', { carrier: 'text', id: 'text', receipt: 'jsonb' }, { known: 'boolean' })

interface CarrierId {
  readonly carrier: string
  readonly id: string
}

/** The message that a carrier's id stands for, and which part of it. */
interface Named extends Stored {
  carrier: string
  carrier_id: string
  part: number
}

const findNamed = statement<{ carriers: readonly string[]; ids: readonly string[] }, Named>(
  'sms.find_by_carrier_ids',
  `select n.carrier, n.carrier_id, n.part, ${storedColumns}
     from sms.messages_named($carriers::text[], $ids::text[]) n cross join lateral (select (n.message).*) m`,
)

const finder = onePerApp((app) =>
  gathered(async (asked: readonly CarrierId[]): Promise<(Named | null)[]> => {
    const rows = await app.db.query(findNamed, {
      carriers: asked.map(({ carrier }) => carrier),
      ids: asked.map(({ id }) => id),
    })
    const byId = new Map(rows.map((row) => [`${row.carrier} ${row.carrier_id}`, row]))
    return asked.map(({ carrier, id }) => byId.get(`${carrier} ${id}`) ?? null)
  }),
)

interface EarlyRow {
  carrier: string
  id: string
  early: { status: 'delivered' | 'failed'; errorCode: string | null; carrierCode: string | null }
}

const findEarly = statement<{ carrier: string; ids: readonly string[] }, EarlyRow>(
  'sms.find_early_receipts',
  `select carrier, id, early from sms.carrier_ids
    where carrier = $carrier and id = any($ids::text[]) and early is not null and bucket is not null`,
)

/** Those whose message is known and whose caller did not live to apply them. */
const findForgotten = statement<{ most: number }, EarlyRow>(
  'sms.find_forgotten_receipts',
  `select carrier, id, early from sms.carrier_ids
    where early is not null and bucket is not null and created_at < now() - interval '10 seconds'
    order by created_at limit $most::int`,
)

const purgeIds = statement<{ days: number }, object>(
  'sms.purge_carrier_ids',
  `delete from sms.carrier_ids where created_at < now() - $days::int * interval '1 day'`,
)

/** Takes what the network says of a part; fulfilled when it is stored. */
export async function takeReceipt(app: App, receipt: Receipt): Promise<void> {
  const { carrier, carrierId, status, errorCode, carrierCode } = receipt
  const answered = await whenStored(app, carrier, carrierId)
  if (answered) return apply(app, answered.message, answered.part, receipt)
  for (;;) {
    const named = await finder(app)({ carrier, id: carrierId })
    if (named) return apply(app, named, named.part, receipt)
    const { known } = await commitSurely(app, hold, {
      carrier,
      id: carrierId,
      receipt: JSON.stringify({ status, errorCode, carrierCode }),
    })
    if (!known) return
  }
}

/** Applies receipts that came before the answers which gave them their ids. */
export async function applyEarly(app: App, carrier: string, ids: readonly string[]): Promise<void> {
  await applyAll(app, await app.db.query(findEarly, { carrier, ids }))
}

async function applyAll(app: App, rows: readonly EarlyRow[]): Promise<void> {
  await Promise.all(
    rows.map(async ({ carrier, id, early }) => {
      const named = await finder(app)({ carrier, id })
      if (named) await apply(app, named, named.part, { carrier, carrierId: id, ...early }, true)
    }),
  )
}

/** `wasEarly`: it waited in the database and is crossed off there, even when it changes nothing. */
async function apply(app: App, message: Stored, part: number, receipt: Receipt, wasEarly = false): Promise<void> {
  if (message.status !== 'sent' && message.status !== 'queued' && !wasEarly) return
  const { carrier, carrierId, status, errorCode, carrierCode } = receipt
  const change = changeOf(app, message, status, errorCode)
  const verdict = await commitSurely(app, receiptOperation, {
    bucket: message.bucket,
    account: message.account_id,
    environment: message.environment,
    id: message.id,
    part,
    parts: message.segments,
    carrier,
    carrier_id: wasEarly ? carrierId : null,
    status,
    error_code: errorCode,
    carrier_code: carrierCode,
    at: change.at,
    ...change.columns,
  })
  tell(app, change, verdict)
}

export const receiptChores: readonly Chore[] = [
  {
    name: 'sms early receipts',
    everyMs: sweepMs,
    run: async (app) => applyAll(app, await app.db.query(findForgotten, { most: sweepRows })),
  },
  {
    name: 'sms carrier ids',
    run: async ({ db }) => {
      await db.query(purgeIds, { days: keepIdsDays })
    },
  },
]
