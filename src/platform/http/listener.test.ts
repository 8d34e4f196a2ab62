// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { type ClientRequest, Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import { type AddressInfo, BlockList, connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, type TestContext, test } from 'node:test'
import { type ConnectionOptions, connect as connectTls, type TLSSocket } from 'node:tls'
import { eventually } from '../../../test/eventually.ts'
import { serverIdentity } from './certificates.ts'
import { createListener, type Listener, type ListenerOptions } from './listener.ts'

let directory: string
let identity: { key: string; cert: string }
let ca: string

before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'pamoja-listener-'))
  identity = await serverIdentity({ dir: directory, now: new Date() })
  ca = await readFile(join(directory, 'ca.pem'), 'utf8')
})
after(() => rm(directory, { recursive: true, force: true }))

test('HTTPS is served on the port', async (t) => {
  const { port } = await listening(t)
  const answer = await fetchTls(port, { body: 'Habari' })
  assert.deepEqual([answer.status, answer.body], [200, 'POST / over tls: 6 bytes'])
})

test('TLS 1.2 and 1.3 are spoken, older versions and HTTP/2 are not', async (t) => {
  const { port } = await listening(t)
  for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
    const socket = await handshake(t, port, {
      minVersion: version,
      maxVersion: version,
      ALPNProtocols: ['h2', 'http/1.1'],
    })
    assert.deepEqual([socket.getProtocol(), socket.alpnProtocol], [version, 'http/1.1'])
  }
  const blocks = { maxVersion: 'TLSv1.2', ciphers: 'ECDHE-ECDSA-AES128-SHA:ECDHE-ECDSA-AES256-SHA384' } as const
  await assert.rejects(handshake(t, port, blocks), /handshake failure/, 'nor are ciphers that cut into blocks')
  // The client must allow TLS 1.1, or it would refuse by itself.
  const old = { minVersion: 'TLSv1.1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' } as const
  await assert.rejects(handshake(t, port, old), /alert protocol version/)
  assert.equal((await fetchTls(port, {})).status, 200)
})

test('plain HTTP is refused in JSON, and the connection is closed', async (t) => {
  const { port } = await listening(t)
  const answer = await fetchPlain(port, {})
  assert.equal(answer.status, 403)
  assert.deepEqual(JSON.parse(answer.body), { code: 'HTTPS_REQUIRED' })
  assert.equal(answer.headers.connection, 'close')
})

