// SPDX-License-Identifier: Apache-2.0
// The one table of the console. Columns have a priority and give way by the width of the table's own room, days are groups, the
// whole row opens by one link, actions stay in sight, and below 30rem every row is a card. Rows far from the window are not drawn.
import type { ComponentChildren, RefObject } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { Link } from '../place.tsx'
import { t } from '../words.ts'
import { Icon } from './icons.tsx'
import { count, day, money } from './words.ts'

export interface Column<Row> {
  readonly name: string
  show(row: Row): ComponentChildren
  /** 1 stays longest; 2 leaves below 36rem of the table's room, 3 below 45, 4 below 60, 5 below 64. */
  readonly priority?: 1 | 2 | 3 | 4 | 5
  /** Place on a card; what has none is not on it. The title is the link that opens the row. */
  readonly card?: 'title' | 'sub' | 'end' | 'state'
  /** Whether it is a column of numbers, which stand under each other. */
  readonly isNumber?: boolean
  /** Whether it takes the room that is left, and is cut where there is too little. */
  readonly grows?: boolean
  /** Whether its head turns the order round. */
  readonly isSorted?: boolean
  readonly isActions?: boolean
  /** Whether its value says nothing without its name, which then stands before it on a card. */
  readonly isNamed?: boolean
}

/** Rows that are read, drawn and let go of together. Of rows that were let go of, their number and the last of them are kept. */
export interface Batch<Row> {
  readonly rows: readonly Row[] | null
  readonly count: number
  readonly last: Row | undefined
  readonly days: Days
}

/** An amount and what it is, such as `Completed`. */
export interface Summed {
  readonly name: string
  readonly currency: string
  readonly amount: number
}

/** What the rows of a day come to. */
interface DaySum {
  readonly count: number
  readonly amounts: readonly Summed[]
}

/** Sums by the name of the day. */
type Days = ReadonlyMap<string, DaySum>

interface ByDay<Row> {
  /** Time by which rows are grouped into days. */
  timeOf?(row: Row): string | null
  /** Amount of a row that is added up for its day. */
  amountOf?(row: Row): Summed | null
}

function batchesOf<Row>(rows: readonly Row[], by: ByDay<Row>): Batch<Row>[] {
  return range(0, Math.ceil(rows.length / batchRows)).map((i) =>
    batchOf(rows.slice(i * batchRows, (i + 1) * batchRows), by),
  )
}

export function batchOf<Row>(rows: readonly Row[], by: ByDay<Row>): Batch<Row> {
  const days = new Map<string, DaySum>()
  for (const row of rows) {
    const day = dayOf(row, by)
    if (day === '') continue
    const summed = by.amountOf?.(row) ?? null
    add(days, day, { count: 1, amounts: summed ? [summed] : [] })
  }
  return { rows, count: rows.length, last: rows.at(-1), days }
}

function add(days: Map<string, DaySum>, day: string, { count, amounts }: DaySum): void {
  const before = days.get(day) ?? { count: 0, amounts: [] }
  const sums = [...before.amounts]
  for (const one of amounts) {
    const at = sums.findIndex(({ name, currency }) => name === one.name && currency === one.currency)
    if (at < 0) sums.push(one)
    else sums[at] = { ...one, amount: one.amount + (sums[at]?.amount ?? 0) }
  }
  days.set(day, { count: before.count + count, amounts: sums })
}

function dayOf<Row>(row: Row | undefined, { timeOf }: ByDay<Row>): string {
  const time = row === undefined ? null : (timeOf?.(row) ?? null)
  return time === null ? '' : day(time)
}

/** Sums of the days that are read to their end. */
function wholeDays(batches: readonly Batch<unknown>[], isWhole: boolean): Days {
  const all = new Map<string, DaySum>()
  for (const { days } of batches) for (const [day, sum] of days) add(all, day, sum)
  const last = [...(batches.at(-1)?.days.keys() ?? [])].at(-1)
  if (!isWhole && last !== undefined) all.delete(last)
  return all
}

