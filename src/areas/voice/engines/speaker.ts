// SPDX-License-Identifier: Apache-2.0
// Process that speaks, one text at a time. The engine (eSpeak NG as WebAssembly, an optional package under the GPL-3.0) is loaded
// here and nowhere else. Voices from files have their phonemes from it.
import { Type } from 'typebox'
import Value from 'typebox/value'
import { InferenceProblem } from '../../../platform/compute/inference.ts'
import { serveTasks } from '../../../platform/compute/serve.ts'
import { sampleRate } from '../../../protocols/audio/g711.ts'
import { resample } from '../../../protocols/audio/resample.ts'
import { openPiper } from './piper.ts'
import { maxSpeechSeconds, speechPackage, wordsPerMinute } from './tasks.ts'

const Say = Type.Object({ markup: Type.String(), voice: Type.String() })
const SayByFile = Type.Object({ sentence: Type.String(), path: Type.String() })

let opening: ReturnType<typeof open> | null = null

serveTasks(
  {
    say: async (input) => {
      const { markup, voice } = Value.Parse(Say, input)
      opening ??= open()
      const { worker, nameOf } = await opening
      worker.set_voice(nameOf(voice), '', 0, 0, 0)
      worker.set_rate(wordsPerMinute)
      const rate = worker.get_samplerate()
      const pieces: Int16Array[] = []
      let length = 0
      worker.synthesize(markup, (samples) => {
        pieces.push(samples)
        length += samples.length
        return length > maxSpeechSeconds * rate
      })
      if (length > maxSpeechSeconds * rate) return { samples: null }
      return { samples: resample(joined(pieces, length), rate, sampleRate) }
    },
    sayByFile: async (input) => {
      const { sentence, path } = Value.Parse(SayByFile, input)
      const piper = await openPiper(path)
      opening ??= open()
      const { worker, nameOf } = await opening
      const samples = await piper.say(sentence, (text, voice) => {
        worker.set_voice(nameOf(voice), '', 0, 0, 0)
        return worker.synthesize_ipa(text).ipa
      })
      return { samples }
    },
  },
  (problem) => {
    if (!(problem instanceof InferenceProblem)) return null
    // A package that was missing is looked for anew by the next process.
    if (problem.code === 'package_missing') setTimeout(() => process.exit(0), 100)
    return { code: problem.code, message: problem.message, picture: null }
  },
)

async function open() {
  const { default: start } = await import('@echogarden/espeak-ng-emscripten').catch((cause: unknown) => {
    const message = `The package ${speechPackage} is not installed. Run: npm install ${speechPackage}`
    throw new InferenceProblem('package_missing', message, cause)
  })
  const quiet = () => undefined
  const { eSpeakNGWorker: Engine } = await start({ print: quiet, printErr: quiet })
  const worker = new Engine()
  const voices = worker.list_voices()
  return {
    worker,
    /** The program takes the name of a language, such as `fr-fr`, for a voice; the package takes that of the voice's file. */
    nameOf(voice: string): string {
      const [language = '', variant] = voice.split('+')
      const best = voices
        .flatMap(({ identifier, languages }) => languages.map(({ name, priority }) => ({ identifier, name, priority })))
        .filter(({ name }) => name === language)
        .sort((one, other) => one.priority - other.priority)[0]
      const name = best?.identifier ?? language
      return variant === undefined ? name : `${name}+${variant}`
    },
  }
}

function joined(pieces: readonly Int16Array[], length: number): Int16Array {
  const whole = new Int16Array(length)
  let at = 0
  for (const piece of pieces) {
    whole.set(piece, at)
    at += piece.length
  }
  return whole
}
