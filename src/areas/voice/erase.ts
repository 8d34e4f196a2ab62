// SPDX-License-Identifier: Apache-2.0
// Personal data of voice, for an erasure: calls of the person, and calls that rang them, as `connect` does.

import type { App } from '../../platform/app.ts'
import { type Erasable, erasable, erasedBy } from '../../platform/operator/erasing.ts'
import { eraseRecordings } from './recordings/erase.ts'

/** A call is erased when it is over, and a call that was rung by another when that one is. */
const isOver = (row: 'c' | 't'): string =>
  `${row}.ended_at is not null and not exists (
     select 1 from voice.calls p where p.bucket = ${row}.bucket and p.account_id = ${row}.account_id
        and p.environment = ${row}.environment and p.id = ${row}.parent and p.ended_at is null)`

const overWithPerson = `c.bucket = $bucket and c.account_id = $account and c.environment = $environment
  and (c.from_number = any($phones::text[]) or c.to_number = any($phones::text[])) and ${isOver('c')}`

export const erasables: readonly Erasable<App>[] = [
  eraseRecordings,
  erasedBy(
    'call_steps',
    `delete from voice.call_events e using voice.calls c
      where ${overWithPerson} and e.bucket = c.bucket and e.account_id = c.account_id and e.environment = c.environment
        and e.call_id = any(array[c.id, c.parent]) returning 1`,
  ),
  erasedBy(
    'call_flows',
    `update voice.calls f set plan = '{}', custom_data = '{}' from voice.calls c
      where ${overWithPerson} and f.bucket = c.bucket and f.account_id = c.account_id and f.environment = c.environment
        and f.id = c.parent returning 1`,
  ),
  erasable({
    ...{ kind: 'calls', table: 'voice.calls', id: { column: 't.id', prefix: 'call' } },
    by: (['from_number', 'to_number'] as const).map((column) => ({
      ...{ column: `t.${column}`, knownBy: 'phones' },
      set: `${column} = 'erased', custom_data = '{}', plan = '{}', dialog = null`,
    })),
    when: isOver('t'),
    reason: 'durations and prices stay; calls that go on are kept until they end',
  }),
]
