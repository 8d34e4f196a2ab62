// SPDX-License-Identifier: Apache-2.0
// One search over everything: pages by their names, actions, and records by id, number, reference or words. A whole id opens at once.
import { useEffect, useRef, useState } from 'preact/hooks'
import { accountSearch } from '#sdk/operations.ts'
import { api, may } from './api.ts'
import type { Entry } from './area.tsx'
import { Dialog } from './kit/dialogs.tsx'
import { Icon, type IconName } from './kit/icons.tsx'
import { shortId, shortMoment, words } from './kit/words.ts'
import { go } from './place.tsx'
import { placeOf } from './records.ts'
import { t } from './words.ts'

interface Hit {
  readonly to: string
  readonly group: string
  readonly icon: IconName
  readonly name: string
  readonly note: string
}

const pauseMs = 200
const idForm = /^[a-z]{2,5}_[0-9a-z]{26}$/i

export function Search({ entries, onClose }: { entries: readonly Entry[]; onClose(): void }) {
  const [text, setText] = useState('')
  const [records, setRecords] = useState<readonly Hit[] | null>([])
  const [at, setAt] = useState(0)
  const input = useRef<HTMLInputElement>(null)
  useEffect(() => input.current?.focus(), [])
  useEffect(() => {
    const wanted = text.trim()
    setAt(0)
    if (wanted.length < 2) return setRecords([])
    let isCurrent = true
    setRecords(null)
    const timer = setTimeout(() => void found(wanted).then((hits) => isCurrent && setRecords(hits)), pauseMs)
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
            placeholder={t('Number, name, id, words…')}
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
        {records === null
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
  const { data } = await accountSearch(api, { query: { q: text, limit: 20 } }).catch(() => ({ data: [] }))
  const hits = data.flatMap((one): Hit[] => {
    const to = placeOf(one.id)
    const [group, icon] = kinds[one.kind] ?? ['Records', 'list']
    const note = [one.status && words(one.status), shortMoment(one.created_at), shortId(one.id)]
      .filter(Boolean)
      .join(' · ')
    return to === null ? [] : [{ to, icon, group: t(group), name: one.label ?? shortId(one.id), note }]
  })
  return hits.sort((a, b) => a.group.localeCompare(b.group))
}

/** Kind of a found record -> its group and its icon. */
const kinds: Readonly<Record<string, readonly [group: string, icon: IconName]>> = {
  ...{ message: ['Messages', 'message'], chat: ['Chats', 'chat'], email: ['Emails', 'mail'], call: ['Calls', 'call'] },
  ...{ ussd_session: ['USSD sessions', 'hash'], payment: ['Payments', 'card'], payout: ['Payouts', 'out'] },
  ...{ invoice: ['Invoices', 'file'], identity_check: ['Identity checks', 'face'], delivery: ['Webhooks', 'hook'] },
  request: ['Requests', 'list'],
  customer: ['Customers', 'users'],
}
