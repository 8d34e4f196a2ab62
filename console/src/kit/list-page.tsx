// SPDX-License-Identifier: Apache-2.0
// List page, described by columns, filters and actions. The server filters, sorts and exports; the address keeps what is asked for.
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { PamojaError } from '#sdk/client.ts'
import { may } from '../api.ts'
import { filterBy, Link, usePlace } from '../place.tsx'
import { sentenceOf } from '../refusals.ts'
import { t } from '../words.ts'
import { type Deed, Deeds } from './detail.tsx'
import { type Answer, complain, confirm, type Question, say } from './dialogs.tsx'
import { ExportButton, type FilterOf, Filters, filtersOf } from './filters.tsx'
import type { FormOf } from './form.tsx'
import { FormBox } from './form-box.tsx'
import { Icon, type IconName } from './icons.tsx'
import { Ago, CopyId, Nothing, PageHead, Pill } from './kit.tsx'
import { Records } from './records.tsx'
import { type Column, nothing, type Summed } from './table.tsx'
import { clockTime, count, country, date, language, moment, money, percent, shortId, words } from './words.ts'

/** Field of a row, and how it is shown. */
export interface ColumnOf extends Pick<Column<Row>, 'priority' | 'card' | 'grows'> {
  readonly name: string
  readonly field: string
  readonly as?:
    | 'text'
    | 'mono'
    | 'id'
    | 'time'
    | 'date'
    | 'state'
    | 'money'
    | 'count'
    | 'percent'
    | 'words'
    | 'country'
    | 'language'
    | 'flag'
    | 'json'
  /** Whether rows are grouped by its day; the column then tells only the time. */
  readonly isDay?: boolean
  /** Line that shows the value, where none of these does. */
  readonly text?: (value: unknown, row: Row) => string
  /** What shows the value, where a line does not. */
  readonly show?: (row: Row) => ComponentChildren
  /** Link target of a cell; the value of `toField` is appended, or of the field itself. */
  readonly to?: string
  readonly toField?: string
  /** Field of the currency of money; `currency` unless given. */
  readonly currencyField?: string
  /** Field that is shown as text where the other has nothing. */
  readonly orField?: string
}

/** Columns that most lists have. */
export const created = { name: 'Time', field: 'created_at', as: 'time', isDay: true, priority: 1 } as const
export const state = { name: 'State', field: 'status', as: 'state', priority: 1, card: 'state' } as const
export const amount = { name: 'Amount', field: 'amount', as: 'money', priority: 1, card: 'end' } as const

export interface ActionOf {
  readonly name: string
  readonly isDanger?: boolean
  /** Whether it can be done to several chosen rows. */
  readonly isBulk?: boolean
  /** Scope of the members who see it; without one, all who see the page. */
  readonly scope?: string
  shows?(row: Row): boolean
  /** Question before it is done: names the row, and what follows. */
  asks?(row: Row): Question
  /** Form that is filled in, instead of a question. */
  form?(row: Row): FormOf
  run?(row: Row, answer: Answer): Promise<unknown>
}

export type Row = Readonly<Record<string, unknown>>

export interface ListOf {
  readonly title: string
  readonly note?: string
  readonly icon?: IconName
  readonly path: string
  /** Where the API gives all rows as a file, if not at `path`. */
  readonly exportPath?: string
  readonly columns: readonly ColumnOf[]
  readonly filters?: readonly FilterOf[]
  /** Name of the sum that the amount of a row is part of, for each day; nothing where it is part of none. */
  readonly summed?: (row: Row) => string | null
  /** Names of the parameters of the first and the last day. */
  readonly dates?: readonly [from: string, to: string]
  /** Whether the server turns the order round. */
  readonly sorts?: boolean
  readonly actions?: readonly ActionOf[]
  readonly keyField: string
  /** Page of a row: what it begins with, and the field that follows; or its address. */
  readonly open?: readonly [to: string, field: string] | ((row: Row) => string | null)
  readonly live?: string
  readonly query?: Record<string, string>
  /** Form that creates a row. */
  readonly form?: FormOf
  /** What can be done here beside the rows: forms that make them. */
  readonly deeds?: readonly Deed[]
  /** What is said where there is none yet, and what to do first. */
  readonly none?: { readonly title: string; readonly advice: string; readonly to?: string; readonly action?: string }
  /** Pages that belong beside it: what is done first here. */
  readonly links?: readonly {
    readonly to: string
    readonly name: string
    readonly scope?: string
    readonly icon?: IconName
  }[]
}

interface ListPageProps extends ListOf {
  children?: ComponentChildren
}

