// SPDX-License-Identifier: Apache-2.0
// Requests between nodes: those of test keys that need the simulators of another node are forwarded to it as they came, and
// a node asks it what its simulators share. The nodes of an installation share a secret, by which one knows that another
// one asks, and for whom; the certificate is the one that the database names.
import { timingSafeEqual } from 'node:crypto'
import { once } from 'node:events'
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { Agent, type RequestOptions, request as send } from 'node:https'
import { isIP } from 'node:net'
import { connect, type TLSSocket } from 'node:tls'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '../../kernel/errors.ts'
import type { App } from '../app.ts'
import type { Principal } from '../auth.ts'
import type { NodeAddress } from '../nodes/sandbox.ts'
import { onePerApp } from '../program/one-per-app.ts'
import { asError } from './exchange.ts'

/** Header by which a node says for whom it asks. */
const forwardedMark = 'pamoja-forwarded'
/** Path of what the simulators of a node share. */
const sharedPath = '/internal/simulators'
/** How old a mark may be: clocks of nodes differ. */
const maxAgeMs = 60_000
const maxSockets = 256
/** Longer than a simulated phone waits for its screen. */
const silenceMs = 120_000
const askMs = 5_000
const maxSharedBytes = 1_000_000

/** Headers of one connection, which are not forwarded. */
const ofConnection = new Set([
  ...['connection', 'expect', 'keep-alive', 'proxy-authorization', 'proxy-connection', 'te', 'trailer'],
  ...['transfer-encoding', 'upgrade', forwardedMark],
])

/** Whether a request is for the simulators of another node. One that was forwarded, or whose body was read, is not. */
export function isForElsewhere(app: App, request: FastifyRequest, { tenant }: Principal): boolean {
  const { sandbox } = app
  if (tenant.environment !== 'test' || sandbox.elsewhere === null) return false
  if (request.exchange.isForwarded || request.body !== undefined) return false
  const route = request.exchange.compiled?.route
  return !sandbox.isRun || (route?.simulated ?? route?.scope.startsWith('sandbox:') ?? false)
}

/** Answers with what the node of the sandbox answers. */
export function forward(app: App, request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void): void {
  const { elsewhere } = app.sandbox
  if (elsewhere === null) return done()
  const { method, originalUrl, headers, raw, exchange } = request
  const outgoing = asked(app, elsewhere, { method, path: originalUrl, headers: passed(headers) }, exchange.ip)
  reply.raw.once('close', () => outgoing.destroy())
  outgoing.once('response', (answer: IncomingMessage) => {
    reply.code(answer.statusCode ?? 502).headers(passed(answer.headers))
    reply.send(answer)
  })
  outgoing.once('error', (cause) => {
    if (reply.sent || reply.raw.destroyed) return
    app.sandbox.look()
    const extras = { cause, retryAfterSeconds: 1 }
    done(new AppError('SERVICE_UNAVAILABLE', 'the sandbox node does not respond', extras))
  })
  raw.pipe(outgoing)
}

/** For whom another node asks: a client's address; null when no node says so. */
export function forwardedFor({ secrets, clock }: App, { headers, method }: IncomingMessage): string | null {
  const mark = headers[forwardedMark]
  if (typeof mark !== 'string') return null
  const [ip = '', ms = '', given = ''] = mark.split(' ')
  if (isIP(ip) === 0 || !(Math.abs(clock.nowMs() - Number(ms)) < maxAgeMs)) return null
  const [right, said] = [secrets.fingerprint('forwarded', `${method} ${ip} ${ms}`), Buffer.from(given, 'hex')]
  return right.length === said.length && timingSafeEqual(right, said) ? ip : null
}

/** Answers other nodes what the simulators of this one share. */
export function mountShared(http: FastifyInstance, app: App): void {
  http.get(sharedPath, { config: { open: true, probe: true } }, async (request) => {
    if (!request.exchange.isForwarded) throw new AppError('NOT_FOUND', 'the API is below /api/v1')
    return app.sandbox.shared()
  })
}

/** Asks a node what its simulators share. */
export async function askShared(app: App, address: NodeAddress): Promise<Readonly<Record<string, unknown>>> {
  const outgoing = asked(app, address, { method: 'GET', path: sharedPath, headers: {}, timeout: askMs }, '127.0.0.1')
  outgoing.end()
  const [answer]: IncomingMessage[] = await once(outgoing, 'response')
  const parts: Buffer[] = []
  let bytes = 0
  for await (const part of answer ?? []) {
    bytes += part.length
    if (bytes > maxSharedBytes) throw new Error('the node of the sandbox shares more than it should')
    parts.push(part)
  }
  if (answer?.statusCode !== 200) throw new Error(`the node of the sandbox answered ${answer?.statusCode}`)
  return Object(JSON.parse(Buffer.concat(parts).toString()))
}

function asked(app: App, { url, fingerprint }: NodeAddress, wanted: RequestOptions, ip: string) {
  const { hostname, port } = new URL(url)
  const ms = app.clock.nowMs()
  const proof = app.secrets.fingerprint('forwarded', `${wanted.method} ${ip} ${ms}`).toString('hex')
  const outgoing = send({
    timeout: silenceMs,
    ...wanted,
    headers: { ...wanted.headers, [forwardedMark]: `${ip} ${ms} ${proof}` },
    host: hostname.replace(/^\[|\]$/g, ''),
    port,
    agent: agentOf(app).to(fingerprint),
  })
  return outgoing.on('timeout', () => outgoing.destroy(new Error('the node of the sandbox is silent')))
}

function passed(headers: IncomingHttpHeaders): Record<string, string | string[]> {
  const kept: Record<string, string | string[]> = {}
  for (const [name, value] of Object.entries(headers))
    if (value !== undefined && !ofConnection.has(name)) kept[name] = value
  return kept
}

/** Connections to the node of the sandbox; those to the one before end by themselves. */
class NodeAgents {
  #known: { fingerprint: string; agent: Agent } | null = null

  to(fingerprint: string): Agent {
    if (this.#known?.fingerprint !== fingerprint) {
      this.#known?.agent.destroy()
      this.#known = { fingerprint, agent: new PinnedAgent(fingerprint) }
    }
    return this.#known.agent
  }

  close(): void {
    this.#known?.agent.destroy()
  }
}

const agentOf = onePerApp(() => new NodeAgents())

export function closeForwarding(app: App): void {
  agentOf.made(app)?.close()
}

/** Agent that speaks only to the owner of one certificate, whoever signed it. */
class PinnedAgent extends Agent {
  readonly #fingerprint: string

  constructor(fingerprint: string) {
    super({ keepAlive: true, maxSockets })
    this.#fingerprint = fingerprint
  }

  override createConnection(
    { host, port }: RequestOptions,
    made?: (error: Error | null, socket: TLSSocket) => void,
  ): undefined {
    // The fingerprint takes the place of a chain of authorities, which the certificate of a node need not have.
    const socket = connect({ host: host ?? undefined, port: Number(port), rejectUnauthorized: false })
    const fail = (error: Error) => made?.(error, socket)
    socket.once('error', fail)
    socket.once('secureConnect', () => {
      socket.off('error', fail)
      if (socket.getPeerCertificate().fingerprint256 === this.#fingerprint) return made?.(null, socket)
      const error = new Error('the node of the sandbox has another certificate than it told')
      socket.destroy()
      made?.(asError(error), socket)
    })
    return undefined
  }
}
