// SPDX-License-Identifier: Apache-2.0
// Access by OAuth tokens: requests pass with a token that was issued here and has not expired.
import { randomBytes } from 'node:crypto'

const maxTokens = 10_000

export class OauthDoor {
  readonly #now: () => number
  /** Token -> when it is over. */
  readonly #tokens = new Map<string, number>()

  constructor(now: () => number) {
    this.#now = now
  }

  newToken(seconds: number): string {
    for (const [token, untilMs] of this.#tokens)
      if (untilMs <= this.#now() || this.#tokens.size >= maxTokens) this.#tokens.delete(token)
    const token = randomBytes(21).toString('base64url')
    this.#tokens.set(token, this.#now() + seconds * 1_000)
    return token
  }

  admits(authorization: string | undefined): boolean {
    const untilMs = this.#tokens.get(authorization?.replace(/^Bearer /, '') ?? '') ?? 0
    return untilMs > this.#now()
  }
}

/** Basic authentication header of a user and a password. */
export function basicHeader(user: string, password: string): string {
  return `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`
}
