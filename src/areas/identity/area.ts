// SPDX-License-Identifier: Apache-2.0
// The door of the identity area: so far, what it tells customers of.
import type { Area } from '../../platform/area.ts'
import { identityEvents } from './events.ts'

export const identity: Area = { name: 'identity', routes: [], events: Object.values(identityEvents) }
