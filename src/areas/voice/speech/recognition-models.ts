// SPDX-License-Identifier: Apache-2.0
// Models that recognise speech: English of the package, and those in a folder of the operator, each in a folder of its own. They
// are read once: a new one is used after the next start.
import { readdir, readFile, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { App } from '../../../platform/app.ts'
import { onePerApp } from '../../../platform/program/one-per-app.ts'
import { descriptionFile, modelFiles, modelPackage, readDescription } from '../engines/recognition-model.ts'

export interface RecognitionModel {
  readonly name: string
  /** With their regions, such as `ar-EG`, or without, which is all regions. */
  readonly languages: readonly string[]
  /** Folder of its files; null for the package. */
  readonly folder: string | null
}

/** English, of any country. */
const english: RecognitionModel = { name: 'moonshine-tiny', languages: ['en'], folder: null }

const maxModels = 50
const maxDescriptionBytes = 64 * 1_024
const maxTokenizerBytes = 32 * 1_024 * 1_024
const form = /^[\w.-]{1,100}$/

export const recognitionModelsOf = onePerApp((app: App) => new RecognitionModels(app))

class RecognitionModels {
  readonly #app: Pick<App, 'config' | 'log'>
  #read: Promise<readonly RecognitionModel[]> | null = null

  constructor(app: Pick<App, 'config' | 'log'>) {
    this.#app = app
  }

  /** All models; those of the operator come first, by name. */
  all(): Promise<readonly RecognitionModel[]> {
    this.#read ??= this.#readFolder()
    return this.#read
  }

  /** Model that names the language with its region, or else without; null where none does, and nothing is guessed. */
  async modelFor(language: string): Promise<RecognitionModel | null> {
    const models = await this.all()
    const named = (tag: string) => models.find(({ languages }) => languages.includes(tag))
    return named(language) ?? named(language.split('-')[0] ?? language) ?? null
  }

  async #readFolder(): Promise<readonly RecognitionModel[]> {
    const { PAMOJA_RECOGNITION: folder } = this.#app.config
    if (folder === '') return [english]
    const entries = await readdir(folder, { withFileTypes: true }).catch((error) => {
      this.#app.log.error({ error, folder }, 'PAMOJA_RECOGNITION cannot be read: check the folder, and start again')
      return []
    })
    const names = entries.flatMap((entry) => (!entry.isFile() && form.test(entry.name) ? [entry.name] : []))
    const models: RecognitionModel[] = []
    for (const name of names.sort().slice(0, maxModels)) {
      const path = resolve(join(folder, name))
      try {
        for (const file of Object.values(modelFiles)) await stat(join(path, file))
        if ((await stat(join(path, modelFiles.tokenizer))).size > maxTokenizerBytes)
          throw new Error('its tokenizer is too large')
        if ((await stat(join(path, descriptionFile))).size > maxDescriptionBytes)
          throw new Error('its description is too large')
        const { languages } = readDescription(await readFile(join(path, descriptionFile), 'utf8'))
        models.push({ name, languages, folder: path })
      } catch (error) {
        this.#app.log.warn(
          { error, path },
          'recognition model ignored: a file is missing or its recognition.json is invalid',
        )
      }
    }
    this.#app.log.info(
      { models: models.map(({ name, languages }) => ({ name, languages })) },
      'recognition models found',
    )
    return [...models, english]
  }
}

/** Whether what the models need is installed here. */
export function isRecognitionInstalled({ folder }: RecognitionModel): boolean {
  const needed = ['onnxruntime-node', ...(folder === null ? [modelPackage, 'llama-tokenizer-js'] : [])]
  return needed.every(isThere)
}

function isThere(name: string): boolean {
  try {
    import.meta.resolve(name)
    return true
  } catch {
    return false
  }
}
