// SPDX-License-Identifier: Apache-2.0
// Airtel Money payouts: disbursements, with a PIN that is encrypted for the provider. The payout's own id names it, so
// that it can be polled even when the answer got lost. The provider's reply to a repeated id is not certain, so nothing
// is sent again; it has no callbacks, so it is polled.
import { formatMicros } from '../../../kernel/money.ts'
import { airtelDisbursementBody, airtelPayoutCodes } from '../../../protocols/airtel.ts'
import { encryptFor } from '../../../protocols/rsa.ts'
import type { Disbursement, Outgoing, OutgoingVerdict, Sent } from '../providers/provider.ts'
import { type AirtelReasons, marketHeaders, msisdnOf, orderVerdict, stateVerdict } from './airtel-orders.ts'
import type { BearerClient } from './bearer.ts'

export interface DisbursementSettings {
  base_url: string
  payout_pin: string
  payout_public_key: string
}

const requestMs = 30_000
const queryMs = 10_000
const path = '/standard/v1/disbursements/'

/** Failure reasons by the provider's codes. Any other code is a fault on its side. */
const reasons: AirtelReasons = {
  [airtelPayoutCodes.overLimit]: 'RECIPIENT_LIMIT_REACHED',
  [airtelPayoutCodes.badAmount]: 'RECIPIENT_LIMIT_REACHED',
  [airtelPayoutCodes.notEnoughMoney]: 'PROVIDER_FLOAT_LOW',
  [airtelPayoutCodes.noRecipient]: 'RECIPIENT_NOT_FOUND',
}

export class AirtelOutgoing implements Outgoing {
  readonly repeatable = false
  readonly #settings: DisbursementSettings
  readonly #client: BearerClient

  constructor(settings: DisbursementSettings, client: BearerClient) {
    this.#settings = settings
    this.#client = client
  }

  async payOut({ id, micros, country, currency, phone, description, trace }: Disbursement): Promise<OutgoingVerdict> {
    const { base_url, payout_pin, payout_public_key } = this.#settings
    const body = airtelDisbursementBody({
      id,
      reference: description,
      msisdn: msisdnOf(phone),
      amount: formatMicros(micros),
      pin: encryptFor(payout_public_key, payout_pin),
    })
    const headers = marketHeaders({ country, currency })
    const url = `${base_url}${path}`
    const answer = await this.#client.ask({ method: 'POST', url, headers, body, timeoutMs: requestMs, trace })
    return orderVerdict(id, answer, reasons)
  }

  async queryPayout({ id, country, currency, trace }: Sent): Promise<OutgoingVerdict> {
    const url = `${this.#settings.base_url}${path}${id}`
    const headers = marketHeaders({ country, currency })
    const answer = await this.#client.ask({ method: 'GET', url, headers, timeoutMs: queryMs, trace })
    return stateVerdict(answer, reasons)
  }

  readPayout(): null {
    return null
  }
}
