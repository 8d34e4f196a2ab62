// SPDX-License-Identifier: Apache-2.0
// Draft of a record: what was changed and not saved yet stays in this tab when its page is left or loaded again.
import { useState } from 'preact/hooks'
import { t } from '../words.ts'

interface Draft<T> {
  readonly value: T
  /** Whether it differs from what is saved. */
  readonly isChanged: boolean
  change(next: T): void
  /** Goes back to what is saved. */
  discard(): void
  /** Keeps it no longer: it is saved. */
  forget(): void
}

/** `name` tells the record and its version: a draft of an earlier version is not taken up. */
export function useDraft<T>(name: string, saved: T): Draft<T> {
  const key = `pamoja-draft ${name}`
  const [value, setValue] = useState<T>(() => {
    const kept = sessionStorage.getItem(key)
    return kept === null ? saved : JSON.parse(kept)
  })
  const forget = (): void => sessionStorage.removeItem(key)
  return {
    value,
    isChanged: JSON.stringify(value) !== JSON.stringify(saved),
    change(next) {
      setValue(next)
      sessionStorage.setItem(key, JSON.stringify(next))
    },
    discard() {
      forget()
      setValue(saved)
    },
    forget,
  }
}

/** Says that a draft differs from what is saved, with the way back to that. */
export function NotSaved({ isChanged, onDiscard }: { isChanged: boolean; onDiscard(): void }) {
  if (!isChanged) return null
  return (
    <>
      <p class="soft">{t('Not saved yet')}</p>
      <button type="button" class="btn quiet" onClick={onDiscard}>
        {t('Discard the changes')}
      </button>
    </>
  )
}
