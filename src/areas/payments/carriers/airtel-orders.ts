// SPDX-License-Identifier: Apache-2.0
// Orders of Airtel Money, the same for money that comes in and goes out: how a phone and a market are named, and what the
// provider's answers mean.
import { factsOf } from '../../../kernel/phone.ts'
import type { ProviderAnswer } from '../../../platform/outbound/provider-http.ts'
import { readAirtelPaymentAnswer, readAirtelResult } from '../../../protocols/airtel.ts'
import type { FailureReason, Market, OrderVerdict } from '../providers/provider.ts'
import { notTaken } from './not-taken.ts'

export type AirtelReasons = Readonly<Record<string, FailureReason>>

export function marketHeaders({ country, currency }: Market): Record<string, string> {
  return { 'x-country': country, 'x-currency': currency }
}

/** A number as the provider writes it: without its country. */
export function msisdnOf(phone: string): string {
  return phone.slice(1 + (factsOf(phone).callingCode ?? '').length)
}

/** Verdict on the answer to an order. */
export function orderVerdict(id: string, answer: ProviderAnswer, reasons: AirtelReasons): OrderVerdict {
  if (answer.kind === 'unsent') return { kind: 'unavailable', reason: answer.reason }
  if (answer.kind === 'unknown') return answer
  const heard = readAirtelPaymentAnswer(answer.status, answer.body)
  switch (heard.kind) {
    case 'accepted':
      return { kind: 'accepted', providerId: id }
    default:
      return notTaken(heard, answer.status, reasons)
  }
}

/** Verdict on the answer to a poll of an order. */
export function stateVerdict(answer: ProviderAnswer, reasons: AirtelReasons): OrderVerdict {
  if (answer.kind !== 'answered') return { kind: 'unknown', reason: answer.reason }
  const heard = readAirtelResult(answer.status, answer.body)
  switch (heard.kind) {
    case 'pending':
    case 'missing':
      return { kind: heard.kind }
    case 'paid':
      return { kind: 'paid', receipt: heard.receipt, micros: null }
    case 'failed':
      return { kind: 'refused', reason: reasons[heard.code] ?? 'PROVIDER_ERROR', code: heard.code }
    default:
      return { kind: 'unknown', reason: `an answer with status ${answer.status}` }
  }
}
