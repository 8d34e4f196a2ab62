// SPDX-License-Identifier: Apache-2.0
// Call that a request names, with its contact, and whether the caller may act on it.
import { AppError } from '../../../kernel/errors.ts'
import { uuidOf } from '../../../kernel/ids.ts'
import type { App } from '../../../platform/app.ts'
import type { Caller } from '../../../platform/auth.ts'
import { maybe } from '../../../platform/db.ts'
import { liveCalls } from '../../voice/area.ts'
import { type ContactRow, contactOfCall, contactsOfCall } from '../contacts.ts'
import { agentOf, deskAgentOf } from './login.ts'

export const noCall = () => new AppError('NOT_FOUND', 'there is no such call; ids of calls begin with call_')

/** Finds a contact by the id of the customer's call or of the agent's; for an agent's token or a member, their own one. */
export async function contactFor(
  app: App,
  caller: Caller,
  id: string,
): Promise<{ contact: ContactRow | null; call: string }> {
  const { tenant } = caller
  const call = uuidOf('call', id)
  if (call === null) throw noCall()
  const live = await liveCalls(app).find(tenant, call)
  const direct = await maybe(app.db.query(contactOfCall, { ...tenant, call }))
  const contact =
    direct ?? (live?.parent ? await maybe(app.db.query(contactOfCall, { ...tenant, call: live.parent })) : null)
  if (!contact && !live) throw noCall()
  return { contact: contact && (await ownContact(app, caller, contact)), call }
}

/** Contact of the caller's agent in the same call: the call may have been handed on, or have two agents. */
async function ownContact(app: App, caller: Caller, contact: ContactRow): Promise<ContactRow> {
  const own = deskAgentOf(caller)
  if (own === null || contact.agent_id === own) return contact
  const all = await app.db.query(contactsOfCall, { ...caller.tenant, call: contact.call_id })
  const theirs = all.filter(({ agent_id }) => agent_id === own)
  return theirs.findLast(({ ended_at }) => ended_at === null) ?? theirs.at(-1) ?? contact
}

/** Requires an agent's token to act on the agent's own call. */
export function requireOwnCall(caller: Caller, contact: ContactRow | null): void {
  const own = agentOf(caller)
  if (own !== null && contact?.agent_id !== own)
    throw new AppError('FORBIDDEN', 'this token is limited to calls of its agent', {
      extra: { required_scope: 'callcenter:write' },
    })
}
