// SPDX-License-Identifier: Apache-2.0
// Routes of messages: send, read, list, mark as read.
import { type Static, Type } from 'typebox'
import { AppError } from '../../kernel/errors.ts'
import { AnsweredBefore, type Keyed } from '../../platform/api/idempotency.ts'
import { commit, IdParam, list, type Route, read, write } from '../../platform/api/route.ts'
import type { App } from '../../platform/app.ts'
import type { Caller } from '../../platform/auth.ts'
import { bodyChecker } from '../../platform/http/validate.ts'
import { Phone } from '../../platform/schema/fields.ts'
import { providerOf } from './carriers/cloud-api.ts'
import { channelOf } from './channels.ts'
import { readMessage, readPage, readRecord, recordOf } from './record.ts'
import { MessageList, MessageRecord, MessageSend, SendReply, TemplateLanguage, TemplateUse } from './schema.ts'
import { send, sendingOf } from './send.ts'
import { createTemplate, prepareTemplate } from './templates/routes.ts'
import { TemplateCreate, TemplateRecord } from './templates/template.ts'

const sendErrors = [
  'INVALID_PHONE',
  'DESTINATION_NOT_ALLOWED',
  'INSUFFICIENT_BALANCE',
  'DUPLICATE_REFERENCE',
  'INVALID_URL',
  'PROVIDER_UNAVAILABLE',
  '131047',
  '131051',
  '130472',
  '131026',
  '131053',
] as const

const sendRoute = commit({
  method: 'POST',
  path: '/v1/messenger/messages',
  aliases: ['/v1/messenger/send'],
  operation: 'messenger.send',
  summary: 'Send a chat message',
  description:
    'A template can be sent at any time; every other type within 24 hours after the user last wrote. A message that fails is not charged.',
  scope: 'messenger:write',
  limit: 'messenger',
  body: MessageSend,
  reply: { status: 200, schema: SendReply },
  errors: sendErrors,
  handle: (app, { body }, caller, keyed) => send(app, body, sendingOf(caller), keyed),
})

/** Body that sends or creates a template, told apart by `to`. */
const TemplateBody = Type.Object({
  to: Type.Optional(Phone({ description: 'Recipient; without it the template is created' })),
  template: Type.Optional(TemplateUse('Template to send; same as `name`, `language` and `components`')),
  name: Type.Optional(Type.String({ maxLength: 512, description: 'Name of the template to send or create' })),
  language: Type.Optional(TemplateLanguage),
  category: Type.Optional(
    Type.String({ maxLength: 40, description: 'UTILITY, MARKETING or AUTHENTICATION; needed to create one' }),
  ),
  components: Type.Optional(
    Type.Array(Type.Unknown(), {
      maxItems: 20,
      description: 'Values for the placeholders if `to` is given; otherwise the components of the new template',
    }),
  ),
  metadata: MessageSend.properties.metadata,
  callback_url: MessageSend.properties.callback_url,
  reference: MessageSend.properties.reference,
  fallback: MessageSend.properties.fallback,
})

/** Reply of sending or of creating. */
const SentOrCreated = Type.Object(
  {
    ...Type.Partial(SendReply).properties,
    ...Type.Partial(TemplateRecord).properties,
    status: Type.String({ description: 'accepted, or the state of the template' }),
  },
  { title: 'MessengerTemplateAnswer' },
)

const templateRoute = commit({
  method: 'POST',
  path: '/v1/messenger/template',
  operation: 'messenger.template',
  summary: 'Send a chat template, or create one',
  description: 'Sends the template if `to` is given, and creates it otherwise.',
  scope: 'messenger:write',
  limit: 'messenger',
  body: TemplateBody,
  reply: {
    status: 201,
    schema: SentOrCreated,
    existed: (reply) => reply.message_id !== undefined,
  },
  errors: [...sendErrors, 'CONFLICT'],
  handle: (app, { body }, caller, keyed) =>
    body.to === undefined ? createOnce(app, body, caller, keyed) : sendTemplate(app, body, caller, keyed),
})

