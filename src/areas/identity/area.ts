// SPDX-License-Identifier: Apache-2.0
// The door of the identity area.
import type { Area } from '../../platform/area.ts'
import { scopeArea } from '../../platform/auth/scopes.ts'
import { planLimit } from '../../platform/limits/plan-limits.ts'
import { computeOf } from './engines/engines.ts'
import { identityEvents } from './events.ts'
import { otpRoutes } from './otp/routes.ts'
import { identitySettings } from './settings.ts'

export const identity: Area = {
  name: 'identity',
  uses: ['sms'],
  scopes: [scopeArea('identity', { limit: 'identity' })],
  limits: [planLimit('identity')],
  settings: identitySettings,
  routes: [...otpRoutes],
  events: Object.values(identityEvents),
  start: async (app) => async () => computeOf(app).stop(),
}
