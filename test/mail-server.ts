// SPDX-License-Identifier: Apache-2.0
// Somebody's mail server, outside the installation: it takes what comes, or behaves as badly as a test wants.
import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { reply } from '../src/protocols/smtp/reply.ts'
import { type ServerHost, ServerSession } from '../src/protocols/smtp/server-session.ts'

export interface MailServer {
  readonly port: number
  /** Each time a message was taken: how often, by its subject. */
  readonly taken: ReadonlyMap<string, number>
  readonly contents: readonly Buffer[]
  /** How many connections were made. */
  readonly connections: number
  stop(): Promise<void>
}

/** `badly` speaks instead of the server; `before` is waited for before a message is taken. */
export async function startMailServer(
  badly?: ((socket: Socket) => void) | null,
  before?: () => Promise<void>,
): Promise<MailServer> {
  const taken = new Map<string, number>()
  const contents: Buffer[] = []
  const sockets = new Set<Socket>()
  let connections = 0
  const host: ServerHost = {
    hostname: 'mx.shop.example',
    secureContext: () => null,
    isSubmission: false,
    maxBytes: 30 * 1024 * 1024,
    maxRecipients: 100,
    maxMessages: 1_000_000,
    idleMs: 60_000,
    message: async (_envelope, content) => {
      await before?.()
      const subject = /^Subject: (.*)$/m.exec(content.toString())?.[1]?.trim() ?? ''
      taken.set(subject, (taken.get(subject) ?? 0) + 1)
      contents.push(content)
      return reply(250, '2.0.0 Ok')
    },
  }
  const server = createServer((socket) => {
    sockets.add(socket)
    connections++
    socket.on('close', () => sockets.delete(socket))
    socket.on('error', () => undefined)
    if (badly) badly(socket)
    else new ServerSession(socket, host)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the server has no port')
  return {
    port: address.port,
    taken,
    contents,
    get connections() {
      return connections
    },
    async stop() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
