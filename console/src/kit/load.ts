// SPDX-License-Identifier: Apache-2.0
// Something that is asked of the server: not there yet, there, or refused. At most one request is under way; what is there stays
// while it is asked again, and a server that could not be reached is asked again once it can be.
import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { PamojaError } from '#sdk/client.ts'
import { isReachable } from '../asking.ts'

export interface Loaded<T> {
  value: T | null
  error: Error | null
  /** Whether an answer is awaited. */
  isBusy: boolean
  /** Asks again; after what is under way, if anything is. */
  reload(): Promise<void>
  /** Changes what is there, as an event told it. */
  patch(change: (value: T) => T): void
}

interface State<T> {
  key: string
  value: T | null
  error: Error | null
  isBusy: boolean
}

/** Asks when it is first shown, and whenever `key` changes; `keeps` shows the value of the key before meanwhile. */
export function useLoad<T>(key: string, ask: () => Promise<T>, { keeps = false }: { keeps?: boolean } = {}): Loaded<T> {
  const [state, setState] = useState<State<T>>({ key, value: null, error: null, isBusy: true })
  const latest = useRef({ key, ask })
  latest.current = { key, ask }
  const underWay = useRef<Promise<void> | null>(null)
  const isWanted = useRef(false)
  const isGone = useRef(false)
  const run = useCallback(async (): Promise<void> => {
    while (isWanted.current && !isGone.current) {
      isWanted.current = false
      const asked = latest.current
      setState((before) => ({ ...before, isBusy: true }))
      const told = await asked.ask().then(
        (value) => ({ value, error: null }),
        (error: Error) => ({ error }),
      )
      if (latest.current.key === asked.key)
        setState((before) => ({ value: before.value, ...told, key: asked.key, isBusy: isWanted.current }))
    }
  }, [])
  const reload = useCallback((): Promise<void> => {
    isWanted.current = true
    underWay.current ??= run().finally(() => {
      underWay.current = null
    })
    return underWay.current
  }, [])
  useEffect(() => {
    isGone.current = false
    return () => {
      isGone.current = true
    }
  }, [])
  useEffect(() => void reload(), [key])
  const isLost = state.error instanceof PamojaError && state.error.status === 0
  useEffect(() => (isLost ? isReachable.listen((can) => void (can && reload())) : undefined), [isLost])
  const patch = useCallback((change: (value: T) => T) => {
    setState((before) => (before.value === null ? before : { ...before, value: change(before.value) }))
  }, [])
  const isOwn = state.key === key
  const value = isOwn || keeps ? state.value : null
  // What cannot be reached is said once, over the page.
  const error = isOwn && !(isLost && !isReachable.get()) ? state.error : null
  return { value, error, isBusy: state.isBusy || !isOwn, reload, patch }
}
