// SPDX-License-Identifier: Apache-2.0
// Requirements that PostgreSQL has to meet before a cell is added or a bucket moves, each refused in a sentence.
import { StartError } from '../../kernel/start-error.ts'
import { type Cell, rowsOf } from './cells.ts'

export type Connected = Pick<Cell, 'name' | 'client'>

interface Server {
  wal_level: string
  prepared: number
  isSuper: boolean
  identity: string
}

async function serverOf(cell: Connected): Promise<Server> {
  const [server] = await rowsOf<Server>(
    cell,
    `select current_setting('wal_level') as wal_level, current_setting('max_prepared_transactions')::int as prepared,
            (select rolsuper from pg_roles where rolname = current_user) as "isSuper",
            (select system_identifier || ' ' || d.oid from pg_control_system(), pg_database d
              where d.datname = current_database()) as identity`,
  )
  if (!server) throw new Error('a statement that always gives a row gave none')
  return server
}

/** Refuses a cell that is the home database, or whose server or whose home's cannot do what cells need. */
export async function requireCell(home: Connected, cell: Connected): Promise<void> {
  const [theirs, ours] = [await serverOf(cell), await serverOf(home)]
  if (theirs.identity === ours.identity)
    throw new StartError(
      `The address of ${cell.name} in PAMOJA_CELLS leads to the home database: a cell is a database of its own.`,
    )
  if (theirs.prepared === 0)
    throw new StartError(
      `The server of ${cell.name} has max_prepared_transactions = 0, and a transaction over several cells is prepared first: set it to its max_connections, and restart that server.`,
    )
  requireSource(home, ours)
  requireSource(cell, theirs)
}

/** Refuses a move between servers that cannot replicate. */
export async function requireMovable(from: Connected, to: Connected): Promise<void> {
  requireSource(from, await serverOf(from))
  requireTarget(to, await serverOf(to))
}

function requireSource(cell: Connected, server: Server): void {
  if (server.wal_level !== 'logical')
    throw new StartError(
      `The server of ${cell.name} has wal_level = ${server.wal_level}, and other cells follow its changes: set it to logical, and restart that server.`,
    )
  requireTarget(cell, server)
}

function requireTarget(cell: Connected, { isSuper }: Server): void {
  if (!isSuper)
    throw new StartError(
      `The user of ${cell.name} is no superuser, and only that may make subscriptions and copy without triggers: give the command the address of one. Nodes need none.`,
    )
}
