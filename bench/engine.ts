// SPDX-License-Identifier: Apache-2.0
// A database for benchmarks that need no HTTP: embedded PostgreSQL in a temporary directory, migrated, with fsync on.
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bucketOf, newUuid } from '../src/kernel/ids.ts'
import { migrationsFolder } from '../src/node/database.ts'
import { systemClock } from '../src/platform/clock.ts'
import { Committer } from '../src/platform/commit.ts'
import { migrate } from '../src/platform/db/migrate.ts'
import { schemaFiles } from '../src/platform/db/schema-files.ts'
import { Database } from '../src/platform/db.ts'
import { startPostgres } from '../src/platform/postgres.ts'
import type { Tenant } from '../src/platform/tenant.ts'

export interface Engine {
  db: Database
  committer: Committer
  nodeId: string
}

export async function withEngine<T>(connections: number, work: (engine: Engine) => Promise<T>): Promise<T> {
  const dir = await mkdtemp(join(tmpdir(), 'pamoja-bench-'))
  // The database may run as another user, who must be able to come in.
  await chmod(dir, 0o755)
  const postgres = await startPostgres({ dir })
  const db = new Database(
    { url: postgres.url, poolSize: connections, statementTimeoutMs: 0, applicationName: 'bench' },
    () => undefined,
  )
  const nodeId = newUuid(systemClock.nowMs())
  const committer = new Committer(db, nodeId, 2)
  try {
    await migrate(db, schemaFiles(migrationsFolder))
    return await work({ db, committer, nodeId })
  } finally {
    await committer.stop()
    await db.close()
    await postgres.stop()
    await rm(dir, { recursive: true, force: true })
  }
}

export function newTenant(): Tenant {
  const account = newUuid(systemClock.nowMs())
  return { bucket: bucketOf(account), account, environment: 'test' }
}

/** Runs `once` from many callers at the same time for a while; gives how often a second. */
export async function rate(callers: number, durationMs: number, once: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now()
  let count = 0
  await Promise.all(
    Array.from({ length: callers }, async () => {
      while (performance.now() - startedAt < durationMs) {
        await once()
        count++
      }
    }),
  )
  return (count / (performance.now() - startedAt)) * 1000
}
