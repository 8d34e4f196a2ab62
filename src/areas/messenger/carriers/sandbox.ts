// SPDX-License-Identifier: Apache-2.0
// The simulated messenger provider as this area knows it: an account with it, and what its users may be made to do.
import { Simulator } from '../../../platform/simulators.ts'

interface SimulatedMessenger {
  readonly url: string
  readonly token: string
  readonly appSecret: string
  readonly verifyToken: string
  businessOf(phoneNumberId: string): string
  /** Has a user write; fulfilled when it was taken. Gives the provider's id of the message. */
  write(businessId: string, message: SimulatedMessage): Promise<string | null>
  /** Media that a user sends, whose bytes are at a URL. Gives the provider's id of it. */
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
