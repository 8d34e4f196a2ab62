// SPDX-License-Identifier: Apache-2.0
// Test of a connection to a carrier or provider: its steps in their order, what each found on the wire, and what to do about the
// first that failed. The steps after that one are left out. Nothing is sent that costs money or reaches a phone.
import { isIP, connect as tcpConnect } from 'node:net'
import { type SecureContext, connect as tlsConnect } from 'node:tls'
import { type Static, type TSchema, Type } from 'typebox'
import { atMost } from '../concurrency/at-most.ts'
import { hostLookup } from '../outbound.ts'
import { Nullable, OneOf } from '../schema/fields.ts'
import { messageOf } from '../telemetry/log.ts'

const stepNames = ['name', 'connection', 'tls', 'sign_in', 'answer'] as const
type StepName = (typeof stepNames)[number]

/** What to do when a step fails. */
const remedies: Readonly<Record<StepName, string>> = {
  name: 'Check the host for typing errors, and the name servers of this machine.',
  connection: 'Check the port, and ask the provider whether it allows the address of this machine.',
  tls: 'Check that this port uses TLS, and the name and authority of its certificate.',
  sign_in: 'Check the user name and secrets with the provider; some are valid for one environment only.',
  answer: 'Contact the provider: sign-in succeeds, but the request is refused.',
}

const stepMs = 8_000

const Step = Type.Object({
  name: OneOf(stepNames, { description: 'Name of the step' }),
  status: OneOf(['passed', 'failed', 'skipped'], {
    description: '`skipped`: not tried, because one before it failed or this connection has no such step',
  }),
  detail: Type.String({ description: 'Result of the step' }),
  remedy: Nullable(Type.String({ description: 'Advice after a failure; null otherwise' })),
  duration_ms: Type.Integer({ description: 'Duration of the step in milliseconds' }),
})

export const ConnectionTest = Type.Object(
  {
    is_good: Type.Boolean({ description: 'True if no step failed' }),
    steps: Type.Array(Step, { description: 'Steps in the order in which they were tried' }),
  },
  { title: 'ConnectionTest' },
)

/** What every operation that tests a connection declares. */
export function testOf<P extends TSchema>(params: P) {
  return {
    method: 'POST',
    scope: 'operator',
    params,
    needs: 'nothing',
    description:
      'Resolves the name, connects, signs in and sends a harmless request with the stored settings, even if the connection is disabled. Nothing is charged, and nothing reaches a phone. `steps` has the results; the first failed one has advice.',
    reply: { status: 200, schema: ConnectionTest },
    errors: ['NOT_FOUND'],
  } as const
}

export class Probe {
  readonly #steps: Static<typeof Step>[] = []
  #hasFailed = false

  /** Tries a step: `work` gives what it found, and throws what is wrong. */
  async step(name: StepName, work: () => Promise<string>): Promise<void> {
    if (this.#hasFailed) return this.skip(name, '')
    const startedMs = performance.now()
    const late = new Error(`There was no answer within ${stepMs / 1_000} seconds`)
    const done = work().then(
      (detail) => ({ status: 'passed' as const, detail }),
      (error: unknown) => ({ status: 'failed' as const, detail: messageOf(error) }),
    )
    const { status, detail } = await atMost(stepMs, done, { status: 'failed' as const, detail: late.message })
    this.#hasFailed = status === 'failed'
    const remedy = status === 'failed' ? remedies[name] : null
    this.#steps.push({ name, status, detail, remedy, duration_ms: Math.round(performance.now() - startedMs) })
  }

  /** Leaves a step out, for this reason unless an earlier one failed. */
  skip(name: StepName, reason: string): void {
    const detail = this.#hasFailed ? 'An earlier step failed' : reason
    this.#steps.push({ name, status: 'skipped', detail, remedy: null, duration_ms: 0 })
  }

  /** Looks a host up. */
  name(host: string): Promise<void> {
    return this.step('name', async () => {
      if (isIP(host)) return `${host} is an address`
      const found = await hostLookup(host).catch((error: unknown) => {
        throw new Error(`${host} has no address: ${messageOf(error)}`)
      })
      return `${host} is ${found.map(({ address }) => address).join(', ')}`
    })
  }

  /** Connects over TCP and closes again. */
  connection(host: string, port: number): Promise<void> {
    return this.step('connection', async () => {
      const socket = tcpConnect({ host, port })
      try {
        await opened(socket, 'connect')
        return `${socket.remoteAddress ?? host} takes connections at port ${port}`
      } finally {
        socket.destroy()
      }
    })
  }

  /** Agree on TLS and close again. The certificate is for `name`. */
  tls(host: string, port: number, secureContext: SecureContext, name = host): Promise<void> {
    return this.step('tls', async () => {
      const socket = tlsConnect({ host, port, secureContext, ...(isIP(name) ? {} : { servername: name }) })
      try {
        await opened(socket, 'secureConnect')
        return `${socket.getProtocol() ?? 'TLS'}, with a certificate that is trusted`
      } finally {
        socket.destroy()
      }
    })
  }

  get result(): Static<typeof ConnectionTest> {
    return { is_good: !this.#hasFailed, steps: this.#steps }
  }
}

function opened(socket: ReturnType<typeof tcpConnect>, event: 'connect' | 'secureConnect'): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => socket.destroy(new Error('no response')), stepMs)
    const end = (error: Error | null): void => {
      clearTimeout(timer)
      if (error) reject(error)
      else resolve()
    }
    socket.once(event, () => end(null))
    socket.on('error', end)
    socket.once('close', () => end(new Error('the other side closed the connection')))
  })
}
