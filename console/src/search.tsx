// SPDX-License-Identifier: Apache-2.0
// One search over everything: pages by their names, and records by id, number or reference. A whole id opens at once.
import { useEffect, useRef, useState } from 'preact/hooks'
import { paymentsTransactions, smsList } from '#sdk/operations.ts'
import { api } from './api.ts'
import { go, Link } from './place.tsx'
import { t } from './words.ts'

interface Hit {
  to: string
  name: string
  note: string
}

const pauseMs = 200

/** Prefix of an id -> where the record is shown. */
const places: readonly [prefix: string, place: (id: string) => string][] = [
  ['sms_', (id) => `/messages/${id}`],
  ['smi_', (id) => `/messages/${id}`],
  ['pay_', (id) => `/payments/${id}`],
  ['frl_', (id) => `/rules/${id}`],
  ['evt_', () => '/events'],
  ['po_', (id) => `/payouts/${id}`],
]

const idForm = /^[a-z]{2,4}_[0-9a-z]{26}$/

export function Search({
  pages,
  onClose,
}: {
  pages: readonly (readonly [path: string, name: string, scope?: string])[]
  onClose(): void
}) {
  const [text, setText] = useState('')
  const [records, setRecords] = useState<readonly Hit[]>([])
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    dialog.current?.showModal()
  }, [])
  useEffect(() => {
    const wanted = text.trim()
    if (wanted.length < 3) return setRecords([])
    const timer = setTimeout(() => void found(wanted).then(setRecords), pauseMs)
    return () => clearTimeout(timer)
  }, [text])
  const named = pages
    .filter(([, name]) => text !== '' && t(name).toLowerCase().includes(text.trim().toLowerCase()))
    .map(([to, name]) => ({ to, name: t(name), note: t('Page') }))
  const hits = [...named.slice(0, 5), ...records]
  const submit = (event: Event): void => {
    event.preventDefault()
    const [first] = hits
    if (!first) return
    onClose()
    go(first.to)
  }
  return (
    <dialog class="finder" ref={dialog} onClose={onClose} aria-label={t('Search')}>
      <search>
        <form onSubmit={submit}>
          <label for="search" class="hidden">
            {t('Search over everything')}
          </label>
          <input
            id="search"
            autocomplete="off"
            placeholder={t('A page, an id, a number or a reference')}
            value={text}
            onInput={(event) => setText(event.currentTarget.value)}
          />
        </form>
      </search>
      <ul aria-label={t('Found')}>
        {hits.map((hit) => (
          <li key={hit.to + hit.name}>
            {/* biome-ignore lint/a11y/useKeyWithClickEvents: a link is followed by the keyboard too */}
            {/* biome-ignore lint/a11y/noStaticElementInteractions: the link inside is what is used */}
            <span onClick={onClose}>
              <Link to={hit.to}>
                {hit.name} <span class="soft">{hit.note}</span>
              </Link>
            </span>
          </li>
        ))}
      </ul>
      <p class="soft" role="status">
        {text.trim().length >= 3 && hits.length === 0 && t('Nothing found')}
      </p>
    </dialog>
  )
}

async function found(text: string): Promise<Hit[]> {
  const [, place] = places.find(([prefix]) => text.startsWith(prefix)) ?? []
  if (place && idForm.test(text)) return [{ to: place(text), name: text, note: t('Open') }]
  const isNumber = /^\+?\d{4,15}$/.test(text)
  const number = text.startsWith('+') ? text : `+${text}`
  const [texts, money] = await Promise.all([
    smsList(api, { query: { limit: 5, ...(isNumber ? { to: number } : { reference: text }) } }).catch(() => ({
      data: [],
    })),
    paymentsTransactions(api, {
      query: { limit: 5, ...(isNumber ? { phone: number } : { reference: text }) },
    }).catch(() => ({ data: [] })),
  ])
  return [
    ...texts.data.map(({ message_id, to, status }) => ({ to: `/messages/${message_id}`, name: to, note: t(status) })),
    ...money.data.flatMap(({ payment_id, reference, status }) =>
      payment_id ? [{ to: `/payments/${payment_id}`, name: reference ?? payment_id, note: t(status) }] : [],
    ),
  ]
}
