// SPDX-License-Identifier: Apache-2.0
// A new invoice: whom, for what, until when; the total is counted while it is written.
import { useState } from 'preact/hooks'
import { billingCreateInvoice } from '#sdk/operations.ts'
import { api } from '../../api.ts'
import type { PageProps } from '../../area.tsx'
import { useDoing } from '../../kit/doing.ts'
import { Field, problemOf, TextField } from '../../kit/fields.tsx'
import { Card, PageHead, Problem } from '../../kit/kit.tsx'
import { money } from '../../kit/words.ts'
import { go } from '../../place.tsx'
import { t } from '../../words.ts'

interface Line {
  readonly description: string
  readonly quantity: string
  readonly unit_amount: string
  readonly tax_rate: string
}

const emptyLine: Line = { description: '', quantity: '1', unit_amount: '', tax_rate: '0' }

const sumOf = (lines: readonly Line[]): number =>
  lines.reduce(
    (sum, { quantity, unit_amount, tax_rate }) =>
      sum + (Number(quantity) || 0) * (Number(unit_amount) || 0) * (1 + (Number(tax_rate) || 0) / 100),
    0,
  )

export function NewInvoice({ session }: PageProps) {
  const [lines, setLines] = useState<readonly Line[]>([emptyLine])
  const [typed, setTyped] = useState({ name: '', email: '', phone: '', due: '', notes: '' })
  const [currency, setCurrency] = useState(session.account.currency)
  const { run, error, isBusy } = useDoing()
  const set = (field: keyof typeof typed) => (value: string) => setTyped((before) => ({ ...before, [field]: value }))
  const { name, email, phone, due, notes } = typed
  const change = (at: number, part: Partial<Line>): void =>
    setLines(lines.map((line, i) => (i === at ? { ...line, ...part } : line)))
  const make = (event: Event): void => {
    event.preventDefault()
    run(async () => {
      const { invoice_id } = await billingCreateInvoice(api, {
        body: {
          customer: { name, email: email || undefined, phone: phone || undefined },
          currency,
          items: [...lines],
          due_date: due || undefined,
          notes: notes || undefined,
        },
      })
      go(`/invoices/${invoice_id}`)
    })
  }
  return (
    <div class="page">
      <PageHead title="Create invoice" />
      {error && <Problem error={error} />}
      <form onSubmit={make} class="form wide">
        <Card title="Customer">
          <div class="form in-line even">
            <Field
              label="Name"
              value={name}
              onInput={set('name')}
              required
              problem={problemOf(error, 'customer.name')}
            />
            <Field label="Email" type="email" value={email} onInput={set('email')} />
            <Field label="Phone" type="phone" value={phone} onInput={set('phone')} />
          </div>
        </Card>
        <Card title="Lines">
          {lines.map((line, i) => (
            <div class="form in-line even" key={i}>
              <Field
                label="Description"
                value={line.description}
                onInput={(description) => change(i, { description })}
                required
              />
              <Field
                label="Quantity"
                type="number"
                value={line.quantity}
                onInput={(quantity) => change(i, { quantity })}
              />
              <Field
                label="Price"
                type="number"
                value={line.unit_amount}
                onInput={(unit_amount) => change(i, { unit_amount })}
                required
              />
              <Field
                label="Tax in percent"
                type="number"
                value={line.tax_rate}
                onInput={(tax_rate) => change(i, { tax_rate })}
              />
            </div>
          ))}
          <button type="button" class="btn small" onClick={() => setLines([...lines, emptyLine])}>
            {t('Add line')}
          </button>
        </Card>
        <Card title="Details">
          <div class="form in-line even">
            <Field label="Currency" value={currency} onInput={setCurrency} required />
            <Field label="Due on" type="date" value={due} onInput={set('due')} />
          </div>
          <TextField label="Notes" value={notes} onInput={set('notes')} rows={2} />
        </Card>
        <p class="strong">
          {t('Total')}: {/^[A-Za-z]{3}$/.test(currency) ? money(sumOf(lines), currency) : '–'}
        </p>
        <button type="submit" class="btn primary" disabled={isBusy}>
          {t('Create draft')}
        </button>
      </form>
    </div>
  )
}
