// SPDX-License-Identifier: Apache-2.0
// What is on the paper: the PDF of an invoice is read back, word by word, in currencies with none, two and three decimals.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { renderInvoice } from '../../src/areas/billing/invoices/render.ts'
import { findInvoice } from '../../src/areas/billing/invoices/store.ts'
import { uuidOf } from '../../src/kernel/ids.ts'
import { one } from '../../src/platform/db.ts'
import { startMarket } from '../market.ts'
import { wordsOf } from '../paper.ts'
import { type Account, eventually, tenantOf } from '../world.ts'

const { world } = await startMarket(0.05)

async function paperOf(account: Account, invoice: string): Promise<{ words: string; source: string }> {
  const row = await one(world.app.db.query(findInvoice, { ...tenantOf(account), id: uuidOf('invoice', invoice) ?? '' }))
  const source = (await renderInvoice(world.app, row, 'Ada')).toString('latin1')
  return { words: wordsOf(source), source }
}

/** Each line is rounded by itself, ties to even; the share of the whole discount by largest remainder. */
const figures = [
  ['KES', 1234.55, 'KES 3,086.38', 'KES 401.23', '-KES 442.38', 'KES 519.12', 'KES 4,397.67'],
  ['XOF', 1235, 'XOF 3,088', 'XOF 402', '-XOF 443', 'XOF 520', 'XOF 4,400'],
  ['TND', 1.235, 'TND 3.088', 'TND 0.402', '-TND 0.443', 'TND 0.520', 'TND 4.400'],
] as const

for (const [currency, unit_amount, amount, discount, discounts, tax, total] of figures)
  test(`the paper says what the invoice says, to the minor unit of ${currency}`, async () => {
    const account = await world.account()
    const { body, status, text } = await account.client.post('/v1/billing/invoices', {
      customer: { name: 'Asha Njeri', email: 'asha@example.com' },
      currency,
      items: [
        { description: 'Setup', quantity: 2.5, unit_amount, tax_rate: 16, discount: { percent: 10 } },
        { description: 'Hosting', unit_amount, tax_rate: 7.5 },
      ],
      discount: { percent: 3.3333 },
      due_date: '2040-02-29',
      notes: 'Thank you\nfor paying',
      send: true,
    })
    assert.equal(status, 201, text)
    const { words, source } = await paperOf(account, body.invoice_id)
    const parts = [
      'Ada',
      'Invoice',
      body.number,
      'Billed to',
      'Asha Njeri',
      'asha@example.com',
      '29 Feb 2040',
      'To be paid',
    ]
    const line = `Setup (discount ${discount}) (tax 16 %) | 2.5 |`
    const sums = [`Discount | ${discounts}`, `Tax | ${tax}`, `Total | ${total}`, `Due | ${total}`]
    for (const part of [...parts, line, amount, ...sums, `Pay at | ${body.hosted_url}`, 'Thank you | for paying'])
      assert.ok(words.includes(part), `${part} in ${words}`)
    assert.ok(source.includes(`/URI (${body.hosted_url})`), 'whoever clicks at it is led there')
  })

for (const [currency, unit_amount, amount] of [
  ['UGX', 1_475_000_000, 'UGX 1,475,000,000'],
  ['TZS', 147_500_000, 'TZS 147,500,000.00'],
  ['TZS', 999_999_999_999.99, 'TZS 999,999,999,999.99'],
] as const)
  test(`a number is never broken, however long it is: ${amount}`, async () => {
    const account = await world.account()
    const { body, status, text } = await account.client.post('/v1/billing/invoices', {
      customer: { name: 'أمينة عثمان (Amina)' },
      currency,
      items: [{ description: 'A ship', unit_amount }],
      send: true,
    })
    assert.equal(status, 201, text)
    const { words } = await paperOf(account, body.invoice_id)
    assert.match(words, /أمينة عثمان/, 'a name in Arabic is written in its letters')
    for (const part of [`A ship | 1 | ${amount} | ${amount}`, `Total | ${amount}`, `Due | ${amount}`])
      assert.ok(words.includes(part), `${part} in ${words}`)
  })

test('a description that does not fit on the page begins there, beside its figures', async () => {
  const account = await world.account()
  const lines = Array.from({ length: 90 }, (_, i) => `L${i + 1}`)
  const { body, status, text } = await account.client.post('/v1/billing/invoices', {
    customer: { name: 'Asha' },
    currency: 'KES',
    items: [{ description: lines.join('\n'), unit_amount: 1500 }],
    send: true,
  })
  assert.equal(status, 201, text)
  const { source } = await paperOf(account, body.invoice_id)
  const pages = [...source.matchAll(/stream\n[\s\S]*?\nendstream/g)].map(([stream]) => wordsOf(stream))
  const page = pages.find((words) => words.includes('Billed to')) ?? ''
  for (const part of ['KES 1,500.00', 'L1 | L2 | L3']) assert.ok(page.includes(part), `${part} in ${page}`)
  assert.ok(!page.includes('L90') && pages.some((words) => words.includes('L90 | Subtotal | KES 1,500.00')))
})

test('paper of what is paid, credited or withdrawn says so, and asks for nothing', async () => {
  const account = await world.account()
  const { client } = account
  const open = async (change: object = {}) => {
    const items = [{ description: 'Setup', unit_amount: 1500 }]
    return (
      await client.post('/v1/billing/invoices', {
        customer: { name: 'Asha', email: 'asha@example.com' },
        currency: 'KES',
        items,
        send: true,
        ...change,
      })
    ).body
  }
  const paid = await open()
  const pay = (phone: string) => client.post(`/v1/billing/invoices/${paid.invoice_id}/pay?wait=0`, { phone })
  await Promise.all(['+254700000001', '+254733000001'].map(pay))
  await eventually(
    async () => (await client.get(`/v1/billing/invoices/${paid.invoice_id}`)).body.payments.length === 2,
    'both payments',
  )
  const { words } = await paperOf(account, paid.invoice_id)
  assert.ok(words.includes('Status | Paid') && words.includes('Paid | KES 1,500.00 | Due | KES 0.00'), words)
  assert.ok(!words.includes('Pay at'))

  const credited = await open({ items: [{ description: 'Setup', unit_amount: 2000 }] })
  const { words: part } = await paperOf(account, credited.invoice_id)
  assert.ok(part.includes('Total | KES 2,000.00 | Credit | -KES 1,500.00 | Due | KES 500.00'), part)

  const withdrawn = await open()
  await client.post(`/v1/billing/invoices/${withdrawn.invoice_id}/void`, {})
  const { words: gone } = await paperOf(account, withdrawn.invoice_id)
  assert.ok(gone.includes('Status | Void') && gone.includes('Due | KES 0.00') && !gone.includes('Pay at'), gone)
})
