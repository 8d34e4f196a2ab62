// SPDX-License-Identifier: Apache-2.0
// SMTP listeners of this node: ports, connection limits and shutdown.
import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import type { App } from '../../platform/app.ts'
import type { OpenListener, Place } from '../../platform/listeners.ts'
import { onePerApp } from '../../platform/one-per-app.ts'
import { type ServerHost, ServerSession } from '../../protocols/smtp/server-session.ts'

const maxConnections = 1_000

/** Open ports by listener. */
export const openPorts = onePerApp(() => new Map<string, { host: string; port: number }>())

export async function listenSmtp(
  app: App,
  name: string,
  { host, port }: Place,
  serverHost: ServerHost,
): Promise<OpenListener> {
  const sessions = new Set<ServerSession>()
  const server = createServer((socket: Socket) => {
    const session = new ServerSession(socket, serverHost)
    sessions.add(session)
    void session.closed.then(() => sessions.delete(session))
  })
  server.maxConnections = maxConnections
  server.listen(port, host)
  await once(server, 'listening')
  const address = server.address()
  const taken = typeof address === 'object' && address !== null ? address.port : port
  openPorts(app).set(name, { host, port: taken })
  return {
    port: taken,
    async close(withinMs) {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      for (const session of sessions) session.drain()
      const deadline = setTimeout(() => {
        for (const session of sessions) session.destroy()
      }, withinMs)
      await closed
      clearTimeout(deadline)
    },
  }
}
