// SPDX-License-Identifier: Apache-2.0
// Uploaded prompts: telephone audio among the files of an account, played by the address `prompt:prm_…`.
import { AppError } from '../../../kernel/errors.ts'
import type { App } from '../../../platform/app.ts'
import { fileKind } from '../../../platform/storage/file-kind.ts'
import type { ArrivedFile } from '../../../platform/storage.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import { sampleRate } from '../../../protocols/audio/g711.ts'
import { readSoundFile } from './sound-file.ts'

export const maxPromptSeconds = 300
export const maxPromptUploadBytes = 10 * 1_024 * 1_024
const retryAfterSeconds = 2

const promptFiles = fileKind({
  name: 'voice.prompt',
  types: { 'audio/l16': 2 * sampleRate * maxPromptSeconds },
  keepDays: null,
})

export interface ArrivedPrompt {
  readonly file: ArrivedFile
  readonly durationMs: number
}

/** Converts an uploaded WAV or MP3 file and stores it; refuses one that is neither, or too long. */
export async function storePrompt(
  app: App,
  { tenant, nowMs }: { tenant: Tenant; nowMs: number },
  name: string | null,
  bytes: AsyncIterable<Buffer>,
): Promise<ArrivedPrompt> {
  const samples = await promptIn(app, tenant, await whole(bytes))
  const sound = Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength)
  const file = await app.storage.put(promptFiles, { tenant, type: 'audio/l16', name, bytes: pieces(sound), nowMs })
  return { file, durationMs: Math.round((samples.length * 1_000) / sampleRate) }
}

async function promptIn(app: App, tenant: Tenant, file: Buffer): Promise<Int16Array> {
  const read = await readSoundFile(app, file, tenant)
  if (read.kind === 'fault')
    throw new AppError('SERVICE_UNAVAILABLE', `the file was not read: ${read.problem}`, { retryAfterSeconds })
  if (read.kind === 'unreadable')
    throw new AppError('VALIDATION_ERROR', `file is invalid: ${read.problem}; send WAV (PCM or G.711) or MP3`)
  if (read.samples.length === 0) throw new AppError('VALIDATION_ERROR', 'file is invalid: it holds no sound')
  if (read.samples.length > maxPromptSeconds * sampleRate)
    throw new AppError('VALIDATION_ERROR', `file is invalid: it is longer than ${maxPromptSeconds} seconds`)
  return read.samples
}

async function whole(bytes: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of bytes) chunks.push(chunk)
  return Buffer.concat(chunks)
}

async function* pieces(sound: Buffer): AsyncGenerator<Buffer> {
  yield sound
}

/** Bytes of a prompt as telephone audio; null when there is none. */
export async function openPrompt(app: App, tenant: Tenant, id: string) {
  const opened = await app.storage.open(tenant, id)
  return opened?.file.kind === promptFiles.name ? opened : null
}

/** Telephone audio of a prompt; null when there is none. */
export async function promptSound(app: App, tenant: Tenant, id: string): Promise<Int16Array | null> {
  const opened = await openPrompt(app, tenant, id)
  if (!opened) return null
  const bytes = await whole(opened.read())
  const samples = new Int16Array(bytes.length >> 1)
  bytes.copy(Buffer.from(samples.buffer))
  return samples
}
