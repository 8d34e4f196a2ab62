// SPDX-License-Identifier: Apache-2.0
// One customer: their story over all channels, who they are, what they want to hear, and what they were billed.
import { useState } from 'preact/hooks'
import {
  billingGetCustomer,
  conversationsBegin,
  customersData,
  customersErase,
  customersGet,
  customersTimeline,
  customersUpdate,
} from '#sdk/operations.ts'
import type { CustomerRecord, CustomerTimelineEntry } from '#sdk/schemas.ts'
import { api, may } from '../../api.ts'
import type { PageProps } from '../../area.tsx'
import { type Deed, Detail, Opened } from '../../kit/detail.tsx'
import { complain, undoable } from '../../kit/dialogs.tsx'
import { Choice } from '../../kit/fields.tsx'
import { Icon, type IconName } from '../../kit/icons.tsx'
import { Ago, Card, Facts, Nothing, Pill, Problem, Waiting } from '../../kit/kit.tsx'
import { useLoad } from '../../kit/load.ts'
import { money, named, words } from '../../kit/words.ts'
import { useLive } from '../../live.ts'
import { go, Link } from '../../place.tsx'
import { placeOf } from '../../records.ts'
import { t } from '../../words.ts'
import { changeForm, mergeForm, noteForm, textForm } from './forms.ts'
import { answerOf, Tags } from './lists.tsx'

const happenings = 'sms. messenger. email. call. ussd. payment. refund. invoice. customer.'

export function CustomerPage({ id }: PageProps) {
  const own = { customer_id: id }
  const customer = useLoad(id, () => customersGet(api, own))
  const [turn, setTurn] = useState(0)
  useLive('customer. sms.opted', customer.reload, { about: id })
  return (
    <Opened record={customer}>
      {(value) => (
        <Detail
          in={['/customers', 'Customers']}
          id={value.id}
          title={value.name ?? value.phones[0] ?? value.emails[0] ?? t('Customer')}
          note={
            value.last_seen_at && (
              <>
                {t('Last seen')} <Ago at={value.last_seen_at} />
              </>
            )
          }
          deeds={deedsOf(value)}
          onDone={() => {
            setTurn((before) => before + 1)
            return customer.reload()
          }}
          path={customersGet.at(own)}
          raw={value}
        >
          <div class="cols side">
            <History customer={value} turn={turn} />
            <div class="stack">
              <Consents customer={value} onDone={customer.reload} />
              <About customer={value} />
              {may('billing:read') && <Billed id={value.id} />}
            </div>
          </div>
        </Detail>
      )}
    </Opened>
  )
}

function deedsOf(customer: CustomerRecord): Deed[] {
  const { id, phones } = customer
  const [phone] = phones
  return [
    {
      ...{ name: 'Erase', icon: 'trash' as const, isDanger: true, scope: 'customers:erase', leadsTo: '/customers' },
      asks: {
        title: t('Erase {name}?', { name: customer.name ?? phones[0] ?? t('Customer') }),
        consequences: [
          t('Texts, chats, mail, recordings, files and notes of this person are erased on every channel.'),
          t('Financial records and the audit log are kept without personal data.'),
          t('It cannot be undone.'),
        ],
        action: t('Erase everywhere'),
        keep: t('Keep it'),
      },
      run: () => customersErase(api, { customer_id: id }),
    },
    {
      ...{ name: 'Export data', icon: 'download' as const, scope: 'customers:erase' },
      run: () => downloadData(id),
    },
    { name: 'Merge', scope: 'customers:write', form: mergeForm(id) },
    { name: 'Change', icon: 'pencil', scope: 'customers:write', form: changeForm(customer) },
    { name: 'Conversation', icon: 'chat', scope: 'conversations:write', run: () => openConversation(id) },
    { name: 'Add a note', icon: 'note', scope: 'customers:write', form: noteForm(id) },
    ...(phone === undefined
      ? []
      : [
          {
            ...{ name: 'Send a text', icon: 'send' as const, isMain: true, scope: 'sms:write' },
            form: textForm(phone),
          },
        ]),
  ]
}

