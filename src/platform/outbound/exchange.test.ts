// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { eventually } from '../../../test/eventually.ts'
import { answered, failed, opened, plainToOurselves, receiver, request, web } from '../../../test/outside.ts'

test('the receiver gets exactly the request, and we its answer', async (t) => {
  const seen: IncomingMessage[] = []
  let body = ''
  const { port } = await web(t, (incoming, response) => {
    seen.push(incoming)
    incoming.setEncoding('utf8').on('data', (chunk: string) => {
      body += chunk
    })
    incoming.on('end', () => {
      response.setHeader('X-Twice', ['a', 'b']).setHeader('__proto__', 'x').setHeader('constructor', 'y')
      response.writeHead(201).end('imepokelewa ✓')
    })
  })
  const outbound = opened(t, plainToOurselves)
  const url = `http://127.0.0.1:${port}/hook?x=1`
  const headers = { 'content-type': 'application/json', 'x-service-event': 'sms.sent' }
  const outcome = answered(await outbound.send(request(url, { headers, body: '{"a":"ñ"}' })))
  assert.deepEqual(
    [outcome.status, outcome.body, outcome.truncated, outcome.ip],
    [201, 'imepokelewa ✓', false, '127.0.0.1'],
  )
  assert.equal(outcome.headers['x-twice'], 'a, b')
  assert.equal(outcome.headers.constructor, 'y')
  const [incoming] = seen
  assert.ok(incoming)
  assert.deepEqual([incoming.method, incoming.url, body], ['POST', '/hook?x=1', '{"a":"ñ"}'])
  assert.deepEqual(incoming.headers, {
    host: `127.0.0.1:${port}`,
    connection: 'keep-alive',
    'content-type': 'application/json',
    'x-service-event': 'sms.sent',
    'content-length': '10',
  })
})

test('a GET has no body, and headers may be a flat list', async (t) => {
  const { port } = await web(t, (incoming, response) =>
    response.end(`${incoming.method} ${incoming.headers['x-a']} ${incoming.headers['content-length']}`),
  )
  const outbound = opened(t, plainToOurselves)
  const url = `http://127.0.0.1:${port}/`
  const outcome = await outbound.send(request(url, { method: 'GET', headers: ['x-a', 'b'], body: null }))
  assert.equal(answered(outcome).body, 'GET b undefined')
})

test('a query of any length follows what the URL has, and more of the answer is kept where it is asked for', async (t) => {
  const { port } = await web(t, (incoming, response) => response.end(incoming.url))
  const outbound = opened(t, plainToOurselves)
  const query = `text=${'x'.repeat(8_000)}`
  for (const [path, joined] of [
    ['/', '/?'],
    ['/send?v=1', '/send?v=1&'],
  ]) {
    const url = `http://127.0.0.1:${port}${path}`
    const { body, truncated } = answered(await outbound.send(request(url, { query, maxAnswerBytes: 10_000 })))
    assert.deepEqual([body, truncated], [`${joined}${query}`, false])
  }
})

test('a redirect is an answer, not followed', async (t) => {
  const lookups: string[] = []
  const { port, connections } = await web(t, (_, response) =>
    response.writeHead(302, { location: 'http://169.254.169.254/latest/meta-data/' }).end(),
  )
  const outbound = opened(t, plainToOurselves, (hostname) => {
    lookups.push(hostname)
    return Promise.resolve([{ address: '127.0.0.1', family: 4 }])
  })
  const outcome = answered(await outbound.send(request(`http://moved.example.com:${port}/`)))
  assert.deepEqual([outcome.status, outcome.headers.location], [302, 'http://169.254.169.254/latest/meta-data/'])
  assert.deepEqual([lookups, connections()], [['moved.example.com'], 1])
})

test('what a request took is told of new connections only', async (t) => {
  const { port, connections } = await web(t, (_, response) => response.end())
  const outbound = opened(t, plainToOurselves, () => Promise.resolve([{ address: '127.0.0.1', family: 4 }]))
  const url = `http://timed.example.com:${port}/`
  const { timing: first } = await outbound.send(request(url))
  const { timing: second } = await outbound.send(request(url))
  assert.ok(Number.isInteger(first.dnsMs) && Number.isInteger(first.connectMs) && Number.isInteger(first.durationMs))
  assert.equal(first.tlsMs, null)
  assert.deepEqual({ ...second, durationMs: 0 }, { durationMs: 0, dnsMs: null, connectMs: null, tlsMs: null })
  assert.equal(connections(), 1)
})

