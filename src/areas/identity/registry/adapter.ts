// SPDX-License-Identifier: Apache-2.0
// The port to registries of issuing countries. Every registry speaks one small protocol over HTTP: POST {url}/lookup with a
// bearer token. Operators put a program of theirs before a registry that speaks another one.
import { type Static, Type } from 'typebox'
import Value from 'typebox/value'
import type { App } from '../../../platform/app.ts'
import type { Breaker } from '../../../platform/connections/breaker.ts'
import { onePerApp } from '../../../platform/one-per-app.ts'
import { ProviderClient } from '../../../platform/outbound/provider-http.ts'
import { registryBreaker } from './breaker.ts'

interface RegistryQuery {
  readonly country: string
  readonly id_type: string
  readonly id_number: string
  readonly first_name: string | null
  readonly last_name: string | null
  readonly date_of_birth: string | null
}

/** A registry as it is asked. */
export interface Registry {
  readonly id: string
  readonly name: string
  readonly url: string
  readonly token: string
  /** A simulator is down for some numbers and not for others, so that its failures say nothing of the next one. */
  readonly isSimulated: boolean
}

export type RegistryVerdict = 'match' | 'mismatch' | 'not_found' | 'review' | 'down'

interface RegistryAnswer {
  readonly verdict: RegistryVerdict
  /** JPEG or PNG in base64: compared, never stored. */
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

  /** A registry that fails again and again is not asked for a while, and counts as down. */
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

/** One field that differs is a mismatch; one that differs a little is for a person to look at. */
function verdictOf({ found, match = {} }: Static<typeof Answer>): RegistryVerdict {
  if (!found) return 'not_found'
  const fields = Object.values(match)
  if (fields.includes('none')) return 'mismatch'
  return fields.includes('partial') ? 'review' : 'match'
}
