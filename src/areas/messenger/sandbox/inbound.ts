// SPDX-License-Identifier: Apache-2.0
// Sandbox routes: users write, press a button, send a file or location. It passes through the simulated provider and
// arrives as a signed webhook.
import { Type } from 'typebox'
import { AppError, invalid } from '../../../kernel/errors.ts'
import { idOf, uuidOf } from '../../../kernel/ids.ts'
import { type Route, write } from '../../../platform/api/route.ts'
import type { App } from '../../../platform/app.ts'
import { OneOf, Phone } from '../../../platform/schema/fields.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import { simulatedMessenger } from '../carriers/sandbox.ts'
import { channelOf } from '../channels.ts'
import { openMedia } from '../media/media.ts'
import { findByProviderId, findMessage } from '../store.ts'

const Choice = (description: string) =>
  Type.Object(
    {
      id: Type.String({ minLength: 1, maxLength: 256, description: 'Id of the button or row in your message' }),
      title: Type.String({ minLength: 1, maxLength: 24, description: 'Label shown to the user' }),
      description: Type.Optional(Type.String({ maxLength: 72, description: 'Description below the title' })),
    },
    { description },
  )

const File = (description: string) =>
  Type.Object(
    {
      id: Type.String({ maxLength: 64, description: 'Id of media of yours, sent as the user’s file' }),
      caption: Type.Optional(Type.String({ maxLength: 1024, description: 'Caption below the media' })),
      filename: Type.Optional(Type.String({ maxLength: 240, description: 'File name on the user’s phone' })),
    },
    { description },
  )

const mediaTypes = ['image', 'video', 'audio', 'document'] as const

const Inbound = Type.Object({
  from: Phone({ description: 'Number of the user' }),
  to: Type.Optional(Type.String({ maxLength: 20, description: 'Your number; there is only one' })),
  name: Type.Optional(Type.String({ maxLength: 100, description: 'Profile name of the user' })),
  type: OneOf(['text', ...mediaTypes, 'interactive', 'button', 'location', 'reaction'], {
    description: 'Message type; the field of this name holds the content',
  }),
  text: Type.Optional(
    Type.Object(
      {
        body: Type.String({
          minLength: 1,
          maxLength: 4096,
          sensitive: true,
          description: 'Text of the message; STOP opts the user out',
        }),
      },
      { description: 'Text message' },
    ),
  ),
  image: Type.Optional(File('Picture message')),
  video: Type.Optional(File('Video message')),
  audio: Type.Optional(File('Audio message')),
  document: Type.Optional(File('Document message')),
  interactive: Type.Optional(
    Type.Object(
      {
        type: OneOf(['button_reply', 'list_reply'], {
          description: 'Kind of reply: a pressed button, or a chosen row of a list',
        }),
        button_reply: Type.Optional(Choice('The button that was pressed')),
        list_reply: Type.Optional(Choice('The row that was chosen')),
      },
      { description: 'Reply to your buttons or list' },
    ),
  ),
  button: Type.Optional(
    Type.Object(
      {
        payload: Type.String({ maxLength: 256, description: 'Payload of the button in your message' }),
        text: Type.String({ maxLength: 256, description: 'Label shown to the user' }),
      },
      { description: 'Pressed button of a template' },
    ),
  ),
  location: Type.Optional(
    Type.Object(
      {
        latitude: Type.Number({ minimum: -90, maximum: 90, description: 'Degrees, north positive, such as -1.2921' }),
        longitude: Type.Number({ minimum: -180, maximum: 180, description: 'Degrees, east positive, such as 36.8219' }),
        name: Type.Optional(Type.String({ maxLength: 200, description: 'Name of the place' })),
        address: Type.Optional(Type.String({ maxLength: 500, description: 'Address of the place, in one line' })),
      },
      { description: 'Shared location' },
    ),
  ),
  reaction: Type.Optional(
    Type.Object(
      {
        message_id: Type.String({ maxLength: 64, description: 'Id of the message that the user reacts to' }),
        emoji: Type.String({ maxLength: 20, description: 'One emoji; empty removes the reaction' }),
      },
      { description: 'Reaction to a message of the chat' },
    ),
  ),
  context: Type.Optional(
    Type.Object(
      { message_id: Type.String({ maxLength: 64, description: 'Id of the message it replies to' }) },
      { description: 'Message of the chat that this one replies to' },
    ),
  ),
})

