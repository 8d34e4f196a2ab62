// SPDX-License-Identifier: Apache-2.0
// Parts that every page is made of: heads, cards, pills, facts, fields, and what stands where nothing is yet.
import type { ComponentChildren } from 'preact'
import { useId, useState } from 'preact/hooks'
import { PamojaError } from '#sdk/client.ts'
import { Link } from '../place.tsx'
import { detailOf, sentenceOf } from '../refusals.ts'
import { useTitle } from '../title.ts'
import { chooseLanguage, currentLanguage, languages, t } from '../words.ts'
import { Icon, type IconName } from './icons.tsx'
import { ago, count, moment, shortId, words } from './words.ts'

export function Mark() {
  return (
    <svg class="brand-mark" viewBox="0 0 32 32" aria-hidden="true">
      <circle cx="12.5" cy="16" r="5.5" />
      <circle cx="19.5" cy="16" r="5.5" />
    </svg>
  )
}

/** Frame of the pages before somebody is signed in. */
export function SignInFrame({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <main class="sign-in">
      <div class="card">
        <p class="brand">
          <Mark />
          Pamoja
        </p>
        <h1>{title}</h1>
        {children}
        <div class="menu-row">
          <LanguageChoice />
        </div>
      </div>
    </main>
  )
}

/** Language of the page, chosen on this device. */
export function LanguageChoice() {
  return (
    <>
      <label for="language">{t('Language')}</label>
      <select
        id="language"
        class="push"
        value={currentLanguage()}
        onChange={(event) => chooseLanguage(event.currentTarget.value)}
      >
        {Object.entries(languages).map(([code, name]) => (
          <option key={code} value={code} lang={code}>
            {name}
          </option>
        ))}
      </select>
    </>
  )
}

export function PageHead({ title, note, children }: { title: string; note?: string; children?: ComponentChildren }) {
  useTitle(t(title))
  return (
    <header class="page-head">
      <h1 dir="auto">{t(title)}</h1>
      {note && <span class="soft">{t(note)}</span>}
      {children && <div class="push">{children}</div>}
    </header>
  )
}

export function Card({
  title,
  step,
  action,
  children,
}: {
  title: string
  /** Its number where several are filled in one after the other. */
  step?: number
  action?: ComponentChildren
  children: ComponentChildren
}) {
  const id = useId()
  return (
    <section class="card" aria-labelledby={id}>
      <header>
        {step !== undefined && (
          <span class="nth" aria-hidden="true">
            {count(step)}
          </span>
        )}
        <h2 id={id}>{t(title)}</h2>
        {action}
      </header>
      {children}
    </section>
  )
}

/** Secret of a new key, which is shown once. */
export function NewKey({ secret }: { secret: string }) {
  return (
    <div class="callout good" role="status">
      <p>{t('This key is shown once. Copy it now.')}</p>
      <p class="mono">{secret}</p>
      <button type="button" class="btn" onClick={() => void navigator.clipboard.writeText(secret)}>
        {t('Copy')}
      </button>
    </div>
  )
}

