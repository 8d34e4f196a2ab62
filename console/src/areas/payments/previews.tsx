// SPDX-License-Identifier: Apache-2.0
// What forms of money lead to, while they are filled in: the sum of many payouts, and the page that a payer sees.
import { csvRows } from '../../kit/csv.ts'
import type { Filled } from '../../kit/form.tsx'
import { FiguresRow } from '../../kit/kit.tsx'
import { count, money } from '../../kit/words.ts'
import { t } from '../../words.ts'

export function sumOfPayouts({ payouts, currency = '' }: Filled) {
  const rows = csvRows(payouts ?? '')
  if (rows.length === 0 || currency.length !== 3) return null
  const sum = rows.reduce((all, { amount }) => all + Number(amount ?? 0), 0)
  const bad = rows.filter(({ amount }) => !(Number(amount) > 0)).length
  return (
    <>
      <FiguresRow
        figures={[
          [t('Payouts'), count(rows.length)],
          [t('Sum, without fees'), Number.isNaN(sum) ? '–' : money(sum, currency)],
        ]}
      />
      {bad > 0 && (
        <div class="callout warn">
          <p>{t('{count} rows have no amount above zero', { count: count(bad) })}</p>
        </div>
      )}
    </>
  )
}

export function payerPage({ description, amount, currency = '' }: Filled) {
  const isPrice = Number(amount) > 0 && currency.length === 3
  return (
    <div class="field">
      <p class="hint">{t('The payer sees')}</p>
      <div class="bubble-preview" dir="auto">
        <p>{description}</p>
        <p class="strong">{isPrice ? money(Number(amount), currency) : '–'}</p>
        <p class="tap">{isPrice ? t('Pay {amount}', { amount: money(Number(amount), currency) }) : t('Pay')}</p>
      </div>
    </div>
  )
}
