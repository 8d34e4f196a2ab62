// SPDX-License-Identifier: Apache-2.0
// Speech engine: its interface and its bounds.
import { AppError } from '../../../kernel/errors.ts'
import { maxSpeechSeconds } from '../engines/tasks.ts'
import type { Reading } from './reading.ts'

export interface SpeechEngine {
  /** Package that it is installed by. */
  readonly name: string
  isInstalled(): Promise<boolean>
  /** Telephone audio of a text, in a voice of espeak-ng such as `sw+f2`. Throws Unspeakable. */
  say(reading: Reading, voice: string): Promise<Int16Array>
}

/** Why something cannot be said: an error code of the API and a sentence. */
export class Unspeakable extends AppError {}

export const tooLong = `text: takes longer than ${maxSpeechSeconds / 60} minutes to say; give it as several actions`
