// SPDX-License-Identifier: Apache-2.0
// Wallboard: queues against their promise, people by what they do and since when, and calls with what a supervisor can do.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { voiceListCalls } from '#sdk/operations.ts'
import type { RealtimeMetrics } from '#sdk/schemas.ts'
import { api, may, type Session } from '../../api.ts'
import type { PageProps } from '../../area.tsx'
import { Meter } from '../../kit/chart.tsx'
import { DeedButton } from '../../kit/detail.tsx'
import { confirm } from '../../kit/dialogs.tsx'
import { useDoing } from '../../kit/doing.ts'
import { Field } from '../../kit/fields.tsx'
import { Icon, type IconName } from '../../kit/icons.tsx'
import { Card, Nothing, PageHead, Pill, Problem, Waiting } from '../../kit/kit.tsx'
import { useLoad } from '../../kit/load.ts'
import { Table } from '../../kit/table.tsx'
import { clockTime, count, numberText, shortId } from '../../kit/words.ts'
import { initials } from '../../navigation.tsx'
import { Link } from '../../place.tsx'
import { t } from '../../words.ts'
import { AlertLimits, Alerts, AlertsButton, useAlerts } from './alerts.tsx'
import { useBoard } from './board.ts'
import { startConference } from './forms.tsx'
import { share } from './lists.tsx'
import { AgentState, clockOf, lookOf, Since, stateText } from './states.tsx'
import { type Mode, monitor, stopListening, supervise, takeOver } from './supervise.ts'

type QueueNow = RealtimeMetrics['queues'][number]
type AgentNow = RealtimeMetrics['agents'][number]

export function Wallboard({ session }: PageProps) {
  const { now, error } = useBoard()
  const [isLarge, setIsLarge] = useState(false)
  const [isChoosing, setIsChoosing] = useState(false)
  useEffect(() => {
    document.documentElement.classList.toggle('large-board', isLarge)
    return () => document.documentElement.classList.remove('large-board')
  }, [isLarge])
  const enlarge = (): void => {
    setIsLarge(!isLarge)
    void (isLarge ? document.exitFullscreen() : document.documentElement.requestFullscreen()).catch(() => undefined)
  }
  const agents = now?.agents ?? []
  return (
    <div class="page wallboard">
      <PageHead title="Wallboard" {...(now ? { note: clockTime(now.generated_at) } : {})}>
        {may('callcenter:write') && (
          <DeedButton deed={{ name: 'Start a conference', icon: 'users', form: startConference }} />
        )}
        <AlertsButton isOpen={isChoosing} onPress={() => setIsChoosing(!isChoosing)} />
        <button type="button" class="btn" aria-pressed={isLarge} onClick={enlarge}>
          <Icon name="desktop" />
          {t('On a big screen')}
        </button>
      </PageHead>
      {error && <Problem error={error} />}
      {!now && !error && <Waiting lines={6} />}
      {isChoosing && <AlertLimits />}
      <Alerts queues={now?.queues ?? []} />
      {now && (
        <>
          {now.queues.length === 0 && (
            <Nothing title="No queues" icon="layers">
              <Link to="/queues" class="btn primary">
                {t('Create queue')}
              </Link>
            </Nothing>
          )}
          <div class="queues">
            {now.queues.map((queue) => (
              <QueueTile key={queue.queue_id} queue={queue} />
            ))}
          </div>
          <Calls session={session} board={now} />
          <Card title="People" action={<Legend agents={agents} />}>
            {agents.length === 0 && <p class="soft">{t('No agent is at a desk.')}</p>}
            <ul class="agents">
              {agents.map((agent) => (
                <AgentTile key={agent.agent_id} agent={agent} />
              ))}
            </ul>
          </Card>
        </>
      )}
    </div>
  )
}

