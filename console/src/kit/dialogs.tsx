// SPDX-License-Identifier: Apache-2.0
// Questions over the page, and what is said when something was done. `confirm` is for what cannot be undone or hits others: it
// names the thing and what follows. Everything else is done at once by `undoable`, which can be taken back for some seconds.
import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { sentenceOf } from '../refusals.ts'
import { store } from '../store.ts'
import { t } from '../words.ts'
import { Field, TextField } from './fields.tsx'
import { Icon, type IconName } from './icons.tsx'

export interface Question {
  /** Such as `Suspend Eko Pharmacy?` */
  readonly title: string
  /** What follows, also the mild things. */
  readonly consequences?: readonly string[]
  /** Label of the reason, where somebody will read it. */
  readonly reason?: string
  /** Name that has to be typed, for what is grave. */
  readonly type?: string
  /** Words of the two outcomes: `Suspend Eko Pharmacy`, `Do not suspend`. */
  readonly action: string
  readonly keep?: string
  readonly isDanger?: boolean
  readonly icon?: IconName
}

/** Question before something is removed. */
export const removing = (name: string, ...consequences: string[]): Question => ({
  title: t('Remove {name}?', { name }),
  consequences,
  action: t('Remove {name}', { name }),
  keep: t('Keep it'),
})

interface Asked extends Question {
  end(answer: Answer | null): void
}

export interface Answer {
  readonly reason: string
}

const question = store<Asked | null>(null)

/** Asks; null when it is not to be done. */
export function confirm(asked: Question): Promise<Answer | null> {
  return new Promise((resolve) => {
    question.set({
      ...asked,
      end: (answer) => {
        question.set(null)
        resolve(answer)
      },
    })
  })
}

/** A box over the page, which Escape closes; the focus goes back to where it was. */
export function Dialog({
  label,
  onClose,
  class: more = '',
  children,
}: {
  label: string
  onClose(): void
  class?: string
  children: ComponentChildren
}) {
  const box = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    const before = document.activeElement
    box.current?.showModal()
    return () => {
      if (before instanceof HTMLElement) before.focus()
    }
  }, [])
  return (
    <dialog
      ref={box}
      class={`dialog ${more}`}
      aria-label={label}
      onCancel={(event) => {
        event.preventDefault()
        onClose()
      }}
    >
      {children}
    </dialog>
  )
}

function QuestionBox({ asked }: { asked: Asked }) {
  const { title, consequences = [], reason, type, action, keep, isDanger = true, icon, end } = asked
  const [why, setWhy] = useState('')
  const [name, setName] = useState('')
  const isReady = (reason === undefined || why.trim() !== '') && (type === undefined || name.trim() === type)
  const submit = (event: Event): void => {
    event.preventDefault()
    if (isReady) end({ reason: why.trim() })
  }
  return (
    <Dialog label={title} onClose={() => end(null)}>
      <form onSubmit={submit}>
        <header>
          <Icon name={icon ?? (isDanger ? 'warn' : 'info')} class={isDanger ? 'big bad' : 'big'} />
          <h2>{title}</h2>
        </header>
        {consequences.length > 0 && (
          <ul class="consequences">
            {consequences.map((one) => (
              <li key={one}>{one}</li>
            ))}
          </ul>
        )}
        {reason !== undefined && (
          <TextField label={reason} value={why} onInput={setWhy} rows={3} required maxLength={500} />
        )}
        {type !== undefined && (
          <Field
            label={t('Type {name} to confirm', { name: type })}
            value={name}
            onInput={setName}
            autocomplete="off"
          />
        )}
        <footer>
          <button type="button" class="btn" onClick={() => end(null)}>
            {keep ?? t('Not now')}
          </button>
          <button type="submit" class={isDanger ? 'btn primary danger' : 'btn primary'} disabled={!isReady}>
            {action}
          </button>
        </footer>
      </form>
    </Dialog>
  )
}

interface Said {
  readonly id: number
  readonly words: string
  readonly isBad: boolean
  undo?(): void
}

const said = store<readonly Said[]>([])
const saidMs = 4_000
const undoMs = 8_000
let lastId = 0

function show(one: Omit<Said, 'id'>, ms: number): () => void {
  const id = ++lastId
  const hide = (): void => said.set(said.get().filter((other) => other.id !== id))
  said.set([...said.get().slice(-2), { ...one, id }])
  setTimeout(hide, ms)
  return hide
}

/** Says that something was done. */
export function say(words: string): void {
  show({ words, isBad: false }, saidMs)
}

/** Says why something was not done. */
export function complain(error: Error): void {
  show({ words: sentenceOf(error), isBad: true }, undoMs)
}

/** Does something at once and offers to take it back. */
export async function undoable(
  words: string,
  act: () => Promise<unknown>,
  back: () => Promise<unknown>,
): Promise<void> {
  await act()
  const undo = (): void => {
    hide()
    back().then(() => say(t('Undone')), complain)
  }
  const hide = show({ words, isBad: false, undo }, undoMs)
}

/** Ctrl Z takes back what was done last, unless something is typed: there it takes back letters. */
function useUndoKey(): void {
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      const isTyped = event.target instanceof HTMLElement && event.target.matches('input, textarea, select')
      if (event.key !== 'z' || !(event.ctrlKey || event.metaKey) || isTyped) return
      const last = said.get().findLast(({ undo }) => undo)
      if (!last) return
      event.preventDefault()
      last.undo?.()
    }
    window.addEventListener('keydown', press)
    return () => window.removeEventListener('keydown', press)
  }, [])
}

/** Where questions are asked and things are said; once in the frame of the page. */
export function Dialogs() {
  const asked = question.use()
  const all = said.use()
  const id = useId()
  useUndoKey()
  return (
    <>
      {asked && <QuestionBox key={asked.title} asked={asked} />}
      <div class="toasts" role="status" id={id}>
        {all.map(({ id: own, words, isBad, undo }) => (
          <div key={own} class={isBad ? 'toast bad' : 'toast'}>
            <Icon name={isBad ? 'bad' : 'good'} />
            <span>{words}</span>
            {undo && (
              <button type="button" class="btn small" onClick={undo}>
                {t('Undo')}
              </button>
            )}
          </div>
        ))}
      </div>
    </>
  )
}
