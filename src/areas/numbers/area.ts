// SPDX-License-Identifier: Apache-2.0
// The door of the area of numbers: whose a number is, and what it is capable of. Texts, calls, USSD and chat messengers
// give numbers out and say what they do; who owns one is asked here.
import type { Area } from '../../platform/area.ts'
import { scopeArea } from '../../platform/auth/scopes.ts'
import { ownedNumberRoutes } from './routes.ts'

export { capabilitiesOf } from './capability.ts'
export { lockNumbers, numbersFor, type OwnedNumber } from './owned.ts'

export const numbers: Area = {
  name: 'numbers',
  chapters: {
    numbers: { title: 'Numbers', about: 'Your numbers and codes, and their capabilities.' },
  },
  scopes: [scopeArea('numbers')],
  routes: ownedNumberRoutes,
}
