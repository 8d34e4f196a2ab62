// SPDX-License-Identifier: Apache-2.0
// In-memory state per running program: a test may run several in one process.
import type { App } from '../app.ts'

/** Value created once per program, at first use. */
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
