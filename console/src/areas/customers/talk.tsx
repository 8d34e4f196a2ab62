// SPDX-License-Identifier: Apache-2.0
// One conversation: what was said over all channels, who takes care of it, and the answer, whose channel, price and rules stand there
// before it is sent. What was typed is kept until it is sent.
import { Fragment } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import {
  conversationsAddNote,
  conversationsAssign,
  conversationsClose,
  conversationsGet,
  conversationsMarkRead,
  conversationsMessages,
  conversationsOpen,
  conversationsReply,
  conversationsSnooze,
  messengerListTemplates,
  teamGet,
  teamList,
} from '#sdk/operations.ts'
import type { ConversationDetail, ConversationEntry } from '#sdk/schemas.ts'
import { api, may, type Session } from '../../api.ts'
import { complain, undoable } from '../../kit/dialogs.tsx'
import { useDoing } from '../../kit/doing.ts'
import { Icon, type IconName } from '../../kit/icons.tsx'
import { Ago, Pill, Problem, Waiting } from '../../kit/kit.tsx'
import { useLoad } from '../../kit/load.ts'
import { Menu } from '../../kit/menu.tsx'
import { clockTime, day, money, nowMs, shortMoment, words } from '../../kit/words.ts'
import { useLive } from '../../live.ts'
import { Link } from '../../place.tsx'
import { placeOf } from '../../records.ts'
import { t } from '../../words.ts'
import { askMs, nameOf } from './line.tsx'

const hourMs = 3_600_000
/** Before the first message there was another day. */
const unknownDay = '1970-01-01T00:00:00Z'
const channelNames: Readonly<Record<string, string>> = { sms: 'Text', messenger: 'Chat', email: 'Email' }

export function Talk({ id, session }: { id: string; session: Session }) {
  const own = { conversation_id: id }
  const talk = useLoad(id, () => conversationsGet(api, own))
  const said = useLoad(`said ${id}`, () => conversationsMessages(api, { ...own, query: { limit: 100 } }))
  const again = async (): Promise<void> => void (await Promise.all([talk.reload(), said.reload()]))
  useLive('conversation.', again, { about: id, askMs })
  useLive('sms. messenger. email. call.', said.reload, { about: talk.value?.phone ?? id })
  const unread = talk.value?.unread ?? 0
  useEffect(() => {
    if (unread > 0 && may('conversations:answer'))
      void conversationsMarkRead(api, own).then(talk.reload, () => undefined)
  }, [unread])
  const end = useRef<HTMLOListElement>(null)
  const last = said.value?.data[0]?.id
  useEffect(() => void end.current?.scrollTo({ top: end.current.scrollHeight }), [last])
  const { value, error } = talk
  if (error) return <Problem error={error} retry={again} />
  if (!value) return <Waiting lines={8} />
  return (
    <section class="talk" aria-label={nameOf(value)}>
      <Head talk={value} session={session} onDone={talk.reload} />
      <ol class="said" ref={end}>
        {said.error && <Problem error={said.error} retry={said.reload} />}
        {said.value?.data.toReversed().map((entry, i, all) => (
          <Fragment key={`${entry.type} ${entry.id}`}>
            {day(entry.at) !== day(all[i - 1]?.at ?? unknownDay) && <li class="middle day">{day(entry.at)}</li>}
            <Said entry={entry} session={session} />
          </Fragment>
        ))}
      </ol>
      {may('conversations:answer') && <Composer key={value.channel} talk={value} onSent={again} />}
    </section>
  )
}

interface HeadProps {
  talk: ConversationDetail
  session: Session
  onDone(): Promise<void>
}

