// SPDX-License-Identifier: Apache-2.0
// `cells`: the databases of an installation, and which buckets live in which. The commands run beside the nodes.
import { type Config, ConfigError } from '../config.ts'
import { bucketCount } from '../kernel/ids.ts'
import { applicationName, prepareSchema, startDatabase } from '../node/database.ts'
import { Database } from '../platform/db.ts'
import { Cells, homeName } from '../platform/moves/cells.ts'

export { listCells } from '../platform/moves/list.ts'
export { addCell, drainCell } from '../platform/moves/members.ts'
export { moveBucket } from '../platform/moves/move.ts'

/** Connects to the cells; the one that is to be added is brought to this version, home has to be at it. */
export async function withCells(
  config: Config,
  added: string | null,
  work: (cells: Cells) => Promise<void>,
): Promise<void> {
  const { url, release } = await startDatabase(config, () => undefined)
  const home = config.PAMOJA_DATABASE_DIRECT_URL ?? url
  const others = new Map(config.PAMOJA_CELLS.map((cell) => [cell.name, cell.url]))
  const cells = new Cells(new Map([[homeName, home], ...others]))
  try {
    await prepare(home, 'require')
    // Opened before it is migrated: an address that leads elsewhere is refused with nothing changed.
    if (added !== null) await cells.open(added)
    const database = added === null ? undefined : others.get(added)
    if (database !== undefined) await prepare(database, 'migrate')
    await work(cells)
  } finally {
    await cells.close()
    await release()
  }
}

async function prepare(url: string, schema: 'migrate' | 'require'): Promise<void> {
  const db = new Database({ url, poolSize: 1, statementTimeoutMs: 0, applicationName }, () => undefined)
  try {
    await db.find()
    await prepareSchema(db, schema)
  } finally {
    await db.close()
  }
}

export function bucketIn(text: string): number {
  const bucket = Number(text)
  if (!/^\d{1,3}$/.test(text) || bucket >= bucketCount)
    throw new ConfigError(`"${text}" is no bucket: it is a number from 0 to ${bucketCount - 1}.`)
  return bucket
}
