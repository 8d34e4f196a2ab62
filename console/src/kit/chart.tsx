// SPDX-License-Identifier: Apache-2.0
// Charts: functions from numbers to SVG, drawn at the width of their box so that letters keep their size. Each says its finding in
// words, its key has the totals, and the same numbers stand in a table below, so that a chart is never the only way to them.
import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { t } from '../words.ts'
import { Figures } from './kit.tsx'
import { count, roughly } from './words.ts'

export interface Series {
  readonly name: string
  /** What the key shows: the total. */
  readonly total: string
  readonly values: readonly number[]
}

type Point = readonly [x: number, y: number]
const line = (points: readonly Point[]): string =>
  points.map(([x, y], i) => `${i === 0 ? 'M' : 'L'}${x.toFixed(1)} ${y.toFixed(1)}`).join('')

/** A round number of lines of the grid, and the highest of them. */
function scaleOf(highest: number, lines: number): { step: number; top: number } {
  const raw = Math.max(highest, 1) / lines
  const power = 10 ** Math.floor(Math.log10(raw))
  const step = Math.max(1, power * ([1, 2, 2.5, 5, 10].find((many) => many * power >= raw) ?? 10))
  return { step, top: step * Math.max(1, Math.ceil(highest / step)) }
}

/** Draws at the width of its box, and again when that changes. */
function Plot({ height, draw }: { height: number; draw(width: number): ComponentChildren }) {
  const box = useRef<HTMLDivElement>(null)
  const [width, setWidth] = useState(0)
  useEffect(() => {
    const watch = new ResizeObserver(([entry]) => setWidth(Math.round(entry?.contentRect.width ?? 0)))
    if (box.current) watch.observe(box.current)
    return () => watch.disconnect()
  }, [])
  return (
    <div class="plot" ref={box}>
      {width > 20 ? draw(width) : <svg width="1" height={height} aria-hidden="true" />}
    </div>
  )
}

interface ChartProps {
  /** What the picture shows, in words. */
  label: string
  series: readonly Series[]
  /** Name of each value, such as its day. */
  labels: readonly string[]
  height?: number
}

const left = 38
const bottom = 20
const above = 8

function Grid({ width, height, top, step }: { width: number; height: number; top: number; step: number }) {
  const y = yOf(height, top)
  const lines = Array.from({ length: Math.round(top / step) + 1 }, (_, i) => i * step)
  return (
    <>
      {lines.map((value) => (
        <g key={value}>
          <line class="grid" x1={left} x2={width} y1={y(value)} y2={y(value)} />
          <text x={left - 6} y={y(value) + 4} text-anchor="end">
            {roughly(value)}
          </text>
        </g>
      ))}
    </>
  )
}

const yOf =
  (height: number, top: number) =>
  (value: number): number =>
    height - bottom - (value / top) * (height - bottom - above)

/** Names below the axis: as many as there is room for. */
function Names({
  labels,
  x,
  width,
  height,
}: {
  labels: readonly string[]
  x(i: number): number
  width: number
  height: number
}) {
  const every = Math.max(1, Math.ceil(labels.length / Math.max(2, Math.floor(width / 72))))
  return (
    <>
      {labels.map((name, i) =>
        i % every === 0 ? (
          <text key={i} x={x(i)} y={height - 4} text-anchor={i === 0 ? 'start' : 'middle'}>
            {name}
          </text>
        ) : null,
      )}
    </>
  )
}

/** Stacked areas, the biggest lowest. */
export function Areas({ label, series, labels, height = 200 }: ChartProps) {
  const sorted = [...series].sort((a, b) => sumOf(b) - sumOf(a))
  const draw = (width: number): ComponentChildren => {
    const sums = labels.map((_, i) => sorted.reduce((sum, { values }) => sum + (values[i] ?? 0), 0))
    const { step, top } = scaleOf(Math.max(...sums, 0), 4)
    const y = yOf(height, top)
    const x = (i: number): number => left + (i / Math.max(1, labels.length - 1)) * (width - left - 4)
    let base = labels.map(() => 0)
    return (
      <svg class="chart" width={width} height={height} role="img" aria-label={label}>
        <Grid {...{ width, height, top, step }} />
        {sorted.map(({ name, values }, n) => {
          const upper = base.map((below, i) => below + (values[i] ?? 0))
          const edge = upper.map((value, i): Point => [x(i), y(value)])
          const shape = [...edge, ...base.map((value, i): Point => [x(i), y(value)]).reverse()]
          base = upper
          return (
            <g key={name} class={`h${n + 1}`}>
              <path class="fill" d={`${line(shape)}Z`} />
              <path class="line" d={line(edge)} />
            </g>
          )
        })}
        <Names {...{ labels, x, width, height }} />
      </svg>
    )
  }
  return (
    <figure class="chart-box">
      <Plot height={height} draw={draw} />
      <Key series={sorted} />
      <Numbers label={label} series={sorted} labels={labels} />
    </figure>
  )
}

const sumOf = ({ values }: Series): number => values.reduce((sum, value) => sum + value, 0)

interface ColumnsProps extends ChartProps {
  /** Value that is wanted, drawn as a line with its name. */
  target?: { readonly value: number; readonly name: string }
}

