// SPDX-License-Identifier: Apache-2.0
// A list of records: filtered by the server, read a page at a time as one scrolls, and never moved under the reader's hand by
// what is new.
import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { Page } from '#sdk/client.ts'
import { pageAt } from '../api.ts'
import { useLive } from '../live.ts'
import { t } from '../words.ts'
import { Icon } from './icons.tsx'
import { Problem } from './kit.tsx'
import { useLoad } from './load.ts'
import { type Column, Table, TableSkeleton } from './table.tsx'
import { count } from './words.ts'

export interface RecordsProps<Row> {
  label: string
  path: string
  query?: Record<string, string>
  columns: readonly Column<Row>[]
  keyOf(row: Row): string
  open?(row: Row): string | null
  timeOf?(row: Row): string | null
  empty: ComponentChildren
  /** Beginnings of the events after which there may be more, separated by spaces. */
  live?: string
  limit?: number
  /** Whether only the first rows are shown, kept up to date in place. */
  isPreview?: boolean
  order?: 'asc' | 'desc'
  onOrder?(order: 'asc' | 'desc'): void
  /** Reads again when it changes: something was done to a row. */
  turn?: number
  /** What can be done with the chosen rows. */
  bulk?(rows: readonly Row[], clear: () => void): ComponentChildren
}

export function Records<Row>(props: RecordsProps<Row>) {
  const { label, path, query = {}, columns, keyOf, empty, live, limit = 50, isPreview = false, bulk, turn = 0 } = props
  const asked = { ...query, limit: String(limit) }
  const key = `${path}?${new URLSearchParams(asked)}`
  const first = useLoad<Page<Row>>(key, () => pageAt<Row>(path, asked), { keeps: true })
  const [more, setMore] = useState<Page<Row> | null>(null)
  const [error, setError] = useState<Error | null>(null)
  const [newer, setNewer] = useState(0)
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  useEffect(() => {
    setMore(null)
    setNewer(0)
    setChosen(new Set())
  }, [key])
  useEffect(() => {
    if (turn === 0) return
    setMore(null)
    void first.reload()
  }, [turn])
  const isEmpty = first.value?.data.length === 0
  useLive(
    live ?? null,
    (events) =>
      isPreview || isEmpty
        ? first.reload()
        : setNewer((before) => before + events.filter(({ type }) => type !== '').length),
    {
      everyMs: isPreview ? 3_000 : 1_000,
    },
  )

  if (first.error && !first.value) return <Problem error={first.error} retry={first.reload} />
  if (!first.value) return <TableSkeleton label={label} columns={columns} rows={Math.min(limit, 8)} />
  const rows = [...first.value.data, ...(more?.data ?? [])]
  const cursor = isPreview ? null : (more ?? first.value).next_cursor
  const showNewer = (): void => {
    setMore(null)
    setNewer(0)
    void first.reload()
  }
  const showMore = async (): Promise<void> => {
    setError(null)
    await pageAt<Row>(path, { ...asked, cursor: cursor ?? undefined }).then(
      (page) => setMore({ ...page, data: [...(more?.data ?? []), ...page.data] }),
      setError,
    )
  }
  const rowsChosen = rows.filter((row) => chosen.has(keyOf(row)))
  return (
    <div class="records">
      {newer > 0 && (
        <button type="button" class="newer" onClick={showNewer}>
          <Icon name="down" class="turned" /> {t('There are new ones, show them')}
        </button>
      )}
      {first.error && <Problem error={first.error} retry={first.reload} />}
      {isEmpty ? (
        empty
      ) : (
        <Table
          {...tableProps(props)}
          rows={rows}
          isBusy={first.isBusy}
          {...(bulk ? { chosen, onChoose: setChosen } : {})}
        />
      )}
      {error && <Problem error={error} retry={showMore} />}
      {cursor && !error && <More key={cursor} show={showMore} />}
      {!isPreview && !isEmpty && (
        <p class="tbl-foot">
          {cursor
            ? t('{count} shown, more as you scroll', { count: count(rows.length) })
            : t('{count} in all', { count: count(rows.length) })}
        </p>
      )}
      {bulk && rowsChosen.length > 0 && (
        <div class="bulk" role="toolbar" aria-label={t('Actions for selected rows')}>
          <strong>{t('{count} selected', { count: count(rowsChosen.length) })}</strong>
          {bulk(rowsChosen, () => setChosen(new Set()))}
          <button type="button" class="btn quiet small" onClick={() => setChosen(new Set())}>
            {t('Clear selection')}
          </button>
        </div>
      )}
    </div>
  )
}

function tableProps<Row>({ label, columns, keyOf, open, timeOf, order, onOrder }: RecordsProps<Row>) {
  return {
    ...{ label, columns, keyOf },
    ...(open ? { open } : {}),
    ...(timeOf ? { timeOf } : {}),
    ...(order ? { order } : {}),
    ...(onOrder ? { onOrder } : {}),
  }
}

/** The next rows, as soon as this comes near the window; or by the button. */
function More({ show }: { show(): Promise<void> }) {
  const button = useRef<HTMLButtonElement>(null)
  const [isBusy, setIsBusy] = useState(false)
  const ask = (): void => {
    setIsBusy(true)
    void show().finally(() => setIsBusy(false))
  }
  useEffect(() => {
    const seen = new IntersectionObserver(
      ([entry]) => {
        if (!entry?.isIntersecting) return
        seen.disconnect()
        ask()
      },
      { rootMargin: '600px' },
    )
    if (button.current) seen.observe(button.current)
    return () => seen.disconnect()
  }, [])
  return (
    <button type="button" class="btn more" ref={button} onClick={ask} disabled={isBusy}>
      {t('Show more')}
    </button>
  )
}
