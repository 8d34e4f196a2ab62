// SPDX-License-Identifier: Apache-2.0
// The timeline of a message: the request that made it, its states, and every PDU and webhook that was about it.
import type { Static } from 'typebox'
import { AppError } from '../../kernel/errors.ts'
import { uuidOf } from '../../kernel/ids.ts'
import { IdParam, type Need, type Route, read } from '../../platform/api/route.ts'
import { TimelineRecord, timelineRecord } from '../../platform/timeline/record.ts'
import { timelineOf } from '../../platform/timeline.ts'
import { readFields } from '../../protocols/smpp/fields.ts'
import { callersCurrency } from './prices/pricing.ts'
import { publicId, recordOf } from './record.ts'
import type { MessageRecord } from './schema.ts'
import { findMessage } from './store.ts'

const aText: Need = { operation: 'sms.send', id: 'message_id' }

const timeline = read({
  method: 'GET',
  path: '/v1/sms/:id/timeline',
  operation: 'sms.timeline',
  summary: 'Get the timeline of a text',
  description:
    'Always recorded in test; in live if the operator enables it, with the text masked. Frames are kept for 30 days, or as long as the text.',
  scope: 'sms:read',
  params: IdParam,
  reply: { status: 200, schema: TimelineRecord },
  errors: ['NOT_FOUND'],
  needs: aText,
  handle: async (app, { params }, caller) => {
    const uuid = uuidOf('sms', params.id) ?? uuidOf('smsInbound', params.id)
    const row = uuid && (await findMessage(app.db, caller.tenant, uuid))
    if (!row || publicId(row) !== params.id) throw new AppError('NOT_FOUND', 'there is no such message')
    const states = statesOf(recordOf(row, callersCurrency(caller), caller.nowMs))
    const { created_at: createdAt, request_id: requestId } = row
    return timelineRecord(
      params.id,
      await timelineOf(app.db, caller.tenant, { resource: params.id, createdAt, requestId, states }),
      readFields,
    )
  },
})

function statesOf({ timeline: moments }: Static<typeof MessageRecord>) {
  return moments.map(({ status, at, error_code, carrier_code }) => {
    return { at, state: status, note: [error_code, carrier_code].filter(Boolean).join(', ') || null }
  })
}

export const timelineRoutes: readonly Route[] = [timeline]