test('a client that sends a big body over plain HTTP still gets to read the refusal', async (t) => {
  // The upload may take longer than the default linger time.
  const { port } = await listening(t, { timeouts: { lingerMs: 60_000 } })
  for (const size of [1, 100_000, 30_000_000]) {
    assert.equal((await fetchPlain(port, { body: Buffer.alloc(size) })).status, 403)
  }
  // Some clients read the reply only after sending everything.
  const socket = dial(t, port)
  socket.pause()
  socket.write(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 30000000\r\n\r\n`)
  await new Promise((resolve) => socket.write(Buffer.alloc(30_000_000), resolve))
  assert.match(await everything(socket), /^HTTP\/1\.1 403 Forbidden\r\n/)
})

test('a client that asks before sending its body is refused without being asked for it', async (t) => {
  const { port } = await listening(t)
  const socket = dial(t, port)
  socket.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\nExpect: 100-continue\r\n\r\n')
  assert.match(await everything(socket), /^HTTP\/1\.1 403 Forbidden\r\n/)
})

test('a client that sends several plain requests ahead is refused once', async (t) => {
  let refusals = 0
  const { port } = await listening(t, {
    refusePlain: (_, response) => {
      refusals++
      response.writeHead(403).end()
    },
  })
  const socket = dial(t, port)
  socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(3))
  assert.equal((await everything(socket)).match(/HTTP\/1\.1/g)?.length, 1)
  assert.equal(refusals, 1)
})

test('a refused client that never hangs up is hung up on', async (t) => {
  const { port, listener } = await listening(t, { timeouts: { lingerMs: 20 } })
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  t.after(() => socket.destroy())
  socket.on('error', () => {})
  socket.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n')
  await everything(socket)
  await until(() => listener.connections() === 0)
})

test('a trusted proxy is served when it says that the request came over HTTPS', async (t) => {
  const { port } = await listening(t, { trustedProxies: blockList('127.0.0.1') })
  const served = await fetchPlain(port, { headers: { 'X-Forwarded-Proto': 'https' }, body: 'x'.repeat(3_000_000) })
  assert.deepEqual([served.status, served.body], [200, 'POST / over plain: 3000000 bytes'])
  assert.equal((await fetchPlain(port, { headers: { 'X-Forwarded-Proto': 'HTTPS, https' } })).status, 200)
  for (const headers of [{}, { 'X-Forwarded-Proto': 'http' }, { 'X-Forwarded-Proto': 'https, http' }]) {
    assert.equal((await fetchPlain(port, { headers })).status, 403)
  }
})

test('a proxy keeps its connection between requests and may ask before sending a body', async (t) => {
  const { port } = await listening(t, { trustedProxies: blockList('127.0.0.1') })
  const agent = new HttpAgent({ keepAlive: true, maxSockets: 1 })
  t.after(() => agent.destroy())
  const headers = { 'X-Forwarded-Proto': 'https' }
  const sockets = new Set<unknown>()
  for (let round = 0; round < 3; round++) sockets.add((await fetchPlain(port, { headers, agent })).socket)
  assert.equal(sockets.size, 1)
  const asking = await fetchPlain(port, { headers: { ...headers, Expect: '100-continue' }, body: 'Habari', agent })
  assert.equal(asking.body, 'POST / over plain: 6 bytes')
})

test('an address that is no trusted proxy cannot claim to be one', async (t) => {
  const { port } = await listening(t, { trustedProxies: blockList('192.0.2.1') })
  assert.equal((await fetchPlain(port, { headers: { 'X-Forwarded-Proto': 'https' } })).status, 403)
})

test('an IPv4 proxy is recognised on a port that speaks IPv6 too', async (t) => {
  const { port } = await listening(t, { trustedProxies: blockList('127.0.0.1') }, '::').catch((problem) => {
    if (problem.code !== 'EAFNOSUPPORT' && problem.code !== 'EADDRNOTAVAIL') throw problem
    return { port: null }
  })
  if (port === null) return t.skip('this machine has no IPv6')
  assert.equal((await fetchPlain(port, { headers: { 'X-Forwarded-Proto': 'https' } })).status, 200)
})

test('development may allow plain HTTP from this machine', async (t) => {
  const { port } = await listening(t, { allowHttpFromLoopback: true })
  assert.equal((await fetchPlain(port, {})).status, 200)
})

test('a big request right behind the handshake arrives whole', async (t) => {
  const { port } = await listening(t)
  for (const size of [16_384, 1_000_000, 20_000_000]) {
    const answer = await fetchTls(port, { body: Buffer.alloc(size, 'x') })
    assert.equal(answer.body, `POST / over tls: ${size} bytes`)
  }
})

test('a client that sends one byte at a time is served, with and without TLS', async (t) => {
  const { port } = await listening(t, { allowHttpFromLoopback: true })
  const message = 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi'

  const plain = dial(t, port)
  const plainAnswer = everything(plain)
  await writeBytewise(plain, Buffer.from(message))
  assert.match(await plainAnswer, /^HTTP\/1\.1 200 OK\r\n.*over plain: 2 bytes$/s)

  // The handshake is split too: the client's TLS runs over a pipe that forwards single bytes.
  const { port: pipePort } = await bytewisePipe(t, port)
  const secured = await handshake(t, pipePort, {})
  const answer = everything(secured)
  secured.write(message)
  assert.match(await answer, /^HTTP\/1\.1 200 OK\r\n.*over tls: 2 bytes$/s)
})

test('fifty TLS connections at once are all served', async (t) => {
  const { port } = await listening(t)
  const body = Buffer.alloc(200_000)
  const answers = await Promise.all(Array.from({ length: 50 }, () => fetchTls(port, { body })))
  assert.deepEqual([...new Set(answers.map((answer) => answer.body))], ['POST / over tls: 200000 bytes'])
  assert.equal(new Set(answers.map((answer) => answer.socket)).size, 50)
})

test('a connection that sends nothing, or no more than a byte, is closed', async (t) => {
  const impatient = await listening(t, { timeouts: { silenceMs: 20, headersMs: 20, checkMs: 10 } })
  const mute = dial(t, impatient.port)
  const halfHello = dial(t, impatient.port)
  halfHello.write(Buffer.from([0x16]))
  assert.equal(await everything(mute), '')
  assert.equal(await everything(halfHello), '')
  await until(() => impatient.listener.connections() === 0)
  // Enough time for the first byte on a slow machine.
  const { port, listener } = await listening(t, { timeouts: { headersMs: 20, checkMs: 10 } })
  const halfRequest = dial(t, port)
  halfRequest.write('G')
  assert.match(await everything(halfRequest), /^HTTP\/1\.1 408 Request Timeout\r\n/)
  await until(() => listener.connections() === 0)
})

test('a client that never finishes its headers or its body is told so over TLS', async (t) => {
  const { port } = await listening(t, { timeouts: { headersMs: 30, requestMs: 40, checkMs: 10 } })
  for (const start of ['GET / HTTP/1.1\r\nHos', 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nhalf']) {
    const socket = await handshake(t, port, {})
    socket.write(start)
    const answer = await everything(socket)
    assert.match(answer, /^HTTP\/1\.1 408 Request Timeout\r\n/)
    assert.match(answer, /\r\n\r\n\{"status":408,"code":"ERR_HTTP_REQUEST_TIMEOUT"\}$/)
  }
})

test('a client that reads nothing of its answer is hung up on; one that waits for it, or reads slowly, is not', async (t) => {
  let answered = 0
  const { port, listener } = await listening(t, {
    timeouts: { writeMs: 50 },
    handler: (request, response) => {
      if (request.url === '/large') return void response.end(Buffer.alloc(64 * 1024 * 1024))
      setTimeout(() => {
        answered++
        response.end('late')
      }, 300)
    },
  })
  const deaf = await handshake(t, port, {})
  deaf.pause()
  deaf.write('GET /large HTTP/1.1\r\nHost: x\r\n\r\n')
  const waiting = await handshake(t, port, {})
  const heard = everything(waiting)
  waiting.write('GET /late HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
  assert.match(await heard, /late$/)
  assert.equal(answered, 1)
  await until(() => listener.connections() === 0)
})

test('a whole request with stray bytes behind it gets its own answer, and the connection ends', async (t) => {
  const { port } = await listening(t)
  for (const stray of [' ', '}', 'x', '{"a":1}', '\0\0']) {
    const socket = await handshake(t, port, {})
    socket.write(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}${stray}`)
    const answer = await everything(socket)
    assert.match(answer, /^HTTP\/1\.1 200 OK\r\n.*over tls: 2 bytes$/s, JSON.stringify(stray))
    assert.equal(answer.match(/HTTP\/1\.1/g)?.length, 1)
  }
})

