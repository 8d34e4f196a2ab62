// SPDX-License-Identifier: Apache-2.0
// Servers that a customer should not have: each takes a request and then misbehaves in its own way.
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer as createTcpServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createServer as createTlsServer } from 'node:tls'
import { serverIdentity } from '../../src/platform/http/certificates.ts'

const dripMs = 200
export const floodBytes = 100 * 1024 * 1024
const chunk = Buffer.alloc(64 * 1024, 'x')
const head = 'HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n'

type Way = 'hangs' | 'closes' | 'drips' | 'dripsBody' | 'floods' | 'oldTls' | 'resets'

export interface BadReceivers {
  readonly urls: Readonly<Record<Way, string>>
  /** The most that one connection took of what a flood sent. */
  maxTaken(): number
  /** Floods that were cut short. */
  floods(): number
  stop(): Promise<void>
}

export async function startBadReceivers(): Promise<BadReceivers> {
  const dir = await mkdtemp(join(tmpdir(), 'pamoja-bad-'))
  const identity = await serverIdentity({ dir, now: new Date() })
  const servers: Server[] = []
  const sockets = new Set<Socket>()
  const taken: number[] = []

  const listen = async (server: Server): Promise<string> => {
    servers.push(server)
    server.on('connection', (socket) => {
      sockets.add(socket)
      socket.on('error', () => undefined)
      socket.once('close', () => sockets.delete(socket))
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const address = server.address()
    if (address === null || typeof address === 'string') throw new Error('a server has no port')
    return `https://localhost:${address.port}/`
  }
  const secure = (misbehave: (socket: Socket) => void): Promise<string> =>
    listen(
      createTlsServer(identity, (socket) => {
        socket.on('error', () => undefined)
        socket.once('data', () => misbehave(socket))
      }),
    )
  const old = { minVersion: 'TLSv1.1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' } as const
  const urls = {
    hangs: await secure(() => undefined),
    closes: await secure((socket) => socket.destroy()),
    drips: await secure((socket) => drip(socket, `${head}x-long: ${'y'.repeat(10_000)}\r\n\r\n`)),
    dripsBody: await secure((socket) => {
      socket.write(`${head}content-length: 10000\r\n\r\n`)
      drip(socket, 'x'.repeat(10_000))
    }),
    floods: await secure((socket) => {
      socket.write(`${head}content-length: ${floodBytes}\r\n\r\n`)
      flood(socket)
      socket.once('close', () => taken.push(socket.bytesWritten - socket.writableLength))
    }),
    oldTls: await listen(createTlsServer({ ...identity, ...old })),
    resets: await listen(createTcpServer((socket) => socket.resetAndDestroy())),
  }
  return {
    urls,
    maxTaken: () => Math.max(0, ...taken),
    floods: () => taken.length,
    async stop() {
      for (const server of servers) server.close()
      for (const socket of sockets) socket.destroy()
      await rm(dir, { recursive: true, force: true })
    },
  }
}

/** Byte by byte. */
function drip(socket: Socket, text: string): void {
  let sent = 0
  const timer = setInterval(() => socket.write(text.charAt(sent++)), dripMs)
  socket.once('close', () => clearInterval(timer))
}

/** Sends without end, as fast as the other side takes it. */
function flood(socket: Socket): void {
  let left = floodBytes
  const pump = (): void => {
    while (left > 0 && !socket.destroyed) {
      left -= chunk.length
      if (!socket.write(chunk)) return void socket.once('drain', pump)
    }
  }
  pump()
}
