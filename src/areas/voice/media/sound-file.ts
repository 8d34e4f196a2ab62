// SPDX-License-Identifier: Apache-2.0
// Sound files as telephone audio: WAV (PCM or G.711) and MP3.
import type { App } from '../../../platform/app.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import { looksLikeMp3 } from '../../../protocols/audio/mp3.ts'
import { readWav } from '../../../protocols/audio/wav.ts'
import { askEngine, type EngineFault, soundReaderOf } from '../engines/engines.ts'
import { readSound } from '../engines/tasks.ts'

/** Larger files are decoded in another process, so that signalling is not delayed. */
const readHereBytes = 64 * 1_024
const readMs = 20_000

export type ReadSound =
  | { readonly kind: 'sound'; readonly samples: Int16Array }
  /** The file is at fault. */
  | { readonly kind: 'unreadable'; readonly problem: string }
  /** The engine is at fault. */
  | { readonly kind: 'fault'; readonly fault: EngineFault; readonly problem: string }

export async function readSoundFile(app: App, file: Buffer, tenant: Tenant | null = null): Promise<ReadSound> {
  if (!looksLikeMp3(file) && file.length <= readHereBytes) return found(readWav(file))
  const outcome = await askEngine(app, readSound, { file }, readMs, { engine: soundReaderOf(app), tenant })
  if (outcome.kind === 'fault') return { kind: 'fault', fault: outcome.fault, problem: outcome.message }
  return found('samples' in outcome.answer ? outcome.answer.samples : outcome.answer.problem)
}

function found(sound: Int16Array | string): ReadSound {
  return typeof sound === 'string' ? { kind: 'unreadable', problem: sound } : { kind: 'sound', samples: sound }
}

/** Telephone audio of a file, or the reason for failure. */
export async function soundIn(app: App, file: Buffer, tenant: Tenant | null = null): Promise<Int16Array | string> {
  const read = await readSoundFile(app, file, tenant)
  return read.kind === 'sound' ? read.samples : read.problem
}
