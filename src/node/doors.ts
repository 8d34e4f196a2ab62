// SPDX-License-Identifier: Apache-2.0
// The HTTPS server of a node: routes, hooks, websockets, health and documentation. Requests that come before the node is
// ready wait; those under way when it stops are finished.
import { BlockList } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { doors } from '../doors.ts'
import type { App } from '../platform/app.ts'
import type { Area } from '../platform/area.ts'
import { addressList } from '../platform/auth.ts'
import { docs } from '../platform/docs.ts'
import type { ServerIdentity } from '../platform/http/certificates.ts'
import { mountShared } from '../platform/http/forward.ts'
import { readiness } from '../platform/http/health.ts'
import { createListener, type Listener } from '../platform/http/listener.ts'
import { malformed } from '../platform/http/malformed.ts'
import { refusePlain } from '../platform/http/plain-http.ts'
import { Sockets } from '../platform/http/sockets.ts'
import { statusPage } from '../platform/http/status-page.ts'
import { Streams } from '../platform/http/streams.ts'
import { createHttp } from '../platform/http.ts'
import { mcp } from '../platform/mcp.ts'
import { signedFiles } from '../platform/storage/signed-files.ts'

/** Time that requests under way have when the node stops. */
export const finishRequestsMs = 10_000

export interface Doors {
  port: number
  /** Replaces the certificate for new connections. */
  updateIdentity: Listener['updateIdentity']
  /** Answers the requests that have come so far, and from then on all. */
  open(): void
  /** Refuses new connections, ends streams and waits, and finishes the requests under way. */
  drain(): Promise<void>
}

export async function openDoors(app: App, areas: readonly Area[], identity: ServerIdentity): Promise<Doors> {
  const trustedProxies = addressList(app.config.PAMOJA_TRUSTED_PROXIES) ?? new BlockList()
  const isApi = app.config.PAMOJA_ROLES.includes('api')
  const served = isApi ? areas : []
  const streams = new Streams()
  const sockets = new Sockets(
    app,
    served.flatMap((area) => area.sockets ?? []),
    trustedProxies,
  )
  app.metrics.gauge('pamoja_http_streams', 'Open event streams.', () => streams.size)
  app.metrics.gauge('pamoja_http_sockets', 'Open WebSockets.', () => sockets.size)
  const gate = new Gate()
  const made: { listener?: Listener } = {}
  const assistants = mcp(served, (request) => http.inject(request))
  const http: FastifyInstance = createHttp({
    app,
    routes: served.flatMap((area) => area.routes),
    hooks: isApi ? [signedFiles, assistants, ...served.flatMap((area) => area.hooks ?? [])] : [],
    doors: isApi ? doors : [],
    streams,
    trustedProxies,
    serverFactory: (handler) => {
      made.listener = createListener({
        identity,
        handler: (request, response) => gate.pass(() => handler(request, response)),
        trustedProxies,
        allowHttpFromLoopback: app.config.PAMOJA_ALLOW_HTTP === 'loopback',
        refusePlain: refusePlain(app, isApi ? doors : []),
        malformed: malformed(app),
        upgrade: (request, socket, head) => void sockets.upgrade(request, socket, head),
        onProblem: (error) =>
          app.log.warn(
            { error },
            'connection not accepted: the client sees it closed; check the limit of open files if this repeats',
          ),
      })
      return made.listener.server
    },
  })
  const { listener } = made
  if (!listener) throw new Error('the HTTP server was not made')
  const state = { draining: false }
  answerProbes(http, app, areas, state)
  if (app.config.PAMOJA_STATUS_PAGE) statusPage(http, app, () => readiness(app, areas, false))
  http.get('/.well-known/jwks.json', { config: { open: true } }, async () => app.tokens.jwks())
  mountShared(http, app)
  docs(http, app, areas)
  await http.ready()
  const { port } = await listener.listen(app.config.PAMOJA_PORT, app.config.PAMOJA_HOST)
  return {
    port,
    updateIdentity: listener.updateIdentity,
    open: () => gate.open(),
    async drain() {
      state.draining = true
      gate.open()
      streams.close()
      sockets.close()
      for (const waits of areas.flatMap((area) => area.waits ?? [])) waits.of(app).stop()
      const deadline = setTimeout(() => listener.destroyAll(), finishRequestsMs)
      await listener.close()
      clearTimeout(deadline)
      await http.close()
    },
  }
}

/** Gate that holds requests back until the node is ready. */
class Gate {
  #held: (() => void)[] | null = []

  pass(answer: () => void): void {
    if (this.#held) this.#held.push(answer)
    else answer()
  }

  open(): void {
    const held = this.#held ?? []
    this.#held = null
    for (const answer of held) answer()
  }
}

/** Probes of load balancers: whether the process lives, and whether it can serve. */
function answerProbes(http: FastifyInstance, app: App, areas: readonly Area[], state: { draining: boolean }): void {
  http.get('/healthz', { config: { open: true, probe: true } }, async () => ({
    status: 'ok',
    version: app.version,
    uptime: Math.floor(process.uptime()),
  }))
  http.get('/readyz', { config: { open: true, probe: true } }, async (_request, reply) => {
    const found = await readiness(app, areas, state.draining)
    return reply.code(found.status === 'unavailable' ? 503 : 200).send(found)
  })
}
