// SPDX-License-Identifier: Apache-2.0
// The kinds of carrier there are. Each is one file beside this one, one test, and one line here; its settings become part
// of the operator's API by that.
import type { CarrierKind } from './bind.ts'
import { httpKind } from './http.ts'
import { smppKind } from './smpp.ts'

export const carrierKinds: ReadonlyMap<string, CarrierKind> = new Map([
  ['smpp', smppKind],
  ['http', httpKind],
])
