// SPDX-License-Identifier: Apache-2.0
// A list of records: filtered by the server, a page at a time, and never moved under the reader's hand by what is new.
import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { Page } from '#sdk/client.ts'
import { pageAt } from '../api.ts'
import { useLive } from '../live.ts'
import { t } from '../words.ts'
import { Nothing, Problem, Waiting } from './kit.tsx'
import { useLoad } from './load.ts'

interface Column<Row> {
  name: string
  show(row: Row): ComponentChildren
  /** Whether it is a column of numbers, which stand under each other. */
  isNumber?: boolean
}

interface RecordsProps<Row> {
  label: string
  path: string
  query?: Record<string, string>
  columns: readonly Column<Row>[]
  keyOf(row: Row): string
  empty: ComponentChildren
  /** Beginning of the events after which there may be more. */
  live?: string
  limit?: number
}

export function Records<Row>({ label, path, query = {}, columns, keyOf, empty, live, limit = 50 }: RecordsProps<Row>) {
  const asked = { ...query, limit: String(limit) }
  const key = `${path}?${new URLSearchParams(asked)}`
  const first = useLoad<Page<Row>>(key, () => pageAt<Row>(path, asked))
  const [more, setMore] = useState<Page<Row> | null>(null)
  const [error, setError] = useState<Error | null>(null)
  const [isNewer, setIsNewer] = useState(false)
  useEffect(() => {
    setMore(null)
    setIsNewer(false)
  }, [key])
  useLive(live ?? 'nothing.', () => (first.value?.data.length === 0 ? first.reload() : setIsNewer(true)))

  if (first.error && !first.value) return <Problem error={first.error} retry={first.reload} />
  if (!first.value) return <Waiting />
  const rows = [...first.value.data, ...(more?.data ?? [])]
  const cursor = (more ?? first.value).next_cursor
  const showNewer = (): void => {
    setMore(null)
    setIsNewer(false)
    first.reload()
  }
  const showMore = (): void => {
    pageAt<Row>(path, { ...asked, cursor: cursor ?? undefined }).then(
      (page) => setMore({ ...page, data: [...(more?.data ?? []), ...page.data] }),
      setError,
    )
  }
  return (
    <div class="records">
      {isNewer && (
        <button type="button" class="newer" onClick={showNewer}>
          {t('There are new ones, show them')}
        </button>
      )}
      {rows.length === 0 ? empty : <Table label={label} columns={columns} rows={rows} keyOf={keyOf} />}
      {error && <Problem error={error} />}
      {cursor && (
        <button type="button" class="btn more" onClick={showMore}>
          {t('Show more')}
        </button>
      )}
    </div>
  )
}

/** Rows of a long list that exist at a time, and how many of them are out of sight. */
const shownRows = 30
const spareRows = 15
/** A list of no more than so many is drawn whole. */
const wholeRows = 100
const rowPx = 40

/** Room of the rows that are not drawn; a picture, because the policy allows no style in the page. */
function Gap({ rows, columns }: { rows: number; columns: number }) {
  if (rows <= 0) return null
  return (
    <tr class="gap-row">
      <td colSpan={columns}>
        <svg width="1" height={rows * rowPx} aria-hidden="true" />
      </td>
    </tr>
  )
}

function Table<Row>({
  label,
  columns,
  rows,
  keyOf,
}: Pick<RecordsProps<Row>, 'label' | 'columns' | 'keyOf'> & { rows: readonly Row[] }) {
  const [topPx, setTopPx] = useState(0)
  const isLong = rows.length > wholeRows
  const first = isLong ? Math.max(0, Math.floor(topPx / rowPx) - spareRows) : 0
  const last = isLong ? Math.min(rows.length, first + shownRows + 2 * spareRows) : rows.length
  return (
    <section
      class={isLong ? 'table-room long' : 'table-room'}
      aria-label={t(label)}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard
      tabIndex={0}
      onScroll={(event) => setTopPx(event.currentTarget.scrollTop)}
    >
      <table aria-rowcount={rows.length + 1}>
        <thead>
          <tr>
            {columns.map(({ name, isNumber }) => (
              <th key={name} scope="col" class={isNumber ? 'number' : undefined}>
                {t(name)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          <Gap rows={first} columns={columns.length} />
          {rows.slice(first, last).map((row, i) => (
            <tr key={keyOf(row)} aria-rowindex={first + i + 2}>
              {columns.map(({ name, show, isNumber }) => (
                <td key={name} class={isNumber ? 'number' : undefined}>
                  {show(row)}
                </td>
              ))}
            </tr>
          ))}
          <Gap rows={rows.length - last} columns={columns.length} />
        </tbody>
      </table>
    </section>
  )
}

export const none = (title: string, advice: string) => <Nothing title={title}>{advice}</Nothing>
