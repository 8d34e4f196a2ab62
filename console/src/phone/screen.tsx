// SPDX-License-Identifier: Apache-2.0
// Parts of the phone's apps: a screen that stays at its newest end, and a line to write in.
import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { Problem } from '../kit/kit.tsx'
import { t } from '../words.ts'

interface ScreenProps {
  label: string
  /** Changes when there is something new. */
  newest?: string | number
  children: ComponentChildren
}

export function Screen({ label, newest, children }: ScreenProps) {
  const end = useRef<HTMLDivElement>(null)
  useEffect(() => end.current?.scrollTo?.(0, end.current.scrollHeight), [newest])
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard
    <div class="screen" role="log" aria-label={label} ref={end} tabIndex={0}>
      {children}
    </div>
  )
}

/** Each kind of input has attributes of its own, which the compiler tells apart by the type. */
const kinds = { secret: { type: 'password' }, open: { type: 'text' } } as const

interface LineProps {
  label: string
  action: string
  placeholder?: string
  disabled?: boolean
  mode?: 'text' | 'tel' | 'numeric'
  initial?: string
  isSecret?: boolean
  onSend(text: string): Promise<unknown>
}

/** Empties itself once it was sent; otherwise says why not. */
export function Line({
  label,
  action,
  onSend,
  placeholder,
  disabled,
  mode = 'text',
  initial = '',
  isSecret,
}: LineProps) {
  const [text, setText] = useState(initial)
  const [error, setError] = useState<Error | null>(null)
  const [isBusy, setIsBusy] = useState(false)
  const id = useId()
  const send = (event: Event): void => {
    event.preventDefault()
    setError(null)
    setIsBusy(true)
    onSend(text)
      .then(() => setText(initial), setError)
      .finally(() => setIsBusy(false))
  }
  return (
    <form class="reply" onSubmit={send}>
      {error && <Problem error={error} />}
      <label for={id} class="hidden">
        {label}
      </label>
      <input
        id={id}
        {...(isSecret ? kinds.secret : kinds.open)}
        autocomplete="off"
        inputMode={mode}
        placeholder={placeholder ?? label}
        disabled={disabled}
        required
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <button type="submit" class="btn primary" disabled={disabled || isBusy}>
        {t(action)}
      </button>
    </form>
  )
}
