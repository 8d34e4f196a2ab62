// SPDX-License-Identifier: Apache-2.0
// Something that is asked of the server: not there yet, there, or refused. What is there stays while it is asked again.
import { useCallback, useEffect, useRef, useState } from 'preact/hooks'

export interface Loaded<T> {
  value: T | null
  error: Error | null
  reload(): void
}

/** Asks when it is first shown, and whenever `key` changes. */
export function useLoad<T>(key: string, ask: () => Promise<T>): Loaded<T> {
  const [state, setState] = useState<{ key: string; value: T | null; error: Error | null }>({
    key,
    value: null,
    error: null,
  })
  const latest = useRef(ask)
  latest.current = ask
  const turn = useRef(0)
  const reload = useCallback(() => {
    const mine = ++turn.current
    const isMine = (): boolean => turn.current === mine
    latest.current().then(
      (value) => isMine() && setState({ key, value, error: null }),
      (error: Error) => isMine() && setState((before) => ({ ...before, key, error })),
    )
  }, [key])
  useEffect(reload, [reload])
  return state.key === key ? { ...state, reload } : { value: null, error: null, reload }
}
