// SPDX-License-Identifier: Apache-2.0
// The door of the identity area: so far, what it tells customers of.
import type { Area } from '../../platform/area.ts'
import { scopeArea } from '../../platform/auth/scopes.ts'
import { planLimit } from '../../platform/limits/plan-limits.ts'
import { identityEvents } from './events.ts'

export const identity: Area = {
  name: 'identity',
  scopes: [scopeArea('identity', { limit: 'identity' })],
  limits: [planLimit('identity')],
  routes: [],
  events: Object.values(identityEvents),
}
