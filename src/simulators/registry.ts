// SPDX-License-Identifier: Apache-2.0
// A registry of an issuing country on a real port. The end of the number that is asked for chooses its answer.
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { membersOf, textOf } from '../protocols/json.ts'
import { keepAliveMs, say } from './provider-server.ts'

const maxBodyBytes = 16 * 1024

export interface RegistryOptions {
  readonly host: string
  readonly token: string
  now(): number
}

/** Fields that are compared, and how they come out, by the end of the number. */
const names: Readonly<Record<string, 'partial' | 'none'>> = { '0001': 'none', '0007': 'partial' }

export class RegistrySimulator {
  readonly #options: RegistryOptions
  readonly #server: Server
  /** Down for everybody, as a test wants it. */
  isDown = false

  private constructor(options: RegistryOptions) {
    this.#options = options
    this.#server = createServer({ keepAliveTimeout: keepAliveMs }, (request, response) => {
      this.#answer(request, response).catch(() => response.destroy())
    })
  }

  static async start(options: RegistryOptions): Promise<RegistrySimulator> {
    const simulator = new RegistrySimulator(options)
    simulator.#server.listen(0, options.host)
    await once(simulator.#server, 'listening')
    return simulator
  }

  get url(): string {
    const address = this.#server.address()
    const port = typeof address === 'object' && address !== null ? address.port : 0
    return `http://${this.#options.host}:${port}`
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const text = await textFrom(request)
    if (request.headers.authorization !== `Bearer ${this.#options.token}`) return say(response, 401)
    if (request.method !== 'POST' || request.url !== '/lookup') return say(response, 404)
    const asked = membersOf(parsed(text))
    const number = textOf(asked.id_number)
    if (number === '') return say(response, 422)
    const ending = number.slice(-4)
    if (this.isDown || ending === '0003') return say(response, 503)
    const source = { source: 'simulated', retrieved_at: new Date(this.#options.now()).toISOString() }
    if (ending === '0000') return say(response, 200, { found: false, ...source })
    const fields = ['first_name', 'last_name', 'date_of_birth'].filter((field) => textOf(asked[field]) !== '')
    const match = Object.fromEntries(fields.map((field) => [field, 'exact']))
    const name = names[ending]
    say(response, 200, { found: true, match: name ? { ...match, last_name: name } : match, photo: null, ...source })
  }
}

async function textFrom(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = []
  let size = 0
  for await (const part of request) {
    const bytes = Buffer.from(part)
    size += bytes.length
    if (size > maxBodyBytes) throw new Error('the request is too long')
    parts.push(bytes)
  }
  return Buffer.concat(parts).toString('utf8')
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
