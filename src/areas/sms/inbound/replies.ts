// SPDX-License-Identifier: Apache-2.0
// A customer's own replies to inbound messages: the automatic one of a keyword, and the one in a webhook's answer. Both
// cost what a text costs and respect opt-outs. Replies to replies, as between two machines, are limited.
import { AppError } from '../../../kernel/errors.ts'
import { firstUuidAt, newUuid, uuidOf } from '../../../kernel/ids.ts'
import { minuteMs } from '../../../kernel/time.ts'
import { parseJson } from '../../../platform/api/json.ts'
import type { App } from '../../../platform/app.ts'
import type { EventAnswer } from '../../../platform/area.ts'
import { encodeItems } from '../../../platform/commit/row-encoding.ts'
import { maybe, one, statement, type Tx } from '../../../platform/db.ts'
import { type Occasion, occasionNow } from '../../../platform/events.ts'
import { mine, type Tenant } from '../../../platform/tenant.ts'
import { lengthChecked } from '../message.ts'
import { findPlaces } from '../ported/number-network.ts'
import { acceptOne, itemOf, jobOf } from '../sending/accept.ts'
import { plainDraft, textOf } from '../sending/draft.ts'
import { beyondWallet, optedOut } from '../sending/refusals.ts'
import { findMessage } from '../store.ts'

/** Answers that one handset is sent from one number within a minute: more than people can ask for. */
const maxAMinute = 10

const accept = statement.tenant<{ bucket: number; items: Buffer }, { verdict: string }>(
  'sms.accept_reply',
  `select v.verdict from unnest(sms.accept($items::sms.submit_item[], true)) v`,
)

const nameAnswered = statement.tenant<Tenant & { id: string; inReplyTo: string }, object>(
  'sms.name_answered',
  `update sms.messages set in_reply_to = $inReplyTo
    where ${mine} and id = $id`,
)

/** Whether a message that came in is the text that it answers, come back, and how many answers its handset has had lately. */
const answersTo = statement.tenant<
  Tenant & { id: string; since: string },
  { is_echo: boolean | null; answers: number }
>(
  'sms.answers_to',
  `select (select l.body = m.body from sms.messages l
            where l.bucket = $bucket and l.account_id = $account and l.environment = $environment and l.id = m.in_reply_to) as is_echo,
          (select count(*)::int from sms.messages a
            where a.bucket = $bucket and a.account_id = $account and a.environment = $environment and a.recipient = m.sender
              and sms.sender_form(a.sender) = sms.sender_form(m.recipient) and a.direction = 'outbound'
              and a.in_reply_to is not null and a.id >= $since::uuid) as answers
     from sms.messages m
    where m.bucket = $bucket and m.account_id = $account and m.environment = $environment and m.id = $id`,
)

/** Claims the message for an answer; no row when it was answered before. */
const claimReply = statement.tenant<Tenant & { id: string; reply: string }, { recipient: string; sender: string }>(
  'sms.claim_reply',
  `update sms.messages set reply_id = $reply
    where ${mine} and id = $id
      and direction = 'inbound' and reply_id is null
   returning recipient, sender`,
)

/** A message that came in, and the id that the answer to it gets. */
interface Answered {
  readonly id: string
  readonly handset: string
  readonly number: string
  readonly reply: string
}

/** Sends an answer, in the transaction that decides on it. Gives why it cannot be sent; then nothing was written. */
export async function sendReply(
  app: App,
  tx: Tx,
  occasion: Occasion,
  { id, handset, number, reply }: Answered,
  message: string,
): Promise<AppError | null> {
  const loop = await loopRefusal(tx, occasion, id, number)
  if (loop) return loop
  const said = { uuid: reply, to: handset, from: number, text: textOf(message) }
  const draft = await plainDraft(app, tx, occasion, said)
  if (draft instanceof AppError) return draft
  const sending = { ...occasion, actor: '', ip: '' }
  const job = jobOf(app, draft, sending)
  const items = encodeItems(acceptOne.takes, [itemOf(draft, job, sending)])
  const { verdict } = await one(tx.query(accept, { bucket: occasion.tenant.bucket, items }))
  if (verdict === 'insufficient') return beyondWallet(tx, occasion.tenant, draft.currency, draft.cost)
  if (verdict === 'opted_out') return optedOut(draft)
  await tx.query(nameAnswered, { ...occasion.tenant, id: reply, inReplyTo: id })
  tx.afterCommit(() => app.work.begin(job))
  return null
}

/** Two machines that answer each other would not stop, and each answer is paid for. */
async function loopRefusal(tx: Tx, { tenant, receivedMs }: Occasion, id: string, number: string) {
  const since = firstUuidAt(receivedMs - minuteMs)
  const { is_echo, answers } = await one(tx.query(answersTo, { ...tenant, id, since }))
  if (is_echo) return new AppError('CONFLICT', 'the message is the last text sent to its handset')
  return answers >= maxAMinute
    ? new AppError('RATE_LIMITED', `its handset was sent ${maxAMinute} replies from ${number} within a minute`)
    : null
}

/** Sends the reply that a webhook answered with. The first one counts: what repeats it, or comes second, sends nothing. */
export async function takeAnswer(app: App, answer: EventAnswer): Promise<string | null> {
  const { tenant, clockOffsetMs, resource } = answer
  const id = uuidOf('smsInbound', resource)
  if (id === null) return null
  try {
    const text = replyIn(answer)
    if (text === null) return null
    // Read outside the transaction, within which it would wait for a second connection.
    const received = await findMessage(app.db, tenant, id)
    if (received) await findPlaces(app, [received.sender])
    const occasion = occasionNow(app.clock, tenant, clockOffsetMs)
    const reply = newUuid(occasion.receivedMs)
    await app.db.tx(tenant, async (tx) => {
      const claimed = await maybe(tx.query(claimReply, { ...tenant, id, reply }))
      if (!claimed) return
      const answered = { id, handset: claimed.sender, number: claimed.recipient, reply }
      const problem = await sendReply(app, tx, occasion, answered, text)
      // A later answer may succeed.
      if (problem) throw problem
    })
    return null
  } catch (error) {
    if (error instanceof AppError) return `The reply was not sent: ${error.details}.`
    throw error
  }
}

/** The reply in an answer; null when it has none, as most have. */
function replyIn({ status, body, isWhole }: EventAnswer): string | null {
  if (status !== 200 || !body.includes('"reply"')) return null
  if (!isWhole) throw new AppError('MESSAGE_TOO_LONG', 'the reply is too long')
  const { value: said } = parseJson(Buffer.from(body))
  if (typeof said !== 'object' || said === null || !('reply' in said)) return null
  if (typeof said.reply !== 'string') throw new AppError('VALIDATION_ERROR', 'reply must be a text')
  return lengthChecked(said.reply)
}
