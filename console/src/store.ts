// SPDX-License-Identifier: Apache-2.0
// Value that several parts of the page share; those that use it are drawn anew when it changes.
import { useEffect, useState } from 'preact/hooks'

interface Store<T> {
  get(): T
  set(value: T): void
  use(): T
  listen(then: (value: T) => void): () => void
}

export function store<T>(initial: T): Store<T> {
  let value = initial
  const listeners = new Set<(value: T) => void>()
  const listen = (then: (value: T) => void): (() => void) => {
    listeners.add(then)
    return () => void listeners.delete(then)
  }
  const get = (): T => value
  return {
    get,
    listen,
    set(next) {
      if (Object.is(next, value)) return
      value = next
      for (const listener of [...listeners]) listener(next)
    },
    use() {
      const [, draw] = useState(0)
      useEffect(() => listen(() => draw((before) => before + 1)), [])
      return value
    },
  }
}
