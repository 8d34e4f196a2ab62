// SPDX-License-Identifier: Apache-2.0
// The installation at a glance: versions, the schema, nodes, queues, the ledger.
import { Type } from 'typebox'
import { idOf } from '../../kernel/ids.ts'
import { lastCheck } from '../../ledger/proof.ts'
import { type Route, read } from '../../platform/api/route.ts'
import { appliedMigrations } from '../../platform/db/migrate.ts'
import { liveNodes } from '../../platform/nodes/nodes.ts'
import { At, Nullable } from '../../platform/schema/fields.ts'
import { queues } from '../../platform/work/queues.ts'

const System = Type.Object(
  {
    version: Type.String({ description: 'Version of the node that replies' }),
    migrations: Type.Object(
      {
        applied: Type.Integer({ description: 'Migrations that the database has' }),
        latest: Type.String({ description: 'Newest migration' }),
        latest_at: At({ description: 'Time at which the newest migration was applied' }),
      },
      { description: 'Migrations of the database' },
    ),
    nodes: Type.Array(
      Type.Object({
        id: Type.String({ description: 'Id of the node, such as `node_…`' }),
        host: Type.String({ description: 'Host name of the machine' }),
        version: Type.String({ description: 'Version of the node' }),
        roles: Type.Array(Type.String(), { description: 'Roles of the node, such as `api` or `dispatch`' }),
        started_at: At({ description: 'Time of its start' }),
        seen_at: At({ description: 'Time of its last heartbeat' }),
      }),
      { description: 'Nodes that are alive' },
    ),
    queues: Type.Array(
      Type.Object({
        lane: Type.String({ description: 'Kind of job' }),
        due: Type.Integer({ description: 'Jobs ready to run' }),
        running: Type.Integer({ description: 'Jobs leased to a node' }),
        scheduled: Type.Integer({ description: 'Jobs scheduled for later' }),
        failed: Type.Integer({ description: 'Jobs that used up their attempts and need attention' }),
        oldest_seconds: Type.Number({ description: 'Seconds that the oldest due job has waited' }),
      }),
      { description: 'Jobs by lane' },
    ),
    ledger: Type.Object(
      {
        checked_at: Nullable(
          At({ description: 'Time at which every balance was last recomputed; null before the first time' }),
        ),
        problems: Type.Integer({ description: 'Differences found in the ledger, at most 100; must be 0' }),
      },
      { description: 'Hourly check of the ledger' },
    ),
  },
  { title: 'System' },
)

const getSystem = read({
  method: 'GET',
  path: '/v1/operator/system',
  operation: 'operator.system',
  summary: 'Get the state of this installation',
  scope: 'operator',
  reply: { status: 200, schema: System },
  examples: [{ name: 'At a glance' }],
  handle: async ({ db, version }) => {
    const [migrations, nodes, lanes, ledger] = await Promise.all([
      appliedMigrations(db),
      liveNodes(db),
      queues(db),
      lastCheck(db),
    ])
    const known = nodes.map(({ id, ...node }) => ({ id: idOf('node', id), ...node }))
    return { version, migrations, nodes: known, queues: lanes, ledger }
  },
})

export const systemRoutes: readonly Route[] = [getSystem]
