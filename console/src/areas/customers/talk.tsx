// SPDX-License-Identifier: Apache-2.0
// One conversation: what was said over all channels with its pictures and files, who takes care of it, and the answer.
import { Fragment } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import {
  conversationsAssign,
  conversationsClose,
  conversationsGet,
  conversationsMarkRead,
  conversationsMessages,
  conversationsOpen,
  conversationsSnooze,
  messengerGetMedia,
  teamGet,
  teamList,
} from '#sdk/operations.ts'
import type { ConversationDetail, ConversationEntry } from '#sdk/schemas.ts'
import { api, may, type Session } from '../../api.ts'
import { complain, undoable } from '../../kit/dialogs.tsx'
import { Icon, type IconName } from '../../kit/icons.tsx'
import { Ago, Problem, Waiting } from '../../kit/kit.tsx'
import { useLoad } from '../../kit/load.ts'
import { Menu } from '../../kit/menu.tsx'
import { clockTime, day, nowMs, shortMoment, words } from '../../kit/words.ts'
import { useLive } from '../../live.ts'
import { Link } from '../../place.tsx'
import { placeOf } from '../../records.ts'
import { t } from '../../words.ts'
import { Composer } from './composer.tsx'
import { dataUrlOf } from './files.ts'
import { askMs, nameOf } from './line.tsx'

const hourMs = 3_600_000
/** Before the first message there was another day. */
const unknownDay = '1970-01-01T00:00:00Z'

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
      {may('conversations:answer') && <Composer talk={value} onSent={again} />}
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
  const { type, id, direction, text, media_id, media_type, state, author, at } = entry
  const [name, icon] = kinds[type]
  const place = placeOf(id)
  const side = type === 'call' ? 'middle' : (direction ?? 'outbound')
  const isMine = author === `member:${session.member.id}`
  return (
    <li class={type === 'note' ? 'outbound note' : side}>
      <span class="bubble" dir="auto">
        {media_id && may('messenger:read') && <Enclosure id={media_id} kind={media_type} />}
        {text ?? (media_id ? null : t('Sent a file'))}
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

const pictures: readonly (string | null)[] = ['image', 'sticker']

/** A file of a message: a picture is shown, anything else is a button that saves it. */
function Enclosure({ id, kind }: { id: string; kind: string | null }) {
  const isPicture = pictures.includes(kind)
  const { value } = useLoad(`media ${id}`, async () =>
    isPicture ? dataUrlOf(await (await messengerGetMedia(api, { id })).blob()) : null,
  )
  const name = kind ? words(kind) : t('File')
  const save = async (): Promise<void> => {
    const link = document.createElement('a')
    link.href = value ?? URL.createObjectURL(await (await messengerGetMedia(api, { id })).blob())
    link.download = id
    link.click()
    URL.revokeObjectURL(link.href)
  }
  return (
    <button type="button" class={value ? 'enclosure picture' : 'enclosure'} onClick={() => void save().catch(complain)}>
      {value ? (
        <img src={value} alt={name} />
      ) : (
        <>
          <Icon name={isPicture ? 'image' : 'file'} /> {name}
        </>
      )}
    </button>
  )
}
