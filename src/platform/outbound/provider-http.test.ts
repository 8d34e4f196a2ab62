// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import type { Socket } from 'node:net'
import { test } from 'node:test'
import { opened, plainToOurselves, receiver, web, zoneLookup } from '../../../test/outside.ts'
import { ProviderClient, type ProviderRequest } from './provider-http.ts'

function post(url: string, changes: Partial<ProviderRequest> = {}): ProviderRequest {
  return { method: 'POST', url, headers: {}, body: { amount: '10' }, timeoutMs: 10_000, ...changes }
}

test('JSON goes out, and what comes back is read, or null when it is none', async (t) => {
  const seen: string[] = []
  const { port } = await web(t, (incoming, response) => {
    const { accept, authorization } = incoming.headers
    incoming.setEncoding('utf8').on('data', (text: string) => {
      seen.push(`${incoming.method} ${accept} ${incoming.headers['content-type']} ${authorization} ${text}`)
      response.writeHead(202).end(incoming.url === '/html' ? '<html>' : '{"id":1}')
    })
  })
  const client = new ProviderClient(opened(t, plainToOurselves))
  const headers = { authorization: 'Bearer x' }
  assert.deepEqual(await client.ask(post(`http://127.0.0.1:${port}/`, { headers })), {
    kind: 'answered',
    status: 202,
    body: { id: 1 },
  })
  assert.deepEqual(await client.ask(post(`http://127.0.0.1:${port}/html`)), {
    kind: 'answered',
    status: 202,
    body: null,
  })
  assert.equal(seen[0], 'POST application/json application/json Bearer x {"amount":"10"}')
})

/** Long enough for a request to arrive on a loaded machine. */
const arrivesWithinMs = 2_000

/** Failures after the provider read the request: the outcome is unknown. */
const unclear: Readonly<Record<string, (socket: Socket) => void>> = {
  'hangs up': (socket) => socket.resetAndDestroy(),
  'says nothing': () => {},
  'does not come to an end': (socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf'),
  'speaks no HTTP': (socket) => socket.end('hello'),
  'talks too much': (socket) =>
    socket.end(`HTTP/1.1 200 OK\r\ncontent-length: 262146\r\n\r\n${'"'.padEnd(262145, 'a')}"`),
}

for (const [what, answer] of Object.entries(unclear))
  test(`a provider that ${what} may have taken the request, which is not sent again`, async (t) => {
    let requests = 0
    const { port } = await receiver(t, (socket) =>
      socket.on('data', () => {
        requests += 1
        answer(socket)
      }),
    )
    const client = new ProviderClient(opened(t, plainToOurselves))
    const heard = await client.ask(post(`http://127.0.0.1:${port}/`, { timeoutMs: arrivesWithinMs }))
    assert.equal(heard.kind, 'unknown')
    assert.equal(requests, 1)
  })

test('what cannot have gone out is unsent', async (t) => {
  const { port, stop } = await receiver(t, () => {})
  await stop()
  const client = new ProviderClient(opened(t, plainToOurselves, zoneLookup))
  const ways: [request: ProviderRequest, reason: RegExp][] = [
    [post(`http://127.0.0.1:${port}/`), /^CONNECTION_FAILED/],
    [post('https://unknown.example.com/'), /^DNS_FAILED/],
    [post('http://169.254.169.254/latest/meta-data/'), /^ADDRESS_BLOCKED/],
    [post(`http://127.0.0.1:${port}/`, { headers: { authorization: 'Bearer a\nb' } }), /cannot be written/],
  ]
  for (const [request, reason] of ways) {
    const heard = await client.ask(request)
    assert.ok(heard.kind === 'unsent', JSON.stringify(heard))
    assert.match(heard.reason, reason)
  }
})

test('a request that waited for its turn until its time was over is unsent', async (t) => {
  const { port, connections, stop } = await receiver(t, () => {})
  const client = new ProviderClient(opened(t, plainToOurselves))
  const url = `http://127.0.0.1:${port}/`
  const taken = Array.from({ length: 64 }, () => client.ask(post(url)))
  const heard = await client.ask(post(url, { timeoutMs: 20 }))
  assert.deepEqual([heard.kind, connections() <= 64], ['unsent', true])
  await stop()
  await Promise.all(taken)
})

test('closing waits for what is under way', async (t) => {
  let answer = () => {}
  const arrived = new Promise<void>((resolve) => {
    void web(t, (_, response) => {
      answer = () => response.end('{}')
      resolve()
    }).then(({ port }) => {
      asked = client.ask(post(`http://127.0.0.1:${port}/`))
    })
  })
  const client = new ProviderClient(opened(t, plainToOurselves))
  let asked: ReturnType<ProviderClient['ask']> | null = null
  await arrived
  const order: string[] = []
  const closed = client.close().then(() => order.push('closed'))
  answer()
  await asked
  order.push('answered')
  await closed
  assert.deepEqual(order, ['answered', 'closed'])
})