test('bytes that are no HTTP request are answered in JSON, on both sides', async (t) => {
  const { port } = await listening(t, { allowHttpFromLoopback: true })
  const cases: [string, RegExp][] = [
    ['NONSENSE\r\n\r\n', /^HTTP\/1\.1 400 Bad Request\r\n.*"status":400/s],
    [
      'GET / HTTP/1.1\r\nHost: a\r\nHOST: b\r\nConnection: close\r\n\r\n',
      /^HTTP\/1\.1 400 Bad Request\r\n.*"status":400/s,
    ],
    ['GET / HTTP/1.1\r\nHost: a\r\nBad Header: x\r\n\r\n', /^HTTP\/1\.1 400 Bad Request\r\n.*"status":400/s],
    ['GET / HTTP/1.1\r\n\r\n', /^HTTP\/1\.1 400 Bad Request\r\n.*"status":400/s],
    [`GET / HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(16_500)}\r\n\r\n`, /^HTTP\/1\.1 431 .*"HPE_HEADER_OVERFLOW"/s],
    [`GET /${'x'.repeat(300_000)} HTTP/1.1\r\nHost: a\r\n\r\n`, /^HTTP\/1\.1 431 .*"HPE_HEADER_OVERFLOW"/s],
    [`\x80\x2e\x01${'\0'.repeat(1000)}`, /^HTTP\/1\.1 400 Bad Request\r\n.*"status":400/s],
  ]
  for (const [bytes, expected] of cases) {
    for (const socket of [dial(t, port), await handshake(t, port, {})]) {
      socket.end(bytes)
      const answer = await everything(socket)
      assert.match(answer, expected)
      assert.match(answer, /\r\ncontent-type: application\/json; charset=utf-8\r\n/i)
      assert.match(answer, /\r\nx-house: pamoja\r\n/)
    }
  }
})

