// SPDX-License-Identifier: Apache-2.0
// A call at the desk: timer, hold, mute, keys, recording, passing it on, and notes that are kept as they are typed.
import { useEffect, useRef, useState } from 'preact/hooks'
import { callcenterChangeCall, callcenterDecideTransfer, callcenterTransfer } from '#sdk/operations.ts'
import type { AgentContext } from '#sdk/schemas.ts'
import { api } from '../../api.ts'
import { Devices } from '../../kit/devices.tsx'
import { useDoing } from '../../kit/doing.ts'
import { Field, TextField } from '../../kit/fields.tsx'
import { Icon, type IconName } from '../../kit/icons.tsx'
import { Problem } from '../../kit/kit.tsx'
import { useLevel } from '../../kit/microphone.ts'
import { numberText, percent } from '../../kit/words.ts'
import { initials } from '../../navigation.tsx'
import { t } from '../../words.ts'
import {
  ask,
  type DeskNow,
  isAskedIn,
  microphoneNow,
  networkFigures,
  type TransferNow,
  takesBack,
  thirdIs,
} from './connection.ts'
import { useKeys } from './keys.ts'
import { AgentState, Since, skillNames } from './states.tsx'

/** Notes of a call, kept in this tab until they are saved. */
export function useNotes(call_id: string): [notes: string, keep: (notes: string) => void] {
  const name = `pamoja-notes ${call_id}`
  const [notes, setNotes] = useState(() => sessionStorage.getItem(name) ?? '')
  const keep = (text: string): void => {
    setNotes(text)
    if (text === '') sessionStorage.removeItem(name)
    else sessionStorage.setItem(name, text)
  }
  return [notes, keep]
}

const digits = ['1', '2', '3', '4', '5', '6', '7', '8', '9', '*', '0', '#']

export function InCall({ now, customer }: { now: DeskNow; customer: AgentContext | null }) {
  const { call, agent, transfer, offer } = now
  // Those from outside are known to this page alone; colleagues are told by the server, to each desk.
  const third = call.others.join(', ') || now.third
  const isAsked = isAskedIn(now)
  const call_id = call.call_id ?? ''
  const doing = useDoing()
  const [open, setOpen] = useState<'keys' | 'pass' | null>(null)
  const [isPaused, setIsPaused] = useState(false)
  const [notes, keepNotes] = useNotes(call_id)
  const isHeld = call.state === 'on_hold'
  const hold = (): void => doing.run(() => ask({ type: 'call.hold', hold: !isHeld }))
  const mute = (): void => doing.run(() => ask({ type: 'call.mute', mute: !call.muted }))
  const hangUp = (): void => doing.run(() => ask({ type: 'call.hangup' }))
  /** Whether the call was passed on since the list was opened: it is not typed into by itself again. */
  const wasPassed = useRef(false)
  const toggle = (what: 'keys' | 'pass') => (): void => {
    wasPassed.current = false
    setOpen(open === what ? null : what)
  }
  const record = (): void =>
    doing.run(async () => {
      await callcenterChangeCall(api, { call_id, body: { recording: isPaused ? 'resume' : 'pause' } })
      setIsPaused(!isPaused)
    })
  const dial = (key: string): void => doing.run(() => ask({ type: 'call.dtmf', digits: key }))
  useKeys({
    ...{ m: mute, 'Ctrl e': hangUp },
    // Who is only asked decides nothing about the call.
    ...(isAsked ? {} : { h: hold, d: toggle('keys'), p: toggle('pass'), r: record }),
    ...(open === null ? {} : { Escape: () => setOpen(null) }),
    ...(open === 'keys' ? Object.fromEntries(digits.map((key) => [key, () => dial(key)])) : {}),
  })
  const phone = customer?.customer?.phone ?? offer?.from
  const who = customer?.customer?.name ?? (phone ? numberText(phone) : t('Unknown caller'))
  return (
    <section class="card in-call" aria-label={t('Call with {name}', { name: who })}>
      <header>
        <span class="letters large" aria-hidden="true">
          {customer?.customer?.name ? initials(who) : <Icon name="user" />}
        </span>
        <div class="grow">
          <h2 dir="auto">{who}</h2>
          <p class="soft">
            {isAsked
              ? t('You are consulted')
              : isHeld
                ? t('On hold: the caller hears music')
                : third
                  ? t('All three speak')
                  : t('You speak')}
          </p>
        </div>
        <p class="call-time">{agent && <Since at={agent.since} role="timer" />}</p>
      </header>
      <Line heard={now.heard} />
      {third && (
        <p class="callout note" role="status">
          {t('You, {name} and {other} speak.', { name: who, other: third })}
        </p>
      )}
      <div class="call-keys">
        <Key icon="mic" name="Mute" hint="M" isOn={call.muted} onPress={mute} />
        {!isAsked && (
          <>
            <Key icon="pause" name="Hold" hint="H" isOn={isHeld} onPress={hold} />
            <Key icon="keypad" name="Keys" hint="D" isOn={open === 'keys'} onPress={toggle('keys')} />
            <Key icon="transfer" name="Transfer" hint="P" isOn={open === 'pass'} onPress={toggle('pass')} />
            <Key icon="record" name="Pause recording" hint="R" isOn={isPaused} onPress={record} />
          </>
        )}
        <Key icon="hangup" name={third ? 'Leave the call' : 'Hang up'} hint="Ctrl E" isDanger onPress={hangUp} />
      </div>
      {doing.error && <Problem error={doing.error} />}
      {open === 'keys' && (
        <fieldset class="keys" aria-label={t('Keys')}>
          {digits.map((key) => (
            <button key={key} type="button" class="btn" onClick={() => dial(key)}>
              {key}
            </button>
          ))}
        </fieldset>
      )}
      {transfer && isAsked ? (
        <p class="callout note" role="status">
          {t('{name} asks you before handing {caller} over. The caller hears music.', {
            name: transfer.from_name ?? '',
            caller: who,
          })}
        </p>
      ) : transfer ? (
        <Consulting transfer={transfer} doing={doing} onMerged={() => setOpen(null)} />
      ) : (
        open === 'pass' && <PassOn call_id={call_id} doing={doing} wasPassed={wasPassed} />
      )}
      <TextField label="Notes" value={notes} onInput={keepNotes} rows={3} maxLength={4_000} hint="Kept as you type" />
      <Devices />
    </section>
  )
}

