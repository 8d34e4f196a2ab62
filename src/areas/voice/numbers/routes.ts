// SPDX-License-Identifier: Apache-2.0
// Which application answers calls to a number. With a test key any number will do that nobody else has.
import { Type } from 'typebox'
import { AppError, invalid } from '../../../kernel/errors.ts'
import { isE164, placeOf } from '../../../kernel/phone.ts'
import type { App } from '../../../platform/app.ts'
import { maybe } from '../../../platform/db.ts'
import { pageOfWhole } from '../../../platform/page.ts'
import { list, type Route, writeAcross } from '../../../platform/route.ts'
import { At, listQuery, Nullable, OneOf } from '../../../platform/schema.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import { assignNumber, listNumbers, type NumberRow, ownerOfNumber } from './store.ts'

const mostNumbers = 10_000

const Url = Type.String({ minLength: 1, maxLength: 2_048 })

const Assignment = Type.Object({
  application: Nullable(
    Type.Object({
      answer_url: Url,
      event_url: Type.Optional(Url),
      fallback_url: Type.Optional(Url),
      answer_method: Type.Optional(OneOf(['POST', 'GET'])),
    }),
    { description: 'The application that is asked for the flow of each call; null lets nobody answer' },
  ),
})

const VoiceNumber = Type.Object(
  {
    number: Type.String(),
    country: Nullable(Type.String()),
    capabilities: Type.Array(Type.String()),
    assigned_to: Nullable(
      Type.Object({
        type: Type.Literal('application'),
        answer_url: Type.String(),
        event_url: Nullable(Type.String()),
        fallback_url: Nullable(Type.String()),
        answer_method: OneOf(['POST', 'GET']),
      }),
    ),
    assigned_at: At(),
  },
  { title: 'VoiceNumber' },
)

const assign = writeAcross({
  method: 'POST',
  path: '/v1/voice/numbers/:number/assign',
  operation: 'voice.assignNumber',
  summary: 'Say what answers calls to a number',
  scope: 'voice:write',
  limit: 'voice',
  params: Type.Object({ number: Type.String({ description: 'E.164, with the plus written %2B' }) }),
  body: Assignment,
  needs: 'nothing',
  reply: { status: 200, schema: VoiceNumber },
  errors: ['NOT_FOUND', 'INVALID_URL', 'NUMBER_NOT_OWNED'],
  async prepare(app, { params, body }, { tenant }) {
    if (!isE164(params.number))
      throw new AppError('NOT_FOUND', 'there is no such number: numbers are E.164, such as +254711000001')
    if (!('application' in body)) throw invalid('application', 'is missing: name the application, or null')
    await requireOwn(app, tenant, params.number)
    const { answer_url, event_url, fallback_url } = body.application ?? {}
    for (const [field, url] of Object.entries({ answer_url, event_url, fallback_url }))
      if (url !== undefined) await app.outbound.checkUrl(url, 'callback', tenant.environment, `application.${field}`)
  },
  handle: async (_app, tx, { params, body }, { tenant, nowMs }) => {
    const row = await maybe(
      tx.query(assignNumber, {
        ...tenant,
        number: params.number,
        answerUrl: body.application?.answer_url ?? null,
        eventUrl: body.application?.event_url ?? null,
        fallbackUrl: body.application?.fallback_url ?? null,
        answerMethod: body.application?.answer_method ?? 'POST',
        at: new Date(nowMs),
      }),
    )
    if (!row) throw new AppError('NUMBER_NOT_OWNED', `${params.number} belongs to another account`)
    return numberRecord(row)
  },
})

/** Live numbers are the operator's to give; in test the first who names one has it. */
async function requireOwn(app: App, tenant: Tenant, number: string): Promise<void> {
  const owner = await ownerOfNumber(app.db, tenant.environment, number)
  if (owner !== null && owner.account !== tenant.account)
    throw new AppError('NUMBER_NOT_OWNED', `${number} belongs to another account`)
  if (owner === null && tenant.environment === 'live') throw new AppError('NOT_FOUND', 'you have no such number')
}

const listOwn = list({
  path: '/v1/voice/numbers',
  operation: 'voice.listNumbers',
  summary: 'List the numbers that calls come in at',
  scope: 'voice:read',
  query: Type.Object(listQuery),
  row: VoiceNumber,
  examples: [{ name: 'All', query: {} }],
  handle: async (app, { query }, { tenant }) => {
    const rows = await app.db.query(listNumbers, { ...tenant, after: '', limit: mostNumbers })
    return pageOfWhole(query, rows.map(numberRecord), ({ number }) => number)
  },
})

function numberRecord(row: NumberRow) {
  const { number, answer_url, event_url, fallback_url, answer_method, assigned_at } = row
  const assigned_to =
    answer_url === null ? null : { type: 'application' as const, answer_url, event_url, fallback_url, answer_method }
  return { number, country: placeOf(number).country, capabilities: ['voice'], assigned_to, assigned_at }
}

export const numberRoutes: readonly Route[] = [listOwn, assign]
