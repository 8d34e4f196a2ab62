// SPDX-License-Identifier: Apache-2.0
// Keys that work everywhere, and the list of them. Single letters do nothing while something is typed.
import { useEffect, useRef } from 'preact/hooks'
import type { Entry } from './area.tsx'
import { Dialog } from './kit/dialogs.tsx'
import { isTyping } from './kit/table.tsx'
import { go } from './place.tsx'
import { t } from './words.ts'

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

const keys: readonly [key: string, does: string][] = [
  ['Ctrl K  /', 'Search everything'],
  ['C', 'Send a text'],
  ['.', 'Phone'],
  ['T', 'Test or live'],
  ['J  K', 'Next and previous row'],
  ['↵', 'Open'],
  ['X', 'Select a row'],
  ['F', 'Filters'],
  ['?', 'This list'],
  ['Esc', 'Close the top layer'],
]

export function KeyboardHelp({ entries, onClose }: { entries: readonly Entry[]; onClose(): void }) {
  const goes = entries.flatMap(({ key, name }): [string, string][] => (key ? [[`G ${key.toUpperCase()}`, name]] : []))
  return (
    <Dialog label={t('Keyboard')} onClose={onClose} class="slim">
      <h2>{t('Keyboard')}</h2>
      <dl class="keys">
        {[...keys, ...goes].map(([key, does]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{t(does)}</dd>
          </div>
        ))}
      </dl>
      <footer>
        <button type="button" class="btn" onClick={onClose}>
          {t('Close')}
        </button>
      </footer>
    </Dialog>
  )
}
