// SPDX-License-Identifier: Apache-2.0
// Routes, jobs and metric of reconciliation; the metric tells whether the ledger and the providers agree.
import { houseOf } from '../../../ledger/house.ts'
import type { App } from '../../../platform/app.ts'
import { atMostEvery } from '../../../platform/telemetry/metrics.ts'
import { houseKey, matchJob } from './match.ts'
import { statementRoutes } from './routes.ts'
import { latestDifferences } from './store.ts'

const measureMs = 15_000

export const reconciliation = {
  routes: statementRoutes,
  jobs: [matchJob],
  /** Shows the last known difference of every account with a provider. */
  measure(app: App): void {
    const ask = atMostEvery(measureMs, () => app.db.query(latestDifferences, houseKey(houseOf('live'))))
    app.metrics.gauges(
      'pamoja_payments_float_difference',
      'What the closing balance of a provider’s last statement is above the ledger, in major units. Not 0: look at it.',
      ['environment', 'provider', 'currency', 'covers'],
      async () => (await ask()).map(({ difference, ...labels }) => ({ labels, value: Number(difference) / 1_000_000 })),
    )
  },
}
