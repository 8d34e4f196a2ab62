// SPDX-License-Identifier: Apache-2.0
// Long messages come in parts, in any order and over any node: they are kept until the last one is there, or until waiting
// for it has taken too long.
import { type Static, Type } from 'typebox'
import type { App } from '../../../platform/app.ts'
import { one, statement, type Tx } from '../../../platform/db.ts'
import { type Environment, mine, type Tenant } from '../../../platform/tenant.ts'
import type { Job } from '../../../platform/work.ts'
import type { Incoming } from '../carrier.ts'
import { segmentsOf } from '../message.ts'
import { findPlaces } from '../ported/number-network.ts'
import { claimsTo } from './owner.ts'
import { receive, type Whole } from './receive.ts'

/** Wait for missing parts; after it the message is delivered as it is. */
const joinWithinMs = 60_000

interface PartKey {
  bucket: number
  account: string
  environment: Environment
  sender: string
  recipient: string
  reference: number
  total: number
}

const insertPart = statement.tenant<PartKey & { part: number; body: string }, object>(
  'sms.insert_part',
  `insert into sms.inbound_parts (bucket, account_id, environment, sender, recipient, reference, total, part, body)
   values ($bucket, $account, $environment, $sender, $recipient, $reference, $total, $part, $body)
   on conflict do nothing`,
)

/** Lock of a message's parts: of two parts that arrive at once, the second sees both. */
const lockParts = statement.tenant<{ key: string; bucket: number }, object>(
  'sms.lock_parts',
  `select pg_advisory_xact_lock($bucket::int, hashtext($key))`,
)

const partsSoFar = statement.tenant<PartKey, { part: number; body: string }>(
  'sms.parts_so_far',
  `select part, body from sms.inbound_parts
    where ${mine} and sender = $sender
      and recipient = $recipient and reference = $reference and total = $total
    order by part`,
)

const removeParts = statement.tenant<PartKey, object>(
  'sms.remove_parts',
  `delete from sms.inbound_parts
    where ${mine} and sender = $sender
      and recipient = $recipient and reference = $reference and total = $total`,
)

const offsetOf = statement.home<{ account: string; environment: string }, { ms: bigint }>(
  'sms.clock_offset',
  'select accounts.clock_offset_ms($account::uuid, $environment::text) as ms',
)

async function clockOffsetMs(app: App, { account, environment }: Tenant): Promise<number> {
  return Number((await one(app.db.query(offsetOf, { account, environment }))).ms)
}

const Late = Type.Object({
  sender: Type.String(),
  recipient: Type.String(),
  reference: Type.Integer(),
  total: Type.Integer(),
})

/** A minute after the first part: what there is, if it is still waiting. */
export const joinJob: Job<App, typeof Late> = {
  lane: 'sms.join',
  role: 'carriers',
  payload: Late,
  concurrency: 16,
  retrySeconds: [1, 5, 30, 300],
  async handle(app, { tenant, payload }) {
    if (!tenant) throw new Error('a message belongs to an account')
    const { sender: from, recipient: to, total } = payload
    const isTest = tenant.environment === 'test'
    const expectedBy = isTest ? { tenant, clockOffsetMs: await clockOffsetMs(app, tenant) } : null
    const claims = await claimsTo(app, { from, to, isTest, expectedBy })
    // Here, because within the transaction it would wait for a second connection.
    await findPlaces(app, [from])
    await app.db.acrossTx(async (tx) => {
      const key = { ...tenant, ...payload }
      await lock(tx, tenant, payload)
      const rows = await tx.query(partsSoFar, key)
      if (rows.length === 0) return
      await tx.query(removeParts, key)
      const whole = wholeOf(from, to, rows, total)
      const owner = claims.ownerOf(whole.text)
      if (owner) await receive(app, tx, owner, whole)
      else forNobody(app, { carrier: '', to })
    })
    return { kind: 'done' }
  },
}

/** The message when it is whole; null while a part is missing. */
export async function join(app: App, tx: Tx, tenant: Tenant, message: Incoming): Promise<Whole | null> {
  const { from, to, text, encoding, part } = message
  if (part === null || part.total < 2) return { from, to, text, encoding, parts: 1, isPartial: false }
  const late = { sender: from, recipient: to, reference: part.reference, total: part.total }
  const key = { ...tenant, ...late }
  await lock(tx, tenant, late)
  await tx.query(insertPart, { ...key, part: part.number, body: text })
  const rows = await tx.query(partsSoFar, key)
  if (rows.length === part.total) {
    await tx.query(removeParts, key)
    return wholeOf(from, to, rows, part.total)
  }
  if (rows.length === 1) await app.work.add(tx, app.work.prepare(joinJob, tenant, late, { delayMs: joinWithinMs }))
  return null
}

/** Lock between the arrival of a part and the end of waiting, so that no part is lost between the two. */
async function lock(tx: Tx, { bucket }: Tenant, { sender, recipient, reference, total }: Static<typeof Late>) {
  await tx.query(lockParts, { bucket, key: JSON.stringify([sender, recipient, reference, total]) })
}

function wholeOf(from: string, to: string, rows: readonly { body: string }[], total: number): Whole {
  const text = rows.map(({ body }) => body).join('')
  const { encoding } = segmentsOf(text) ?? { encoding: 'gsm7' as const }
  return { from, to, text, encoding, parts: total, isPartial: rows.length < total }
}

export function forNobody(app: App, { carrier, to }: Pick<Incoming, 'carrier' | 'to'>): void {
  app.log.warn(
    { carrier, to },
    'inbound message has no owner: no account has the number or wrote to the handset from it; assign the number (POST /v1/operator/sms/numbers)',
  )
}
