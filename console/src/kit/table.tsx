// SPDX-License-Identifier: Apache-2.0
// The one table of the console. Columns have a priority and give way by the width of the table's own room, days are groups, the
// whole row opens by one link, actions stay in sight, and below 30rem every row is a card. Rows far from the window are not drawn.
import type { ComponentChildren, RefObject } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { Link } from '../place.tsx'
import { t } from '../words.ts'
import { Icon } from './icons.tsx'
import { day } from './words.ts'

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
}

export interface TableProps<Row> {
  label: string
  columns: readonly Column<Row>[]
  rows: readonly Row[]
  keyOf(row: Row): string
  /** Address of a row's own page. */
  open?(row: Row): string | null
  /** Time by which rows are grouped into days. */
  timeOf?(row: Row): string | null
  /** Keys of the chosen rows, where rows can be chosen. */
  chosen?: ReadonlySet<string>
  onChoose?(keys: ReadonlySet<string>): void
  order?: 'asc' | 'desc'
  onOrder?(order: 'asc' | 'desc'): void
  /** Whether what is shown is about to be replaced. */
  isBusy?: boolean
}

/** Rows that are drawn or left out together. */
const chunkRows = 40
/** Height of rows that were never drawn; true heights are measured. */
const rowPx = 40
/** What is drawn beyond the edges of the window. */
const sparePx = 900

export function Table<Row>(props: TableProps<Row>) {
  const { label, columns, rows, keyOf, chosen, onChoose, isBusy } = props
  const table = useRef<HTMLTableElement>(null)
  const chunks = Math.ceil(rows.length / chunkRows)
  const { first, last, heights } = useWindow(chunks, table)
  const span = columns.length + (onChoose ? 1 : 0)
  const all = rows.map(keyOf)
  const chooseAll = (event: { currentTarget: HTMLInputElement }): void =>
    onChoose?.(new Set(event.currentTarget.checked ? all : []))
  useRowKeys(table)
  return (
    <div class={isBusy ? 'tbl busy' : 'tbl'} aria-busy={isBusy ? 'true' : undefined}>
      <section
        class="tbl-scroll"
        aria-label={t(label)}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard
        tabIndex={0}
      >
        <table ref={table} aria-rowcount={rows.length + 1}>
          <thead>
            <tr>
              {onChoose && (
                <th class="sel">
                  <input
                    type="checkbox"
                    aria-label={t('Select all shown')}
                    checked={all.length > 0 && chosen?.size === all.length}
                    onChange={chooseAll}
                  />
                </th>
              )}
              {columns.map((column) => (
                <Head key={column.name} column={column} {...orderOf(props)} />
              ))}
            </tr>
          </thead>
          <Gap px={sum(heights, 0, first)} columns={span} />
          {range(first, last).map((chunk) => (
            <Chunk key={chunk} {...props} from={chunk * chunkRows} chunk={chunk} heights={heights} />
          ))}
          <Gap px={sum(heights, last, chunks)} columns={span} />
        </table>
      </section>
    </div>
  )
}

const range = (from: number, to: number): number[] => Array.from({ length: Math.max(0, to - from) }, (_, i) => from + i)
const sum = (heights: ReadonlyMap<number, number>, from: number, to: number): number =>
  range(from, to).reduce((px, chunk) => px + (heights.get(chunk) ?? chunkRows * rowPx), 0)
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

/** Chunks that are near the window, from the first up to the last. */
function useWindow(chunks: number, table: RefObject<HTMLTableElement | null>) {
  const heights = useRef(new Map<number, number>()).current
  const [near, setNear] = useState({ first: 0, last: Math.min(chunks, 3) })
  useEffect(() => {
    let frame = 0
    const look = (): void => {
      frame = 0
      const box = table.current?.getBoundingClientRect()
      if (!box) return
      let [y, first, last] = [box.top, chunks, 0]
      for (let chunk = 0; chunk < chunks; chunk++) {
        const below = y + (heights.get(chunk) ?? chunkRows * rowPx)
        if (below > -sparePx && y < window.innerHeight + sparePx) {
          first = Math.min(first, chunk)
          last = chunk + 1
        }
        y = below
      }
      if (last === 0) [first, last] = [0, Math.min(1, chunks)]
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
  }, [chunks])
  return { first: Math.min(near.first, chunks), last: Math.min(Math.max(near.last, 1), chunks), heights }
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

interface ChunkProps<Row> extends TableProps<Row> {
  from: number
  chunk: number
  heights: Map<number, number>
}

function Chunk<Row>({ from, chunk, heights, ...props }: ChunkProps<Row>) {
  const { rows, keyOf, timeOf, columns, onChoose } = props
  const body = useRef<HTMLTableSectionElement>(null)
  useLayoutEffect(() => {
    if (body.current) heights.set(chunk, body.current.offsetHeight)
  })
  const dayOf = (row: Row | undefined): string => {
    const at = row === undefined ? null : (timeOf?.(row) ?? null)
    return at === null ? '' : day(at)
  }
  return (
    <tbody ref={body}>
      {rows.slice(from, from + chunkRows).flatMap((row, i) => {
        const today = dayOf(row)
        const isNewDay = today !== '' && today !== dayOf(rows[from + i - 1])
        return [
          isNewDay && (
            <tr key={today} class="day">
              <th scope="rowgroup" colSpan={columns.length + (onChoose ? 1 : 0)}>
                {today}
              </th>
            </tr>
          ),
          <Line key={keyOf(row)} row={row} index={from + i} {...props} />,
        ]
      })}
    </tbody>
  )
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
    const next = new Set(chosen)
    if (!next.delete(key)) next.add(key)
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
        <td key={column.name} class={classOf(column)}>
          {to !== null && column.card === 'title' ? (
            <Link to={to} class="open">
              {column.show(row)}
            </Link>
          ) : (
            column.show(row)
          )}
        </td>
      ))}
    </tr>
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
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector('dialog[open]')) return true
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
