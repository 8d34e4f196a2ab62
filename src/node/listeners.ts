// SPDX-License-Identifier: Apache-2.0
// Listeners of a node beside the API: metrics for operators, and protocols of areas such as SMTP and SIP.
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { App } from '../platform/app.ts'
import type { Area } from '../platform/area.ts'
import { type AreaListener, type OpenListener, openListener, type Place } from '../platform/program/listeners.ts'
import { finishRequestsMs } from './doors.ts'
import type { Stops } from './stops.ts'

interface OpenListeners {
  /** By name. */
  readonly addresses: Record<string, string>
  readonly updateIdentity: Required<OpenListener>['updateIdentity']
}

/** Opens the listeners of areas that the node has the role for. */
export async function openListeners(
  app: App,
  areas: readonly Area[],
  identity: Place['identity'],
  stops: Stops,
): Promise<OpenListeners> {
  const addresses: Record<string, string> = {}
  const updates: OpenListeners['updateIdentity'][] = []
  for (const listener of areas.flatMap((area) => area.listeners ?? [])) {
    if (!app.config.PAMOJA_ROLES.includes(listener.role) || listener.isOff?.(app.config)) continue
    const opened = await openListener(app, listener, identity)
    stops.push(() => opened.close(finishRequestsMs))
    addresses[listener.name] = opened.url
    updates.push(opened.updateIdentity)
  }
  return { addresses, updateIdentity: (renewed) => updates.forEach((update) => void update(renewed)) }
}

/** Prometheus metrics, on a port that customers do not reach. */
export const admin: Pick<AreaListener, 'name' | 'scheme' | 'host' | 'port' | 'open'> = {
  name: 'admin',
  scheme: 'http',
  host: 'PAMOJA_ADMIN_HOST',
  port: 'PAMOJA_ADMIN_PORT',
  async open({ metrics }, { host, port }) {
    const server = createServer((request, response) => {
      if (request.url?.split('?')[0] !== '/metrics') return void response.writeHead(404).end()
      metrics.text().then(
        (text) => response.writeHead(200, { 'content-type': metrics.contentType }).end(text),
        () => response.writeHead(500).end(),
      )
    })
    server.listen(port, host)
    await once(server, 'listening')
    const address = server.address()
    return {
      port: typeof address === 'object' && address ? address.port : port,
      close: () =>
        new Promise((done) => {
          server.closeAllConnections()
          server.close(() => done())
        }),
    }
  },
}
