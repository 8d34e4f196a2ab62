// SPDX-License-Identifier: Apache-2.0
// Reply to a customer: the channel that was chosen, or the one they last used, sends it at its price and by its rules. What stands against
// it is told as the channel tells it, with the other ways there are.
import { type Static, Type } from 'typebox'
import { AppError, invalid } from '../../../kernel/errors.ts'
import { idOf, newUuid } from '../../../kernel/ids.ts'
import type { Keyed } from '../../../platform/api/idempotency.ts'
import type { App } from '../../../platform/app.ts'
import type { Caller } from '../../../platform/auth.ts'
import { Amount, At, Nullable, OneOf } from '../../../platform/schema/fields.ts'
import { membersOf } from '../../../protocols/json.ts'
import { MailAttachment, sendMail, suppressionsOf } from '../../email/area.ts'
import { ChatTemplate, chatSending, sendChat } from '../../messenger/area.ts'
import { sendText } from '../../sms/area.ts'
import { variablesOf } from '../campaigns/content.ts'
import { customerWith } from '../change.ts'
import type { CustomerRow } from '../store.ts'
import { anyConversation, conversationWith } from './change.ts'
import { replied, saved } from './conversation.ts'
import { conversationEvents } from './events.ts'
import { type Channel, type ConversationRow, channels, insertReply, saveConversation } from './store.ts'
import { addressOn, mailSender, textSender, waysOf } from './ways.ts'

const mediaTypes = ['image', 'video', 'audio', 'document'] as const

export const ReplyBody = Type.Object({
  channel: Type.Optional(
    OneOf(channels, { description: 'Channel to use; default: the one the customer last wrote on' }),
  ),
  text: Type.Optional(
    Type.String({
      ...{ minLength: 1, maxLength: 4_096, rule: 'must have 1 to 4,096 characters', sensitive: true },
      description: 'Text of the answer',
    }),
  ),
  template: Type.Optional(
    ChatTemplate('Template of the messenger, which also reaches customers who have not written for 24 hours'),
  ),
  media: Type.Optional(
    Type.Object(
      {
        type: OneOf(mediaTypes, { description: 'Kind of the file' }),
        media_id: Type.String({ maxLength: 64, description: 'File that was uploaded with POST /v1/messenger/media' }),
      },
      { description: 'File, over the messenger; `text` becomes its caption, except of audio' },
    ),
  ),
  email_template: Type.Optional(
    Type.Object(
      {
        name: Type.String({ minLength: 1, maxLength: 100, description: 'Name or id of the template' }),
        variables: Type.Optional(
          Type.Record(Type.String(), Type.Unknown(), {
            description: 'Values for {{placeholders}}, besides the name and attributes of the customer',
          }),
        ),
      },
      { description: 'Template of email, instead of `text`' },
    ),
  ),
  attachments: Type.Optional(
    Type.Array(MailAttachment, {
      ...{ maxItems: 20, rule: 'must be at most 20 attachments' },
      description: 'Attachments of an email; the whole message is at most 25 MiB',
    }),
  ),
  subject: Type.Optional(
    Type.String({
      ...{ minLength: 1, maxLength: 200, rule: 'must have 1 to 200 characters' },
      description: 'Subject of an email; default: that of the template, or the first words of the text',
    }),
  ),
  from: Type.Optional(
    Type.String({
      maxLength: 254,
      description:
        'Sender of a text or email; default: the number that the customer wrote to, or the default of the account',
    }),
  ),
})
type Reply = Static<typeof ReplyBody>

export const ReplySent = Type.Object(
  {
    conversation_id: Type.String({ description: 'Conversation it belongs to' }),
    message_id: Type.String({ description: 'Id of the message, in its channel' }),
    channel: OneOf(channels, { description: 'Channel of the reply' }),
    to: Type.String({ description: 'Recipient number or address' }),
    cost: Amount({ description: 'Price in major units' }),
    currency: Nullable(Type.String({ description: 'Currency of the cost, ISO 4217' })),
    created_at: At({ description: 'Time at which it was accepted' }),
  },
  { title: 'ConversationReply' },
)
type Sent = Static<typeof ReplySent>

