// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  answered,
  failed,
  opened,
  plainToOurselves,
  receiver,
  request,
  web,
  zoneLookup,
} from '../../../test/outside.ts'
import type { Outbound } from '../outbound.ts'

test('a connection that the receiver closed while it was idle does not cost an attempt', async (t) => {
  let requests = 0
  const { port, connections } = await receiver(t, (socket) =>
    socket.on('data', () => {
      requests += 1
      // The close crosses the second request in flight.
      if (requests === 2) socket.resetAndDestroy()
      else socket.write(`HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\n${requests}`)
    }),
  )
  const outbound = opened(t, plainToOurselves)
  const url = `http://127.0.0.1:${port}/`
  assert.equal(answered(await outbound.send(request(url))).body, '1')
  const second = answered(await outbound.send(request(url)))
  assert.equal(second.body, '3')
  assert.notEqual(second.timing.connectMs, null)
  assert.deepEqual([requests, connections()], [3, 2])
})

test('a connection that the receiver closes after its answer is replaced', async (t) => {
  const { port, connections, ended } = await receiver(t, (socket) =>
    socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok')),
  )
  const outbound = opened(t, plainToOurselves)
  const url = `http://127.0.0.1:${port}/`
  for (const wait of [ended, () => {}, ended]) {
    assert.equal(answered(await outbound.send(request(url))).body, 'ok')
    await wait()
  }
  assert.equal(connections(), 3)
})

test('connections are kept up to an age and a number, the longest idle going first', async (t) => {
  const { port, connections } = await web(t, (_, response) => response.end())
  const send = async (outbound: Outbound, pool: string): Promise<number> => {
    answered(await outbound.send(request(`http://127.0.0.1:${port}/`, { pool })))
    return connections()
  }
  const few = opened(t, plainToOurselves, zoneLookup, { idleConnections: 2 })
  const counts: number[] = []
  for (const pool of ['a', 'b', 'a', 'c', 'a', 'b']) counts.push(await send(few, pool))
  assert.deepEqual(counts, [1, 2, 2, 3, 3, 4])
  const young = opened(t, plainToOurselves, zoneLookup, { connectionAgeMs: -1 })
  assert.deepEqual([await send(young, 'a'), await send(young, 'a')], [5, 6])
})

test('no more connections than allowed, and those who wait get their turn', async (t) => {
  let atOnce = 0
  let most = 0
  const { port, connections } = await web(t, (_, response) => {
    atOnce += 1
    most = Math.max(most, atOnce)
    setImmediate(() => {
      atOnce -= 1
      response.end()
    })
  })
  const outbound = opened(t, plainToOurselves)
  const url = `http://127.0.0.1:${port}/`
  const outcomes = await Promise.all(Array.from({ length: 20 }, () => outbound.send(request(url, { connections: 3 }))))
  assert.ok(outcomes.every((outcome) => outcome.kind === 'answered'))
  assert.deepEqual([most <= 3, connections()], [true, 3])
})

test('more requests for one endpoint than may wait are a mistake of the caller', async (t) => {
  const { port } = await web(t, (_, response) => response.end())
  const outbound = opened(t, plainToOurselves, zoneLookup, { waiting: 1 })
  const send = () => outbound.send(request(`http://127.0.0.1:${port}/`, { connections: 1 }))
  const first = [send(), send()]
  await assert.rejects(send(), /more than 1 requests wait for one endpoint/)
  for (const outcome of await Promise.all(first)) answered(outcome)
})

test('those who wait get their turn also when the ones before them fail', async (t) => {
  const { port, connections } = await receiver(t, (socket) => socket.destroy())
  const outbound = opened(t, plainToOurselves)
  const url = `http://127.0.0.1:${port}/`
  const outcomes = await Promise.all(Array.from({ length: 6 }, () => outbound.send(request(url, { connections: 2 }))))
  assert.deepEqual(new Set(outcomes.map((outcome) => failed(outcome)[0])), new Set(['CONNECTION_FAILED']))
  assert.equal(connections(), 6)
})

test('an endpoint that hangs does not delay another on the same host', async (t) => {
  let release = () => {}
  const { port } = await web(t, (incoming, response) => {
    if (incoming.url === '/fast') response.end('fast')
    else release = () => response.end('slow')
    arrived()
  })
  let arrived = () => {}
  const arrival = new Promise<void>((resolve) => {
    arrived = resolve
  })
  const outbound = opened(t, plainToOurselves)
  const patient = { connections: 1, timeoutMs: 60_000 }
  const slow = outbound.send(request(`http://127.0.0.1:${port}/slow`, { pool: 'a', ...patient }))
  await arrival
  // It hangs until the other has its reply.
  const fast = await outbound.send(request(`http://127.0.0.1:${port}/fast`, { pool: 'b', ...patient }))
  assert.equal(answered(fast).body, 'fast')
  release()
  assert.equal(answered(await slow).body, 'slow')
})

test('closing waits for what is in progress, ends idle connections and takes nothing new', async (t) => {
  let answer = () => {}
  const { port, ended } = await web(t, (_, response) => {
    answer = () => response.end('done')
    arrived()
  })
  let arrived = () => {}
  const arrival = new Promise<void>((resolve) => {
    arrived = resolve
  })
  const outbound = opened(t, plainToOurselves)
  const url = `http://127.0.0.1:${port}/`
  const outcome = outbound.send(request(url))
  await arrival
  const closed = outbound.close()
  await assert.rejects(outbound.send(request(url)), /after close/)
  answer()
  await closed
  assert.equal(answered(await outcome).body, 'done')
  await ended()
})
