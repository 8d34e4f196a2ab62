// SPDX-License-Identifier: Apache-2.0
// The journey in one glance: who handed it to whom, and where the time went. Each kind has stops of its own, in the order of
// cause; what has not happened is not told, except where it is still awaited. Widths are square roots, so that milliseconds stay
// visible beside seconds; the key has the true numbers.
import { Icon, type IconName } from '../kit/icons.tsx'
import { words } from '../kit/words.ts'
import { t } from '../words.ts'
import { type Frame, took } from './frame.ts'

export type JourneyKind = 'text' | 'received text' | 'payment' | 'payout'

interface Stop {
  readonly name: string
  readonly icon: IconName
  readonly state: string
  readonly tone: 'good' | 'bad' | 'wait' | 'none'
}

const stripWidth = 600
const stripHeight = 8

export function Journey({ frames, kind }: { frames: readonly Frame[]; kind: JourneyKind }) {
  const stops = stopsOf(frames, kind)
  const spans = spansOf(frames, kind)
  const whole = spans.reduce((sum, [, ms]) => sum + Math.sqrt(ms), 0)
  let x = 0
  return (
    <section class="card journey" aria-label={t('Summary of the route')}>
      <ol class="hops">
        {stops.map(({ name, icon, state, tone }) => (
          <li key={name} class={`stop is-${tone}`}>
            <span class="dot">
              <Icon name={icon} />
            </span>
            <strong>{name}</strong>
            <small>{state}</small>
          </li>
        ))}
      </ol>
      {whole > 0 && (
        <>
          <svg class="spent" viewBox={`0 0 ${stripWidth} ${stripHeight}`} preserveAspectRatio="none" aria-hidden="true">
            {spans.map(([name, ms], i) => {
              const width = (Math.sqrt(ms) / whole) * stripWidth
              const from = x
              x += width
              return <rect key={name} class={`c${i + 1}`} x={from} y={0} width={width} height={stripHeight} />
            })}
          </svg>
          <ul class="key">
            {spans.map(([name, ms], i) => (
              <li key={name}>
                <span class={`swatch c${i + 1}`} aria-hidden="true" /> {name} <span class="mono soft">{took(ms)}</span>
              </li>
            ))}
          </ul>
        </>
      )}
    </section>
  )
}

/** States that are reached only when a network or a provider has taken it. */
const takenStates: ReadonlySet<string> = new Set(['sent', 'delivered', 'read', 'completed', 'reversed'])
/** States after which nothing more is awaited of the other side. */
const overStates: ReadonlySet<string> = new Set([
  ...['delivered', 'read', 'completed', 'reversed', 'failed', 'cancelled', 'expired', 'received'],
])

/** What the frames tell of the record. */
interface Told {
  readonly request: Frame | undefined
  readonly accepted: Frame | undefined
  readonly end: Frame | undefined
  readonly out: readonly Frame[]
  readonly back: readonly Frame[]
  readonly hooks: readonly Frame[]
  readonly isTaken: boolean
  readonly isOver: boolean
}

function toldBy(frames: readonly Frame[]): Told {
  const of = (...kinds: string[]) => frames.filter(({ kind }) => kinds.includes(kind))
  const states = of('state')
  const end = states.at(-1)
  return {
    request: of('request')[0],
    accepted: states[0],
    end,
    out: of('smpp', 'provider').filter(({ direction }) => direction === 'out'),
    back: frames.filter(({ kind, direction }) => kind === 'callback' || (kind === 'smpp' && direction === 'in')),
    hooks: of('webhook'),
    // In live the wire is kept only where the operator says so; the states then tell what became of it.
    isTaken: states.some(({ title }) => takenStates.has(title)),
    isOver: end !== undefined && overStates.has(end.title),
  }
}

/** Whether a question about something that is under way was answered with "not yet": calm, not a failure. */
export function isPolling({ kind, is_ok, title, answer }: Frame): boolean {
  return (
    kind === 'provider' &&
    is_ok === false &&
    (/query|status/i.test(title) || /being processed|pending/i.test(answer ?? ''))
  )
}

function stopsOf(frames: readonly Frame[], kind: JourneyKind): Stop[] {
  const told = toldBy(frames)
  const stops = kind === 'received text' ? received(told) : sent(told, kind)
  return stops.filter((stop): stop is Stop => stop !== null)
}

