// SPDX-License-Identifier: Apache-2.0
// Transaction over several cells. A cell takes part from its first statement on. What changed rows in one cell alone is
// committed there; what changed rows in several is committed in two phases: each cell but home prepares, home writes the
// decision with its own rows, and the others follow. Between the phases a cell that stops, or a node that dies, leaves a
// prepared transaction with its locks: `settleDecisions` ends it as was decided.
import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type pg from 'pg'
import { AppError } from '../../kernel/errors.ts'
import { type Cell, within } from './cell.ts'
import { isLost, isReadOnly, isUnanswered, sqlState } from './failures.ts'

const prefix = 'pamoja:'
/** Name of a prepared transaction: the id of its decision, and the cell, since two may be on one server. */
const nameOf = (id: string, { name }: Cell): string => `${prefix}${id}:${name}`
/** Age at which a prepared transaction without a decision is given up: its node died, or will find that it is too late. */
const abandonedAfterSeconds = 5
const settlePollMs = 200

const ignore = (): void => undefined

interface Member {
  readonly cell: Cell
  readonly client: pg.PoolClient
  broken: Error | undefined
}

export class Enlisted {
  readonly #home: Cell
  readonly #begin: string
  readonly #answerMs: number
  readonly #members = new Map<Cell, Promise<Member>>()

  constructor(home: Cell, begin: string, answerMs: number) {
    this.#home = home
    this.#begin = begin
    this.#answerMs = answerMs
  }

  /** Connection to a cell, in the transaction. */
  async in(cell: Cell): Promise<pg.PoolClient> {
    let member = this.#members.get(cell)
    if (!member) {
      member = this.#enlist(cell)
      this.#members.set(cell, member)
    }
    return (await member).client
  }

  async #enlist(cell: Cell): Promise<Member> {
    const client = await cell.noticing(cell.across.connect())
    // A lost connection fails its statements; without a listener Node would exit.
    client.on('error', ignore)
    const member: Member = { cell, client, broken: undefined }
    await this.#ask(member, this.#begin).catch((error: Error) => {
      client.off('error', ignore)
      client.release(error)
      throw error
    })
    return member
  }

  async commit(): Promise<void> {
    const members = await Promise.all(this.#members.values())
    const changed = members.length > 1 ? await this.#changed(members) : members
    if (changed.length > 1) await this.#commitInTwoPhases(members, changed)
    else {
      for (const member of changed) await this.#conclude(member, 'commit', 'COMMIT')
      await this.#end(members.filter((member) => !changed.includes(member)))
    }
  }

  /** Rolls everything back that has not been committed. Never throws. */
  async rollback(error: unknown): Promise<void> {
    const members = await Promise.allSettled(this.#members.values())
    for (const found of members) {
      if (found.status === 'rejected') continue
      const member = found.value
      member.cell.notice(error)
      // A connection that cannot roll back is discarded, and one to a server that takes no writes any more.
      if (isUnanswered(error) || isReadOnly(error)) member.broken = error
      else
        await this.#ask(member, 'rollback').catch((failure: Error) => {
          member.broken = failure
        })
    }
  }

  async release(): Promise<void> {
    for (const found of await Promise.allSettled(this.#members.values())) {
      if (found.status === 'rejected') continue
      const { client, broken } = found.value
      client.off('error', ignore)
      client.release(broken)
    }
  }

  /** Members whose transaction wrote or locked rows: PostgreSQL gave it a number. */
  async #changed(members: readonly Member[]): Promise<Member[]> {
    const asked = await Promise.all(
      members.map((member) =>
        this.#ask<{ wrote: boolean }>(member, 'select pg_current_xact_id_if_assigned() is not null as wrote'),
      ),
    )
    return members.filter((_, i) => asked[i]?.rows[0]?.wrote === true)
  }

  async #commitInTwoPhases(members: readonly Member[], changed: readonly Member[]): Promise<void> {
    const id = randomUUID()
    const others = changed.filter(({ cell }) => cell !== this.#home)
    await this.in(this.#home)
    const home = await this.#members.get(this.#home)
    if (!home) throw new Error('home takes part in every transaction over several cells')
    const prepared: Member[] = []
    try {
      for (const member of others) {
        await this.#conclude(member, `prepare transaction '${nameOf(id, member.cell)}'`, 'PREPARE')
        prepared.push(member)
      }
      const decide = `insert into platform.decisions (id, commits) values ('${id}', true) on conflict (id) do nothing`
      // Taken for abandoned meanwhile, and rolled back.
      if ((await this.#ask(home, decide)).rowCount !== 1) throw unconfirmed()
      await this.#conclude(home, 'commit', 'COMMIT')
    } catch (error) {
      // Without an answer of home nobody knows whether it was decided; else nothing was.
      if (!isLost(error)) for (const member of prepared) await this.#finish(member, 'rollback prepared', id)
      throw error
    }
    // Decided: a cell that does not hear of it now is told by `settleDecisions`.
    await Promise.all(others.map((member) => this.#finish(member, 'commit prepared', id)))
    await this.#end(members.filter((member) => !changed.includes(member) && member !== home))
  }

  /** Ends a transaction; PostgreSQL answers ROLLBACK, and no error, where a statement of it had failed. */
  async #conclude(member: Member, text: string, command: string): Promise<void> {
    const { command: done } = await this.#ask(member, text)
    if (done === command) return
    throw unconfirmed()
  }

  async #finish(member: Member, how: 'commit prepared' | 'rollback prepared', id: string): Promise<void> {
    await this.#ask(member, `${how} '${nameOf(id, member.cell)}'`).catch((failure: Error) => {
      member.cell.notice(failure)
      member.broken = failure
    })
  }

  /** Ends transactions that changed nothing. */
  async #end(members: readonly Member[]): Promise<void> {
    for (const member of members)
      await this.#ask(member, 'commit').catch((failure: Error) => {
        member.broken = failure
      })
  }

  async #ask<Row extends object>({ client }: Pick<Member, 'client'>, text: string): Promise<pg.QueryResult<Row>> {
    return client.query<Row>(within(this.#answerMs, { text }))
  }
}

