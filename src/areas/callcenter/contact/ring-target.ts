// SPDX-License-Identifier: Apache-2.0
// Ring target of an agent: telephone, SIP, or a connected browser desk.
import type { LegToRing } from '../../voice/area.ts'
import type { AgentRow } from '../agents/store.ts'

type Reach = Pick<AgentRow, 'endpoint' | 'desk_id'>

/** Ring target of an agent; null while unreachable. */
export function targetOf({ endpoint, desk_id }: Reach): LegToRing['to'] | null {
  if (endpoint.type === 'webrtc') return desk_id === null ? null : { media: true }
  if (endpoint.type === 'phone' && endpoint.number !== undefined) return { phone: endpoint.number }
  if (endpoint.type === 'sip' && endpoint.uri !== undefined) return { sip: endpoint.uri }
  return null
}

export function isReachable(agent: Reach): boolean {
  return targetOf(agent) !== null
}
