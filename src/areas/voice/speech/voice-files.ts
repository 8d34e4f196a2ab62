// SPDX-License-Identifier: Apache-2.0
// Piper voices in a folder of the operator. They are read once: a new one is spoken after the next start.
import { readdir, readFile, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { App } from '../../../platform/app.ts'
import { readPiperVoice } from '../engines/piper-voice.ts'

export interface FileVoice {
  /** Name of the file without `.onnx`. */
  readonly name: string
  /** Language and region, such as `sw-CD`, or the language alone. */
  readonly language: string
  readonly path: string
  /** Whether the operator chose it for texts of a language that name no voice. */
  isDefaultFor(language: string): boolean
}

const maxVoices = 100
const maxDescriptionBytes = 1_024 * 1_024
const form = /^([\w.-]{1,100})\.onnx$/

export class VoiceFiles {
  readonly #app: Pick<App, 'config' | 'log'>
  #read: Promise<readonly FileVoice[]> | null = null

  constructor(app: Pick<App, 'config' | 'log'>) {
    this.#app = app
  }

  /** All voices, by name. */
  all(): Promise<readonly FileVoice[]> {
    this.#read ??= this.#readFolder()
    return this.#read
  }

  /** The voice of a name, or else the one that the operator chose for the language. */
  async voiceFor(language: string, name: string | undefined): Promise<FileVoice | null> {
    const voices = await this.all()
    return voices.find((voice) => (name === undefined ? voice.isDefaultFor(language) : voice.name === name)) ?? null
  }

  async #readFolder(): Promise<readonly FileVoice[]> {
    const { PAMOJA_VOICES: folder } = this.#app.config
    if (folder === '') return []
    const names = await readdir(folder).catch((error) => {
      this.#app.log.error({ error, folder }, 'PAMOJA_VOICES cannot be read: check the folder, and start again')
      return []
    })
    const found = names.sort().flatMap((file) => form.exec(file)?.[1] ?? [])
    const voices: FileVoice[] = []
    const chosen = defaultsIn(this.#app.config.PAMOJA_VOICE_DEFAULTS ?? '')
    for (const name of new Set(chosen.values()))
      if (!found.includes(name))
        this.#app.log.warn({ name, folder }, 'PAMOJA_VOICE_DEFAULTS names no voice of PAMOJA_VOICES')
    for (const name of found.slice(0, maxVoices)) {
      const path = resolve(join(folder, `${name}.onnx`))
      try {
        if ((await stat(`${path}.json`)).size > maxDescriptionBytes) throw new Error('its description is too large')
        const { language, espeak } = readPiperVoice(await readFile(`${path}.json`, 'utf8'))
        const isDefaultFor = (tag: string) => (chosen.get(tag) ?? chosen.get(tag.split('-')[0] ?? tag)) === name
        voices.push({ name, language: (language?.code ?? espeak.voice).replace('_', '-'), path, isDefaultFor })
      } catch (error) {
        this.#app.log.warn({ error, path }, 'voice ignored: its *.onnx.json is missing or not of Piper')
      }
    }
    return voices
  }
}

/** Voices by the languages that they are chosen for. */
function defaultsIn(setting: string): Map<string, string> {
  const pairs = setting === '' ? [] : setting.split(',')
  return new Map(
    pairs.map((one) => {
      const [tag = '', voice = ''] = one.trim().split('=')
      return [tag, voice]
    }),
  )
}
