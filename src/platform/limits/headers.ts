// SPDX-License-Identifier: Apache-2.0
// Rate limit headers: the old names, and those of the IETF draft.
import type { Admission } from '../limits.ts'
import type { PolicyState } from './share.ts'

/** Headers of an admission. `nowMs` is the time of day. */
export function rateHeaders({ tightest, states }: Admission, nowMs: number): Record<string, string> {
  let policies = ''
  let left = ''
  for (const state of states) {
    const separator = policies === '' ? '' : ', '
    policies += separator + policyText(state)
    left += `${separator}"${state.name}";r=${state.remaining};t=${Math.ceil(state.resetMs / 1000)}`
  }
  return {
    'x-ratelimit-limit': String(tightest.limit),
    'x-ratelimit-remaining': String(tightest.remaining),
    'x-ratelimit-reset': String(Math.ceil((nowMs + tightest.resetMs) / 1000)),
    'ratelimit-policy': policies,
    ratelimit: left,
  }
}

/** Cached policy header item: there are few names, and few limits per name. */
function policyText({ name, limit, windowMs }: PolicyState): string {
  const known = policyTexts.get(name) ?? []
  if (known.length === 0) policyTexts.set(name, known)
  for (const item of known) if (item.limit === limit && item.windowMs === windowMs) return item.text
  if (known.length >= maxTextsPerName) known.length = 0
  const text = `"${name}";q=${limit};w=${Math.ceil(windowMs / 1000)}`
  known.push({ limit, windowMs, text })
  return text
}

const policyTexts = new Map<string, { limit: number; windowMs: number; text: string }[]>()
const maxTextsPerName = 32
