// SPDX-License-Identifier: Apache-2.0
// espeak-ng of the registry, for machines that have none: an optional package under the GPL, which only a process of its own
// loads (engines/speaker.ts). It exchanges text and samples with it.
import { createRequire } from 'node:module'
import type { Compute } from '../../../platform/compute.ts'
import { ComputeRefusedError } from '../../../platform/compute.ts'
import { say, speechPackage } from '../engines/tasks.ts'
import { type SpeechEngine, tooLong, Unspeakable } from './engine.ts'
import type { Reading } from './reading.ts'
import { escapeMarkup } from './ssml.ts'

const load = createRequire(import.meta.url)

export class PackageEngine implements SpeechEngine {
  readonly name = speechPackage
  readonly #processes: () => Compute

  constructor(processes: () => Compute) {
    this.#processes = processes
  }

  async isInstalled(): Promise<boolean> {
    try {
      load.resolve(speechPackage)
      return true
    } catch {
      return false
    }
  }

  /** The package reads every text as markup. */
  async say({ text, isMarkup }: Reading, voice: string): Promise<Int16Array> {
    const markup = isMarkup ? text : escapeMarkup(text)
    const said = await this.#processes()
      .run(say, { markup, voice })
      .catch((cause: unknown) => {
        const why = cause instanceof ComputeRefusedError ? `failed: ${cause.message}` : 'did not finish'
        throw new Unspeakable('PROVIDER_UNAVAILABLE', `the speech engine ${why}`)
      })
    if (said.samples === null) throw new Unspeakable('VALIDATION_ERROR', tooLong)
    return said.samples
  }
}
