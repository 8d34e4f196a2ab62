// SPDX-License-Identifier: Apache-2.0
// In-memory state per running program: a test may run several in one process.
import type { App } from '../app.ts'

interface OnePerApp<T> {
  (app: App): T
  /** The value if there is one already, for those who close it: nothing is created only to be closed. */
  made(app: App): T | undefined
}

/** Value created once per program, at first use. */
export function onePerApp<T>(make: (app: App) => T): OnePerApp<T> {
  const made = new WeakMap<App, T>()
  const one = (app: App): T => {
    let value = made.get(app)
    if (value === undefined) {
      value = make(app)
      made.set(app, value)
    }
    return value
  }
  return Object.assign(one, { made: (app: App) => made.get(app) })
}
