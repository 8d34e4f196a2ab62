// SPDX-License-Identifier: Apache-2.0
// A message that came without an HTTP request, and so without an Idempotency-Key.
import type { Keyed } from '../../../platform/http/idempotency.ts'

export const noKey: Keyed = {
  request: null,
  row: () => null,
  settle: () => undefined,
}
