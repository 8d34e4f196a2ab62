// SPDX-License-Identifier: Apache-2.0
// The console as a whole in a real browser: it asks its server little while a campaign runs, keeps what was typed when a session
// ends, counts down when it asked too often, finds a stopped server again, and every page is readable, wide and narrow, light and dark.
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after, before, describe, test } from 'node:test'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { accessibilityProblems, buildConsole, entriesOf, openBrowser, openEntry, withoutChromium } from '../chromium.ts'
import { patienceMs } from '../eventually.ts'
import { share } from '../properties.ts'
import { eventually, startWorld, type World } from '../world.ts'

/** Each has three events or more: some 2,500 in all. */
const texts = 800
const wide = { width: 1280, height: 800 }
const narrow = { width: 390, height: 844 }
const looks = [wide, narrow].flatMap((size) => [[size, 'light'] as const, [size, 'dark'] as const])

/** One pixel. */
const aPicture = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

describe('the console', { skip: withoutChromium() }, () => {
  let world: World
  let browser: Browser
  let context: BrowserContext
  let page: Page

  const given = (): { url: string; email: string; password: string } => {
    assert.ok(world.credentials.console)
    return world.credentials.console
  }
  const enter = async (one: Page): Promise<void> => {
    await one.goto(given().url)
    await one.getByLabel('Email address').fill(given().email)
    await one.getByLabel('Password').fill(given().password)
    await one.getByRole('button', { name: 'Sign in', exact: true }).click()
    await one.getByRole('navigation', { name: 'Pages' }).waitFor()
  }

  /** Goes to a page as a link does: a load of the whole console for each would take most of the time of this file. */
  const to = (one: Page, path: string): Promise<unknown> =>
    one.evaluate(
      `history.pushState(null, '', ${JSON.stringify(`/console${path}`)}); dispatchEvent(new PopStateEvent('popstate'))`,
    )

  before(async () => {
    buildConsole()
    world = await startWorld()
    browser = await openBrowser()
    context = await browser.newContext({ ignoreHTTPSErrors: true, viewport: wide })
    page = await context.newPage()
    page.setDefaultTimeout(patienceMs(45_000))
    await enter(page)
  })
  after(async () => {
    await browser?.close()
    await world?.stop()
  })

  test('shows whoever is new five steps, the first text among them', async () => {
    await page.getByRole('heading', { name: /^Karibu/ }).waitFor()
    await page.getByText(/Parts: 1\. Price: KES\s0\.80/).waitFor()
    await page.getByRole('button', { name: 'Send the text' }).click()
    const step = page.getByRole('listitem').filter({ hasText: 'See it arrive' })
    await step.getByText('Done', { exact: true }).waitFor({ state: 'attached' })
    assert.deepEqual(await accessibilityProblems(page), [])
    await page.getByRole('main').getByRole('link', { name: 'Webhooks' }).click()
    await page.getByRole('heading', { name: 'Webhooks', level: 1 }).waitFor()
    await page.goBack()
    await step.getByText('Done', { exact: true }).waitFor({ state: 'attached' })
    await page.getByRole('button', { name: 'Show the overview' }).click()
    await page.getByRole('heading', { name: 'Traffic' }).waitFor()
    await page.reload()
    await page.getByRole('heading', { name: 'Traffic' }).waitFor()
    await page.locator('.rates .spark').first().waitFor()
  })

  test('asks its server less than five times a second while a campaign runs, and no page is longer than its content', async () => {
    const other = await context.newPage()
    await other.goto(`${given().url}/messages`)
    await other.getByRole('region', { name: 'Messages' }).waitFor()
    let asked = 0
    const count = (request: { url(): string }): void => {
      if (request.url().includes('/v1/')) asked++
    }
    page.on('request', count)
    other.on('request', count)
    const beganMs = performance.now()
    const messages = Array.from({ length: texts }, (_, i) => ({
      to: `+2547112${String(i).padStart(5, '0')}`,
      message: `Kampeni ${i}`,
    }))
    for (let from = 0; from < texts; from += 400) {
      const { status, text } = await world.demo.post('/v1/sms/bulk', {
        from: 'PAMOJA',
        messages: messages.slice(from, from + 400),
      })
      assert.ok(status < 300, text)
    }
    const last = messages.at(-1)?.to ?? ''
    const arrived = async (): Promise<boolean> => {
      const { body } = await world.demo.get(`/v1/sms?to=${encodeURIComponent(last)}`)
      return body.data[0]?.status === 'delivered'
    }
    await eventually(arrived, 'the last text of the campaign')
    await other.getByRole('button', { name: 'Show new rows' }).click()
    await other
      .getByRole('cell', { name: /^Kampeni/ })
      .first()
      .waitFor()
    const seconds = (performance.now() - beganMs) / 1_000
    assert.ok(asked / seconds < 5, `${asked} requests in ${seconds.toFixed(1)} s`)
    const lengths = await other.evaluate(
      '[document.documentElement.scrollHeight, document.querySelector("main").getBoundingClientRect().bottom + window.scrollY]',
    )
    const [whole = 0, content = 0] = Array.isArray(lengths) ? lengths.map(Number) : []
    assert.ok(
      whole <= Math.max(content, wide.height) + 1,
      `the document is ${whole} pixels long, its content ${content}`,
    )
    await other.close()
  })

  test('draws few of many rows, and reads more as one scrolls', async () => {
    await to(page, '/messages')
    const rows = page.getByRole('region', { name: 'Messages' }).locator('tr.r')
    await rows.first().waitFor()
    const scrolledFar = async (): Promise<boolean> => {
      await page.mouse.wheel(0, 4_000)
      await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))')
      return /^([3-9]\d\d|1,\d{3}) shown/.test((await page.locator('.tbl-foot').textContent()) ?? '')
    }
    await eventually(scrolledFar, 'more rows')
    assert.ok((await rows.count()) < 300, 'rows far from the window are not drawn')
  })

  test('asks for the password over the page when a session ended, and goes on with what was typed', async () => {
    await to(page, '/send')
    await page.getByLabel('To', { exact: true }).fill('+254711000077')
    await page.getByLabel('Text', { exact: true }).fill('Nimeandika hii')
    await context.clearCookies()
    // Something else of the page may have met the end of the session before.
    await page.getByRole('button', { name: 'Send the text', includeHidden: true }).dispatchEvent('click')
    const dialog = page.getByRole('dialog', { name: 'Sign in to continue' })
    await dialog.waitFor()
    assert.deepEqual(await accessibilityProblems(page), [])
    assert.equal(await page.getByLabel('Text', { exact: true }).inputValue(), 'Nimeandika hii')
    await dialog.getByLabel('Password').fill(given().password)
    await dialog.getByRole('button', { name: 'Continue' }).click()
    await page.getByRole('heading', { name: 'To +254711000077' }).waitFor()
    const { body } = await world.demo.get('/v1/sms?to=%2B254711000077')
    assert.deepEqual(
      body.data.map(({ message }: { message: string }) => message),
      ['Nimeandika hii'],
    )
  })

  test('counts down when it asked too often, and then sends by itself', async () => {
    let refusals = 0
    await page.route('**/v1/sms/send', async (route) => {
      if (refusals++ > 0) return route.continue()
      const error = {
        code: 'RATE_LIMITED',
        message: 'Too many requests.',
        details: 'texts of this key',
        request_id: 'req_1',
      }
      await route.fulfill({ status: 429, headers: { 'retry-after': '2' }, json: { success: false, error } })
    })
    await to(page, '/send')
    await page.getByLabel('To', { exact: true }).fill('+254711000078')
    await page.getByLabel('Text', { exact: true }).fill('Subiri')
    await page.getByRole('button', { name: 'Send the text' }).click()
    await page.getByRole('dialog', { name: 'Too many at once' }).waitFor()
    await page.getByRole('heading', { name: 'To +254711000078' }).waitFor()
    await page.unroute('**/v1/sms/send')
  })

  test('says why a list does not come when it was asked for too often, and goes on', async () => {
    let refusals = 0
    await page.route(/\/v1\/sms\?/, async (route) => {
      if (refusals++ > 0) return route.continue()
      const error = { code: 'RATE_LIMITED', message: 'Too many requests.', request_id: 'req_1' }
      await route.fulfill({ status: 429, headers: { 'retry-after': '2' }, json: { success: false, error } })
    })
    await to(page, '/messages')
    await page.getByText(/^Too many requests: continues in [12] s$/).waitFor()
    await page.getByRole('region', { name: 'Messages' }).waitFor()
    await page.getByText(/^Too many requests/).waitFor({ state: 'detached' })
    await page.unroute(/\/v1\/sms\?/)
  })

  test('draws bars while a list loads, says once that the server cannot be reached, and finds it again', async () => {
    let answer = (): void => undefined
    const held = new Promise<void>((done) => {
      answer = done
    })
    await page.route(/\/v1\/sms\?/, (route) => held.then(() => route.continue()))
    await page.goto(`${given().url}/messages`)
    const bars = page.getByRole('main').locator('.skeleton')
    await bars
      .first()
      .waitFor()
      .finally(() => answer())
    await page.getByRole('region', { name: 'Messages' }).waitFor()
    await bars.first().waitFor({ state: 'detached' })
    await page.unroute(/\/v1\/sms\?/)
    await context.setOffline(true)
    await page.getByLabel('State').selectOption('failed')
    await page.getByText(/The server cannot be reached/).waitFor()
    assert.equal(await page.getByRole('alert').count(), 1)
    await page.setViewportSize(narrow)
    const between = await page.evaluate(
      `document.querySelector('.over-page').getBoundingClientRect().top - document.querySelector('h1').getBoundingClientRect().bottom`,
    )
    assert.ok(Number(between) > 0, 'on a phone the heading stays in sight')
    await page.setViewportSize(wide)
    await context.setOffline(false)
    await page.getByText(/The server cannot be reached/).waitFor({ state: 'detached' })
    await page.getByText('Nothing matches').waitFor()
  })

  test('takes the new files when those of a page went with an upgrade', async () => {
    let missing = 0
    await page.route('**/assets/wallboard-*.js', async (route) => {
      if (missing++ > 0) return route.continue()
      await route.fulfill({ status: 404, json: {} })
    })
    await openEntry(page, 'Wallboard')
    await page.getByRole('heading', { name: 'Wallboard', level: 1 }).waitFor()
    assert.equal(missing, 2)
  })

  test('tells the test clock, and sets it back', async () => {
    const moved = await world.demo.post('/v1/sandbox/clock', { advance_seconds: 40 * 86_400 })
    assert.equal(moved.status, 200, moved.text)
    await page.goto(given().url)
    await page.getByText('+40 d').waitFor()
    await page.getByRole('button', { name: 'Reset' }).click()
    await page.getByText('+40 d').waitFor({ state: 'detached' })
    assert.equal((await world.demo.get('/v1/sandbox/clock')).body.offset_seconds, 0)
  })

  test('finds a number in every kind of record, and says which', async () => {
    const number = '+254711000079'
    await world.demo.post('/v1/sms/send', { to: number, from: 'PAMOJA', message: 'Habari' })
    await world.demo.post('/v1/payments/mobile/initiate', {
      amount: 100,
      currency: 'KES',
      phone: number,
      provider: 'mpesa',
    })
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox', { name: 'Search everything' }).fill(number)
    const found = page.getByRole('listbox', { name: 'Found' })
    await found.getByText('Messages', { exact: true }).waitFor()
    await found.getByText('Payments', { exact: true }).waitFor()
    await found.getByRole('option', { name: /M-Pesa\s*KES\s100\.00/ }).waitFor()
    await world.demo.post('/v1/customers', { name: 'Wambui Kariuki', phones: ['+254711000089'] })
    await page.getByRole('combobox', { name: 'Search everything' }).fill('wambui')
    await found.getByRole('option', { name: /Wambui Kariuki/ }).click()
    await page.getByRole('heading', { name: 'Wambui Kariuki', level: 1 }).waitFor()
  })

  test('is gone through by keys, which ? lists', async () => {
    await to(page, '/')
    await page.getByRole('heading', { level: 1 }).waitFor()
    await page.keyboard.press('?')
    const list = page.getByRole('dialog')
    await list.getByText('Next and previous row').waitFor()
    await page.keyboard.press('Escape')
    await list.waitFor({ state: 'detached' })
    await page.keyboard.press('g')
    await page.keyboard.press('m')
    await page.getByRole('region', { name: 'Messages' }).locator('tr.r').first().waitFor()
    await page.keyboard.press('j')
    await page.keyboard.press('j')
    await page.keyboard.press('k')
    await page.locator('tr.r').first().locator('.open:focus').waitFor()
    await page.keyboard.press('c')
    await page.getByRole('heading', { name: 'Send a text', level: 1 }).waitFor()
  })

  /** A member of a role, signed in by the invitation, in a window of their own. */
  const memberOf = async (role: string): Promise<Page> => {
    const invited = await world.demo.post('/v1/team/members', { email: `${role}@example.com`, role })
    assert.equal(invited.status, 201, invited.text)
    const own = await browser.newContext({ ignoreHTTPSErrors: true, viewport: wide })
    const theirs = await own.newPage()
    theirs.setDefaultTimeout(patienceMs(45_000))
    await theirs.goto(invited.body.invite_url)
    await theirs.getByLabel('Choose a password').fill('correct horse battery staple')
    await theirs.getByRole('button', { name: 'Begin' }).click()
    await theirs.getByRole('navigation', { name: 'Pages' }).waitFor()
    return theirs
  }

  /** The figures of the overview are those of the role, and none is awaited for ever. */
  const overviewHas = async (theirs: Page, names: readonly string[]): Promise<void> => {
    await theirs.getByRole('heading', { name: 'Overview' }).waitFor()
    await theirs
      .getByRole('main')
      .locator('.figure .big')
      .nth(names.length - 1)
      .waitFor()
    await theirs.locator('.figure .skeleton').first().waitFor({ state: 'detached' })
    const shown = await theirs.locator('.figure > p:first-child').allTextContents()
    assert.deepEqual(
      shown.map((name) => name.replace(/, KES$/, '')),
      names,
    )
    assert.deepEqual(await accessibilityProblems(theirs), [])
  }

  test('finance approves payouts that somebody else asked for, one and two at once, and sees no texts', async () => {
    const conditions = [{ field: 'amount', operator: 'gte', value: 500 }]
    const rule = await world.demo.post('/v1/payments/fraud/rules', {
      ...{ name: 'Large', action: 'review', conditions },
      applies_to: ['payout'],
    })
    assert.equal(rule.status, 201, rule.text)
    const askFor = async (amount: number, name: string) => {
      const asked = await world.demo.post('/v1/payouts', {
        ...{ amount, currency: 'KES', phone: '+254711000091', recipient: { name } },
      })
      assert.deepEqual([asked.status, asked.body.in_review], [201, true], asked.text)
      return asked
    }
    const asked = await askFor(500, 'Asha Mwangi')
    const others = [await askFor(600, 'Juma Otieno'), await askFor(700, 'Neema Ali')]
    const theirs = await memberOf('finance')
    await overviewHas(theirs, ['Money in', 'Available', 'Money out', 'Payouts to approve'])
    await theirs.getByRole('main').getByRole('link', { name: 'Payouts to approve' }).click()
    await theirs.waitForURL(/in_review=true/)
    await theirs.getByRole('row', { name: /Asha Mwangi/ }).waitFor()
    for (const name of [/Juma Otieno/, /Neema Ali/])
      await theirs.getByRole('row', { name }).getByRole('checkbox').check()
    const bar = theirs.getByRole('toolbar', { name: 'Actions for selected rows' })
    await bar.getByText(/^KES\s1,300\.00$/).waitFor()
    await bar.getByRole('button', { name: 'Approve' }).click()
    const question = theirs.getByRole('dialog', { name: 'Approve: 2 rows?' })
    await question.getByText(/^Total: KES\s1,300\.00$/).waitFor()
    await question.getByRole('button', { name: 'Approve' }).click()
    await theirs.getByText('Done: Approve, 2 rows').waitFor()
    for (const { body } of others)
      assert.equal((await world.demo.get(`/v1/payouts/${body.payout_id}`)).body.in_review, false)
    await to(theirs, `/payouts/${asked.body.payout_id}`)
    await theirs.getByRole('button', { name: 'Approve' }).click()
    const dialog = theirs.getByRole('dialog', { name: /^Pay KES\s500\.00 to Asha Mwangi/ })
    await dialog.getByRole('button', { name: /^Pay KES/ }).click()
    const isPaid = async (): Promise<boolean> => {
      const { body } = await world.demo.get(`/v1/payouts/${asked.body.payout_id}`)
      return body.in_review === false && body.status === 'completed'
    }
    await eventually(isPaid, 'the payout is paid')
    assert.equal(await entriesOf(theirs, 'Send a text').count(), 0)
    await theirs.context().close()
  })

  test('a payout, a payment link and a draft of an invoice are made by forms', async () => {
    await to(page, '/links')
    await page.getByRole('button', { name: 'Create payment link' }).click()
    const form = page.getByRole('dialog', { name: 'Create payment link' })
    await form.getByLabel('Description').fill('School fees')
    await form.getByLabel('Amount').fill('1200')
    await form.getByLabel('Currency').fill('KES')
    await form.getByRole('button', { name: 'Create' }).click()
    await page.getByRole('heading', { name: 'School fees', level: 1 }).waitFor()
    await to(page, '/invoices/new')
    await page.getByLabel('Name').fill('Eko Pharmacy')
    await page.getByLabel('Description').fill('Consulting')
    await page.getByLabel('Price').fill('4000')
    await page.getByText(/Total: KES\s4,000\.00/).waitFor()
    await page.getByRole('button', { name: 'Create draft' }).click()
    await page.getByRole('heading', { name: 'Draft', level: 1 }).waitFor()
    await to(page, '/payouts')
    await page
      .locator('tr.day')
      .getByText(/^\d+ in all · Completed: KES\s[\d,]+\.00$/)
      .waitFor()
    await page.getByRole('button', { name: 'Create payout' }).click()
    const payout = page.getByRole('dialog', { name: 'Create payout' })
    await payout.getByLabel('Phone').fill('+254711000092')
    await payout.getByLabel('Amount').fill('120')
    await payout.getByLabel('Currency').fill('KES')
    assert.deepEqual(await accessibilityProblems(page), [])
    await payout.getByRole('button', { name: 'Pay', exact: true }).click()
    await page.getByRole('heading', { name: /KES\s120\.00/, level: 1 }).waitFor()
  })

  test('support answers who wrote, leaves a note for the team, and closes the conversation', async () => {
    const number = '+254711000083'
    const wrote = await world.demo.post('/v1/sandbox/sms/inbound', {
      ...{ from: number, to: 'PAMOJA', message: 'Je, mko wazi leo?' },
    })
    assert.ok(wrote.status < 300, wrote.text)
    const theirs = await memberOf('supervisor')
    await overviewHas(theirs, ['Callers waiting', 'Agents available', 'Calls'])
    await to(theirs, '/inbox')
    await theirs.getByRole('link', { name: /mko wazi leo/ }).click()
    await theirs.getByLabel('Answer', { exact: true }).fill('Ndiyo, hadi saa kumi na mbili')
    await theirs.getByRole('button', { name: 'Send', exact: true }).click()
    await theirs
      .getByRole('main')
      .getByText(/Delivered/)
      .first()
      .waitFor()
    await theirs.getByRole('button', { name: 'Note', exact: true }).click()
    await theirs.getByLabel('Note', { exact: true }).fill('Calls back on Monday')
    await theirs.getByRole('button', { name: 'Add a note' }).click()
    await theirs.getByRole('main').getByText('Calls back on Monday').first().waitFor()
    assert.deepEqual(await accessibilityProblems(theirs), [])
    await theirs.setViewportSize(narrow)
    assert.deepEqual(await accessibilityProblems(theirs), [])
    await theirs.setViewportSize(wide)
    const { open } = (await world.demo.get('/v1/conversations/counts')).body
    await theirs.getByRole('button', { name: new RegExp(`^Open ?${open}$`) }).waitFor()
    await theirs.getByRole('button', { name: 'Close', exact: true }).click()
    await theirs.getByRole('button', { name: 'Open again' }).waitFor()
    await theirs.getByRole('button', { name: new RegExp(`^Open ?${open - 1}$`) }).waitFor()
    const { body } = await world.demo.get(`/v1/sms?to=${encodeURIComponent(number)}`)
    assert.equal(body.data[0].message, 'Ndiyo, hadi saa kumi na mbili')
    await theirs.context().close()
  })

  test('shows the picture of a file, and of the chat that a user sent it with', async () => {
    const number = '+254711000084'
    for (const type of ['image/jpeg', 'image/png']) {
      await to(page, '/media')
      await page.getByRole('button', { name: 'Upload a file' }).click()
      const drawn = await page.evaluate(
        `(() => { const canvas = document.createElement('canvas'); canvas.width = 48; canvas.height = 32
          canvas.getContext('2d').fillRect(8, 8, 16, 16); return canvas.toDataURL('${type}') })()`,
      )
      const [, base64 = ''] = String(drawn).split(',')
      const file = { name: `lamp.${type.slice(6)}`, mimeType: type, buffer: Buffer.from(base64, 'base64') }
      const form = page.getByRole('dialog', { name: 'Upload a file' })
      await form.getByLabel('File', { exact: true }).setInputFiles(file)
      await form.getByRole('button', { name: 'Upload' }).click()
      const isShown = async (): Promise<boolean> =>
        (await page.evaluate(`document.querySelector('main canvas.picture')?.width ?? 0`)) === 48
      await eventually(isShown, `the ${type} of the file`)
      const id = page.url().split('/').at(-1)
      const wrote = await world.demo.post('/v1/sandbox/messenger/inbound', {
        ...{ from: number, type: 'image', image: { id, caption: `My lamp, ${type}` } },
      })
      assert.ok(wrote.status < 300, wrote.text)
      await to(page, '/chats')
      await page
        .getByRole('row', { name: new RegExp(`My lamp, ${type}`) })
        .getByRole('link')
        .click()
      await eventually(isShown, `the ${type} of the chat`)
      await to(page, `/conversations/${encodeURIComponent(number)}`)
      await page.getByRole('img', { name: `My lamp, ${type}` }).waitFor()
      await eventually(isShown, `the ${type} of the conversation`)
    }
    assert.deepEqual(await accessibilityProblems(page), [])
  })

  test('cards name figures that say nothing alone, and tell the time of their row', async () => {
    await page.setViewportSize(narrow)
    await world.demo.post('/v1/sandbox/hooks', {})
    await to(page, '/hooks')
    const card = page.getByRole('region', { name: 'Catching addresses' }).locator('tr.r').first()
    await card.locator('time').waitFor()
    const before = await page.evaluate(
      `getComputedStyle(document.querySelector('tr.r [data-name]'), '::before').content`,
    )
    assert.equal(before, '"Caught: "')
    await to(page, '/events')
    await page.getByRole('region', { name: 'Events' }).locator('tr.r').first().locator('time').waitFor()
    await page.setViewportSize(wide)
  })

  test('support sends a picture in a chat, which stands in the conversation, and a template by mail', async () => {
    const chat = await world.demo.post('/v1/sandbox/messenger/inbound', {
      ...{ from: '+254711000086', type: 'text', text: { body: 'Duka iko wapi?' } },
    })
    assert.ok(chat.status < 300, chat.text)
    const theirs = page
    await to(theirs, '/inbox')
    await theirs.getByRole('link', { name: /Duka iko wapi/ }).click()
    const main = theirs.getByRole('main')
    await main.getByLabel('Attach a file').setInputFiles({ name: 'shop.png', mimeType: 'image/png', buffer: aPicture })
    await main.getByText('shop.png').waitFor()
    assert.deepEqual(await accessibilityProblems(theirs), [])
    await main.getByRole('button', { name: 'Send', exact: true }).click()
    await main.locator('.said img').waitFor()

    const template = { name: 'opening-hours', subject: 'Our hours', html: '<p>Dear {{first_name}}, until six</p>' }
    assert.equal((await world.demo.post('/v1/email/templates', template)).status, 201)
    const customer = await world.demo.post('/v1/customers', { name: 'Zuri Kamau', emails: ['zuri@example.com'] })
    const { body: begun } = await world.demo.post('/v1/conversations', { customer_id: customer.body.id })
    await to(page, `/inbox/${begun.id}`)
    const own = page.getByRole('main')
    await own.getByRole('button', { name: 'Templates' }).click()
    await page.getByRole('button', { name: /opening-hours/ }).click()
    await own.getByText('opening-hours').waitFor()
    await own.getByRole('button', { name: 'Send', exact: true }).click()
    await own.getByText('Our hours').first().waitFor()
  })

  test('a note stays a note and a file stays attached when the customer writes on another channel', async () => {
    const from = '+254711000087'
    const texts = async (message: string): Promise<void> => {
      const reply = await world.demo.post('/v1/sandbox/sms/inbound', { from, to: 'PAMOJA', message })
      assert.ok(reply.status < 300, reply.text)
    }
    const chats = async (body: string): Promise<void> => {
      const reply = await world.demo.post('/v1/sandbox/messenger/inbound', { from, type: 'text', text: { body } })
      assert.ok(reply.status < 300, reply.text)
    }
    await texts('Naomba mkopo')
    await to(page, '/inbox')
    await page.getByRole('link', { name: /Naomba mkopo/ }).click()
    const main = page.getByRole('main')
    const isPressed = async (name: string) =>
      (await main.getByRole('button', { name, exact: true }).getAttribute('aria-pressed')) === 'true'
    await main.getByRole('button', { name: 'Note', exact: true }).click()
    await main.getByLabel('Note', { exact: true }).fill('Still owes us for May')
    await chats('Mpo hapo?')
    await main.locator('.said').getByText('Mpo hapo?').waitFor()
    await main.getByRole('button', { name: 'Chat', exact: true }).waitFor()
    assert.equal(await main.getByLabel('Note', { exact: true }).inputValue(), 'Still owes us for May')
    await page.reload()
    assert.equal(await main.getByLabel('Note', { exact: true }).inputValue(), 'Still owes us for May')
    assert.ok(await isPressed('Note'))
    await main.getByRole('button', { name: 'Add a note' }).click()
    await main.locator('.said').getByText('Still owes us for May').waitFor()

    await main.getByRole('button', { name: 'Chat', exact: true }).click()
    await main.getByLabel('Attach a file').setInputFiles({ name: 'loan.png', mimeType: 'image/png', buffer: aPicture })
    await main.getByText('loan.png').waitFor()
    await texts('Nasubiri')
    await main.locator('.said').getByText('Nasubiri').waitFor()
    assert.ok((await main.getByText('loan.png').isVisible()) && (await isPressed('Chat')))
    const id = page.url().split('/').at(-1)
    const { data } = (await world.demo.get(`/v1/conversations/${id}/messages`)).body
    assert.deepEqual(
      data.map(({ type, direction }: Record<string, unknown>) => [type, direction]),
      [
        ['message', 'inbound'],
        ['note', null],
        ['chat', 'inbound'],
        ['message', 'inbound'],
      ],
    )
  })

  test('words that were typed before an email template was sent are still there afterwards', async () => {
    const template = { name: 'we-are-closed', subject: 'Closed on Sunday', html: '<p>Dear {{first_name}}</p>' }
    assert.equal((await world.demo.post('/v1/email/templates', template)).status, 201)
    const customer = await world.demo.post('/v1/customers', { name: 'Neema Ali', emails: ['neema@example.com'] })
    const { body: begun } = await world.demo.post('/v1/conversations', { customer_id: customer.body.id })
    await to(page, `/inbox/${begun.id}`)
    const main = page.getByRole('main')
    await main.getByLabel('Answer', { exact: true }).fill('And about your order')
    await main.getByRole('button', { name: 'Templates' }).click()
    await page.getByRole('button', { name: /we-are-closed/ }).click()
    await main.getByRole('button', { name: 'Send', exact: true }).click()
    await main.locator('.said').getByText('Closed on Sunday').waitFor()
    assert.equal(await main.getByLabel('Answer', { exact: true }).inputValue(), 'And about your order')
  })

  test('the story of a customer names networks, and an invoice tells the days of its lines as dates', async () => {
    const phone = '+254711000088'
    const customer = await world.demo.post('/v1/customers', { name: 'Amani Said', phones: [phone] })
    const paid = await world.demo.post('/v1/payments', { amount: 40, currency: 'KES', phone })
    assert.equal(paid.status, 201, paid.text)
    await to(page, `/customers/${customer.body.id}`)
    await page.getByRole('region', { name: 'Timeline' }).getByText('M-Pesa', { exact: true }).waitFor()
    const items = [{ description: 'Rent (2026-03-01 to 2026-04-01)', quantity: 1, unit_amount: 40 }]
    const invoice = await world.demo.post('/v1/billing/invoices', {
      ...{ customer: { name: 'Amani Said', phone }, items, currency: 'KES', send: true },
    })
    assert.equal(invoice.status, 201, invoice.text)
    await to(page, `/invoices/${invoice.body.invoice_id}`)
    await page.getByRole('region', { name: 'Timeline' }).getByRole('link', { name: 'Invoice issued' }).waitFor()
    await page.getByText(/^Rent \((1 Mar|Mar 1).* to (1 Apr|Apr 1).*\)$/).waitFor()
  })

  test('a campaign is put together from its parts, compared with a variant, and followed to its replies', async () => {
    // Ten in the morning in Nairobi: at night nobody is advertised to.
    const seconds = (7 * 3_600 - (Math.floor(Date.now() / 1_000) % 86_400) + 86_400) % 86_400
    await world.demo.post('/v1/sandbox/clock', { advance_seconds: seconds + 1 })
    const phone = '+254711000085'
    const consents = [{ channel: 'sms', purpose: 'marketing', state: 'granted' }]
    const made = await world.demo.post('/v1/customers', {
      name: 'Neema Otieno',
      phones: [phone],
      consents,
      tags: ['lamps'],
    })
    assert.equal(made.status, 201, made.text)
    const filter = { field: 'tags', op: 'eq', value: 'lamps' }
    await world.demo.post('/v1/segments', { name: 'Lamp buyers', filter })
    const { body: draft } = await world.demo.post('/v1/campaigns', {
      ...{ name: 'Lamps', segment_id: 'Lamp buyers', channel: ['sms'], quiet_hours: null },
      content: { sms: { from: 'PAMOJA', text: 'Habari' } },
    })
    await to(page, `/campaigns/${draft.id}`)
    await page.getByLabel('Text', { exact: true }).fill('Habari ')
    await page.getByRole('button', { name: '{{first_name|friend}}' }).click()
    await page.getByText('Habari Neema').waitFor()
    await page.getByText('Compare with a variant B').click()
    await page.getByLabel('Text of variant B').fill('Jambo')
    await page.getByText('Saved', { exact: true }).waitFor()
    const stored = async () => (await world.demo.get(`/v1/campaigns/${draft.id}`)).body
    await eventually(async () => (await stored()).variants[0]?.content.sms.text === 'Jambo', 'variant B to be saved')
    assert.deepEqual((await stored()).content.sms.text, 'Habari {{first_name|friend}}')
    assert.deepEqual(await accessibilityProblems(page), [])
    await page.getByRole('button', { name: 'Send to 1' }).click()
    await page
      .getByRole('dialog')
      .getByRole('button', { name: /^Send for/ })
      .click()
    await page.getByText('1 of 1 done').first().waitFor()
    const answered = await world.demo.post('/v1/sandbox/sms/inbound', {
      from: phone,
      to: 'PAMOJA',
      message: 'Bei gani?',
    })
    assert.ok(answered.status < 300, answered.text)
    await page.getByRole('region', { name: 'Replies' }).getByText('Bei gani?').waitFor()
    assert.deepEqual(await accessibilityProblems(page), [])
    assert.equal((await world.demo.delete('/v1/sandbox/clock')).status, 200)
  })

  test('a reviewer reads what a check found and decides it with a reason', async () => {
    const asked = await world.demo.post('/v1/identity/verify-id', {
      ...{ document_type: 'passport', country: 'KE', document_front: 'sandbox:passport_ke' },
      ...{ checks: ['document_verification', 'registry_lookup'], document_number: '99990007', wait: 25 },
    })
    assert.equal(asked.status, 201, asked.text)
    const waits = async (): Promise<boolean> => {
      const { body } = await world.demo.get(`/v1/identity/verification/${asked.body.verification_id}`)
      return body.stage === 'awaiting_review'
    }
    await eventually(waits, 'the check waits for a person')
    const theirs = await memberOf('reviewer')
    await theirs
      .getByRole('navigation', { name: 'Pages' })
      .getByText(/\d to review/)
      .waitFor()
    await to(theirs, `/identity/${asked.body.verification_id}`)
    await theirs.getByRole('heading', { name: 'Document', exact: true }).waitFor()
    assert.deepEqual(await accessibilityProblems(theirs), [])
    await theirs.getByRole('button', { name: 'Approve' }).click()
    const dialog = theirs.getByRole('dialog', { name: 'Approve this check?' })
    await dialog.getByLabel('Reason, shown to the account').fill('The registry was asked by phone')
    await dialog.getByRole('button', { name: 'Approve' }).click()
    const isDecided = async (): Promise<boolean> => {
      const { body } = await world.demo.get(`/v1/identity/verification/${asked.body.verification_id}`)
      return body.status === 'verified' && body.review?.reason === 'The registry was asked by phone'
    }
    await eventually(isDecided, 'the check is decided')
    await theirs.context().close()
  })

  test('a developer sees what a template and a menu become while they are written, and ticks what a webhook is told', async () => {
    const template = await world.demo.post('/v1/email/templates', {
      ...{ name: 'receipt', subject: 'Your receipt', html: '<p>Thanks</p>', defaults: { items: ['tea'] } },
    })
    const menu = await world.demo.post('/v1/ussd/menus', {
      ...{ name: 'Loans', languages: ['en', 'sw'], start: 'home' },
      nodes: { home: { text: { en: 'Welcome', sw: 'Karibu' }, end: true } },
    })
    assert.deepEqual([template.status, menu.status], [201, 201], template.text + menu.text)
    const theirs = await memberOf('developer')
    await to(theirs, `/email-templates/${template.body.id}`)
    await theirs.getByLabel('HTML').fill('<p>Asante {{name}}</p>')
    await theirs.getByLabel('name', { exact: true }).fill('Amina')
    await theirs.frameLocator('.mail-preview').getByText('Asante Amina').waitFor()
    assert.deepEqual(await accessibilityProblems(theirs), [])
    await theirs.getByRole('button', { name: 'Save', exact: true }).click()
    await theirs.getByText('Saved', { exact: true }).waitFor()
    const { body: saved } = await world.demo.get(`/v1/email/templates/${template.body.id}`)
    assert.deepEqual(saved.defaults, { items: ['tea'], name: 'Amina' }, 'a list stays a list')
    await to(theirs, `/menus/${menu.body.id}`)
    await theirs.getByLabel('Name of another screen').fill('balance')
    await theirs.getByRole('button', { name: 'Add a screen' }).click()
    await theirs.getByLabel('Text', { exact: true }).fill('You owe nothing')
    await theirs.getByLabel('Language', { exact: true }).selectOption('sw')
    await theirs.getByLabel('Text', { exact: true }).fill('Huna deni')
    await theirs.getByRole('button', { name: /^home/ }).click()
    await theirs.getByLabel('After this screen').selectOption('answers')
    await theirs.getByLabel('Answer', { exact: true }).first().fill('Salio')
    await theirs.getByLabel('Leads to').selectOption('balance')
    await theirs.getByText('1 Salio').waitFor()
    await theirs.getByLabel('Language', { exact: true }).selectOption('en')
    await theirs.getByLabel('Answer', { exact: true }).first().fill('Balance')
    await theirs.reload()
    await theirs.getByText('Not saved yet').waitFor()
    assert.deepEqual(await accessibilityProblems(theirs), [])
    await theirs.getByRole('button', { name: 'Save menu' }).click()
    await theirs.getByText('Version 2').waitFor()
    const { body: built } = await world.demo.get(`/v1/ussd/menus/${menu.body.id}`)
    assert.deepEqual(built.nodes.home.text, { en: 'Welcome', sw: 'Karibu' }, 'the other language stays')
    assert.deepEqual(built.nodes.home.options, [{ label: { en: 'Balance', sw: 'Salio' }, next: 'balance' }])
    await to(theirs, '/webhooks')
    await theirs.getByRole('region', { name: 'Webhooks' }).or(theirs.getByText('No webhooks')).waitFor()
    if (!(await theirs.getByLabel('Address').isVisible())) await theirs.getByText('Add an endpoint').click()
    await theirs.getByLabel('Address').fill('https://shop.example/hooks')
    await theirs.getByLabel('All events').uncheck()
    await theirs.getByLabel('payment.*').check()
    await theirs.getByRole('button', { name: 'Add', exact: true }).click()
    const told = async (): Promise<unknown> =>
      (await world.demo.get('/v1/webhooks')).body.data.find((one: { url: string }) => one.url.includes('shop.example'))
        ?.events
    await eventually(async () => (await told()) !== undefined, 'the webhook is there')
    assert.deepEqual(await told(), ['payment.*'])
    await theirs.context().close()
  })

  test('a fraud rule is put together from conditions, and tried against the last month', async () => {
    await to(page, '/rules')
    await page.getByRole('button', { name: 'Create rule' }).click()
    const form = page.getByRole('dialog', { name: 'Create rule' })
    await form.getByLabel('Name', { exact: true }).fill('Many from one phone')
    await form.getByLabel('Compared with').fill('100')
    await form.getByRole('button', { name: 'Add a condition' }).click()
    await form.getByLabel('Field').nth(1).selectOption('velocity')
    await form.getByLabel('Within').selectOption('24h')
    assert.deepEqual(await accessibilityProblems(page), [])
    await form.getByRole('button', { name: 'Create' }).click()
    await page.getByRole('heading', { name: 'Many from one phone', level: 1 }).waitFor()
    const id = page.url().split('/').at(-1)
    const { body: rule } = await world.demo.get(`/v1/payments/fraud/rules/${id}`)
    assert.deepEqual(rule.conditions, [
      { field: 'amount', operator: 'gt', value: 100 },
      { velocity: { metric: 'count', by: ['phone'], window: '24h' }, operator: 'gt', value: 5 },
    ])
    await page.getByRole('button', { name: 'Backtest' }).click()
    await page.getByText(/^It matches 0 of \d+ checks/).waitFor()
  })

  test('a customer is created, noted on and asked whether they may be written to, with a way back', async () => {
    await to(page, '/customers')
    await page.getByRole('button', { name: 'New customer' }).click()
    const form = page.getByRole('dialog', { name: 'New customer' })
    await form.getByLabel('Name').fill('Chausiku Mwangi')
    await form.getByLabel('Phone numbers').fill('+254711000081')
    await form.getByRole('button', { name: 'Create' }).click()
    await page.getByRole('heading', { name: 'Chausiku Mwangi', level: 1 }).waitFor()
    await page.getByRole('button', { name: 'Add a note' }).click()
    const note = page.getByRole('dialog', { name: 'Add a note' })
    await note.getByLabel('Note').fill('Asks for Swahili')
    await note.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Asks for Swahili').waitFor()
    const texts = page.getByRole('listitem').filter({ hasText: 'Texts' })
    await texts.getByRole('button', { name: 'Record consent' }).click()
    await texts.getByText('Agreed', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Undo' }).waitFor()
    await page.keyboard.press('Control+z')
    await texts.getByText('Unknown').waitFor()
    assert.equal((await world.demo.get('/v1/sms/opt-outs/+254711000081')).status, 404, 'nobody said no')
    assert.deepEqual(await accessibilityProblems(page), [])
    await page.setViewportSize(narrow)
    assert.deepEqual(await accessibilityProblems(page), [])
    assert.equal(await page.evaluate('document.documentElement.scrollWidth - window.innerWidth'), 0)
    await page.setViewportSize(wide)
  })

  test('a file of customers is looked at, imported and followed to its end, and what is filtered comes as a file', async () => {
    await to(page, '/customers')
    await page.getByRole('link', { name: 'Import', exact: true }).click()
    const file = page.getByLabel('CSV or JSON lines')
    const csv = (...lines: string[]) => ({
      ...{ name: 'people.csv', mimeType: 'text/csv', buffer: Buffer.from(lines.join('\n')) },
    })
    await file.setInputFiles(csv('name,phone,shoe', 'Zuri Were,+254711000082,42'))
    await page.getByText('Not known: shoe.').waitFor()
    await file.setInputFiles(
      csv(
        'name,phone,tags,sms_marketing,consent_source,attributes.plan',
        'Zuri Were,+254711000082,imported,granted,counter,gold',
        'Bad,0711,,,,',
      ),
    )
    await page.getByText('Attribute plan').waitFor()
    await page.getByText('phones[0] must be E.164, such as +254711000001').waitFor()
    assert.deepEqual(await accessibilityProblems(page), [])
    await page.setViewportSize(narrow)
    assert.deepEqual(await accessibilityProblems(page), [])
    assert.equal(await page.evaluate('document.documentElement.scrollWidth - window.innerWidth'), 0)
    await shot(page, 'customers-import')
    await page.setViewportSize(wide)
    await page.getByRole('button', { name: 'Import 2 rows' }).click()
    await page.getByText('2 rows are done.').waitFor()
    await page.getByText('1 rows were not imported.').waitFor()
    const saving = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Download the errors' }).click()
    assert.match(await readFile(await (await saving).path(), 'utf8'), /^3,INVALID_PHONE/m)
    assert.deepEqual(await accessibilityProblems(page), [])
    await to(page, '/customers?tag=imported')
    await page.getByText('Zuri Were').waitFor()
    const exporting = page.waitForEvent('download')
    await page.getByRole('button', { name: 'CSV' }).click()
    const exported = await readFile(await (await exporting).path(), 'utf8')
    assert.deepEqual([exported.trimEnd().split('\r\n').length, /granted/.test(exported)], [2, true])
    await to(page, '/customers/imports')
    await page.getByText('people.csv').first().waitFor()
    assert.deepEqual(await accessibilityProblems(page), [])
  })

  test('the conditions of a segment are rows, counted while they are changed; what has no rows is JSON', async () => {
    for (const tags of [['walk'], ['walk', 'far']])
      assert.equal((await world.demo.post('/v1/customers', { external_id: tags.join('-'), tags })).status, 201)
    await to(page, '/segments')
    await page.getByRole('button', { name: 'New segment' }).click()
    const form = page.getByRole('dialog')
    await form.getByLabel('Name').fill('Walkers')
    await form.getByLabel('Tag').fill('walk')
    await form.getByRole('button', { name: 'Create' }).click()
    const figure = page.locator('.figures')
    await figure.getByText('2', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Add a condition' }).click()
    await page.getByLabel('Comparison').nth(1).selectOption({ label: 'is one of' })
    await page.getByLabel('Compared with').nth(1).fill('far, further')
    await figure.getByText('1', { exact: true }).waitFor()
    await page.getByLabel('Customers who meet').selectOption({ label: 'any of these' })
    await figure.getByText('2', { exact: true }).waitFor()
    assert.deepEqual(await accessibilityProblems(page), [])
    await shot(page, 'segments-one')
    await page.setViewportSize(narrow)
    assert.deepEqual(await accessibilityProblems(page), [])
    assert.equal(await page.evaluate('document.documentElement.scrollWidth - window.innerWidth'), 0)
    await shot(page, 'segments-one')
    await page.setViewportSize(wide)
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Saved', { exact: true }).waitFor()
    const { body } = await world.demo.get('/v1/segments')
    assert.deepEqual(body.data[0].filter, {
      or: [
        { field: 'tags', op: 'eq', value: 'walk' },
        { field: 'tags', op: 'in', value: ['far', 'further'] },
      ],
    })
    await page.getByText('As JSON').click()
    await page.getByLabel('Filter').fill('{"not": {"field": "tags", "op": "eq", "value": "far"}}')
    await page.getByRole('button', { name: 'Add a condition' }).waitFor({ state: 'detached' })
    assert.deepEqual(await accessibilityProblems(page), [])
  })

  /** PAMOJA_TEST_SHOTS=folder keeps a picture of every page at both widths. */
  const shot = async (one: Page, address: string): Promise<void> => {
    const { PAMOJA_TEST_SHOTS: folder } = process.env
    if (!folder) return
    await one.evaluate(`document.documentElement.dataset.theme = 'light'`)
    const name = address.replace(/^\/console\/?/, '').replaceAll('/', '-') || 'overview'
    const { width } = one.viewportSize() ?? wide
    await one.screenshot({ path: `${folder}/${name}-${width}.jpg`, type: 'jpeg', quality: 60 })
  }

  test('is readable on every page, wide and narrow, light and dark, and none scrolls sideways', async () => {
    const addresses = async (): Promise<string[]> => {
      await entriesOf(page).first().waitFor({ state: 'attached' })
      return entriesOf(page).evaluateAll((links) => links.map((link) => link.getAttribute('href') ?? ''))
    }
    await to(page, '/operator')
    await page.locator('#pages a[href^="/console/operator/"]').first().waitFor({ state: 'attached' })
    const operators = await addresses()
    await to(page, '/')
    await page.locator('#pages a[href="/console/messages"]').waitFor({ state: 'attached' })
    const forms = ['providers/new', 'carriers/new', 'trunks/new', 'prices/import', 'statements/new', 'plans/starter']
    const all = [...(await addresses()), ...operators, ...forms.map((form) => `/console/operator/${form}`)]
    assert.ok(all.length > 35, `${all.length} pages`)
    const problems: string[] = []
    const titles = new Map<string, string>()
    /** Goes to a page as a link does, and waits until all of it is there. */
    const open = async (address: string): Promise<void> => {
      await to(page, address.replace(/^\/console/, ''))
      // The title follows the heading, and no two pages have the same.
      const others = new Set([...titles].filter(([its]) => its !== address).map(([, title]) => title))
      const isOwn = async (): Promise<string | null> => [await page.title()].find((one) => !others.has(one)) ?? null
      titles.set(address, await eventually(isOwn, `${address} to have a title of its own`))
      await page.getByRole('heading', { level: 1 }).waitFor()
      await page.locator('main :is(.skeleton, [aria-busy=true])').first().waitFor({ state: 'detached' })
    }
    // One window after the other, and in each all pages: the phone beside them is drawn and put away once.
    for (const size of [wide, narrow]) {
      await page.setViewportSize(size)
      for (const [i, address] of all.entries()) {
        await open(address)
        for (const [, theme] of share(looks, i).filter(([one]) => one === size)) {
          await page.evaluate(`document.documentElement.dataset.theme = '${theme}'`)
          for (const one of await accessibilityProblems(page))
            problems.push(`${address} ${size.width} wide, ${theme}: ${one}`)
        }
        await shot(page, address)
        const cut = await page.evaluate(
          `[...document.querySelectorAll('.tbl-scroll')].filter((one) => one.scrollWidth > one.clientWidth + 1).length`,
        )
        if (size === wide && cut !== 0) problems.push(`${address} has a table that is cut off, with the phone open`)
        const over = await page.evaluate('document.documentElement.scrollWidth - window.innerWidth')
        if (size === narrow && over !== 0) problems.push(`${address} scrolls sideways by ${over}`)
      }
    }
    await page.setViewportSize(wide)
    assert.deepEqual(problems, [])
  })
})