/** Lifetime of a file's URL in seconds. */
const addressSeconds = 600

const inbound = write({
  method: 'POST',
  path: '/v1/sandbox/messenger/inbound',
  operation: 'sandbox.messengerInbound',
  summary: 'Simulate an inbound chat message',
  description:
    'The message is stored, opens the window for 24 hours and is sent as messenger.message. Keywords such as STOP are applied.',
  scope: 'sandbox:write',
  body: Inbound,
  reply: {
    status: 201,
    schema: Type.Object({
      message_id: Type.String({ description: 'Id of the message, such as `mmsg_…`' }),
      from: Type.String({ description: 'Number of the sender' }),
    }),
    location: ({ message_id }) => `/v1/messenger/${message_id}`,
  },
  errors: ['INVALID_PHONE', 'NOT_FOUND', 'MEDIA_EXPIRED', 'PROVIDER_UNAVAILABLE'],
  examples: [{ name: 'A text', body: { from: '+254711000020', type: 'text', text: { body: 'Habari' } } }],
  async prepare(app, { body }, { tenant, nowMs }) {
    const provider = simulatedMessenger.of(app)
    if (provider === null || tenant.environment !== 'test')
      throw new AppError('PROVIDER_UNAVAILABLE', 'this node runs no sandbox', { retryAfterSeconds: 1 })
    const object = body[body.type]
    if (object === undefined) throw invalid(body.type, `must be given, because type is ${body.type}`)
    const channel = await channelOf(app, tenant)
    const content = 'id' in object ? await heldMedia(app, tenant, object, nowMs) : object
    const providerId = await provider.write(channel.businessId, {
      phoneNumberId: channel.phoneNumberId,
      displayNumber: channel.displayNumber,
      from: body.from.slice(1),
      name: body.name ?? 'Amina',
      type: body.type,
      content,
      context: await providerIdOf(app, tenant, body.context?.message_id),
    })
    const stored = providerId && (await findByProviderId(app.db, tenant, providerId))
    if (!stored) throw new AppError('PROVIDER_UNAVAILABLE', 'the message did not come in', { retryAfterSeconds: 1 })
    return idOf('messengerMessage', stored)
  },
  handle: async (_app, _tx, { body }, _caller, message_id) => ({ message_id, from: body.from }),
})

/** Media as the provider names it: an id of its own, with the bytes at our URL. */
async function heldMedia(
  app: App,
  tenant: Tenant,
  { id, ...rest }: { id: string; caption?: string; filename?: string },
  nowMs: number,
): Promise<object> {
  const { file } = await openMedia(app, tenant, id, nowMs)
  const held = simulatedMessenger.of(app)?.hold({
    type: file.type,
    bytes: file.bytes,
    sha256: file.sha256.toString('hex'),
    url: app.storage.address({ ...tenant, id: file.id }, addressSeconds),
  })
  return { ...rest, id: held, mime_type: file.type, sha256: file.sha256.toString('base64') }
}

async function providerIdOf(app: App, tenant: Tenant, id: string | undefined): Promise<string | null> {
  const uuid = id === undefined ? null : uuidOf('messengerMessage', id)
  if (id === undefined) return null
  const message = uuid && (await findMessage(app.db, tenant, uuid))
  if (!message) throw new AppError('NOT_FOUND', 'context.message_id names no message of yours')
  return message.provider_id
}

export const sandboxRoutes: readonly Route[] = [inbound]
