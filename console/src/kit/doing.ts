// SPDX-License-Identifier: Apache-2.0
// Something that is done by a button or a form of a page: whether it is under way, why it was refused, and how often it was done.
import { useState } from 'preact/hooks'

export interface Doing {
  readonly error: Error | null
  readonly isBusy: boolean
  /** Changes when something was done, so that what is shown is read again. */
  readonly turn: number
  run(what: () => Promise<unknown>): void
}

export function useDoing(): Doing {
  const [error, setError] = useState<Error | null>(null)
  const [isBusy, setIsBusy] = useState(false)
  const [turn, setTurn] = useState(0)
  const run = (what: () => Promise<unknown>): void => {
    setError(null)
    setIsBusy(true)
    what()
      .then(() => setTurn((before) => before + 1), setError)
      .finally(() => setIsBusy(false))
  }
  return { error, isBusy, turn, run }
}