function sent(told: Told, kind: JourneyKind): (Stop | null)[] {
  const { request, accepted, out, end, isOver, isTaken } = told
  const isText = kind === 'text'
  const lastOut = out.findLast((frame) => !isPolling(frame))
  const isRefused = lastOut?.is_ok === false && !isTaken
  const other: Stop = {
    name: isText ? t('Network') : t('Provider'),
    icon: isText ? 'antenna' : 'coins',
    state: isRefused ? (lastOut.status ?? t('Refused')) : out.length > 0 || isTaken ? t('Accepted') : t('Not sent yet'),
    tone: isRefused ? 'bad' : out.length > 0 || isTaken ? 'good' : 'wait',
  }
  const isBad = end?.is_ok === false || end?.title === 'failed' || end?.title === 'expired'
  const person: Stop = {
    name: t('Phone'),
    icon: 'mobile',
    state: isOver && end ? words(end.title) : t('Waiting'),
    tone: isOver ? (isBad ? 'bad' : 'good') : 'wait',
  }
  return [
    request ? stop(t('Your app'), 'terminal', request, request.title) : null,
    accepted ? { name: 'Pamoja', icon: 'layers', state: t('Accepted'), tone: 'good' } : null,
    isOver && out.length === 0 && !isTaken ? null : other,
    kind === 'payout' && !isOver ? null : person,
    webhook(told),
  ]
}

/** A text from a phone: the phone is the cause, and the webhook is told last. */
function received(told: Told): (Stop | null)[] {
  const { back } = told
  return [
    { name: t('Phone'), icon: 'mobile', state: t('Sent'), tone: 'good' },
    back.length > 0 ? { name: t('Network'), icon: 'antenna', state: t('Delivered'), tone: 'good' } : null,
    { name: 'Pamoja', icon: 'layers', state: t('Received'), tone: 'good' },
    webhook(told),
  ]
}

function webhook({ hooks }: Told): Stop | null {
  const last = hooks.at(-1)
  return last ? stop(t('Your webhook'), 'hook', last, last.status ?? '') : null
}

function stop(name: string, icon: IconName, frame: Frame, good: string): Stop {
  const isBad = frame.is_ok === false
  return { name, icon, state: isBad ? (frame.status ?? t('Failed')) : good, tone: isBad ? 'bad' : 'good' }
}

/** Parts of the time between the first and the last frame. */
function spansOf(frames: readonly Frame[], kind: JourneyKind): [name: string, ms: number][] {
  const sum = (list: readonly Frame[]): number => list.reduce((ms, { duration_ms }) => ms + (duration_ms ?? 0), 0)
  const [first, last] = [frames[0], frames.at(-1)]
  const wholeMs = timeOf(last) - timeOf(first) + (last?.duration_ms ?? 0)
  const parts: [string, number][] = [
    ['Pamoja', sum(frames.filter((frame) => frame.kind === 'request'))],
    [
      kind === 'payment' || kind === 'payout' ? t('Provider') : t('Network'),
      sum(frames.filter((frame) => frame.kind === 'smpp' || frame.kind === 'provider')),
    ],
    [t('Your webhook'), sum(frames.filter((frame) => frame.kind === 'webhook'))],
  ]
  const restMs = Math.max(0, wholeMs - parts.reduce((ms, [, part]) => ms + part, 0))
  return [...parts, [t('In transit or waiting'), restMs] satisfies [string, number]].filter(([, ms]) => ms > 0)
}

function timeOf(frame: Frame | undefined): number {
  return frame ? new Date(frame.at).getTime() : 0
}

/** Frames in the order of cause: what a phone handed over comes before all that it caused. */
export function inOrder(frames: readonly Frame[], kind: JourneyKind | undefined): readonly Frame[] {
  if (kind !== 'received text') return frames
  const isCause = ({ kind: of, direction }: Frame): boolean => of === 'smpp' && direction === 'in'
  const [first, ...others] = frames.filter((frame) => !isCause(frame))
  // It was noted once it was answered, which is later than what it caused.
  const causes = frames
    .filter(isCause)
    .map((frame) => (first && first.at < frame.at ? { ...frame, at: first.at } : frame))
  return [...causes, ...(first ? [first, ...others] : [])]
}
