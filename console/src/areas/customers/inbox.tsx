// SPDX-License-Identifier: Apache-2.0
// Inbox: conversations over all channels, the one that is open, and who it is with.
import { useEffect } from 'preact/hooks'
import { conversationsCounts, conversationsList } from '#sdk/operations.ts'
import { api } from '../../api.ts'
import type { PageProps } from '../../area.tsx'
import { Nothing, Problem, Waiting } from '../../kit/kit.tsx'
import { useLoad } from '../../kit/load.ts'
import { isTyping } from '../../kit/table.tsx'
import { count } from '../../kit/words.ts'
import { useLive } from '../../live.ts'
import { filterBy, go, usePlace } from '../../place.tsx'
import { useTitle } from '../../title.ts'
import { t } from '../../words.ts'
import { askMs, Line } from './line.tsx'
import { Talk } from './talk.tsx'
import { Who } from './who.tsx'

/** Views of the inbox: their names, and what they ask for. */
const views = {
  mine: 'Mine',
  open: 'Open',
  snoozed: 'Snoozed',
  closed: 'Closed',
} as const
type View = keyof typeof views

/** Conversations are counted up to here. */
const maxCounted = 1_000

const manyOf = (many: number): string => (many < maxCounted ? count(many) : `${count(maxCounted)}+`)

export function InboxPage({ id, session }: PageProps) {
  useTitle(t('Inbox'))
  const { query } = usePlace()
  const asked = query.get('show')
  const view: View = asked === 'mine' || asked === 'snoozed' || asked === 'closed' ? asked : 'open'
  const wanted = view === 'mine' ? { state: 'open' as const, assignee: session.member.id } : { state: view }
  const list = useLoad(`inbox ${view}`, () => conversationsList(api, { query: { ...wanted, limit: 100 } }), {
    keeps: true,
  })
  const counts = useLoad('inbox counts', () => conversationsCounts(api), { keeps: true })
  const again = async (): Promise<void> => void (await Promise.all([list.reload(), counts.reload()]))
  useLive('conversation.', again, { askMs })
  const { value, error } = list
  const rows = value?.data ?? []
  const suffix = view === 'open' ? '' : `?show=${view}`
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      if (isTyping(event) || event.ctrlKey || event.metaKey || !['j', 'k'].includes(event.key)) return
      const at = rows.findIndex((row) => row.id === id)
      const next = rows[event.key === 'j' ? at + 1 : Math.max(0, at - 1)]
      if (next) go(`/inbox/${next.id}${suffix}`)
    }
    window.addEventListener('keydown', press)
    return () => window.removeEventListener('keydown', press)
  }, [rows, id, suffix])
  return (
    <div class={id ? 'inbox opened' : 'inbox'}>
      <nav class="inbox-list" aria-label={t('Conversations')}>
        <header>
          <h1>{t('Inbox')}</h1>
          <div class="segments">
            {(Object.keys(views) as View[]).map((one) => (
              <button
                key={one}
                type="button"
                aria-pressed={one === view}
                onClick={() => filterBy(one === 'open' ? {} : { show: one })}
              >
                {t(views[one])}
                {one !== 'closed' && counts.value && <span class="many">{manyOf(counts.value[one])}</span>}
              </button>
            ))}
          </div>
        </header>
        {error && <Problem error={error} retry={list.reload} />}
        {!value && !error && <Waiting lines={6} />}
        {value && rows.length === 0 && (
          <Nothing title="Nothing is waiting" icon="inbox">
            Messages from customers by text, chat or email appear here.
          </Nothing>
        )}
        <ul class="conversations">
          {rows.map((row) => (
            <li key={row.id}>
              <Line row={row} isCurrent={row.id === id} to={`/inbox/${row.id}${suffix}`} />
            </li>
          ))}
        </ul>
      </nav>
      {id ? (
        <Talk key={id} id={id} session={session} />
      ) : (
        <section class="talk">
          <Nothing title="No conversation is open" icon="chat">
            Choose one to read and answer it.
          </Nothing>
        </section>
      )}
      {id && <Who id={rows.find((row) => row.id === id)?.customer_id ?? null} />}
    </div>
  )
}
