// SPDX-License-Identifier: Apache-2.0
// A leg on a real websocket, whose other side does not read, or sends too much.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type TestContext, test } from 'node:test'
import { WebSocket, WebSocketServer } from 'ws'
import { eventually } from '../../../test/eventually.ts'
import { frameSamples } from '../audio/g711.ts'
import { rms, tone } from '../audio/tones.ts'
import { maxIncomingSeconds, maxMessageBytes, SocketLeg } from './socket-leg.ts'

interface Ends {
  leg: SocketLeg
  socket: WebSocket
  program: WebSocket
  texts: { event: string; [name: string]: unknown }[]
  frames: () => number
}

async function opened(t: TestContext, nowMs = () => 0): Promise<Ends> {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' })
  t.after(() => server.close())
  await once(server, 'listening')
  const address = server.address()
  assert.ok(typeof address === 'object' && address !== null)
  const socket = new WebSocket(`ws://127.0.0.1:${address.port}`, { perMessageDeflate: false, autoPong: false })
  const [[program]] = await Promise.all([once(server, 'connection'), once(socket, 'open')])
  const texts: Ends['texts'] = []
  let frames = 0
  program.on('message', (data: Buffer, isBinary: boolean) => {
    if (isBinary) frames++
    else texts.push(JSON.parse(data.toString()))
  })
  const hello = { event: 'websocket:connected' }
  const leg = new SocketLeg(socket, { rate: 8_000, hello, nowMs, pingEveryMs: 1_000, closed: () => undefined })
  t.after(() => {
    leg.close()
    program.terminate()
  })
  return { leg, socket, program, texts, frames: () => frames }
}

const turn = () => new Promise<void>((resume) => setImmediate(resume))
const told = (texts: Ends['texts'], event: string) =>
  eventually(async () => texts.find((text) => text.event === event) ?? null, event)

test('a program that does not read loses the oldest audio, is told, and goes on with the newest', async (t) => {
  const { leg, program, texts, frames } = await opened(t)
  await told(texts, 'websocket:connected')
  program.pause()
  const frame = new Int16Array(frameSamples).fill(1_000)
  // More than the buffers of the system hold.
  const said = 60_000
  for (let i = 0; i < said; i++) {
    leg.say(frame)
    if (i % 500 === 0) await turn()
  }
  leg.dial('7')
  assert.ok(leg.figures.sent < said - 500, `${leg.figures.sent} of ${said} were handed over`)
  program.resume()
  await eventually(async () => {
    leg.say(frame)
    return texts.some(({ event }) => event === 'websocket:dropped')
  }, 'the loss to be told')
  const dropped = await told(texts, 'websocket:dropped')
  assert.equal(dropped.from, 'call')
  assert.ok(Number(dropped.milliseconds) > 0)
  assert.equal((await told(texts, 'websocket:dtmf')).digit, '7')
  await eventually(async () => frames() === leg.figures.sent, 'what was not dropped to arrive')
})

test('a program that sends more than is kept loses the oldest of it, and marks are reached in order', async (t) => {
  const { leg, program, texts } = await opened(t)
  const into = new Int16Array(frameSamples)
  const silence = new Int16Array(frameSamples)
  const second = Buffer.from(new Int16Array(8_000).fill(1).buffer)
  program.send(JSON.stringify({ action: 'notify', payload: 'first' }))
  for (let i = 0; i < maxIncomingSeconds + 20; i++) program.send(second)
  program.send(Buffer.from(tone([440], 100).buffer))
  program.send(JSON.stringify({ action: 'notify', payload: 'last' }))
  let [ticks, loudest] = [0, 0]
  await eventually(async () => {
    for (let i = 0; i < 50; i++) {
      leg.hear(into)
      leg.say(silence)
      loudest = Math.max(loudest, rms(into))
      ticks++
      await turn()
    }
    return texts.some(({ payload }) => payload === 'last')
  }, 'everything to be played')
  assert.deepEqual(
    texts.filter(({ event }) => event === 'websocket:notify').map(({ payload }) => payload),
    ['first', 'last'],
  )
  assert.ok(loudest > 1_000, 'the newest was heard')
  assert.ok(ticks >= 1_000, `${ticks} ticks`)
})

test('long messages are read at the pace of what is spoken, so that others on the thread have their turn', async (t) => {
  const { leg, socket, program } = await opened(t)
  const into = new Int16Array(frameSamples)
  const sent = 12
  for (let i = 0; i < sent; i++) program.send(Buffer.alloc(maxMessageBytes))
  const ticks = 12
  for (let i = 0; i < ticks; i++) {
    await eventually(async () => socket.isPaused || leg.figures.received === sent, 'the leg to read no further')
    leg.hear(into)
  }
  await eventually(async () => socket.isPaused, 'the leg to read no further')
  // Four ticks pay for one.
  assert.ok(leg.figures.received <= ticks / 4 + 2, `${leg.figures.received} were read in ${ticks} ticks`)
  await eventually(async () => {
    for (let i = 0; i < 50; i++) {
      leg.hear(into)
      await turn()
    }
    return leg.figures.received === sent
  }, 'all of them to be read')
})

test('a program that floods the leg with pings and reads no answer fills no memory', async (t) => {
  const { socket, program } = await opened(t)
  let answers = 0
  program.on('pong', () => answers++)
  program.ping('are you there')
  await eventually(async () => answers === 1, 'a ping to be answered')
  program.pause()
  for (let i = 0; i < 50_000; i++) {
    program.ping('x'.repeat(100), false)
    if (i % 500 === 0) await turn()
  }
  await eventually(async () => socket.isPaused, 'the leg to read no further')
  assert.ok(socket.bufferedAmount < 100_000, `${socket.bufferedAmount} bytes wait`)
})

test('a program is asked for a sign of life', async (t) => {
  let nowMs = 0
  const { leg, program } = await opened(t, () => nowMs)
  const pinged = once(program, 'ping')
  nowMs = 1_001
  leg.say(new Int16Array(frameSamples))
  await pinged
  nowMs = 1_500
  await eventually(async () => leg.lastHeardMs === 1_500, 'the answer')
})