test('a receiver that accepts and hangs is given up, whatever it did before', async (t) => {
  const ways: ((socket: Socket) => void)[] = [
    () => {},
    (socket) => socket.write('HTTP/1.1 200 OK\r\n'),
    (socket) => socket.write('HTTP/1.1 103 Early Hints\r\n\r\n'),
    (socket) => {
      const bytes = Buffer.from(`HTTP/1.1 200 OK\r\nx: ${'y'.repeat(10_000)}\r\n\r\n`)
      let sent = 0
      const timer = setInterval(() => {
        socket.write(bytes.subarray(sent, sent + 1))
        sent += 1
      }, 2)
      socket.on('close', () => clearInterval(timer))
    },
  ]
  // All at once, so that each has time on a loaded machine.
  const given = ways.map(async (way) => {
    const { port, ended } = await receiver(t, way)
    const outbound = opened(t, plainToOurselves)
    const outcome = await outbound.send(request(`http://127.0.0.1:${port}/`, { timeoutMs: 2_000 }))
    assert.deepEqual(failed(outcome), ['TIMEOUT', 'No answer came within 2 seconds.'])
    assert.equal(outcome.ip, '127.0.0.1')
    await ended()
  })
  await Promise.all(given)
})

test('an answer whose body does not end counts, with what came of it', async (t) => {
  const { port, ended } = await receiver(t, (socket) =>
    socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nbegin'),
  )
  const outbound = opened(t, plainToOurselves)
  const outcome = answered(await outbound.send(request(`http://127.0.0.1:${port}/`)))
  assert.deepEqual([outcome.status, outcome.body, outcome.truncated], [200, 'begin', true])
  await ended()
})

const broken: [what: string, bytes: string, reason: string][] = [
  ['closes at once', '', 'The connection was closed before an answer came.'],
  ['closes in the middle of the headers', 'HTTP/1.1 200 OK\r\nx: ', 'The connection was closed before an answer came.'],
  ['speaks something else', '220 mail.example ESMTP secret banner\r\n', 'The answer was not HTTP/1.1.'],
  ['speaks HTTP/2', 'HTTP/2 200 OK\r\n\r\n', 'The answer was not HTTP/1.1.'],
  ['asks for what it has', 'HTTP/1.1 100 Continue\r\n\r\n', 'The connection was closed before an answer came.'],
  [
    'changes the protocol',
    'HTTP/1.1 101 Switching\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n',
    'The connection was closed before an answer came.',
  ],
  [
    'sends one header of 20 KiB',
    `HTTP/1.1 200 OK\r\nx: ${'y'.repeat(20_000)}\r\n\r\n`,
    'The headers of the answer were longer than 16 KiB.',
  ],
  [
    'sends 2,000 headers',
    `HTTP/1.1 200 OK\r\n${'x: 12345678\r\n'.repeat(2_000)}\r\n`,
    'The headers of the answer were longer than 16 KiB.',
  ],
  [
    'floods with 1xx',
    'HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n'.repeat(1_000),
    'The answer did not come to its point.',
  ],
  [
    'has two lengths',
    'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nxx',
    'The length of the answer was not its Content-Length.',
  ],
]

test('an answer that is no answer is a failed connection, and what it said stays with us', async (t) => {
  for (const [what, bytes, reason] of broken) {
    const { port, ended, connections } = await receiver(t, (socket) => socket.once('data', () => socket.end(bytes)))
    const outbound = opened(t, plainToOurselves)
    const outcome = await outbound.send(request(`http://127.0.0.1:${port}/`))
    assert.deepEqual(failed(outcome), ['CONNECTION_FAILED', reason], what)
    await ended()
    assert.equal(connections(), 1, what)
  }
})

