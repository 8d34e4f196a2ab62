// SPDX-License-Identifier: Apache-2.0
// Request log of customers and usage counts. Lines are buffered and written in batches a few times a second with COPY,
// a third of the cost of INSERT. They are not money: a crash may lose the last moment, and an overload drops lines
// (counted) instead of slowing requests.
import { dayMs, dayOf } from '../../kernel/time.ts'
import type { Clock } from '../clock.ts'
import { type Database, statement } from '../db.ts'
import type { Logger } from '../telemetry/log.ts'
import type { Tenant } from '../tenant.ts'
import type { LoggedRequest } from './logged-requests.ts'

const flushMs = 500
/** Batch size that is written at once, without waiting for the timer. */
const maxRows = 500
const maxWaiting = 20_000
const maxBodyLength = 4_096

const columns = [
  'bucket',
  'account_id',
  'environment',
  'id',
  'key_id',
  'operation',
  'method',
  'path',
  'status',
  'error_code',
  'duration_us',
  'ip',
  'warning',
  'request_body',
  'response_body',
] as const

const count = statement.tenant<{ buckets: number[]; rows: string }, object>(
  'platform.count_usage',
  `insert into platform.usage as u (bucket, account_id, environment, day, area, operation, requests, errors)
   select r.bucket, r.account_id, r.environment, r.day, r.area, r.operation, r.requests, r.errors
     from json_to_recordset($rows::json) as r(bucket smallint, account_id uuid, environment text, day date, area text,
          operation text, requests int, errors int)
    where r.bucket = any($buckets::smallint[])
    order by r.bucket, r.account_id, r.environment, r.day, r.area, r.operation
   on conflict (bucket, account_id, environment, day, area, operation) do update
     set requests = u.requests + excluded.requests, errors = u.errors + excluded.errors`,
)

export class RequestLog {
  readonly #db: Database
  readonly #clock: Clock
  readonly #log: Logger
  /**
   * Buffered lines in COPY format. Text, because thousands of small objects kept for half a second cost more garbage
   * collection.
   */
  #rows: string[] = []
  #counts = new Map<string, Count>()
  #timer: NodeJS.Timeout | null = null
  #flushing: Promise<void> | null = null
  dropped = 0

  constructor(db: Database, clock: Clock, log: Logger) {
    this.#db = db
    this.#clock = clock
    this.#log = log
  }

  start(): void {
    this.#timer = setInterval(() => {
      if (!this.#flushing) void this.flush()
    }, flushMs)
    this.#timer.unref()
  }

  add(tenant: Tenant, line: LoggedRequest): void {
    this.#count(tenant, line)
    if (this.#rows.length >= maxWaiting) {
      this.dropped++
      return
    }
    this.#rows.push(rowOf(tenant, line))
    if (this.#rows.length % maxRows === 0 && !this.#flushing) void this.flush()
  }

  /** Writes the buffer, one write at a time: slow writes must not take a connection each. */
  async flush(): Promise<void> {
    while (this.#flushing) await this.#flushing
    if (this.#rows.length === 0 && this.#counts.size === 0) return
    this.#flushing = this.#write().finally(() => {
      this.#flushing = null
    })
    await this.#flushing
  }

  async stop(): Promise<void> {
    if (this.#timer) clearInterval(this.#timer)
    await this.flush()
  }

  #count({ bucket, account: account_id, environment }: Tenant, { operation, status }: LoggedRequest): void {
    const nowMs = this.#clock.nowMs()
    const name = `${account_id} ${environment} ${operation} ${Math.floor(nowMs / dayMs)}`
    const count = this.#counts.get(name)
    if (count) {
      count.requests++
      if (status >= 400) count.errors++
    } else {
      const day = dayOf(new Date(nowMs))
      const [area = 'none'] = (operation ?? 'none').split('.')
      this.#counts.set(name, {
        bucket,
        account_id,
        environment,
        day,
        area,
        operation: operation ?? 'none',
        requests: 1,
        errors: status >= 400 ? 1 : 0,
      })
    }
  }

  /** Adds the counts of a failed write back to the buffer. */
  #countAgain(counts: readonly (readonly [string, Count])[]): void {
    for (const [name, missed] of counts) {
      const count = this.#counts.get(name)
      if (count) {
        count.requests += missed.requests
        count.errors += missed.errors
      } else if (this.#counts.size < maxWaiting) this.#counts.set(name, missed)
    }
  }

  async #write(): Promise<void> {
    while (this.#rows.length > 0 || this.#counts.size > 0) {
      const rows = this.#placed(this.#rows.splice(0, maxRows))
      try {
        if (rows.length > 0) await this.#db.copyIn('platform.requests', columns, rows)
      } catch (error) {
        this.dropped += rows.length
        this.#log.warn(
          { error, lines: rows.length },
          'lines of the request log dropped: the database is slow or away; check it',
        )
        return
      }
      if (!(await this.#writeCounts()) && this.#rows.length === 0) return
    }
  }

  /** Lines that can be written; those of accounts whose database is not opened are dropped. */
  #placed(rows: string[]): string[] {
    if (this.#db.unopened.length === 0) return rows
    const placed = rows.filter((row) => this.#db.isPlaced(Number.parseInt(row, 10)))
    this.dropped += rows.length - placed.length
    return placed
  }

  /** Writes counts; returns success. Counts not written are kept for the next write. */
  async #writeCounts(): Promise<boolean> {
    const counts = [...this.#counts]
    const placed = counts.filter(([, { bucket }]) => this.#db.isPlaced(bucket))
    const parts = this.#db.apart(placed, ([, { bucket }]) => bucket)
    this.#counts = new Map(counts.filter(([, { bucket }]) => !this.#db.isPlaced(bucket)))
    const written = await Promise.all(parts.map((part) => this.#writePart(part)))
    return placed.length === counts.length && written.every((isWritten) => isWritten)
  }

  async #writePart(counts: readonly (readonly [string, Count])[]): Promise<boolean> {
    const buckets = [...new Set(counts.map(([, { bucket }]) => bucket))]
    try {
      await this.#db.query(count, { buckets, rows: JSON.stringify(counts.map(([, each]) => each)) })
      return true
    } catch (error) {
      this.#countAgain(counts)
      this.#log.warn({ error }, 'usage counts not stored: tried again; check the database if this repeats')
      return false
    }
  }
}

interface Count {
  bucket: number
  account_id: string
  environment: string
  day: string
  area: string
  operation: string
  requests: number
  errors: number
}

/** Columns in order. Values that cannot contain a tab, line break or backslash are not escaped. */
function rowOf({ bucket, account, environment }: Tenant, line: LoggedRequest): string {
  const start = `${bucket}\t${account}\t${environment}\t${line.id}\t${line.key_id}\t${line.operation ?? nothing}`
  const asked = `${line.method}\t${copyField(line.path)}\t${line.status}\t${line.error_code ?? nothing}\t${line.duration_us}`
  return `${start}\t${asked}\t${line.ip}\t${copyField(line.warning)}\t${copyField(cut(line.request_body))}\t${copyField(cut(line.response_body))}\n`
}

const nothing = '\\N'

/** Text escaped for COPY. */
export function copyField(text: string | null): string {
  if (text === null) return nothing
  return /[\\\t\n\r]/.test(text) ? text.replace(/[\\\t\n\r]/g, (char) => copyEscapes[char] ?? char) : text
}

const copyEscapes: Readonly<Record<string, string>> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' }

function cut(text: string | null): string | null {
  return text !== null && text.length > maxBodyLength ? text.slice(0, maxBodyLength) : text
}
