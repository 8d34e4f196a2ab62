// SPDX-License-Identifier: Apache-2.0
// Process of the engines: recognises speech and decodes audio files, one task at a time.
import { Type } from 'typebox'
import Value from 'typebox/value'
import { InferenceProblem } from '../../../platform/compute/inference.ts'
import { serveTasks } from '../../../platform/compute/serve.ts'
import { looksLikeMp3 } from '../../../protocols/audio/mp3.ts'
import { readWav } from '../../../protocols/audio/wav.ts'
import { openEnglish, openModel } from './moonshine.ts'
import { readMp3 } from './mp3.ts'
import { Bytes, longestUtteranceMs, Samples } from './tasks.ts'

const maxSamples = longestUtteranceMs * 8
const Recognise = Type.Object({
  samples: Samples,
  context: Type.Array(Type.String()),
  folder: Type.Union([Type.String(), Type.Null()]),
})
const ReadSound = Type.Object({ file: Bytes })

serveTasks(
  {
    recognise: async (input) => {
      const { samples, context, folder } = Value.Parse(Recognise, input)
      const model = folder === null ? await openEnglish() : await openModel(folder)
      return { guesses: await model.recognise(samples.subarray(0, maxSamples), context) }
    },
    readSound: async (input) => {
      const { file } = Value.Parse(ReadSound, input)
      const bytes = Buffer.from(file.buffer, file.byteOffset, file.byteLength)
      const samples = looksLikeMp3(file) ? await readMp3(file) : readWav(bytes)
      return typeof samples === 'string' ? { problem: samples } : { samples }
    },
  },
  (problem) => {
    if (!(problem instanceof InferenceProblem)) return null
    // Node caches failed package lookups: exit, so that the next process finds a newly installed one.
    if (problem.code === 'package_missing') setTimeout(() => process.exit(0), 100)
    return { code: problem.code, message: problem.message, picture: null }
  },
)
