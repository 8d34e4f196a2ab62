// SPDX-License-Identifier: Apache-2.0
// Step of a voice menu that takes a name: agents by theirs, and other names with where they lead.
import type { ComponentChildren } from 'preact'
import type { Ivr } from '#sdk/schemas.ts'
import { Field, Switch } from '../../kit/fields.tsx'
import { Lines } from '../../kit/lines.tsx'
import { t } from '../../words.ts'

type Directory = NonNullable<Ivr['menus'][string]['directory']>
type Entry = NonNullable<Directory['entries']>[number]
type Action = Entry['action']

interface DirectoryProps {
  directory: Directory
  /** Control of where a name leads. */
  place(action: Action, keep: (action: Action) => void): ComponentChildren
  onChange(directory: Directory): void
  /** Takes keys in place of a name. */
  onKeys(): void
}

export function DirectoryFields({ directory, place, onChange, onKeys }: DirectoryProps) {
  const { agents = true, entries = [] } = directory
  const keep = (all: Entry[]): void => onChange({ ...directory, entries: all })
  return (
    <>
      <p class="hint">
        {t('Callers spell a name on the keys (2 is A, B or C) and press #, or say it if speech is accepted.')}
      </p>
      <Switch
        label="Agents by their names"
        isOn={agents}
        onChange={(isOn) => onChange({ ...directory, agents: isOn })}
      />
      <Lines<Entry>
        rows={entries}
        add="Add a name"
        begun={{ name: '', action: { type: 'hangup' } }}
        beside={
          <button type="button" class="btn quiet small" onClick={onKeys}>
            {t('Keys instead')}
          </button>
        }
        onChange={keep}
      >
        {(entry, change) => (
          <>
            <Field label="Name" value={entry.name} onInput={(name) => change({ ...entry, name })} />
            {place(entry.action, (action) => change({ ...entry, action }))}
          </>
        )}
      </Lines>
    </>
  )
}
