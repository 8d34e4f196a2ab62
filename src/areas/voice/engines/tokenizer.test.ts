// SPDX-License-Identifier: Apache-2.0
// Pieces of texts, against the tokenizer of Llama, which the models of Moonshine were taught with.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readTokenizer } from './tokenizer.ts'

const llama = await import('llama-tokenizer-js').then(
  ({ default: tokenizer }) => tokenizer,
  () => null,
)
const skip = llama === null && 'llama-tokenizer-js is not installed'

const texts = [
  'Ndiyo.',
  'Hamisha pesa.',
  'Où est mon solde ?',
  'تحويل الأموال',
  'ሰላም',
  'My balance is 1,250.',
  'Ẹ ṣé 👋',
]

test('texts have the tokens that Llama gives them, and come back as they were', { skip }, () => {
  assert.ok(llama)
  const vocab = Object.fromEntries(llama.vocabById.map((piece, id) => [piece, id]))
  const merges = [...llama.merges].sort(([, a], [, b]) => a - b).map(([pair]) => pair)
  const special = [0, 1, 2].map((id) => ({ id, special: true }))
  const pairs = merges.map((pair, i) => (i % 2 === 0 ? pair : pair.split(' ')))
  const tokenizer = readTokenizer(
    JSON.stringify({ added_tokens: special, model: { type: 'BPE', vocab, merges: pairs } }),
  )
  for (const text of texts) {
    const tokens = tokenizer.encode(text)
    assert.deepEqual(tokens, llama.encode(text, false, true), text)
    assert.equal(tokenizer.decode([1, ...tokens, 2]), text)
  }
})

test('a tokenizer of another kind is refused', () => {
  assert.throws(() => readTokenizer(JSON.stringify({ model: { type: 'Unigram', vocab: [], merges: [] } })))
})