test('of an answer of 100 MB four KiB are read', async (t) => {
  const chunk = Buffer.alloc(64 * 1024, 'x')
  let written = 0
  const { port, ended } = await receiver(t, (socket) => {
    socket.write('HTTP/1.1 200 OK\r\ncontent-length: 104857600\r\n\r\n')
    const pump = () => {
      while (written < 104_857_600 && !socket.destroyed) {
        written += chunk.length
        if (!socket.write(chunk)) {
          socket.once('drain', pump)
          return
        }
      }
    }
    socket.once('data', pump)
  })
  const outcome = answered(await opened(t, plainToOurselves).send(request(`http://127.0.0.1:${port}/`)))
  assert.deepEqual([outcome.status, outcome.body, outcome.truncated], [200, 'x'.repeat(4096), true])
  await ended()
  assert.ok(written < 50_000_000, `${written} bytes`)
})

test('a compressed answer is left as it is', async (t) => {
  const bomb = gzipSync(Buffer.alloc(3_000_000))
  const { port } = await web(t, (incoming, response) => {
    assert.equal(incoming.headers['accept-encoding'], undefined)
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb)
  })
  const outcome = answered(await opened(t, plainToOurselves).send(request(`http://127.0.0.1:${port}/`)))
  assert.equal(outcome.body.charCodeAt(0), 0x1f)
  assert.ok(outcome.body.length <= 4096)
})

test('the body is text that can be stored, whatever its bytes', async (t) => {
  const bodies: [bytes: Buffer, text: string, truncated: boolean][] = [
    [Buffer.from('a\0b'), 'a\ufffdb', false],
    [Buffer.from([0x61, 0xff, 0x62]), 'a\ufffdb', false],
    [Buffer.from([0x61, 0xe2, 0x82]), 'a\ufffd', false],
    [Buffer.from('x'.repeat(4096)), 'x'.repeat(4096), false],
    [Buffer.from(`${'x'.repeat(4095)}€uro`), 'x'.repeat(4095), true],
    [Buffer.from(`${'x'.repeat(4094)}€`), 'x'.repeat(4094), true],
    [Buffer.alloc(0), '', false],
  ]
  let number = 0
  const { port } = await web(t, (_, response) => response.end(bodies[number]?.[0]))
  const outbound = opened(t, plainToOurselves)
  for (const [, text, truncated] of bodies) {
    const outcome = answered(await outbound.send(request(`http://127.0.0.1:${port}/`)))
    assert.deepEqual([outcome.body, outcome.truncated], [text, truncated])
    number += 1
  }
})

test('HTTP/1.0, chunks and early hints are understood', async (t) => {
  const answers = [
    'HTTP/1.0 200 OK\r\n\r\nold',
    'HTTP/1.1 200 OK\r\nconnection: close\r\n\r\nold',
    'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\no\r\n2;x=y\r\nld\r\n0\r\n\r\n',
    'HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nold',
  ]
  for (const answer of answers) {
    const { port } = await receiver(t, (socket) => socket.once('data', () => socket.end(answer)))
    const outcome = answered(await opened(t, plainToOurselves).send(request(`http://127.0.0.1:${port}/`)))
    assert.deepEqual([outcome.status, outcome.body, outcome.truncated], [200, 'old', false], answer)
  }
})

test('a request is sent again only once, and never after the answer began', async (t) => {
  for (const [last, expectedConnections] of [['', 2] as const, ['HTTP/1.1 2', 1] as const]) {
    let requests = 0
    const { port, connections } = await receiver(t, (socket) =>
      socket.on('data', () => {
        requests += 1
        if (requests === 1) socket.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n')
        else socket.end(last)
      }),
    )
    const outbound = opened(t, plainToOurselves)
    const url = `http://127.0.0.1:${port}/`
    answered(await outbound.send(request(url)))
    assert.equal(failed(await outbound.send(request(url)))[0], 'CONNECTION_FAILED')
    assert.equal(connections(), expectedConnections)
  }
})

