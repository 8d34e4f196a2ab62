// SPDX-License-Identifier: Apache-2.0
// The HTTPS server of the sandbox at which domains publish their MTA-STS policies (RFC 8461). Every `mta-sts.<domain>` leads
// to it, and it has a certificate for each that is asked for.
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { createServer, type Server } from 'node:https'
import { createSecureContext, type SecureContext, TLSSocket } from 'node:tls'

const maxPolicies = 1_000
const maxCertificates = 1_000
const path = '/.well-known/mta-sts.txt'

export interface Identity {
  readonly key: string
  readonly cert: string
}

/** Answer of a policy host: usually 200, text/plain and the policy. */
interface PolicyAnswer {
  readonly body: string
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  /** Name that the certificate is for, instead of that of the policy host. */
  readonly certificateFor?: string
}

export class PolicyHost {
  readonly #server: Server
  readonly #identityOf: (name: string) => Identity
  readonly #usual: (domain: string) => string | null
  readonly #answers = new Map<string, PolicyAnswer>()
  readonly #contexts = new Map<string, SecureContext>()
  /** Requests so far, by domain. */
  readonly asked = new Map<string, number>()

  private constructor(identityOf: (name: string) => Identity, usual: (domain: string) => string | null) {
    this.#identityOf = identityOf
    this.#usual = usual
    this.#server = createServer({
      ...identityOf('policies.sandbox.pamoja.test'),
      SNICallback: (name, found) => found(null, this.#contextOf(name)),
    })
    this.#server.on('tlsClientError', () => undefined)
    this.#server.on('request', ({ url, socket }, response) => {
      const name = socket instanceof TLSSocket && typeof socket.servername === 'string' ? socket.servername : ''
      this.#answer(domainOf(name), url ?? '', response)
    })
  }

  static async start(
    host: string,
    identityOf: (name: string) => Identity,
    usual: (domain: string) => string | null,
  ): Promise<PolicyHost> {
    const policies = new PolicyHost(identityOf, usual)
    policies.#server.listen(0, host)
    await once(policies.#server, 'listening')
    return policies
  }

  get port(): number {
    const address = this.#server.address()
    return typeof address === 'object' && address !== null ? address.port : 0
  }

  /** Publishes what a domain answers; null takes it away. */
  publish(domain: string, answer: PolicyAnswer | null): void {
    const [oldest] = this.#answers.size >= maxPolicies ? this.#answers.keys() : []
    if (oldest !== undefined) this.#answers.delete(oldest)
    this.#contexts.delete(`mta-sts.${domain}`)
    if (answer) this.#answers.set(domain, answer)
    else this.#answers.delete(domain)
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  #contextOf(name: string): SecureContext {
    let context = this.#contexts.get(name)
    if (!context) {
      if (this.#contexts.size >= maxCertificates) this.#contexts.clear()
      context = createSecureContext(this.#identityOf(this.#answers.get(domainOf(name))?.certificateFor ?? name))
      this.#contexts.set(name, context)
    }
    return context
  }

  #answer(domain: string, url: string, response: ServerResponse): void {
    if (this.asked.size >= maxPolicies) this.asked.clear()
    this.asked.set(domain, (this.asked.get(domain) ?? 0) + 1)
    const usual = this.#usual(domain)
    const answer = this.#answers.get(domain) ?? (usual === null ? null : { body: usual })
    if (answer === null || url !== path) return void response.writeHead(404).end()
    // Connections end with their answer, so that the next request meets the certificate of the day.
    const headers = { 'content-type': 'text/plain', connection: 'close', ...answer.headers }
    response.writeHead(answer.status ?? 200, headers).end(answer.body)
  }
}

function domainOf(host: string): string {
  return host.replace(/^mta-sts\./, '')
}