/** Answers a customer. Throws what the channel refuses with; then nothing was sent or charged. */
export async function reply(app: App, caller: Caller, id: string, body: Reply, keyed: Keyed): Promise<Sent> {
  const row = await conversationWith(app.db, caller, id)
  const customer = await customerWith(app.db, caller.tenant, idOf('customer', row.customer_id))
  const channel = await channelFor(app, caller, row, customer, body)
  const to = addressOn(channel, row, customer)
  if (to === null)
    throw invalid('channel', `needs ${channel === 'email' ? 'an email address' : 'a phone number'} of the customer`)
  const shape = (sent: Accepted): Sent => ({
    ...{ conversation_id: id, channel, to, created_at: new Date(caller.nowMs) },
    ...{ message_id: sent.message_id, cost: sent.cost, currency: sent.currency },
  })
  const sent = await senders[channel]({ app, caller, row, customer, to, body, keyed, shape }).catch(
    (error: unknown) => {
      throw error instanceof AppError && error.code === '131047' ? withOtherWays(error, customer) : error
    },
  )
  await noteReply(app, caller, id, body, sent)
  return sent
}

/** Channel that was asked for, the one the customer last used, or the first that is open. */
async function channelFor(
  app: App,
  caller: Caller,
  row: ConversationRow,
  customer: CustomerRow,
  { channel, template, media, email_template, attachments }: Reply,
): Promise<Channel> {
  if (channel !== undefined) return channel
  if (email_template !== undefined || attachments !== undefined) return 'email'
  if (template !== undefined || media !== undefined) return 'messenger'
  if (row.channel !== null) return row.channel
  const ways = await waysOf(app, caller, row, customer)
  return ways.find(({ is_open }) => is_open)?.channel ?? 'sms'
}

/** Closed window of the messenger, with the ways that are left. */
function withOtherWays(error: AppError, { emails }: CustomerRow): AppError {
  const alternatives = ['template', 'sms', ...(emails.length > 0 ? ['email'] : [])]
  return new AppError('131047', error.details, { cause: error, extra: { alternatives } })
}

/** Answer of every channel to a message. */
interface Accepted {
  readonly message_id: string
  readonly cost: bigint
  readonly currency: string
}

interface Replying {
  readonly app: App
  readonly caller: Caller
  readonly row: ConversationRow
  readonly customer: CustomerRow
  readonly to: string
  readonly body: Reply
  readonly keyed: Keyed
  /** Makes what is answered of what the channel answered, also under the request's key. */
  shape(sent: Accepted): Sent
}

/** Sends a reply over a channel. */
type Send = (replying: Replying) => Promise<Sent>

