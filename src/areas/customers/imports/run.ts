// SPDX-License-Identifier: Apache-2.0
// Job of an import: reads the file some rows at a time. Customers, errors and how far it has come are committed together, so that
// another run goes on after the last row that was done.
import { setImmediate as nextTurn } from 'node:timers/promises'
import { Type } from 'typebox'
import { AppError } from '../../../kernel/errors.ts'
import { idOf } from '../../../kernel/ids.ts'
import { minuteMs } from '../../../kernel/time.ts'
import type { App } from '../../../platform/app.ts'
import type { Caller } from '../../../platform/auth.ts'
import { maybe, one, sqlState, type Tx } from '../../../platform/db.ts'
import { type Occasion, occasionNow } from '../../../platform/events.ts'
import type { OpenedFile } from '../../../platform/storage.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import type { Job, Outcome } from '../../../platform/work.ts'
import { AttributeTypes, declareFresh, type FreshTypes } from '../attributes.ts'
import { callerOf } from '../caller.ts'
import { lockAccount } from '../store.ts'
import { addOwners, type BatchResult, Collided, importBatch, Owners, ownersOf } from './batch.ts'
import { importEvents, importOf } from './events.ts'
import { importedRows, maxRows, type Row } from './rows.ts'
import { findImport, finishImport, type ImportRow, insertErrors, lockImport, noteProgress } from './store.ts'

const rowsAtOnce = 5_000
/** Time of one run; then other imports have their turn. */
const runMs = 30_000
const collidedMs = 100
/** SQL state of a unique violation: somebody else took a number or address at the same moment. */
const taken = '23505'
/** One row in so many is looked up by itself; where nobody has its addresses, nobody is taken to have those of the others. */
const guessedBy = 25
/** Attempts at the same rows, one right after the other. */
const maxTries = 5
/** Delay before the import of a suspended account is tried again. */
const suspendedMs = minuteMs

const Payload = Type.Object({ import: Type.String() })

export const importJob: Job<App, typeof Payload> = {
  lane: 'customers.import',
  role: 'dispatch',
  payload: Payload,
  concurrency: 2,
  retrySeconds: [1, 5, 30, 120, 600],
  async handle(app, { id, tenant, payload }): Promise<Outcome> {
    if (!tenant) throw new Error('an import belongs to an account')
    const row = await maybe(app.db.query(findImport, { ...tenant, id: payload.import }))
    if (row?.state !== 'running' || row.job !== id) return { kind: 'done' }
    try {
      const caller = await callerOf(app, tenant, row)
      const file = await app.storage.open(tenant, row.file_id)
      if (file === null) throw new AppError('NOT_FOUND', 'the file was deleted')
      const isRead = await readSome(app, caller, row, file)
      if (!isRead) return { kind: 'again', afterMs: 0 }
      await finish(app, occasionNow(app.clock, tenant, caller.principal.facts.clockOffsetMs), row, null)
    } catch (error) {
      if (error instanceof Collided) return { kind: 'again', afterMs: collidedMs }
      if (!(error instanceof AppError)) throw error
      if (error.code === 'ACCOUNT_SUSPENDED') return { kind: 'again', afterMs: suspendedMs }
      await finish(app, occasionNow(app.clock, tenant, 0), row, error.details || error.code)
    }
    return { kind: 'done' }
  },
}

/**
 * Imports rows after those that are done, for a while and some at least; true when there are no more. While some are written, the next are read, and looked
 * up whose their addresses are. Throws what the file is refused for.
 */
async function readSome(app: App, caller: Caller, row: ImportRow, { read }: OpenedFile): Promise<boolean> {
  const untilMs = performance.now() + runMs
  const types = await AttributeTypes.of(app.db, caller.tenant)
  const counted = { bytes: 0 }
  const refused: { error: AppError | null } = { error: null }
  const rows = readable(importedRows(counting(read(), counted), row.format, types, row.rows_read), refused)
  const batches = batchesOf(rows, types, counted)
  const guess = { isRight: true }
  let done = row.rows_read
  let before = new Owners()
  let next = lookedUp(app, caller, batches.next(), guess)
  try {
    for (;;) {
      const now = await next
      if (now === null) break
      if (done + now.batch.rows.length > maxRows)
        throw new AppError('PAYLOAD_TOO_LARGE', `a file has at most ${maxRows} rows`)
      next = lookedUp(app, caller, batches.next(), guess)
      // Told by whoever waits for it.
      next.catch(() => undefined)
      // They were looked up before the last batch was committed.
      if (now.owners) addOwners(now.owners, now.batch.rows, before)
      before = await importSome(app, caller, row, { ...now.batch, done, owners: now.owners }, guess)
      done += now.batch.rows.length
      if (performance.now() > untilMs) return false
    }
  } finally {
    await next.catch(() => undefined)
    await batches.return()
  }
  if (refused.error) throw refused.error
  return true
}

interface Batch {
  readonly rows: readonly Row[]
  /** Bytes that are read up to its end. */
  readonly bytes: number
  /** Attributes that these rows are the first to have. */
  readonly fresh: FreshTypes
}

