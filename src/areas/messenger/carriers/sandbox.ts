// SPDX-License-Identifier: Apache-2.0
// Simulated messenger provider: an account with it, and commands for its users.
import { Simulator } from '../../../platform/program/simulators.ts'

interface SimulatedMessenger {
  readonly url: string
  readonly token: string
  readonly appSecret: string
  readonly verifyToken: string
  businessOf(phoneNumberId: string): string
  /** Write as a user; resolves when our webhook accepted it, with the provider's message id. */
  write(businessId: string, message: SimulatedMessage): Promise<string | null>
  /** Register a user's media at a URL; returns the provider's media id. */
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

export const simulatedMessenger = new Simulator<SimulatedMessenger>('messenger')
