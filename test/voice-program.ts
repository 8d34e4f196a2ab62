// SPDX-License-Identifier: Apache-2.0
// A customer's program that takes part in calls by websocket, on loopback: it keeps what it heard and was told, and speaks.
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type WebSocket, WebSocketServer } from 'ws'
import { serverIdentity } from '../src/platform/http/certificates.ts'
import { eventually } from './eventually.ts'

// biome-ignore lint/suspicious/noExplicitAny: a test reads messages whose shape it asserts
type Message = any

/** One call, as the program has it. */
class ProgramCall {
  readonly socket: WebSocket
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly texts: Message[] = []
  readonly frames: Buffer[] = []
  closed: number | null = null

  constructor(socket: WebSocket, path: string, headers: IncomingHttpHeaders) {
    this.socket = socket
    this.path = path
    this.headers = headers
    socket.on('message', (data: Buffer, isBinary) => {
      if (isBinary) this.frames.push(data)
      else this.texts.push(JSON.parse(data.toString()))
    })
    socket.on('error', () => undefined)
    socket.on('close', (code) => {
      this.closed = code
    })
  }

  /** The last samples that it heard. */
  heard(count: number): Int16Array {
    const frames = this.frames.slice(-Math.ceil((2 * count) / (this.frames.at(-1)?.length ?? 1)))
    const bytes = Buffer.concat(frames)
    return Int16Array.from({ length: bytes.length >> 1 }, (_, i) => bytes.readInt16LE(2 * i)).slice(-count)
  }

  /** Sends samples at once, in messages of at most a second or two. */
  say(samples: Int16Array): void {
    const bytes = Buffer.alloc(2 * samples.length)
    samples.forEach((sample, i) => {
      bytes.writeInt16LE(sample, 2 * i)
    })
    for (let at = 0; at < bytes.length; at += 32_000) this.socket.send(bytes.subarray(at, at + 32_000))
  }

  tell(message: object): void {
    this.socket.send(JSON.stringify(message))
  }

  /** Waits for a text of this event. */
  told(event: string): Promise<Message> {
    return eventually(async () => this.texts.find((text) => text.event === event) ?? null, `the text ${event}`)
  }

  end(): Promise<number> {
    return eventually(async () => this.closed, 'the socket to be closed')
  }
}

export interface VoiceProgram {
  uri(path: string): string
  /** Waits for the next call that was not given out before. */
  next(): Promise<ProgramCall>
  stop(): Promise<void>
}

export async function startVoiceProgram(kind: 'plain' | 'secure'): Promise<VoiceProgram> {
  const dir = await mkdtemp(join(tmpdir(), 'pamoja-program-'))
  const server = kind === 'plain' ? createServer() : createSecureServer(await serverIdentity({ dir, now: new Date() }))
  const sockets = new WebSocketServer({ noServer: true })
  const calls: ProgramCall[] = []
  server.on('upgrade', (request, socket, head) => {
    if (request.url?.startsWith('/refused')) return void socket.end('HTTP/1.1 403 Forbidden\r\n\r\n')
    if (request.url?.startsWith('/silent')) return
    sockets.handleUpgrade(request, socket, head, (line) =>
      calls.push(new ProgramCall(line, request.url ?? '', request.headers)),
    )
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the program has no port')
  return {
    uri: (path) => `${kind === 'plain' ? 'ws' : 'wss'}://localhost:${address.port}${path}`,
    next: () => eventually(async () => calls.shift() ?? null, 'a call by websocket'),
    async stop() {
      for (const line of sockets.clients) line.terminate()
      sockets.close()
      server.closeAllConnections()
      server.close()
      await rm(dir, { recursive: true, force: true })
    },
  }
}
