// SPDX-License-Identifier: Apache-2.0
// Map of a voice menu: its steps and where their keys lead, as a tree. Arrows walk over it, Enter goes to the step's form.
import { useRef } from 'preact/hooks'
import type { Ivr } from '#sdk/schemas.ts'
import { Icon } from '../../kit/icons.tsx'
import { t } from '../../words.ts'
import { placeName } from './choose.tsx'
import { type Names, useNames } from './names.ts'

type Steps = Ivr['menus']
type Action = NonNullable<Steps[string]['options']>[string]['action']

interface Spot {
  /** Key that leads here; empty at the beginning. */
  readonly key: string
  readonly name: string
  /** What is heard there; empty for what says nothing. */
  readonly said: string
  /** Step that is edited here; null for an end. */
  readonly step: string | null
  readonly depth: number
  readonly row: number
  readonly parent: number | null
}

/** Letters of a name on a key. */
const maxShown = 6
/** Of a spot, in rem. */
const [width, height, gapX, gapY] = [12, 3.25, 2.5, 0.75]
const left = ({ depth }: Spot): number => depth * (width + gapX)
const top = ({ row }: Spot): number => row * (height + gapY)

/** Where an action leads, in words. */
function endName({ webhook, repeat, back, type, ...rest }: Action, names: Names): string {
  if (repeat) return t('Repeat the menu')
  if (back) return t('The step before')
  if (webhook !== undefined) return t('Your own application')
  return type === undefined ? t('No destination yet') : placeName({ type, ...rest }, names)
}

/** All spots, each step where it is first reached; a row for each end. Hours stand before the first step. */
function spotsOf(entry: string, steps: Steps, hours: Hours, names: Names): Spot[] {
  const spots: Spot[] = []
  const shown = new Set<string>()
  let rows = 0
  const visit = (step: string, key: string, depth: number, parent: number | null): void => {
    shown.add(step)
    const index = spots.length
    const row = rows
    const { prompt, options = {}, collect, directory } = steps[step] ?? {}
    const said = prompt?.text ?? prompt?.url ?? (prompt?.prompt_id ? t('An uploaded sound') : '')
    spots.push({ key, name: step, said, step, depth, row, parent })
    const ways: [string, Action][] = [
      ...Object.entries(options).map(([one, { action }]): [string, Action] => [one, action]),
      ...(collect ? [['#', collect.next] satisfies [string, Action]] : []),
      ...(directory?.entries ?? []).map(({ name, action }): [string, Action] => [name.slice(0, maxShown), action]),
    ]
    for (const [one, action] of ways) {
      const going = action.then ?? action
      const { menu } = going
      if (menu !== undefined && steps[menu] && !shown.has(menu)) visit(menu, one, depth + 1, index)
      else {
        const name = menu === undefined ? endName(going, names) : t('Step {name}', { name: menu })
        spots.push({ key: one, name, said: '', step: null, depth: depth + 1, row: rows, parent: index })
        rows++
      }
    }
    if (directory && directory.agents !== false) {
      const name = t('An agent by name')
      spots.push({ key: 'ABC', name, said: '', step: null, depth: depth + 1, row: rows, parent: index })
      rows++
    } else if (ways.length === 0) rows++
  }
  if (hours) {
    spots.push({ key: '', name: t('Is it open?'), said: '', step: null, depth: 0, row: 0, parent: null })
    if (steps[entry]) visit(entry, t('yes'), 1, 0)
    const name = hours.closed ? placeName(hours.closed, names) : t('As the hours say')
    spots.push({ key: t('no'), name, said: '', step: null, depth: 1, row: rows, parent: 0 })
    rows++
  } else if (steps[entry]) visit(entry, '', 0, null)
  for (const step of Object.keys(steps)) if (!shown.has(step)) visit(step, '', 0, null)
  return spots
}

/** Where calls go while it is closed; null for what is always open. */
type Hours = { readonly closed: Ivr['closed'] } | null

interface MapProps {
  entry: string
  steps: Steps
  hours: Hours
  /** What is wrong with a step. */
  problem(step: string): string | undefined
  onOpen(step: string): void
}

export function MenuMap({ entry, steps, hours, problem, onOpen }: MapProps) {
  const spots = spotsOf(entry, steps, hours, useNames())
  const box = useRef<HTMLDivElement>(null)
  const columns = Math.max(0, ...spots.map(({ depth }) => depth)) + 1
  const rows = Math.max(0, ...spots.map(({ row }) => row)) + 1
  const [w, h] = [columns * (width + gapX) - gapX, rows * (height + gapY) - gapY]
  const focus = (index: number): void => box.current?.querySelectorAll('button')[index]?.focus()
  const walk = (event: KeyboardEvent, index: number): void => {
    const spot = spots[index]
    const isRtl = document.documentElement.dir === 'rtl'
    const [back, on] = isRtl ? ['ArrowRight', 'ArrowLeft'] : ['ArrowLeft', 'ArrowRight']
    const next =
      event.key === 'ArrowUp'
        ? index - 1
        : event.key === 'ArrowDown'
          ? index + 1
          : event.key === back
            ? (spot?.parent ?? -1)
            : event.key === on
              ? spots.findIndex(({ parent }) => parent === index)
              : null
    if (next === null) return
    event.preventDefault()
    if (next >= 0) focus(next)
  }
  return (
    <section class="menu-map" ref={box} aria-label={t('Steps of the call')}>
      <div class="menu-room" style={{ width: `${w}rem`, height: `${h}rem` }}>
        <svg class="wires" viewBox={`0 0 ${w} ${h}`} aria-hidden="true">
          {spots.map((spot, i) => {
            const from = spot.parent === null ? undefined : spots[spot.parent]
            if (!from) return null
            const [x1, y1, x2, y2] = [left(from) + width, top(from) + height / 2, left(spot), top(spot) + height / 2]
            const middle = (x1 + x2) / 2
            return <path key={i} d={`M${x1} ${y1}C${middle} ${y1} ${middle} ${y2} ${x2} ${y2}`} />
          })}
        </svg>
        {spots.map((spot, i) => {
          const { key, name, said, step } = spot
          const fault = step === null ? undefined : problem(step)
          const owner = step ?? spots[spot.parent ?? -1]?.step ?? entry
          return (
            <button
              key={i}
              type="button"
              class={`spot${step === null ? ' end' : ''}${fault ? ' bad' : ''}`}
              style={{ insetInlineStart: `${left(spot)}rem`, top: `${top(spot)}rem` }}
              title={fault ?? (said || name)}
              tabIndex={i === 0 ? 0 : -1}
              onKeyDown={(event) => walk(event, i)}
              onClick={() => onOpen(owner)}
            >
              {key !== '' && <kbd>{key}</kbd>}
              {fault && <Icon name="bad" />}
              <span class="cut" dir="auto">
                {name}
                {said !== '' && <small class="soft cut">{said}</small>}
              </span>
            </button>
          )
        })}
      </div>
    </section>
  )
}
