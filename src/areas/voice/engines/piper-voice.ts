// SPDX-License-Identifier: Apache-2.0
// Description of a Piper voice, the file `*.onnx.json` beside its network.
import { Type } from 'typebox'
import Value from 'typebox/value'

const Scale = Type.Number({ minimum: 0, maximum: 10 })

const PiperVoice = Type.Object({
  audio: Type.Object({ sample_rate: Type.Integer({ minimum: 8_000, maximum: 48_000 }) }),
  espeak: Type.Object({ voice: Type.String({ pattern: '^[a-z0-9-]{1,40}$' }) }),
  language: Type.Optional(Type.Object({ code: Type.String({ pattern: '^[a-z]{2,3}([_-][A-Z0-9]{2,4})?$' }) })),
  inference: Type.Optional(
    Type.Object({
      noise_scale: Type.Optional(Scale),
      length_scale: Type.Optional(Scale),
      noise_w: Type.Optional(Scale),
    }),
  ),
  phoneme_type: Type.Optional(Type.Unsafe<'espeak' | 'text'>({ type: 'string', enum: ['espeak', 'text'] })),
  phoneme_id_map: Type.Record(Type.String(), Type.Array(Type.Integer({ minimum: 0, maximum: 100_000 }))),
  num_speakers: Type.Optional(Type.Integer({ minimum: 1 })),
})

export function readPiperVoice(json: string) {
  return Value.Parse(PiperVoice, JSON.parse(json))
}

export type PiperVoice = ReturnType<typeof readPiperVoice>
