// SPDX-License-Identifier: Apache-2.0
// Client of an operator: the areas of every account, and those of the installation under `operator`.
import { areaOf } from './call.ts'
import type { Options } from './client.ts'
import type { OperatorApi } from './operator-api.ts'
import { operatorAreas } from './operator-table.ts'
import { lazily, Pamoja } from './pamoja.ts'

export class PamojaOperator extends Pamoja {
  declare readonly operator: OperatorApi

  constructor(options: Options = {}) {
    super(options)
    lazily(this, 'operator', () => areaOf(this, operatorAreas.operator))
  }
}