export function ListPage({ children, ...list }: ListPageProps) {
  const { query } = usePlace()
  const [turn, setTurn] = useState(0)
  const filters = filtersOf(list, query)
  const links = (list.links ?? []).filter(({ scope }) => scope === undefined || may(scope))
  const again = (): void => setTurn((before) => before + 1)
  const making: readonly Deed[] = list.form
    ? [{ name: list.form.title, icon: 'plus', isMain: links.length === 0, form: list.form }]
    : []
  const deeds = [...(list.deeds ?? []), ...making]
  const hasMain = deeds.some(({ isMain }) => isMain)
  const hasFilters = (list.filters?.length ?? 0) > 0 || list.dates !== undefined
  const save = (
    <ExportButton path={list.exportPath ?? list.path} query={{ ...list.query, ...filters.asked }} name={list.title} />
  )
  return (
    <div class="page">
      <PageHead title={t(list.title)} {...(list.note === undefined ? {} : { note: t(list.note) })}>
        {links.map(({ to, name, icon }, i) => (
          <Link key={to} to={to} class={i === 0 && !hasMain ? 'btn primary' : 'btn'}>
            {icon && <Icon name={icon} />}
            {t(name)}
          </Link>
        ))}
        <Deeds deeds={deeds} onDone={again} />
        {!hasFilters && save}
      </PageHead>
      {children}
      {hasFilters && (
        <Filters list={list} filters={filters}>
          {save}
        </Filters>
      )}
      <ListRecords list={list} turn={turn} onTurn={again} />
    </div>
  )
}

interface ListRecordsProps {
  list: ListOf
  turn?: number
  onTurn?(): void
  /** How many rows are shown where the list is a part of another page; all, as one scrolls, unless given. */
  most?: number
}

/** Rows of a list with what can be done to them, for a page of its own or a part of one. */
export function ListRecords({ list, turn = 0, onTurn, most }: ListRecordsProps) {
  const { query } = usePlace()
  const [own, setOwn] = useState(0)
  const filters = filtersOf(list, query)
  const actions = (list.actions ?? []).filter(({ scope }) => scope === undefined || may(scope))
  const done = (): void => {
    setOwn((before) => before + 1)
    onTurn?.()
  }
  const doneWith = (clear: () => void): void => {
    clear()
    done()
  }
  const columns: Column<Row>[] = [
    ...withTime(list.columns).map((column) => columnOf(column, list)),
    ...(actions.length > 0
      ? [
          {
            name: 'Actions',
            isActions: true,
            show: (row: Row) => <Actions row={row} actions={actions} onDone={done} />,
          },
        ]
      : []),
  ]
  const time = list.columns.find(({ isDay }) => isDay)
  const inBulk = most === undefined ? actions.filter(({ isBulk }) => isBulk) : []
  const amounts = list.columns.find(({ as, priority }) => as === 'money' && priority === 1)
  return (
    <Records<Row>
      label={t(list.title)}
      path={list.path}
      query={{ ...list.query, ...filters.asked }}
      {...(list.live === undefined ? {} : { live: list.live })}
      turn={turn + own}
      {...(most === undefined ? {} : { limit: most, isPreview: true })}
      keyOf={(row) => textOf(valueAt(row, list.keyField))}
      {...(time ? { timeOf: (row: Row) => textOf(valueAt(row, time.field)) || null } : {})}
      {...(amounts && list.summed ? { amountOf: (row: Row) => summedOf(row, amounts, list.summed) } : {})}
      {...(list.open ? { open: (row: Row) => openOf(row, list.open) } : {})}
      empty={<NoRows list={list} isFiltered={filters.isOn} />}
      {...(list.sorts
        ? {
            order: filters.order,
            onOrder: (order: 'asc' | 'desc') => filterBy({ ...filters.typed, order: order === 'desc' ? '' : order }),
          }
        : {})}
      columns={columns}
      {...(inBulk.length > 0
        ? {
            bulk: (rows: readonly Row[], clear: () => void) => (
              <Bulk rows={rows} actions={inBulk} amounts={amounts} onDone={() => doneWith(clear)} />
            ),
          }
        : {})}
    />
  )
}

function openOf(row: Row, open: ListOf['open']): string | null {
  if (typeof open === 'function') return open(row)
  const id = open ? textOf(valueAt(row, open[1])) : ''
  return open && id !== '' ? `${open[0]}${encodeURIComponent(id)}` : null
}

