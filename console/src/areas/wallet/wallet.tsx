// SPDX-License-Identifier: Apache-2.0
// The wallet: what is there and how long it lasts, filling it, what it is spent on, and every movement.
import { useEffect, useState } from 'preact/hooks'
import {
  paymentsGet,
  usageGet,
  walletAutoRecharges,
  walletBalance,
  walletSetAutoRecharge,
  walletTopup,
  walletTransactions,
} from '#sdk/operations.ts'
import type { AutoRecharge, WalletBalance } from '#sdk/schemas.ts'
import { api, currentEnvironment, may } from '../../api.ts'
import { Areas } from '../../kit/chart.tsx'
import { type Deed, Deeds } from '../../kit/detail.tsx'
import { Field } from '../../kit/fields.tsx'
import { ExportButton, Filters, filtersOf } from '../../kit/filters.tsx'
import { FormFields, formOf } from '../../kit/form.tsx'
import { Card, Facts, PageHead, Pill, Problem, Waiting } from '../../kit/kit.tsx'
import { amount, created, type ListOf, ListRecords, textOf } from '../../kit/list-page.tsx'
import { useLoad } from '../../kit/load.ts'
import { RecordLink } from '../../kit/record-link.tsx'
import { count, date, isoDay, money, nowMs, words } from '../../kit/words.ts'
import { useLive } from '../../live.ts'
import { phoneNumber } from '../../phone/number.ts'
import { filterBy, usePlace } from '../../place.tsx'
import { t } from '../../words.ts'

/** Areas whose charges are fees. */
const areaNames: Readonly<Record<string, string>> = { payments: t('Fees of payments'), payouts: t('Fees of payouts') }

/** Amounts that are offered. */
const amounts = ['1000', '5000', '20000'] as const
const spentDays = 14
const dayMs = 86_400_000

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

/** Filling the wallet by itself whenever it runs low. */
function rechargeDeed(recharge: AutoRecharge | null): Deed {
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
  return { name: 'Auto-recharge', icon: 'again', scope, form: fills }
}

/** Filling the wallet once: asked for here, and confirmed on the phone that pays. */
function TopUp({ currency, onPaid }: { currency: string; onPaid(): unknown }) {
  const [payment, setPayment] = useState<string | null>(null)
  const form = formOf(walletTopup, {
    title: 'Top up',
    action: 'Top up',
    fixed: { currency },
    fields: [
      {
        name: 'amount',
        label: 'Amount',
        isRequired: true,
        show: ({ label, value, problem, onInput }) => (
          <>
            <Field label={label} type="number" value={value} problem={problem} onInput={onInput} required />
            <div class="segments">
              {amounts.map((one) => (
                <button key={one} type="button" aria-pressed={value === one} onClick={() => onInput(one)}>
                  {count(Number(one))}
                </button>
              ))}
            </div>
          </>
        ),
      },
      { name: 'phone', label: 'Phone number of the payer' },
      { name: 'card_token', label: 'Or a saved card', isMore: true },
    ],
    initial: { amount: amounts[0], phone: currentEnvironment() === 'test' ? phoneNumber() : undefined },
    done: ({ payment_id }) => setPayment(payment_id),
  })
  return (
    <Card title={t('Top up')}>
      {payment ? (
        <AskedFor id={payment} onPaid={onPaid} onClose={() => setPayment(null)} />
      ) : (
        <FormFields form={form} onMade={() => undefined} class="form" />
      )}
    </Card>
  )
}

/** A top-up that waits for whoever has the phone, until it is paid or not. */
function AskedFor({ id, onPaid, onClose }: { id: string; onPaid(): unknown; onClose(): void }) {
  const payment = useLoad(id, () => paymentsGet(api, { payment_id: id }))
  useLive('payment.', payment.reload, { about: id })
  const { value } = payment
  useEffect(() => {
    if (value?.status === 'completed') void onPaid()
  }, [value?.status])
  if (payment.error) return <Problem error={payment.error} retry={payment.reload} />
  if (!value) return <Waiting lines={3} />
  const isOver = !['pending', 'processing', 'requires_action'].includes(value.status)
  return (
    <div class="stack" role="status">
      <p>
        <span class="sum">{money(value.amount, value.currency)}</span> <Pill state={value.status} />
      </p>
      {!isOver && value.phone && (
        <div class="callout warn">
          <p>{t('Waiting for the PIN on {phone}.', { phone: value.phone })}</p>
        </div>
      )}
      {value.failure_message && (
        <div class="callout bad">
          <p>{value.failure_message}</p>
        </div>
      )}
      <p class="row">
        <RecordLink id={id} />
        <button type="button" class="btn small" onClick={onClose}>
          {t('Another top-up')}
        </button>
      </p>
    </div>
  )
}

function signed(value: unknown, currency: unknown, direction: unknown): string {
  return `${direction === 'debit' ? '−' : '+'} ${money(Number(value), textOf(currency))}`
}

