// SPDX-License-Identifier: Apache-2.0
// List of the keys: those of the page first, then those that work everywhere.
import type { Entry } from './area.tsx'
import { Dialog } from './kit/dialogs.tsx'
import { usePlace } from './place.tsx'
import { t } from './words.ts'

type Does = readonly [key: string, does: string]

const keys: readonly Does[] = [
  ['Ctrl K  /', 'Search everything'],
  ['C', 'Send a text'],
  ['.', 'Phone'],
  ['T', 'Test or live'],
  ['J  K', 'Next and previous row'],
  ['↵', 'Open'],
  ['X', 'Select a row'],
  ['F', 'Filters'],
  ['Ctrl Z', 'Undo'],
  ['?', 'This list'],
  ['Esc', 'Close the top layer'],
]

/** Keys of one page, which stand first there. */
const ofPages: readonly (readonly [page: string, keys: readonly Does[]])[] = [
  [
    '/inbox',
    [
      ['J  K', 'Next and previous conversation'],
      ['R', 'Answer'],
      ['N', 'Note'],
      ['/', 'Templates'],
      ['Ctrl ↵', 'Send'],
      ['E', 'Close'],
    ],
  ],
  [
    '/desk',
    [
      ['↵', 'Answer the call'],
      ['Esc', 'Not now'],
      ['M', 'Mute'],
      ['H', 'Hold'],
      ['D', 'Keys'],
      ['P', 'Transfer'],
      ['R', 'Pause recording'],
      ['Ctrl E', 'Hang up'],
      ['1 – 9', 'Outcome'],
      ['Ctrl ↵', 'Save and be free'],
    ],
  ],
]

export function KeyboardHelp({ entries, onClose }: { entries: readonly Entry[]; onClose(): void }) {
  const { path } = usePlace()
  const goes = entries.flatMap(({ key, name }): Does[] => (key ? [[`G ${key.toUpperCase()}`, name]] : []))
  const [, own = []] = ofPages.find(([page]) => path === page || path.startsWith(`${page}/`)) ?? []
  const taken = new Set(own.map(([key]) => key))
  const others = [...keys, ...goes].filter(([key]) => !taken.has(key))
  return (
    <Dialog label={t('Keyboard')} onClose={onClose} class="slim">
      <h2>{t('Keyboard')}</h2>
      <dl class="shortcuts">
        {[...own, ...others].map(([key, does]) => (
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
