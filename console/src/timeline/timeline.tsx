// SPDX-License-Identifier: Apache-2.0
// The timeline of a message or a payment: the journey in one glance, then every frame with what was said. Frames come closed,
// so that the whole story stands on one screen; one that failed comes open.
import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import type { Timeline as Told } from '#sdk/schemas.ts'
import { thingAt } from '../api.ts'
import { CopyCurl } from '../kit/detail.tsx'
import { Problem, Waiting } from '../kit/kit.tsx'
import { useLoad } from '../kit/load.ts'
import { moment, words } from '../kit/words.ts'
import { useLive } from '../live.ts'
import { t } from '../words.ts'
import { type Frame, took } from './frame.ts'
import { inOrder, isPolling, Journey, type JourneyKind } from './journey.tsx'
import { PduView } from './pdu.tsx'

/** Pause between two frames that is worth a line. */
const pauseMs = 500
/** Frames are written a moment after what they tell of, and webhooks come after the event. */
const lateMs = [1_500, 5_000]

interface TimelineProps {
  /** Path of the timeline itself. */
  path: string
  /** Kind of the record, which decides its journey; without one there is none. */
  kind?: JourneyKind
  /** Beginnings of the events after which there is more, and the id that they name. */
  live?: string
  about?: string
  query?: Record<string, string>
}

export function Timeline({ path, kind, live, about, query = {} }: TimelineProps) {
  const { value, error, reload } = useLoad(path, () => thingAt<Told>(path, query))
  const late = useRef<ReturnType<typeof setTimeout>[]>([])
  const stop = (): void => late.current.forEach(clearTimeout)
  useEffect(() => stop, [])
  useLive(
    live ?? null,
    async () => {
      stop()
      late.current = lateMs.map((ms) => setTimeout(() => void reload(), ms))
      await reload()
    },
    { about },
  )
  if (error && !value) return <Problem error={error} retry={reload} />
  if (!value) return <Waiting />
  return <Frames frames={value.frames} path={path} {...(kind ? { kind } : {})} />
}

interface FramesProps {
  frames: readonly Frame[]
  /** Where the API gives them. */
  path: string
  kind?: JourneyKind
}

/** Frames that are known already. */
export function Frames({ frames: given, path, kind }: FramesProps) {
  const frames = inOrder(given, kind)
  const start = Math.min(...frames.map(({ at }) => new Date(at).getTime()))
  return (
    <>
      {kind && <Journey frames={frames} kind={kind} />}
      <section aria-labelledby="timeline">
        <header class="way-head">
          <h2 id="timeline">{t('Timeline')}</h2>
          <span class="soft">{t('{count} frames, times from the first', { count: frames.length })}</span>
          <CopyCurl path={path} look="small push" />
        </header>
        <ol class="frames">
          {frames.map((frame, i) => (
            <Step key={`${frame.at} ${frame.kind} ${frame.title}`} frame={frame} start={start} before={frames[i - 1]} />
          ))}
        </ol>
      </section>
    </>
  )
}

const signs: Readonly<Record<string, string>> = { in: '↙', out: '↗' }

function Step({ frame, start, before }: { frame: Frame; start: number; before: Frame | undefined }) {
  const atMs = new Date(frame.at).getTime()
  const gapMs = before ? atMs - new Date(before.at).getTime() - (before.duration_ms ?? 0) : 0
  const isCalm = isPolling(frame)
  const isBad = frame.is_ok === false && !isCalm
  const tone = isBad ? 'bad' : isCalm ? 'wait' : frame.direction === 'in' ? 'in' : frame.is_ok ? 'good' : 'plain'
  const hasMore = frame.request !== null || frame.answer !== null || frame.pdus.length > 0
  const head = (
    <>
      <span class="strong">{frame.kind === 'state' ? words(frame.title) : frame.title}</span>
      {frame.kind !== 'state' && <span class="tag">{frame.kind}</span>}
      <span class="soft cut">{frame.peer}</span>
      <span class={isBad ? 'bad mono' : 'mono'}>{isCalm ? t('Not yet') : frame.status}</span>
      {frame.duration_ms !== null && <span class="soft mono">{took(frame.duration_ms)}</span>}
    </>
  )
  return (
    <>
      {gapMs > pauseMs && (
        <li class="frame gap" aria-label={t('Pause')}>
          <span class="soft">{took(gapMs)}</span>
        </li>
      )}
      <li class={`frame is-${tone}`}>
        <time dateTime={frame.at} title={moment(frame.at)}>
          {since(atMs - start)}
        </time>
        <span class="sign" aria-hidden="true">
          {isBad ? '✕' : isCalm ? '…' : (signs[frame.direction ?? ''] ?? '·')}
        </span>
        {hasMore ? (
          <details open={isBad}>
            <summary>{head}</summary>
            <div class="inner">
              {frame.pdus.map((pdu) => (
                <PduView key={pdu.hex} pdu={pdu} />
              ))}
              {frame.request !== null && <Said title={t('Request')}>{pretty(frame.request)}</Said>}
              {frame.answer !== null && <Said title={t('Answered')}>{pretty(frame.answer)}</Said>}
            </div>
          </details>
        ) : (
          <div class="plain-frame">{head}</div>
        )}
      </li>
    </>
  )
}

function Said({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <figure class="code">
      <figcaption>{title}</figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard */}
      <pre tabIndex={0} dir="ltr">
        {children}
      </pre>
    </figure>
  )
}

function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}

const since = (ms: number): string => `+${took(Math.max(0, ms))}`
