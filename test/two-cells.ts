// SPDX-License-Identifier: Apache-2.0
// Two databases as cells of one installation: the second has a copy of what belongs to no tenant, and the buckets of odd numbers.
import { buckets } from '../src/kernel/ids.ts'
import { Cells, homeName } from '../src/platform/moves/cells.ts'
import { addCell, homeCopies } from '../src/platform/moves/members.ts'
import { unsubscribe } from '../src/platform/moves/replication.ts'
import type { TestDatabase } from './database.ts'

type Joined = Pick<TestDatabase, 'url' | 'sql'>

/** Makes `east` a cell beside home; returns how it is taken out again, so that both can be dropped. */
export async function joinCells(home: Joined, east: Joined): Promise<() => Promise<void>> {
  const urls = new Map([
    [homeName, home.url],
    ['east', east.url],
  ])
  const cells = new Cells(urls)
  await addCell(cells, 'east', () => undefined)
  const odd = buckets.filter((bucket) => bucket % 2 === 1)
  const even = buckets.filter((bucket) => bucket % 2 === 0)
  const own = 'select platform.own_buckets($1::smallint[])'
  await Promise.all([home.sql(own, [even]), east.sql(own, [odd])])
  await home.sql(`insert into platform.buckets (bucket, cell) select b, 'east' from unnest($1::smallint[]) b`, [odd])
  await cells.close()
  return async () => {
    const again = new Cells(urls)
    await unsubscribe(homeCopies(await again.home, await again.open('east')))
    await again.close()
  }
}
