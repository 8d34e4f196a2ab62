// SPDX-License-Identifier: Apache-2.0
// Refusal of live requests that have no price: the built-in sandbox prices are never charged to live wallets.
import { AppError } from '../kernel/errors.ts'

/** `what`: in the plural, such as `sessions with this number`. */
export function noPrice(what: string, currency: string): AppError {
  return new AppError(
    'DESTINATION_NOT_ALLOWED',
    `${what} have no price in ${currency} yet; the operator sets it under /v1/operator/prices`,
  )
}