const checkSend = bodyChecker(MessageSend)
const checkCreate = bodyChecker(TemplateCreate)

function sendTemplate(app: App, body: Static<typeof TemplateBody>, caller: Caller, keyed: Keyed) {
  const { name, language, components, category: _, template, ...rest } = body
  const used = template ?? { name, language, ...(components === undefined ? {} : { components }) }
  const { value } = checkSend({ ...rest, type: 'template', template: used })
  return send(app, value, sendingOf(caller), keyed)
}

/** Creates a template in a plain transaction that also stores the reply under the idempotency key. */
async function createOnce(app: App, body: Static<typeof TemplateBody>, caller: Caller, keyed: Keyed) {
  const { name, language, category, components } = body
  const { value } = checkCreate({ name, language, category, components })
  const claim = keyed.request && { ...caller.tenant, ...keyed.request }
  if (claim && (await app.idempotency.begin(claim, false))) throw new AnsweredBefore()
  const registered = await prepareTemplate(app, value, caller)
  return app.db.tx(caller.tenant, async (tx) => {
    const reply = await createTemplate(app, tx, value, caller, registered)
    const answer = keyed.row(reply)
    if (claim && answer) {
      const { status, body: text } = answer
      await app.idempotency.finish(tx, claim, { status, location: null, body: text }, false)
    }
    return reply
  })
}

const get = read({
  method: 'GET',
  path: '/v1/messenger/:id',
  aliases: ['/v1/messenger/messages/:id'],
  operation: 'messenger.get',
  summary: 'Get a chat message',
  scope: 'messenger:read',
  params: IdParam,
  reply: { status: 200, schema: MessageRecord },
  errors: ['NOT_FOUND'],
  needs: { operation: 'sandbox.messengerInbound', id: 'message_id' },
  handle: (app, { params }, caller) => readRecord(app, params.id, caller),
})

const listRoute = list({
  path: '/v1/messenger/messages',
  operation: 'messenger.list',
  summary: 'List chat messages',
  scope: 'messenger:read',
  query: MessageList,
  row: MessageRecord,
  errors: ['INVALID_DATE_RANGE'],
  examples: [{ name: 'Messages from users', query: { direction: 'inbound' } }],
  handle: (app, { query }, caller) => readPage(app, query, caller),
})

const markRead = write({
  method: 'POST',
  path: '/v1/messenger/messages/:id/read',
  operation: 'messenger.markRead',
  summary: 'Mark a chat message as read',
  scope: 'messenger:write',
  limit: 'messenger',
  params: IdParam,
  body: Type.Object({
    typing: Type.Optional(Type.Boolean({ description: 'True also shows a typing indicator to the user' })),
  }),
  reply: { status: 200, schema: MessageRecord },
  errors: ['NOT_FOUND', 'INVALID_STATE', 'PROVIDER_UNAVAILABLE'],
  needs: { operation: 'sandbox.messengerInbound', id: 'message_id' },
  async prepare(app, { params, body }, { tenant }) {
    const message = await readMessage(app.db, tenant, params.id)
    if (message.direction !== 'inbound' || message.provider_id === null)
      throw new AppError('INVALID_STATE', 'only a message that a user sent can be marked as read')
    const isTaken = await providerOf(app).markRead(
      await channelOf(app, tenant),
      message.provider_id,
      body.typing ?? false,
    )
    if (!isTaken) throw new AppError('PROVIDER_UNAVAILABLE', 'the provider did not take it', { retryAfterSeconds: 1 })
  },
  handle: async (_app, tx, { params }, { tenant }) => recordOf(await readMessage(tx, tenant, params.id), null),
})

export const messageRoutes: readonly Route[] = [sendRoute, templateRoute, listRoute, get, markRead]