export interface TableProps<Row> extends ByDay<Row> {
  label: string
  columns: readonly Column<Row>[]
  batches: readonly Batch<Row>[]
  /** Is told which batches are near the window, from the first up to the last. */
  onNear?(first: number, last: number): void
  keyOf(row: Row): string
  /** Address of a row's own page. */
  open?(row: Row): string | null
  /** Whether there are no rows after these. */
  isWhole?: boolean
  /** The chosen rows by their keys, where rows can be chosen. */
  chosen?: ReadonlyMap<string, Row>
  onChoose?(rows: ReadonlyMap<string, Row>): void
  order?: 'asc' | 'desc'
  onOrder?(order: 'asc' | 'desc'): void
  /** Whether what is shown is about to be replaced. */
  isBusy?: boolean
}

/** Stands in a cell without a value. */
export const nothing = '–'

const batchRows = 50
/** Height of rows that were never drawn; true heights are measured. */
const rowPx = 40
/** What is drawn beyond the edges of the window. */
const sparePx = 900

/** Table of rows that are all at hand. */
export function Table<Row>({ rows, ...props }: Omit<TableProps<Row>, 'batches'> & { rows: readonly Row[] }) {
  return <BatchTable<Row> {...props} batches={batchesOf(rows, props)} isWhole />
}

export function BatchTable<Row>(props: TableProps<Row>) {
  const { label, columns, batches, onNear, keyOf, chosen, onChoose, isBusy, isWhole = false } = props
  const table = useRef<HTMLTableElement>(null)
  const { first, last, heights } = useWindow(batches, table)
  const span = columns.length + (onChoose ? 1 : 0)
  const chooseAll = (event: { currentTarget: HTMLInputElement }): void => {
    const all = event.currentTarget.checked ? batches.flatMap(({ rows }) => rows ?? []) : []
    onChoose?.(new Map(all.map((row) => [keyOf(row), row])))
  }
  useRowKeys(table)
  useEffect(() => onNear?.(first, last), [first, last, batches.length])
  const before = batches.slice(0, first).reduce((sum, { count }) => sum + count, 0)
  const shown = batches.slice(first, last)
  const days = wholeDays(batches, isWhole)
  return (
    <div class={isBusy ? 'tbl busy' : 'tbl'} aria-busy={isBusy ? 'true' : undefined}>
      <section
        class="tbl-scroll"
        aria-label={t(label)}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard
        tabIndex={0}
      >
        <table ref={table} aria-rowcount={batches.reduce((sum, { count }) => sum + count, 1)}>
          <thead>
            <tr>
              {onChoose && (
                <th class="sel">
                  <input
                    type="checkbox"
                    aria-label={t('Select all shown')}
                    checked={
                      (chosen?.size ?? 0) > 0 && chosen?.size === batches.reduce((sum, { count }) => sum + count, 0)
                    }
                    onChange={chooseAll}
                  />
                </th>
              )}
              {columns.map((column) => (
                <Head key={column.name} column={column} {...orderOf(props)} />
              ))}
            </tr>
          </thead>
          <Gap px={sum(heights, batches, 0, first)} columns={span} />
          {shown.map((batch, i) =>
            batch.rows === null ? (
              <Gap key={first + i} px={sum(heights, batches, first + i, first + i + 1)} columns={span} />
            ) : (
              <BatchRows
                key={first + i}
                {...props}
                rows={batch.rows}
                above={batches[first + i - 1]?.last}
                from={shown.slice(0, i).reduce((sum, { count }) => sum + count, before)}
                at={first + i}
                heights={heights}
                days={days}
              />
            ),
          )}
          <Gap px={sum(heights, batches, last, batches.length)} columns={span} />
        </table>
      </section>
    </div>
  )
}

const range = (from: number, to: number): number[] => Array.from({ length: Math.max(0, to - from) }, (_, i) => from + i)

function sum(
  heights: ReadonlyMap<number, number>,
  batches: readonly Batch<unknown>[],
  from: number,
  to: number,
): number {
  let px = 0
  for (let i = from; i < to; i++) px += heights.get(i) ?? (batches[i]?.count ?? 0) * rowPx
  return px
}
const orderOf = <Row,>({ order, onOrder }: TableProps<Row>) => ({ order: order ?? 'desc', onOrder }) as const

