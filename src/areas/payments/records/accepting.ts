// SPDX-License-Identifier: Apache-2.0
// Parts that all routes share which ask for a payment: those of payments, top-ups and invoices, and in part those of payouts.
import { Type } from 'typebox'

export const WaitQuery = Type.Object({
  wait: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 8,
      rule: 'must be 0 to 8 seconds',
      description: 'Seconds to wait for the provider’s first response; 0 replies before the provider is asked',
    }),
  ),
})

/** Limit, query and errors of every route that asks for a payment. */
export const accepting = {
  limit: 'payments',
  bodyLimitBytes: 16 * 1_024,
  query: WaitQuery,
  errors: [
    'VALIDATION_ERROR',
    'INVALID_PHONE',
    'INVALID_CARD',
    'INVALID_URL',
    'UNSUPPORTED_CURRENCY',
    'UNSUPPORTED_METHOD',
    'UNSUPPORTED_PROVIDER',
    'AMOUNT_TOO_LOW',
    'AMOUNT_TOO_HIGH',
    'DUPLICATE_REFERENCE',
    'PAYLOAD_TOO_LARGE',
    'INSUFFICIENT_FUNDS',
    'CARD_DECLINED',
    'CARD_EXPIRED',
    'INCORRECT_CVV',
    'AUTHENTICATION_FAILED',
    'DEBIT_REFUSED',
    'PROVIDER_UNAVAILABLE',
  ],
} as const
