// SPDX-License-Identifier: Apache-2.0
// One payment: how far it is, its timeline, what it comes to, and giving it back.
import { useState } from 'preact/hooks'
import { paymentsGet, paymentsTimeline, refundsCreate } from '#sdk/operations.ts'
import type { Payment } from '#sdk/schemas.ts'
import { api, may } from '../../api.ts'
import { Card, Facts, Field, PageHead, Pill, Problem, Waiting } from '../../kit/kit.tsx'
import { useLoad } from '../../kit/load.ts'
import { moment, money, words } from '../../kit/words.ts'
import { useLive } from '../../live.ts'
import { Link } from '../../place.tsx'
import { CopyCurl, Timeline } from '../../timeline/timeline.tsx'
import { t } from '../../words.ts'

export function PaymentPage({ id }: { id: string }) {
  const own = { payment_id: id }
  const { value, error, reload } = useLoad(id, () => paymentsGet(api, own))
  useLive('pay', reload)
  if (error && !value) return <Problem error={error} retry={reload} />
  if (!value) return <Waiting />
  const { currency } = value
  return (
    <div class="page">
      <p class="crumbs">
        <Link to="/payments">{t('Payments')}</Link> / <span class="mono">{value.payment_id}</span>
      </p>
      <PageHead title={money(value.amount, currency)}>
        <Pill state={value.status} />
        <CopyCurl path={paymentsGet.at(own)} />
      </PageHead>
      {value.failure_message && (
        <div class="callout bad">
          <p>{value.failure_message}</p>
        </div>
      )}
      <Timeline path={paymentsTimeline.at(own)} live="pay" />
      <Card title={t('Details')}>
        <Facts
          rows={[
            [t('By'), [words(value.method), value.provider].filter(Boolean).join(', ')],
            [t('Phone'), value.phone && <span class="mono">{value.phone}</span>],
            [t('Fee'), money(value.fee, currency)],
            [t('You receive'), money(value.net_amount, currency)],
            [t('Refunded'), money(value.amount_refunded, currency)],
            [t('Reference'), value.reference],
            [t('Description'), value.description],
            [t('Reference of the provider'), value.provider_reference],
            [t('Begun'), moment(value.created_at)],
            [t('Completed'), moment(value.completed_at)],
            [t('Runs out'), moment(value.expires_at)],
          ]}
        />
      </Card>
      {may('payments:write') && value.status === 'completed' && value.amount_refunded < value.amount && (
        <GiveBack payment={value} onDone={reload} />
      )}
    </div>
  )
}

/** Names the amount before it is done: money that went back does not return. */
function GiveBack({ payment, onDone }: { payment: Payment; onDone(): void }) {
  const left = (payment.amount - payment.amount_refunded).toFixed(6)
  const [amount, setAmount] = useState(String(Number(left)))
  const [isSure, setIsSure] = useState(false)
  const [error, setError] = useState<Error | null>(null)
  const ask = (event: Event): void => {
    event.preventDefault()
    setIsSure(true)
  }
  const give = (): void => {
    setError(null)
    // At once, so that a second click does not give it back twice.
    setIsSure(false)
    refundsCreate(api, { transaction_id: payment.payment_id, body: { amount } }).then(onDone, setError)
  }
  return (
    <Card title={t('Refund')}>
      {error && <Problem error={error} />}
      <form class="form in-line" onSubmit={ask}>
        <Field label={t('Amount')} value={amount} onInput={setAmount} required hint={payment.currency} />
        {isSure ? (
          <button type="button" class="btn danger" onClick={give}>
            {t('Refund {amount}', { amount: money(Number(amount), payment.currency) })}
          </button>
        ) : (
          <button type="submit" class="btn">
            {t('Refund')}
          </button>
        )}
      </form>
    </Card>
  )
}
