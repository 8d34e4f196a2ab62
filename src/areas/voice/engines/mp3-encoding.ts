// SPDX-License-Identifier: Apache-2.0
// MP3 of a recording, as it is read: a process of its own encodes piece after piece, so that neither the length of a
// recording nor the encoder weighs on calls.
import { createRequire } from 'node:module'
import { Type } from 'typebox'
import Value from 'typebox/value'
import type { App } from '../../../platform/app.ts'
import { Worker } from '../../../platform/compute/worker.ts'
import { root } from '../../../platform/program/root.ts'
import { Bytes } from './tasks.ts'

const program = new URL('dist/src/areas/voice/engines/encoder.js', root)
const pieceMs = 60_000
const encoderPackage = 'wasm-media-encoders'
const Answer = Type.Object({ bytes: Bytes })
const load = createRequire(import.meta.url)

/** Why recordings cannot be MP3 here; null when they can. */
export function mp3Problem({ config }: Pick<App, 'config'>, name = encoderPackage): string | null {
  if (config.PAMOJA_VOICE_MP3 === 'off') return 'MP3 is turned off here (PAMOJA_VOICE_MP3): record as wav'
  try {
    load.resolve(`${name}/esnext`)
    return null
  } catch {
    return `MP3 needs the package ${name}, which is not installed (npm install ${name}): record as wav`
  }
}

/** MP3 of samples of 16 bits, interleaved; `bytes` is their length. Throws when the encoder is missing or fails. */
export async function* mp3Of(sound: AsyncIterable<Buffer>, bytes: number, channels: number): AsyncGenerator<Buffer> {
  const worker = new Worker(program, [], pieceMs, () => undefined)
  const run = async (task: string, input: unknown): Promise<Buffer> => {
    const outcome = await worker.run(task, input, pieceMs)
    if (outcome.kind === 'refusal') throw new Error(outcome.message)
    const { bytes: made } = Value.Parse(Answer, outcome.answer)
    return Buffer.from(made.buffer, made.byteOffset, made.byteLength)
  }
  try {
    const bytesEach = 2 * channels
    yield await run('begin', { channels, samples: Math.floor(bytes / bytesEach) })
    let rest = Buffer.alloc(0)
    for await (const chunk of sound) {
      const piece = Buffer.concat([rest, chunk])
      const whole = piece.length - (piece.length % bytesEach)
      rest = piece.subarray(whole)
      if (whole > 0) yield await run('add', { bytes: piece.subarray(0, whole) })
    }
    yield await run('end', {})
  } finally {
    worker.end()
  }
}
