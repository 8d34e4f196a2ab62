// SPDX-License-Identifier: Apache-2.0
// The door of the voice area: so far, what it tells customers of.
import type { Area } from '../../platform/area.ts'
import { scopeArea } from '../../platform/auth/scopes.ts'
import { planLimit } from '../../platform/limits/plan-limits.ts'
import { callEvents } from './events.ts'

export const voice: Area = {
  name: 'voice',
  scopes: [scopeArea('voice', { limit: 'voice' })],
  limits: [planLimit('voice')],
  routes: [],
  events: Object.values(callEvents),
}
