// SPDX-License-Identifier: Apache-2.0
// Reception of a whole message: it is stored and becomes an event, STOP, START and HELP are carried out, and the reply
// of its keyword is sent. All in the caller's transaction.
import { idOf, newIdAndUuid, newUuid } from '../../../kernel/ids.ts'
import type { App } from '../../../platform/app.ts'
import { statement, type Tx } from '../../../platform/db.ts'
import { type Occasion, occasionNow } from '../../../platform/events.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import { passOn } from '../esme/deliveries.ts'
import { smsEvents } from '../events.ts'
import { firstWordOf } from '../numbers/keywords.ts'
import { findPlaces, placeFor } from '../ported/number-network.ts'
import { commandOf, obey, type Received } from './keyword-commands.ts'
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

const insertInbound = statement.tenant<
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

/** Stores an inbound message; returns its id. */
export async function receive(app: App, tx: Tx, owner: Owner, message: Whole): Promise<string> {
  const occasion = occasionNow(app.clock, owner.tenant, owner.clockOffsetMs)
  const received = await store(app, tx, occasion, owner, message)
  const command = await commandOf(tx, owner.tenant, message.text)
  if (command) await obey(app, tx, occasion, command, received)
  else if (owner.autoReply !== null) await reply(app, tx, occasion, received, owner.autoReply)
  return received.uuid
}

async function store(app: App, tx: Tx, occasion: Occasion, owner: Owner, message: Whole): Promise<Received> {
  const { inReplyTo } = owner
  const { id, uuid } = newIdAndUuid('smsInbound', occasion.receivedMs)
  await findPlaces(app, [message.from])
  const { country, network } = placeFor(app, message.from)
  const keyword = owner.keyword ?? firstWordOf(message.text)
  await tx.query(insertInbound, {
    ...owner.tenant,
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
    at: new Date(occasion.nowMs),
  })
  const passed = { id: uuid, sender: message.from, recipient: message.to, at: new Date(occasion.receivedMs) }
  await passOn(tx, owner.tenant, passed)
  const told = {
    message_id: id,
    from: message.from,
    to: message.to,
    message: message.text,
    keyword,
    parts: message.parts,
    network,
    in_reply_to: inReplyTo && idOf('sms', inReplyTo),
    ...(message.isPartial ? { partial: true } : {}),
  }
  await app.outbox.emit(tx, smsEvents.received, occasion, id, told, { callbackUrl: owner.webhookUrl })
  return { id, uuid, handset: message.from, number: message.to }
}

/** Sends the automatic reply of a keyword. */
async function reply(app: App, tx: Tx, occasion: Occasion, received: Received, text: string): Promise<void> {
  const { uuid: id, handset, number } = received
  const answered = { id, handset, number, reply: newUuid(occasion.receivedMs) }
  const problem = await sendReply(app, tx, occasion, answered, text)
  if (problem)
    app.log.info(
      { sms: id, reason: problem.message },
      'automatic reply not sent: the account should check its keyword, sender and wallet',
    )
}
