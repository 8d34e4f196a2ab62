// SPDX-License-Identifier: Apache-2.0
// Desk of an agent: free, ringing, in a call and after it, with the customer's story beside it. Every deed has a key.
import { useEffect, useState } from 'preact/hooks'
import { callcenterSetAgentStatus } from '#sdk/operations.ts'
import { api } from '../../api.ts'
import type { PageProps } from '../../area.tsx'
import { Devices } from '../../kit/devices.tsx'
import { complain } from '../../kit/dialogs.tsx'
import { useDoing } from '../../kit/doing.ts'
import { Field, problemOf } from '../../kit/fields.tsx'
import { Icon } from '../../kit/icons.tsx'
import { Card, Figures, PageHead, Problem } from '../../kit/kit.tsx'
import { allowSound } from '../../kit/sound.ts'
import { count, numberText } from '../../kit/words.ts'
import { sentenceOf } from '../../refusals.ts'
import { t } from '../../words.ts'
import { AfterCall } from './after-call.tsx'
import { Ringing } from './call-bar.tsx'
import { type DeskNow, desk, endWork, place, resumeWork, startWork, tellDesk } from './connection.ts'
import { Conversations } from './conversations.tsx'
import { Customer, useCustomer } from './customer.tsx'
import { InCall } from './in-call.tsx'
import { allowNotices } from './ring.ts'
import { SoundTest } from './sound-test.tsx'
import { AgentState, chosenStates, clockOf, isChosen, lookOf, reasonNames, Since } from './states.tsx'

export function DeskPage({ session }: PageProps) {
  const now = desk.use()
  const { link, agent, call, told } = now
  const [toNote] = now.toNote
  useEffect(() => void resumeWork(session.member).catch((error: Error) => tellDesk(sentenceOf(error))), [])
  const isSpeaking = call.state === 'connected' || call.state === 'on_hold'
  const customer = useCustomer(session.member.id, link === 'closed' ? null : call.call_id, call.state)
  const name =
    customer?.call?.call_id === toNote?.call_id
      ? (customer?.customer?.name ?? numberText(customer?.customer?.phone ?? ''))
      : null
  const after = toNote && (
    <AfterCall
      key={toNote.call_id}
      now={now}
      agentId={session.member.id}
      toNote={name ? { ...toNote, who: name } : toNote}
      more={now.toNote.length - 1}
    />
  )
  return (
    <div class="page">
      <PageHead title="Desk">{agent && link !== 'closed' && <Availability now={now} />}</PageHead>
      {told && (
        <p class={link === 'lost' ? 'callout warn' : 'callout note'} role="alert">
          {told}
        </p>
      )}
      {link === 'closed' && <Start session={session} />}
      {link === 'opening' && <p role="status">{t('The desk is being opened…')}</p>}
      {now.offer && call.state === 'ringing' && <Ringing now={now} offer={now.offer} hasKeys />}
      {link !== 'closed' && (
        <div class="desk">
          <div class="desk-main">
            {isSpeaking && <InCall key={call.call_id} now={now} customer={customer} />}
            {call.state === 'none' && after}
            {call.state === 'ringing' && customer && <Customer context={customer} />}
            {call.state === 'none' && (!toNote || agent?.status === 'available') && (
              <Free now={now} agentId={session.member.id} />
            )}
          </div>
          <div class="desk-side">
            {call.state !== 'ringing' && customer && <Customer context={customer} />}
            <Waiting now={now} />
            <Conversations member={session.member.id} />
          </div>
        </div>
      )}
      {link === 'closed' && after}
      {link === 'closed' && <Conversations member={session.member.id} />}
    </div>
  )
}

/** Before the first call: microphone and loudspeaker are tried, then work begins. */
function Start({ session }: Pick<PageProps, 'session'>) {
  const { run, error, isBusy } = useDoing()
  const start = (): void => {
    allowSound()
    run(async () => {
      await allowNotices()
      await startWork(session.member)
    })
  }
  return (
    <Card title="Before you start">
      <p>{t('Try your microphone and loudspeaker, then start: calls come by themselves.')}</p>
      <SoundTest />
      <Devices />
      {error && <Problem error={error} />}
      <p>
        <button type="button" class="btn primary large" disabled={isBusy} onClick={start}>
          <Icon name="headset" />
          {t('Start work')}
        </button>
      </p>
    </Card>
  )
}

/** Reasons that are chosen among with a break or being away. */
const reasons: Readonly<Record<string, readonly string[]>> = {
  break: ['lunch', 'tea', 'prayer', 'rest'],
  away: ['errand', 'technical', 'personal'],
}

