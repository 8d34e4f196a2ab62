// SPDX-License-Identifier: Apache-2.0
// Every area of the product, in the order of the reference. A new area is one line here.
import { accounts } from './areas/accounts/area.ts'
import { events } from './areas/events/area.ts'
import { operator } from './areas/operator/area.ts'
import { sandbox } from './areas/sandbox/area.ts'
import type { Area } from './platform/area.ts'

export const areas: readonly Area[] = [accounts, events, sandbox, operator]
