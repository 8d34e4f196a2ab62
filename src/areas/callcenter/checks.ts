// SPDX-License-Identifier: Apache-2.0
// Checks that destinations and ids exist before they are stored.
import { invalid } from '../../kernel/errors.ts'
import { idOf, uuidOf } from '../../kernel/ids.ts'
import type { App } from '../../platform/app.ts'
import { maybe, type Queryable } from '../../platform/db.ts'
import type { Tenant } from '../../platform/tenant.ts'
import { findIvr } from './ivr/store.ts'
import { promptsAmong } from './prompts/store.ts'
import { findQueue, queuesAmong } from './queues/store.ts'
import { findHours } from './routing/store.ts'
import { agentIdForm, type DestinationOf, destinationProblem } from './schema.ts'

/** Requires a destination to exist, except agents, who are created by their first login. */
export async function requireDestination(
  app: App,
  tenant: Tenant,
  field: string,
  destination: DestinationOf,
): Promise<void> {
  const problem = destinationProblem(destination) ?? (await absence(app, tenant, destination))
  if (problem) throw invalid(field, problem)
  if (destination.answer_url !== undefined)
    await app.outbound.checkUrl(destination.answer_url, 'callback', tenant.environment, `${field}.answer_url`)
}

/** Why a destination does not exist, as a phrase after its name; null when it does. */
export async function absence(app: App, tenant: Tenant, { type, id = '' }: DestinationOf): Promise<string | null> {
  if (type === 'agent') return agentIdForm.test(id) ? null : 'must name an agent by an id'
  if (type !== 'queue' && type !== 'ivr') return null
  const uuid = uuidOf(type, id)
  const one = { ...tenant, id: uuid ?? '' }
  const found =
    uuid === null
      ? null
      : type === 'queue'
        ? await maybe(app.db.query(findQueue, one))
        : await maybe(app.db.query(findIvr, one))
  return found ? null : `must name ${type === 'queue' ? 'a queue that' : 'an IVR that'} is there`
}

/** Refuses a list of queues of which one is not there. */
export async function requireQueues(app: App, tenant: Tenant, field: string, given: readonly string[]): Promise<void> {
  if (given.length === 0) return
  const uuids = given.map((id) => uuidOf('queue', id))
  const ids = uuids.filter((id) => id !== null)
  const there = new Set((await app.db.query(queuesAmong, { ...tenant, ids })).map(({ id }) => id))
  const absent = uuids.findIndex((id) => id === null || !there.has(id))
  if (absent !== -1) throw invalid(`${field}[${absent}]`, 'must be the id of an existing queue')
}

/** Refuses prompts of which one is not there. */
export async function requirePrompts(
  queryable: Queryable,
  tenant: Tenant,
  given: readonly { field: string; id: string }[],
): Promise<void> {
  if (given.length === 0) return
  const ids = given.map(({ id }) => uuidOf('prompt', id)).filter((id) => id !== null)
  const there = new Set<string>(
    (await queryable.query(promptsAmong, { ...tenant, ids })).map(({ id }) => idOf('prompt', id)),
  )
  const absent = given.find(({ id }) => !there.has(id))
  if (absent) throw invalid(absent.field, 'must be the id of an existing prompt')
}

export async function requireHours(
  app: App,
  tenant: Tenant,
  field: string,
  id: string | null | undefined,
): Promise<void> {
  if (id === null || id === undefined) return
  const uuid = uuidOf('businessHours', id)
  if (uuid === null || !(await maybe(app.db.query(findHours, { ...tenant, id: uuid }))))
    throw invalid(field, 'must be the id of business hours, bh_…')
}
