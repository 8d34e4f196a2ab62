// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ProviderServer, say } from './provider-server.ts'

test('a connection outlives a machine that stumbles for seconds', async () => {
  const options = { host: '127.0.0.1', now: () => 0, timeScale: 1, ca: () => undefined }
  const server = new ProviderServer(options, (_asked, response) => say(response, 200))
  await server.listen(0)
  try {
    const answer = await fetch(`http://127.0.0.1:${server.port}/`)
    assert.equal(answer.headers.get('keep-alive'), 'timeout=65')
  } finally {
    await server.stop()
  }
})
