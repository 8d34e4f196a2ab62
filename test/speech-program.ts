// SPDX-License-Identifier: Apache-2.0
// A speech program for tests, called as espeak-ng is: whatever it is to say it writes down, and hums for a moment.
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { tone } from '../src/protocols/audio/tones.ts'
import { writeWav } from '../src/protocols/audio/wav.ts'

/** What it hums. */
export const spokenHertz = 600

export interface SpeechProgram {
  readonly path: string
  /** Everything it was asked to say so far. */
  said(): Promise<string>
  remove(): Promise<void>
}

/** `says` is a file that it gives out in place of its hum. */
export async function speechProgram({ says }: { says?: string } = {}): Promise<SpeechProgram> {
  const dir = await mkdtemp(join(tmpdir(), 'pamoja-speech-'))
  const [path, said, sound] = ['speak', 'said', 'sound.wav'].map((name) => join(dir, name))
  if (!path || !said || !sound) throw new Error('no place for the program')
  await writeFile(sound, writeWav([tone([spokenHertz], 500)]))
  await writeFile(said, '')
  const speaks = `text=$(cat); printf '%s\\n' "$text" >> ${said}; cat ${says ?? sound}`
  await writeFile(path, `#!/bin/sh\ncase "$*" in *--stdin*) ${speaks};; esac\n`)
  await chmod(path, 0o755)
  return {
    path,
    said: () => readFile(said, 'utf8'),
    remove: () => rm(dir, { recursive: true, force: true }),
  }
}
