// SPDX-License-Identifier: Apache-2.0
// Long texts of customers come in parts, each of which is answered at once, so each is stored. The text has its id from the
// first part on; when a part is missing for five minutes, none of it is sent.
import { type Static, Type } from 'typebox'
import { newUuid } from '../../../kernel/ids.ts'
import type { App } from '../../../platform/app.ts'
import { one, statement } from '../../../platform/db.ts'
import { mine, type One, type Tenant } from '../../../platform/tenant.ts'
import type { Job } from '../../../platform/work.ts'
import { judgeReceipts } from './deliveries.ts'
import type { Submitted } from './read-submit.ts'

const joinWithinMs = 5 * 60_000
/** Texts of one credential of which parts are missing. */
const maxUnfinished = 1_000

/** Refusal of a part that begins one more long text. */
export class TooManyTexts extends Error {}

const Place = Type.Object({
  credential: Type.String(),
  sender: Type.String(),
  recipient: Type.String(),
  reference: Type.Integer(),
  total: Type.Integer(),
})
type Place = Static<typeof Place>

interface StoredPart {
  readonly part: number
  readonly coding: number
  readonly octets: Buffer
}

/** Text with all its parts. */
export interface Joined {
  readonly id: string
  readonly parts: readonly StoredPart[]
  readonly scheduledAt: Date | null
  readonly validity: number
}

const samePlace = `${mine} and credential_id = $credential and sender = $sender and recipient = $recipient
      and reference = $reference and total = $total`

interface TextRow {
  message_id: string
  scheduled_at: Date | null
  validity: number
  is_new: boolean
}

/** The row is locked from here on: of two parts that come at once, the second sees both. */
const openText = statement.tenant<
  Tenant & Place & { id: string; scheduledAt: Date | null; validity: number; at: Date },
  TextRow
>(
  'sms.open_smpp_text',
  `insert into sms.smpp_texts (bucket, account_id, environment, credential_id, sender, recipient, reference, total, message_id,
     scheduled_at, validity, created_at)
   values ($bucket, $account, $environment, $credential, $sender, $recipient, $reference, $total, $id, $scheduledAt, $validity, $at)
   on conflict (bucket, account_id, environment, credential_id, sender, recipient, reference, total)
     do update set validity = smpp_texts.validity
   returning message_id, scheduled_at, validity, message_id = $id as is_new`,
)

const lockText = statement.tenant<Tenant & Place, Pick<TextRow, 'message_id'>>(
  'sms.lock_smpp_text',
  `select message_id from sms.smpp_texts where ${samePlace} for update`,
)

const closeText = statement.tenant<One, object>(
  'sms.close_smpp_text',
  `with gone as (delete from sms.smpp_parts where ${mine} and message_id = $id)
   delete from sms.smpp_texts where ${mine} and message_id = $id`,
)

const countTexts = statement.tenant<Tenant & { credential: string }, { count: number }>(
  'sms.count_smpp_texts',
  `select count(*)::int as count from sms.smpp_texts where ${mine} and credential_id = $credential`,
)

const insertPart = statement.tenant<One & StoredPart, object>(
  'sms.insert_smpp_part',
  `insert into sms.smpp_parts (bucket, account_id, environment, message_id, part, coding, octets)
   values ($bucket, $account, $environment, $id, $part, $coding, $octets)
   on conflict do nothing`,
)

const partsOf = statement.tenant<One, StoredPart>(
  'sms.smpp_parts_of',
  `select part, coding, octets from sms.smpp_parts where ${mine} and message_id = $id order by part`,
)

/** Stores a part; gives the id of its text, and the whole text when all parts are there. */
export async function storePart(
  app: App,
  tenant: Tenant,
  credential: string,
  submitted: Submitted,
): Promise<{ id: string; whole: Joined | null }> {
  const { from: sender, to: recipient, part, coding, octets, scheduledAt, validity } = submitted
  if (part === null) throw new Error('the text is whole')
  const place = { credential, sender, recipient, reference: part.reference, total: part.total }
  const nowMs = app.clock.nowMs()
  return app.db.tx(tenant, async (tx) => {
    const opened = { id: newUuid(nowMs), scheduledAt, validity, at: new Date(nowMs) }
    const text = await one(tx.query(openText, { ...tenant, ...place, ...opened }))
    const id = text.message_id
    if (text.is_new) {
      const { count } = await one(tx.query(countTexts, { ...tenant, credential }))
      if (count > maxUnfinished) throw new TooManyTexts()
      await app.work.add(tx, app.work.prepare(partsJob, tenant, place, { delayMs: joinWithinMs }))
    }
    await tx.query(insertPart, { ...tenant, id, part: part.number, coding, octets })
    const parts = await tx.query(partsOf, { ...tenant, id })
    const whole = { id, parts, scheduledAt: text.scheduled_at, validity: text.validity }
    return { id, whole: parts.length === part.total ? whole : null }
  })
}

/** Forgets a text that was sent or refused. */
export async function forgetText(app: App, tenant: Tenant, id: string): Promise<void> {
  await app.db.query(closeText, { ...tenant, id })
}

/** After five minutes: a text that is still here ends as expired. One that is whole may just be being sent. */
export const partsJob: Job<App, typeof Place> = {
  lane: 'sms.smpp_parts',
  role: 'carriers',
  payload: Place,
  concurrency: 4,
  retrySeconds: [1, 5, 30, 300],
  async handle(app, { tenant, payload, attempt }) {
    if (!tenant) throw new Error('a message belongs to an account')
    return app.db.tx(tenant, async (tx) => {
      const [text] = await tx.query(lockText, { ...tenant, ...payload })
      if (!text) return { kind: 'done' }
      const id = text.message_id
      const parts = await tx.query(partsOf, { ...tenant, id })
      if (parts.length === payload.total && attempt === 1) return { kind: 'again', afterMs: joinWithinMs }
      await judgeReceipts(tx, tenant, id, 'EXPIRED')
      await tx.query(closeText, { ...tenant, id })
      return { kind: 'done' }
    })
  },
}
