// SPDX-License-Identifier: Apache-2.0
// Alerts of the wallboard: a queue with too many callers, one who waits too long, or a service level below the queue's own. Limits
// are chosen in the browser and kept there.
import { useEffect, useRef, useState } from 'preact/hooks'
import { callcenterChangeAgent } from '#sdk/operations.ts'
import type { RealtimeMetrics } from '#sdk/schemas.ts'
import { api, may } from '../../api.ts'
import { complain, say, undoable } from '../../kit/dialogs.tsx'
import { Field, Switch } from '../../kit/fields.tsx'
import { Icon } from '../../kit/icons.tsx'
import { Card } from '../../kit/kit.tsx'
import { playAlert } from '../../kit/sound.ts'
import { Link } from '../../place.tsx'
import { store } from '../../store.ts'
import { t } from '../../words.ts'
import { allAgents } from './names.ts'
import { clockOf } from './states.tsx'

type QueueNow = RealtimeMetrics['queues'][number]

interface Limits {
  /** Callers who wait; 0 for no alert. */
  readonly waiting: number
  /** Seconds that the first of them waits; 0 for no alert. */
  readonly seconds: number
  readonly isHeard: boolean
}

const kept = 'pamoja-wallboard-alerts'

function keptLimits(): Limits {
  const text = localStorage.getItem(kept)
  if (text === null) return { waiting: 5, seconds: 60, isHeard: false }
  const [waiting = 0, seconds = 0, isHeard = 0] = text.split(' ').map(Number)
  return { waiting, seconds, isHeard: isHeard === 1 }
}

const limits = store<Limits>(keptLimits())

function keep(part: Partial<Limits>): void {
  const next = { ...limits.get(), ...part }
  localStorage.setItem(kept, [next.waiting, next.seconds, next.isHeard ? 1 : 0].join(' '))
  limits.set(next)
}

interface Alert {
  readonly kind: 'waiting' | 'wait' | 'level'
  readonly tone: 'bad' | 'warn'
  /** In a word or two, for the queue's own place. */
  readonly brief: string
  /** Says the limit and not the figure, which changes every second and would be read out each time. */
  readonly words: string
}

export function useAlerts(): (queue: QueueNow) => Alert[] {
  const { waiting, seconds } = limits.use()
  return (queue) => {
    const { target_percent } = queue.sla
    const percent = Math.round(target_percent)
    const all: Alert[] = []
    if (waiting > 0 && queue.waiting >= waiting)
      all.push({
        ...({ kind: 'waiting', tone: 'bad' } as const),
        ...{ brief: t('Too many'), words: t('{count} or more wait', { count: waiting }) },
      })
    if (seconds > 0 && queue.waiting > 0 && queue.longest_wait_seconds >= seconds)
      all.push({
        ...({ kind: 'wait', tone: 'bad' } as const),
        ...{ brief: t('Too long'), words: t('A wait of {time} or more', { time: clockOf(seconds) }) },
      })
    if ((queue.service_level_percent ?? 100) < target_percent)
      all.push({
        ...({ kind: 'level', tone: 'warn' } as const),
        ...{ brief: t('Below the service level'), words: t('Below the service level of {percent} %', { percent }) },
      })
    return all
  }
}

export function Alerts({ queues }: { queues: readonly QueueNow[] }) {
  const { isHeard } = limits.use()
  const alertsOf = useAlerts()
  const rows = queues.map((queue) => ({ queue, alerts: alertsOf(queue) })).filter(({ alerts }) => alerts.length > 0)
  const keys = rows.flatMap(({ queue, alerts }) => alerts.map(({ kind }) => `${queue.queue_id} ${kind}`))
  const before = useRef<readonly string[]>([])
  useEffect(() => {
    if (isHeard && keys.some((key) => !before.current.includes(key))) playAlert()
    before.current = keys
  }, [keys.join()])
  return (
    <div role="status" aria-label={t('Alerts')}>
      {rows.length > 0 && (
        <ul class="callout bad alerts">
          {rows.map(({ queue, alerts }) => (
            <li key={queue.queue_id}>
              <Icon name="bell" />{' '}
              <Link to={`/queues/${queue.queue_id}`}>
                <bdi>{queue.name}</bdi>
              </Link>
              {': '}
              {alerts.map(({ words }) => words).join(' · ')}
              {queue.waiting > 0 && may('callcenter:write') && (
                <button type="button" class="btn small" onClick={() => void addFree(queue).catch(complain)}>
                  {t('Add free agents')}
                </button>
              )}
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}

/** Agents added to a queue at once. */
const maxAdded = 3

/** Lets free agents of other queues serve one whose callers wait; they keep their own queues. */
async function addFree({ queue_id, name: queue }: QueueNow): Promise<void> {
  const free = (await allAgents())
    .filter(({ status, queues }) => status === 'available' && !queues.includes(queue_id))
    .slice(0, maxAdded)
  if (free.length === 0) return say(t('No agent of another queue is free.'))
  const serve = (isAdded: boolean) => () =>
    Promise.all(
      free.map(({ agent_id, queues }) =>
        callcenterChangeAgent(api, { agent_id, body: { queues: isAdded ? [...queues, queue_id] : queues } }),
      ),
    )
  const names = free.map(({ name, agent_id }) => name ?? agent_id).join(', ')
  await undoable(t('Added to {queue}: {names}', { queue, names }), serve(true), serve(false))
}

/** Button that opens the limits. */
export function AlertsButton({ isOpen, onPress }: { isOpen: boolean; onPress(): void }) {
  return (
    <button type="button" class="btn" aria-expanded={isOpen} onClick={onPress}>
      <Icon name="bell" />
      {t('Alerts')}
    </button>
  )
}

export function AlertLimits() {
  const { waiting, seconds, isHeard } = limits.use()
  const turn = (wanted: boolean): void => {
    keep({ isHeard: wanted })
    if (wanted) playAlert()
  }
  return (
    <Card title="Alerts">
      <p class="soft">{t('Stored in this browser. 0 disables an alert. The service level is that of each queue.')}</p>
      <div class="form in-line">
        <Limit label="Callers who wait" value={waiting} onChange={(count) => keep({ waiting: count })} />
        <Limit label="Longest wait, seconds" value={seconds} onChange={(count) => keep({ seconds: count })} />
        <Switch label="A sound when an alert begins" isOn={isHeard} onChange={turn} />
      </div>
    </Card>
  )
}

function Limit({ label, value, onChange }: { label: string; value: number; onChange(value: number): void }) {
  const [text, setText] = useState(String(value))
  const isNumber = /^\d{1,5}$/.test(text)
  const type = (typed: string): void => {
    setText(typed)
    if (/^\d{1,5}$/.test(typed)) onChange(Number(typed))
  }
  return (
    <Field
      label={label}
      type="number"
      value={text}
      onInput={type}
      problem={isNumber ? undefined : t('Give a whole number.')}
    />
  )
}