function Availability({ now: { agent, link } }: { now: DeskNow }) {
  const status = agent?.status ?? 'offline'
  const [asked, setAsked] = useState<string | null>(null)
  const agent_id = agent?.agent_id ?? ''
  const set = (wanted: string, reason?: string): void => {
    setAsked(null)
    if (!isChosen(wanted)) return
    const body = { agent_id, status: wanted, ...(reason ? { reason } : {}) }
    callcenterSetAgentStatus(api, { body }).catch(complain)
  }
  const leave = (): void => void endWork().catch(complain)
  const next = agent?.next_status
  return (
    <div class="availability">
      <AgentState status={status} reason={agent?.reason ?? null} />
      {agent && <Since at={agent.since} />}
      <fieldset class="segments" aria-label={t('Your state')}>
        {chosenStates.map((one) => (
          <button
            key={one}
            type="button"
            aria-pressed={(next ?? status) === one}
            disabled={link !== 'open'}
            onClick={() => (reasons[one] ? setAsked(asked === one ? null : one) : set(one))}
          >
            <Icon name={lookOf(one).icon} />
            {t(lookOf(one).name)}
          </button>
        ))}
      </fieldset>
      <button type="button" class="btn quiet" onClick={leave}>
        <Icon name="leave" />
        {t('End work')}
      </button>
      {asked && (
        <fieldset class="reasons" aria-label={t('Reason')}>
          {(reasons[asked] ?? []).map((reason) => (
            <button key={reason} type="button" class="btn small" onClick={() => set(asked, reason)}>
              {t(reasonNames[reason] ?? reason)}
            </button>
          ))}
        </fieldset>
      )}
      {next && <span class="soft">{t('{name} after this call', { name: t(lookOf(next).name) })}</span>}
    </div>
  )
}

/** Number that calls were last placed with. */
const keptFrom = 'pamoja-calls-from'

function Free({ now: { agent, queues, link, last }, agentId }: { now: DeskNow; agentId: string }) {
  const { run, error, isBusy } = useDoing()
  const [to, setTo] = useState('')
  const [from, setFrom] = useState(() => localStorage.getItem(keptFrom) ?? '')
  const status = agent?.status ?? 'offline'
  const call = (event: Event): void => {
    event.preventDefault()
    localStorage.setItem(keptFrom, from)
    run(() => place({ to, from, agent_id: agentId }))
  }
  const isFree = status === 'available'
  return (
    <Card title={isFree ? 'The next call comes by itself' : 'No calls while away'}>
      {isFree && queues.length === 0 && link === 'open' && (
        <p class="callout note">{t('You serve no queue yet: a supervisor puts you into one.')}</p>
      )}
      {isFree && agent?.reason && (
        <p class="callout warn" role="alert">
          {t('A call could not be offered to you: check the microphone and the network. It is tried again shortly.')}
        </p>
      )}
      {agent?.reason === 'no_answer' && (
        <p class="callout warn" role="alert">
          {t('You did not answer in time. Choose Free to get calls again.')}
        </p>
      )}
      {isFree && last && (
        <p>
          <button
            type="button"
            class="btn"
            disabled={isBusy}
            onClick={() => run(() => place({ to: last.to, from: last.from, agent_id: agentId }))}
          >
            <Icon name="call" />
            {t('Call {name} back', { name: last.who })}
          </button>
        </p>
      )}
      <form class="form" onSubmit={call}>
        <Field label="Place a call" type="phone" value={to} onInput={setTo} required problem={problemOf(error, 'to')} />
        <Field
          label="From"
          type="phone"
          value={from}
          onInput={setFrom}
          required
          hint="One of your numbers"
          problem={problemOf(error, 'from')}
        />
        {error && !problemOf(error, 'to') && !problemOf(error, 'from') && <Problem error={error} />}
        <button type="submit" class="btn" disabled={isBusy || !isFree}>
          <Icon name="call" />
          {t('Call')}
        </button>
      </form>
      <Devices />
    </Card>
  )
}

function Waiting({ now: { queues } }: { now: DeskNow }) {
  return (
    <Card title="Waiting">
      <Figures
        names={['Queue', 'Waiting', 'Longest wait', 'Free']}
        rows={queues.map(({ queue_id, name, waiting, longest_wait_seconds, agents_available }) => ({
          key: queue_id,
          name: <span dir="auto">{name}</span>,
          figures: [count(waiting), waiting === 0 ? '–' : clockOf(longest_wait_seconds), count(agents_available)],
        }))}
      />
    </Card>
  )
}
