// SPDX-License-Identifier: Apache-2.0
// Tokens of a recognition model: text in pieces, by the byte pair encoding of a tokenizer.json. A sign without a piece is its bytes.
import { Type } from 'typebox'
import Value from 'typebox/value'

export interface Tokenizer {
  encode(text: string): number[]
  decode(tokens: readonly number[]): string
}

const space = '\u2581'
/** Longer texts are cut: pieces are joined two by two. */
const maxCharacters = 500

const TokenizerFile = Type.Object({
  model: Type.Object({
    type: Type.Literal('BPE'),
    vocab: Type.Record(Type.String(), Type.Integer({ minimum: 0, maximum: 1_000_000 })),
    merges: Type.Array(Type.Union([Type.String(), Type.Tuple([Type.String(), Type.String()])])),
  }),
  added_tokens: Type.Optional(Type.Array(Type.Object({ id: Type.Integer(), special: Type.Boolean() }))),
})

export function readTokenizer(json: string): Tokenizer {
  const { model, added_tokens = [] } = Value.Parse(TokenizerFile, JSON.parse(json))
  const { vocab, merges } = model
  const pieces = new Map(Object.entries(vocab).map(([piece, id]) => [id, piece]))
  const special = new Set(added_tokens.flatMap(({ id, special }) => (special ? [id] : [])))
  const ranks = new Map(merges.map((pair, rank) => [typeof pair === 'string' ? pair : pair.join(' '), rank]))
  const bytesOf = (sign: string) =>
    [...Buffer.from(sign)].flatMap((byte) => vocab[`<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`] ?? [])
  return {
    encode(text) {
      const parts = [...`${space}${text.slice(0, maxCharacters).replaceAll(' ', space)}`]
      for (let at = bestPair(parts, ranks); at !== null; at = bestPair(parts, ranks))
        parts.splice(at, 2, `${parts[at]}${parts[at + 1]}`)
      return parts.flatMap((part) => vocab[part] ?? bytesOf(part))
    },
    decode(tokens) {
      const bytes: Buffer[] = []
      for (const token of tokens) {
        const piece = special.has(token) ? '' : (pieces.get(token) ?? '')
        const byte = /^<0x([0-9A-F]{2})>$/.exec(piece)?.[1]
        bytes.push(byte === undefined ? Buffer.from(piece.replaceAll(space, ' ')) : Buffer.from(byte, 'hex'))
      }
      return Buffer.concat(bytes).toString().trim()
    },
  }
}

/** Where the two parts stand that are joined first; null when none are. */
function bestPair(parts: readonly string[], ranks: ReadonlyMap<string, number>): number | null {
  let best: number | null = null
  let lowest = Number.POSITIVE_INFINITY
  for (let i = 0; i + 1 < parts.length; i++) {
    const rank = ranks.get(`${parts[i]} ${parts[i + 1]}`)
    if (rank === undefined || rank >= lowest) continue
    lowest = rank
    best = i
  }
  return best
}
