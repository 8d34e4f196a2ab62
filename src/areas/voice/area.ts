// SPDX-License-Identifier: Apache-2.0
// The door of the voice area: so far, what it tells customers of.
import type { Area } from '../../platform/area.ts'
import { callEvents } from './events.ts'

export const voice: Area = { name: 'voice', routes: [], events: Object.values(callEvents) }