function NoRows({ list: { none, icon = 'list', title }, isFiltered }: { list: ListOf; isFiltered: boolean }) {
  if (isFiltered)
    return (
      <Nothing title={t('Nothing matches')} icon="search">
        <p class="soft">{t('No {name} with these filters.', { name: t(title).toLowerCase() })}</p>
        <button type="button" class="btn" onClick={() => filterBy({})}>
          {t('Clear filters')}
        </button>
      </Nothing>
    )
  return (
    <Nothing title={none ? none.title : t('No {name} yet', { name: t(title).toLowerCase() })} icon={icon}>
      {none && <p class="soft">{t(none.advice)}</p>}
      {none?.to && none.action && (
        <Link to={none.to} class="btn primary">
          {t(none.action)}
        </Link>
      )}
    </Nothing>
  )
}

/** Asks what has to be asked, does it and says so; what is refused is said as well. */
async function act(action: ActionOf, row: Row): Promise<boolean> {
  const answer = action.asks ? await confirm(action.asks(row)) : { reason: '' }
  if (answer === null) return false
  try {
    await action.run?.(row, answer)
    say(t('Done: {name}', { name: t(action.name) }))
    return true
  } catch (error) {
    complain(error instanceof Error ? error : new Error(String(error)))
    return false
  }
}

function Actions({ row, actions, onDone }: { row: Row; actions: readonly ActionOf[]; onDone(): void }) {
  const [form, setForm] = useState<FormOf | null>(null)
  const [isBusy, setIsBusy] = useState(false)
  const run = async (action: ActionOf): Promise<void> => {
    setIsBusy(true)
    const isDone = await act(action, row)
    setIsBusy(false)
    if (isDone) onDone()
  }
  return (
    <span class="row-actions">
      {actions
        .filter(({ shows }) => shows?.(row) ?? true)
        .map((action) => (
          <button
            key={action.name}
            type="button"
            class={action.isDanger ? 'btn small danger' : 'btn small'}
            disabled={isBusy}
            onClick={() => (action.form ? setForm(action.form(row)) : void run(action))}
          >
            {t(action.name)}
          </button>
        ))}
      {form && <FormBox form={form} onClose={() => setForm(null)} onMade={onDone} />}
    </span>
  )
}

interface BulkProps {
  rows: readonly Row[]
  actions: readonly ActionOf[]
  /** Column of the amounts, where the rows have some. */
  amounts: ColumnOf | undefined
  onDone(): void
}

/** What can be done to the chosen rows at once: each action says to how many of them it applies. */
function Bulk({ rows, actions, amounts, onDone }: BulkProps) {
  const [isBusy, setIsBusy] = useState(false)
  const ownOf = ({ shows }: ActionOf): readonly Row[] => rows.filter((row) => shows?.(row) ?? true)
  const run = async (action: ActionOf): Promise<void> => {
    const own = ownOf(action)
    const [first] = own
    const asked = first && action.asks ? action.asks(first) : null
    const title = t('{name}: {count} rows?', { name: t(action.name), count: own.length })
    const sum = amounts && `${t('Total')}: ${sumOf(own, amounts)}`
    const consequences = [...(sum ? [sum] : []), ...(asked?.consequences ?? [])]
    const answer = asked ? await confirm({ ...asked, title, consequences, action: t(action.name) }) : { reason: '' }
    if (answer === null) return
    setIsBusy(true)
    await actOnEach(action, own, answer)
    setIsBusy(false)
    onDone()
  }
  return (
    <>
      {amounts && <span>{sumOf(rows, amounts)}</span>}
      {actions.map((action) => {
        const { length } = ownOf(action)
        return (
          <button
            key={action.name}
            type="button"
            class={action.isDanger ? 'btn small danger' : 'btn small'}
            disabled={isBusy || length === 0}
            onClick={() => void run(action)}
          >
            {t(action.name)}
            {length < rows.length && ` (${length})`}
          </button>
        )
      })}
    </>
  )
}

/** Refusals that meet every further row too: not signed in, no password, too many requests, no server. */
const meetsAll = new Set([0, 401, 403, 429])

/** Does something to one row after another, and says once what became of it. */
async function actOnEach(action: ActionOf, rows: readonly Row[], answer: Answer): Promise<void> {
  let done = 0
  const refusals: Error[] = []
  for (const row of rows)
    try {
      await action.run?.(row, answer)
      done++
    } catch (thrown) {
      const refusal = thrown instanceof Error ? thrown : new Error(String(thrown))
      refusals.push(refusal)
      if (refusal instanceof PamojaError && meetsAll.has(refusal.status)) break
    }
  if (done > 0) say(t('Done: {name}, {count} rows', { name: t(action.name), count: done }))
  const [first] = refusals
  const counts = { count: rows.length - done, all: rows.length }
  if (first)
    complain(new Error(t('Not done to {count} of {all} rows: {reason}', { ...counts, reason: sentenceOf(first) })))
}

