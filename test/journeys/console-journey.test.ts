// SPDX-License-Identifier: Apache-2.0
// From the banner alone, in a real browser: somebody signs in, sends a text and follows it to its octets, answers it on the
// phone, approves a payment with a PIN, sees both webhooks arrive, and finds the same text as the operator.
import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { simulatedAccounts } from '../../src/areas/payments/gateway/simulated.ts'
import { newUuid } from '../../src/kernel/ids.ts'
import { totpOf } from '../../src/kernel/totp.ts'
import { accessibilityProblems, buildConsole, openBrowser, openEntry, withoutChromium } from '../chromium.ts'
import { patienceMs } from '../eventually.ts'
import { lookInto } from '../looking.ts'
import { story } from '../story.ts'
import { eventually, startWorld, type World } from '../world.ts'

const quietMs = 15_000
const phone = '+254711000042'
const text = 'Habari Ada, oda yako imetumwa.'

describe('the journey', { skip: withoutChromium() }, () => {
  const test = story()
  let world: World
  let browser: Browser
  let page: Page
  const complaints: string[] = []

  before(async () => {
    buildConsole()
    world = await startWorld()
    browser = await openBrowser()
    const context = await browser.newContext({ ignoreHTTPSErrors: true, viewport: { width: 1440, height: 900 } })
    page = await context.newPage()
    page.setDefaultTimeout(patienceMs(quietMs))
    page.on('console', (message) => {
      if (message.type() === 'error' && !/ 40[13] /.test(message.text())) complaints.push(message.text())
    })
    page.on('pageerror', (error) => complaints.push(error.message))
  })
  after(async () => {
    await browser?.close()
    await world?.stop()
  })

  const given = (): { url: string; email: string; password: string } => {
    assert.ok(world.credentials.console)
    return world.credentials.console
  }
  const open = (name: string) => openEntry(page, name)
  const heading = (name: string | RegExp) => page.getByRole('heading', { name, level: 1 }).waitFor()
  const dock = () => page.getByRole('complementary', { name: 'Phone' })
  const app = (name: string) => dock().getByRole('button', { name, exact: true }).click()
  /** PAMOJA_TEST_SHOTS=docs takes the pictures of docs/console.md anew. */
  const shot = async (name: string): Promise<void> => {
    const { PAMOJA_TEST_SHOTS: folder } = process.env
    if (folder) await page.screenshot({ path: `${folder}/console-${name}.jpg`, type: 'jpeg', quality: 60 })
  }
  const isFine = async (where: string): Promise<void> => assert.deepEqual(await accessibilityProblems(page), [], where)

  test('signs in and has events caught', async () => {
    const { url, email, password } = given()
    await page.goto(url)
    await page.getByLabel('Email address').fill(email)
    await page.getByLabel('Password').fill(password)
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await heading(/^(Karibu|Overview)/)
    await open('Webhooks')
    await page.getByRole('button', { name: 'Catch them here' }).click()
    await page.getByRole('region', { name: 'Webhooks' }).getByRole('link').first().waitFor()
    await isFine('webhooks')
  })

  let messageId = ''

  test('sends a text, sees it on the phone, answers, and follows it to its octets', async () => {
    await dock().getByLabel('Number of the phone').fill(phone)
    await open('Send a text')
    await page.getByLabel('To', { exact: true }).fill(phone)
    await page.getByLabel('Text', { exact: true }).fill(text)
    await page.getByRole('button', { name: 'Send the text' }).click()
    await heading(`To ${phone}`)
    messageId = page.url().split('/').at(-1) ?? ''
    await dock().getByRole('log').getByText(text).waitFor()
    await dock().getByLabel('Reply from the phone').fill('Asante sana')
    await dock().getByRole('button', { name: 'Reply' }).click()
    await dock().getByRole('log').getByText('Asante sana').waitFor()
    const main = page.getByRole('main')
    await main.getByText('Delivered', { exact: true }).first().waitFor()
    await main.getByText('deliver_sm', { exact: true }).first().waitFor()
    await main.getByText('POST /v1/sms/send').first().waitFor()
    await main.getByText('submit_sm', { exact: true }).first().click()
    await main.getByRole('button', { name: 'short_message' }).first().focus()
    const lit = await main.locator('.hex .lit').allTextContents()
    assert.equal(Buffer.from(lit.join('').replace(/\s/g, ''), 'hex').toString(), text)
    await shot('message')
    await isFine('timeline of a text')
  })

  test('approves a payment with the PIN, and follows it', async () => {
    await app('Money')
    await dock().getByLabel('This phone asks for the PIN').check()
    await open('Request a payment')
    await page.getByLabel('Reference').fill('INV-42')
    await page.getByRole('button', { name: 'Request payment' }).click()
    await heading(/KES\s150\.00/)
    await dock().getByLabel('PIN', { exact: true }).fill('1234')
    await shot('prompt')
    await isFine('the prompt')
    await dock().getByRole('button', { name: 'Approve' }).click()
    const main = page.getByRole('main')
    await main.getByText('Completed', { exact: true }).first().waitFor()
    await main.getByText('Callback', { exact: true }).first().waitFor()
    await main.getByText('POST /mpesa/stkpush/v1/processrequest').first().waitFor()
    await main
      .getByText(/^payment\.completed, attempt 1/)
      .first()
      .waitFor()
    assert.equal(await main.locator('.frame.is-bad').count(), 0, 'what is asked while the payer thinks is no failure')
    await isFine('timeline of a payment')
  })

  test('gives a part of it back', async () => {
    const main = page.getByRole('main')
    const refund = main.getByRole('region', { name: 'Refund' })
    await refund.getByLabel('Amount').fill('50')
    await refund.getByRole('button', { name: 'Refund', exact: true }).click()
    await page
      .getByRole('dialog')
      .getByRole('button', { name: /Refund KES\s50\.00/ })
      .click()
    const refunds = () => world.demo.get('/v1/refunds')
    await eventually(async () => (await refunds()).body.data[0]?.amount === 50, 'the refund')
    assert.equal((await refunds()).body.data.length, 1)
  })

  test('refuses another one', async () => {
    await open('Request a payment')
    await page.getByRole('button', { name: 'Request payment' }).click()
    await dock().getByRole('button', { name: 'Refuse' }).click()
    await page.getByRole('main').getByText('Cancelled').first().waitFor()
  })

  test('sees the webhooks arrive', async () => {
    await open('Webhooks')
    await page.getByRole('region', { name: 'Webhooks' }).getByRole('link').first().click()
    await page
      .getByRole('cell', { name: /^sms\.(status|delivered)$/ })
      .first()
      .waitFor()
    await page.getByRole('cell', { name: 'payment.completed' }).first().waitFor()
    await page.getByRole('button', { name: 'Send a test event' }).click()
    await isFine('deliveries')
    await page
      .getByRole('row', { name: /payment\.completed/ })
      .first()
      .getByRole('link')
      .first()
      .click()
    await heading('payment.completed')
    const main = page.getByRole('main')
    await main.getByText('Attempt 1').click()
    await main.getByText('webhook-signature').waitFor()
    await isFine('timeline of a delivery')
    assert.equal(await page.locator('.hops').count(), 0, 'a delivery has no networks and no phones')
    const { body } = await world.demo.get('/v1/sms?direction=inbound')
    await page.goto(`${given().url}/messages/${body.data[0].message_id}`)
    const stops = page.locator('.hops strong')
    await stops.first().waitFor()
    assert.equal((await stops.allTextContents())[0], 'Phone', 'who wrote comes first')
  })

  test('finds the same text as the operator', async () => {
    await page.goto(`${given().url}/operator`)
    await page.getByLabel('Id, number, reference or receipt').fill(phone)
    await page.getByRole('button', { name: 'Find' }).click()
    const found = page.getByRole('main').getByRole('list', { name: 'Found' })
    await found.getByText(messageId, { exact: true }).waitFor()
    await found.getByRole('button', { name: `Open ${messageId}` }).click()
    await page.getByRole('figure').getByText(text).waitFor()
    await shot('operator')
    await isFine('operator')
    for (const name of [
      'Accounts',
      'Carriers',
      'Payment providers',
      'Routes',
      'Prices',
      'Numbers',
      'Senders to approve',
    ])
      await readable(name)
    assert.equal(await page.getByLabel('State').inputValue(), 'pending', 'senders that are decided are not asked for')
    for (const name of [
      'Failed jobs',
      'Reconciliation',
      'Discrepancies',
      'Refunds in doubt',
      'Payouts in doubt',
      'Debts',
    ])
      await readable(name)
  })

  test('connects a carrier, makes a route and sets a price', async () => {
    await page.goto(`${given().url}/operator`)
    const main = page.getByRole('main')
    const make = async (list: string, form: string, typed: Record<string, string>): Promise<void> => {
      await open(list)
      await main.getByRole('button', { name: form, exact: true }).click()
      const room = page.getByRole('dialog', { name: form })
      for (const [label, value] of Object.entries(typed)) await room.getByLabel(label, { exact: true }).fill(value)
      await isFine(form)
      await room.getByRole('button', { name: 'Create' }).click()
    }
    const centre = { Name: 'console-centre', Host: '127.0.0.1', Port: '9', 'System id': 'pamoja', Password: 'secret' }
    await open('Carriers')
    await main.getByRole('link', { name: 'Connect a carrier' }).first().click()
    await heading('Connect a carrier')
    for (const [label, value] of Object.entries(centre)) await main.getByLabel(label, { exact: true }).fill(value)
    await isFine('Connect a carrier')
    await main.getByRole('button', { name: 'Connect', exact: true }).click()
    await heading('console-centre')
    await main.getByText('The connection does not work.').waitFor()
    await main
      .getByText(/ECONNREFUSED/)
      .first()
      .waitFor()
    await isFine('a test that failed')
    await main.getByRole('button', { name: 'Pause' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Pause console-centre' }).click()
    await main.getByRole('button', { name: 'Resume' }).waitFor()
    await make('Routes', 'Create route', { Country: 'TZ', Carriers: 'console-centre' })
    await main.getByRole('cell', { name: 'Tanzania', exact: true }).first().waitFor()
    await make('Prices', 'Set a price', {
      Area: 'sms',
      Unit: 'segment',
      Amount: '35',
      Currency: 'TZS',
      Country: 'TZ',
    })
    await eventually(async () => {
      const { body } = await world.operator.get('/v1/operator/prices?area=sms&country=TZ')
      return body.data[0]?.amount === 35
    }, 'the price')
    assert.equal(await main.getByRole('alert').count(), 0)
  })

  test('connects a payment provider, and tests it until it works', async () => {
    const main = page.getByRole('main')
    const { mpesa = {} } = simulatedAccounts(world.app)
    await open('Payment providers')
    await main.getByRole('link', { name: 'Connect a payment provider' }).first().click()
    await heading('Connect a payment provider')
    assert.equal(await field('base_url').inputValue(), 'https://api.safaricom.co.ke', 'of the preset')
    for (const name of ['base_url', 'shortcode', 'passkey', 'consumer_key']) await field(name).fill(mpesa[name] ?? '')
    await field('consumer_secret').fill('wrong')
    await isFine('the form of a provider')
    await main.getByRole('button', { name: 'Connect', exact: true }).click()
    await heading('M-Pesa KE')
    await main.getByText(/^No token was given/).waitFor()
    await main.getByText(/^Check the user name and secrets/).waitFor()
    await shot('provider')
    await main.getByText('Change the settings', { exact: true }).click()
    await field('consumer_secret').fill(mpesa.consumer_secret ?? '')
    await main.getByRole('button', { name: 'Save the changes' }).click()
    await main.getByText('Change the settings', { exact: true }).waitFor()
    await main.getByRole('button', { name: 'Test the connection' }).click()
    await main.getByText('The connection works.').waitFor()
    await isFine('a test that passed')
    await main.getByRole('button', { name: 'Remove' }).click()
    await page.getByRole('dialog').getByLabel('Type mpesa-ke-live to confirm').fill('mpesa-ke-live')
    await page.getByRole('dialog').getByRole('button', { name: 'Remove mpesa-ke-live' }).click()
    await heading('Payment providers')
    assert.deepEqual((await world.operator.get('/v1/operator/payments/providers')).body.data, [])
  })

  const field = (name: string) => page.getByRole('main').locator(`[name="${name}"]`)

  test('imports prices after seeing what they change', async () => {
    const main = page.getByRole('main')
    await open('Prices')
    await main.getByRole('link', { name: 'Import a file' }).click()
    await heading('Import prices')
    const csv = 'area,unit,amount,currency,country\nsms,segment,36,TZS,TZ\nsms,segment,41,RWF,RW\n'
    await main
      .getByLabel('CSV file')
      .setInputFiles({ name: 'prices.csv', mimeType: 'text/csv', buffer: Buffer.from(csv) })
    await main.getByText('1 new, 1 changed, 0 unchanged.').waitFor()
    await isFine('what a file of prices changes')
    await shot('prices')
    await main.getByRole('button', { name: 'Set 2 prices' }).click()
    await main.getByText('2 prices were set.').waitFor()
    const { body } = await world.operator.get('/v1/operator/prices?area=sms&country=RW')
    assert.equal(body.data[0]?.amount, 41)
  })

  test('tries a failed job again', async () => {
    const sql = lookInto(world)
    await sql.connect()
    await sql.query(
      `insert into work.jobs (bucket, id, lane, run_at, attempt, payload)
       values (1, $1, 'console-trial@gone', now() - interval '1 hour', 0, '{}')`,
      [newUuid(Date.now())],
    )
    const main = page.getByRole('main')
    await open('Overview')
    const row = main
      .getByRole('region', { name: 'Failed jobs' })
      .getByRole('row', { name: /console-trial/ })
      .first()
    await row.getByRole('button', { name: 'Try again' }).click()
    await page.getByText('Done: Try again').waitFor()
    const { rows } = await sql.query("delete from work.jobs where lane like 'console-trial%' returning lane")
    assert.deepEqual(rows, [{ lane: 'console-trial' }], 'it waits for somebody else now')
    await sql.end()
  })

  test('has a page for what else an operator runs', async () => {
    for (const name of ['SIP trunks', 'USSD networks', 'USSD gateways', 'Messenger channels', 'Identity registries'])
      await readable(name)
    for (const name of ['Plans', 'Prices of calls', 'Numbers for calls', 'Countries', 'Audit of the installation'])
      await readable(name)
  })

  test('opens an account of somebody else, puts money into it and makes its first live key', async () => {
    const opened = await world.operator.post('/v1/operator/accounts', {
      ...{ name: 'Duka Mbili', country: 'KE', currency: 'KES', plan: 'starter' },
    })
    assert.equal(opened.status, 201, opened.text)
    const { id, test_api_key } = opened.body
    const hook = await world.stranger.as(test_api_key).post('/v1/webhooks', {
      ...{ url: 'https://localhost:1024/duka', events: ['sms.*'] },
    })
    assert.equal(hook.status, 201, hook.text)
    const sent = await world.stranger.as(test_api_key).post('/v1/sms/send', {
      ...{ to: phone, from: 'PAMOJA', message: 'Oda ya duka', reference: 'order-77' },
    })
    assert.equal(sent.status, 200, sent.text)
    const main = page.getByRole('main')
    await open('Accounts')
    await main.getByRole('link', { name: 'Duka Mbili', exact: true }).click()
    await heading('Duka Mbili')
    assert.match(page.url(), new RegExp(`/console/operator/accounts/${id}$`))
    await page.reload()
    const deposit = main.getByRole('region', { name: 'Credit the wallet' })
    await deposit.getByLabel('Environment').selectOption('live')
    await deposit.getByLabel('Amount').fill('500')
    await deposit.getByLabel('Currency').fill('XXX')
    await deposit.getByLabel('Reference').fill('bank-transfer-1')
    const put = main.getByRole('button', { name: 'Add credit' })
    await put.click()
    await main.locator('input[aria-invalid="true"]').waitFor()
    assert.equal(await main.locator('input[aria-invalid="true"]').inputValue(), 'XXX')
    await isFine('an account with a refusal')
    assert.match(complaints.pop() ?? '', / 4\d\d /, 'the browser notes the refusal')
    await deposit.getByLabel('Currency').fill('KES')
    await put.click()
    await main.getByRole('row', { name: /Live.*KES\s500\.00/ }).waitFor()
    assert.equal(await main.getByRole('alert').count(), 0)
    await main.getByRole('button', { name: 'Create live key' }).click()
    const key = await main.getByText(/^pmj_live_\w{38}$/).textContent()
    const { body } = await world.stranger.as(key).get('/v1/auth/whoami')
    assert.deepEqual([body.account_id, body.environment], [id, 'live'])
    await isFine('an account')
    await main.getByRole('link', { name: 'Messages', exact: true }).click()
    const cell = main.getByRole('cell', { name: 'Oda ya duka' })
    await cell.waitFor()
    const environment = page.getByRole('group', { name: 'Environment' })
    await environment.getByRole('button', { name: 'Live' }).click()
    await cell.waitFor({ state: 'detached' })
    await environment.getByRole('button', { name: 'Test' }).click()
    await cell.waitFor()
    await main.getByRole('region', { name: 'Messages' }).getByRole('link').first().click()
    await page.getByRole('figure').getByText('order-77').first().waitFor({ state: 'attached' })
    await main.getByRole('navigation', { name: 'Breadcrumbs' }).getByRole('link').nth(1).click()
    for (const name of [
      'Payments',
      'Payouts',
      'Chats',
      'Emails',
      'USSD sessions',
      'Webhooks',
      'Requests',
      'Audit log',
    ]) {
      await main.getByRole('link', { name, exact: true }).click()
      await heading(name)
      await main
        .getByRole('region', { name })
        .or(main.getByText(/^(No [\w ]+)$/))
        .first()
        .waitFor()
      assert.equal(await main.getByRole('alert').count(), 0, name)
      await main.getByRole('navigation', { name: 'Breadcrumbs' }).getByRole('link').nth(1).click()
    }
    await main.getByRole('link', { name: 'Webhooks', exact: true }).click()
    await main.getByRole('link', { name: 'https://localhost:1024/duka' }).click()
    await heading('Deliveries')
    await main.getByRole('cell', { name: sent.body.message_id }).first().waitFor()
    await isFine('deliveries of an account')
  })

  async function readable(name: string): Promise<void> {
    await open(name)
    await heading(name)
    const room = page.getByRole('main').getByRole('region', { name })
    await room
      .or(page.getByText(/^(Nothing is connected yet|No [\w ]+)$/))
      .first()
      .waitFor()
    assert.equal(await page.getByRole('main').getByRole('alert').count(), 0, name)
  }

  test('has a page for everything else', async () => {
    await page.goto(given().url)
    const lists = ['Chats', 'Emails', 'USSD sessions', 'Senders', 'Refunds', 'Payouts', 'Disputes', 'Wallet and ledger']
    for (const name of [...lists, 'Invoices', 'Subscriptions', 'Fraud rules', 'Identity checks', 'Events', 'Audit log'])
      await readable(name)
    await isFine('audit log')
    for (const name of ['Usage and limits', 'Phones', 'Team', 'Two-factor sign-in', 'Sessions']) {
      await open(name)
      await heading(name)
      await page.getByRole('status').first().waitFor()
      if (name === 'Phones') await shot('phones')
      await isFine(name)
    }
  })

  test('reads what a fraud rule waits for', async () => {
    const often = { velocity: { metric: 'count', by: ['phone'], window: '1h' }, operator: 'gt', value: 5 }
    const abroad = { field: 'phone_country', operator: 'not_in', value: ['KE', 'UG'] }
    const large = { match: 'any', conditions: [{ field: 'amount', operator: 'gte', value: 5_000 }, abroad] }
    const rule = { name: 'Large or abroad', action: 'review', conditions: [often, large] }
    const made = await world.demo.post('/v1/payments/fraud/rules', rule)
    assert.equal(made.status, 201, made.text)
    await readable('Fraud rules')
    const when = 'count(phone, 1h) > 5 and (amount ≥ 5000 or phone_country not in KE, UG)'
    await page.getByRole('main').getByText(when).waitFor()
  })

  test('dials, chats, is called and gets mail', async () => {
    await app('USSD')
    await dock().getByRole('button', { name: 'Dial' }).click()
    await dock().getByRole('log').getByText('*384#', { exact: true }).waitFor()
    await app('Chat')
    await dock().getByLabel('Write from the phone').fill('Habari')
    await dock().getByRole('button', { name: 'Write' }).click()
    await dock().getByRole('log').getByText('Habari', { exact: true }).waitFor()
    await app('Mail')
    await dock().getByText('No mail yet').waitFor()
    await app('Calls')
    await dock().getByText('No calls yet').waitFor()
    await isFine('the phone')
  })

  test('sees it all on the overview', async () => {
    await app('Texts')
    await open('Overview')
    await shot('overview')
    await isFine('overview')
  })

  test('searches over everything', async () => {
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox', { name: 'Search everything' }).fill(messageId)
    await page.getByRole('dialog').getByRole('option', { name: messageId }).waitFor()
    await page.keyboard.press('Enter')
    await heading(`To ${phone}`)
  })

  test('invites somebody, who joins with a password of their own', async () => {
    await open('Team')
    await page.getByLabel('Email address').fill('ada@example.com')
    await page.getByLabel('Role', { exact: true }).selectOption('viewer')
    await page.getByRole('button', { name: 'Invite', exact: true }).click()
    const link = await page.getByText(/\/console\/join#/).textContent()
    const other = await browser.newContext({ ignoreHTTPSErrors: true })
    const theirs = await other.newPage()
    theirs.setDefaultTimeout(patienceMs(quietMs))
    await theirs.goto(link ?? '')
    await theirs.getByLabel('Choose a password').fill('a long password')
    await theirs.getByRole('button', { name: 'Begin' }).click()
    await theirs.getByRole('heading', { name: 'Overview' }).waitFor()
    await seesNothingToChange(theirs)
    await other.close()
  })

  /** A viewer reads the lists, and meets no button, form or page that would refuse them. */
  const seesNothingToChange = async (theirs: Page): Promise<void> => {
    const main = theirs.getByRole('main')
    const toChange = /^(Send a text|Request a payment|Add|Catch them here|Send a test event|Send again|Refund)$/
    const isCalm = async (): Promise<void> => {
      for (const role of ['button', 'link'] as const)
        assert.equal(await main.getByRole(role, { name: toChange }).count(), 0)
      assert.equal(await theirs.getByRole('alert').count(), 0)
    }
    const follow = (name: string) => openEntry(theirs, name)
    await isCalm()
    await follow('Messages')
    await main.getByRole('cell', { name: '***' }).first().waitFor()
    await isCalm()
    await follow('Webhooks')
    await main.getByRole('region', { name: 'Webhooks' }).getByRole('link').first().click()
    await main.getByRole('region', { name: 'Deliveries' }).getByRole('link').first().waitFor()
    await isCalm()
    await main.getByRole('region', { name: 'Deliveries' }).getByRole('link').first().click()
    await main.getByText('Details').waitFor()
    await isCalm()
    await follow('Payments')
    await main.getByRole('region', { name: 'Payments' }).getByRole('link').first().click()
    await main.getByText('Details').waitFor()
    await isCalm()
    for (const path of ['/send', '/ask', '/keys']) {
      await theirs.goto(`${given().url}${path}`)
      await main.getByText('Your role has no access to this page').waitFor()
      await isCalm()
    }
  }

  test('chooses another password by a link of an owner', async () => {
    await open('Overview')
    await open('Team')
    await page.getByRole('button', { name: 'Password link for ada@example.com' }).click()
    const link = await page.getByText(/\/console\/reset#/).textContent()
    const other = await browser.newContext({ ignoreHTTPSErrors: true })
    const theirs = await other.newPage()
    theirs.setDefaultTimeout(patienceMs(quietMs))
    await theirs.goto(given().url)
    await theirs.getByRole('link', { name: 'Forgot the password?' }).click()
    await theirs.getByLabel('Email address').fill('nobody@example.com')
    await theirs.getByRole('button', { name: 'Send the link' }).click()
    await theirs.getByText(/a link was sent to it/).waitFor()
    await theirs.goto('about:blank')
    await theirs.goto(link ?? '')
    await theirs.getByLabel('Choose a password').fill('quite another one')
    await theirs.getByRole('button', { name: 'Edit' }).click()
    await theirs.getByText('The password is changed. Sign in with it.').waitFor()
    assert.deepEqual(await accessibilityProblems(theirs), [])
    assert.doesNotMatch(theirs.url(), /#/)
    await theirs.getByRole('link', { name: 'Sign in' }).click()
    await theirs.getByLabel('Email address').fill('ada@example.com')
    await theirs.getByLabel('Password').fill('quite another one')
    await theirs.getByRole('button', { name: 'Sign in', exact: true }).click()
    await theirs.getByRole('heading', { name: 'Overview' }).waitFor()
    await other.close()
  })

  test('turns a second factor on, which signing in then wants', async () => {
    await open('Two-factor sign-in')
    await page.getByRole('button', { name: 'Set up' }).click()
    const typed = (await page.getByText(/^[A-Z2-7]{32}$/).textContent()) ?? ''
    await page.getByLabel('Code from the app').fill(totpOf(fromBase32(typed), Math.floor(Date.now() / 30_000)))
    await page.getByRole('button', { name: 'Turn it on' }).click()
    const recovery = (await page.getByRole('status').getByRole('listitem').first().textContent()) ?? ''
    await page.getByRole('button', { name: 'Your menu' }).click()
    await page.getByRole('button', { name: 'Sign out' }).click()
    const { email, password } = given()
    await page.getByLabel('Email address').fill(email)
    await page.getByLabel('Password').fill(password)
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.getByLabel('Code from the authenticator').fill(recovery)
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.getByRole('navigation', { name: 'Pages' }).waitFor()
  })

  test('speaks Arabic, from right to left, and is as readable', async () => {
    await page.getByRole('button', { name: 'Your menu' }).click()
    await page.getByLabel('Language').selectOption('ar')
    await page.locator('html[dir="rtl"]').waitFor()
    await page.getByRole('navigation').first().waitFor()
    await isFine('Arabic')
    assert.deepEqual(complaints, [])
  })
})

function fromBase32(typed: string): Buffer {
  const bits = [...typed].map((letter) =>
    'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(letter).toString(2).padStart(5, '0'),
  )
  return Buffer.from((bits.join('').match(/.{8}/g) ?? []).map((octet) => Number.parseInt(octet, 2)))
}
