// SPDX-License-Identifier: Apache-2.0
// Sandbox request that makes a handset write. The message goes through the simulator and over SMPP, as one from a real
// network does.
import { Type } from 'typebox'
import { AppError } from '../../../kernel/errors.ts'
import { type Route, write } from '../../../platform/api/route.ts'
import { Phone } from '../../../platform/schema/fields.ts'
import { recordOf } from '../record.ts'
import { MessageRecord, Text } from '../schema.ts'
import { findMessage } from '../store.ts'
import { bring } from './bring.ts'
import { messageCentre } from './message-centre.ts'

const InboundMessage = Type.Object({
  from: Phone({ description: 'Number of the sending handset; any number' }),
  to: Type.String({
    pattern: '^[A-Za-z0-9+]{3,16}$',
    rule: 'must be a sender, short code or number of 3 to 16 letters and digits',
    description: 'Sender, short code or number that the handset writes to',
  }),
  message: Text,
})

const inbound = write({
  method: 'POST',
  path: '/v1/sandbox/sms/inbound',
  operation: 'sandbox.smsInbound',
  summary: 'Simulate an inbound text',
  description:
    'The message arrives over SMPP like any other: it is stored and sent as sms.received, and keywords such as STOP are applied.',
  scope: 'sandbox:write',
  body: InboundMessage,
  reply: { status: 201, schema: MessageRecord, location: ({ message_id }) => `/v1/sms/${message_id}` },
  errors: ['VALIDATION_ERROR', 'INVALID_PHONE', 'PROVIDER_UNAVAILABLE'],
  examples: [{ name: 'A handset joins', body: { from: '+254711000020', to: '22141', message: 'JOIN' } }],
  async prepare(app, { body }, { tenant, receivedMs, nowMs }) {
    if (messageCentre.of(app) === null)
      throw new AppError('PROVIDER_UNAVAILABLE', 'this node runs no sandbox', { retryAfterSeconds: 1 })
    return bring(app, tenant, nowMs - receivedMs, { from: body.from, to: body.to, text: body.message })
  },
  handle: async (_app, tx, _input, { tenant, principal, nowMs }, id) => {
    const row = await findMessage(tx, tenant, id)
    if (!row) throw new Error('a message that was just stored is gone')
    return recordOf(row, principal.facts.currency, nowMs)
  },
})

export const sandboxRoutes: readonly Route[] = [inbound]
