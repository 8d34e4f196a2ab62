// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { firstWordOf, keywordForm, keywordIn } from './keywords.ts'

const keywords = ['JOIN', 'JOIN NOW', 'JO', 'ARRÊTE', '7'].map((keyword) => ({
  keyword,
  webhook_url: null,
  auto_reply: null,
}))

describe('the keyword of a message', () => {
  const cases: [text: string, keyword: string | null][] = [
    ['JOIN', 'JOIN'],
    ['join', 'JOIN'],
    ['  "Join!" please', 'JOIN'],
    ['Join now, please', 'JOIN NOW'],
    ['join\n  NOW', 'JOIN NOW'],
    ['join nowhere', 'JOIN'],
    ['joining', null],
    ['jo', 'JO'],
    ['Please join', null],
    ['arre\u0302te', 'ARRÊTE'],
    ['7', '7'],
    ['77', null],
    ['\u200fjoin', 'JOIN'],
    ['\u200e \u200b"Join" please', 'JOIN'],
    ['', null],
  ]
  for (const [text, keyword] of cases)
    it(`of ${JSON.stringify(text)} is ${keyword ?? 'none'}`, () => {
      assert.equal(keywordIn(text, keywords)?.keyword ?? null, keyword)
    })

  it('is stored in one form, and is made of words', () => {
    assert.equal(keywordForm(' join  now '), 'JOIN NOW')
    assert.equal(keywordForm('ቁጥር'), 'ቁጥር')
    for (const text of ['', ' ', '!', 'a-b', 'join!']) assert.equal(keywordForm(text), null, text)
  })
})

describe('the first word of a message', () => {
  const cases: [text: string, word: string | null][] = [
    [' join now', 'JOIN'],
    ['kura: 7', 'KURA'],
    ['*JOIN', 'JOIN'],
    ['\u200fاشتراك الآن', 'اشتراك'],
    ['हिन्दी text', 'हिन्दी'],
    ['Ẹ̀kọ́ mi', 'Ẹ̀KỌ́'.normalize('NFC')],
    ['e\u0301cole', 'ÉCOLE'],
    ['...', null],
    ['x'.repeat(40), null],
  ]
  for (const [text, word] of cases)
    it(`of ${JSON.stringify(text)} is ${word ?? 'none'}`, () => {
      assert.equal(firstWordOf(text), word)
    })
})