/** Room of the rows that are not drawn; a picture, because it needs no style. */
function Gap({ px, columns }: { px: number; columns: number }) {
  if (px <= 0) return null
  return (
    <tbody>
      <tr class="gap-row">
        <td colSpan={columns}>
          <svg width="1" height={px} aria-hidden="true" />
        </td>
      </tr>
    </tbody>
  )
}

/** Batches that are near the window, from the first up to the last. */
function useWindow(batches: readonly Batch<unknown>[], table: RefObject<HTMLTableElement | null>) {
  const heights = useRef(new Map<number, number>()).current
  const [near, setNear] = useState({ first: 0, last: Math.min(batches.length, 3) })
  const latest = useRef(batches)
  latest.current = batches
  useEffect(() => {
    let frame = 0
    const look = (): void => {
      frame = 0
      const box = table.current?.getBoundingClientRect()
      if (!box) return
      const { length } = latest.current
      let [y, first, last] = [box.top, length, 0]
      for (let i = 0; i < length && y < window.innerHeight + sparePx; i++) {
        const below = y + sum(heights, latest.current, i, i + 1)
        if (below > -sparePx) {
          first = Math.min(first, i)
          last = i + 1
        }
        y = below
      }
      if (last === 0) [first, last] = [0, Math.min(1, length)]
      setNear((before) => (before.first === first && before.last === last ? before : { first, last }))
    }
    const plan = (): void => {
      frame ||= requestAnimationFrame(look)
    }
    look()
    window.addEventListener('scroll', plan, { passive: true })
    window.addEventListener('resize', plan)
    return () => {
      cancelAnimationFrame(frame)
      window.removeEventListener('scroll', plan)
      window.removeEventListener('resize', plan)
    }
  }, [batches.length])
  const { length } = batches
  return { first: Math.min(near.first, length), last: Math.min(Math.max(near.last, 1), length), heights }
}

function classOf<Row>({ priority, card, isNumber, grows, isActions }: Column<Row>): string {
  return [priority && `p${priority}`, card && `k-${card}`, isNumber && 'number', grows && 'grows', isActions && 'act']
    .filter(Boolean)
    .join(' ')
}

function Head<Row>({
  column,
  order,
  onOrder,
}: {
  column: Column<Row>
  order: 'asc' | 'desc'
  onOrder: ((order: 'asc' | 'desc') => void) | undefined
}) {
  const { name, isSorted, isActions } = column
  if (!isSorted || !onOrder)
    return (
      <th scope="col" class={classOf(column)}>
        {isActions ? <span class="hidden">{t(name)}</span> : t(name)}
      </th>
    )
  return (
    <th scope="col" class={classOf(column)} aria-sort={order === 'asc' ? 'ascending' : 'descending'}>
      <button type="button" onClick={() => onOrder(order === 'asc' ? 'desc' : 'asc')}>
        {t(name)}
        <Icon name="down" class={order === 'asc' ? 'turned' : ''} />
      </button>
    </th>
  )
}

interface BatchProps<Row> extends TableProps<Row> {
  rows: readonly Row[]
  /** The row above the first of these. */
  above: Row | undefined
  /** Number of the first of these in the table, and of the batch. */
  from: number
  at: number
  heights: Map<number, number>
  days: Days
}

function BatchRows<Row>({ rows, above, from, at, heights, days, ...props }: BatchProps<Row>) {
  const { keyOf, columns, onChoose } = props
  const body = useRef<HTMLTableSectionElement>(null)
  useLayoutEffect(() => {
    if (body.current) heights.set(at, body.current.offsetHeight)
  })
  return (
    <tbody ref={body}>
      {rows.flatMap((row, i) => {
        const today = dayOf(row, props)
        const isNewDay = today !== '' && today !== dayOf(i === 0 ? above : rows[i - 1], props)
        return [
          isNewDay && (
            <tr key={today} class="day">
              <th scope="rowgroup" colSpan={columns.length + (onChoose ? 1 : 0)}>
                {today}
                <DayFigures sum={days.get(today)} />
              </th>
            </tr>
          ),
          <Line key={keyOf(row)} row={row} index={from + i} {...props} />,
        ]
      })}
    </tbody>
  )
}

