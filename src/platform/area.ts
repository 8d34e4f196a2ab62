// SPDX-License-Identifier: Apache-2.0
// What an area brings to the program. main.ts lists the areas; everything else is found through these lists.
import type { App } from './app.ts'
import type { EventType } from './events.ts'
import type { Route } from './route.ts'
import type { Job } from './work.ts'

export interface Area {
  readonly name: string
  readonly routes: readonly Route[]
  readonly jobs?: readonly Job<App>[]
  readonly events?: readonly EventType[]
}
