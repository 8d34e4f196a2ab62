// SPDX-License-Identifier: Apache-2.0
// People of whom areas tell by their events: unknown ones become customers, known ones were seen. Nobody is told of it: the event was.
import { newUuid } from '../../kernel/ids.ts'
import type { App } from '../../platform/app.ts'
import { operation } from '../../platform/commit.ts'
import type { Person } from '../../platform/events.ts'
import { type Tenant, tenantColumns } from '../../platform/tenant.ts'
import type { AddressKind } from './store.ts'

const see = operation.tenant(
  'customers.see',
  {
    ...tenantColumns,
    id: 'uuid',
    kind: 'text',
    address: 'text',
    name: 'text',
    at: 'timestamptz',
    inbound: 'boolean',
    make: 'boolean',
  },
  { made: 'boolean' },
)

/** Address by which a person is known; null where none is told. */
export function addressOf({ phone = null, email = null }: Person): { kind: AddressKind; address: string } | null {
  if (phone !== null) return { kind: 'phone', address: phone }
  return email === null ? null : { kind: 'email', address: email.toLowerCase() }
}

/** Notes that a person was heard of, or written to. May be repeated. */
export async function notePerson(app: App, tenant: Tenant, at: Date, person: Person): Promise<void> {
  const { name = null, isInbound: inbound } = person
  const known = addressOf(person)
  const when = app.config.PAMOJA_CUSTOMERS_CREATE
  if (known === null || (!inbound && when !== 'always')) return
  const id = newUuid(app.clock.nowMs())
  await app.commit(see, { ...tenant, id, ...known, name, at, inbound, make: when !== 'never' })
}
