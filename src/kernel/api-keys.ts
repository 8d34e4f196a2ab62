// SPDX-License-Identifier: Apache-2.0
// API keys inside other texts: one that was pasted into a wrong field is masked before it reaches a log.

/** A text, or JSON, in which only the beginning of each key is left. */
export function withoutApiKeys(text: string): string {
  return text.includes('pmj_') ? text.replace(/pmj_(test|live|operator)_\w*/g, 'pmj_$1_[redacted]') : text
}
