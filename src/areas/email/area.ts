// SPDX-License-Identifier: Apache-2.0
// The door of the email area: so far, what it tells customers of.
import type { Area } from '../../platform/area.ts'
import { scopeArea } from '../../platform/auth/scopes.ts'
import { planLimit } from '../../platform/limits/plan-limits.ts'
import { emailEvents } from './events.ts'

export const email: Area = {
  name: 'email',
  scopes: [scopeArea('email', { limit: 'email' })],
  limits: [planLimit('email', 'RATE_LIMIT_EXCEEDED')],
  routes: [],
  events: Object.values(emailEvents),
}
