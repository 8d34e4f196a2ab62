// SPDX-License-Identifier: Apache-2.0
// STOP, START and HELP: the opt-out is stored or removed, the customer gets an event, and the handset an answer. Our
// answers are free, and are sent despite opt-outs.
import { newUuid } from '../../../kernel/ids.ts'
import type { App } from '../../../platform/app.ts'
import { statement, type Tx } from '../../../platform/db.ts'
import type { Occasion } from '../../../platform/events.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import { commandIn, type GivenCommand, ownCommandIn } from '../consent/commands.ts'
import { everySender, insertOptOut, optOutRecord, ownWordsOf, removeOptOuts } from '../consent/store.ts'
import { submission } from '../delivery/queue.ts'
import { smsEvents } from '../events.ts'
import { segmentsOf } from '../message.ts'
import { placeFor } from '../ported/number-network.ts'

/** A word has at most 30 characters, and something may stand around it. */
const longestCommand = 60

/** A message that was stored. */
export interface Received {
  readonly id: string
  readonly uuid: string
  readonly handset: string
  readonly number: string
}

const insertAnswer = statement.tenant<
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

/** The command that a message is, by the usual words or the account's own; null when it is an ordinary message. */
export async function commandOf(tx: Tx, { account }: Tenant, text: string): Promise<GivenCommand | null> {
  const usual = commandIn(text)
  if (usual || text.length > longestCommand) return usual
  return ownCommandIn(text, await ownWordsOf(tx, account))
}

/** Does what a message commands, and answers it, unless that changed nothing. */
export async function obey(
  app: App,
  tx: Tx,
  occasion: Occasion,
  given: GivenCommand,
  message: Received,
): Promise<void> {
  if (await execute(app, tx, occasion, given, message))
    await answer(app, tx, occasion, message, given.answer(message.number))
}

/** Runs a command; false when it changed nothing, and needs no answer. */
async function execute(
  app: App,
  tx: Tx,
  occasion: Occasion,
  { command, word, isAboutAll }: GivenCommand,
  { id, handset: phone, number }: Received,
): Promise<boolean> {
  if (command === 'help') return true
  const { tenant, receivedMs, nowMs } = occasion
  const said = { phone, reason: word, source: 'keyword' as const, created_at: new Date(nowMs) }
  if (command === 'stop') {
    const sender = isAboutAll ? everySender : number
    const { row, isNew } = await insertOptOut(tx, tenant, { id: newUuid(receivedMs), sender, ...said })
    const told = { ...optOutRecord(row), message_id: id }
    if (isNew) await app.outbox.emit(tx, smsEvents.optedOut, occasion, phone, told)
    return isNew
  }
  // START to one sender concerns that sender only, unless all were stopped at once.
  const removed = await removeOptOuts(tx, tenant, phone, [number, everySender])
  for (const { from } of removed.map(optOutRecord))
    await app.outbox.emit(tx, smsEvents.optedIn, occasion, phone, { ...said, from, message_id: id })
  return removed.length > 0
}

async function answer(app: App, tx: Tx, occasion: Occasion, message: Received, said: string): Promise<void> {
  const { tenant, receivedMs, nowMs } = occasion
  const { uuid: inReplyTo, handset, number } = message
  const cut = segmentsOf(said)
  if (!cut) return
  const id = newUuid(receivedMs)
  const place = placeFor(app, handset)
  const job = submission(app, tenant, { id, segments: cut.segments, ...place, priority: 'transactional' })
  await tx.query(insertAnswer, {
    ...tenant,
    id,
    recipient: handset,
    sender: number,
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
