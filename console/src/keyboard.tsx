// SPDX-License-Identifier: Apache-2.0
// Keys that work everywhere. Single letters do nothing while something is typed.
import { useEffect, useRef } from 'preact/hooks'
import type { Entry } from './area.tsx'
import { isTyping } from './kit/table.tsx'
import { go } from './place.tsx'

interface Shortcuts {
  search(): void
  help(): void
  phone(): void
  environment(): void
  send(): void
  close(): void
  entries: readonly Entry[]
}

/** Time in which the key after G is awaited. */
const goMs = 1_500

export function useShortcuts(shortcuts: Shortcuts): void {
  const latest = useRef(shortcuts)
  latest.current = shortcuts
  useEffect(() => {
    let goUntilMs = 0
    const press = (event: KeyboardEvent): void => {
      const { search, help, phone, environment, send, close, entries } = latest.current
      const isSearch = event.key === 'k' && (event.ctrlKey || event.metaKey)
      if (!isSearch && isTyping(event)) return
      const isGoing = event.timeStamp < goUntilMs
      goUntilMs = 0
      const target = isGoing ? entries.find(({ key }) => key === event.key) : undefined
      const does: Readonly<Record<string, () => void>> = {
        ...{ '/': search, k: search, '?': help, '.': phone, t: environment, c: send, Escape: close },
        g: () => {
          goUntilMs = event.timeStamp + goMs
        },
      }
      const action = target ? () => go(target.to) : event.key === 'k' && !isSearch ? undefined : does[event.key]
      if (!action) return
      event.preventDefault()
      action()
    }
    window.addEventListener('keydown', press)
    return () => window.removeEventListener('keydown', press)
  }, [])
}
