// SPDX-License-Identifier: Apache-2.0
// List page, described by columns and filters, filtered by the server, with actions on its rows. Actions that need a
// recent sign-in ask for the password again.
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { may, wants } from '../api.ts'
import { PasswordForm } from '../areas/accounts/sign-in.tsx'
import { filterBy, Link, usePlace } from '../place.tsx'
import { t } from '../words.ts'
import { type FormOf, Making } from './form.tsx'
import { Card, Choice, Field, PageHead, Pill, Problem } from './kit.tsx'
import { none, Records } from './records.tsx'
import { count, moment, money, words } from './words.ts'

/** Field of a row, and how it is shown. */
interface ColumnOf {
  readonly name: string
  readonly field: string
  readonly as?: 'text' | 'mono' | 'time' | 'state' | 'money' | 'count' | 'words' | 'flag' | 'json'
  /** Line that shows the value, where none of these does. */
  readonly text?: (value: unknown, row: Row) => string
  /** Link target of a cell; the value of `toField` is appended, or of the field itself. */
  readonly to?: string
  readonly toField?: string
  /** Field of the currency of money; `currency` unless given. */
  readonly currencyField?: string
  /** Field that is shown as text where the other has nothing. */
  readonly orField?: string
}

/** Columns that most lists have. */
export const created = { name: 'Time', field: 'created_at', as: 'time' } as const
export const state = { name: 'State', field: 'status', as: 'state' } as const
export const amount = { name: 'Amount', field: 'amount', as: 'money' } as const

interface FilterOf {
  readonly name: string
  readonly label: string
  readonly among?: readonly string[]
}

interface ActionOf {
  readonly name: string
  readonly isDanger?: boolean
  /** Scope of the members who see it; without one, all who see the page. */
  readonly scope?: string
  shows?(row: Row): boolean
  run(row: Row): Promise<unknown>
}

type Row = Readonly<Record<string, unknown>>

export interface ListOf {
  readonly title: string
  readonly note?: string
  readonly path: string
  readonly columns: readonly ColumnOf[]
  readonly filters?: readonly FilterOf[]
  readonly actions?: readonly ActionOf[]
  readonly keyField: string
  readonly live?: string
  readonly query?: Record<string, string>
  /** Form that creates a row. */
  readonly form?: FormOf
}

interface ListPageProps extends ListOf {
  email: string
  children?: ComponentChildren
}

export function ListPage({ email, children, ...list }: ListPageProps) {
  const { query } = usePlace()
  const { run, turn, error, confirming } = useConfirmed(email)
  const actions = (list.actions ?? []).filter(({ scope }) => scope === undefined || may(scope))
  const filters = Object.fromEntries((list.filters ?? []).map(({ name }) => [name, query.get(name) ?? '']))
  return (
    <div class="page">
      <PageHead title={t(list.title)} {...(list.note === undefined ? {} : { note: t(list.note) })} />
      {error && <Problem error={error} />}
      {confirming}
      {children}
      {list.form && <Making form={list.form} run={run} />}
      {list.filters && (
        <search class="filters">
          {list.filters.map(({ name, label, among }) =>
            among ? (
              <Choice
                key={name}
                label={t(label)}
                value={filters[name] ?? ''}
                among={among}
                onChange={(value) => filterBy({ ...filters, [name]: value })}
              />
            ) : (
              <Field
                key={name}
                label={t(label)}
                value={filters[name] ?? ''}
                onInput={(value) => filterBy({ ...filters, [name]: value })}
              />
            ),
          )}
        </search>
      )}
      <Records<Row>
        key={turn}
        label={t(list.title)}
        path={list.path}
        query={{ ...list.query, ...filters }}
        {...(list.live === undefined ? {} : { live: list.live })}
        keyOf={(row) => textOf(row[list.keyField])}
        empty={none(
          t('Nothing here yet'),
          list.filters ? t('What happens is listed here; or take away a filter.') : t('What happens is listed here.'),
        )}
        columns={[
          ...list.columns.map((column) => ({
            name: t(column.name),
            show: (row: Row) => cellOf(row, column),
            isNumber: column.as === 'money' || column.as === 'count',
          })),
          ...(actions.length > 0
            ? [{ name: t('Actions'), show: (row: Row) => <Actions row={row} actions={actions} run={run} /> }]
            : []),
        ]}
      />
    </div>
  )
}

function Actions({
  row,
  actions,
  run,
}: {
  row: Row
  actions: readonly ActionOf[]
  run(what: () => Promise<unknown>): void
}) {
  return (
    <span class="row">
      {actions
        .filter(({ shows }) => shows?.(row) ?? true)
        .map((action) => (
          <button
            key={action.name}
            type="button"
            class={action.isDanger ? 'btn small danger' : 'btn small'}
            onClick={() => run(() => action.run(row))}
          >
            {t(action.name)}
          </button>
        ))}
    </span>
  )
}

/** Runs what may want the password again; `turn` changes when something was done. */
export function useConfirmed(email: string) {
  const [error, setError] = useState<Error | null>(null)
  const [waiting, setWaiting] = useState<(() => void) | null>(null)
  const [turn, setTurn] = useState(0)
  const run = (what: () => Promise<unknown>): void => {
    setError(null)
    what().then(
      () => setTurn((before) => before + 1),
      (refused: Error) => {
        if (wants(refused, 'password')) setWaiting(() => () => run(what))
        else setError(refused)
      },
    )
  }
  const goOn = (): void => {
    setWaiting(null)
    waiting?.()
  }
  const confirming = waiting && (
    <Card title={t('Your password, once more')}>
      <PasswordForm email={email} action={t('Go on')} onSignedIn={goOn} />
    </Card>
  )
  return { run, turn, error, confirming }
}

/** Value at a path such as `customer.name`. */
function valueAt(row: Row, path: string): unknown {
  return path.split('.').reduce<unknown>((value, name) => Object(value ?? {})[name], row)
}

function cellOf(
  row: Row,
  { field, as = 'text', text, to, toField = field, currencyField = 'currency', orField }: ColumnOf,
): ComponentChildren {
  const value = valueAt(row, field)
  if (text) return <span class="mono cut">{text(value, row)}</span>
  const isOther = orField !== undefined && (value ?? null) === null
  const shown = isOther ? shownAs(valueAt(row, orField), 'text') : shownAs(value, as, valueAt(row, currencyField))
  const target = textOf(valueAt(row, toField))
  return to && target ? <Link to={`${to}${target}`}>{shown}</Link> : shown
}

function shownAs(value: unknown, as: NonNullable<ColumnOf['as']>, currency?: unknown): ComponentChildren {
  if (value === null || value === undefined || value === '') return '–'
  if (as === 'time') return moment(textOf(value))
  if (as === 'state') return <Pill state={textOf(value)} />
  if (as === 'money') return money(Number(value), textOf(currency ?? 'USD'))
  if (as === 'count') return count(Number(value))
  if (as === 'words') return words(textOf(value))
  if (as === 'flag') return value ? t('Yes') : t('No')
  if (as === 'json') return <span class="mono cut">{JSON.stringify(value)}</span>
  return <span class={as === 'mono' ? 'mono cut' : 'cut'}>{textOf(value)}</span>
}

export function textOf(value: unknown): string {
  if (Array.isArray(value)) return value.map(textOf).join(', ')
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value ?? '')
}