/** How many rows a day has, and what they come to. */
function DayFigures({ sum }: { sum: DaySum | undefined }) {
  if (sum === undefined) return null
  const amounts = sum.amounts.map(({ name, currency, amount }) => `${name}: ${money(amount, currency)}`)
  return <span class="day-sum">{[t('{count} in all', { count: count(sum.count) }), ...amounts].join(' · ')}</span>
}

function Line<Row>({
  row,
  index,
  columns,
  keyOf,
  open,
  chosen,
  onChoose,
}: TableProps<Row> & { row: Row; index: number }) {
  const key = keyOf(row)
  const to = open?.(row) ?? null
  const isChosen = chosen?.has(key) ?? false
  const choose = (): void => {
    const next = new Map(chosen)
    if (!next.delete(key)) next.set(key, row)
    onChoose?.(next)
  }
  return (
    <tr class="r" aria-rowindex={index + 2} aria-selected={onChoose ? isChosen : undefined}>
      {onChoose && (
        <td class="sel">
          <input type="checkbox" aria-label={t('Select {name}', { name: key })} checked={isChosen} onChange={choose} />
        </td>
      )}
      {columns.map((column) => (
        <Cell key={column.name} column={column} row={row} to={to} />
      ))}
    </tr>
  )
}

function Cell<Row>({ column, row, to }: { column: Column<Row>; row: Row; to: string | null }) {
  const shown = column.show(row)
  const look = shown === nothing ? `${classOf(column)} none` : classOf(column)
  return (
    <td class={look} data-name={column.isNamed ? `${t(column.name)}: ` : undefined}>
      {to !== null && column.card === 'title' ? (
        <Link to={to} class="open">
          {shown}
        </Link>
      ) : (
        shown
      )}
    </td>
  )
}

/** J and K walk the rows, X chooses the one that has the focus, F goes to the filters. */
function useRowKeys(table: RefObject<HTMLTableElement | null>): void {
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      if (isTyping(event)) return
      const links = [...(table.current?.querySelectorAll<HTMLElement>('.open') ?? [])]
      const at = links.findIndex((link) => link.matches(':focus'))
      if (event.key === 'j' || event.key === 'k') links[Math.max(0, at + (event.key === 'j' ? 1 : -1))]?.focus()
      if (event.key === 'x' && at >= 0) links[at]?.closest('tr')?.querySelector<HTMLElement>('.sel input')?.click()
      if (event.key === 'f') {
        const field = document.querySelector<HTMLElement>('.filters input, .filters select')
        if (!field) return
        event.preventDefault()
        field.focus()
      }
    }
    window.addEventListener('keydown', press)
    return () => window.removeEventListener('keydown', press)
  }, [])
}

/** Whether a key is typed into a field, or is part of a shortcut of the browser. */
export function isTyping(event: KeyboardEvent): boolean {
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector('dialog:modal')) return true
  return event.target instanceof HTMLElement && event.target.matches('input:not([type=checkbox]), textarea, select')
}

/** The same grid with bars in place of words: nothing moves when the rows come. */
export function TableSkeleton<Row>({
  label,
  columns,
  rows = 8,
}: {
  label: string
  columns: readonly Column<Row>[]
  rows?: number
}) {
  return (
    <div class="tbl waiting-rows" role="status">
      <span class="hidden">{t('Loading {name}', { name: t(label) })}</span>
      <table aria-hidden="true">
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column.name} class={classOf(column)}>
                {column.isActions ? '' : t(column.name)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {range(0, rows).map((row) => (
            <tr key={row} class="r">
              {columns.map((column, i) => (
                <td key={column.name} class={classOf(column)}>
                  <span class={`skeleton w${((i + row) % 3) + 1}`} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
