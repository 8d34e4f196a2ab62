// SPDX-License-Identifier: Apache-2.0
// The door of the messenger area: so far, what it tells customers of.
import type { Area } from '../../platform/area.ts'
import { messengerEvents } from './events.ts'

export const messenger: Area = { name: 'messenger', routes: [], events: Object.values(messengerEvents) }
