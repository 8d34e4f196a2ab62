// SPDX-License-Identifier: Apache-2.0
// The refusal of what a live key asks for and nobody has set a price for: a figure that lets the sandbox be tried is charged to
// nobody in earnest.
import { AppError } from '../kernel/errors.ts'

/** `what`: in the plural, such as `sessions with this number`. */
export function noPrice(what: string, currency: string): AppError {
  return new AppError(
    'DESTINATION_NOT_ALLOWED',
    `${what} have no price in ${currency} yet; the operator sets it under /v1/operator/prices`,
  )
}
