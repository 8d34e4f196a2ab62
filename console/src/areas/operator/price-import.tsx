// SPDX-License-Identifier: Apache-2.0
// Prices from a file: what it would change is shown beside what is in force, then all of it is set, or nothing.
import { useState } from 'preact/hooks'
import { PamojaError } from '#sdk/client.ts'
import { operatorImportPriceFile, operatorListPrices } from '#sdk/operations.ts'
import type { Price } from '#sdk/schemas.ts'
import { api } from '../../api.ts'
import { useDoing } from '../../kit/doing.ts'
import { Card, Figures, PageHead, Pill, Problem } from '../../kit/kit.tsx'
import { count } from '../../kit/words.ts'
import { Link } from '../../place.tsx'
import { t } from '../../words.ts'
import { cellsOf } from './csv.ts'

/** Prices that are read to compare with: more than any installation has in force. */
const maxPages = 50
const maxShown = 200

const names = ['area', 'unit', 'country', 'network', 'account_id', 'currency'] as const

interface Change {
  readonly line: number
  readonly what: string
  readonly before: string | null
  readonly after: string
  readonly kind: 'new' | 'changed' | 'same'
}

const keyOf = (price: Readonly<Record<string, unknown>>): string => names.map((name) => price[name] ?? '').join(', ')

/** Amount in force by what it is the price of; later ones follow in the list and win. */
async function inForce(): Promise<Map<string, string>> {
  const known = new Map<string, { amount: number; from: string }>()
  let cursor: string | undefined
  for (let page = 0; page < maxPages; page++) {
    const { data, next_cursor } = await operatorListPrices(api, { query: { limit: 200, cursor } })
    for (const price of data) keepLatest(known, price)
    if (!next_cursor) break
    cursor = next_cursor
  }
  return new Map([...known].map(([key, { amount }]) => [key, String(amount)]))
}

function keepLatest(known: Map<string, { amount: number; from: string }>, price: Price): void {
  const { amount, effective_from: from } = price
  const key = keyOf({ ...price })
  const before = known.get(key)
  if (new Date(from) <= new Date() && (!before || before.from < from)) known.set(key, { amount, from })
}

async function changesIn(text: string): Promise<Change[]> {
  const [head = [], ...rows] = cellsOf(text)
  const known = await inForce()
  return rows.map((cells, i) => {
    const row = Object.fromEntries(head.map((name, at) => [name.trim().toLowerCase(), (cells[at] ?? '').trim()]))
    const before = known.get(keyOf(row)) ?? null
    const after = row.amount ?? ''
    const kind = before === null ? 'new' : Number(before) === Number(after) ? 'same' : 'changed'
    const what = names
      .map((name) => row[name])
      .filter(Boolean)
      .join(', ')
    return { line: i + 2, what, before, after, kind }
  })
}

export function PriceImport() {
  const [text, setText] = useState('')
  const [changes, setChanges] = useState<readonly Change[] | null>(null)
  const [imported, setImported] = useState<number | null>(null)
  const { run, error, isBusy } = useDoing()
  const choose = (file: File | undefined): void => {
    if (!file) return
    setImported(null)
    run(async () => {
      const read = await file.text()
      setText(read)
      setChanges(await changesIn(read))
    })
  }
  const bring = (): void =>
    run(async () => {
      const made = await operatorImportPriceFile(api, { body: text })
      setImported(made.imported)
      setChanges(null)
    })
  const many = (kind: Change['kind']): number => changes?.filter((one) => one.kind === kind).length ?? 0
  return (
    <div class="page">
      <nav class="crumbs" aria-label={t('Breadcrumbs')}>
        <Link to="/operator/prices">{t('Prices')}</Link>
      </nav>
      <PageHead title="Import prices" />
      <Card title={t('File')}>
        <p class="soft">
          {t(
            'CSV as the list of prices is exported: area, unit, amount and currency are needed. All lines are set, or none.',
          )}
        </p>
        <label class="field">
          {t('CSV file')}
          <input type="file" accept=".csv,text/csv" onChange={(event) => choose(event.currentTarget.files?.[0])} />
        </label>
        {error && <Problem error={error} />}
        {error && <Wrong error={error} />}
        {imported !== null && (
          <div class="callout good" role="status">
            <p>{t('{count} prices were set.', { count: count(imported) })}</p>
          </div>
        )}
      </Card>
      {changes && (
        <Card
          title={t('Changes')}
          action={
            <button type="button" class="btn primary" disabled={isBusy || changes.length === 0} onClick={bring}>
              {t('Set {count} prices', { count: count(changes.length) })}
            </button>
          }
        >
          <p>
            {t('{added} new, {changed} changed, {same} unchanged.', {
              added: count(many('new')),
              changed: count(many('changed')),
              same: count(many('same')),
            })}
          </p>
          <div class="scroll">
            <Figures
              names={['Price', 'Current price', 'New price', 'Change']}
              rows={changes.slice(0, maxShown).map(({ line, what, before, after, kind }) => ({
                name: what,
                key: String(line),
                figures: [before ?? '–', after, t(kindWords[kind])],
              }))}
            />
          </div>
        </Card>
      )}
    </div>
  )
}

const kindWords = { new: 'New', changed: 'Changed', same: 'Unchanged' } as const

/** Lines that were refused. */
function Wrong({ error }: { error: Error }) {
  const errors: unknown = error instanceof PamojaError ? error.error.errors : null
  if (!Array.isArray(errors)) return null
  return (
    <ul class="lines">
      {errors.slice(0, maxShown).map((one, i) => (
        <li key={i}>
          <span>
            {t('Line {line}', { line: String(Object(one).line) })}: {String(Object(one).details)}
          </span>
          <Pill state="failed" />
        </li>
      ))}
    </ul>
  )
}
