// SPDX-License-Identifier: Apache-2.0
// Passwords of one call or registration: answers the challenges of the other side, again where a nonce grew old, and never
// repeats a password that was refused.
import { authorise, type Challenge, type Credentials, readChallenge } from './digest.ts'
import type { SipResponse } from './message.ts'

const maxChallenges = 6

export class Authoriser {
  readonly #credentials: Credentials | null
  #held: { name: string; challenge: Challenge; uses: number } | null = null
  /** Whether the held challenge was answered, and nothing but another challenge came back yet. */
  #isUnproven = false
  #challenges = 0

  constructor(credentials: Credentials | null) {
    this.#credentials = credentials
  }

  /** Takes a final response; true when its request is to be repeated with credentials. */
  isChallengedBy({ status, headers }: SipResponse): boolean {
    if (status !== 401 && status !== 407) {
      this.#isUnproven = false
      return false
    }
    const isProxy = status === 407
    const challenge = readChallenge(headers.all(isProxy ? 'proxy-authenticate' : 'www-authenticate'))
    if (!this.#credentials || !challenge || ++this.#challenges > maxChallenges) return false
    const name = isProxy ? 'proxy-authorization' : 'authorization'
    if (this.#isUnproven && !challenge.stale && this.#held?.name === name) return false
    this.#held = { name, challenge, uses: 0 }
    this.#isUnproven = true
    return true
  }

  /** Header for a request; null while nobody asked for a password. */
  headerFor(method: string, uri: string): readonly [string, string] | null {
    if (!this.#held || !this.#credentials) return null
    const { name, challenge } = this.#held
    return [name, authorise(challenge, this.#credentials, method, uri, ++this.#held.uses)]
  }
}
