// SPDX-License-Identifier: Apache-2.0
// Operator routes that belong to no single area: prices, jobs that need a person, the system itself. Routes about
// accounts, binds or providers live with those things.
import type { Area } from '../../platform/area.ts'
import { jobRoutes } from './jobs.ts'
import { priceFileRoutes } from './price-file.ts'
import { priceRoutes } from './prices.ts'
import { systemRoutes } from './system.ts'
import { trafficRoutes } from './traffic.ts'

export const operator: Area = {
  name: 'operator',
  chapters: {
    operator: {
      title: 'Operator',
      about: 'For operators of this installation: accounts, prices, carriers, providers, jobs.',
    },
  },
  routes: [...priceRoutes, ...priceFileRoutes, ...jobRoutes, ...systemRoutes, ...trafficRoutes],
}