async function downloadData(id: string): Promise<void> {
  const data = await customersData(api, { customer_id: id })
  const address = URL.createObjectURL(new Blob([JSON.stringify(data, null, 2)], { type: 'application/json' }))
  const link = document.createElement('a')
  link.href = address
  link.download = `${id}.json`
  link.click()
  URL.revokeObjectURL(address)
}

async function openConversation(customer_id: string): Promise<void> {
  const { id } = await conversationsBegin(api, { body: { customer_id } })
  go(`/inbox/${id}`)
}

const kinds: Readonly<Record<CustomerTimelineEntry['type'], readonly [name: string, icon: IconName]>> = {
  message: ['Text', 'message'],
  chat: ['Chat', 'chat'],
  email: ['Email', 'mail'],
  call: ['Call', 'call'],
  ussd_session: ['USSD session', 'keypad'],
  payment: ['Payment', 'coins'],
  refund: ['Refund', 'undo'],
  invoice: ['Invoice', 'file'],
  identity_check: ['Identity check', 'shield'],
  note: ['Note', 'note'],
  consent: ['Consent', 'check'],
}

/** Filters of the story: their names, and the kinds that they let through. */
const filters: Readonly<Record<string, string>> = {
  messages: 'message,chat,email',
  calls: 'call,ussd_session',
  money: 'payment,refund,invoice',
  notes: 'note,identity_check,consent',
}

const pageSize = 25

/** What happened, newest first; read again when something happens with one of their numbers or addresses. */
function History({ customer, turn }: { customer: CustomerRecord; turn: number }) {
  const [filter, setFilter] = useState('')
  const [pages, setPages] = useState(1)
  const { id, phones, emails } = customer
  const limit = Math.min(200, pages * pageSize)
  const types = filters[filter]
  const story = useLoad(
    `${id} ${filter} ${limit} ${turn}`,
    () => customersTimeline(api, { customer_id: id, query: { limit, ...(types === undefined ? {} : { types }) } }),
    { keeps: true },
  )
  useLive(happenings, story.reload, { about: phones[0] ?? emails[0] ?? id })
  const { value, error } = story
  return (
    <Card
      title={t('Timeline')}
      action={
        <Choice label={t('Show')} value={filter} among={['messages', 'calls', 'money', 'notes']} onChange={setFilter} />
      }
    >
      {error && <Problem error={error} retry={story.reload} />}
      {!value && !error && <Waiting lines={6} />}
      {value?.data.length === 0 && (
        <Nothing title="Nothing has happened yet" icon="clock">
          Messages, calls, payments and notes are listed here.
        </Nothing>
      )}
      <ol class="story happenings">
        {value?.data.map((entry) => (
          <Happening key={`${entry.type} ${entry.id}`} entry={entry} />
        ))}
      </ol>
      {value?.has_more && limit < 200 && (
        <button type="button" class="btn" onClick={() => setPages((before) => before + 1)}>
          {t('Show more')}
        </button>
      )}
    </Card>
  )
}

export function Happening({ entry }: { entry: CustomerTimelineEntry }) {
  const { type, id, direction, at, title, state, amount, currency } = entry
  const [name, icon] = kinds[type]
  const place = placeOf(id)
  return (
    <li>
      <span class={`happening ${direction ?? 'own'}`}>
        <Icon name={icon} />
      </span>
      <div class="told">
        <p class="soft small">
          {place ? <Link to={place}>{t(name)}</Link> : t(name)}
          {direction && <> · {direction === 'inbound' ? t('from them') : t('from you')}</>}
          {' · '}
          <Ago at={at} />
        </p>
        {title && (
          <p class="text" dir="auto">
            {type === 'payment' || type === 'refund' ? named(title) : title}
          </p>
        )}
      </div>
      <div class="end">
        {amount !== null && currency !== null && <strong>{money(amount, currency)}</strong>}
        {type !== 'note' && state !== 'received' && <Pill state={state} />}
      </div>
    </li>
  )
}

