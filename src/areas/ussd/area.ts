// SPDX-License-Identifier: Apache-2.0
// The door of the USSD area: so far, what it tells customers of.
import type { Area } from '../../platform/area.ts'
import { scopeArea } from '../../platform/auth/scopes.ts'
import { ussdEvents } from './events.ts'

export const ussd: Area = { name: 'ussd', scopes: [scopeArea('ussd')], routes: [], events: Object.values(ussdEvents) }
