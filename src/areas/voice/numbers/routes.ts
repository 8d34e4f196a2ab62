// SPDX-License-Identifier: Apache-2.0
// Routes that assign numbers: to an application, queue, menu, agent or the routing rules. A test key may use any number
// no other account has.
import { type Static, Type } from 'typebox'
import { AppError, invalid } from '../../../kernel/errors.ts'
import { isE164, placeOf } from '../../../kernel/phone.ts'
import { list, type Route, writeAcross } from '../../../platform/api/route.ts'
import type { App } from '../../../platform/app.ts'
import { addressIn, DialectName, dialectNamed, urlOf } from '../../../platform/outbound/dialect-url.ts'
import { At, Nullable, OneOf, wholeListQuery } from '../../../platform/schema/fields.ts'
import { pageOfWhole } from '../../../platform/schema/lists.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import { capabilitiesOf } from '../../numbers/area.ts'
import { followersOf } from '../followers.ts'
import type { Target } from '../store.ts'
import { type Answering, type NumberRow, ownership, voiceNumbers } from './store.ts'

const maxNumbers = 10_000

const Url = (description: string) => Type.String({ minLength: 1, maxLength: 2_048, description })

const Application = Type.Object({
  answer_url: Url('URL called for the flow of each call to the number, https://'),
  event_url: Type.Optional(Url('URL that receives every status of its calls')),
  fallback_url: Type.Optional(Url('URL called if `answer_url` returns no flow')),
  answer_method: Type.Optional(
    OneOf(['POST', 'GET'], { description: 'HTTP method of `answer_url` and `fallback_url`; default POST' }),
  ),
  dialect: Type.Optional(DialectName),
})

const Id = (description: string) => Type.Optional(Nullable(Type.String({ maxLength: 80 }), { description }))

const Assignment = Type.Object({
  application: Type.Optional(
    Nullable(Application, { description: 'Application called for the flow of each call; null detaches' }),
  ),
  queue_id: Id('Id of the queue in which callers wait; null detaches'),
  ivr_id: Id('Id of the IVR that answers; null detaches'),
  agent_id: Id('Id of the agent who is called; null detaches'),
  routing: Type.Optional(
    Nullable(Type.Literal(true), { description: 'True applies the routing rules; null detaches' }),
  ),
})

const VoiceNumber = Type.Object(
  {
    number: Type.String({ description: 'Phone number in E.164' }),
    country: Nullable(Type.String({ description: 'ISO 3166 code of its country; null if that is not known' })),
    capabilities: Type.Array(Type.String(), { description: 'Capabilities of the number, such as `voice`' }),
    assigned_to: Nullable(
      Type.Object({
        type: OneOf(['application', 'queue', 'ivr', 'agent', 'routing'], {
          description: 'Kind of answer to its calls',
        }),
        id: Type.Optional(Type.String({ description: 'Id of the queue, IVR or agent' })),
        answer_url: Type.Optional(Type.String({ description: 'Application URL called for the flow of each call' })),
        event_url: Type.Optional(
          Nullable(Type.String({ description: 'Application URL that receives every status; null: none' })),
        ),
        fallback_url: Type.Optional(
          Nullable(Type.String({ description: 'Application URL called if `answer_url` returns no flow' })),
        ),
        answer_method: Type.Optional(OneOf(['POST', 'GET'], { description: 'HTTP method of the application' })),
        dialect: Type.Optional(DialectName),
      }),
      { description: 'Answer to its calls; null: none' },
    ),
    assigned_at: At({ description: 'Time of the last change' }),
  },
  { title: 'VoiceNumber' },
)

/** Target of an assignment; null detaches the number. */
function targetOf(body: Static<typeof Assignment>): Target | null {
  const { queue_id, ivr_id, agent_id, routing } = body
  if (queue_id) return { type: 'queue', id: queue_id }
  if (ivr_id) return { type: 'ivr', id: ivr_id }
  if (agent_id) return { type: 'agent', id: agent_id }
  return routing ? { type: 'routing' } : null
}

