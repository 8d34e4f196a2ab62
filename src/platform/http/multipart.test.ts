// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { readParts } from './multipart.ts'

test('a file that was stored is told of when the body fails before all of it was read', async () => {
  let told = (): void => undefined
  const stored = new Promise<void>((resolve) => {
    told = resolve
  })
  const first = '--b\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\nabc'
  async function* body(): AsyncGenerator<Buffer> {
    yield Buffer.from(first)
    await stored
    throw new Error('the client is gone')
  }
  const taken: string[] = []
  const reading = readParts({
    bytes: body(),
    contentType: 'multipart/form-data; boundary=b',
    maxBytes: 1_000,
    files: { file: { maxBytes: 100, description: 'A file.' } },
    async take() {
      told()
      await turn()
      return 'stored'
    },
    taken: ({ kept }) => taken.push(kept),
  })
  await assert.rejects(reading, /the client is gone/)
  assert.deepEqual(taken, ['stored'])
})
