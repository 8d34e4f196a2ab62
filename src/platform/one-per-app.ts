// SPDX-License-Identifier: Apache-2.0
// What an area keeps in memory for one running program: a test may run several in one process.
import type { App } from './app.ts'

/** Something that each running program has one of, made when it is first asked for. */
export function onePerApp<T>(make: (app: App) => T): (app: App) => T {
  const made = new WeakMap<App, T>()
  return (app) => {
    let one = made.get(app)
    if (one === undefined) {
      one = make(app)
      made.set(app, one)
    }
    return one
  }
}
