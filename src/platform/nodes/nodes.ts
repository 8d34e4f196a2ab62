// SPDX-License-Identifier: Apache-2.0
// Registry of running nodes, for operators and for cleaning up after dead ones; correctness does not depend on it.
import { hostname } from 'node:os'
import type { App } from '../app.ts'
import { type Queryable, statement } from '../db.ts'

const beatMs = 5_000

export interface NodeRow {
  id: string
  host: string
  version: string
  roles: string[]
  started_at: Date
  seen_at: Date
}

const beat = statement.home<{ id: string; host: string; version: string; roles: string[] }, object>(
  'platform.beat',
  `insert into platform.nodes (id, host, version, roles) values ($id, $host, $version, $roles)
   on conflict (id) do update set seen_at = now()`,
)

const leave = statement.home<{ id: string }, object>('platform.leave', 'delete from platform.nodes where id = $id')

const live = statement.home<Record<never, never>, NodeRow>(
  'platform.live_nodes',
  `select id, host, version, roles, started_at, seen_at from platform.nodes
    where seen_at > now() - interval '30 seconds' order by started_at`,
)

const forgetDead = statement.home<Record<never, never>, object>(
  'platform.forget_dead_nodes',
  `delete from platform.nodes where seen_at < now() - interval '1 day'`,
)

/** Registers this process and send heartbeats. Returns the stop function. */
export async function joinNodes(app: App): Promise<() => Promise<void>> {
  const row = { id: app.nodeId, host: hostname(), version: app.version, roles: [...app.config.PAMOJA_ROLES] }
  await app.db.query(beat, row)
  const timer = setInterval(() => {
    app.db
      .query(beat, row)
      .catch((error) =>
        app.log.warn(
          { error },
          'heartbeat of this node not stored: other nodes take over its jobs if this goes on; check the database',
        ),
      )
  }, beatMs)
  timer.unref()
  return async () => {
    clearInterval(timer)
    await app.db.query(leave, { id: app.nodeId })
  }
}

export async function liveNodes(queryable: Queryable): Promise<NodeRow[]> {
  return queryable.query(live, {})
}

export async function forgetDeadNodes(queryable: Queryable): Promise<void> {
  await queryable.query(forgetDead, {})
}
