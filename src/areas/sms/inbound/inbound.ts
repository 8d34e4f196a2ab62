// SPDX-License-Identifier: Apache-2.0
// From a handset to the customer: its parts joined, stored and told of, what STOP, START and HELP ask for done, and the
// keyword's own reply sent. All of it in one transaction, after which the carrier hears that it arrived.
import { type Static, Type } from 'typebox'
import { AppError } from '../../../kernel/errors.ts'
import { idOf, newIdAndUuid, newUuid } from '../../../kernel/ids.ts'
import type { App } from '../../../platform/app.ts'
import { maybe, one, statement, type Tx } from '../../../platform/db.ts'
import type { Occasion } from '../../../platform/events.ts'
import { onePerApp } from '../../../platform/one-per-app.ts'
import type { Environment, Tenant } from '../../../platform/tenant.ts'
import type { Job } from '../../../platform/work.ts'
import type { Incoming } from '../carrier.ts'
import { keywordOf, type OwnWords, ownWishOf, type Wished, wishOf } from '../consent/words.ts'
import { smsEvents } from '../events.ts'
import { submission } from '../lanes.ts'
import { segmentsOf } from '../message.ts'
import { isSandbox } from '../network.ts'
import { findPlaces, placeFor } from '../ported/numbers.ts'
import { everySender, insertOptOut, optOutRecord, removeOptOuts } from '../store.ts'
import { claimsTo, type Owner, type Whose } from './owner.ts'
import { sendReply } from './replies.ts'

/** What has not all arrived by then is told of as it is. */
const joinWithinMs = 60_000

interface Whole {
  readonly from: string
  readonly to: string
  readonly text: string
  readonly encoding: 'gsm7' | 'ucs2'
  readonly parts: number
  readonly isPartial: boolean
}