function Head({ talk, session, onDone }: HeadProps) {
  const { id, state, assignee, waiting_since, snoozed_until } = talk
  const own = { conversation_id: id }
  const does = (act: () => Promise<unknown>) => async () => {
    await act()
    await onDone()
  }
  const close = () =>
    void undoable(
      t('Closed'),
      does(() => conversationsClose(api, own)),
      does(() => conversationsOpen(api, own)),
    ).catch(complain)
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      const isTyped = event.target instanceof HTMLElement && event.target.matches('input, textarea, select')
      if (event.key === 'e' && !isTyped && !event.ctrlKey && state !== 'closed' && may('conversations:answer')) close()
    }
    window.addEventListener('keydown', press)
    return () => window.removeEventListener('keydown', press)
  }, [id, state])
  return (
    <header>
      <Link to="/inbox" class="btn quiet square only-small" title={t('Inbox')}>
        <Icon name="left" />
      </Link>
      <div class="two-lines">
        <strong class="cut">
          {may('customers:read') ? (
            <Link to={`/customers/${talk.customer_id}`}>
              <bdi>{nameOf(talk)}</bdi>
            </Link>
          ) : (
            <bdi>{nameOf(talk)}</bdi>
          )}
        </strong>
        <small class="soft">
          {assignee === session.member.id ? (
            t('Assigned to you')
          ) : assignee ? (
            <Assigned to={assignee} />
          ) : (
            t('Unassigned')
          )}
          {waiting_since && (
            <>
              {' · '}
              {t('Waiting since')} <Ago at={waiting_since} />
            </>
          )}
          {snoozed_until && ` · ${t('Snoozed until {time}', { time: shortMoment(snoozed_until) })}`}
        </small>
      </div>
      {may('conversations:answer') && (
        <div class="push">
          <AssignMenu id={id} assignee={assignee} session={session} onDone={onDone} />
          {state === 'open' && <SnoozeMenu id={id} onDone={onDone} />}
          {state === 'open' ? (
            <button type="button" class="btn" onClick={close}>
              <Icon name="check" /> {t('Close')}
            </button>
          ) : (
            <button
              type="button"
              class="btn"
              onClick={() => void does(() => conversationsOpen(api, own))().catch(complain)}
            >
              <Icon name="again" /> {t('Open again')}
            </button>
          )}
        </div>
      )}
    </header>
  )
}

function Assigned({ to }: { to: string }) {
  const { value } = useLoad(to, async () => (may('team:read') ? teamGet(api, { id: to }) : null))
  return <>{value ? t('Assigned to {name}', { name: value.name || value.email }) : t('Assigned')}</>
}

function AssignMenu({
  id,
  assignee,
  session,
  onDone,
}: { id: string; assignee: string | null } & Omit<HeadProps, 'talk'>) {
  return (
    <Menu label={t('Assign')} class="btn square" button={<Icon name="user" />}>
      {(close) => (
        <Members
          assignee={assignee}
          session={session}
          onChoose={(member) => {
            close()
            conversationsAssign(api, { conversation_id: id, body: { member_id: member } }).then(onDone, complain)
          }}
        />
      )}
    </Menu>
  )
}

interface MembersProps {
  assignee: string | null
  session: Session
  onChoose(member: string | null): void
}

function Members({ assignee, session, onChoose }: MembersProps) {
  const team = useLoad('team', async () =>
    may('team:read') ? (await teamList(api, { query: { limit: 200 } })).data : [],
  )
  const me = { id: session.member.id, name: session.member.name, email: session.member.email, status: 'active' }
  const others = (team.value ?? []).filter((one) => one.id !== me.id && one.status === 'active')
  return (
    <>
      {[me, ...others].map((one) => (
        <button
          key={one.id}
          type="button"
          class="menu-item"
          aria-pressed={assignee === one.id}
          onClick={() => onChoose(one.id)}
        >
          {one.id === me.id ? t('You') : one.name || one.email}
        </button>
      ))}
      {assignee !== null && (
        <button type="button" class="menu-item" onClick={() => onChoose(null)}>
          {t('Unassigned')}
        </button>
      )}
    </>
  )
}

/** Times to which a conversation is put off. */
function laterTimes(): readonly [name: string, atMs: number][] {
  const at = (days: number, hour: number): number => new Date(nowMs() + days * 24 * hourMs).setHours(hour, 0, 0, 0)
  const toMonday = (8 - new Date(nowMs()).getDay()) % 7 || 7
  return [
    ['In three hours', nowMs() + 3 * hourMs],
    ['Tomorrow morning', at(1, 8)],
    ['Monday morning', at(toMonday, 8)],
  ]
}