test('garbage behind a request in progress does not spoil its answer', async (t) => {
  const { port } = await listening(t, {
    handler: (_, response) => {
      response.writeHead(200, { 'content-length': 10 })
      response.write('01234')
    },
  })
  const socket = await handshake(t, port, {})
  socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
  await once(socket, 'data')
  const rest = everything(socket)
  socket.write('NONSENSE\r\n\r\n')
  assert.doesNotMatch(await rest, /400/)
})

test('a failed handshake, a reset and a failing error text harm nobody else', async (t) => {
  const problems: Error[] = []
  const { port, listener } = await listening(t, {
    malformed: () => {
      throw new Error('no words')
    },
    onProblem: (problem) => problems.push(problem),
  })
  const garbage = dial(t, port)
  garbage.write(Buffer.concat([Buffer.from([0x16]), Buffer.alloc(500, 7)]))
  await everything(garbage)
  await assert.rejects(handshake(t, port, { ca: '' }), /unable to verify|self.signed/)
  const wordless = dial(t, port)
  wordless.write('NONSENSE\r\n\r\n')
  assert.equal(await everything(wordless), '')
  assert.deepEqual(problems.map(String), ['Error: no words'])
  for (const first of ['', '\x16\x03', 'GET / HT']) {
    const socket = dial(t, port)
    await once(socket, 'connect')
    socket.write(first, 'latin1')
    socket.resetAndDestroy()
  }
  await until(() => listener.connections() === 0)
  assert.equal((await fetchTls(port, {})).status, 200)
})

test('closing finishes the request in progress, ends idle connections and accepts no new ones', async (t) => {
  const held: { release: () => void }[] = []
  const arrived = signal()
  const { port, listener } = await listening(t, {
    allowHttpFromLoopback: true,
    handler: (request, response) => {
      if (request.url !== '/slow') return void response.end('quick')
      held.push({ release: () => response.end('slow') })
      if (held.length === 2) arrived.resolve()
    },
  })
  const idle = [await handshake(t, port, {}), dial(t, port), dial(t, port)]
  for (const socket of idle.slice(0, 2)) {
    socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
    await once(socket, 'data')
  }
  const idleEnds = idle.map((socket) => everything(socket))
  const inProgress = [fetchTls(port, { path: '/slow' }), fetchPlain(port, { path: '/slow' })]
  await arrived.promise
  assert.equal(listener.connections(), 5)

  const closed = listener.close()
  await Promise.all(idleEnds)
  await assert.rejects(once(dial(t, port), 'connect'), { code: 'ECONNREFUSED' })
  assert.equal(listener.connections(), 2)
  for (const { release } of held) release()
  assert.deepEqual(
    (await Promise.all(inProgress)).map((answer) => answer.body),
    ['slow', 'slow'],
  )
  await closed
  assert.equal(listener.connections(), 0)
})

test('closing lets a connection that was kept alive finish its answer and then ends it', async (t) => {
  const arrived = signal()
  const release = signal()
  const { port, listener } = await listening(t, {
    handler: async (_, response) => {
      arrived.resolve()
      await release.promise
      response.end('done')
    },
  })
  const agent = new HttpsAgent({ keepAlive: true })
  t.after(() => agent.destroy())
  const answer = fetchTls(port, { agent })
  await arrived.promise
  const closed = listener.close()
  release.resolve()
  assert.equal((await answer).body, 'done')
  await closed
})