const senders: Readonly<Record<Channel, Send>> = {
  async sms({ app, caller, row, to, body, keyed, shape }) {
    const message = wordsOf('sms', body)
    const from = body.from ?? (await textSender(app.db, caller, row))
    return shapedBy(keyed, shape, (own) => sendText(app, { to, from, message }, caller, own))
  },

  async messenger({ app, caller, to, body: { text, template, media, ...body }, keyed, shape }) {
    refuseMailOf('messenger', body)
    const given = [template !== undefined, media !== undefined || text !== undefined].filter(Boolean)
    if (given.length !== 1) throw invalid('text', 'is required, unless template or media is given')
    if (media?.type === 'audio' && text !== undefined) throw invalid('text', 'is not sent with an audio file')
    const caption = text === undefined ? {} : { caption: text }
    const content = template
      ? { type: 'template' as const, template }
      : media
        ? { type: media.type, [media.type]: { id: media.media_id, ...caption } }
        : { type: 'text' as const, text: { body: text ?? '' } }
    return shapedBy(keyed, shape, (own) => sendChat(app, { to, ...content }, chatSending(caller), own))
  },

  async email({ app, caller, customer, to, body, keyed, shape }) {
    const { email_template: template, attachments } = body
    const text = template === undefined ? wordsOf('email', body) : null
    if (template !== undefined && [body.text, body.template, body.media].some((one) => one !== undefined))
      throw invalid('email_template', 'cannot be combined with text, template or media')
    const from = body.from ?? (await mailSender(app, caller))
    if (from === null) throw new AppError('MAIL_NOT_CONFIGURED', 'the account has no verified domain to send mail from')
    const stops = await suppressionsOf(app.db, caller.tenant, [to], new Date(caller.nowMs))
    if (stops.some(({ applies_to }) => applies_to === 'all'))
      throw new AppError('OPTED_OUT', `${to} is suppressed; see GET /v1/email/suppressions`)
    const subject = body.subject ?? text?.split('\n', 1).join('').slice(0, 80)
    const content =
      template === undefined
        ? { text: text ?? '' }
        : { template: template.name, variables: { ...variablesOf(customer), ...template.variables } }
    const mail = { from, to, ...content, ...(subject && { subject }), ...(attachments && { attachments }) }
    return shapedBy(keyed, shape, (own) => sendMail(app, mail, caller, own))
  },
}

function refuseMailOf(channel: Channel, { email_template, attachments }: Reply): void {
  if (email_template !== undefined || attachments !== undefined)
    throw invalid(email_template === undefined ? 'attachments' : 'email_template', `is of email, not of ${channel}`)
}

/** Sends with a key under which the reply of the conversation is kept, not that of the channel. */
async function shapedBy(
  keyed: Keyed,
  shape: (sent: Accepted) => Sent,
  send: (keyed: Keyed) => Promise<unknown>,
): Promise<Sent> {
  let shown: Sent | null = null
  const own: Keyed = {
    ...keyed,
    row(sent) {
      shown = shape(acceptedOf(sent))
      return keyed.row(shown)
    },
  }
  await send(own)
  if (shown === null) throw new Error('a channel sent a reply without an answer')
  return shown
}

function acceptedOf(sent: unknown): Accepted {
  const { message_id, cost, currency } = membersOf(sent)
  if (typeof message_id !== 'string' || typeof cost !== 'bigint' || typeof currency !== 'string')
    throw new Error('a channel accepted a message without its id and price')
  return { message_id, cost, currency }
}

function wordsOf(channel: 'sms' | 'email', { text, template, media, ...body }: Reply): string {
  if (channel === 'sms') refuseMailOf(channel, body)
  if (template !== undefined || media !== undefined || text === undefined)
    throw invalid('text', `is required by ${channel}, without template and media`)
  return text
}

/** Notes who answered what: after it was sent, so that no conversation tells of what was refused. */
async function noteReply(app: App, caller: Caller, id: string, body: Reply, sent: Sent): Promise<void> {
  const { tenant, actor: author, receivedMs, nowMs } = caller
  const { text, template, email_template } = body
  await app.db.tx(tenant, async (tx) => {
    // It was sent: it is noted also where the conversation was assigned to somebody else meanwhile.
    const before = await anyConversation(tx, tenant, id)
    const [at, shown] = [new Date(nowMs), text ?? template?.name ?? email_template?.name ?? null]
    const row = replied(before, { text: shown, at, place: newUuid(receivedMs) })
    await tx.query(saveConversation, saved(tenant, row))
    await tx.query(insertReply, { ...tenant, message: sent.message_id, conversation: row.id, author })
    const { message_id, channel } = sent
    await app.outbox.emit(tx, conversationEvents.message, caller, id, {
      ...{ conversation_id: id, customer_id: idOf('customer', row.customer_id), message_id, channel },
      ...{ direction: 'outbound', text: text ?? null, author, at },
    })
  })
}
