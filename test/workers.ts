// SPDX-License-Identifier: Apache-2.0
// What runs jobs, without the rest of a node: a database, a committer, and as many workers as a test makes. Whatever a test
// leaves behind is gone before the next.
import { after, afterEach } from 'node:test'
import { newUuid } from '../src/kernel/ids.ts'
import { systemClock } from '../src/platform/clock.ts'
import { Committer } from '../src/platform/commit.ts'
import type { Database } from '../src/platform/db.ts'
import type { Work } from '../src/platform/work/worker.ts'
import { createTestDatabase, type TestDatabase } from './database.ts'

export interface Workers<Context> {
  database: TestDatabase
  db: Database
  committer: Committer
  /** Nodes that stop after the test. */
  nodes: Work<Context>[]
}

export async function startWorkers<Context>(): Promise<Workers<Context>> {
  const database = await createTestDatabase(['platform', 'work'])
  const db = database.connect()
  const committer = new Committer(db, newUuid(systemClock.nowMs()), 2)
  const nodes: Work<Context>[] = []
  afterEach(async () => {
    await Promise.all(nodes.splice(0).map((node) => node.stop(0)))
    await database.sql('delete from work.jobs')
  })
  after(async () => {
    await committer.stop()
    await database.drop()
  })
  return { database, db, committer, nodes }
}
