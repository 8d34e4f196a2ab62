// SPDX-License-Identifier: Apache-2.0
// One node as a process of its own, for tests that start several and kill them. Settings come from the environment; the
// parent hears where it listens.
import { areas } from '../src/areas.ts'
import { credentials } from '../src/commands/welcome.ts'
import { loadConfig } from '../src/config.ts'
import { startNode } from '../src/node/server.ts'
import { notes, notesMigrations } from './notes/area.ts'

async function serve(): Promise<void> {
  const node = await startNode({
    config: loadConfig(process.env).config,
    areas: [...areas, notes],
    extraMigrations: notesMigrations,
  })
  const made = process.env.PAMOJA_TEST_WITHOUT_ACCOUNT ? null : await credentials(node)
  process.send?.({
    nodeId: node.app.nodeId,
    url: node.url,
    port: node.port,
    caFile: node.caFile,
    adminUrl: node.adminUrl,
    credentials: made,
  })
  process.once('SIGTERM', () => {
    void node.stop().then(() => process.exit(0))
  })
  process.once('disconnect', () => process.exit(0))
}

void serve()
