// SPDX-License-Identifier: Apache-2.0
// Filters over a list: what is typed is asked for after a pause, days are the account's own, and all of it is in the address.
import type { ComponentChildren } from 'preact'
import { useEffect, useId, useState } from 'preact/hooks'
import { exported } from '../api.ts'
import { filterBy } from '../place.tsx'
import { t } from '../words.ts'
import { complain } from './dialogs.tsx'
import { Choice } from './fields.tsx'
import { Icon } from './icons.tsx'
import { useLoad } from './load.ts'
import { isoDay, momentOfDay, nowMs } from './words.ts'

export interface FilterOf {
  readonly name: string
  readonly label: string
  readonly among?: readonly string[]
  /** Value that is asked for until another one is chosen. */
  readonly usual?: string
  /** Records to choose from, by id, with the name of each. */
  readonly records?: () => Promise<Readonly<Record<string, string>>>
}

interface Filtered {
  readonly filters?: readonly FilterOf[]
  readonly dates?: readonly [from: string, to: string]
  readonly sorts?: boolean
}

export interface FiltersNow {
  /** As they stand in the address. */
  readonly typed: Readonly<Record<string, string>>
  /** As the API takes them. */
  readonly asked: Record<string, string>
  readonly order: 'asc' | 'desc'
  readonly isOn: boolean
}

const typingMs = 300
/** Stands in the address where every value is asked for in place of the usual one. */
const any = 'any'

export function filtersOf({ filters = [], dates, sorts }: Filtered, query: URLSearchParams): FiltersNow {
  const names = [...filters.map(({ name }) => name), ...(dates ?? []), ...(sorts ? ['order'] : [])]
  const usual = Object.fromEntries(filters.map((one) => [one.name, one.usual ?? '']))
  const typed = Object.fromEntries(names.map((name) => [name, query.get(name) ?? usual[name] ?? '']))
  const [from, to] = dates ?? []
  const asked = Object.fromEntries(names.map((name) => [name, chosenOf(typed[name])]))
  if (from && typed[from]) asked[from] = momentOfDay(typed[from])
  if (to && typed[to]) asked[to] = momentOfDay(typed[to], true)
  const isOn = Object.entries(typed).some(([name, value]) => name !== 'order' && value !== (usual[name] ?? ''))
  return { typed, asked, order: typed.order === 'asc' ? 'asc' : 'desc', isOn }
}

const chosenOf = (value = ''): string => (value === any ? '' : value)

export function Filters({
  list,
  filters: { typed },
  children,
}: {
  list: Filtered
  filters: FiltersNow
  children?: ComponentChildren
}) {
  const { filters = [], dates } = list
  const [isWhole, setIsWhole] = useState(false)
  const isMany = filters.length > maxShown
  const isOn = ({ name, usual = '' }: FilterOf): boolean => (typed[name] ?? '') !== usual
  const shown = isWhole || !isMany ? filters : filters.filter((one, i) => i < maxShown || isOn(one))
  return (
    <search class="filters">
      {shown.map((filter) => (
        <FilterField
          key={filter.name}
          filter={filter}
          value={chosenOf(typed[filter.name])}
          onValue={(value) => filterBy({ ...typed, [filter.name]: value || (filter.usual ? any : '') })}
        />
      ))}
      {dates && <Days dates={dates} typed={typed} />}
      {isMany && (
        <button type="button" class="btn quiet" aria-expanded={isWhole} onClick={() => setIsWhole(!isWhole)}>
          <Icon name="filter" />
          {isWhole ? t('Less') : t('More')}
        </button>
      )}
      {children}
    </search>
  )
}

/** More filters than these are shown when they are asked for, or on. */
const maxShown = 3

function FilterField({
  filter: { label, among, records },
  value,
  onValue,
}: {
  filter: FilterOf
  value: string
  onValue(value: string): void
}) {
  if (records) return <ChosenRecord label={t(label)} value={value} records={records} onChange={onValue} />
  if (among) return <Choice label={t(label)} value={value} among={among} onChange={onValue} />
  return <Typed label={label} value={value} onValue={onValue} />
}