test('a request that must not arrive twice is not sent again, and it is known that it went out', async (t) => {
  let requests = 0
  const { port, connections } = await receiver(t, (socket) =>
    socket.on('data', () => {
      requests += 1
      if (requests === 1) socket.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n')
      else socket.resetAndDestroy()
    }),
  )
  const outbound = opened(t, plainToOurselves)
  const url = `http://127.0.0.1:${port}/`
  answered(await outbound.send(request(url, { once: true })))
  const outcome = await outbound.send(request(url, { once: true }))
  assert.deepEqual([outcome.kind, outcome.ip], ['failed', '127.0.0.1'])
  assert.deepEqual([requests, connections()], [2, 1])
})

test('a request that cannot be written is a mistake of ours, not of the receiver', async (t) => {
  const { port, connections } = await web(t, (_, response) => response.end('fine'))
  const outbound = opened(t, plainToOurselves)
  const url = `http://127.0.0.1:${port}/`
  await assert.rejects(outbound.send(request(url, { headers: { 'x-a': 'b\r\nhost: evil' } })), /cannot be written/)
  assert.equal(connections(), 0)
  assert.equal(answered(await outbound.send(request(url))).body, 'fine')
})

test('the time may be for all of it: for the wait before, and for an answer that does not end', async (t) => {
  const { port, connections } = await receiver(t, (socket) =>
    socket.on('data', () => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf')),
  )
  const outbound = opened(t, plainToOurselves)
  const whole = { isTimedWhole: true, connections: 1 }
  const url = `http://127.0.0.1:${port}/`
  const first = outbound.send(request(url, { ...whole, timeoutMs: 2_000 }))
  const second = await outbound.send(request(url, { ...whole, timeoutMs: 20 }))
  assert.deepEqual(failed(second), ['TIMEOUT', 'No answer came within 0.02 seconds.'])
  assert.deepEqual([second.kind === 'failed' && second.mayHaveArrived, second.ip], [false, null])
  const { body, truncated } = answered(await first)
  assert.deepEqual([body, truncated, connections()], ['half', true, 1])
  await outbound.close()
})

test('a connection that takes too long to open is given up before the rest of the time', async (t) => {
  const { port, connections } = await receiver(t, () => {})
  const outbound = opened(t, { ...plainToOurselves })
  const outcome = await outbound.send(
    request(`https://127.0.0.1:${port}/`, { timeoutMs: 60_000, connectTimeoutMs: 20 }),
  )
  assert.deepEqual(failed(outcome), ['TIMEOUT', 'No connection was open within 0.02 seconds.'])
  assert.equal(outcome.kind === 'failed' && outcome.mayHaveArrived, false)
  // The receiver may look after the sender has given up.
  await eventually(async () => connections() === 1, 'the connection to be seen')
})

test('a program that stood still finds the connection that was opened meanwhile, and does not say that it took too long', async (t) => {
  const { port } = await web(t, (_, response) => response.end('here'))
  const outbound = opened(t, plainToOurselves)
  const url = `http://127.0.0.1:${port}/`
  assert.equal(answered(await outbound.send(request(url))).body, 'here')
  const asked = outbound.send(request(`${url}again`, { timeoutMs: 60_000, connectTimeoutMs: 50, connections: 2 }))
  const other = outbound.send(request(`${url}other`, { timeoutMs: 60_000, connectTimeoutMs: 50, connections: 2 }))
  await new Promise((resolve) => setImmediate(resolve))
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200)
  assert.deepEqual([answered(await asked).body, answered(await other).body], ['here', 'here'])
})

test('whether a request can have arrived is told: once it was written nobody knows', async (t) => {
  const { port } = await receiver(t, (socket) => socket.on('data', () => socket.resetAndDestroy()))
  const { port: closed, stop } = await receiver(t, () => {})
  await stop()
  const outbound = opened(t, plainToOurselves)
  const ways: [url: string, mayHaveArrived: boolean][] = [
    [`http://127.0.0.1:${port}/`, true],
    [`http://127.0.0.1:${closed}/`, false],
    [`https://127.0.0.1:${port}/`, false],
    ['http://unknown.example.com/', false],
    ['http://10.0.0.1/', false],
  ]
  for (const [url, expected] of ways) {
    const outcome = await outbound.send(request(url))
    assert.equal(outcome.kind === 'failed' && outcome.mayHaveArrived, expected, url)
  }
})