function QueueTile({ queue }: { queue: QueueNow }) {
  const [alert] = useAlerts()(queue)
  const { waiting, longest_wait_seconds, agents_available, agents_logged_in, service_level_percent, abandoned } = queue
  const level = service_level_percent ?? 100
  return (
    <section class={`queue ${alert?.tone ?? ''}`} aria-label={queue.name}>
      <h2>
        <Link to={`/queues/${queue.queue_id}`}>{queue.name}</Link>
        {alert && <Pill state="warning" tone={alert.tone} word={alert.brief} />}
      </h2>
      <p class="waiting-now">{count(waiting)}</p>
      <p>
        {t('waiting, longest')} <b>{waiting === 0 ? '–' : clockOf(longest_wait_seconds)}</b>
      </p>
      <p>
        <b>{t('{count} of {limit} free', { count: agents_available, limit: agents_logged_in })}</b>
      </p>
      <div class="level">
        <p>
          <span>{t('Within {seconds} s', { seconds: queue.sla.threshold_seconds })}</span>
          <b>{share(service_level_percent)}</b>
        </p>
        <Meter
          share={(service_level_percent ?? 0) / 100}
          target={queue.sla.target_percent / 100}
          tone={level < queue.sla.target_percent ? 'warn' : 'h1'}
        />
        <p>
          <span>{t('Abandoned')}</span>
          <b>{count(abandoned)}</b>
        </p>
      </div>
    </section>
  )
}

function Legend({ agents }: { agents: readonly AgentNow[] }) {
  const counts = new Map<string, number>()
  for (const { status } of agents) counts.set(status, (counts.get(status) ?? 0) + 1)
  return (
    <span class="push row soft small">
      {[...counts].map(([status, number]) => (
        <span key={status}>
          {t(lookOf(status).name)} <b>{number}</b>
        </span>
      ))}
    </span>
  )
}

/** Drawn anew only when it changes: of a thousand agents, a few do in a second. */
function AgentTile({ agent: { agent_id, name, status, reason, since } }: { agent: AgentNow }) {
  const look = lookOf(status, reason)
  const state = stateText(status, reason)
  return useMemo(
    () => (
      <li class={`agent ${look.tone}`}>
        <span class="letters" aria-hidden="true">
          {initials(name ?? agent_id)}
        </span>
        <Link to={`/agents/${encodeURIComponent(agent_id)}`} class="cut">
          {name ?? agent_id}
        </Link>
        <small>
          <Icon name={look.icon} />
          {state} <Since at={since} />
        </small>
      </li>
    ),
    [agent_id, name, look, state, since],
  )
}

/** Calls shown at once; of more, those that a name or number leaves. */
const maxCalls = 50
/** Nobody is told when a call is put on hold: it is asked for. */
const askMs = 5_000

/** Calls of agents, the longest first: who speaks is told by the stream, and with whom is asked when that changes. */
function Calls({ session, board }: { session: Session; board: RealtimeMetrics }) {
  const listening = monitor.use()
  // Who listens from here is in no call of their own.
  const speaking = board.agents
    .filter(
      ({ agent_id, call_id, status }) =>
        call_id !== null && status === 'on_call' && !(listening && agent_id === session.member.id),
    )
    .sort((one, other) => Date.parse(one.since) - Date.parse(other.since))
  const turn = speaking.length === 0 ? 0 : Math.floor(Date.parse(board.generated_at) / askMs)
  const told = useRef<ReadonlySet<string>>(new Set())
  const untold = speaking
    .slice(0, maxCalls)
    .flatMap(({ call_id }) => (told.current.has(call_id ?? '') ? [] : [call_id]))
  // The oldest calls are those that are shown, of however many.
  const calls = useLoad(
    `${useLooks(untold.join(' '), turn)}`,
    () => voiceListCalls(api, { query: { status: 'answered', order: 'asc', limit: 200 } }),
    { keeps: true },
  )
  const known = useMemo(() => new Map((calls.value?.data ?? []).map((call) => [call.call_id, call])), [calls.value])
  told.current = useMemo(() => new Set(known.keys()), [known])
  const queues = new Map(board.queues.map(({ queue_id, name }) => [queue_id, name]))
  const doing = useDoing()
  const [wanted, setWanted] = useState('')
  if (!may('voice:read')) return null
  const partyOf = ({ call_id }: AgentNow): string => {
    const call = known.get(call_id ?? '')
    return call ? numberText(call.direction === 'inbound' ? call.from : call.to) : shortId(call_id ?? '')
  }
  const isWanted = (agent: AgentNow): boolean =>
    `${agent.name ?? agent.agent_id} ${partyOf(agent)}`.toLowerCase().includes(wanted.trim().toLowerCase())
  const rows = speaking.filter(isWanted)
  return (
    <Card title="Calls now" action={<span class="count">{new Set(speaking.map(({ call_id }) => call_id)).size}</span>}>
      {calls.error && <Problem error={calls.error} retry={calls.reload} />}
      {doing.error && <Problem error={doing.error} />}
      {listening && (
        <p class="callout note row" role="status">
          <span>{t(modeWords[listening.mode])}</span>
          <button type="button" class="btn small push" onClick={() => doing.run(stopListening)}>
            {t('Stop listening')}
          </button>
        </p>
      )}
      {speaking.length > maxCalls && <Field label="Agent or number" value={wanted} onInput={setWanted} />}
      {rows.length === 0 ? (
        <p class="soft">{t('No calls in progress.')}</p>
      ) : (
        <Table<AgentNow>
          label={t('Calls')}
          rows={rows.slice(0, maxCalls)}
          keyOf={({ agent_id }) => agent_id}
          columns={[
            {
              ...{ name: 'Caller', priority: 1, card: 'title', grows: true },
              show: (agent) => <Link to={`/calls/${agent.call_id ?? ''}`}>{partyOf(agent)}</Link>,
            },
            { name: 'About', priority: 3, show: ({ about }) => <span dir="auto">{about ?? '–'}</span> },
            { name: 'With', priority: 1, card: 'sub', show: ({ name, agent_id }) => name ?? agent_id },
            { name: 'Queue', priority: 3, show: ({ queue_id }) => queues.get(queue_id ?? '') ?? '–' },
            {
              ...{ name: 'State', priority: 2, card: 'state' },
              show: ({ call_id }) => <PhaseState phase={known.get(call_id ?? '')?.phase ?? null} />,
            },
            { name: 'Duration', priority: 2, card: 'end', show: ({ since }) => <Since at={since} /> },
            ...(may('callcenter:write')
              ? [
                  {
                    ...{ name: 'Supervise', isActions: true },
                    show: (agent: AgentNow) => <Supervising session={session} agent={agent} doing={doing} />,
                  },
                ]
              : []),
          ]}
        />
      )}
      {rows.length > maxCalls && <p class="soft">{t('{count} more', { count: rows.length - maxCalls })}</p>}
    </Card>
  )
}

