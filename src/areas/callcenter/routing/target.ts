// SPDX-License-Identifier: Apache-2.0
// Number assignment as routing reads it.
import type { DestinationOf } from '../schema.ts'

/** Destination of a number's target; null for the rules and for targets outside the call centre. */
export function assignmentOf(
  target: { readonly type: string; readonly [field: string]: unknown } | null,
): DestinationOf | null {
  if (target === null) return null
  const id = typeof target.id === 'string' ? target.id : ''
  switch (target.type) {
    case 'queue':
    case 'ivr':
    case 'agent':
      return { type: target.type, id }
    case 'application':
      return { type: 'application', answer_url: String(target.answer_url) }
    default:
      return null
  }
}