function SnoozeMenu({ id, onDone }: { id: string; onDone(): Promise<void> }) {
  const snooze = (atMs: number) =>
    conversationsSnooze(api, { conversation_id: id, body: { until: new Date(atMs).toISOString() } })
  return (
    <Menu label={t('Snooze')} class="btn square" button={<Icon name="clock" />}>
      {(close) =>
        laterTimes().map(([name, atMs]) => (
          <button
            key={name}
            type="button"
            class="menu-item"
            onClick={() => {
              close()
              snooze(atMs).then(onDone, complain)
            }}
          >
            {t(name)}
            <small>{shortMoment(new Date(atMs).toISOString())}</small>
          </button>
        ))
      }
    </Menu>
  )
}

const kinds: Readonly<Record<ConversationEntry['type'], readonly [name: string, icon: IconName]>> = {
  message: ['Text', 'message'],
  chat: ['Chat', 'chat'],
  email: ['Email', 'mail'],
  call: ['Call', 'call'],
  note: ['Note', 'note'],
}

function Said({ entry, session }: { entry: ConversationEntry; session: Session }) {
  const { type, id, direction, text, media_type, state, author, at } = entry
  const [name, icon] = kinds[type]
  const place = placeOf(id)
  const side = type === 'call' ? 'middle' : (direction ?? 'outbound')
  const isMine = author === `member:${session.member.id}`
  return (
    <li class={type === 'note' ? 'outbound note' : side}>
      <span class="bubble" dir="auto">
        {text ?? (media_type ? words(media_type) : t('Sent a file'))}
      </span>
      <p class="fate">
        <Icon name={icon} /> {place ? <Link to={place}>{t(name)}</Link> : t(name)}
        {author && ` · ${isMine ? t('You') : author.startsWith('member:') ? t('A colleague') : t('A program')}`}
        {' · '}
        <time dateTime={at} title={shortMoment(at)}>
          {clockTime(at)}
        </time>
        {direction === 'outbound' && type !== 'call' && (
          <>
            {' · '}
            {words(state)}
          </>
        )}
      </p>
    </li>
  )
}

const draftOf = (id: string): string => sessionStorage.getItem(`pamoja-draft ${id}`) ?? ''

const problemWords: Readonly<Record<string, string>> = {
  no_address: 'No number or address is known.',
  opted_out: 'The customer opted out of this channel.',
  window_closed: 'The customer has not written for 24 hours: only templates can be sent.',
  no_sender: 'Mail needs a verified domain.',
}

