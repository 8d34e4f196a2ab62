// SPDX-License-Identifier: Apache-2.0
// The door of the email area: so far, what it tells customers of.
import type { Area } from '../../platform/area.ts'
import { emailEvents } from './events.ts'

export const email: Area = { name: 'email', routes: [], events: Object.values(emailEvents) }
