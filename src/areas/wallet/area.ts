// SPDX-License-Identifier: Apache-2.0
// The door of the wallet area: so far, what it tells customers of.
import type { Area } from '../../platform/area.ts'
import { walletEvents } from './events.ts'

export const wallet: Area = { name: 'wallet', routes: [], events: Object.values(walletEvents) }