const insertInbound = statement<
  {
    bucket: number
    account: string
    environment: Environment
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
  {
    bucket: number
    account: string
    environment: Environment
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

interface PartKey {
  bucket: number
  account: string
  environment: Environment
  sender: string
  recipient: string
  reference: number
  total: number
}

const insertPart = statement<PartKey & { part: number; body: string }, object>(
  'sms.insert_part',
  `insert into sms.inbound_parts (bucket, account_id, environment, sender, recipient, reference, total, part, body)
   values ($bucket, $account, $environment, $sender, $recipient, $reference, $total, $part, $body)
   on conflict do nothing`,
)

/** Whoever brings a part waits for whoever is bringing another: one of them sees them all. */
const lockParts = statement<{ key: string; bucket: number }, object>(
  'sms.lock_parts',
  `select pg_advisory_xact_lock($bucket::int, hashtext($key))`,
)

const partsSoFar = statement<PartKey, { part: number; body: string }>(
  'sms.parts_so_far',
  `select part, body from sms.inbound_parts
    where bucket = $bucket and account_id = $account and environment = $environment and sender = $sender
      and recipient = $recipient and reference = $reference and total = $total
    order by part`,
)

const removeParts = statement<PartKey, object>(
  'sms.remove_parts',
  `delete from sms.inbound_parts
    where bucket = $bucket and account_id = $account and environment = $environment and sender = $sender
      and recipient = $recipient and reference = $reference and total = $total`,
)

/** A message that a request of this node has just asked the simulator for. */
interface Expected {
  readonly from: string
  readonly to: string
  readonly text: string
  readonly by: Whose
  arrived(id: string): void
}

const expected = onePerApp(() => new Set<Expected>())

/** Has the simulator bring a message, and gives the id under which it was stored. */
export async function bring(
  app: App,
  tenant: Tenant,
  clockOffsetMs: number,
  message: { from: string; to: string; text: string },
): Promise<string> {
  const { smsc } = app.simulators
  if (smsc === null) throw new Error('there is no simulator on this node')
  let stored: string | null = null
  const wanted: Expected = {
    ...message,
    by: { tenant, clockOffsetMs },
    arrived: (id) => {
      stored = id
    },
  }
  expected(app).add(wanted)
  try {
    // The other side answers once it has stored it.
    await smsc.inbound(message.from, message.to, message.text)
  } catch (cause) {
    throw new AppError('PROVIDER_UNAVAILABLE', 'the sandbox is not connected', { cause, retryAfterSeconds: 1 })
  } finally {
    expected(app).delete(wanted)
  }
  if (stored === null) throw new AppError('SERVICE_UNAVAILABLE', 'the message was not stored', { retryAfterSeconds: 1 })
  return stored
}

/** Takes what a handset sent; fulfilled when it is stored. */
export async function takeIncoming(app: App, message: Incoming): Promise<void> {
  const { carrier, from, to } = message
  const isTest = isSandbox(carrier)
  const wanted = isTest ? expectedOf(app, message) : undefined
  const claims = await claimsTo(app, { from, to, isTest, expectedBy: wanted?.by ?? null })
  const { keeper } = claims
  const id =
    keeper &&
    (await app.db.tx(async (tx) => {
      const whole = await join(app, tx, keeper, message)
      const owner = whole && claims.ownerOf(whole.text)
      if (whole && !owner) forNobody(app, message)
      return owner && receive(app, tx, owner, whole)
    }))
  if (keeper === null) forNobody(app, message)
  if (id !== null) wanted?.arrived(id)
}

function forNobody(app: App, { carrier, to }: Pick<Incoming, 'carrier' | 'to'>): void {
  app.log.warn({ carrier, to }, 'a message came for nobody')
}

/** A part of it is enough to know it by; one that comes whole is expected no longer. */
function expectedOf(app: App, { from, to, text, part }: Incoming): Expected | undefined {
  for (const wanted of expected(app))
    if (isSameNumber(wanted.from, from) && isSameNumber(wanted.to, to) && wanted.text.includes(text)) {
      if (part === null) expected(app).delete(wanted)
      return wanted
    }
  return undefined
}

function isSameNumber(a: string, b: string): boolean {
  return a.replace('+', '') === b.replace('+', '')
}

// Joining ----------------------------------------------------------------------------------------------------------

const offsetOf = statement<{ account: string; environment: string }, { ms: bigint }>(
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
  leaseSeconds: 15,
  retrySeconds: [1, 5, 30, 300],
  async handle(app, { tenant, payload }) {
    if (!tenant) throw new Error('a message belongs to an account')
    const { sender: from, recipient: to, total } = payload
    const isTest = tenant.environment === 'test'
    const expectedBy = isTest ? { tenant, clockOffsetMs: await clockOffsetMs(app, tenant) } : null
    const claims = await claimsTo(app, { from, to, isTest, expectedBy })
    await app.db.tx(async (tx) => {
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
async function join(app: App, tx: Tx, tenant: Tenant, message: Incoming): Promise<Whole | null> {
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

/** Whoever brings a part, and whoever no longer waits for one, does so alone: none is forgotten between the two. */
async function lock(tx: Tx, { bucket }: Tenant, { sender, recipient, reference, total }: Static<typeof Late>) {
  await tx.query(lockParts, { bucket, key: JSON.stringify([sender, recipient, reference, total]) })
}

function wholeOf(from: string, to: string, rows: readonly { body: string }[], total: number): Whole {
  const text = rows.map(({ body }) => body).join('')
  const { encoding } = segmentsOf(text) ?? { encoding: 'gsm7' as const }
  return { from, to, text, encoding, parts: total, isPartial: rows.length < total }
}

// Storing ----------------------------------------------------------------------------------------------------------

async function receive(app: App, tx: Tx, owner: Owner, message: Whole): Promise<string> {
  const { tenant, clockOffsetMs, inReplyTo, autoReply } = owner
  const receivedMs = app.clock.nowMs()
  const nowMs = receivedMs + clockOffsetMs
  const occasion: Occasion = { tenant, receivedMs, nowMs, requestId: null }
  const { id, uuid } = newIdAndUuid('smsInbound', receivedMs)
  await findPlaces(app, [message.from])
  const { country, network } = placeFor(app, message.from)
  const keyword = owner.keyword ?? keywordOf(message.text)
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
  // What comes back as it went out is an echo, and answering it would not end.
  if (!wish && autoReply !== null && autoReply !== message.text) {
    const answered = { id: uuid, handset: message.from, number: message.to, reply: newUuid(receivedMs) }
    const problem = await sendReply(app, tx, occasion, answered, autoReply)
    if (problem) app.log.info({ sms: uuid, reason: problem.message }, 'an automatic reply was not sent')
  }
  return uuid
}

/** A word has at most 30 characters, and something may stand around it. */
const longestWish = 60

const ownWordsOf = statement<{ account: string }, { words: OwnWords }>(
  'sms.own_words',
  `select value as words from accounts.with_setting('sms_words') where account_id = $account::uuid`,
)

async function ownWish(tx: Tx, { account }: Tenant, text: string): Promise<Wished | null> {
  if (text.length > longestWish) return null
  const own = await maybe(tx.query(ownWordsOf, { account }))
  return own && ownWishOf(text, own.words)
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
    const { isNew } = await insertOptOut(tx, tenant, { id: newUuid(receivedMs), sender, ...said })
    const told = { ...said, from: sender, message_id: messageId }
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