async function* batchesOf(
  rows: AsyncIterable<Row[]>,
  types: AttributeTypes,
  counted: { readonly bytes: number },
): AsyncGenerator<Batch, void, void> {
  const waiting: Row[] = []
  const cut = (): Batch => ({
    ...{ rows: waiting.splice(0, rowsAtOnce), bytes: counted.bytes, fresh: types.takeFresh() },
  })
  for await (const some of rows) {
    // What the database has answered goes first.
    await nextTurn()
    waiting.push(...some)
    while (waiting.length >= rowsAtOnce) yield cut()
  }
  if (waiting.length > 0) yield cut()
}

/** Whether nobody has addresses of rows as long as nobody has those of some of them. To write them then tells of the others. */
interface Guess {
  isRight: boolean
}

/** Rows that come next, with whose their addresses are, as far as it is committed; null after the last. */
async function lookedUp(
  app: App,
  caller: Caller,
  coming: Promise<IteratorResult<Batch, void>>,
  guess: Guess,
): Promise<{ batch: Batch; owners: Owners | null } | null> {
  const { value: batch, done } = await coming
  if (done) return null
  try {
    const some = batch.rows.filter((_row, i) => i % guessedBy === 0)
    const found = guess.isRight ? await ownersOf(app.db, caller, some) : null
    return { batch, owners: found?.isEmpty ? found : await ownersOf(app.db, caller, batch.rows) }
  } catch {
    // Looked up again in the transaction.
    return { batch, owners: null }
  }
}

/** Rows before whatever the file is refused for. */
async function* readable(rows: AsyncIterable<Row[]>, refused: { error: AppError | null }): AsyncGenerator<Row[]> {
  try {
    yield* rows
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    refused.error = error
  }
}

async function* counting(file: AsyncIterable<Buffer>, counted: { bytes: number }): AsyncGenerator<Buffer> {
  for await (const piece of file) {
    counted.bytes += piece.length
    yield piece
  }
}

interface Some extends Batch {
  /** Rows that are done before. */
  readonly done: number
  /** Whose the addresses of the rows are, as far as they have been looked up. */
  readonly owners: Owners | null
}

/**
 * Imports some rows; at once again when somebody took one of their numbers or addresses meanwhile. Returns whose the addresses are now.
 * Throws Collided.
 */
async function importSome(app: App, caller: Caller, row: ImportRow, some: Some, guess: Guess): Promise<Owners> {
  for (let tries = 1; ; tries++)
    try {
      return await importOnce(app, caller, row, tries === 1 ? some : { ...some, owners: null })
    } catch (error) {
      if (sqlState(error) !== taken) throw error
      guess.isRight = false
      if (tries === maxTries) throw new Collided()
    }
}

async function importOnce(app: App, caller: Caller, row: ImportRow, some: Some): Promise<Owners> {
  const { tenant } = caller
  const { rows, done, bytes, fresh, owners } = some
  return app.db.tx(
    tenant,
    async (tx) => {
      await tx.query(lockAccount, tenant)
      const now = await one(tx.query(lockImport, { ...tenant, id: row.id }))
      // Another node that took this for dead has gone on.
      if (now.state !== 'running' || now.rows_read !== done) throw new Collided()
      if (!(await declareFresh(tx, tenant, fresh))) throw new Collided()
      const { problems, owners: known, ...counts } = await importBatch(app, tx, caller, rows, owners)
      await noteErrors(tx, tenant, row.id, problems)
      const noted = { bytes: BigInt(bytes), rows: rows.length, failed: problems.length, ...counts }
      await tx.query(noteProgress, { ...tenant, id: row.id, ...noted })
      return known
    },
    { statementTimeoutMs: minuteMs },
  )
}

async function noteErrors(tx: Tx, tenant: Tenant, id: string, problems: BatchResult['problems']): Promise<void> {
  if (problems.length === 0) return
  await tx.query(insertErrors, {
    ...{ ...tenant, id, lines: problems.map(({ line }) => line), codes: problems.map(({ code }) => code) },
    fields: problems.map(({ field }) => field ?? ''),
    messages: problems.map(({ message }) => message),
    customers: problems.map(({ customer }) => customer ?? ''),
  })
}

/** Ends an import, and tells of it; `reason` is why the file cannot be read on. The file is deleted. */
async function finish(app: App, occasion: Occasion, { id }: ImportRow, reason: string | null): Promise<void> {
  const { tenant, nowMs } = occasion
  await app.db.tx(tenant, async (tx) => {
    const now = await one(tx.query(lockImport, { ...tenant, id }))
    if (now.state !== 'running') return
    const state = reason === null ? 'completed' : 'failed'
    const row = await one(tx.query(finishImport, { ...tenant, id, state, reason, at: new Date(nowMs) }))
    await app.storage.drop(tx, tenant, [row.file_id])
    await app.outbox.emit(tx, importEvents.finished, occasion, idOf('customerImport', id), { import: importOf(row) })
  })
}
