// SPDX-License-Identifier: Apache-2.0
// The installation at a glance: versions, the schema, nodes, queues.
import { Type } from 'typebox'
import { idOf } from '../../kernel/ids.ts'
import { type Route, read } from '../../platform/api/route.ts'
import { appliedMigrations } from '../../platform/db/migrate.ts'
import { liveNodes } from '../../platform/nodes/nodes.ts'
import { At } from '../../platform/schema/fields.ts'
import { queues } from '../../platform/work/queues.ts'

const System = Type.Object(
  {
    version: Type.String(),
    migrations: Type.Object({
      applied: Type.Integer({ description: 'Migrations that the database has' }),
      latest: Type.String({ description: 'The newest of them' }),
      latest_at: At(),
    }),
    nodes: Type.Array(
      Type.Object({
        id: Type.String(),
        host: Type.String(),
        version: Type.String(),
        roles: Type.Array(Type.String()),
        started_at: At(),
        seen_at: At(),
      }),
    ),
    queues: Type.Array(
      Type.Object({
        lane: Type.String(),
        due: Type.Integer({ description: 'Jobs that could run now' }),
        running: Type.Integer({ description: 'Jobs leased to a node' }),
        scheduled: Type.Integer({ description: 'Jobs for later' }),
        failed: Type.Integer({ description: 'Jobs that used up their attempts and wait for a person' }),
        oldest_seconds: Type.Number({ description: 'How long the oldest due job has waited' }),
      }),
    ),
  },
  { title: 'System' },
)

const getSystem = read({
  method: 'GET',
  path: '/v1/operator/system',
  operation: 'operator.system',
  summary: 'See the version, schema, nodes and queues of this installation',
  scope: 'operator',
  reply: { status: 200, schema: System },
  examples: [{ name: 'At a glance' }],
  handle: async ({ db, version }) => {
    const [migrations, nodes, lanes] = await Promise.all([appliedMigrations(db), liveNodes(db), queues(db)])
    const known = nodes.map(({ id, ...node }) => ({ id: idOf('node', id), ...node }))
    return { version, migrations, nodes: known, queues: lanes }
  },
})

export const systemRoutes: readonly Route[] = [getSystem]