/** What was spent on each of the last days, by area. */
function useSpent(currency: string | undefined) {
  const from = isoDay(nowMs() - (spentDays - 1) * dayMs)
  const usage = useLoad(`spent ${from}`, async () =>
    may('account:read') ? usageGet(api, { query: { start_date: from, group_by: ['day', 'area'] } }) : null,
  )
  const days = Array.from({ length: spentDays }, (_, i) => isoDay(nowMs() - (spentDays - 1 - i) * dayMs))
  const own = (usage.value?.spend ?? []).filter((one) => one.currency === currency)
  const areas = [...new Set(own.map(({ area }) => area ?? ''))]
  const series = areas.map((area) => {
    const values = days.map((one) =>
      own.reduce((sum, { day, area: its, cost }) => (day === one && its === area ? sum + cost : sum), 0),
    )
    return {
      name: areaNames[area] ?? words(`usage_${area}`),
      values,
      total: values.reduce((sum, value) => sum + value, 0),
    }
  })
  const first = days.findIndex((_, i) => series.some(({ values }) => (values[i] ?? 0) > 0))
  const total = series.reduce((sum, { total }) => sum + total, 0)
  // An account that began yesterday has not spent so little for a fortnight.
  return { days, series, total, eachDay: first < 0 ? 0 : total / (spentDays - first) }
}

function Spent({ spent: { days, series, total }, currency }: { spent: ReturnType<typeof useSpent>; currency: string }) {
  if (total <= 0) return null
  const sum = money(total, currency)
  return (
    <Card
      title={t('Cost')}
      action={<span class="soft">{t('{count} days, {amount}', { count: spentDays, amount: sum })}</span>}
    >
      <Areas
        label={t('{amount} in {count} days, by area', { amount: sum, count: spentDays })}
        labels={days.map(date)}
        series={series.map((one) => ({ ...one, total: money(one.total, currency) }))}
      />
    </Card>
  )
}

/** What can be spent, how long that lasts, and what is set aside. */
function ToSpend({
  wallet,
  eachDay,
  recharge,
  onDone,
}: {
  wallet: WalletBalance
  /** What a day costs, on average. */
  eachDay: number
  recharge: AutoRecharge | null
  onDone(): unknown
}) {
  const { available, held, pending, currency } = wallet
  const lasts = eachDay > 0 && available > 0 ? Math.floor(available / eachDay) : null
  return (
    <Card title={t('Available')} action={<Deeds deeds={[rechargeDeed(recharge)]} onDone={onDone} />}>
      <div>
        <p class="sum">{money(available, currency)}</p>
        {lasts !== null && (
          <p class="soft small">
            {t('Lasts about {count} days at {amount} a day', { count: count(lasts), amount: money(eachDay, currency) })}
          </p>
        )}
      </div>
      <Facts
        rows={[
          [t('Reserved'), money(held, currency)],
          [t('On its way'), money(pending, currency)],
          [
            t('Auto-recharge'),
            recharge?.enabled && recharge.threshold !== null && recharge.amount !== null
              ? t('{amount} when below {threshold}', {
                  amount: money(recharge.amount, currency),
                  threshold: money(recharge.threshold, currency),
                })
              : t('Off'),
          ],
        ]}
      />
    </Card>
  )
}

export function WalletPage() {
  const { query } = usePlace()
  const wanted = query.get('currency') ?? ''
  const own = wanted === '' ? {} : { query: { currency: wanted } }
  const wallet = useLoad(`wallet ${wanted}`, () => walletBalance(api, own), { keeps: true })
  useLive('wallet. payment. payout.', wallet.reload, { everyMs: 5_000 })
  const recharges = useLoad('recharges', () => walletAutoRecharges(api))
  const reload = async (): Promise<void> => {
    await wallet.reload()
    await recharges.reload()
  }
  const { value } = wallet
  const spent = useSpent(value?.currency)
  const currencies = value?.balances.map(({ currency }) => currency) ?? []
  const list: ListOf =
    currencies.length > 1
      ? {
          ...movements,
          filters: [...(movements.filters ?? []), { name: 'currency', label: 'Currency', among: currencies }],
        }
      : movements
  const filters = filtersOf(list, query)
  const recharge = recharges.value?.data.find(({ currency }) => currency === value?.currency) ?? null
  return (
    <div class="page">
      <PageHead title="Wallet and ledger">
        {currencies.length > 1 && (
          <div class="segments">
            {currencies.map((one) => (
              <button
                key={one}
                type="button"
                aria-pressed={one === value?.currency}
                onClick={() => filterBy({ ...filters.typed, currency: one })}
              >
                {one}
              </button>
            ))}
          </div>
        )}
      </PageHead>
      {wallet.error && <Problem error={wallet.error} retry={wallet.reload} />}
      {!value && !wallet.error && <Waiting lines={6} />}
      {value && (
        <div class={may(scope) ? 'cols half' : 'cols'}>
          <ToSpend wallet={value} eachDay={spent.eachDay} recharge={recharge} onDone={reload} />
          {may(scope) && <TopUp key={value.currency} currency={value.currency} onPaid={wallet.reload} />}
        </div>
      )}
      {value && <Spent spent={spent} currency={value.currency} />}
      <Filters list={list} filters={filters}>
        <ExportButton path={list.path} query={{ ...list.query, ...filters.asked }} name={list.title} />
      </Filters>
      <ListRecords list={list} />
    </div>
  )
}
