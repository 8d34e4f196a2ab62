// SPDX-License-Identifier: Apache-2.0
// Placeholder for the Idempotency-Key of a message without an HTTP request.
import type { Keyed } from '../../../platform/api/idempotency.ts'

export const noKey: Keyed = {
  request: null,
  row: () => null,
  settle: () => undefined,
}
