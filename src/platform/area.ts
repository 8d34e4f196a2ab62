// SPDX-License-Identifier: Apache-2.0
// What an area brings to the program. main.ts lists the areas; everything else is found through these lists.
import type { FastifyInstance } from 'fastify'
import type { App } from './app.ts'
import type { EventType } from './events.ts'
import type { Chore } from './maintenance.ts'
import type { Route } from './route.ts'
import type { Job } from './work.ts'

export interface Area {
  readonly name: string
  readonly routes: readonly Route[]
  readonly jobs?: readonly Job<App>[]
  readonly events?: readonly EventType[]
  readonly chores?: readonly Chore[]
  /** Addresses outside /v1, which need no credentials. */
  mount?(http: FastifyInstance, app: App): void
  /** Opens what the area keeps open beside requests and jobs, such as connections to carriers. Gives the way to stop. */
  start?(app: App): Promise<() => Promise<void>>
}
