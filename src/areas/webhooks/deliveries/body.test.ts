// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { bodyBytes, maxBodyBytes } from './body.ts'

const link = 'https://localhost/api/v1/events/evt_1'

function shortened(event: object): Record<string, unknown> {
  const bytes = bodyBytes(JSON.stringify(event), link)
  assert.ok(bytes.length <= maxBodyBytes)
  const text = bytes.toString()
  assert.equal(JSON.stringify(JSON.parse(text)), text)
  return JSON.parse(text)
}

describe('a body', () => {
  it('of 64 KiB is sent as it is, in bytes and not in characters', () => {
    const fits = JSON.stringify({ text: 'x'.repeat(maxBodyBytes - 11) })
    assert.equal(Buffer.byteLength(fits), maxBodyBytes)
    assert.equal(bodyBytes(fits, link).toString(), fits)
    const tooLong = { text: 'é'.repeat(maxBodyBytes / 2) }
    assert.deepEqual(shortened(tooLong), { text: null, truncated: ['text'], resource_url: link })
  })

  it('that is longer loses its largest fields, and says which and where the whole is', () => {
    const [large, larger] = ['a'.repeat(40_000), 'b'.repeat(50_000)]
    assert.deepEqual(shortened({ id: 1, large, entry: { larger, small: 'c' } }), {
      id: 1,
      large,
      entry: { larger: null, small: 'c' },
      truncated: ['entry.larger'],
      resource_url: link,
    })
    assert.deepEqual(shortened({ list: Array(40_000).fill(1), large: larger }).truncated, ['list'])
  })

  it('of many small fields loses what holds most of them', () => {
    const many = Object.fromEntries(Array.from({ length: 20_000 }, (_, n) => [`key${n}`, n]))
    assert.deepEqual(shortened({ event: 'x', many }), {
      event: 'x',
      many: null,
      truncated: ['many'],
      resource_url: link,
    })
  })

  it('is the same bytes each time', () => {
    const event = JSON.stringify({ a: 'x'.repeat(70_000), b: 'y'.repeat(70_000) })
    assert.deepEqual(bodyBytes(event, link), bodyBytes(event, link))
  })
})
