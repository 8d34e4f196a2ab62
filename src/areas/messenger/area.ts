// SPDX-License-Identifier: Apache-2.0
// The door of the messenger area: so far, what it tells customers of.
import type { Area } from '../../platform/area.ts'
import { scopeArea } from '../../platform/auth/scopes.ts'
import { planLimit } from '../../platform/limits/plan-limits.ts'
import { messengerEvents } from './events.ts'

export const messenger: Area = {
  name: 'messenger',
  scopes: [scopeArea('messenger', { limit: 'messenger' })],
  limits: [planLimit('messenger', '130429')],
  routes: [],
  events: Object.values(messengerEvents),
}
