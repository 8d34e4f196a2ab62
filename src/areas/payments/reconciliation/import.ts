// SPDX-License-Identifier: Apache-2.0
// Takes a provider's statement: the file is read as it comes, and all of it is taken or nothing. A line that was on an
// earlier statement is known already, so that the same file twice changes nothing.
import { AppError } from '../../../kernel/errors.ts'
import { newUuid } from '../../../kernel/ids.ts'
import { houseOf } from '../../../ledger/house.ts'
import { record } from '../../../platform/api/audit.ts'
import type { App } from '../../../platform/app.ts'
import type { Caller } from '../../../platform/auth.ts'
import { one, type Tx } from '../../../platform/db.ts'
import { rowsOf } from '../../../platform/http/csv-rows.ts'
import { type Line, linesIn, type Places, placesIn } from './columns.ts'
import { matchJob, statementId } from './match.ts'
import { insertLines, noteImport, type StatementRow } from './store.ts'

const maxBytes = 512 * 1024 * 1024
const maxLines = 2_000_000
/** The names of the columns stand within so many rows. */
const maxPreamble = 50
const linesAtOnce = 5_000

/** Imports a file into a statement, and has it matched. Gives the statement as it is then. */
export async function importFile(
  app: App,
  caller: Caller,
  statement: StatementRow,
  file: AsyncIterable<Buffer>,
): Promise<StatementRow> {
  const job = app.work.prepare(matchJob, houseOf(statement.environment), { statement: statement.id })
  return app.db.acrossTx(async (tx) => {
    const counted = new Tally()
    let waiting: Line[] = []
    for await (const lines of linesOf(file, statement, counted)) {
      waiting.push(...lines)
      if (waiting.length >= linesAtOnce) {
        counted.added += await store(app, tx, statement, waiting)
        waiting = []
      }
    }
    if (waiting.length > 0) counted.added += await store(app, tx, statement, waiting)
    const after = await one(
      tx.query(noteImport, {
        ...houseOf(statement.environment),
        id: statement.id,
        added: counted.added,
        known: counted.lines - counted.added,
        skipped: counted.skipped,
        firstAt: counted.firstAt,
        lastAt: counted.lastAt,
        closingBalance: counted.closing?.micros ?? null,
        closingAt: counted.closing?.at ?? null,
      }),
    )
    await record(tx, caller, 'payments.import_statement', statementId(statement), { after: { lines: counted.added } })
    await app.work.add(tx, job)
    tx.afterCommit(() => app.work.begin(job))
    return after
  })
}

/** Counts of a file being read. */
class Tally {
  lines = 0
  added = 0
  skipped = 0
  firstAt: Date | null = null
  lastAt: Date | null = null
  closing: { micros: bigint; at: Date } | null = null

  take(line: Line): void {
    this.lines++
    const { at, balanceMicros } = line
    const isNewestFirst =
      this.firstAt !== null && this.lastAt !== null && this.firstAt < this.lastAt && at < this.lastAt
    if (this.firstAt === null || at < this.firstAt) this.firstAt = at
    if (this.lastAt === null || at > this.lastAt) this.lastAt = at
    if (balanceMicros === null) return
    // Of several lines in the last second, the one that was written last is the last one, unless the file runs backwards.
    const isLater = this.closing === null || at > this.closing.at
    const isSame = this.closing !== null && at.getTime() === this.closing.at.getTime() && !isNewestFirst
    if (isLater || isSame) this.closing = { micros: balanceMicros, at }
  }
}

async function* linesOf(
  file: AsyncIterable<Buffer>,
  { provider, country, columns, utc_offset: utcOffset }: StatementRow,
  counted: Tally,
): AsyncGenerator<Line[]> {
  let places: Places | null = null
  let preamble = 0
  for await (const rows of rowsOf(file, maxBytes)) {
    const found: Line[] = []
    for (const { number, cells } of rows) {
      if (places === null) {
        places = placesIn(cells, provider, columns)
        if (places === null && ++preamble >= maxPreamble) throw noColumns()
        continue
      }
      const lines = linesIn(cells, places, { country, utcOffset })
      if ('problem' in lines)
        throw new AppError('VALIDATION_ERROR', `line ${number} ${lines.problem}; nothing was imported`)
      if (lines.length === 0) counted.skipped++
      for (const line of lines) counted.take(line)
      if (counted.lines > maxLines) throw new AppError('PAYLOAD_TOO_LARGE', `a file has at most ${maxLines} lines`)
      found.push(...lines)
    }
    yield found
  }
  if (places === null) throw noColumns()
}

async function store(app: App, tx: Tx, statement: StatementRow, lines: readonly Line[]): Promise<number> {
  const { environment, provider, country, currency, id } = statement
  const nowMs = app.clock.nowMs()
  const { added } = await one(
    tx.query(insertLines, {
      ...houseOf(environment),
      provider,
      country,
      currency,
      statementId: id,
      ids: lines.map(() => newUuid(nowMs)),
      receipts: lines.map(({ receipt }) => receipt),
      kinds: lines.map(({ kind }) => kind),
      times: lines.map(({ at }) => at.toISOString()),
      amounts: lines.map(({ micros }) => micros.toString()),
      phones: lines.map(({ phone }) => phone ?? ''),
      details: lines.map(({ details }) => details ?? ''),
    }),
  )
  return added
}

function noColumns(): AppError {
  return new AppError(
    'VALIDATION_ERROR',
    `none of the first ${maxPreamble} rows names the columns receipt, time and amount (or paid_in); say in \`columns\` how they are named`,
  )
}
