// SPDX-License-Identifier: Apache-2.0
// A list of records: filtered by the server, read a page at a time as one scrolls, and never moved under the reader's hand by
// what is new. Pages far from the window are let go of and read again when one comes back, so that a list of any length stays small.
import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { Page } from '#sdk/client.ts'
import { pageAt } from '../api.ts'
import { useLive } from '../live.ts'
import { t } from '../words.ts'
import { Icon } from './icons.tsx'
import { Problem } from './kit.tsx'
import { useLoad } from './load.ts'
import { type Batch, BatchTable, batchOf, type Column, type TableProps, TableSkeleton } from './table.tsx'
import { count } from './words.ts'

export interface RecordsProps<Row> extends Pick<TableProps<Row>, 'timeOf' | 'amountOf'> {
  label: string
  path: string
  query?: Record<string, string>
  columns: readonly Column<Row>[]
  keyOf(row: Row): string
  open?(row: Row): string | null
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

/** A page after the first, and where it begins. */
interface Later<Row> extends Batch<Row> {
  readonly cursor: string
  readonly next: string | null
}

/** Pages that are kept on either side of those in the window. */
const keptPages = 20

export function Records<Row>(props: RecordsProps<Row>) {
  const { label, path, query = {}, columns, empty, live, limit = 50, isPreview = false, bulk, turn = 0 } = props
  const asked = { ...query, limit: String(limit) }
  const key = `${path}?${new URLSearchParams(asked)}`
  const first = useLoad<Page<Row>>(key, () => pageAt<Row>(path, asked), { keeps: true })
  const [later, setLater] = useState<readonly Later<Row>[]>([])
  const [error, setError] = useState<Error | null>(null)
  const [newer, setNewer] = useState(0)
  const [chosen, setChosen] = useState<ReadonlyMap<string, Row>>(new Map())
  const latest = useRef(key)
  latest.current = key
  const reading = useRef(new Set<string>()).current
  useEffect(() => {
    setLater([])
    setNewer(0)
    setChosen(new Map())
  }, [key])
  useEffect(() => {
    if (turn === 0) return
    setLater([])
    setChosen(new Map())
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
  const cursor = isPreview ? null : later.length > 0 ? (later.at(-1)?.next ?? null) : first.value.next_cursor
  const batches = [batchOf(first.value.data, props), ...later]
  const length = batches.reduce((sum, { count: rows }) => sum + rows, 0)
  const showNewer = (): void => {
    setLater([])
    setNewer(0)
    void first.reload()
  }
  const read = async (
    from: string,
    then: (before: readonly Later<Row>[], read: Later<Row>) => readonly Later<Row>[],
  ) => {
    setError(null)
    await pageAt<Row>(path, { ...asked, cursor: from }).then(
      ({ data, next_cursor }) => {
        const page = { ...batchOf(data, props), cursor: from, next: next_cursor }
        // What was asked with other filters is of no use any more.
        if (latest.current === key) setLater((before) => then(before, page))
      },
      (failed: Error) => latest.current === key && setError(failed),
    )
  }
  const showMore = async (): Promise<void> => {
    if (cursor)
      await read(cursor, (before, page) => (before.at(-1)?.cursor === page.cursor ? before : [...before, page]))
  }
  const near = (from: number, upto: number): void => {
    // The first page is no later one, and is always kept.
    const isFar = (i: number): boolean => i + 1 < from - keptPages || i + 1 >= upto + keptPages
    if (later.some(({ rows }, i) => rows !== null && isFar(i)))
      setLater((before) => before.map((page, i) => (page.rows !== null && isFar(i) ? { ...page, rows: null } : page)))
    for (const { rows, cursor: its } of later.slice(Math.max(0, from - 1), Math.max(0, upto - 1))) {
      if (rows !== null || reading.has(its)) continue
      reading.add(its)
      void read(its, (before, page) =>
        before.map((one) => (one.cursor === its ? { ...page, next: one.next } : one)),
      ).finally(() => reading.delete(its))
    }
  }
  return (
    <div class="records">
      {newer > 0 && (
        <button type="button" class="newer" onClick={showNewer}>
          <Icon name="down" class="turned" /> {t('Show new rows')}
        </button>
      )}
      {first.error && <Problem error={first.error} retry={first.reload} />}
      {isEmpty ? (
        empty
      ) : (
        <BatchTable
          {...tableProps(props)}
          batches={batches}
          isWhole={cursor === null && !isPreview}
          onNear={near}
          isBusy={first.isBusy}
          {...(bulk ? { chosen, onChoose: setChosen } : {})}
        />
      )}
      {error && <Problem error={error} retry={showMore} />}
      {cursor && !error && <More key={cursor} show={showMore} />}
      {!isPreview && !isEmpty && (
        <p class="tbl-foot">
          {cursor
            ? t('{count} shown, more as you scroll', { count: count(length) })
            : t('{count} in all', { count: count(length) })}
        </p>
      )}
      {bulk && chosen.size > 0 && (
        <div class="bulk" role="toolbar" aria-label={t('Actions for selected rows')}>
          <strong>{t('{count} selected', { count: count(chosen.size) })}</strong>
          {bulk([...chosen.values()], () => setChosen(new Map()))}
          <button type="button" class="btn quiet small" onClick={() => setChosen(new Map())}>
            {t('Clear selection')}
          </button>
        </div>
      )}
    </div>
  )
}

function tableProps<Row>(props: RecordsProps<Row>) {
  const { label, columns, keyOf, open, timeOf, order, onOrder } = props
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
