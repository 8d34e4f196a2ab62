// SPDX-License-Identifier: Apache-2.0
// Media transfer to and from the provider, streamed.
import { uuidOf } from '../../../kernel/ids.ts'
import { dayMs } from '../../../kernel/time.ts'
import type { App } from '../../../platform/app.ts'
import { onePerApp } from '../../../platform/program/one-per-app.ts'
import { FileRefused } from '../../../platform/storage/file-kind.ts'
import type { ArrivedFile } from '../../../platform/storage.ts'
import { providerOf } from '../carriers/cloud-api.ts'
import { errorsOf, type Outcome } from '../carriers/cloud-errors.ts'
import type { Channel } from '../channels.ts'
import { inspect } from './inspect.ts'
import { mediaFiles } from './media.ts'

/** Cache time of an upload; providers keep them for 30 days. */
const goodForMs = dayMs
const maxRemembered = 10_000

/** Cache of uploads by file and channel: a picture sent to many is uploaded once. */
const uploads = onePerApp(() => new Map<string, { id: string; untilMs: number }>())

/** Provider's id of our file, from the cache or uploaded now. */
export async function uploadedMedia(app: App, channel: Channel, mediaId: string): Promise<{ id: string } | Outcome> {
  const known = uploads(app)
  const key = `${channel.baseUrl} ${channel.phoneNumberId} ${mediaId}`
  const before = known.get(key)
  if (before && before.untilMs > app.clock.nowMs()) return { id: before.id }
  const uuid = uuidOf('media', mediaId)
  const opened = uuid && (await app.storage.open(channel.tenant, uuid))
  if (!opened)
    return { kind: 'rejected', errors: errorsOf(131053, { code: 0, title: '', details: 'the media is gone' }) }
  const { file, read } = opened
  const name = file.name ?? 'file'
  const outcome = await providerOf(app).upload(channel, {
    type: file.type,
    name,
    bytes: file.bytes,
    read: () => read(),
  })
  if ('id' in outcome) {
    const [oldest] = known.size >= maxRemembered ? known.keys() : []
    if (oldest !== undefined) known.delete(oldest)
    known.set(key, { id: outcome.id, untilMs: app.clock.nowMs() + goodForMs })
  }
  return outcome
}

/** Copies a user's file into storage. Null when the provider has none or it is too large. */
export async function copyIn(
  app: App,
  channel: Channel,
  providerMediaId: string,
  name: string | null,
  nowMs: number,
): Promise<ArrivedFile | null> {
  const found = await providerOf(app).fetchMedia(channel, providerMediaId)
  if (found === null) return null
  try {
    const { tenant } = channel
    const arrived = await app.storage.put(mediaFiles, { tenant, type: found.type, name, bytes: found.bytes, nowMs })
    const inspected = await inspect(arrived)
    return 'type' in inspected ? { ...arrived, type: inspected.type } : arrived
  } catch (error) {
    if (error instanceof FileRefused) return null
    throw error
  }
}
