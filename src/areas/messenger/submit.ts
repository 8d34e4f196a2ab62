// SPDX-License-Identifier: Apache-2.0
// Job that submits a message to the provider. Temporary failures are retried for a day; after an unknown outcome it
// waits for a status before sending again.
import { Type } from 'typebox'
import { uuidOf } from '../../kernel/ids.ts'
import type { App } from '../../platform/app.ts'
import type { Job, Outcome as JobOutcome } from '../../platform/work.ts'
import { membersOf } from '../../protocols/json.ts'
import { providerOf } from './carriers/cloud-api.ts'
import { errorsOf, type Outcome } from './carriers/cloud-errors.ts'
import { changeMessage } from './change.ts'
import { type Channel, channelOf } from './channels.ts'
import { uploadedMedia } from './media/provider-media.ts'
import type { MessageErrors } from './schema.ts'
import { opaqueOf } from './statuses.ts'
import { findMessage, type MessageRow } from './store.ts'

const SubmitPayload = Type.Object({ message: Type.String() })

/** Retry delays; they add up to a day. */
const retrySeconds = [1, 2, 5, 10, 20, 40, 60, 120, 300, 600, 1_800, 3_600, 7_200, 14_400, 28_800, 28_800]
/** Wait for a status after an unknown outcome. */
const unknownSeconds = 30

export const submitJob: Job<App, typeof SubmitPayload> = {
  lane: 'messenger.submit',
  role: 'dispatch',
  payload: SubmitPayload,
  concurrency: 64,
  retrySeconds,
  async handle(app, { id, attempt, failures, tenant, payload }) {
    if (!tenant) throw new Error('a message belongs to an account')
    const message = await findMessage(app.db, tenant, payload.message)
    if (message?.status !== 'accepted') return { kind: 'done' }
    const channel = await channelOf(app, tenant)
    const outcome = await handOver(app, channel, message)
    const job = { id, attempt }
    if (outcome.kind === 'sent') {
      const { providerId } = outcome
      await changeMessage(app, message, {
        status: 'sent',
        errors: null,
        providerId,
        phoneNumberId: channel.phoneNumberId,
        job,
      })
      return { kind: 'settled' }
    }
    if (outcome.kind === 'rejected') return fail(app, channel, message, outcome.errors, job)
    const reason = `${outcome.reason}`
    if (failures >= retrySeconds.length)
      return fail(app, channel, message, errorsOf(133004, { code: 0, title: '', details: reason }), job)
    return outcome.kind === 'unknown'
      ? { kind: 'retry', reason, afterMs: unknownSeconds * 1000 }
      : { kind: 'retry', reason }
  },
}

async function handOver(app: App, channel: Channel, message: MessageRow): Promise<Outcome> {
  const content = await contentForProvider(app, channel, message)
  if ('kind' in content) return content
  return providerOf(app).send(channel, {
    to: message.recipient.slice(1),
    type: message.type,
    content: content.object,
    context: await providerIdOf(app, message),
    opaque: opaqueOf(message),
  })
}

/** Content in the provider's format: its media ids, and the language as an object. */
async function contentForProvider(
  app: App,
  channel: Channel,
  { type, content, language }: MessageRow,
): Promise<{ object: object } | Outcome> {
  if (type === 'template') {
    const components = await translated(app, channel, content.components)
    return 'kind' in components ? components : { object: { ...content, ...components, language: { code: language } } }
  }
  const [media, failed] = fileTypes.has(type) ? await withProviderId(app, channel, content) : [content, null]
  return failed ?? { object: media ?? content }
}

const fileTypes: ReadonlySet<string> = new Set(['image', 'video', 'audio', 'document'])

/** Template parameters with the provider's media ids. */
async function translated(app: App, channel: Channel, stored: unknown): Promise<{ components?: object[] } | Outcome> {
  if (!Array.isArray(stored)) return {}
  const components: object[] = []
  for (const component of stored.map(membersOf)) {
    const parameters: object[] = []
    for (const parameter of Array.isArray(component.parameters) ? component.parameters.map(membersOf) : []) {
      const type = String(parameter.type)
      if (!fileTypes.has(type)) {
        parameters.push(parameter)
        continue
      }
      const [media, failed] = await withProviderId(app, channel, membersOf(parameter[type]))
      if (failed) return failed
      parameters.push({ ...parameter, [type]: media })
    }
    components.push(component.parameters === undefined ? component : { ...component, parameters })
  }
  return { components }
}

const deadLink = { code: 131052, title: 'Media download error', details: 'the link did not give the file' }
const linkMs = 5_000
/** Hosts of examples, which nobody fetches from (RFC 2606). */
const exampleHost = /(?:^|\.)(?:example|example\.(?:com|net|org))$/

/** Whether a link gives no file, in the sandbox, whose provider fetches nothing: the real one fetches it itself. */
async function isDeadLink(app: App, { tenant }: Channel, url: string): Promise<boolean> {
  if (tenant.environment !== 'test' || exampleHost.test(new URL(url).hostname)) return false
  const outcome = await app.outbound.send({
    ...{ use: 'callback', environment: 'test', pool: 'messenger links', url, method: 'GET' },
    ...{ headers: [], body: null, timeoutMs: linkMs, maxAnswerBytes: 1, connections: 4 },
  })
  return outcome.kind === 'failed' || outcome.status < 200 || outcome.status > 299
}

/** Media object with the provider's id, or why there is none. */
async function withProviderId(
  app: App,
  channel: Channel,
  media: Record<string, unknown>,
): Promise<[object, null] | [null, Outcome]> {
  if (typeof media.link === 'string' && (await isDeadLink(app, channel, media.link)))
    return [null, { kind: 'rejected', errors: errorsOf(131052, deadLink) }]
  if (typeof media.id !== 'string') return [media, null]
  const uploaded = await uploadedMedia(app, channel, media.id)
  return 'id' in uploaded ? [{ ...media, id: uploaded.id }, null] : [null, uploaded]
}

/** Provider's id of the message replied to; null when unknown. */
async function providerIdOf(
  app: App,
  { context_id, bucket, account_id, environment }: MessageRow,
): Promise<string | null> {
  const id = context_id === null ? null : uuidOf('messengerMessage', context_id)
  if (id === null) return null
  const answered = await findMessage(app.db, { bucket, account: account_id, environment }, id)
  return answered?.provider_id ?? null
}

async function fail(
  app: App,
  channel: Channel,
  message: MessageRow,
  errors: MessageErrors,
  job: { id: string; attempt: number },
): Promise<JobOutcome> {
  const news = { status: 'failed', errors, providerId: null, phoneNumberId: channel.phoneNumberId, job } as const
  await changeMessage(app, message, news)
  return { kind: 'settled' }
}
