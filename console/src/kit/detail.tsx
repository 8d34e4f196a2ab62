// SPDX-License-Identifier: Apache-2.0
// Page of one record: where it belongs, what it is, its state, what can be done with it, its story, and its raw form.
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { may } from '../api.ts'
import { go, Link } from '../place.tsx'
import { useTitle } from '../title.ts'
import { t } from '../words.ts'
import { type Answer, complain, confirm, type Question, say } from './dialogs.tsx'
import type { FormOf } from './form.tsx'
import { FormBox } from './form-box.tsx'
import { Icon, type IconName } from './icons.tsx'
import { CopyId, Pill, Problem, Waiting } from './kit.tsx'
import type { Loaded } from './load.ts'
import { Menu } from './menu.tsx'

/** Something that can be done with the record. */
export interface Deed {
  readonly name: string
  readonly icon?: IconName
  readonly isMain?: boolean
  readonly isDanger?: boolean
  /** Scope of the members who see it; without one, all who see the page. */
  readonly scope?: string
  /** Question before it is done, or what makes it ready and then asks. */
  readonly asks?: Question | (() => Promise<Question>)
  /** Form that is filled in, instead of a question. */
  readonly form?: FormOf
  run?(answer: Answer): Promise<unknown>
  /** Page shown once it is done, when the record is gone then. */
  readonly leadsTo?: string
}

interface DetailProps {
  /** List that the record belongs to: its address and its name. */
  in: readonly [to: string, name: string]
  id: string
  title: string
  note?: ComponentChildren
  state?: string | null
  deeds?: readonly Deed[]
  onDone?(): unknown
  /** Where the API gives the record. */
  path: string
  /** The record as the API gives it. */
  raw: unknown
  children?: ComponentChildren
}

export function Detail({
  in: [to, name],
  id,
  title,
  note,
  state,
  deeds = [],
  onDone,
  path,
  raw,
  children,
}: DetailProps) {
  useTitle(title)
  return (
    <div class="page detail">
      <nav class="crumbs" aria-label={t('Breadcrumbs')}>
        <Link to={to}>{t(name)}</Link>
        <Icon name="right" />
        <CopyId id={id} />
      </nav>
      <header class="page-head">
        <h1 dir="auto">{title}</h1>
        {state && <Pill state={state} />}
        <div class="push">
          <Deeds deeds={deeds} {...(onDone ? { onDone } : {})} />
        </div>
        {note && <p class="soft whole">{note}</p>}
      </header>
      {children}
      <footer class="row raw-line">
        <Raw title={t('JSON')} value={raw} />
        <CopyCurl path={path} look="small quiet" />
      </footer>
    </div>
  )
}

/** The record once it is there; why it is not, otherwise. */
export function Opened<T>({ record, children }: { record: Loaded<T>; children(value: T): ComponentChildren }) {
  if (record.error && !record.value)
    return (
      <div class="page">
        <h1>{t('This page cannot be shown')}</h1>
        <Problem error={record.error} retry={record.reload} />
      </div>
    )
  if (record.value === null) return <Waiting lines={8} />
  return <>{children(record.value)}</>
}

const maxShown = 3

/** Buttons of what the member may do: the last few in sight, the others in a menu. */
export function Deeds({ deeds, onDone }: { deeds: readonly Deed[]; onDone?(): unknown }) {
  const own = deeds.filter(({ scope }) => scope === undefined || may(scope))
  const shown = own.slice(-maxShown)
  const further = own.slice(0, -maxShown)
  const buttons = (some: readonly Deed[], done?: () => unknown) =>
    some.map((deed) => <DeedButton key={deed.name} deed={deed} {...(done ? { onDone: done } : {})} />)
  return (
    <>
      {further.length > 0 && (
        <Menu label={t('More actions')} button={<Icon name="more" />} class="btn square">
          {(close) =>
            buttons(further, () => {
              close()
              return onDone?.()
            })
          }
        </Menu>
      )}
      {buttons(shown, onDone)}
    </>
  )
}

export function DeedButton({ deed, onDone }: { deed: Deed; onDone?(): unknown }) {
  const [isBusy, setIsBusy] = useState(false)
  const [isOpen, setIsOpen] = useState(false)
  const { name, icon, isMain, isDanger, asks, form, run, leadsTo } = deed
  const press = async (): Promise<void> => {
    if (form) return setIsOpen(true)
    setIsBusy(true)
    try {
      const answer = asks ? await confirm(typeof asks === 'function' ? await asks() : asks) : { reason: '' }
      if (answer === null) return setIsBusy(false)
      await run?.(answer)
      say(t('Done: {name}', { name: t(name) }))
      if (leadsTo === undefined) await onDone?.()
      else go(leadsTo)
    } catch (error) {
      complain(error instanceof Error ? error : new Error(String(error)))
    }
    setIsBusy(false)
  }
  return (
    <>
      <button
        type="button"
        class={['btn', isMain && 'primary', isDanger && 'danger'].filter(Boolean).join(' ')}
        disabled={isBusy}
        onClick={() => void press()}
      >
        {icon && <Icon name={icon} />}
        {t(name)}
      </button>
      {form && isOpen && <FormBox form={form} onClose={() => setIsOpen(false)} onMade={() => void onDone?.()} />}
    </>
  )
}

/** JSON as the API gives it, closed until opened. */
export function Raw({ title, value, isOpen = false }: { title: string; value: unknown; isOpen?: boolean }) {
  const [isShown, setIsShown] = useState(isOpen)
  return (
    <details class="raw" open={isOpen} onToggle={(event) => setIsShown(event.currentTarget.open)}>
      <summary>{title}</summary>
      {isShown && <Code text={typeof value === 'string' ? value : JSON.stringify(value, null, 2)} />}
    </details>
  )
}

function Code({ text }: { text: string }) {
  return (
    <figure class="code">
      <figcaption>
        JSON
        <CopyText text={text} />
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard */}
      <pre tabIndex={0} dir="ltr">
        {text}
      </pre>
    </figure>
  )
}

export function CopyText({ text, name = 'Copy', look = 'small push' }: { text: string; name?: string; look?: string }) {
  const [isCopied, setIsCopied] = useState(false)
  return (
    <button
      type="button"
      class={`btn ${look}`}
      onClick={() => void navigator.clipboard.writeText(text).then(() => setIsCopied(true))}
    >
      <Icon name={isCopied ? 'check' : name === 'Copy' ? 'copy' : 'terminal'} />
      {isCopied ? t('Copied') : t(name)}
    </button>
  )
}

/** Command that runs as pasted, with the key in the reader's environment. */
export function CopyCurl({ path, look = '' }: { path: string; look?: string }) {
  const url = `${window.location.origin}/api${path}`
  return <CopyText text={`curl '${url}' -H "Authorization: Bearer $PAMOJA_API_KEY"`} name="Copy as curl" look={look} />
}
