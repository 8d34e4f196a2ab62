// SPDX-License-Identifier: Apache-2.0
// Job that ends a snooze, as it is queued.
import { Type } from 'typebox'

export const wakeJob = {
  lane: 'customers.wake',
  payload: Type.Object({ conversation: Type.String(), until: Type.Integer() }),
}
