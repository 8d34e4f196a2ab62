// SPDX-License-Identifier: Apache-2.0
// Numbers that an agent has to do with: those of live calls and of calls of the last 24 hours. Who runs the call centre has to do
// with those of every agent.
import { idOf } from '../../kernel/ids.ts'
import { dayMs } from '../../kernel/time.ts'
import type { Dealing } from '../../platform/auth/dealings.ts'
import { allows } from '../../platform/auth/scopes.ts'
import { one } from '../../platform/db.ts'
import { hasCall } from './contacts.ts'

export const ownCalls: Dealing = async (db, { tenant, member, scopes, nowMs }, phone) => {
  const agent = allows(scopes, 'callcenter:write') ? null : idOf('member', member)
  return (await one(db.query(hasCall, { ...tenant, agent, phone, since: new Date(nowMs - dayMs) }))).known
}