interface KeyProps {
  icon: IconName
  name: string
  hint: string
  isOn?: boolean
  isDanger?: boolean
  onPress(): void
}

function Key({ icon, name, hint, isOn, isDanger = false, onPress }: KeyProps) {
  return (
    <button
      type="button"
      class={isDanger ? 'call-key danger' : 'call-key'}
      aria-pressed={isOn}
      title={hint}
      onClick={onPress}
    >
      <Icon name={icon} />
      {t(name)}
    </button>
  )
}

/** Levels of the microphone and of what is heard, and how good the connection is. */
function Line({ heard }: Pick<DeskNow, 'heard'>) {
  const level = useLevel(microphoneNow())
  const heardLevel = useLevel(heard)
  const [figures, setFigures] = useState<Awaited<ReturnType<typeof networkFigures>>>(null)
  useEffect(() => {
    const look = (): void => void networkFigures().then(setFigures, () => undefined)
    look()
    const timer = setInterval(look, 5_000)
    return () => clearInterval(timer)
  }, [])
  const isBad = figures !== null && (figures.lost > 0.03 || (figures.rttMs ?? 0) > 400)
  return (
    <p class="line-figures soft">
      <Icon name="mic" />
      <meter min={0} max={1} value={level} aria-label={t('Level of the microphone')} />
      <Icon name="speaker" />
      <meter min={0} max={1} value={heardLevel} aria-label={t('Level of the caller')} />
      {figures && (
        <span class={isBad ? 'bad' : ''}>
          {isBad ? t('Poor connection') : t('Good connection')}
          {figures.rttMs === null ? '' : `, ${figures.rttMs} ms`}
          {figures.lost === 0 ? '' : `, ${t('{percent} lost', { percent: percent(figures.lost) })}`}
        </span>
      )}
    </p>
  )
}

interface Colleague {
  readonly agent_id: string
  readonly name: string
  readonly status: string
  readonly since: string
  readonly skills: readonly { readonly name: string }[]
}

interface Targets {
  readonly agents: readonly Colleague[]
  readonly queues: readonly { readonly queue_id: string; readonly name: string; readonly agents_available: number }[]
}

