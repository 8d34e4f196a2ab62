// SPDX-License-Identifier: Apache-2.0
// What must be true after any fault, looked up the way a customer (GET), a book-keeper (transfers, wallets) and an
// operator (jobs) would: nothing acknowledged is lost, nothing is charged twice, everything begun is finished.
import { uuidOf } from '../../src/kernel/ids.ts'
import { type Verification, verifyLedger } from '../../src/ledger/verify.ts'
import { eventually } from '../eventually.ts'
import type { Installation } from './harness.ts'
import { type Load, notePrice, type Rename, type Write } from './load.ts'

const readersAtOnce = 16
/** A lease lasts 15 s; the rest is for a machine that is busy with other things. */
const resumeWithinMs = 90_000

export interface Findings {
  /** Writes that were begun and never acknowledged, although everything runs again. */
  unanswered: string[]
  /** Acknowledged writes that are not there. */
  lost: string[]
  /** Notes that are there but were never published. */
  unpublished: string[]
  /** Accounts whose notes, charges or balance are not exactly those of their keys. */
  miscounted: string[]
  /** Jobs that nobody will run again by themselves. */
  stuck: string[]
  ledger: Verification
}

export async function examine(installation: Installation, load: Load): Promise<Findings> {
  await load.finish()
  const stuck = await waitForJobs(installation)
  const acknowledged = load.writes.filter(({ noteId }) => noteId !== null)
  const notes = await readNotes(installation, acknowledged)
  return {
    unanswered: load.writes.filter(({ noteId }) => noteId === null).map(({ key }) => key),
    lost: [
      ...notes.filter(({ status }) => status === null).map(({ write }) => `${write.key} ${write.noteId}`),
      ...(await lostNames(installation, load.renames)),
    ],
    unpublished: notes.filter(({ status }) => status === 'queued').map(({ write }) => `${write.key} ${write.noteId}`),
    miscounted: await countBooks(installation, load.writes),
    stuck,
    ledger: await verifyLedger(installation.db),
  }
}

/** Waits until no job is left but those put aside for a person, and tells of these. */
async function waitForJobs(installation: Installation): Promise<string[]> {
  const look = async (): Promise<boolean> => {
    const [row] = await installation.sql<{ left: number }>(
      `select count(*)::int as left from work.jobs where run_at < 'infinity'`,
    )
    return row?.left === 0
  }
  await eventually(look, 'every job to be run', resumeWithinMs)
  const rows = await installation.sql<{ id: string; attempt: number; last_error: string }>(
    'select id, attempt, last_error from work.jobs',
  )
  return rows.map(({ id, attempt, last_error }) => `${id} after ${attempt} attempts: ${last_error}`)
}

/** Reads every note through the API; a note that is not there has no status. */
async function readNotes(
  installation: Installation,
  writes: readonly Write[],
): Promise<{ write: Write; status: string | null }[]> {
  const found: { write: Write; status: string | null }[] = []
  const waiting = [...writes]
  const nodes = installation.runningNodes()
  const reader = async (index: number): Promise<void> => {
    for (let write = waiting.pop(); write; write = waiting.pop()) {
      const { status, body, text } = await installation
        .client(index, write.account.key)
        .get(`/v1/notes/${write.noteId}`)
      if (status !== 200 && status !== 404) throw new Error(`reading a note was answered ${status} ${text}`)
      found.push({ write, status: status === 200 ? body.status : null })
    }
  }
  await Promise.all(Array.from({ length: readersAtOnce }, (_, i) => reader(nodes[i % nodes.length] ?? 0)))
  return found
}

/** A name is the last one acknowledged, or one that was sent after it. */
async function lostNames(installation: Installation, renames: readonly Rename[]): Promise<string[]> {
  const lost: string[] = []
  for (const { account, acknowledged } of renames) {
    const [node = 0] = installation.runningNodes()
    const { body } = await installation.client(node, account.key).get(`/v1/api-keys/${account.keyId}`)
    const number = Number(/^Name (\d+)$/.exec(body.name)?.[1] ?? 0)
    if (number < acknowledged) lost.push(`the name given ${acknowledged} times is ${body.name}`)
  }
  return lost
}

interface Books {
  notes: number
  charges: number
  charged_notes: number
  balance: bigint
}

/** The books of each account against the keys its customers used. */
async function countBooks(installation: Installation, writes: readonly Write[]): Promise<string[]> {
  const wrong: string[] = []
  for (const account of new Set(writes.map((write) => write.account))) {
    const uuid = uuidOf('account', account.id)
    const answered = writes.filter((write) => write.account === account && write.noteId !== null)
    const [books] = await installation.sql<Books>(
      `select (select count(*) from notes.notes where account_id = $1)::int as notes,
              (select count(*) from ledger.transfers where account_id = $1 and step = 'charge')::int as charges,
              (select count(distinct t.source_id) from ledger.transfers t
                 join notes.notes n on n.account_id = t.account_id and n.id = t.source_id
                where t.account_id = $1 and t.step = 'charge')::int as charged_notes,
              (select balance from ledger.wallets where account_id = $1 and environment = 'test' and currency = 'KES') as balance`,
      [uuid],
    )
    const expected = answered.length
    const balance = BigInt(Math.round((account.credited - expected * notePrice) * 1e6))
    const want: Books = { notes: expected, charges: expected, charged_notes: expected, balance }
    for (const [name, value] of Object.entries(want)) {
      const is = Object(books)[name]
      if (String(is) !== String(value)) wrong.push(`${account.id}: ${name} must be ${value}, but is ${is}`)
    }
    wrong.push(...(await compareKeys(installation, uuid, answered)))
  }
  return wrong
}

/** A key stands for one note: the one its customer was told of. */
async function compareKeys(
  installation: Installation,
  account: string | null,
  writes: readonly Write[],
): Promise<string[]> {
  const rows = await installation.sql<{ key: string; note_id: string }>(
    `select key, body::json ->> 'note_id' as note_id from platform.idempotency where account_id = $1 and status = 200`,
    [account],
  )
  const noteOf = new Map(rows.map(({ key, note_id }) => [key, note_id]))
  const wrong = writes
    .filter(({ key, noteId }) => noteOf.get(key) !== noteId)
    .map(({ key, noteId }) => `${key} was answered ${noteId}, but stands for ${noteOf.get(key)}`)
  if (noteOf.size !== writes.length) wrong.push(`${writes.length} keys were used, but ${noteOf.size} are stored`)
  return wrong
}