/** Columns side by side. */
export function Columns({ label, series, labels, height = 180, target }: ColumnsProps) {
  const draw = (width: number): ComponentChildren => {
    const { step, top } = scaleOf(Math.max(...series.flatMap(({ values }) => values), target?.value ?? 0), 3)
    const y = yOf(height, top)
    const each = (width - left) / Math.max(1, labels.length)
    const gap = Math.max(2, each * 0.26)
    const wide = (each - gap) / Math.max(1, series.length)
    return (
      <svg class="chart" width={width} height={height} role="img" aria-label={label}>
        <Grid {...{ width, height, top, step }} />
        {series.map(({ name, values }, n) => (
          <g key={name} class={`h${n === 1 ? 4 : n + 1}`}>
            {values.map((value, i) => (
              <rect
                key={i}
                class="column"
                x={left + i * each + gap / 2 + n * wide}
                y={y(value)}
                width={Math.max(1, wide - 1)}
                height={Math.max(0, y(0) - y(value))}
                rx="1.5"
              />
            ))}
          </g>
        ))}
        {target && (
          <g class="target">
            <line x1={left} x2={width} y1={y(target.value)} y2={y(target.value)} />
            <text x={width} y={y(target.value) - 4} text-anchor="end">
              {target.name}
            </text>
          </g>
        )}
        <Names labels={labels} x={(i) => left + i * each + each / 2} width={width} height={height} />
      </svg>
    )
  }
  return (
    <figure class="chart-box">
      <Plot height={height} draw={draw} />
      <Key series={series} second={4} />
      <Numbers label={label} series={series} labels={labels} />
    </figure>
  )
}

function Key({ series, second = 2 }: { series: readonly Series[]; second?: number }) {
  return (
    <ul class="chart-key">
      {series.map(({ name, total }, n) => (
        <li key={name}>
          <span class={`swatch h${n === 1 ? second : n + 1}`} aria-hidden="true" />
          {name} <b>{total}</b>
        </li>
      ))}
    </ul>
  )
}

function Numbers({ label, series, labels }: { label: string; series: readonly Series[]; labels: readonly string[] }) {
  return (
    <details class="numbers">
      <summary>{t('Numbers')}</summary>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard */}
      <section class="scroll" tabIndex={0} aria-label={label}>
        <Figures
          names={[t('Time'), ...series.map(({ name }) => name)]}
          rows={labels.map((name, i) => ({
            name,
            key: `${i}`,
            figures: series.map(({ values }) => roughly(values[i] ?? 0)),
          }))}
        />
      </section>
    </details>
  )
}

/** A line without an axis, for the shape of something beside its number. */
export function Spark({ values, tone = 'h1' }: { values: readonly number[]; tone?: 'h1' | 'warn' | 'bad' }) {
  const low = Math.min(...values, 0)
  const span = Math.max(...values, 1) - low || 1
  const points = values.map(
    (value, i): Point => [(i / Math.max(1, values.length - 1)) * 96, 29 - ((value - low) / span) * 26],
  )
  return (
    <svg class={`chart spark ${tone}`} viewBox="0 0 96 32" preserveAspectRatio="none" aria-hidden="true">
      <path class="fill" d={`${line(points)}L96 32L0 32Z`} />
      <path class="line" d={line(points)} />
    </svg>
  )
}

/** Share of a whole as a bar; `from` is where the bar begins, such as 0.8 of 1. */
export function Meter({
  share,
  from = 0,
  target,
  tone = 'h1',
}: {
  share: number
  from?: number
  /** Share that is wanted, marked by a line. */
  target?: number
  tone?: 'h1' | 'warn' | 'bad'
}) {
  const along = (part: number): number => Math.max(0, Math.min(1, (part - from) / (1 - from))) * 100
  const width = along(share)
  return (
    <svg class={`meter ${tone}`} viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">
      <rect class="whole" width="100" height="6" rx="1" />
      <rect class="column" width={width} height="6" rx="1" />
      {target !== undefined && <rect class="mark" x={along(target) - 0.4} width="0.8" height="6" />}
    </svg>
  )
}

/** Parts of a whole as one bar, with a key that has their numbers. */
export function Bar({
  label,
  parts,
}: {
  label: string
  parts: readonly (readonly [name: string, many: number, tone: 'good' | 'note' | 'bad' | 'idle' | 'rest'])[]
}) {
  const whole = Math.max(
    1,
    parts.reduce((sum, [, many]) => sum + many, 0),
  )
  let at = 0
  return (
    <div class="bar-of-parts">
      <svg viewBox={`0 0 ${whole} 10`} preserveAspectRatio="none" role="img" aria-label={label}>
        {parts.map(([name, many, tone]) => {
          const x = at
          at += many
          return <rect key={name} class={tone} x={x} width={many} height="10" />
        })}
      </svg>
      <ul>
        {parts
          .filter(([, many]) => many > 0)
          .map(([name, many, tone]) => (
            <li key={name}>
              <i class={tone} aria-hidden="true" /> {name} <span class="number">{count(many)}</span>
            </li>
          ))}
      </ul>
    </div>
  )
}
