// SPDX-License-Identifier: Apache-2.0
// Payments, payouts, refunds and top-ups, newest first, filtered by the server.
import { paymentsTransactions } from '#sdk/operations.ts'
import type { Transaction } from '#sdk/schemas.ts'
import { Choice, PageHead, Pill } from '../../kit/kit.tsx'
import { none, Records } from '../../kit/records.tsx'
import { moment, money, words } from '../../kit/words.ts'
import { filterBy, Link, usePlace } from '../../place.tsx'
import { t } from '../../words.ts'

const types = ['payment', 'topup', 'refund', 'payout']
const statuses = ['pending', 'processing', 'requires_action', 'completed', 'failed', 'cancelled', 'expired', 'reversed']

export function Payments() {
  const { query } = usePlace()
  const filters = { type: query.get('type') ?? '', status: query.get('status') ?? '' }
  return (
    <div class="page">
      <PageHead title="Payments" />
      <search class="filters">
        <Choice label="Kind" value={filters.type} among={types} onChange={(type) => filterBy({ ...filters, type })} />
        <Choice
          label="State"
          value={filters.status}
          among={statuses}
          onChange={(status) => filterBy({ ...filters, status })}
        />
      </search>
      <Records<Transaction>
        label="Payments"
        path={paymentsTransactions.at()}
        query={filters}
        live="pay"
        keyOf={({ transaction_id }) => transaction_id}
        empty={none(t('No payments'), t('What customers pay, and what you pay out, is listed here.'))}
        columns={[
          { name: 'Time', show: (row) => <Opened row={row} /> },
          { name: 'Kind', show: ({ type }) => words(type) },
          { name: 'State', show: ({ status }) => <Pill state={status} /> },
          { name: 'Amount', isNumber: true, show: ({ amount, currency }) => money(amount, currency) },
          { name: 'By', show: ({ method, provider }) => [words(method), provider].filter(Boolean).join(', ') },
          { name: 'Phone', show: ({ phone }) => <span class="mono">{phone ?? '–'}</span> },
          { name: 'Reference', show: ({ reference }) => reference ?? '–' },
        ]}
      />
    </div>
  )
}

function Opened({ row: { type, payment_id, created_at } }: { row: Transaction }) {
  if (payment_id === null || (type !== 'payment' && type !== 'topup')) return <>{moment(created_at)}</>
  return <Link to={`/payments/${payment_id}`}>{moment(created_at)}</Link>
}
