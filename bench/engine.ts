// SPDX-License-Identifier: Apache-2.0
// A database for benchmarks that need no HTTP: embedded PostgreSQL in a temporary directory, migrated, with fsync on.
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { bucketOf, newUuid } from '../src/kernel/ids.ts'
import { systemClock } from '../src/platform/clock.ts'
import { Committer } from '../src/platform/commit.ts'
import { Database } from '../src/platform/db.ts'
import { startPostgres } from '../src/platform/postgres.ts'
import type { Tenant } from '../src/platform/tenant.ts'
import { type Cpu, cpuMeter } from './cpu.ts'
import { newHome } from './home.ts'

export interface Engine {
  db: Database
  committer: Committer
  nodeId: string
}

export async function withEngine<T>(connections: number, work: (engine: Engine) => Promise<T>): Promise<T> {
  const home = await newHome()
  const postgres = await startPostgres({ dir: join(home, 'postgres') })
  const db = new Database(
    { url: postgres.url, poolSize: connections, statementTimeoutMs: 0, applicationName: 'bench' },
    () => undefined,
  )
  const nodeId = newUuid(systemClock.nowMs())
  const committer = new Committer(db, nodeId, 2)
  try {
    return await work({ db, committer, nodeId })
  } finally {
    await committer.stop()
    await db.close()
    await postgres.stop()
    await rm(home, { recursive: true, force: true })
  }
}

export function newTenant(): Tenant {
  const account = newUuid(systemClock.nowMs())
  return { bucket: bucketOf(account), account, environment: 'test' }
}

/** Runs `once` from many callers at the same time for a while; gives how often a second, and the CPU of each time. */
export async function rate(
  callers: number,
  durationMs: number,
  once: () => Promise<unknown>,
): Promise<{ perSecond: number; cpu: Cpu }> {
  const meter = cpuMeter()
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
  return { perSecond: (count / (performance.now() - startedAt)) * 1000, cpu: meter.per(count) }
}
