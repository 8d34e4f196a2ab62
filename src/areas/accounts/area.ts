// SPDX-License-Identifier: Apache-2.0
// The door of the accounts area: tenants, their keys, what they see of themselves, and what operators do to them.
import type { Area } from '../../platform/area.ts'
import { keyEvents } from './events.ts'
import { operatorRoutes } from './operator.ts'
import { operatorKeyRoutes } from './operator-keys.ts'
import { reminderChore } from './reminders.ts'
import { routes } from './routes.ts'

export const accounts: Area = {
  name: 'accounts',
  routes: [...routes, ...operatorRoutes, ...operatorKeyRoutes],
  events: Object.values(keyEvents),
  chores: [reminderChore],
}

export { moveClock } from './account.ts'
export { credentialStore } from './credentials.ts'
export { firstAccount, operatorKey } from './first-account.ts'
