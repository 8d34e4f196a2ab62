// SPDX-License-Identifier: Apache-2.0
// Webhook of the provider: a challenge once, then signed reports of messages, statuses and templates. It replies when
// all of them are stored; otherwise the provider retries.
import { timingSafeEqual } from 'node:crypto'
import { AppError } from '../../kernel/errors.ts'
import { hook, json, jsonOf, text } from '../../platform/api/hook.ts'
import { isStorable } from '../../platform/api/json.ts'
import type { App } from '../../platform/app.ts'
import { type GraphNotice, graphSignatureHeader, isGraphSignature, readGraphNotices } from '../../protocols/graph.ts'
import { type Ingress, ingressOf } from './channels.ts'
import { takeInbound } from './inbound.ts'
import { takeStatus } from './statuses.ts'
import { takeTemplateNotice } from './templates/follow.ts'

/** JSON depth limit, above anything providers send. */
const maxDepth = 30

export const ingressHook = hook({
  methods: ['GET', 'POST'],
  path: '/v1/messenger/ingress/:channel',
  operation: 'messenger.ingress',
  summary: 'The provider tells of messages, statuses and templates',
  maxBytes: 1024 * 1024,
  limits: [{ by: 'channel', perSecond: 2_000 }],
  async handle(app, call) {
    const ingress = await ingressOf(app, call.params.channel)
    if (ingress === null) throw new AppError('NOT_FOUND', 'there is no channel at this address')
    if (call.method === 'GET') return text(challengeOf(ingress, call.query))
    if (!isGraphSignature(ingress.appSecret, call.bytes, call.headers[graphSignatureHeader]))
      throw new AppError('UNAUTHORIZED', `${graphSignatureHeader} does not fit the body`)
    const notices = readGraphNotices(storableOf(jsonOf(call)))
    if (notices === null) throw new AppError('INVALID_REQUEST', 'the body is not what a provider sends')
    for (const notice of notices) await take(app, ingress, notice)
    return json({ success: true })
  },
})

/**
 * Removes what PostgreSQL cannot store: U+0000 and lone surrogates. Refusing them would make the provider retry for ever
 * and lose the rest of the report.
 */
function storableOf(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return value.replaceAll('\u0000', '').toWellFormed()
  if (typeof value !== 'object' || value === null || depth > maxDepth) return typeof value === 'object' ? null : value
  if (Array.isArray(value)) return value.map((one: unknown) => storableOf(one, depth + 1))
  const members = Object.entries(value).filter(([name]) => isStorable(name))
  return Object.fromEntries(members.map(([name, one]: [string, unknown]) => [name, storableOf(one, depth + 1)]))
}

function challengeOf({ verifyToken }: Ingress, query: Readonly<Record<string, unknown>>): string {
  const given = Buffer.from(String(query['hub.verify_token'] ?? ''))
  const expected = Buffer.from(verifyToken)
  const isOurs = given.length === expected.length && timingSafeEqual(given, expected)
  if (query['hub.mode'] !== 'subscribe' || !isOurs)
    throw new AppError('FORBIDDEN', 'hub.verify_token is not the one of this channel')
  return String(query['hub.challenge'] ?? '').slice(0, 200)
}

async function take(app: App, ingress: Ingress, notice: GraphNotice): Promise<void> {
  const channel = await ingress.channelOf(notice.kind === 'template' ? '' : notice.phoneNumberId)
  if (channel !== null && notice.kind === 'template') return takeTemplateNotice(app, channel.tenant, notice)
  if (channel === null || notice.kind === 'template')
    return app.log.info(
      {},
      'report for a number without a channel ignored: connect it, or remove our URL at the provider',
    )
  return notice.kind === 'status' ? takeStatus(app, channel, notice) : takeInbound(app, channel, notice)
}
