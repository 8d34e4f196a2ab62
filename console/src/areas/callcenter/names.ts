// SPDX-License-Identifier: Apache-2.0
// Names of queues, agents, voice menus, business hours and rules by their ids, read once for a page, for what is chosen among and for what is shown.
import { useEffect } from 'preact/hooks'
import {
  callcenterListAgents,
  callcenterListBusinessHours,
  callcenterListIvrs,
  callcenterListQueues,
  callcenterListRules,
} from '#sdk/operations.ts'
import { api, currentEnvironment } from '../../api.ts'
import { store } from '../../store.ts'

export interface Names {
  readonly queues: Readonly<Record<string, string>>
  readonly agents: Readonly<Record<string, string>>
  readonly menus: Readonly<Record<string, string>>
  readonly hours: Readonly<Record<string, string>>
  readonly rules: Readonly<Record<string, string>>
  /** Percent of callers that queues promise to answer in time. */
  readonly targets: Readonly<Record<string, number | undefined>>
}

const none: Names = { queues: {}, agents: {}, menus: {}, hours: {}, rules: {}, targets: {} }
const known = store<Names>(none)
/** Rows of a page, and pages that are read of a kind: what is further is shown by its id. */
const limit = 200
const maxPages = 10
const freshMs = 5_000
let read: { readonly environment: string; readonly atMs: number } | null = null

async function load(): Promise<void> {
  const [queues, agents, menus, hours, rules] = await Promise.all([
    all((query) => callcenterListQueues(api, { query })),
    allAgents(),
    all((query) => callcenterListIvrs(api, { query })),
    all((query) => callcenterListBusinessHours(api, { query })),
    all((query) => callcenterListRules(api, { query })),
  ])
  known.set({
    queues: Object.fromEntries(queues.map(({ queue_id, name }) => [queue_id, name])),
    agents: Object.fromEntries(agents.map(({ agent_id, name }) => [agent_id, name ?? agent_id])),
    menus: Object.fromEntries(menus.map(({ ivr_id, name }) => [ivr_id, name])),
    hours: Object.fromEntries(hours.map(({ business_hours_id, name }) => [business_hours_id, name])),
    rules: Object.fromEntries(rules.map(({ rule_id, name }) => [rule_id, name])),
    targets: Object.fromEntries(queues.map(({ queue_id, sla }) => [queue_id, sla?.target_percent])),
  })
}

interface Page<Row> {
  readonly data: readonly Row[]
  readonly next_cursor: string | null
}

/** Rows of a list, page after page. */
async function all<Row>(ask: (query: { limit: number; cursor?: string }) => Promise<Page<Row>>): Promise<Row[]> {
  const rows: Row[] = []
  let cursor: string | null = null
  for (let page = 0; page < maxPages; page++) {
    const told: Page<Row> = await ask({ limit, ...(cursor === null ? {} : { cursor }) })
    rows.push(...told.data)
    cursor = told.next_cursor
    if (cursor === null) break
  }
  return rows
}

export const allAgents = () => all((query) => callcenterListAgents(api, { query }))

export function useNames(): Names {
  useEffect(() => {
    const environment = currentEnvironment()
    if (read?.environment === environment && performance.now() - read.atMs < freshMs) return
    if (read?.environment !== environment) known.set(none)
    read = { environment, atMs: performance.now() }
    load().catch(() => {
      read = null
    })
  }, [])
  return known.use()
}
