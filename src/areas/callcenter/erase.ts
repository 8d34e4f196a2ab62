// SPDX-License-Identifier: Apache-2.0
// Personal data of the call centre, for an erasure: contacts with their notes, choices in menus, messages of transfers, and
// conferences of the person.

import type { App } from '../../platform/app.ts'
import { type Erasable, erasable, erasedBy } from '../../platform/operator/erasing.ts'

const overWithPerson = `c.bucket = $bucket and c.account_id = $account and c.environment = $environment
  and (c.from_number = any($phones::text[]) or c.to_number = any($phones::text[])) and c.state = 'ended'`

export const erasables: readonly Erasable<App>[] = [
  erasedBy(
    'menu_runs',
    `delete from callcenter.ivr_runs r using callcenter.contacts c
      where ${overWithPerson} and r.bucket = c.bucket and r.account_id = c.account_id and r.environment = c.environment
        and r.call_id = c.call_id returning 1`,
  ),
  erasedBy(
    'transfers',
    `update callcenter.transfers t
        set message = null, destination = case when t.destination = any($phones::text[]) then 'erased' else t.destination end
      where t.bucket = $bucket and t.account_id = $account and t.environment = $environment and t.ended_at is not null
        and (t.destination = any($phones)
             or exists (select 1 from callcenter.contacts c where ${overWithPerson} and c.call_id = t.call_id))
      returning 1`,
  ),
  erasable({
    ...{
      kind: 'conferences',
      table: 'callcenter.participants',
      id: { column: 't.conference_id', prefix: 'conference' },
    },
    by: [{ column: 't.endpoint', knownBy: 'phones', set: `endpoint = 'erased'` }],
    when: `t.status in ('left', 'failed')`,
    reason:
      'who is in a conference is kept until they leave; recordings of conferences stay, since others speak in them',
  }),
  erasable({
    ...{ kind: 'contacts', table: 'callcenter.contacts' },
    by: (['from_number', 'to_number'] as const).map((column) => ({
      ...{ column: `t.${column}`, knownBy: 'phones' },
      set: `${column} = 'erased', data = '{}', ivr_path = '[]', notes = null`,
    })),
    when: `t.state = 'ended'`,
    reason: 'times and outcomes stay; contacts that go on are kept until they end',
  }),
]
