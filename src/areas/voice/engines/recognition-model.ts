// SPDX-License-Identifier: Apache-2.0
// A recognition model in a folder of its own: two networks, a tokenizer, and a description that says what it understands.
import { Type } from 'typebox'
import Value from 'typebox/value'

/** Package with the model for English. */
export const modelPackage = '@moonshine-ai/moonshine-js'

export const descriptionFile = 'recognition.json'
export const modelFiles = {
  encoder: 'encoder_model.onnx',
  decoder: 'decoder_model_merged.onnx',
  tokenizer: 'tokenizer.json',
} as const

/** Enough for a language whose letters are one or a few tokens. */
const defaultTokensPerSecond = 6.5

const Description = Type.Object({
  languages: Type.Array(Type.String({ pattern: '^[a-z]{2,3}(-[A-Z0-9]{2,4})?$' }), { minItems: 1, maxItems: 50 }),
  tokens_per_second: Type.Optional(Type.Number({ minimum: 1, maximum: 50 })),
})

export interface ModelDescription {
  /** With their regions, such as `ar-EG`, or without, which is all regions. */
  readonly languages: readonly string[]
  /** More tokens than this mean that the decoder loops. */
  readonly tokensPerSecond: number
}

export function readDescription(json: string): ModelDescription {
  const { languages, tokens_per_second = defaultTokensPerSecond } = Value.Parse(Description, JSON.parse(json))
  return { languages, tokensPerSecond: tokens_per_second }
}

export const englishTokensPerSecond = defaultTokensPerSecond
