// SPDX-License-Identifier: Apache-2.0
// One invoice: its lines, what is due, sending and voiding it.
import { billingGetInvoice, billingPayInvoice, billingSendInvoice, billingVoidInvoice } from '#sdk/operations.ts'
import type { Invoice } from '#sdk/schemas.ts'
import { api, may } from '../../api.ts'
import type { PageProps } from '../../area.tsx'
import { type Deed, Detail, Opened } from '../../kit/detail.tsx'
import { formOf } from '../../kit/form.tsx'
import { Ago, Card, Facts, Figures } from '../../kit/kit.tsx'
import { useLoad } from '../../kit/load.ts'
import { Story } from '../../kit/story.tsx'
import { count, date, money, percent } from '../../kit/words.ts'
import { useLive } from '../../live.ts'
import { go } from '../../place.tsx'
import { t } from '../../words.ts'

export function InvoicePage({ id }: PageProps) {
  const own = { invoice_id: id }
  const invoice = useLoad(id, () => billingGetInvoice(api, own))
  useLive('invoice.', invoice.reload, { about: id })
  return (
    <Opened record={invoice}>
      {(value) => (
        <Detail
          in={['/invoices', 'Invoices']}
          id={id}
          title={value.number ?? t('Draft')}
          note={[value.customer.name ?? value.customer.email, money(value.total, value.currency)]
            .filter(Boolean)
            .join(' · ')}
          state={value.status}
          deeds={deedsOf(value)}
          onDone={invoice.reload}
          path={billingGetInvoice.at(own)}
          raw={value}
        >
          <Card title={t('Lines')}>
            <Figures
              names={['Description', 'Quantity', 'Price', 'Tax', 'Amount']}
              rows={value.items.map((item, i) => ({
                key: `${i}`,
                name: <span dir="auto">{item.description}</span>,
                figures: [
                  count(item.quantity),
                  money(item.unit_amount, value.currency),
                  percent(item.tax_rate / 100),
                  money(item.amount, value.currency),
                ],
              }))}
            />
          </Card>
          <Card title={t('Details')}>
            <Facts
              rows={[
                [t('Customer'), value.customer.name],
                [t('Email'), value.customer.email],
                [t('Phone'), value.customer.phone],
                [t('Total'), money(value.total, value.currency)],
                [t('Due'), money(value.amount_due, value.currency)],
                [t('Due on'), value.due_date && date(value.due_date)],
                [t('Created'), <Ago at={value.created_at} />],
              ]}
            />
          </Card>
          <Story id={id} />
        </Detail>
      )}
    </Opened>
  )
}

function deedsOf({ invoice_id, status, number, total, currency, customer }: Invoice): Deed[] {
  if (!may('billing:write')) return []
  const sum = money(total, currency)
  const whom = customer.name ?? customer.email ?? customer.phone ?? t('the customer')
  const send: Deed = {
    name: status === 'draft' ? 'Send' : 'Send again',
    icon: 'send',
    isMain: status === 'draft',
    asks: {
      title: t('Send it for {amount}?', { amount: sum }),
      consequences: [
        t('{whom} receives it with a payment link.', { whom }),
        t('After that it cannot be changed, only voided.'),
      ],
      action: t('Send for {amount}', { amount: sum }),
      isDanger: false,
    },
    run: () => billingSendInvoice(api, { invoice_id }),
  }
  const voided: Deed = {
    name: 'Void',
    isDanger: true,
    asks: {
      title: t('Void {name}?', { name: number ?? t('the draft') }),
      consequences: [t('It can no longer be paid.'), t('Its number is not reused, as required by law.')],
      reason: t('Reason'),
      action: t('Void it'),
      keep: t('Keep it'),
    },
    run: ({ reason }) => billingVoidInvoice(api, { invoice_id, body: { reason } }),
  }
  const pay: Deed = {
    name: 'Request payment by phone',
    icon: 'mobile',
    form: formOf(billingPayInvoice, {
      title: 'Request payment by phone',
      action: 'Request payment',
      given: { invoice_id },
      fields: [
        { name: 'phone', label: 'Phone number of the payer', isRequired: true },
        { name: 'amount', label: 'Amount', hint: 'Empty: the full amount' },
      ],
      initial: { phone: customer.phone ?? undefined },
      done: ({ payment_id }) => go(`/payments/${payment_id}`),
    }),
  }
  if (status === 'draft') return [voided, send]
  return status === 'open' ? [voided, send, pay] : []
}
