// SPDX-License-Identifier: Apache-2.0
// States of agents and calls in words, with their colours and signs, and how long they last.
import { useLayoutEffect, useRef } from 'preact/hooks'
import { Icon, type IconName } from '../../kit/icons.tsx'
import { nowMs, words } from '../../kit/words.ts'
import { t } from '../../words.ts'

type Tone = 'good' | 'note' | 'warn' | 'bad' | 'idle'

interface Look {
  readonly name: string
  readonly tone: Tone
  readonly icon: IconName
}

const looks: Readonly<Record<string, Look>> = {
  available: { name: 'Free', tone: 'good', icon: 'good' },
  ringing: { name: 'Ringing', tone: 'warn', icon: 'bell' },
  on_call: { name: 'In a call', tone: 'note', icon: 'call' },
  wrap_up: { name: 'After a call', tone: 'warn', icon: 'note' },
  break: { name: 'Break', tone: 'idle', icon: 'pause' },
  away: { name: 'Away', tone: 'idle', icon: 'clock' },
  training: { name: 'Training', tone: 'idle', icon: 'book' },
  meeting: { name: 'Meeting', tone: 'idle', icon: 'users' },
  offline: { name: 'Signed out', tone: 'idle', icon: 'leave' },
  no_answer: { name: 'No answer', tone: 'bad', icon: 'no-signal' },
  desk_lost: { name: 'Connection lost', tone: 'bad', icon: 'no-signal' },
}

/** States that an agent chooses, in the order in which they are offered. */
export const chosenStates = ['available', 'break', 'away', 'training', 'meeting'] as const

export const isChosen = (state: string): state is (typeof chosenStates)[number] =>
  chosenStates.some((one) => one === state)

/** Look of a state; a reason that says more than the state stands in its place. */
export function lookOf(status: string, reason: string | null = null): Look {
  const told = reason !== null && status === 'away' ? looks[reason] : undefined
  return told ?? looks[status] ?? { name: words(status), tone: 'idle', icon: 'clock' }
}

export const reasonNames: Readonly<Record<string, string>> = {
  ...{ lunch: 'Lunch', tea: 'Tea', prayer: 'Prayer', rest: 'Rest' },
  ...{ errand: 'Errand', technical: 'Technical problem', personal: 'Personal' },
}

/** A state in words: why somebody is away, where that is known. */
export function stateText(status: string, reason: string | null): string {
  const why = reason === null || lookOf(status, reason) !== lookOf(status) ? undefined : reasonNames[reason]
  return t(why ?? lookOf(status, reason).name)
}

/** State of an agent: its sign, its word and its colour. */
export function AgentState({ status, reason = null }: { status: string; reason?: string | null }) {
  const { name, tone, icon } = lookOf(status, reason)
  return (
    <span class={`pill ${tone}`}>
      <Icon name={icon} />
      {t(name)}
    </span>
  )
}

/** `1:05`, or `1:02:05`, of seconds. */
export function clockOf(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds))
  const two = (number: number): string => String(number).padStart(2, '0')
  const [hours, minutes] = [Math.floor(whole / 3_600), Math.floor(whole / 60) % 60]
  return hours > 0 ? `${hours}:${two(minutes)}:${two(whole % 60)}` : `${minutes}:${two(whole % 60)}`
}

/** Seconds since a moment, by the account's own clock. */
const secondsSince = (at: string): number => (nowMs() - Date.parse(at)) / 1_000

/** Texts of times that go on, with the moments they are told from: one clock writes them all, once a second. */
const going = new Map<HTMLElement, string>()
let clock: ReturnType<typeof setInterval> | undefined

function tick(): void {
  for (const [element, at] of going) write(element, at)
}

function write(element: HTMLElement, at: string): void {
  const text = clockOf(secondsSince(at))
  if (element.textContent !== text) element.textContent = text
}

/** Time since a moment, which goes on. A wallboard has a thousand: they are written without being drawn anew. */
export function Since({ at, role }: { at: string; role?: 'timer' }) {
  const own = useRef<HTMLSpanElement>(null)
  useLayoutEffect(() => {
    const element = own.current
    if (!element) return undefined
    going.set(element, at)
    write(element, at)
    clock ??= setInterval(tick, 1_000)
    return () => {
      going.delete(element)
      if (going.size > 0) return
      clearInterval(clock)
      clock = undefined
    }
  }, [at])
  return <span class="since" role={role} ref={own} />
}

export const skillNames = (skills: readonly { readonly name: string }[]): string =>
  skills.map(({ name }) => name).join(', ')
