// SPDX-License-Identifier: Apache-2.0
// The journey in one glance: who handed it to whom, and where the time went. Widths are square roots, so that milliseconds
// stay visible beside seconds; the key has the true numbers.
import { t } from '../words.ts'
import { type Frame, took } from './frame.ts'

interface Stop {
  name: string
  state: string
  tone: 'good' | 'bad' | 'wait' | 'none'
  atMs: number | null
}

const stripWidth = 600
const stripHeight = 8

export function Journey({ frames }: { frames: readonly Frame[] }) {
  const stops = stopsOf(frames)
  const spans = spansOf(frames)
  const whole = spans.reduce((sum, [, ms]) => sum + Math.sqrt(ms), 0)
  let x = 0
  return (
    <section class="card journey" aria-label={t('The way in one glance')}>
      <ol class="hops">
        {stops.map(({ name, state, tone }) => (
          <li key={name} class={`stop is-${tone}`}>
            <span class="dot" aria-hidden="true" />
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

/** States that a text, a payment or a payout reaches only when a network or a provider has taken it. */
const takenStates: ReadonlySet<string> = new Set(['sent', 'delivered', 'read', 'completed', 'reversed'])
/** States in which it ends otherwise. */
const endStates: ReadonlySet<string> = new Set(['failed', 'cancelled', 'expired'])

function stopsOf(frames: readonly Frame[]): Stop[] {
  const of = (...kinds: string[]) => frames.filter(({ kind }) => kinds.includes(kind))
  const [request] = of('request')
  const carrier = of('smpp', 'provider').filter(({ direction }) => direction === 'out')
  const back = frames.filter(({ kind, direction }) => kind === 'callback' || (kind === 'smpp' && direction === 'in'))
  const hooks = of('webhook')
  const end = of('state').at(-1)
  const isPayment = /\/pay/.test(request?.title ?? '') || of('provider', 'callback').length > 0
  // In live the wire is kept only where the operator says so; the states then tell what became of it.
  const isTaken = of('state').some(({ title }) => takenStates.has(title))
  const isOver = end !== undefined && (takenStates.has(end.title) ? end.title !== 'sent' : endStates.has(end.title))
  const isWireKept = !isTaken || frames.some(({ kind }) => kind !== 'request' && kind !== 'state')
  const stop = (name: string, list: readonly Frame[], good: string, none: string): Stop => {
    const last = list.at(-1)
    const tone = last === undefined ? 'none' : last.is_ok === false ? 'bad' : 'good'
    return { name, state: last ? (last.is_ok === false ? (last.status ?? '') : good) : none, tone, atMs: timeOf(last) }
  }
  return [
    stop(t('Your app'), request ? [request] : [], request?.title ?? '', t('The console')),
    { name: 'Pamoja', state: end ? t('Accepted') : '', tone: 'good', atMs: timeOf(of('state')[0]) },
    {
      ...stop(isPayment ? t('Provider') : t('Network'), carrier, t('Took it'), t('Not asked yet')),
      ...(isTaken && carrier.length === 0 ? { state: t('Took it'), tone: 'good' as const } : {}),
    },
    {
      ...stop(t('Phone'), back, '', t('Waiting')),
      state: end && (isOver || back.length > 0) ? stateWords(end.title) : t('Waiting'),
      tone: !isOver && back.length === 0 ? 'wait' : end?.is_ok === false ? 'bad' : 'good',
    },
    stop(t('Webhook'), hooks, hooks.at(-1)?.status ?? '', isWireKept ? t('Nobody was told') : t('Not kept')),
  ]
}

const stateWords = (state: string): string => t(state.charAt(0).toUpperCase() + state.slice(1).replaceAll('_', ' '))

/** Parts of the time between the first and the last frame. */
function spansOf(frames: readonly Frame[]): [name: string, ms: number][] {
  const sum = (list: readonly Frame[]): number => list.reduce((ms, { duration_ms }) => ms + (duration_ms ?? 0), 0)
  const [first, last] = [frames[0], frames.at(-1)]
  const wholeMs = (timeOf(last) ?? 0) - (timeOf(first) ?? 0) + (last?.duration_ms ?? 0)
  const parts: [string, number][] = [
    ['Pamoja', sum(frames.filter(({ kind }) => kind === 'request'))],
    [t('Network'), sum(frames.filter(({ kind }) => kind === 'smpp' || kind === 'provider'))],
    [t('Your webhook'), sum(frames.filter(({ kind }) => kind === 'webhook'))],
  ]
  const restMs = Math.max(0, wholeMs - parts.reduce((ms, [, part]) => ms + part, 0))
  return [...parts, [t('On the air, or waiting'), restMs] satisfies [string, number]].filter(([, ms]) => ms > 0)
}

function timeOf(frame: Frame | undefined): number | null {
  return frame ? new Date(frame.at).getTime() : null
}
