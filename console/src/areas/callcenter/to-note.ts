// SPDX-License-Identifier: Apache-2.0
// Calls of which an agent has not noted the outcome, kept in this tab: a page that is loaded anew still has them.

export interface ToNote {
  readonly call_id: string
  readonly who: string
}

/** Further ones are the oldest, and are left without an outcome. */
const maxKept = 20
const nameOf = (agent_id: string): string => `pamoja-to-note ${agent_id}`

export function keptToNote(agent_id: string): readonly ToNote[] {
  try {
    const found: unknown = JSON.parse(sessionStorage.getItem(nameOf(agent_id)) ?? '[]')
    return Array.isArray(found)
      ? found.map((one) => ({ call_id: String(Object(one).call_id), who: String(Object(one).who) }))
      : []
  } catch {
    return []
  }
}

export function keepToNote(agent_id: string, calls: readonly ToNote[]): readonly ToNote[] {
  const own = calls
    .filter((one, i) => calls.findIndex(({ call_id }) => call_id === one.call_id) === i)
    .slice(0, maxKept)
  sessionStorage.setItem(nameOf(agent_id), JSON.stringify(own))
  return own
}
