// SPDX-License-Identifier: Apache-2.0
// A gate in the database at which jobs wait before they are finished, so that a test can strike while some surely run.
import pg from 'pg'
import { eventually } from '../eventually.ts'
import type { Installation } from './harness.ts'

export interface Gate {
  /** Number of sessions that wait at the gate. */
  waiting(): Promise<number>
  /** Ends the sessions that wait at the gate. */
  cut(): Promise<void>
  /** Opens the gate for good; more than once does no harm. */
  open(): Promise<void>
}

const waitingSessions = `select pid from pg_locks where locktype = 'advisory' and not granted`

export async function closeGate(installation: Installation): Promise<Gate> {
  await installation.sql(
    `create or replace function notes.pass_gate() returns trigger language plpgsql as $$
     begin perform pg_advisory_xact_lock_shared(1); return old; end $$`,
  )
  await installation.sql(
    'create or replace trigger gate before delete on work.jobs for each row execute function notes.pass_gate()',
  )
  const keeper = new pg.Client({ connectionString: installation.databaseUrl })
  keeper.on('error', () => undefined)
  await keeper.connect()
  await keeper.query('select pg_advisory_lock(1)')
  let opening: Promise<void> | null = null
  const waiting = async (): Promise<number> => (await keeper.query(waitingSessions)).rows.length
  return {
    waiting,
    async cut() {
      await keeper.query(`select pg_terminate_backend(pid) from (${waitingSessions}) as waiting`)
      await eventually(async () => (await waiting()) === 0, 'the sessions at the gate to end')
    },
    open() {
      opening ??= keeper.end()
      return opening
    },
  }
}
