// SPDX-License-Identifier: Apache-2.0
// One search over everything: pages by their names, actions, and records by id, number, reference or words. A whole id opens at once.
import { useEffect, useRef, useState } from 'preact/hooks'
import { accountSearch } from '#sdk/operations.ts'
import { api, may } from './api.ts'
import type { Entry } from './area.tsx'
import { Dialog } from './kit/dialogs.tsx'
import { Icon, type IconName } from './kit/icons.tsx'
import { money, named, shortId, shortMoment, words } from './kit/words.ts'
import { go } from './place.tsx'
import { placeOf } from './records.ts'
import { sentenceOf } from './refusals.ts'
import { t } from './words.ts'

interface Hit {
  readonly to: string
  readonly group: string
  readonly icon: IconName
  readonly name: string
  readonly note: string
}

const pauseMs = 200
/** The newest of each kind. */
const maxOfGroup = 5
const idForm = /^[a-z]{2,5}_[0-9a-z]{26}$/i

export function Search({ entries, onClose }: { entries: readonly Entry[]; onClose(): void }) {
  const [text, setText] = useState('')
  const [records, setRecords] = useState<readonly Hit[] | null>([])
  const [error, setError] = useState<Error | null>(null)
  const [at, setAt] = useState(0)
  const input = useRef<HTMLInputElement>(null)
  useEffect(() => input.current?.focus(), [])
  useEffect(() => {
    const wanted = text.trim()
    setAt(0)
    setError(null)
    if (wanted.length < 2) return setRecords([])
    let isCurrent = true
    setRecords(null)
    const show = (hits: readonly Hit[], refused: Error | null): void => {
      if (!isCurrent) return
      setRecords(hits)
      setError(refused)
    }
    const ask = (): void =>
      void found(wanted).then(
        (hits) => show(hits, null),
        (refused: Error) => show([], refused),
      )
    const timer = setTimeout(ask, pauseMs)
    return () => {
      isCurrent = false
      clearTimeout(timer)
    }
  }, [text])
  const named = entries
    .filter(({ name }) => t(name).toLowerCase().includes(text.trim().toLowerCase()))
    .slice(0, text === '' ? 8 : 4)
    .map(
      ({ to, name, icon, key }): Hit => ({
        to,
        icon,
        name: t(name),
        group: t('Go to'),
        note: key ? `G ${key.toUpperCase()}` : '',
      }),
    )
  const hits = [...named, ...(records ?? [])]
  const open = (hit: Hit | undefined): void => {
    if (!hit) return
    onClose()
    go(hit.to)
  }
  const press = (event: KeyboardEvent): void => {
    if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return
    event.preventDefault()
    setAt(Math.max(0, Math.min(hits.length - 1, at + (event.key === 'ArrowDown' ? 1 : -1))))
  }
  return (
    <Dialog label={t('Search everything')} onClose={onClose} class="finder">
      <search>
        <form
          onSubmit={(event) => {
            event.preventDefault()
            open(hits[at])
          }}
        >
          <label for="search" class="hidden">
            {t('Search everything')}
          </label>
          <Icon name="search" />
          <input
            id="search"
            ref={input}
            autocomplete="off"
            dir="auto"
            role="combobox"
            aria-expanded="true"
            aria-controls="found"
            aria-activedescendant={hits[at] ? `hit-${at}` : undefined}
            placeholder={t('Number, name, reference, id…')}
            value={text}
            onKeyDown={press}
            onInput={(event) => setText(event.currentTarget.value)}
          />
        </form>
      </search>
      <div id="found" role="listbox" aria-label={t('Found')} class="found">
        {hits.map((hit, i) => (
          <div key={hit.to + hit.name}>
            {hit.group !== hits[i - 1]?.group && <p class="menu-title">{hit.group}</p>}
            {/* biome-ignore lint/a11y/useFocusableInteractive: the focus stays in the field, which names the active one */}
            {/* biome-ignore lint/a11y/useKeyWithClickEvents: arrows and Enter do the same from the field */}
            <div id={`hit-${i}`} role="option" aria-selected={i === at} class="hit" onClick={() => open(hit)}>
              <Icon name={hit.icon} />
              <span class="cut" dir="auto">
                {hit.name}
              </span>
              <small class="soft">{hit.note}</small>
            </div>
          </div>
        ))}
      </div>
      <p class="soft finder-foot" role="status">
        {error
          ? sentenceOf(error)
          : records === null
            ? t('Searching…')
            : hits.length === 0
              ? t('Nothing found')
              : t('↑ ↓ choose · ↵ open · paste any id, it opens at once')}
      </p>
    </Dialog>
  )
}

async function found(text: string): Promise<Hit[]> {
  const place = idForm.test(text) ? placeOf(text) : null
  if (place !== null) return [{ to: place, name: text, group: t('Open'), icon: 'to-right', note: '↵' }]
  if (!may('account:read') || text.length < 3) return []
  const { data } = await accountSearch(api, { query: { q: text, limit: 100 } })
  const hits = data.flatMap((one): Hit[] => {
    const to = placeOf(one.id) ?? deliveryAt(one.path)
    const [group, icon] = kindOf(one.kind)
    const note = [
      one.currency && money(one.amount ?? 0, one.currency),
      one.status && words(one.status),
      shortMoment(one.created_at),
    ]
    const name = one.label ? named(one.label) : shortId(one.id)
    return to === null ? [] : [{ to, icon, group: t(group), name, note: note.filter(Boolean).join(' · ') }]
  })
  const groups = [...Object.values(kinds), other].map(([group]) => t(group))
  return groups.flatMap((group) => hits.filter((hit) => hit.group === group).slice(0, maxOfGroup))
}

/** A delivery stands on the page of its endpoint. */
function deliveryAt(path: string | null): string | null {
  const [, webhook, delivery] = /^\/v1\/webhooks\/(\w+)\/deliveries\/(\w+)$/.exec(path ?? '') ?? []
  return webhook && delivery ? `/webhooks/${webhook}/${delivery}` : null
}

/** Kind of a found record -> its group and its icon, in the order in which the groups stand. */
const kinds: Readonly<Record<string, readonly [group: string, icon: IconName]>> = {
  customer: ['Customers', 'users'],
  ...{ message: ['Messages', 'message'], chat: ['Chats', 'chat'], email: ['Emails', 'mail'], call: ['Calls', 'call'] },
  ...{ ussd_session: ['USSD sessions', 'hash'], payment: ['Payments', 'card'], payout: ['Payouts', 'out'] },
  ...{ refund: ['Refunds', 'undo'], invoice: ['Invoices', 'file'], identity_check: ['Identity checks', 'face'] },
  ...{ delivery: ['Webhooks', 'hook'], request: ['Requests', 'list'] },
}
const other = ['Records', 'list'] as const

/** Name and icon of what was found. */
export const kindOf = (kind: string): readonly [group: string, icon: IconName] => kinds[kind] ?? other
