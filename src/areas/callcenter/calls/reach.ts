// SPDX-License-Identifier: Apache-2.0
// How an agent is reached: by telephone, by SIP, or at a desk in a browser that is connected.
import type { LegToRing } from '../../voice/area.ts'
import type { AgentRow } from '../agents/store.ts'

type Reach = Pick<AgentRow, 'endpoint' | 'desk_id'>

/** Whom to ring for an agent; null while the agent cannot be reached. */
export function targetOf({ endpoint, desk_id }: Reach): LegToRing['to'] | null {
  if (endpoint.type === 'webrtc') return desk_id === null ? null : { media: true }
  if (endpoint.type === 'phone' && endpoint.number !== undefined) return { phone: endpoint.number }
  if (endpoint.type === 'sip' && endpoint.uri !== undefined) return { sip: endpoint.uri }
  return null
}

export function isReachable(agent: Reach): boolean {
  return targetOf(agent) !== null
}
