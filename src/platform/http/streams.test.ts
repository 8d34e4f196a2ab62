// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type Server, type ServerResponse } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { AppError } from '../../kernel/errors.ts'
import type { StreamMessage } from '../api/route.ts'
import { Streams } from './streams.ts'

const admitted = async (): Promise<null> => null

test('a reader is given messages in the form of server-sent events, and then the end', async (t) => {
  const streams = new Streams()
  const { port } = await serving(t, (response) =>
    streams.open('ada', admitted).run(
      response,
      from([
        { id: 'a', event: '', data: null },
        { id: 'b', event: 'sms.sent', data: '{"x":1}' },
        { id: 'c', event: 'sms.sent', data: 'two\nlines' },
      ]),
    ),
  )
  const { text, ended } = reading(t, port)
  await ended
  assert.equal(
    bodyOf(text()),
    'id: a\n\nid: b\nevent: sms.sent\ndata: {"x":1}\n\nid: c\nevent: sms.sent\ndata: two\ndata: lines\n\n',
  )
  assert.equal(streams.size, 0)
})

test('a reader that takes nothing is not written to without end, and is cut off', async (t) => {
  const streams = new Streams({ drainWithinMs: 50 })
  const data = 'x'.repeat(64 * 1024)
  let asked = 0
  async function* endless(): AsyncGenerator<StreamMessage> {
    for (;;) {
      asked++
      yield { id: String(asked), event: 'e', data }
    }
  }
  const finished = awaited()
  const { port } = await serving(t, (response) => {
    const stream = streams.open('ada', admitted)
    stream.run(response, endless()).then(finished.resolve, finished.reject)
  })
  const socket = request(t, port)
  socket.pause()
  await finished.promise
  assert.equal(streams.size, 0)
  // Only the kernel buffers, a few megabytes, were filled from the source.
  assert.ok(asked * data.length < 64 * 1024 * 1024, `${asked} messages were taken`)
})

test('a reader that catches up in time goes on from where it stood', async (t) => {
  const streams = new Streams()
  const data = 'x'.repeat(256 * 1024)
  const wanted = 100
  const messages = Array.from({ length: wanted }, (_, i) => ({ id: String(i), event: 'e', data }))
  const blocked = awaited()
  const { port } = await serving(t, (response) => {
    const stream = streams.open('ada', admitted)
    void stream.run(response, from(messages))
    const watch = setInterval(() => {
      if (!response.writableNeedDrain) return
      clearInterval(watch)
      blocked.resolve()
    }, 5)
  })
  const { socket, text, ended } = reading(t, port)
  socket.pause()
  await blocked.promise
  socket.resume()
  await ended
  const ids = [...text().matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id))
  assert.deepEqual(
    ids,
    messages.map((_, i) => i),
  )
})

test('an account has so many streams and a node so many; one that ends makes room', async (t) => {
  const streams = new Streams({ perAccount: 2, perNode: 3 })
  const first = streams.open('ada', admitted)
  streams.open('ada', admitted)
  assert.throws(() => streams.open('ada', admitted), refusedWith('TOO_MANY_STREAMS'))
  streams.open('eve', admitted)
  assert.throws(() => streams.open('joe', admitted), refusedWith('SERVICE_UNAVAILABLE'))
  first.release()
  streams.open('ada', admitted)
  t.after(() => streams.close())
})

test('the line is kept alive, and ends with the sentence that refuses its key', async (t) => {
  let refusal: string | null = null
  const streams = new Streams({ heartbeatMs: 5 })
  const { port } = await serving(t, (response) => {
    const stream = streams.open('ada', async () => refusal)
    void stream.run(response, silence(stream.signal))
  })
  const { text, ended, has } = reading(t, port)
  await has(':\n\n')
  refusal = 'the key was revoked'
  await ended
  assert.match(bodyOf(text()), /^(:\n\n)+: the key was revoked\n\n$/)
  streams.close()
})

test('an account that changed is looked at again at once, and nobody else', async (t) => {
  const looked: string[] = []
  const streams = new Streams()
  const open = (account: string, refusal: string | null) =>
    streams.open(account, async () => {
      looked.push(account)
      return refusal
    })
  const ada = open('ada', 'no more')
  const eve = open('eve', 'no more')
  streams.recheck('ada')
  await once(ada.signal, 'abort')
  assert.deepEqual(looked, ['ada'])
  assert.equal(eve.signal.aborted, false)
  t.after(() => streams.close())
})

