// SPDX-License-Identifier: Apache-2.0
// Receiving a whole message: stored and told of, what STOP, START and HELP ask for done, and the reply of its keyword sent.
// All of it belongs to the transaction of whoever brings the message.
import { idOf, newIdAndUuid, newUuid } from '../../../kernel/ids.ts'
import type { App } from '../../../platform/app.ts'
import { statement, type Tx } from '../../../platform/db.ts'
import { occasionNow } from '../../../platform/events.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import { smsEvents } from '../events.ts'
import { firstWordOf } from '../numbers/keywords.ts'
import { findPlaces, placeFor } from '../ported/places.ts'
import { commandOf, obey } from './obey.ts'
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
  const command = await commandOf(tx, tenant, message.text)
  if (command) await obey(app, tx, occasion, command, { id, uuid, handset: message.from, number: message.to })
  else if (autoReply !== null) {
    const answered = { id: uuid, handset: message.from, number: message.to, reply: newUuid(receivedMs) }
    const problem = await sendReply(app, tx, occasion, answered, autoReply)
    if (problem) app.log.info({ sms: uuid, reason: problem.message }, 'an automatic reply was not sent')
  }
  return uuid
}