/** A choice among records that the server names. */
function ChosenRecord({
  label,
  value,
  records,
  onChange,
}: {
  label: string
  value: string
  records(): Promise<Readonly<Record<string, string>>>
  onChange(value: string): void
}) {
  const named = useLoad(label, records).value ?? {}
  const among = [...new Set([...Object.keys(named), value])].filter(Boolean)
  return among.length === 0 ? null : (
    <Choice label={label} value={value} among={among} names={named} onChange={onChange} />
  )
}

/** A field whose value is asked for when typing stops. */
function Typed({ label, value, onValue }: { label: string; value: string; onValue(value: string): void }) {
  const [typed, setTyped] = useState(value)
  const id = useId()
  useEffect(() => setTyped(value), [value])
  useEffect(() => {
    if (typed === value) return
    const timer = setTimeout(() => onValue(typed.trim()), typingMs)
    return () => clearTimeout(timer)
  }, [typed])
  return (
    <div class="field">
      <label for={id}>{t(label)}</label>
      <input id={id} type="search" dir="auto" value={typed} onInput={(event) => setTyped(event.currentTarget.value)} />
    </div>
  )
}

const dayMs = 86_400_000
const spans: readonly [name: string, days: number][] = [
  ['Today', 1],
  ['7 days', 7],
  ['30 days', 30],
]

function Days({
  dates: [from, to],
  typed,
}: {
  dates: readonly [string, string]
  typed: Readonly<Record<string, string>>
}) {
  const id = useId()
  const set = (first: string, last: string): void => filterBy({ ...typed, [from]: first, [to]: last })
  const [first = '', last = ''] = [typed[from], typed[to]]
  const span = spans.find(([, days]) => first === isoDay(nowMs() - (days - 1) * dayMs) && last === '')
  const isOwn = !span && (first !== '' || last !== '')
  const [isOpen, setIsOpen] = useState(isOwn)
  const choose = (name: string): void => {
    setIsOpen(name === 'own')
    const [, days] = spans.find(([one]) => one === name) ?? []
    if (days !== undefined) set(isoDay(nowMs() - (days - 1) * dayMs), '')
    if (name === '') set('', '')
  }
  return (
    <>
      <div class="choice">
        <label for={id}>{t('Days')}</label>
        <select
          id={id}
          value={isOpen ? 'own' : (span?.[0] ?? '')}
          onChange={(event) => choose(event.currentTarget.value)}
        >
          <option value="">{t('All days')}</option>
          {spans.map(([name]) => (
            <option key={name} value={name}>
              {t(name)}
            </option>
          ))}
          <option value="own">{t('Between two days')}</option>
        </select>
      </div>
      {isOpen && (
        <>
          <Day label={t('From day')} value={first} onValue={(value) => set(value, last)} />
          <Day label={t('To day')} value={last} onValue={(value) => set(first, value)} />
        </>
      )}
    </>
  )
}

function Day({ label, value, onValue }: { label: string; value: string; onValue(value: string): void }) {
  const id = useId()
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input id={id} type="date" value={value} onChange={(event) => onValue(event.currentTarget.value)} />
    </div>
  )
}

/** Saves a file on the reader's computer. */
export function saved(file: Blob, name: string): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(file)
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000)
}

/** The whole list as the API's CSV, with the filters that are on. */
export function ExportButton({ path, query, name }: { path: string; query: Record<string, string>; name: string }) {
  const [isBusy, setIsBusy] = useState(false)
  const save = (): void => {
    setIsBusy(true)
    exported(path, query)
      .then((file) => saved(file, `${name.toLowerCase().replaceAll(' ', '-')}-${isoDay(nowMs())}.csv`), complain)
      .finally(() => setIsBusy(false))
  }
  return (
    <button
      type="button"
      class="btn quiet export"
      onClick={save}
      disabled={isBusy}
      title={t('Download all rows as CSV')}
    >
      <Icon name="download" />
      CSV
    </button>
  )
}