test('closing does not cut short an answer that a slow client is still reading', async (t) => {
  const size = 30_000_000
  const { port, listener } = await listening(t, { handler: (_, response) => response.end(Buffer.alloc(size)) })
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    httpsRequest({ port, host: '127.0.0.1', ca, agent: false }, resolve).on('error', reject).end()
  })
  response.pause()
  const closed = listener.close()
  let received = 0
  for await (const chunk of response) received += chunk.length
  assert.equal(received, size)
  await closed
})

test('whoever does not finish in time can be cut off, in every stage of a connection', async (t) => {
  const arrived = signal()
  const aborted = signal()
  const { port, listener } = await listening(t, {
    handler: (request, response) => {
      response.on('close', () => aborted.resolve())
      request.on('error', () => {})
      arrived.resolve()
    },
  })
  const stages = [dial(t, port), dial(t, port), await handshake(t, port, {}), await handshake(t, port, {})]
  stages[1]?.write(Buffer.from([0x16]))
  stages[3]?.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
  await arrived.promise
  await until(() => listener.connections() === 4)
  const closed = listener.close()
  listener.destroyAll()
  await Promise.all([closed, aborted.promise])
  assert.equal(listener.connections(), 0)
})

test('a renewed certificate is used by new connections, while an unusable one changes nothing', async (t) => {
  const { port, listener } = await listening(t)
  const early = await handshake(t, port, {})
  const dir = await mkdtemp(join(directory, 'renewed-'))
  const renewed = await serverIdentity({ dir, now: new Date() })
  assert.throws(() => listener.updateIdentity({ key: identity.key, cert: renewed.cert }), /key values mismatch/)
  assert.equal((await fetchTls(port, {})).status, 200)

  listener.updateIdentity(renewed)
  await assert.rejects(handshake(t, port, {}), /unable to verify|self.signed|signature failure/)
  const socket = await handshake(t, port, { ca: await readFile(join(dir, 'ca.pem'), 'utf8') })
  assert.equal(socket.getProtocol(), 'TLSv1.3')
  const answer = everything(early)
  early.write('GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
  assert.match(await answer, /^HTTP\/1\.1 200 OK\r\n/)
})

test('connections beyond the limit are closed at once, those within it go on', async (t) => {
  const { port, listener } = await listening(t, { maxConnections: 2 })
  const first = await handshake(t, port, {})
  const second = await handshake(t, port, {})
  const third = dial(t, port)
  assert.equal(await everything(third), '')
  assert.equal(listener.connections(), 2)
  second.end()
  await until(() => listener.connections() === 1)
  await handshake(t, port, {})
  assert.equal(first.destroyed, false)
})

test('a port that is taken is reported as the system words it', async (t) => {
  const { port } = await listening(t)
  const second = createListener(listenerOptions())
  await assert.rejects(second.listen(port, '127.0.0.1'), { code: 'EADDRINUSE' })
  await second.close()
})

function listenerOptions(): ListenerOptions {
  return {
    identity,
    handler: (request, response) => {
      let size = 0
      const transport = 'encrypted' in request.socket ? 'tls' : 'plain'
      request.on('data', (chunk: Buffer) => {
        size += chunk.length
      })
      request.on('end', () => response.end(`${request.method} ${request.url} over ${transport}: ${size} bytes`))
      request.on('error', () => {})
    },
    trustedProxies: new BlockList(),
    allowHttpFromLoopback: false,
    refusePlain: (_, response) => {
      response.writeHead(403, { 'content-type': 'application/json' }).end('{"code":"HTTPS_REQUIRED"}')
    },
    malformed: (error, status) => ({
      status,
      body: JSON.stringify({ status, code: error.code }),
      headers: { 'x-house': 'pamoja' },
    }),
  }
}

/** Timeouts that do not expire on a slow machine; a test of one of them sets it. */
const patient = { silenceMs: 120_000, headersMs: 120_000, requestMs: 240_000, lingerMs: 60_000 }

async function listening(
  t: TestContext,
  overrides: Partial<ListenerOptions> = {},
  host = '127.0.0.1',
): Promise<{ listener: Listener; port: number }> {
  const timeouts = { ...patient, ...overrides.timeouts }
  const listener = createListener({ ...listenerOptions(), ...overrides, timeouts })
  t.after(async () => {
    listener.destroyAll()
    await listener.close()
  })
  const address: AddressInfo = await listener.listen(0, host)
  return { listener, port: address.port }
}

function blockList(address: string): BlockList {
  const list = new BlockList()
  list.addAddress(address, 'ipv4')
  return list
}

interface Answer {
  status: number | undefined
  headers: IncomingMessage['headers']
  body: string
  socket: Socket
}

interface Asked {
  path?: string
  headers?: Record<string, string>
  body?: string | Buffer
  agent?: HttpAgent
}

function fetchTls(port: number, asked: Asked): Promise<Answer> {
  return answered(httpsRequest({ port, host: '127.0.0.1', ca, agent: false, ...requested(asked) }), asked)
}

function fetchPlain(port: number, asked: Asked): Promise<Answer> {
  return answered(httpRequest({ port, host: '127.0.0.1', agent: false, ...requested(asked) }), asked)
}

function requested({ body, ...options }: Asked) {
  return { ...options, method: body === undefined ? 'GET' : 'POST' }
}

async function answered(outgoing: ClientRequest, asked: Asked): Promise<Answer> {
  return new Promise((resolve, reject) => {
    let isAnswered = false
    outgoing.on('response', async (response) => {
      isAnswered = true
      const { socket } = response
      const chunks: Buffer[] = []
      for await (const chunk of response) chunks.push(chunk)
      const body = Buffer.concat(chunks).toString()
      resolve({ status: response.statusCode, headers: response.headers, body, socket })
    })
    // After the reply, sending the rest of the body may fail.
    outgoing.on('error', (problem) => isAnswered || reject(problem))
    outgoing.end(asked.body)
  })
}

function dial(t: TestContext, port: number): Socket {
  const socket = connect({ port, host: '127.0.0.1' })
  socket.on('error', () => {})
  t.after(() => socket.destroy())
  return socket
}

async function handshake(t: TestContext, port: number, options: ConnectionOptions): Promise<TLSSocket> {
  const socket = connectTls({ port, host: '127.0.0.1', ca, ...options })
  t.after(() => socket.destroy())
  await once(socket, 'secureConnect')
  socket.on('error', () => {})
  return socket
}

/** All data until the other side closes. */
async function everything(socket: Socket): Promise<string> {
  let text = ''
  socket.on('data', (chunk) => {
    text += chunk
  })
  socket.resume()
  if (!socket.destroyed && !socket.readableEnded) {
    await new Promise((resolve) => socket.once('end', resolve).once('close', resolve))
  }
  return text
}

async function writeBytewise(socket: Socket, bytes: Buffer): Promise<void> {
  socket.setNoDelay(true)
  for (const byte of bytes) {
    await new Promise((resolve) => socket.write(Buffer.from([byte]), resolve))
    await new Promise((resolve) => setImmediate(resolve))
  }
}

async function bytewisePipe(t: TestContext, target: number): Promise<{ port: number }> {
  const pipe = createServer((near) => {
    const far = dial(t, target)
    near.on('error', () => {})
    far.pipe(near)
    let written = Promise.resolve()
    near.on('data', (bytes) => {
      written = written.then(() => writeBytewise(far, bytes))
    })
  })
  pipe.listen(0, '127.0.0.1')
  await once(pipe, 'listening')
  t.after(() => pipe.close())
  const address = pipe.address()
  assert.ok(typeof address === 'object' && address !== null)
  return { port: address.port }
}

async function until(condition: () => boolean): Promise<void> {
  await eventually(async () => condition(), 'it to come true')
}

function signal(): { promise: Promise<void>; resolve: () => void } {
  let resolve = () => {}
  const promise = new Promise<void>((settle) => {
    resolve = settle
  })
  return { promise, resolve: () => resolve() }
}
