// SPDX-License-Identifier: Apache-2.0
// Replica for statements that may be late: a standby that streams from the database and is at most half a minute behind.
// While it is further behind, cut off or gone, the database itself is asked.
import pg from 'pg'

const maxLateSeconds = 30
/** How long an answer about its state holds, and how long one that failed is left alone. */
const knownForMs = 1_000
const avoidedForMs = 5_000
const probeMs = 2_000

/** Caught up, or behind by no more than the limit. A standby that receives nothing may be caught up with the past. */
const state = `select pg_is_in_recovery() and exists (select from pg_stat_wal_receiver where pid is not null)
  and (pg_last_wal_receive_lsn() = pg_last_wal_replay_lsn()
       or now() - pg_last_xact_replay_timestamp() < make_interval(secs => ${maxLateSeconds})) as follows`

export class Replica {
  readonly pool: pg.Pool
  #follows: Promise<boolean> | null = null
  #avoidedUntilMs = 0

  constructor(config: pg.PoolConfig, onIdleError: (error: Error) => void) {
    this.pool = new pg.Pool({ ...config, connectionTimeoutMillis: probeMs, idleTimeoutMillis: 30_000 })
    this.pool.on('error', onIdleError)
  }

  /** Whether it follows the database; asked at most once a second, whoever wants to know. */
  follows(): Promise<boolean> {
    if (performance.now() < this.#avoidedUntilMs) return Promise.resolve(false)
    if (!this.#follows) {
      this.#follows = this.#ask().catch(() => {
        this.avoid()
        return false
      })
      setTimeout(() => {
        this.#follows = null
      }, knownForMs).unref()
    }
    return this.#follows
  }

  /** Leaves it alone for a while. */
  avoid(): void {
    this.#avoidedUntilMs = performance.now() + avoidedForMs
  }

  async #ask(): Promise<boolean> {
    const asked: pg.QueryConfig & { query_timeout: number } = { text: state, query_timeout: probeMs }
    const { rows } = await this.pool.query<{ follows: boolean | null }>(asked)
    return rows[0]?.follows === true
  }
}
