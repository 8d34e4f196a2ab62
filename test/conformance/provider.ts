// SPDX-License-Identifier: Apache-2.0
// What the conformance of carriers is measured on, over real sockets: the simulators, and a provider that says whatever it
// was told to. All of it ends after the last test of the file.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { after } from 'node:test'
import type { Surroundings } from '../../src/areas/payments/providers/kind.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { simulatePayments } from '../../src/simulation/payments.ts'
import { carrierSurroundings } from '../carrier-surroundings.ts'

export type Settings = Readonly<Record<string, string>>
export type Answer = readonly [status: number, body?: object | string]

/** Answers that no provider of mobile money gives when it is well: nobody knows what they mean. */
export const strange: readonly Answer[] = [[502, '<html>'], [200, '[]'], [200, '{"status":'], [500]]

/** Stops of what the file that runs has begun: files may follow each other in one process. */
const stops: (() => unknown)[] = []
let surroundings: Surroundings | null = null

/** Gives, by provider, what an operator would enter for an account with its simulator. */
export async function startSimulators(): Promise<Readonly<Record<string, Settings>>> {
  surroundings = carrierSurroundings(stops)
  after(async () => {
    surroundings = null
    for (const stop of stops.splice(0).reverse()) await stop()
  })
  const { gives, stop } = await simulatePayments({
    sharedHost: '127.0.0.1',
    clock: systemClock,
    timeScale: 0.01,
    ca: undefined,
    ready: Promise.resolve(),
    journalOf: () => null,
    onProblem: () => undefined,
  })
  stops.push(stop)
  return gives
}

/** A carrier of some kind, by what an operator entered. */
export function connectTo<C extends { stop(): Promise<void> }>(
  kind: { connect(settings: Settings, surroundings: Surroundings): C },
  settings: Settings,
  patienceMs?: number,
): C {
  if (!surroundings) throw new Error('the simulators were not started')
  const carrier = kind.connect(settings, { ...surroundings, ...(patienceMs === undefined ? {} : { patienceMs }) })
  stops.push(() => carrier.stop())
  return carrier
}

export interface ScriptedProvider {
  baseUrl: string
  /** Number of times that it was asked for a token, and for something else. */
  asked: { tokens: number; requests: number }
  /** The idempotency key of each request. */
  keys: string[]
  close(): void
}

/** Gives tokens, and then these answers, one after the other; then it cuts the connection. */
export async function startScripted(answers: readonly (Answer | 'silence')[]): Promise<ScriptedProvider> {
  const left = [...answers]
  const asked = { tokens: 0, requests: 0 }
  const keys: string[] = []
  const server = createServer((request, response) => {
    request.resume()
    if (/oauth|token|getSession/.test(request.url ?? '')) {
      asked.tokens++
      return void response.end('{"access_token":"t","token":"Bearer t","output_SessionID":"t"}')
    }
    asked.requests++
    keys.push(String(request.headers['idempotency-key']))
    const answer = left.shift()
    if (!answer) return void response.destroy()
    if (answer === 'silence') return
    const [status, body] = answer
    const text = typeof body === 'object' ? JSON.stringify(body) : body
    response.writeHead(status, { 'content-type': 'application/json' }).end(text)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const close = (): void => {
    server.closeAllConnections()
    server.close()
  }
  stops.push(close)
  const address = server.address()
  const port = typeof address === 'object' && address ? address.port : 0
  return { baseUrl: `http://127.0.0.1:${port}`, asked, keys, close }
}

/** A verdict has what is expected of it; what it says beside that is its own. */
export function matches(verdict: { kind: string }, expected: object, answer: unknown): void {
  const shown = Object.fromEntries(Object.entries(verdict).filter(([name]) => Object.hasOwn(expected, name)))
  assert.deepEqual(shown, expected, `${JSON.stringify(answer)} was ${verdict.kind}`)
}
