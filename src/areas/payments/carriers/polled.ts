// SPDX-License-Identifier: Apache-2.0
// Carrier of mobile money that takes payments and is polled for their outcome: it pays nothing out and gives nothing back.
import type { ProviderClient } from '../../../platform/outbound/provider-http.ts'
import type { MobileFacts } from '../providers/facts.ts'
import type { Asked, Collection, MobileMoney, RefundCarrier, Taken, Verdict } from '../providers/provider.ts'
import { noRefunds } from './no-refunds.ts'

/** Time limit of an order, in which the provider may wait for the payer. */
export const orderMs = 30_000
export const queryMs = 10_000

export abstract class PolledCarrier implements MobileMoney {
  readonly method = 'mobile_money'
  readonly provider: string
  readonly knownByAttempt: boolean = true
  /** What the provider says to a repeated id is not certain, so nothing is sent again. */
  readonly repeatable = false
  readonly outgoing = null
  readonly refunds: RefundCarrier
  readonly thanks: object = {}
  readonly client: Pick<ProviderClient, 'ask' | 'close'>

  /** `whyNoRefunds` ends a sentence that begins with the provider's name. */
  constructor({ provider }: MobileFacts, client: PolledCarrier['client'], whyNoRefunds: string) {
    this.provider = provider
    this.client = client
    this.refunds = noRefunds(whyNoRefunds)
  }

  abstract collect(collection: Collection): Promise<Verdict>
  abstract query(taken: Taken): Promise<Verdict>

  readCallback(_body: unknown, _asked: Asked): ReturnType<MobileMoney['readCallback']> {
    return null
  }

  stop(): Promise<void> {
    return this.client.close()
  }
}