function Composer({ talk, onSent }: { talk: ConversationDetail; onSent(): Promise<void> }) {
  const { id, channels } = talk
  const [text, setText] = useState(draftOf(id))
  const [isNote, setIsNote] = useState(false)
  const [channel, setChannel] = useState((channels.find(({ is_open }) => is_open) ?? channels[0])?.channel)
  const { isBusy, error, run } = useDoing()
  const box = useRef<HTMLTextAreaElement>(null)
  const templates = useRef<HTMLDivElement>(null)
  const way = channels.find((one) => one.channel === channel)
  const write = (value: string): void => {
    setText(value)
    sessionStorage.setItem(`pamoja-draft ${id}`, value)
  }
  const own = { conversation_id: id }
  const send = (): void =>
    run(async () => {
      if (isNote) await conversationsAddNote(api, { ...own, body: { text } })
      else await conversationsReply(api, { ...own, body: { text, ...(channel ? { channel } : {}) } })
      write('')
      await onSent()
    })
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      const isTyped = event.target instanceof HTMLElement && event.target.matches('input, textarea, select')
      if (isTyped || event.ctrlKey || event.metaKey || !['r', 'n'].includes(event.key)) return
      event.preventDefault()
      setIsNote(event.key === 'n')
      box.current?.focus()
    }
    window.addEventListener('keydown', press)
    return () => window.removeEventListener('keydown', press)
  }, [])
  const isShut = !isNote && way?.is_open === false
  return (
    <form
      class={isNote ? 'composer noting' : 'composer'}
      onSubmit={(event) => {
        event.preventDefault()
        send()
      }}
    >
      <div>
        <div class="segments">
          {channels
            .filter(({ to }) => to !== null)
            .map((one) => (
              <button
                key={one.channel}
                type="button"
                aria-pressed={!isNote && one.channel === channel}
                onClick={() => {
                  setIsNote(false)
                  setChannel(one.channel)
                }}
              >
                {t(channelNames[one.channel] ?? one.channel)}
              </button>
            ))}
          <button type="button" aria-pressed={isNote} onClick={() => setIsNote(true)}>
            <Icon name="note" /> {t('Note')}
          </button>
        </div>
        <small class="soft push">{isNote ? t('Visible to your team only') : way && <Terms way={way} />}</small>
      </div>
      <label>
        <span class="hidden">{isNote ? t('Note') : t('Answer')}</span>
        <textarea
          ref={box}
          value={text}
          dir="auto"
          placeholder={isNote ? t('Add a note') : t('Answer')}
          disabled={isShut}
          onInput={(event) => write(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key === 'Enter' && (event.ctrlKey || event.metaKey) && text.trim() !== '') send()
            const menu = event.key === '/' && text === '' ? templates.current?.querySelector('button') : null
            if (!menu) return
            event.preventDefault()
            menu.click()
          }}
        />
      </label>
      {error && <Problem error={error} />}
      <div>
        {channel === 'messenger' && !isNote && way?.takes_template && may('messenger:read') && (
          <div ref={templates}>
            <TemplateMenu id={id} onSent={onSent} />
          </div>
        )}
        <button type="submit" class="btn primary push" disabled={isBusy || isShut || text.trim() === ''}>
          <Icon name={isNote ? 'note' : 'send'} /> {isNote ? t('Add a note') : t('Send')}
        </button>
      </div>
    </form>
  )
}

/** What an answer costs and until when it is taken, or why it is not. */
function Terms({ way }: { way: ConversationDetail['channels'][number] }) {
  const { problem, open_until, price, currency, channel } = way
  if (problem !== null)
    return (
      <>
        <Pill state="blocked" tone="warn" word={t('Not possible')} /> {t(problemWords[problem] ?? 'Not possible')}
      </>
    )
  const cost =
    price === null || currency === null
      ? ''
      : price === 0
        ? t('Free of charge')
        : t(channel === 'sms' ? '{price} a part' : '{price} a message', { price: money(price, currency) })
  return <>{[cost, open_until && t('until {time}', { time: shortMoment(open_until) })].filter(Boolean).join(' · ')}</>
}

function TemplateMenu({ id, onSent }: { id: string; onSent(): Promise<void> }) {
  return (
    <Menu
      label={t('Templates')}
      button={
        <>
          <Icon name="template" /> {t('Templates')}
        </>
      }
    >
      {(close) => (
        <Templates
          onChoose={(name, language) => {
            close()
            conversationsReply(api, { conversation_id: id, body: { template: { name, language } } }).then(
              onSent,
              complain,
            )
          }}
        />
      )}
    </Menu>
  )
}

function Templates({ onChoose }: { onChoose(name: string, language: string): void }) {
  const { value, error } = useLoad('templates', () => messengerListTemplates(api, { query: { limit: 100 } }))
  if (error) return <Problem error={error} />
  if (!value) return <Waiting lines={3} />
  const usable = value.data.filter(({ status }) => status === 'APPROVED')
  if (usable.length === 0) return <p class="menu-title">{t('No template is approved yet')}</p>
  return (
    <>
      {usable.map(({ id, name, language }) => (
        <button key={id} type="button" class="menu-item" onClick={() => onChoose(name, language)}>
          {name}
          <small>{language}</small>
        </button>
      ))}
    </>
  )
}
