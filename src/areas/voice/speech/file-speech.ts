// SPDX-License-Identifier: Apache-2.0
// Speech of Piper voices: a text is cut into sentences, and each is said by a process of its own.
import type { Compute } from '../../../platform/compute.ts'
import { ComputeRefusedError } from '../../../platform/compute.ts'
import { sayByFile } from '../engines/tasks.ts'
import { Unspeakable } from './engine.ts'
import { plainReading } from './reading.ts'
import type { FileVoice, VoiceFiles } from './voice-files.ts'

export interface Sentence {
  readonly text: string
  /** Silence after it. */
  readonly pauseMs: number
}

const sentencePauseMs = 200
/** Longer sentences are cut at a space: the memory of a network grows with the square of the length. */
const pieces = /\S[\s\S]{0,299}(?=\s|$)|\S{1,300}/g

export class FileSpeech {
  readonly files: VoiceFiles
  readonly #processes: () => Compute

  constructor(files: VoiceFiles, processes: () => Compute) {
    this.files = files
    this.#processes = processes
  }

  async say(sentence: string, { name, path }: FileVoice): Promise<Int16Array> {
    const said = await this.#processes()
      .run(sayByFile, { sentence, path })
      .catch((cause: unknown) => {
        const why = cause instanceof ComputeRefusedError ? `failed: ${cause.message}` : 'did not finish'
        throw new Unspeakable('PROVIDER_UNAVAILABLE', `the voice ${name} ${why}`)
      })
    return said.samples
  }
}

export function sentencesOf(language: string, text: string): Sentence[] {
  const segmenter = new Intl.Segmenter(language, { granularity: 'sentence' })
  const sentences: Sentence[] = []
  for (const part of plainReading(language, text)) {
    if (typeof part === 'number') {
      const { text: before, pauseMs } = sentences.pop() ?? { text: '', pauseMs: 0 }
      sentences.push({ text: before, pauseMs: pauseMs + part })
      continue
    }
    for (const { segment } of segmenter.segment(part))
      for (const [piece] of segment.matchAll(pieces)) sentences.push({ text: piece.trim(), pauseMs: sentencePauseMs })
  }
  return sentences
}
