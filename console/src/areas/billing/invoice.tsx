// SPDX-License-Identifier: Apache-2.0
// One invoice as it looks on paper; beside it what is due, where it is paid, and what happened to it; sending and voiding it.
import type { ComponentChildren } from 'preact'
import { billingGetInvoice, billingPayInvoice, billingSendInvoice, billingVoidInvoice } from '#sdk/operations.ts'
import type { Invoice } from '#sdk/schemas.ts'
import { api, may } from '../../api.ts'
import type { PageProps } from '../../area.tsx'
import { CopyText, type Deed, Detail, Opened } from '../../kit/detail.tsx'
import { formOf } from '../../kit/form.tsx'
import { Icon } from '../../kit/icons.tsx'
import { Ago, Card, Facts, Figures, TwoLines } from '../../kit/kit.tsx'
import { useLoad } from '../../kit/load.ts'
import { RecordLink } from '../../kit/record-link.tsx'
import { Story } from '../../kit/story.tsx'
import { count, date, money, percent, withDates } from '../../kit/words.ts'
import { useLive } from '../../live.ts'
import { go } from '../../place.tsx'
import { t } from '../../words.ts'

export function InvoicePage({ id, session }: PageProps) {
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
          state={value.overdue ? 'overdue' : value.status}
          deeds={deedsOf(value)}
          onDone={invoice.reload}
          path={billingGetInvoice.at(own)}
          raw={value}
        >
          <div class="cols side">
            <Paper invoice={value} from={session.account.name} />
            <div class="stack">
              <Due invoice={value} />
              {value.hosted_url && <PayLink url={value.hosted_url} pdf={value.pdf_url} />}
              <Story id={id} />
            </div>
          </div>
        </Detail>
      )}
    </Opened>
  )
}

/** The invoice as its customer reads it. */
function Paper({ invoice, from }: { invoice: Invoice; from: string }) {
  const { number, created_at, due_date, customer, currency, items, notes } = invoice
  const sum = (amount: number): string => money(amount, currency)
  const sums: readonly (readonly [name: string, amount: number])[] = [
    [t('Subtotal'), invoice.subtotal],
    [t('Discount'), -invoice.discount_total],
    [invoice.tax_inclusive ? t('Tax included') : t('Tax'), invoice.tax_total],
  ]
  return (
    <section class="card paper" aria-label={t('Invoice')}>
      <header>
        <div>
          <p class="strong" dir="auto">
            {from}
          </p>
        </div>
        <div class="end">
          <p class="big">{t('Invoice')}</p>
          <dl>
            <dt>{t('Number')}</dt>
            <dd>{number ?? t('Draft')}</dd>
            <dt>{t('Date')}</dt>
            <dd>{date(created_at)}</dd>
            <dt>{t('Due on')}</dt>
            <dd>{date(due_date)}</dd>
          </dl>
        </div>
      </header>
      <div>
        <p class="soft small">{t('To')}</p>
        <p class="strong" dir="auto">
          {customer.name ?? customer.email ?? customer.phone}
        </p>
        <p class="soft" dir="auto">
          {[customer.name && customer.email, customer.name && customer.phone].filter(Boolean).join(' · ')}
        </p>
      </div>
      <Figures
        names={['Description', 'Quantity', 'Price', 'Amount']}
        rows={items.map(({ description, quantity, unit_amount, tax_rate, amount }, i) => ({
          key: `${i}`,
          name: (
            <TwoLines
              first={withDates(description)}
              second={tax_rate === 0 ? null : t('Tax {share}', { share: percent(tax_rate / 100) })}
            />
          ),
          figures: [count(quantity), sum(unit_amount), sum(amount)],
        }))}
      />
      <dl class="sums">
        {sums
          .filter(([, amount]) => amount !== 0)
          .map(([name, amount]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{sum(amount)}</dd>
            </div>
          ))}
        <div class="strong">
          <dt>{t('Total')}</dt>
          <dd>{sum(invoice.total)}</dd>
        </div>
      </dl>
      {notes && (
        <p class="soft text" dir="auto">
          {notes}
        </p>
      )}
    </section>
  )
}

/** What is still owed, and when it was sent and paid. */
function Due({ invoice }: { invoice: Invoice }) {
  const { status, currency, amount_due, amount_paid, amount_refunded, sent_at, paid_at, voided_at } = invoice
  const rows: [string, ComponentChildren][] = [
    [t('Sent'), sent_at && <Ago at={sent_at} />],
    [t('Paid'), amount_paid > 0 && money(amount_paid, currency)],
    [t('Refunded'), amount_refunded > 0 && money(amount_refunded, currency)],
    [t('Completed'), paid_at && <Ago at={paid_at} />],
    [t('Voided'), voided_at && <Ago at={voided_at} />],
    [t('Reason'), invoice.void_reason],
    [t('Subscription'), invoice.subscription_id && <RecordLink id={invoice.subscription_id} />],
    ...invoice.payments.map((id): [string, ComponentChildren] => [t('Payment'), <RecordLink key={id} id={id} />]),
  ]
  return (
    <Card title={status === 'draft' ? t('Not sent yet') : t('Still due')}>
      <p class="sum">{money(status === 'draft' ? invoice.total : amount_due, currency)}</p>
      <Facts rows={rows.filter(([, value]) => value)} />
    </Card>
  )
}

/** Where the customer pays, and the invoice as a file. */
function PayLink({ url, pdf }: { url: string; pdf: string | null }) {
  return (
    <Card title={t('Payment page')}>
      <p>
        <a href={url} target="_blank" rel="noreferrer" class="mono line" dir="ltr">
          {url.replace(/^https:\/\//, '')}
        </a>
      </p>
      <p class="row">
        <CopyText text={url} look="small" />
        {pdf && (
          <a class="btn small" href={pdf} target="_blank" rel="noreferrer">
            <Icon name="download" />
            PDF
          </a>
        )}
      </p>
    </Card>
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