/** Table of figures: a name and its figures in each row. */
export function Figures({
  names: [first = '', ...names],
  rows,
}: {
  names: readonly string[]
  rows: readonly { name: ComponentChildren; key: string; figures: readonly string[] }[]
}) {
  return (
    <section
      class="plain-scroll"
      aria-label={[first, ...names].map((name) => t(name)).join(', ')}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard
      tabIndex={0}
    >
      <table class="plain-table">
        <thead>
          <tr>
            <th scope="col">{t(first)}</th>
            {names.map((name) => (
              <th key={name} scope="col" class="number">
                {t(name)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ name, key, figures }) => (
            <tr key={key}>
              <td>{name}</td>
              {figures.map((figure, i) => (
                <td key={i} class="number">
                  {figure}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

/** What a state looks like wherever it is shown: its colour and its icon. */
const looks: Readonly<Record<string, readonly [tone: Tone, icon: IconName]>> = {
  ...same(
    'good',
    'good',
    'delivered completed active approved answered paid verified up read healthy available won valid',
  ),
  ...same('good', 'good', 'connected succeeded enabled published accepted opened clicked matched opted_in'),
  ...same('note', 'half', 'processing open trialing active_call running in_progress delivering busy sending'),
  ...same('note', 'to-right', 'sent submitted initiated'),
  ...same('idle', 'clock', 'pending queued scheduled incomplete new created'),
  ...same('warn', 'mobile', 'requires_action waiting ringing'),
  ...same(
    'warn',
    'warn',
    'degraded expiring past_due disputed warning reversed partially_refunded theirs_only ours_only amount_differs',
  ),
  ...same('warn', 'eye', 'in_review review needs_review'),
  ...same('warn', 'again', 'retrying'),
  ...same('warn', 'mail', 'invited'),
  ...same('bad', 'bad', 'failed revoked rejected refused down bounced failing lost invalid complained error'),
  ...same('bad', 'clock', 'overdue uncollectible'),
  ...same('bad', 'lock', 'suspended blocked'),
  ...same('in', 'into', 'received inbound'),
  ...same('idle', 'hourglass', 'expired'),
  ...same('idle', 'ban', 'cancelled void disabled off no_answer offline over opted_out'),
  ...same('idle', 'undo', 'refunded'),
  ...same('idle', 'pencil', 'draft'),
  ...same('idle', 'pause', 'paused away'),
}

type Tone = 'good' | 'note' | 'warn' | 'bad' | 'in' | 'idle'

function same(tone: Tone, icon: IconName, states: string): Record<string, readonly [Tone, IconName]> {
  return Object.fromEntries(states.split(' ').map((state) => [state, [tone, icon] as const]))
}

/** A state: its sign, its word and its colour. */
export function Pill({ state, word, tone }: { state: string; word?: string; tone?: Tone }) {
  const [usual, icon] = looks[state] ?? (['idle', 'clock'] as const)
  return (
    <span class={`pill ${tone ?? usual}`}>
      <Icon name={icon} />
      {word ?? words(state)}
    </span>
  )
}

/** A time: how long ago, with the exact one under the pointer. */
export function Ago({ at }: { at: string | null }) {
  if (at === null) return <>–</>
  return (
    <time dateTime={at} title={moment(at)}>
      {ago(at)}
    </time>
  )
}

/** A name with what tells it apart below it. */
export function TwoLines({ first, second }: { first: string; second: string | null }) {
  return (
    <span class="two-lines">
      <span dir="auto">{first}</span>
      {second && <small dir="auto">{second}</small>}
    </span>
  )
}

/** An id: short on the page, whole on the clipboard. */
export function CopyId({ id, isPlain = false }: { id: string; isPlain?: boolean }) {
  const [isCopied, setIsCopied] = useState(false)
  const copy = (): void => {
    void navigator.clipboard.writeText(id).then(() => setIsCopied(true))
  }
  return (
    <button type="button" class={isPlain ? 'id plain' : 'id'} title={id} dir="ltr" onClick={copy}>
      <span>{shortId(id)}</span>
      <span class="hidden">{isCopied ? t('Copied') : t('Copy')}</span>
      <Icon name={isCopied ? 'check' : 'copy'} />
    </button>
  )
}

export function Facts({ rows }: { rows: readonly [name: string, value: ComponentChildren][] }) {
  return (
    <dl class="facts">
      {rows.map(([name, value]) => (
        <div key={name}>
          <dt>{t(name)}</dt>
          <dd>{value === '' ? '–' : (value ?? '–')}</dd>
        </div>
      ))}
    </dl>
  )
}

export function Problem({ error, retry }: { error: Error; retry?: () => unknown }) {
  const detail = detailOf(error)
  return (
    <div class="callout bad" role="alert">
      <p>{sentenceOf(error)}</p>
      {detail && (
        <p class="soft small" lang="en" dir="ltr">
          {detail}
        </p>
      )}
      {error instanceof PamojaError && error.requestId && (
        <p class="soft">
          {t('Request')} <CopyId id={error.requestId} />
        </p>
      )}
      {retry && (
        <button type="button" class="btn" onClick={() => void retry()}>
          {t('Try again')}
        </button>
      )}
    </div>
  )
}

/** What stands where there is nothing: why, and what to do first. */
export function Nothing({
  title,
  icon = 'list',
  isPage = false,
  children,
}: {
  title: string
  icon?: IconName
  /** Whether it is all that the page has. */
  isPage?: boolean
  children?: ComponentChildren
}) {
  const Title = isPage ? 'h1' : 'p'
  return (
    <div class="nothing">
      <Icon name={icon} class="big" />
      <Title class="strong">{t(title)}</Title>
      {typeof children === 'string' ? <p class="soft">{t(children)}</p> : children}
    </div>
  )
}

/** Bars of the size of what comes, after a moment. */
export function Waiting({ lines = 4 }: { lines?: number }) {
  return (
    <div class="waiting" role="status">
      <span class="hidden">{t('Loading')}</span>
      {Array.from({ length: lines }, (_, i) => (
        <span key={i} class={`skeleton w${(i % 4) + 1}`} />
      ))}
    </div>
  )
}

/** A figure: its name, its value, null while it loads, and the address of its rows. */
export type Figure = readonly [name: string, value: string | null, note?: ComponentChildren, to?: string]

/** Figures side by side; those that could not be read are dashes, as bars would say that they still come. */
export function FiguresRow({ figures, error = null }: { figures: readonly Figure[]; error?: Error | null }) {
  return (
    <div class="figures">
      {figures.map(([name, value, note, to]) => (
        <div key={name} class="figure">
          <p class="soft">{to ? <Link to={to}>{name}</Link> : name}</p>
          <p class={value !== null && value.length <= 9 ? 'big short' : 'big'}>
            {value ?? (error ? '–' : <span class="skeleton w2" />)}
          </p>
          {note && <p class="soft small">{note}</p>}
        </div>
      ))}
    </div>
  )
}
