// SPDX-License-Identifier: Apache-2.0
// The door of the call-centre area: so far, what it tells customers of.
import type { Area } from '../../platform/area.ts'
import { scopeArea } from '../../platform/auth/scopes.ts'
import { agentEvents, conferenceEvents, monitorEvents, queueEvents, voicemailEvents } from './events.ts'

export const callcenter: Area = {
  name: 'callcenter',
  scopes: [scopeArea('callcenter')],
  routes: [],
  events: [agentEvents, conferenceEvents, queueEvents, monitorEvents, voicemailEvents].flatMap((group) =>
    Object.values(group),
  ),
}
