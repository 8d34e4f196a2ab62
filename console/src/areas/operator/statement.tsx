// SPDX-License-Identifier: Apache-2.0
// Statement of a provider: begun, its file sent, what was found of it, and its lines, which can be said to be about a payment.
import { fields } from '#form/operator.createPaymentStatement'
import {
  operatorAssignPaymentStatementLine,
  operatorCreatePaymentStatement,
  operatorGetPaymentStatement,
  operatorImportPaymentStatement,
  operatorListPaymentStatementLines,
} from '#sdk/operations.ts'
import { api } from '../../api.ts'
import type { PageProps } from '../../area.tsx'
import { bodyOf, fieldFor } from '../../kit/declared.ts'
import { Detail, Opened } from '../../kit/detail.tsx'
import { useDoing } from '../../kit/doing.ts'
import { Filters, filtersOf } from '../../kit/filters.tsx'
import { FormFields } from '../../kit/form.tsx'
import { Card, FiguresRow, PageHead, Problem } from '../../kit/kit.tsx'
import { type ListOf, ListRecords } from '../../kit/list-page.tsx'
import { useLoad } from '../../kit/load.ts'
import { count, money, words } from '../../kit/words.ts'
import { go, Link, usePlace } from '../../place.tsx'
import { t } from '../../words.ts'

const begun = ['provider', 'environment', 'country', 'covers']

export function NewStatement() {
  return (
    <div class="page">
      <nav class="crumbs" aria-label={t('Breadcrumbs')}>
        <Link to="/operator/statements">{t('Reconciliation')}</Link>
      </nav>
      <PageHead title="Create statement" />
      <Card title={t('Provider')}>
        <FormFields
          initial={{ provider: 'mpesa', environment: 'live' }}
          form={{
            title: 'Create statement',
            action: 'Create',
            fields: fields.map((field) => fieldFor(field, { isMore: !begun.includes(field.name) })),
            make: async (filled) => {
              const answer = await api.send('POST', operatorCreatePaymentStatement.at(none), {
                body: bodyOf(fields, filled),
              })
              const { data }: { data: { id: string } } = await answer.json()
              go(`/operator/statements/${data.id}`)
              return null
            },
          }}
          onMade={() => undefined}
        />
      </Card>
    </div>
  )
}

const none = { body: { provider: 'mpesa', environment: 'test' } } as const

const linesOf = (id: string): ListOf => ({
  title: 'Lines',
  icon: 'scale',
  path: operatorListPaymentStatementLines.at({ id }),
  keyField: 'id',
  columns: [
    { name: 'Time', field: 'occurred_at', as: 'time', priority: 1 },
    { name: 'Receipt', field: 'receipt', as: 'mono', priority: 1, card: 'title', grows: true },
    { name: 'Kind', field: 'kind', as: 'words', priority: 2, card: 'sub' },
    { name: 'Amount', field: 'amount', as: 'money', priority: 1, card: 'end' },
    { name: 'Found', field: 'class', as: 'state', priority: 1, card: 'state' },
    { name: 'Payment', field: 'payment_id', as: 'id', priority: 3 },
  ],
  filters: [
    { name: 'class', label: 'Found', among: ['matched', 'theirs_only', 'amount_differs', 'booked', 'ours_only'] },
  ],
})

export function StatementPage({ id }: PageProps) {
  const statement = useLoad(id, () => operatorGetPaymentStatement(api, { id }))
  const { query } = usePlace()
  const sending = useDoing()
  const lines = linesOf(id)
  const choose = (file: File | undefined): void => {
    if (file)
      sending.run(async () => {
        await operatorImportPaymentStatement(api, { id, body: await file.text() })
        await statement.reload()
      })
  }
  return (
    <Opened record={statement}>
      {(value) => (
        <Detail
          in={['/operator/statements', 'Reconciliation']}
          id={id}
          title={`${words(value.provider)} ${value.country}`}
          note={words(value.environment)}
          state={value.status}
          path={operatorGetPaymentStatement.at({ id })}
          raw={value}
        >
          <FiguresRow
            figures={[
              [t('Lines'), count(value.lines)],
              [t('Already imported'), count(value.known_lines)],
              [t('Difference'), value.difference === null ? '–' : money(value.difference, value.currency)],
            ]}
          />
          <Card title={t('File')}>
            {sending.error && <Problem error={sending.error} />}
            <label class="field">
              {t('CSV file')}
              <input
                type="file"
                accept=".csv,text/csv"
                disabled={sending.isBusy}
                onChange={(event) => choose(event.currentTarget.files?.[0])}
              />
            </label>
          </Card>
          <Card title={t('Lines')}>
            <Filters list={lines} filters={filtersOf(lines, query)} />
            <ListRecords list={lines} turn={sending.turn} />
          </Card>
          <details class="card making">
            <summary>{t('Assign a payment to the line')}</summary>
            <FormFields
              form={{
                title: 'Assign a payment to the line',
                action: 'Assign',
                fields: [
                  { name: 'line', label: 'Line', isRequired: true },
                  { name: 'account_id', label: 'Account', isRequired: true },
                  { name: 'payment_id', label: 'Payment', isRequired: true },
                ],
                make: async ({ line = '', account_id = '', payment_id = '' }) => {
                  await operatorAssignPaymentStatementLine(api, { id, line, body: { account_id, payment_id } })
                  return null
                },
              }}
              onMade={() => void statement.reload()}
            />
          </details>
        </Detail>
      )}
    </Opened>
  )
}
