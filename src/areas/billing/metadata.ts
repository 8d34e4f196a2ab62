// SPDX-License-Identifier: Apache-2.0
// Notes of the account on plans, subscriptions and invoices, as they are stored.
import { AppError } from '../../kernel/errors.ts'

const maxMetadataBytes = 16 * 1_024

/** As JSON; refuses more than may be kept. */
export function metadataText(metadata: Readonly<Record<string, unknown>> = {}): string {
  const text = JSON.stringify(metadata)
  if (Buffer.byteLength(text) > maxMetadataBytes)
    throw new AppError('VALIDATION_ERROR', `metadata: must have at most ${maxMetadataBytes} bytes as JSON`)
  return text
}