/** Colleagues with their state, queues, and any number. */
function PassOn({
  call_id,
  doing,
  wasPassed,
}: {
  call_id: string
  doing: ReturnType<typeof useDoing>
  wasPassed: { current: boolean }
}) {
  const [targets, setTargets] = useState<Targets>({ agents: [], queues: [] })
  const [typed, setTyped] = useState('')
  useEffect(() => {
    const look = (): void => void ask<Targets>({ type: 'colleagues' }).then(setTargets, () => undefined)
    look()
    const timer = setInterval(look, 3_000)
    return () => clearInterval(timer)
  }, [])
  const pass = (destination: string, transfer_type: 'warm' | 'cold'): void => {
    wasPassed.current = true
    doing.run(() => callcenterTransfer(api, { body: { call_id, destination, transfer_type } }))
  }
  // Who is typed at once: the list is filtered, and the first button is one step further.
  const box = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (!wasPassed.current) box.current?.querySelector('input')?.focus()
  }, [])
  const wanted = typed.trim().toLowerCase()
  const matches = (name: string): boolean => wanted === '' || name.toLowerCase().includes(wanted)
  const number = typed.trim().replace(/^\+[\d\s()-]+$/, (text) => text.replace(/[^+\d]/g, ''))
  const isNumber = /^(\+\d{6,}|sips?:\S+)$/i.test(number)
  const deeds = (destination: string, isWarm = true) => (
    <span class="push row">
      {isWarm && (
        <button type="button" class="btn small" disabled={doing.isBusy} onClick={() => pass(destination, 'warm')}>
          {t('Warm: consult first')}
        </button>
      )}
      <button type="button" class="btn small" disabled={doing.isBusy} onClick={() => pass(destination, 'cold')}>
        {t('Hand over')}
      </button>
    </span>
  )
  return (
    <div class="pass-on" ref={box}>
      <Field label="Transfer to" value={typed} onInput={setTyped} placeholder={t('A colleague, a queue, a number')} />
      <ul class="story">
        {isNumber && (
          <li>
            <span class="strong" dir="ltr">
              {number}
            </span>
            {deeds(number)}
          </li>
        )}
        {targets.agents
          .filter(({ name }) => matches(name))
          .map(({ agent_id, name, status, since, skills }) => (
            <li key={agent_id}>
              <span class="strong" dir="auto">
                {name}
              </span>
              <AgentState status={status} />
              <span class="soft small">{skillNames(skills)}</span>
              {status === 'available' ? (
                deeds(agent_id)
              ) : (
                <span class="push soft">
                  <Since at={since} />
                </span>
              )}
            </li>
          ))}
        {targets.queues
          .filter(({ name }) => matches(name))
          .map(({ queue_id, name, agents_available }) => (
            <li key={queue_id}>
              <span class="strong" dir="auto">
                {t('Queue {name}', { name })}
              </span>
              <span class="soft small">{t('{count} free', { count: agents_available })}</span>
              {deeds(queue_id, false)}
            </li>
          ))}
      </ul>
    </div>
  )
}

/** A colleague is asked first: then the call is theirs, all three speak, or it is taken back. */
function Consulting({
  transfer,
  doing,
  onMerged,
}: {
  transfer: TransferNow
  doing: ReturnType<typeof useDoing>
  onMerged(): void
}) {
  const { transfer_id, destination, status } = transfer
  const [name, setName] = useState(destination)
  useEffect(() => {
    ask<Targets>({ type: 'colleagues' }).then(
      ({ agents, queues }) => {
        const found =
          agents.find(({ agent_id }) => agent_id === destination) ??
          queues.find(({ queue_id }) => queue_id === destination)
        if (found) setName(found.name)
      },
      () => undefined,
    )
  }, [destination])
  const decide = (action: 'complete' | 'merge' | 'cancel') => (): void =>
    doing.run(async () => {
      if (action === 'cancel') takesBack(transfer_id)
      await callcenterDecideTransfer(api, { transfer_id, body: { action } })
      if (action !== 'merge') return
      thirdIs(name)
      onMerged()
    })
  const isSpeaking = status === 'consulting'
  const box = useRef<HTMLDivElement>(null)
  useEffect(() => box.current?.querySelector('button')?.focus(), [isSpeaking])
  return (
    <div class="callout note" role="status" ref={box}>
      <p>
        {isSpeaking
          ? t('You speak with {name}; the caller hears music.', { name })
          : t('{name} is being rung…', { name })}
      </p>
      <p class="row">
        {isSpeaking && (
          <>
            <button type="button" class="btn primary" disabled={doing.isBusy} onClick={decide('complete')}>
              {t('Hand over')}
            </button>
            <button type="button" class="btn" disabled={doing.isBusy} onClick={decide('merge')}>
              {t('Speak all three')}
            </button>
          </>
        )}
        <button type="button" class="btn" disabled={doing.isBusy} onClick={decide('cancel')}>
          {t('Take the call back')}
        </button>
      </p>
    </div>
  )
}