/** Sums of rows that are over: what failed or still waits is no money. */
export const completed = ({ status }: Row): string | null => (status === 'completed' ? t('Completed') : null)

function summedOf(row: Row, { field, currencyField = 'currency' }: ColumnOf, summed: ListOf['summed']): Summed | null {
  const name = summed?.(row) ?? null
  if (name === null) return null
  return { name, currency: textOf(valueAt(row, currencyField)), amount: Number(valueAt(row, field)) }
}

/** Sum of amounts, of each currency by itself. */
function sumOf(rows: readonly Row[], { field, currencyField = 'currency' }: ColumnOf): string {
  const sums = new Map<string, number>()
  for (const row of rows) {
    const currency = textOf(valueAt(row, currencyField))
    sums.set(currency, (sums.get(currency) ?? 0) + Number(valueAt(row, field)))
  }
  return [...sums].map(([currency, sum]) => money(sum, currency)).join(' + ')
}

/** Value at a path such as `customer.name`. */
export function valueAt(thing: unknown, path: string): unknown {
  return path.split('.').reduce<unknown>((value, name) => Object(value ?? {})[name], thing)
}

/** On a card, the time of the row stands at the first place that no other column takes. */
function withTime(columns: readonly ColumnOf[]): readonly ColumnOf[] {
  const free = (['end', 'sub'] as const).find((place) => columns.every(({ card }) => card !== place))
  return columns.map((column) => (column.isDay && !column.card && free ? { ...column, card: free } : column))
}

function columnOf(column: ColumnOf, list: ListOf): Column<Row> {
  const { name, priority, card, grows, as = 'text', isDay } = column
  return {
    name,
    show: column.show ?? ((row: Row) => cellOf(row, column)),
    ...(priority ? { priority } : {}),
    ...(card ? { card } : {}),
    ...(grows ? { grows } : {}),
    isNumber: as === 'money' || as === 'count' || as === 'percent',
    isNamed: as === 'count' || as === 'flag' || as === 'percent',
    isSorted: isDay === true && list.sorts === true,
  }
}

export function cellOf(row: Row, column: ColumnOf): ComponentChildren {
  const { field, as = 'text', text, to, toField = field, currencyField = 'currency', orField, isDay } = column
  const value = valueAt(row, field)
  if (text) return <span class="cut">{text(value, row)}</span>
  const isOther = orField !== undefined && (value ?? null) === null
  const shown = isOther
    ? shortId(textOf(valueAt(row, orField)))
    : isDay && value
      ? timeOfDay(textOf(value))
      : shownAs(value, as, valueAt(row, currencyField))
  const target = textOf(valueAt(row, toField))
  return to && target ? <Link to={`${to}${encodeURIComponent(target)}`}>{shown}</Link> : shown
}

const timeOfDay = (at: string) => (
  <time dateTime={at} title={moment(at)} class="soft">
    {clockTime(at)}
  </time>
)

function shownAs(value: unknown, as: NonNullable<ColumnOf['as']>, currency?: unknown): ComponentChildren {
  if (value === null || value === undefined || value === '') return nothing
  if (Array.isArray(value) && value.length === 0) return nothing
  if (as === 'time') return <Ago at={textOf(value)} />
  if (as === 'date') return date(textOf(value))
  if (as === 'state') return <Pill state={stateOf(value)} />
  if (as === 'money') return money(Number(value), textOf(currency ?? 'USD'))
  if (as === 'count') return count(Number(value))
  if (as === 'percent') return percent(Number(value))
  if (as === 'words')
    return Array.isArray(value) ? value.map((one) => words(textOf(one))).join(', ') : words(textOf(value))
  if (as === 'country') return Array.isArray(value) ? value.map(textOf).map(country).join(', ') : country(textOf(value))
  if (as === 'language') return language(textOf(value))
  if (as === 'flag') return value ? t('Yes') : t('No')
  if (as === 'id') return <CopyId id={textOf(value)} isPlain />
  if (as === 'json') return <span class="mono cut">{JSON.stringify(value)}</span>
  return (
    <span class={as === 'mono' ? 'mono cut' : 'cut'} dir={as === 'mono' ? 'ltr' : 'auto'}>
      {textOf(value)}
    </span>
  )
}

/** A state by its name; of what is only on or off, enabled or disabled. */
const stateOf = (value: unknown): string =>
  typeof value === 'boolean' ? (value ? 'enabled' : 'disabled') : textOf(value)

export function textOf(value: unknown): string {
  if (Array.isArray(value)) return value.map(textOf).join(', ')
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value ?? '')
}
