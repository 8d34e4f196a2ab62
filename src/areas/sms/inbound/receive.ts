// SPDX-License-Identifier: Apache-2.0
// Receiving a whole message: stored and told of, what STOP, START and HELP ask for done, and the reply of its keyword sent.
// All of it belongs to the transaction of whoever brings the message.
import { idOf, newIdAndUuid, newUuid } from '../../../kernel/ids.ts'
import type { App } from '../../../platform/app.ts'
import { statement, type Tx } from '../../../platform/db.ts'
import { type Occasion, occasionNow } from '../../../platform/events.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import { everySender, insertOptOut, optOutRecord, ownWordsOf, removeOptOuts } from '../consent/store.ts'
import { ownWishOf, type Wished, wishOf } from '../consent/words.ts'
import { submission } from '../delivery/queue.ts'
import { smsEvents } from '../events.ts'
import { segmentsOf } from '../message.ts'
import { firstWordOf } from '../numbers/keywords.ts'
import { findPlaces, placeFor } from '../ported/places.ts'
import type { Owner } from './owner.ts'
import { sendReply } from './replies.ts'

/** A message with all its parts, or with those that came in time. */
export interface Whole {
  readonly from: string
  readonly to: string
  readonly text: string
  readonly encoding: 'gsm7' | 'ucs2'
  readonly parts: number
  readonly isPartial: boolean
}

const insertInbound = statement<
  Tenant & {
    id: string
    recipient: string
    sender: string
    body: string
    encoding: string
    segments: number
    country: string | null
    network: string | null
    keyword: string | null
    inReplyTo: string | null
    partial: boolean
    at: Date
  },
  object
>(
  'sms.insert_inbound',
  `insert into sms.messages (bucket, account_id, environment, id, direction, status, recipient, sender, body, encoding,
     segments, country, network, keyword, in_reply_to, partial, created_at)
   values ($bucket, $account, $environment, $id, 'inbound', 'received', $recipient, $sender, $body, $encoding, $segments,
     $country, $network, $keyword, $inReplyTo, $partial, $at)`,
)

/** An answer of ours: free, and sent whatever the handset has opted out of. */
const insertAnswer = statement<
  Tenant & {
    id: string
    recipient: string
    sender: string
    body: string
    encoding: string
    segments: number
    country: string | null
    network: string | null
    inReplyTo: string
    job: string
    at: Date
  },
  object
>(
  'sms.insert_answer',
  `insert into sms.messages (bucket, account_id, environment, id, direction, status, recipient, sender, body, encoding,
     segments, country, network, in_reply_to, job, created_at)
   values ($bucket, $account, $environment, $id, 'outbound', 'queued', $recipient, $sender, $body, $encoding, $segments,
     $country, $network, $inReplyTo, $job, $at)`,
)

export async function receive(app: App, tx: Tx, owner: Owner, message: Whole): Promise<string> {
  const { tenant, clockOffsetMs, inReplyTo, autoReply } = owner
  const occasion = occasionNow(app.clock, tenant, clockOffsetMs)
  const { receivedMs, nowMs } = occasion
  const { id, uuid } = newIdAndUuid('smsInbound', receivedMs)
  await findPlaces(app, [message.from])
  const { country, network } = placeFor(app, message.from)
  const keyword = owner.keyword ?? firstWordOf(message.text)
  await tx.query(insertInbound, {
    ...tenant,
    id: uuid,
    recipient: message.to,
    sender: message.from,
    body: message.text,
    encoding: message.encoding,
    segments: message.parts,
    country,
    network,
    keyword,
    inReplyTo,
    partial: message.isPartial,
    at: new Date(nowMs),
  })
  await app.outbox.emit(
    tx,
    smsEvents.received,
    occasion,
    id,
    {
      message_id: id,
      from: message.from,
      to: message.to,
      message: message.text,
      keyword,
      parts: message.parts,
      network,
      in_reply_to: inReplyTo && idOf('sms', inReplyTo),
      ...(message.isPartial ? { partial: true } : {}),
    },
    { callbackUrl: owner.webhookUrl },
  )
  const wish = wishOf(message.text) ?? (await ownWish(tx, tenant, message.text))
  if (wish && (await grant(app, tx, occasion, wish, message, id)))
    await answer(app, tx, occasion, { ...message, text: wish.answer(message.to) }, uuid)
  if (!wish && autoReply !== null) {
    const answered = { id: uuid, handset: message.from, number: message.to, reply: newUuid(receivedMs) }
    const problem = await sendReply(app, tx, occasion, answered, autoReply)
    if (problem) app.log.info({ sms: uuid, reason: problem.message }, 'an automatic reply was not sent')
  }
  return uuid
}

/** A word has at most 30 characters, and something may stand around it. */
const longestWish = 60

async function ownWish(tx: Tx, { account }: Tenant, text: string): Promise<Wished | null> {
  if (text.length > longestWish) return null
  return ownWishOf(text, await ownWordsOf(tx, account))
}

/** Does what was wished for; false when that changed nothing, and needs no answer. */
async function grant(
  app: App,
  tx: Tx,
  occasion: Occasion,
  { wish, word, isAboutAll }: Wished,
  { from: phone, to }: Whole,
  messageId: string,
): Promise<boolean> {
  if (wish === 'help') return true
  const { tenant, receivedMs, nowMs } = occasion
  const said = { phone, reason: word, source: 'keyword' as const, created_at: new Date(nowMs) }
  const sender = isAboutAll ? everySender : to
  if (wish === 'stop') {
    const { row, isNew } = await insertOptOut(tx, tenant, { id: newUuid(receivedMs), sender, ...said })
    const told = { ...optOutRecord(row), message_id: messageId }
    if (isNew) await app.outbox.emit(tx, smsEvents.optedOut, occasion, phone, told)
    return isNew
  }
  // Who wants to hear from one sender again has said nothing of the others, unless all were stopped at once.
  const removed = await removeOptOuts(tx, tenant, phone, [to, everySender])
  for (const { from } of removed.map(optOutRecord))
    await app.outbox.emit(tx, smsEvents.optedIn, occasion, phone, { ...said, from, message_id: messageId })
  return removed.length > 0
}

async function answer(app: App, tx: Tx, { tenant, receivedMs, nowMs }: Occasion, message: Whole, inReplyTo: string) {
  const cut = segmentsOf(message.text)
  if (!cut) return
  const id = newUuid(receivedMs)
  const place = placeFor(app, message.from)
  const job = submission(app, tenant, { id, segments: cut.segments, ...place, priority: 'transactional' })
  await tx.query(insertAnswer, {
    ...tenant,
    id,
    recipient: message.from,
    sender: message.to,
    body: cut.text,
    encoding: cut.encoding,
    segments: cut.segments,
    ...place,
    inReplyTo,
    job: job.id,
    at: new Date(nowMs),
  })
  await app.work.add(tx, job)
  tx.afterCommit(() => app.work.begin(job))
}
