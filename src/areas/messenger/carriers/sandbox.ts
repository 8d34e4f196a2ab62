// SPDX-License-Identifier: Apache-2.0
// Simulated messenger provider: an account with it, and commands for its users.
import { areTexts, Simulator } from '../../../platform/program/simulators.ts'

/** Account with the provider. */
interface SimulatedAccount {
  readonly url: string
  readonly token: string
  readonly appSecret: string
  readonly verifyToken: string
}

interface SimulatedMessenger extends SimulatedAccount {
  /** Keys and number of a client that is not the platform, by any name. */
  own(name: string): {
    readonly token: string
    readonly appSecret: string
    readonly phoneNumberId: string
    readonly businessId: string
  }
  /** Writes as a user; resolves when our webhook accepted it, with the provider's message id. */
  write(businessId: string, message: SimulatedMessage): Promise<string | null>
  /** Registers a user's media at a URL; returns the provider's media id. */
  hold(media: { type: string; bytes: number; sha256: string; url: string }): string
}

interface SimulatedMessage {
  readonly phoneNumberId: string
  readonly displayNumber: string
  readonly from: string
  readonly name: string
  readonly type: string
  readonly content: object
  readonly context: string | null
}

export const simulatedMessenger = new Simulator<SimulatedMessenger, SimulatedAccount>('messenger', {
  of: ({ url, token, appSecret, verifyToken }) => ({ url, token, appSecret, verifyToken }),
  is: (value): value is SimulatedAccount =>
    areTexts(value) && 'url' in value && 'token' in value && 'appSecret' in value && 'verifyToken' in value,
})
