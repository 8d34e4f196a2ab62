// SPDX-License-Identifier: Apache-2.0
// Rows of a form, such as conditions or names: each with a button that removes it, and one below that adds another.
import type { ComponentChildren } from 'preact'
import { t } from '../words.ts'

interface LinesProps<Row> {
  rows: readonly Row[]
  /** Number of rows that cannot be removed. */
  least?: number
  /** Words of the button that adds a row, and the row that it adds. */
  add: string
  begun: Row
  /** Explanation below the rows, and why the server refused them. */
  hint?: string | undefined
  problem?: string | undefined
  /** Controls beside the button that adds a row. */
  beside?: ComponentChildren
  onChange(rows: Row[]): void
  /** Fields of a row. */
  children(row: Row, change: (row: Row) => void): ComponentChildren
}

export function Lines<Row>(props: LinesProps<Row>) {
  const { rows, least = 0, add, begun, hint, problem, beside, onChange, children } = props
  return (
    <>
      {rows.map((row, i) => (
        <div class="form in-line" key={i}>
          {children(row, (next) => onChange(rows.map((one, at) => (at === i ? next : one))))}
          {rows.length > least && (
            <button type="button" class="btn small" onClick={() => onChange(rows.filter((_, at) => at !== i))}>
              {t('Remove')}
            </button>
          )}
        </div>
      ))}
      {hint && <p class="hint">{t(hint)}</p>}
      {problem && (
        <p class="hint bad" role="alert">
          {problem}
        </p>
      )}
      <div class="row">
        <button type="button" class="btn small" onClick={() => onChange([...rows, begun])}>
          {t(add)}
        </button>
        {beside}
      </div>
    </>
  )
}