function About({ customer }: { customer: CustomerRecord }) {
  const { phones, emails, tags, language, country, timezone, external_id, attributes } = customer
  const lines = (list: readonly string[]) =>
    list.length === 0
      ? null
      : list.map((one) => (
          <span key={one} class="line">
            <bdi dir="ltr">{one}</bdi>
          </span>
        ))
  return (
    <Card title={t('Details')}>
      <Facts
        rows={[
          ['Phone', lines(phones)],
          ['Email', lines(emails)],
          ['Tags', tags.length > 0 ? <Tags tags={tags} /> : null],
          ...(language ? [['Language', language] satisfies [string, string]] : []),
          ...(country ? [['Country', country] satisfies [string, string]] : []),
          ...(timezone ? [['Time zone', timezone] satisfies [string, string]] : []),
          ...(external_id ? [['Your own id', external_id] satisfies [string, string]] : []),
          ...Object.entries(attributes).map(([name, value]): [string, string] => [name, String(value)]),
        ]}
      />
    </Card>
  )
}

const channels = [
  ['sms', 'Texts', 'phones'],
  ['messenger', 'Chats', 'phones'],
  ['email', 'Emails', 'emails'],
  ['voice', 'Calls', 'phones'],
] as const

const looks = {
  granted: ['Agreed', 'good', 'active'],
  withdrawn: ['Withdrawn', 'bad', 'blocked'],
} as const

export function Consents({ customer, onDone }: { customer: CustomerRecord; onDone(): Promise<void> }) {
  const { id, consents } = customer
  const write = (channel: (typeof channels)[number][0], state: 'granted' | 'withdrawn' | 'unknown') => async () => {
    await customersUpdate(api, {
      customer_id: id,
      body: { consents: [{ channel, purpose: 'marketing', state, source: 'console' }] },
    })
    await onDone()
  }
  const reachable = channels.filter(([, , addresses]) => customer[addresses].length > 0)
  return (
    <Card title={t('Consents')}>
      {reachable.length === 0 && <p class="soft">{t('No number and no address is known.')}</p>}
      <ul class="story consents">
        {reachable.map(([channel, name]) => {
          const state = answerOf(consents, channel)
          const next = state === 'granted' ? 'withdrawn' : 'granted'
          const back = state ?? 'unknown'
          const about = consents.find((one) => one.channel === channel && one.state === state)
          return (
            <li key={channel}>
              <span>{t(name)}</span>
              {state ? (
                <Pill state={looks[state][2]} tone={looks[state][1]} word={t(looks[state][0])} />
              ) : (
                <span class="soft">{t('Unknown')}</span>
              )}
              <small class="soft">
                {about && (
                  <>
                    {about.source && `${words(about.source)} · `}
                    <Ago at={about.at} />
                  </>
                )}
              </small>
              {may('customers:write') && (
                <button
                  type="button"
                  class="btn small"
                  onClick={() =>
                    void undoable(
                      next === 'granted' ? t('Consent recorded') : t('Withdrawal recorded'),
                      write(channel, next),
                      write(channel, back),
                    ).catch(complain)
                  }
                >
                  {next === 'granted' ? t('Record consent') : t('Record withdrawal')}
                </button>
              )}
            </li>
          )
        })}
      </ul>
    </Card>
  )
}

function Billed({ id }: { id: string }) {
  const billed = useLoad(id, () => billingGetCustomer(api, { customer_id: id }))
  const { value } = billed
  if (!value) return null
  const credit = value.credits.map(({ amount, currency }) => money(amount, currency)).join(', ')
  const known: [string, string | null][] = [
    ['Credit', credit || null],
    ['Tax number', value.tax_number],
    ['Address', value.address],
  ]
  const rows = known.filter(([, told]) => told !== null)
  return (
    <Card title={t('Billing')} action={<Link to={`/invoices?customer_id=${id}`}>{t('Invoices')}</Link>}>
      {rows.length > 0 ? <Facts rows={rows} /> : <p class="soft">{t('No credit')}</p>}
    </Card>
  )
}
