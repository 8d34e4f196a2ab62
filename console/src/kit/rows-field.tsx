// SPDX-License-Identifier: Apache-2.0
// Rows from a file or pasted from a spreadsheet, with how many they are and the first of them as they were understood.
import { t } from '../words.ts'
import { csvRows } from './csv.ts'
import { FileField, TextField } from './fields.tsx'
import { Figures } from './kit.tsx'
import { count } from './words.ts'

const shownRows = 5

interface RowsFieldProps {
  label: string
  /** Columns that every row has to have. */
  columns: readonly string[]
  value: string
  onInput(value: string): void
  hint?: string
  problem?: string | undefined
}

export function RowsField({ label, columns, value, onInput, hint, problem }: RowsFieldProps) {
  const rows = csvRows(value)
  const lacking = columns.filter((name) => rows.some((row) => row[name] === undefined))
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))]
  return (
    <>
      <FileField
        label="A file of a spreadsheet, saved as CSV"
        accept=".csv,.txt,text/csv"
        onFile={(file) => void file?.text().then(onInput)}
      />
      <TextField
        label={label}
        value={value}
        onInput={onInput}
        rows={5}
        required
        hint={hint ?? t('The first line names the columns: {names}', { names: columns.join(', ') })}
        problem={
          problem ?? (lacking.length > 0 ? t('Some rows have no {names}', { names: lacking.join(', ') }) : undefined)
        }
      />
      {rows.length > 0 && (
        <div class="field" role="status">
          <p class="strong">{t('{count} rows', { count: count(rows.length) })}</p>
          <Figures
            names={['Row', ...names]}
            rows={rows.slice(0, shownRows).map((row, i) => ({
              key: String(i),
              name: String(i + 1),
              figures: names.map((name) => row[name] ?? '–'),
            }))}
          />
        </div>
      )}
    </>
  )
}