function unconfirmed(): AppError {
  return new AppError('SERVICE_UNAVAILABLE', 'the database did not confirm the write', { retryAfterSeconds: 1 })
}

/**
 * Ends prepared transactions whose node did not: as was decided, and with a rollback where nothing was decided in time. Every
 * node may do it at any moment. Returns how many it ended.
 */
export async function settleDecisions(home: Cell, cell: Cell, afterSeconds = abandonedAfterSeconds): Promise<number> {
  const { rows: found } = await cell.beside.query<{ name: string; id: string }>(
    `select gid as name, split_part(gid, ':', 2) as id from pg_prepared_xacts
      where database = current_database() and gid like '${prefix}%'
        and prepared <= clock_timestamp() - make_interval(secs => $1)`,
    [afterSeconds],
  )
  const decided = await decisions(
    home,
    found.map(({ id }) => id),
  )
  const end = async ({ name, id }: { name: string; id: string }): Promise<void> => {
    const how = decided.get(id) === true ? 'commit' : 'rollback'
    await cell.beside.query(`${how} prepared '${name}'`).catch((error: unknown) => {
      // Another node was faster, or its own does it at this moment.
      if (!['42704', '55000'].includes(sqlState(error))) throw error
    })
  }
  // What is decided comes first: a backup that waits for it lets nothing be written here meanwhile.
  const undecided = found.filter(({ id }) => !decided.has(id))
  for (const one of found) if (decided.has(one.id)) await end(one)
  for (const one of undecided) {
    // Waits for a decision that is being written: one of the two is there first.
    await home.beside.query(
      'insert into platform.decisions (id, commits) values ($1, false) on conflict (id) do nothing',
      [one.id],
    )
    for (const [id, commits] of await decisions(home, [one.id])) decided.set(id, commits)
    await end(one)
  }
  return found.length
}

/**
 * Ends what is prepared in a cell now, whose locks a migration of it would wait for: there may be no other node to do it. What nodes
 * prepare meanwhile they end themselves.
 */
export async function settlePrepared(home: Cell, cell: Cell): Promise<void> {
  let left = await preparedIn(cell.beside)
  while (left.length > 0) {
    await settleDecisions(home, cell)
    const still = new Set(await preparedIn(cell.beside))
    left = left.filter((id) => still.has(id))
    if (left.length > 0) await pause(settlePollMs)
  }
}

async function decisions(home: Cell, ids: readonly string[]): Promise<Map<string, boolean>> {
  if (ids.length === 0) return new Map()
  const { rows } = await home.beside.query<{ id: string; commits: boolean }>(
    'select id, commits from platform.decisions where id = any($1::uuid[])',
    [ids],
  )
  return new Map(rows.map(({ id, commits }) => [id, commits]))
}

/** Ids of the decisions that prepared transactions of a database wait for. */
export async function preparedIn(database: pg.Client | pg.Pool): Promise<string[]> {
  const { rows } = await database.query<{ id: string }>(
    `select split_part(gid, ':', 2) as id from pg_prepared_xacts
      where database = current_database() and gid like '${prefix}%'`,
  )
  return rows.map(({ id }) => id)
}

/** Forgets decisions that no prepared transaction waits for. Every cell is asked first: one that is away may have some. */
export async function forgetDecisions(home: Cell, cells: readonly Cell[]): Promise<void> {
  const waiting: string[] = []
  for (const cell of cells) waiting.push(...(await preparedIn(cell.beside)))
  await home.beside.query(
    `delete from platform.decisions where at < now() - interval '1 day' and not id = any($1::uuid[])`,
    [waiting],
  )
}
