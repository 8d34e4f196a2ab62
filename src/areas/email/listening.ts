// SPDX-License-Identifier: Apache-2.0
// SMTP listeners of this node: ports, connection limits and shutdown.
import { once } from 'node:events'
import { createServer, isIPv6, type Socket } from 'node:net'
import { createSecureContext } from 'node:tls'
import type { App } from '../../platform/app.ts'
import { addressList } from '../../platform/auth.ts'
import { networkOf } from '../../platform/http/admission.ts'
import type { OpenListener, Place } from '../../platform/program/listeners.ts'
import { onePerApp } from '../../platform/program/one-per-app.ts'
import { type ServerHost, ServerSession } from '../../protocols/smtp/server-session.ts'

const maxConnections = 1_000

/** Opens ports by listener. */
export const openPorts = onePerApp(() => new Map<string, { host: string; port: number }>())

const balancers = onePerApp((app) => addressList(app.config.PAMOJA_SMTP_BALANCERS))

/** Network that a connection is counted with; null for one of a balancer, behind which anybody may be. */
export function networkCounted(app: App, address: string): string | null {
  const plain = address.replace(/^::ffff:/, '')
  const isBalancer = balancers(app)?.check(plain, isIPv6(plain) ? 'ipv6' : 'ipv4') ?? false
  return isBalancer ? null : networkOf(address)
}

export async function listenSmtp(
  app: App,
  name: string,
  { host, port, identity }: Place,
  usual: Omit<ServerHost, 'secureContext'>,
  /** Connections that one network may have open; others shall find some left. */
  maxOfNetwork: number,
): Promise<OpenListener> {
  let secureContext = createSecureContext({ ...identity })
  const serverHost: ServerHost = { ...usual, secureContext: () => secureContext }
  const sessions = new Set<ServerSession>()
  const open = new Map<string, number>()
  const server = createServer((socket: Socket) => {
    const network = networkCounted(app, socket.remoteAddress ?? '')
    const others = network === null ? 0 : (open.get(network) ?? 0)
    if (others >= maxOfNetwork) return refuse(socket)
    if (network !== null) open.set(network, others + 1)
    const session = new ServerSession(socket, serverHost)
    sessions.add(session)
    void session.closed.then(() => {
      sessions.delete(session)
      if (network === null) return
      const left = (open.get(network) ?? 1) - 1
      if (left > 0) open.set(network, left)
      else open.delete(network)
    })
  })
  server.maxConnections = maxConnections
  server.listen(port, host)
  await once(server, 'listening')
  const address = server.address()
  const taken = typeof address === 'object' && address !== null ? address.port : port
  openPorts(app).set(name, { host, port: taken })
  return {
    port: taken,
    updateIdentity(renewed) {
      secureContext = createSecureContext({ ...renewed })
    },
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

function refuse(socket: Socket): void {
  socket.on('error', () => socket.destroy())
  socket.end('421 4.7.0 Too many connections from your network; close some, or try again later\r\n', () =>
    socket.destroy(),
  )
}
