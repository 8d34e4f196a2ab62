// SPDX-License-Identifier: Apache-2.0
// The wallet: what is there, what is set aside, and every movement.
import {
  walletAutoRecharges,
  walletBalance,
  walletSetAutoRecharge,
  walletTopup,
  walletTransactions,
} from '#sdk/operations.ts'
import type { AutoRecharge } from '#sdk/schemas.ts'
import { api } from '../../api.ts'
import { type Deed, Deeds } from '../../kit/detail.tsx'
import { ExportButton, Filters, filtersOf } from '../../kit/filters.tsx'
import { formOf } from '../../kit/form.tsx'
import { FiguresRow, PageHead, Problem } from '../../kit/kit.tsx'
import { amount, created, type ListOf, ListRecords, textOf } from '../../kit/list-page.tsx'
import { useLoad } from '../../kit/load.ts'
import { money, words } from '../../kit/words.ts'
import { useLive } from '../../live.ts'
import { go, usePlace } from '../../place.tsx'
import { t } from '../../words.ts'

const movements: ListOf = {
  title: 'Wallet and ledger',
  icon: 'wallet',
  path: walletTransactions.at(),
  keyField: 'transaction_id',
  live: 'wallet. payment. payout. refund sms.',
  dates: ['start_date', 'end_date'],
  sorts: true,
  columns: [
    created,
    { name: 'Type', field: 'type', as: 'words', priority: 1, card: 'title' },
    {
      ...{ name: 'Description', field: 'description', priority: 2, card: 'sub', grows: true },
      text: (said) => (/^[a-z_]+$/.test(textOf(said)) ? words(textOf(said)) : textOf(said) || '–'),
    },
    { name: 'Object', field: 'source.id', as: 'id', priority: 3 },
    { ...amount, text: (value, { currency, direction }) => signed(value, currency, direction) },
    { name: 'Balance after', field: 'balance_after', as: 'money', priority: 2 },
  ],
  filters: [
    {
      name: 'type',
      label: 'Type',
      among: ['usage_sms', 'payment', 'payment_fee', 'payout', 'payout_fee', 'refund', 'topup', 'adjustment', 'hold'],
    },
  ],
}

const scope = 'wallet:write'

/** Filling the wallet once, and by itself whenever it runs low. */
function deedsOf(recharge: AutoRecharge | null): Deed[] {
  const fills = formOf(walletSetAutoRecharge, {
    title: 'Auto-recharge',
    action: 'Save',
    fields: [
      { name: 'enabled', label: 'Enabled', as: 'flag' },
      { name: 'threshold', label: 'When the balance is below', isRequired: true },
      { name: 'amount', label: 'Amount', isRequired: true },
      { name: 'phone', label: 'Phone number of the payer' },
      { name: 'card_token', label: 'Or a saved card' },
      { name: 'max_per_day', label: 'Maximum per day', as: 'number' },
    ],
    initial: {
      enabled: recharge?.enabled === false ? 'no' : 'yes',
      threshold: recharge?.threshold?.toString(),
      amount: recharge?.amount?.toString(),
      phone: recharge?.phone ?? undefined,
      card_token: recharge?.card_token ?? undefined,
      max_per_day: recharge?.max_per_day.toString(),
    },
  })
  const topUp = formOf(walletTopup, {
    title: 'Top up',
    action: 'Request payment by phone',
    fields: [
      { name: 'amount', label: 'Amount', isRequired: true },
      { name: 'phone', label: 'Phone number of the payer', hint: 'Waiting for the PIN' },
      { name: 'card_token', label: 'Or a saved card' },
    ],
    done: ({ payment_id }) => go(`/payments/${payment_id}`),
  })
  return [
    { name: 'Auto-recharge', icon: 'again', scope, form: fills },
    { name: 'Top up', icon: 'plus', isMain: true, scope, form: topUp },
  ]
}

function signed(value: unknown, currency: unknown, direction: unknown): string {
  return `${direction === 'debit' ? '−' : '+'} ${money(Number(value), textOf(currency))}`
}

export function WalletPage() {
  const { query } = usePlace()
  const wallet = useLoad('wallet', () => walletBalance(api))
  useLive('wallet. payment. payout.', wallet.reload, { everyMs: 5_000 })
  const recharges = useLoad('recharges', () => walletAutoRecharges(api))
  const reload = async (): Promise<void> => {
    await wallet.reload()
    await recharges.reload()
  }
  const filters = filtersOf(movements, query)
  const { value } = wallet
  return (
    <div class="page">
      <PageHead title="Wallet and ledger">
        <Deeds deeds={deedsOf(recharges.value?.data[0] ?? null)} onDone={reload} />
      </PageHead>
      {wallet.error && <Problem error={wallet.error} retry={wallet.reload} />}
      <FiguresRow
        figures={[
          [t('Available'), value && money(value.available, value.currency)],
          [t('Reserved'), value && money(value.held, value.currency)],
          [t('On its way'), value && money(value.pending, value.currency)],
          [t('Auto-recharge'), value && (value.auto_recharge ? words(value.auto_recharge.status) : t('Off'))],
        ]}
      />
      <Filters list={movements} filters={filters}>
        <ExportButton path={movements.path} query={filters.asked} name={movements.title} />
      </Filters>
      <ListRecords list={movements} />
    </div>
  )
}
