// SPDX-License-Identifier: Apache-2.0
// A business run by clicks alone, in a real browser: many texts from a file are previewed, priced, scheduled and stopped, and the
// statistics tell of others; an invoice goes from draft to paid; a plan is made and changed, and somebody is on it; the wallet is
// filled, once and by itself; a dispute is answered.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { accessibilityProblems, buildConsole, openBrowser, openEntry, withoutChromium } from '../chromium.ts'
import { patienceMs } from '../eventually.ts'
import { eventually, startWorld, type World } from '../world.ts'

const dayMs = 86_400_000
const payer = '+254711000093'

describe('a business in the console', { skip: withoutChromium() }, () => {
  let world: World
  let browser: Browser
  let page: Page

  const at = (place: string): string => `${world.credentials.console?.url}/${place}`
  const main = () => page.getByRole('main')
  const dialog = (name: string) => page.getByRole('dialog', { name })
  const heading = (name: string | RegExp) => page.getByRole('heading', { name, level: 1 }).waitFor()
  const press = (name: string) => main().getByRole('button', { name, exact: true }).click()
  const isFine = async (where: string): Promise<void> => assert.deepEqual(await accessibilityProblems(page), [], where)

  before(async () => {
    buildConsole()
    world = await startWorld()
    browser = await openBrowser()
    const context = await browser.newContext({ ignoreHTTPSErrors: true, viewport: { width: 1280, height: 800 } })
    page = await context.newPage()
    page.setDefaultTimeout(patienceMs(45_000))
    const { console: given } = world.credentials
    assert.ok(given)
    await page.goto(given.url)
    await page.getByLabel('Email address').fill(given.email)
    await page.getByLabel('Password').fill(given.password)
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.getByRole('navigation', { name: 'Pages' }).waitFor()
  })
  after(async () => {
    await browser?.close()
    await world?.stop()
  })

  test('many texts are read one by one, priced, scheduled and stopped', async () => {
    await openEntry(page, 'Send to many')
    await heading('Send to many')
    const csv = 'phone,name\n+254711000041,Amina\n+254711000042,Juma\n+254711000043,\n'
    await main()
      .getByLabel('A file of a spreadsheet, saved as CSV')
      .setInputFiles({ name: 'people.csv', mimeType: 'text/csv', buffer: Buffer.from(csv) })
    await main().getByText('3 rows', { exact: true }).waitFor()
    await main().getByLabel('Sender').fill('PAMOJA')
    await main().getByLabel('Text', { exact: true }).fill('Habari {name}, duka liko wazi.')
    await main().getByText('Habari Amina, duka liko wazi.').waitFor()
    await press('Next')
    await main().getByText('Habari Juma, duka liko wazi.').waitFor()
    await main().getByText('1 rows have no value for a variable').waitFor()
    const tomorrow = new Date(Date.now() + dayMs).toISOString().slice(0, 16)
    await main().getByLabel('Scheduled for').fill(tomorrow)
    await press('Get the price')
    await isFine('the price of many')
    await main()
      .getByRole('button', { name: /^Schedule 3 texts for KES/ })
      .click()
    await heading('3 texts')
    await main()
      .getByRole('cell', { name: /Habari Juma/ })
      .waitFor()
    await press('Stop')
    await dialog('Stop the unsent messages?').getByRole('button', { name: 'Stop 3 texts' }).click()
    await main().getByText('Cancelled', { exact: true }).first().waitFor()
    const { body } = await world.demo.get('/v1/sms?to=%2B254711000042')
    assert.deepEqual([body.data[0].status, body.data[0].error_code], ['failed', 'CANCELLED'])
  })

  test('statistics tell how many texts went and where to', async () => {
    const sent = await world.demo.post('/v1/sms/send', { to: '+254711000044', from: 'PAMOJA', message: 'Habari' })
    const isThere = async (): Promise<boolean> =>
      (await world.demo.get(`/v1/sms/${sent.body.message_id}`)).body.status === 'delivered'
    await eventually(isThere, 'the text arrives')
    await openEntry(page, 'SMS statistics')
    await heading('SMS statistics')
    await press('7 days')
    const countries = main().getByRole('region', { name: 'By country' })
    await countries.getByRole('cell', { name: 'Kenya' }).waitFor()
    await isFine('statistics')
  })

  test('an invoice goes from draft to paid', async () => {
    await openEntry(page, 'Invoices')
    await main().getByRole('link', { name: 'Create invoice' }).first().click()
    await heading('Create invoice')
    await main().getByLabel('Name', { exact: true }).fill('Kito Traders')
    await main().getByLabel('Phone', { exact: true }).fill(payer)
    await main().getByLabel('Description').fill('Solar lamp SL-20')
    await main().getByLabel('Quantity').fill('2')
    await main().getByLabel('Price').fill('1500')
    await main().getByLabel('Tax in percent').fill('16')
    await main()
      .getByText(/KES\s3,480\.00/)
      .waitFor()
    await press('Create draft')
    await heading('Draft')
    const invoice = page.url()
    const paper = main().getByRole('region', { name: 'Invoice' })
    await paper.getByText('Kito Traders').waitFor()
    await paper.getByText(/KES\s480\.00/).waitFor()
    await isFine('a draft')
    await press('Send')
    await page
      .getByRole('dialog')
      .getByRole('button', { name: /^Send for KES\s3,480\.00/ })
      .click()
    const link = main().getByRole('region', { name: 'Payment page' }).getByRole('link').first()
    await link.waitFor()
    assert.match((await link.getAttribute('href')) ?? '', /^https:/)
    await press('Request payment by phone')
    await dialog('Request payment by phone').getByRole('button', { name: 'Request payment' }).click()
    await heading(/KES\s3,480\.00/)
    await main().getByText('Completed', { exact: true }).first().waitFor()
    await page.goto(invoice)
    await main().getByText('Paid', { exact: true }).first().waitFor()
    await main()
      .getByRole('region', { name: 'Still due' })
      .getByText(/KES\s0\.00/)
      .waitFor()
    await isFine('a paid invoice')
  })

  test('a plan is made and changed, and somebody is on it, pauses, goes on and ends', async () => {
    await openEntry(page, 'Plans')
    await press('Create plan')
    const made = dialog('Create plan')
    await made.getByLabel('Name').fill('Duka')
    await made.getByLabel('Amount').fill('1200')
    await made.getByRole('button', { name: 'Create' }).click()
    await heading('Duka')
    await press('Change')
    const changed = dialog('Edit plan')
    await changed.getByLabel('Name').fill('Duka Plus')
    await isFine('the form of a plan')
    await changed.getByRole('button', { name: 'Save' }).click()
    await heading('Duka Plus')
    await openEntry(page, 'Subscriptions')
    await press('Subscribe a customer')
    const form = dialog('Subscribe a customer')
    await form.getByLabel('Plan').selectOption({ label: 'Duka Plus, KES 1,200.00' })
    await form.getByLabel('Name').fill('Zawadi Achieng')
    await form.getByLabel('Phone', { exact: true }).fill(payer)
    await form.getByRole('button', { name: 'Create' }).click()
    await heading('Zawadi Achieng')
    const id = page.url().split('/').at(-1)
    await press('Change')
    const edited = dialog('Edit subscription')
    await edited.getByLabel('Paid by').selectOption('mobile_money')
    await edited.getByLabel('Phone number of the payer').fill(payer)
    await edited.getByRole('button', { name: 'Save' }).click()
    await edited.waitFor({ state: 'detached' })
    await press('Change')
    await dialog('Edit subscription').getByLabel('Phone number of the payer').fill('+254711000094')
    await dialog('Edit subscription').getByRole('button', { name: 'Save' }).click()
    const paysWith = async (): Promise<unknown> =>
      (await world.demo.get(`/v1/billing/subscriptions/${id}`)).body.payment_method
    await eventually(async () => JSON.stringify(await paysWith()).includes('+254711000094'), 'the other phone')
    await press('Pause')
    await page.getByRole('dialog').getByRole('button', { name: 'Pause it' }).click()
    await press('Resume')
    await main().getByRole('button', { name: 'Pause', exact: true }).waitFor()
    await press('Cancel')
    await page.getByRole('dialog').getByLabel('Reason').fill('Moves away')
    await page
      .getByRole('dialog')
      .getByRole('button', { name: /^End it on/ })
      .click()
    await main().getByText('Moves away').waitFor()
    await isFine('a subscription')
  })

  test('the wallet is filled in place, and by itself when it runs low', async () => {
    await openEntry(page, 'Wallet and ledger')
    const filling = main().getByRole('region', { name: 'Top up' })
    await filling.getByRole('button', { name: '5,000' }).click()
    await filling.getByLabel('Phone number of the payer').fill('+254711000001')
    await isFine('the wallet')
    await filling.getByRole('button', { name: 'Top up', exact: true }).click()
    await filling.getByText('Completed', { exact: true }).waitFor()
    await filling.getByRole('button', { name: 'Another top-up' }).waitFor()
    await isFine('a top-up')
    await press('Auto-recharge')
    const form = dialog('Auto-recharge')
    await form.getByLabel('When the balance is below').fill('200')
    await form.getByLabel('Amount').fill('1000')
    await form.getByLabel('Phone number of the payer').fill('+254711000001')
    await form.getByRole('button', { name: 'Save' }).click()
    await main()
      .getByText(/KES\s1,000\.00 when below KES\s200\.00/)
      .waitFor()
  })

  test('a dispute is answered with evidence, once', async () => {
    const card = { number: '4000000000000259', exp_month: 12, exp_year: 2040, cvv: '123' }
    const paid = await world.demo.post('/v1/payments', { amount: 900, currency: 'KES', card })
    assert.equal(paid.status, 201, paid.text)
    const found = await eventually(
      async () => (await world.demo.get(`/v1/payments/disputes?payment_id=${paid.body.payment_id}`)).body.data[0],
      'the dispute',
    )
    await page.goto(at(`disputes/${found.dispute_id}`))
    await heading(/KES\s900\.00/)
    const statement = main().getByLabel('Statement')
    await statement.waitFor()
    assert.match(await statement.inputValue(), new RegExp(paid.body.payment_id), 'it begins with what is known')
    await statement.fill('Signed for at the door')
    await main().getByLabel('Tracking number').fill('KE-41023')
    await isFine('a dispute')
    await press('Send the evidence')
    await main().getByText('The acquirer has your evidence. The payer’s bank decides.').waitFor()
    assert.equal(await main().getByLabel('Statement').count(), 0)
    await press('Close as won')
    await main().getByText('Won', { exact: true }).first().waitFor()
  })
})
