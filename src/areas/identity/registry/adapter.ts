// SPDX-License-Identifier: Apache-2.0
// Adapter to issuing countries' registries, over one small HTTP protocol: POST {url}/lookup with a bearer token.
// Operators put a proxy before a registry with another protocol.
import { type Static, Type } from 'typebox'
import Value from 'typebox/value'
import type { App } from '../../../platform/app.ts'
import type { Breaker } from '../../../platform/connections/breaker.ts'
import { ProviderClient } from '../../../platform/outbound/provider-http.ts'
import { onePerApp } from '../../../platform/program/one-per-app.ts'
import { registryBreaker } from './breaker.ts'

interface RegistryQuery {
  readonly country: string
  readonly id_type: string
  readonly id_number: string
  readonly first_name: string | null
  readonly last_name: string | null
  readonly date_of_birth: string | null
}

/** Connection to a registry. */
export interface Registry {
  readonly id: string
  readonly name: string
  readonly url: string
  readonly token: string
  /** A simulator fails by number, so its failures do not count for the circuit breaker. */
  readonly isSimulated: boolean
}

export type RegistryVerdict = 'match' | 'mismatch' | 'not_found' | 'review' | 'down'

interface RegistryAnswer {
  readonly verdict: RegistryVerdict
  /** JPEG or PNG in base64; compared, never stored. */
  readonly photo: string | null
}

const timeoutMs = 10_000

const Match = Type.Union([Type.Literal('exact'), Type.Literal('partial'), Type.Literal('none')])
const Answer = Type.Object({
  found: Type.Boolean(),
  match: Type.Optional(Type.Record(Type.String(), Match)),
  photo: Type.Optional(Type.Union([Type.String({ maxLength: 240_000 }), Type.Null()])),
})

export const registryClientOf = onePerApp((app) => new RegistryClient(app))

class RegistryClient {
  readonly #app: App
  readonly #http: ProviderClient
  readonly #breakers = new Map<string, Breaker>()

  constructor(app: App) {
    this.#app = app
    this.#http = new ProviderClient(app.carrierOutbound)
  }

  /** Looks up a person. A registry with an open circuit breaker is not asked and counts as down. */
  async lookup(registry: Registry, query: RegistryQuery): Promise<RegistryAnswer> {
    const breaker = this.#breakerOf(registry.id)
    const isOpen = registry.isSimulated || breaker.admits(this.#app.clock.nowMs())
    const answer = isOpen ? await this.#ask(registry, query) : null
    if (isOpen) breaker.record(answer !== null, this.#app.clock.nowMs())
    return answer === null
      ? { verdict: 'down', photo: null }
      : { verdict: verdictOf(answer), photo: answer.photo ?? null }
  }

  async close(): Promise<void> {
    await this.#http.close()
  }

  async #ask({ url, token, name }: Registry, query: RegistryQuery): Promise<Static<typeof Answer> | null> {
    const body = Object.fromEntries(Object.entries(query).filter(([, value]) => value !== null))
    const headers = { authorization: `Bearer ${token}` }
    const said = await this.#http.ask({ method: 'POST', url: `${url}/lookup`, headers, body, timeoutMs })
    if (said.kind === 'answered' && said.status === 200 && Value.Check(Answer, said.body)) return said.body
    const problem = said.kind === 'answered' ? `status ${said.status}` : said.reason
    this.#app.log.warn(
      { registry: name, problem },
      'registry gave no usable answer: its check is left open; check the adapter’s settings and the registry’s status',
    )
    return null
  }

  #breakerOf(id: string): Breaker {
    const known = this.#breakers.get(id) ?? registryBreaker()
    this.#breakers.set(id, known)
    return known
  }
}

/** Verdict: a differing field is a mismatch; a slight difference needs a review. */
function verdictOf({ found, match = {} }: Static<typeof Answer>): RegistryVerdict {
  if (!found) return 'not_found'
  const fields = Object.values(match)
  if (fields.includes('none')) return 'mismatch'
  return fields.includes('partial') ? 'review' : 'match'
}