/** Number of looks at the calls: one every few seconds, and one at once for calls of which nothing was asked yet. */
function useLooks(untold: string, turn: number): number {
  const looks = useRef({ untold, turn, count: 0 }).current
  const isNew = untold !== '' && untold !== looks.untold
  if (isNew || turn !== looks.turn) Object.assign(looks, { untold, turn, count: looks.count + 1 })
  return looks.count
}

function PhaseState({ phase }: { phase: string | null }) {
  return phase === 'on_hold' ? <Pill state="paused" word={t('On hold')} tone="warn" /> : <AgentState status="on_call" />
}

const modes: readonly (readonly [mode: Mode, icon: IconName, name: string])[] = [
  ['listen', 'ear', 'Listen'],
  ['whisper', 'whisper', 'Whisper'],
  ['barge', 'join', 'Barge in'],
]
const modeWords: Readonly<Record<Mode, string>> = {
  listen: 'You listen without being heard.',
  whisper: 'You whisper; only the agent hears you.',
  barge: 'You speak; everyone hears you.',
}

function Supervising({
  session,
  agent,
  doing,
}: {
  session: Session
  agent: AgentNow
  doing: ReturnType<typeof useDoing>
}) {
  const call_id = agent.call_id ?? ''
  const listening = monitor.use()
  const isHere = listening?.call_id === call_id
  const take = async (): Promise<void> => {
    const answer = await confirm({
      title: t('Take this call over?'),
      consequences: [t('The agent leaves, and the caller speaks with you.')],
      action: t('Take over'),
      keep: t('Keep it with the agent'),
    })
    if (answer !== null) await takeOver(session, call_id)
  }
  const heard = isHere ? listening.mode : null
  const isOwn = agent.agent_id === session.member.id
  // Drawn anew only when it changes, as the people below.
  const deeds = useMemo(
    () => (
      <span class="row-actions supervising">
        {modes.map(([mode, icon, name]) => (
          <button
            key={mode}
            type="button"
            class="btn small"
            aria-pressed={heard === mode}
            disabled={doing.isBusy}
            title={t(name)}
            onClick={() => doing.run(() => supervise(session, call_id, mode))}
          >
            <Icon name={icon} />
            <span class="word">{t(name)}</span>
          </button>
        ))}
        <button
          type="button"
          class="btn small"
          disabled={doing.isBusy}
          title={t('Take over')}
          onClick={() => doing.run(take)}
        >
          <Icon name="transfer" />
          <span class="word">{t('Take over')}</span>
        </button>
      </span>
    ),
    [session, call_id, heard, doing.isBusy],
  )
  return isOwn ? <span class="soft">{t('Your own call')}</span> : deeds
}
