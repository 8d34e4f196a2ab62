// SPDX-License-Identifier: Apache-2.0
// Asks a phone for money: the form, and on to the payment, whose prompt comes up on the phone.
import { useState } from 'preact/hooks'
import { paymentsInitiateMobile } from '#sdk/operations.ts'
import { api, currentEnvironment } from '../../api.ts'
import type { PageProps } from '../../area.tsx'
import { Field } from '../../kit/fields.tsx'
import { Card, PageHead, Problem } from '../../kit/kit.tsx'
import { phoneNumber } from '../../phone/number.ts'
import { go } from '../../place.tsx'
import { t } from '../../words.ts'

export function AskForPayment({ session }: PageProps) {
  const [phone, setPhone] = useState(() => (currentEnvironment() === 'test' ? phoneNumber() : ''))
  const [amount, setAmount] = useState('150')
  const [currency, setCurrency] = useState(session.account.currency)
  const [reference, setReference] = useState('')
  const [error, setError] = useState<Error | null>(null)
  const [isBusy, setIsBusy] = useState(false)
  const ask = (event: Event): void => {
    event.preventDefault()
    setIsBusy(true)
    setError(null)
    const wanted = { phone, amount: Number(amount), currency, ...(reference === '' ? {} : { reference }) }
    paymentsInitiateMobile(api, { body: wanted })
      .then(({ payment_id }) => go(`/payments/${payment_id}`), setError)
      .finally(() => setIsBusy(false))
  }
  return (
    <div class="page narrow">
      <PageHead title={t('Request a payment')} />
      {error && <Problem error={error} />}
      <Card title={t('Mobile money')}>
        <form class="form" onSubmit={ask}>
          <Field label={t('Phone number of the payer')} value={phone} onInput={setPhone} required />
          <Field label={t('Amount')} value={amount} onInput={setAmount} required />
          <Field label={t('Currency')} value={currency} onInput={setCurrency} required />
          <Field
            label={t('Reference')}
            value={reference}
            onInput={setReference}
            hint={t('Your own id of the payment')}
          />
          <button type="submit" class="btn primary" disabled={isBusy}>
            {t('Request payment')}
          </button>
        </form>
      </Card>
    </div>
  )
}