const assign = writeAcross({
  method: 'POST',
  path: '/v1/voice/numbers/:number/assign',
  operation: 'voice.assignNumber',
  summary: 'Set how calls to a number are answered',
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
    if (Object.keys(body).length !== 1)
      throw invalid(
        'application',
        'or another target is missing: give exactly one of application, queue_id, ivr_id, agent_id and routing',
      )
    await requireOwn(app, tenant, params.number)
    const target = targetOf(body)
    if (target) await requireTarget(app, tenant, target)
    const { answer_url, event_url, fallback_url } = body.application ?? {}
    for (const [field, url] of Object.entries({ answer_url, event_url, fallback_url }))
      if (url !== undefined)
        await app.outbound.checkUrl(addressIn(null, url, field), 'callback', tenant.environment, `application.${field}`)
  },
  handle: async (_app, tx, { params: { number }, body }, caller) => {
    const { tenant, nowMs } = caller
    const settings = answeringOf(body)
    const assigned = () => voiceNumbers.change(tx, tenant, number, settings, nowMs)
    const taken = () =>
      tenant.environment === 'test' ? voiceNumbers.own(tx, tenant, caller, { number, settings }) : null
    // A concurrent request of the same account may insert the row first: after waiting for it, update again.
    const row = (await assigned()) ?? (await taken()) ?? (await assigned())
    if (!row) throw new AppError('NUMBER_NOT_OWNED', `${number} belongs to another account`)
    const capable = await capabilitiesOf(tx, tenant, [number])
    return numberRecord(row, capable(number))
  },
})

function answeringOf(body: Static<typeof Assignment>): Answering {
  const { answer_url, event_url, fallback_url, answer_method, dialect } = body.application ?? {}
  const addressOf = (url: string | undefined, field: string) =>
    url === undefined ? null : addressIn(dialect, url, `application.${field}`)
  return {
    answer_url: addressOf(answer_url, 'answer_url'),
    event_url: addressOf(event_url, 'event_url'),
    fallback_url: addressOf(fallback_url, 'fallback_url'),
    answer_method: answer_method ?? 'POST',
    target: targetOf(body),
  }
}

/** Requires the target of an assignment to exist. */
async function requireTarget(app: App, tenant: Tenant, target: Target): Promise<void> {
  let problem: string | null | undefined
  for (const follower of followersOf(app)) problem ??= await follower.targetProblem?.(app, tenant, target)
  const field = target.type === 'routing' ? 'routing' : `${target.type}_id`
  if (problem) throw invalid(field, problem)
}

/** Requires the number: live ones are given by the operator; test ones belong to the first account that names them. */
async function requireOwn(app: App, tenant: Tenant, number: string): Promise<void> {
  const whose = await ownership(app, tenant, number)
  if (whose === 'another') throw new AppError('NUMBER_NOT_OWNED', `${number} belongs to another account`)
  if (whose === 'nobody') throw new AppError('NOT_FOUND', 'the account has no such number')
}

const listOwn = list({
  path: '/v1/voice/numbers',
  operation: 'voice.listNumbers',
  summary: 'List inbound call numbers',
  scope: 'voice:read',
  query: Type.Object(wholeListQuery),
  row: VoiceNumber,
  examples: [{ name: 'All', query: {} }],
  handle: async (app, { query }, { tenant }) => {
    const rows = await voiceNumbers.inOrder(app.db, tenant.environment, tenant.account, maxNumbers)
    const capable = await capabilitiesOf(
      app.db,
      tenant,
      rows.map(({ number }) => number),
    )
    const records = rows.map((row) => numberRecord(row, capable(row.number)))
    return pageOfWhole(query, records, ({ number }) => number)
  },
})

function numberRecord({ number, settings, updated_at }: NumberRow, capabilities: string[]) {
  return {
    number,
    country: placeOf(number).country,
    capabilities,
    assigned_to: assignedTo(settings),
    assigned_at: updated_at,
  }
}

const targetTypes = ['queue', 'ivr', 'agent', 'routing'] as const

function assignedTo({ answer_url, event_url, fallback_url, answer_method, target }: Answering) {
  const type = targetTypes.find((one) => one === target?.type)
  if (type) return { type, ...(typeof target?.id === 'string' ? { id: target.id } : {}) }
  if (answer_url === null) return null
  const urls = { answer_url: urlOf(answer_url), event_url: urlOf(event_url), fallback_url: urlOf(fallback_url) }
  return { type: 'application' as const, ...urls, answer_method, dialect: dialectNamed(answer_url) }
}

export const numberRoutes: readonly Route[] = [listOwn, assign]
