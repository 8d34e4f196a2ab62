// SPDX-License-Identifier: Apache-2.0
// The timeline of a message or a payment: the journey in one glance, then every frame with what was said. Frames come closed,
// so that the whole story stands on one screen; one that failed comes open.
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { Timeline as Told } from '#sdk/schemas.ts'
import { thingAt } from '../api.ts'
import { Problem, Waiting } from '../kit/kit.tsx'
import { useLoad } from '../kit/load.ts'
import { moment, words } from '../kit/words.ts'
import { useLive } from '../live.ts'
import { t } from '../words.ts'
import { type Frame, took } from './frame.ts'
import { Journey } from './journey.tsx'
import { PduView } from './pdu.tsx'

/** Pause between two frames that is worth a line. */
const pauseMs = 500
/** Frames are written a moment after what they tell of, and webhooks come after the event. */
const lateMs = [700, 2_000, 5_000]

interface TimelineProps {
  /** Path of the timeline itself. */
  path: string
  /** Beginning of the events after which there is more. */
  live: string
  query?: Record<string, string>
}

export function Timeline({ path, live, query = {} }: TimelineProps) {
  const { value, error, reload } = useLoad(path, () => thingAt<Told>(path, query))
  useLive(live, () => {
    reload()
    for (const ms of lateMs) setTimeout(reload, ms)
  })
  if (error && !value) return <Problem error={error} retry={reload} />
  if (!value) return <Waiting />
  return <Frames frames={value.frames} path={path} />
}

/** Frames that are known already; `path` is where the API gives them. */
export function Frames({ frames, path }: { frames: readonly Frame[]; path: string }) {
  const start = new Date(frames[0]?.at ?? 0).getTime()
  return (
    <>
      <Journey frames={frames} />
      <section aria-labelledby="timeline">
        <header class="way-head">
          <h2 id="timeline">{t('Timeline')}</h2>
          <span class="soft">{t('{count} frames, times from the request', { count: frames.length })}</span>
          <CopyCurl path={path} />
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
  const tone = frame.is_ok === false ? 'bad' : frame.direction === 'in' ? 'in' : frame.is_ok ? 'good' : 'plain'
  const hasMore = frame.request !== null || frame.answer !== null || frame.pdus.length > 0
  const head = (
    <>
      <span class="strong">{frame.kind === 'state' ? words(frame.title) : frame.title}</span>
      {frame.kind !== 'state' && <span class="tag">{frame.kind}</span>}
      <span class="soft cut">{frame.peer}</span>
      <span class={frame.is_ok === false ? 'bad mono' : 'mono'}>{frame.status}</span>
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
          {frame.is_ok === false ? '✕' : (signs[frame.direction ?? ''] ?? '·')}
        </span>
        {hasMore ? (
          <details open={frame.is_ok === false}>
            <summary>{head}</summary>
            <div class="inner">
              {frame.pdus.map((pdu) => (
                <PduView key={pdu.hex} pdu={pdu} />
              ))}
              {frame.request !== null && <Said title={t('Said')}>{pretty(frame.request)}</Said>}
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
      <pre tabIndex={0}>{children}</pre>
    </figure>
  )
}

/** Command that runs as pasted, with the key in the reader's environment. */
export function CopyCurl({ path }: { path: string }) {
  const [isCopied, setIsCopied] = useState(false)
  const copy = (): void => {
    const url = `${window.location.origin}/api${path}`
    void navigator.clipboard.writeText(`curl '${url}' -H "Authorization: Bearer $PAMOJA_API_KEY"`)
    setIsCopied(true)
  }
  return (
    <button type="button" class="btn small push" onClick={copy}>
      {isCopied ? t('Copied') : t('Copy as curl')}
    </button>
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
