// SPDX-License-Identifier: Apache-2.0
// One payment: how far it is, its timeline, what it comes to, and giving it back.
import { useState } from 'preact/hooks'
import {
  paymentsCancel,
  paymentsCapture,
  paymentsGet,
  paymentsTimeline,
  refundsCreate,
  sandboxCreditBank,
} from '#sdk/operations.ts'
import type { Payment } from '#sdk/schemas.ts'
import { api, currentEnvironment, may } from '../../api.ts'
import type { PageProps } from '../../area.tsx'
import { type Deed, Detail, Opened } from '../../kit/detail.tsx'
import { confirm, say } from '../../kit/dialogs.tsx'
import { useDoing } from '../../kit/doing.ts'
import { Field, problemOf } from '../../kit/fields.tsx'
import { formOf } from '../../kit/form.tsx'
import { Ago, Card, Facts, Problem } from '../../kit/kit.tsx'
import { useLoad } from '../../kit/load.ts'
import { RecordLink } from '../../kit/record-link.tsx'
import { money } from '../../kit/words.ts'
import { useLive } from '../../live.ts'
import { Timeline } from '../../timeline/timeline.tsx'
import { t } from '../../words.ts'
import { byWhat } from './lists.tsx'

export function PaymentPage({ id }: PageProps) {
  const own = { payment_id: id }
  const payment = useLoad(id, () => paymentsGet(api, own))
  useLive('payment. refund', payment.reload, { about: id })
  return (
    <Opened record={payment}>
      {(value) => (
        <Detail
          in={['/payments', 'Payments']}
          id={id}
          title={money(value.amount, value.currency)}
          note={[value.phone, byWhat(value.method, value.provider), value.reference].filter(Boolean).join(' · ')}
          state={value.status}
          deeds={deedsOf(value)}
          onDone={payment.reload}
          path={paymentsGet.at(own)}
          raw={value}
        >
          {value.failure_message && (
            <div class="callout bad">
              <p>{value.failure_message}</p>
            </div>
          )}
          <Timeline path={paymentsTimeline.at(own)} kind="payment" live="payment. refund" about={id} />
          <PaymentFacts value={value} />
          {may('payments:write') && value.status === 'completed' && value.amount_refunded < value.amount && (
            <GiveBack payment={value} onDone={payment.reload} />
          )}
        </Detail>
      )}
    </Opened>
  )
}

/** A card's payment that is only reserved is taken or let go; one that nobody has paid yet can be called off. */
function deedsOf({ payment_id, status, amount, currency, authorised_until, bank_transfer }: Payment): Deed[] {
  const sum = money(amount, currency)
  const capture: Deed = {
    name: 'Capture payment',
    icon: 'check',
    isMain: true,
    scope: 'payments:write',
    form: formOf(paymentsCapture, {
      title: 'Capture payment',
      given: { payment_id },
      fields: [{ name: 'amount', label: 'Amount', hint: 'Empty: the full amount' }],
    }),
  }
  const cancel: Deed = {
    name: 'Cancel',
    isDanger: true,
    scope: 'payments:write',
    asks: {
      title: t('Cancel the payment of {amount}?', { amount: sum }),
      consequences: [t('It can no longer be paid.')],
      action: t('Cancel {amount}', { amount: sum }),
      keep: t('Leave it'),
    },
    run: () => paymentsCancel(api, { payment_id }),
  }
  const transfer: Deed[] =
    currentEnvironment() === 'test' && bank_transfer
      ? [
          {
            ...{ name: 'Simulate the bank transfer', icon: 'into', scope: 'sandbox:write' },
            form: formOf(sandboxCreditBank, {
              title: 'Simulate the bank transfer',
              action: 'Transfer',
              fixed: { account_number: bank_transfer.account_number },
              fields: [{ name: 'amount', label: 'Amount', isRequired: true }],
              initial: { amount: String(bank_transfer.amount) },
            }),
          },
        ]
      : []
  const isOver = status !== 'pending' && status !== 'processing' && status !== 'requires_action'
  if (authorised_until !== undefined && !isOver) return [cancel, capture]
  return status === 'pending' || status === 'requires_action' ? [cancel, ...transfer] : []
}

function PaymentFacts({ value }: { value: Payment }) {
  const { currency } = value
  return (
    <Card title={t('Details')}>
      <Facts
        rows={[
          [t('Provider'), byWhat(value.method, value.provider)],
          [t('Phone'), value.phone && <span class="mono">{value.phone}</span>],
          [t('Fee'), money(value.fee, currency)],
          [t('You receive'), money(value.net_amount, currency)],
          [t('Refunded'), money(value.amount_refunded, currency)],
          [t('Reference'), value.reference],
          [t('Description'), value.description],
          [t('Reference of the provider'), value.provider_reference],
          [t('Created'), <Ago at={value.created_at} />],
          [t('Completed'), <Ago at={value.completed_at} />],
          [t('Expires'), <Ago at={value.expires_at} />],
        ]}
      />
      {value.refunds.length > 0 && (
        <ul class="story">
          {value.refunds.map((refund) => (
            <li key={refund.refund_id}>
              {t('Refund')} <RecordLink id={refund.refund_id} />
              <span class="push">{money(refund.amount, refund.currency)}</span>
            </li>
          ))}
        </ul>
      )}
    </Card>
  )
}

/** Names the amount before it is done: money that went back does not return. */
function GiveBack({ payment, onDone }: { payment: Payment; onDone(): unknown }) {
  const left = (payment.amount - payment.amount_refunded).toFixed(6)
  const [amount, setAmount] = useState(String(Number(left)))
  const { error, isBusy, run } = useDoing()
  const sum = money(Number(amount), payment.currency)
  const ask = async (event: Event): Promise<void> => {
    event.preventDefault()
    const isSure = await confirm({
      title: t('Refund {amount}?', { amount: sum }),
      consequences: [
        t('{amount} goes back to {whom}.', { amount: sum, whom: payment.phone ?? t('the payer') }),
        t('The fee is not refunded.'),
        t('It cannot be undone.'),
      ],
      action: t('Refund {amount}', { amount: sum }),
      keep: t('Not now'),
    })
    if (!isSure) return
    run(async () => {
      await refundsCreate(api, { transaction_id: payment.payment_id, body: { amount } })
      say(t('Refund of {amount} started', { amount: sum }))
      await onDone()
    })
  }
  const problem = problemOf(error, 'amount')
  return (
    <Card title={t('Refund')}>
      {error && !problem && <Problem error={error} />}
      <form class="form in-line" onSubmit={(event) => void ask(event)}>
        <Field
          label={t('Amount')}
          type="number"
          value={amount}
          onInput={setAmount}
          required
          hint={t('At most {amount}', { amount: money(Number(left), payment.currency) })}
          problem={problem}
        />
        <button type="submit" class="btn" disabled={isBusy}>
          {t('Refund')}
        </button>
      </form>
    </Card>
  )
}