test('a node that stops ends every stream, also one whose reader stands still, and opens none', async (t) => {
  const streams = new Streams()
  const data = 'x'.repeat(1024 * 1024)
  const blocked = awaited()
  let count = 0
  const { port } = await serving(t, (response) => {
    const stream = streams.open('ada', admitted)
    if (count++ === 0) return void stream.run(response, silence(stream.signal))
    void stream.run(response, forEver(data))
    const watch = setInterval(() => {
      if (!response.writableNeedDrain) return
      clearInterval(watch)
      blocked.resolve()
    }, 5)
  })
  const patient = reading(t, port)
  await patient.has('\r\n\r\n')
  const still = request(t, port)
  still.pause()
  await blocked.promise
  streams.close()
  await patient.ended
  assert.match(patient.text(), /: this node is stopping/)
  still.resume()
  await once(still, 'close')
  assert.throws(() => streams.open('ada', admitted), refusedWith('SERVICE_UNAVAILABLE'))
})

test('a stream that is ended before it began is empty', async (t) => {
  const streams = new Streams()
  const { port } = await serving(t, (response) => {
    const stream = streams.open('ada', admitted)
    streams.close()
    void stream.run(response, from([{ id: 'a', event: 'e', data: 'x' }]))
  })
  const { text, ended } = reading(t, port)
  await ended
  assert.equal(bodyOf(text()), '')
})

test('a reader that leaves ends its stream', async (t) => {
  const streams = new Streams()
  const left = awaited()
  const { port } = await serving(t, (response) => {
    const stream = streams.open('ada', admitted)
    stream.run(response, silence(stream.signal)).then(left.resolve, left.reject)
  })
  const { socket, has } = reading(t, port)
  await has('\r\n\r\n')
  assert.equal(streams.size, 1)
  socket.destroy()
  await left.promise
  assert.equal(streams.size, 0)
  streams.close()
})

interface Awaited {
  promise: Promise<void>
  resolve(): void
  reject(error: Error): void
}

/** External event. */
function awaited(): Awaited {
  const made: Awaited = { promise: Promise.resolve(), resolve: () => undefined, reject: () => undefined }
  made.promise = new Promise((resolve, reject) => {
    made.resolve = resolve
    made.reject = reject
  })
  return made
}

async function* from(messages: readonly StreamMessage[]): AsyncGenerator<StreamMessage> {
  yield* messages
}

async function* forEver(data: string): AsyncGenerator<StreamMessage> {
  for (;;) yield { id: 'x', event: 'e', data }
}

/** No message until the stream ends. */
async function* silence(signal: AbortSignal): AsyncGenerator<StreamMessage> {
  if (!signal.aborted) await once(signal, 'abort')
  yield* []
}

async function serving(t: TestContext, run: (response: ServerResponse) => unknown): Promise<{ port: number }> {
  const server: Server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.flushHeaders()
    run(response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const address = server.address()
  if (!isAddress(address)) throw new Error('the server has no port')
  return { port: address.port }
}

function isAddress(address: AddressInfo | string | null): address is AddressInfo {
  return typeof address === 'object' && address !== null
}

function request(t: TestContext, port: number): Socket {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => undefined)
  socket.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
  t.after(() => socket.destroy())
  return socket
}

function reading(t: TestContext, port: number) {
  const socket = request(t, port)
  let text = ''
  const listeners = new Set<() => void>()
  socket.on('data', (chunk) => {
    text += chunk
    for (const listener of listeners) listener()
  })
  const ended = once(socket, 'close')
  const has = (part: string): Promise<void> =>
    new Promise((resolve) => {
      const look = (): void => {
        if (!text.includes(part)) return
        listeners.delete(look)
        resolve()
      }
      listeners.add(look)
      look()
    })
  return { socket, text: () => text, ended, has }
}

/** Body of a chunked reply. */
function bodyOf(reply: string): string {
  const chunks = reply.slice(reply.indexOf('\r\n\r\n') + 4)
  let body = ''
  for (let at = 0; at < chunks.length; ) {
    const end = chunks.indexOf('\r\n', at)
    const size = Number.parseInt(chunks.slice(at, end), 16)
    body += chunks.slice(end + 2, end + 2 + size)
    at = end + 2 + size + 2
  }
  return body
}

function refusedWith(code: string): (error: unknown) => boolean {
  return (error) => error instanceof AppError && error.code === code
}
