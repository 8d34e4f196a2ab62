// SPDX-License-Identifier: Apache-2.0
// Somebody opens the console in a real browser, with nothing but what the first start said: signs in, sends a text, sees it
// arrive on the phone beside the page, and answers it.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { accessibilityProblems, buildConsole, openBrowser, openEntry, withoutChromium } from '../chromium.ts'
import { patienceMs } from '../eventually.ts'
import { startWorld, type World } from '../world.ts'

const quietMs = 15_000
const phone = '+254711000042'

let world: World
before(async () => {
  buildConsole()
  world = await startWorld()
})
after(() => world.stop())

test('the console is one page at every address below /console, without inline script', async () => {
  for (const path of ['/console', '/console/messages/sms_1?x=1']) {
    const { status, headers, text } = await world.stranger.get(path)
    assert.equal(status, 200)
    assert.match(headers['content-security-policy'] ?? '', /script-src 'self'.*frame-ancestors 'none'/)
    assert.doesNotMatch(text, /<script(?![^>]* src=)|style=/)
  }
  for (const path of ['/console/assets/none.js', '/console/assets/..%2fprogram%2fmain.js', '/console/api/none'])
    assert.equal((await world.stranger.get(path)).status, 404, path)
})

test('the first load is at most 80 kB, and what has its content in its name is kept', async () => {
  const { text } = await world.stranger.get('/console')
  const asked = [...text.matchAll(/(?:src|href)="(\/console\/assets\/[^"]+\.(?:js|css))"/g)].map(
    ([, path = '']) => path,
  )
  assert.equal(asked.length, 2)
  let bytes = 0
  // What a file imports at once is loaded with it; what it imports later is not.
  for (const path of asked) {
    const { headers } = await world.stranger.get(path, { headers: { 'accept-encoding': 'gzip' } })
    assert.equal(headers['content-encoding'], 'gzip')
    assert.match(headers['cache-control'] ?? '', /immutable/)
    bytes += Number(headers['content-length'])
    const again = await world.stranger.get(path, { headers: { 'if-none-match': headers.etag ?? '' } })
    assert.equal(again.status, 304)
    const { text: source } = await world.stranger.get(path)
    for (const [, name = ''] of source.matchAll(/(?:from|import)"\.\/([^"]+\.js)"/g))
      if (!asked.some((known) => known.endsWith(name))) asked.push(`/console/assets/${name}`)
  }
  assert.ok(asked.length > 2, 'chunks that are loaded at once are counted')
  assert.ok(bytes > 0 && bytes <= 80_000, `${bytes} bytes`)
})

describe('in a browser', { skip: withoutChromium() }, () => {
  let browser: Browser
  let context: BrowserContext
  let page: Page
  const complaints: string[] = []

  before(async () => {
    browser = await openBrowser()
    context = await browser.newContext({ ignoreHTTPSErrors: true, viewport: { width: 1280, height: 800 } })
    page = await context.newPage()
    page.setDefaultTimeout(patienceMs(quietMs))
    page.on('console', (message) => {
      if (message.type() === 'error' && !/401/.test(message.text())) complaints.push(message.text())
    })
    page.on('pageerror', (error) => complaints.push(error.message))
  })
  after(() => browser.close())

  const given = (): { url: string; email: string; password: string } => {
    assert.ok(world.credentials.console)
    return world.credentials.console
  }
  /** Not the apps of the phone. */
  const pages = () => page.getByRole('navigation', { name: 'Pages' })
  const isFine = async (where: string): Promise<void> => assert.deepEqual(await accessibilityProblems(page), [], where)

  test('a language is chosen before signing in, a wrong password is told, and the right one opens the overview', async () => {
    const { url, email, password } = given()
    await page.goto(url)
    await page.getByLabel('Language').selectOption('sw')
    await page.getByRole('heading', { name: 'Ingia' }).waitFor()
    await page.getByLabel('Lugha').selectOption('en')
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    await page.getByLabel('Email address').fill(email)
    await page.getByLabel('Password').fill('not this one')
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.getByRole('alert').getByText('The address or the password is wrong.').waitFor()
    await isFine('sign in')
    await page.getByLabel('Password').fill(password)
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.getByRole('heading', { name: /^(Karibu|Overview)/ }).waitFor()
    await isFine('overview')
  })

  test('a text that is sent arrives on the phone beside the page, and the phone answers', async () => {
    await page.getByLabel('Number of the phone').fill(phone)
    await pages().getByRole('link', { name: 'Send a text' }).click()
    await page.getByLabel('To', { exact: true }).fill(phone)
    await page.getByLabel('Text', { exact: true }).fill('Habari Ada, oda yako imetumwa.')
    await isFine('send')
    await page.getByRole('button', { name: 'Send the text' }).click()
    await page.getByRole('heading', { name: `To ${phone}` }).waitFor()
    const screen = page.getByRole('log')
    await screen.getByText('Habari Ada, oda yako imetumwa.').waitFor()
    await page.getByRole('main').getByText('Delivered', { exact: true }).first().waitFor()
    await isFine('message')
    await page.getByLabel('Reply from the phone').fill('Asante sana')
    await page.getByRole('button', { name: 'Reply' }).click()
    await screen.getByText('Asante sana').waitFor()
    const { body } = await world.demo.get('/v1/sms?direction=inbound')
    assert.equal(body.data[0].message, 'Asante sana')
    assert.equal(body.data[0].from, phone)
  })

  test('the list of messages is filtered by the server, and the address keeps the filter', async () => {
    await pages().getByRole('link', { name: 'Messages', exact: true }).click()
    await page.getByRole('cell', { name: 'Asante sana' }).waitFor()
    await page.getByRole('main').getByLabel('State').selectOption('delivered')
    await page.getByRole('cell', { name: 'Asante sana' }).waitFor({ state: 'detached' })
    await page.getByRole('cell', { name: 'Habari Ada, oda yako imetumwa.' }).waitFor()
    assert.match(page.url(), /\/console\/messages\?status=delivered$/)
    await page.reload()
    await page.getByRole('cell', { name: 'Habari Ada, oda yako imetumwa.' }).waitFor()
    assert.equal(await page.getByLabel('State').inputValue(), 'delivered')
    await isFine('messages')
    let asked = 0
    page.on('request', (request) => {
      if (request.url().includes('/v1/sms?')) asked++
    })
    const to = page.getByRole('main').getByLabel('To', { exact: true })
    await to.pressSequentially(phone)
    assert.equal(await page.locator('tr.r').count(), 1, 'what is there stays while one types')
    await page.waitForURL(/to=%2B254/)
    await page.getByRole('cell', { name: 'Habari Ada, oda yako imetumwa.' }).waitFor()
    assert.ok(asked <= 3, `${asked} requests for ${phone.length} letters`)
  })

  test('payments, webhooks with their deliveries, requests, keys and sessions are there', async () => {
    const paid = await world.demo.post('/v1/payments/mobile/initiate', {
      ...{ amount: 150, currency: 'KES', phone: '+254711000001', provider: 'mpesa', reference: 'INV-1' },
    })
    assert.ok(paid.status < 300, paid.text)
    const hook = await world.demo.post('/v1/webhooks', { url: 'https://localhost:1024/hooks', events: ['sms.*'] })
    assert.ok(hook.status < 300, hook.text)
    const open = (name: string) => openEntry(page, name)
    await open('Payments')
    await page.getByRole('cell', { name: /INV-1/ }).waitFor()
    await isFine('payments')
    await page.getByRole('region', { name: 'Payments' }).getByRole('link').first().click()
    await page.getByRole('heading', { name: /KES\s150\.00/ }).waitFor()
    await isFine('payment')
    await open('Webhooks')
    await page.getByRole('main').getByRole('link', { name: 'https://localhost:1024/hooks' }).click()
    await page.getByText('No deliveries').waitFor()
    await isFine('deliveries')
    await open('Requests')
    await page.getByRole('cell', { name: '/v1/payments/mobile/initiate' }).waitFor()
    assert.equal(await page.getByRole('cell', { name: '/v1/sandbox/sms/handset' }).count(), 0)
    await isFine('requests')
    await open('Keys')
    await page.getByRole('button', { name: 'Create API key' }).click()
    const form = page.getByRole('dialog', { name: 'Create API key' })
    await form.getByLabel('Name', { exact: true }).fill('Shop backend')
    await form.getByRole('button', { name: 'Create' }).click()
    const key = await form.getByText(/^pmj_test_\w{38}$/).textContent()
    assert.equal((await world.stranger.as(key).get('/v1/auth/whoami')).status, 200)
    await isFine('a new key')
    await form.getByRole('button', { name: 'Close' }).click()
    await isFine('keys')
    await page
      .getByRole('row', { name: /Shop backend/ })
      .getByRole('button', { name: 'Revoke' })
      .click()
    await page.getByRole('dialog').getByText('Programs that use it are refused at once.').waitFor()
    await isFine('the question before a key is revoked')
    await page.getByRole('button', { name: 'Revoke Shop backend for good' }).click()
    await page
      .getByRole('row', { name: /Shop backend/ })
      .getByText('Revoked')
      .waitFor()
    assert.equal((await world.stranger.as(key).get('/v1/auth/whoami')).status, 401)
    await open('Requests')
    await page
      .getByRole('row', { name: /POST \/v1\/api-keys/ })
      .getByRole('link')
      .first()
      .click()
    await page.getByRole('heading', { name: 'POST /v1/api-keys' }).waitFor()
    const who = page.locator('.facts div').filter({ has: page.getByText('Member', { exact: true }) })
    assert.equal(await who.getByRole('definition').textContent(), given().email)
    await isFine('a request')
    await open('Sessions')
    await page.getByText('This browser').waitFor()
    await isFine('sessions')
  })

  test('live has other data and no phone; dark and narrow are as readable', async () => {
    await pages().getByRole('link', { name: 'Messages', exact: true }).click()
    await page.getByRole('button', { name: 'Live', exact: true }).click()
    await page.getByText('No messages').waitFor()
    assert.equal(await page.getByRole('complementary', { name: 'Phone' }).count(), 0)
    await page.getByRole('button', { name: 'Test', exact: true }).click()
    await page.getByRole('log').getByText('Asante sana').waitFor()
    await page.getByRole('button', { name: 'Your menu' }).click()
    await page.getByRole('button', { name: 'Dark' }).click()
    await isFine('dark')
    await page.keyboard.press('Escape')
    await page.setViewportSize({ width: 390, height: 844 })
    const tabs = page.getByRole('navigation', { name: 'Most used' })
    await page.getByRole('log').waitFor({ state: 'detached' })
    await isFine('narrow')
    await tabs.getByRole('button', { name: 'Phone' }).click()
    await page.getByRole('log').waitFor()
    await isFine('narrow, with the phone over the page')
    await tabs.getByRole('button', { name: 'Phone' }).click()
    const overflow = await page.evaluate('document.documentElement.scrollWidth - window.innerWidth')
    assert.equal(overflow, 0)
    assert.equal(await pages().count(), 0)
    const bar = await page.getByRole('banner').boundingBox()
    assert.ok(bar && bar.height <= 60, `the top is one line, not ${bar?.height} pixels`)
    await tabs.getByRole('button', { name: 'More' }).click()
    await isFine('menu')
    await page.keyboard.press('Escape')
    assert.equal(await pages().count(), 0)
    await page.getByRole('button', { name: 'Your menu' }).click()
    await page.getByRole('link', { name: 'Operator of this installation' }).click()
    await page.getByRole('heading', { name: 'Nodes' }).waitFor()
    assert.equal(await page.evaluate('document.documentElement.scrollWidth - window.innerWidth'), 0)
    await page.setViewportSize({ width: 1280, height: 800 })
  })

  test('whoever signs out sees the form again, another tab shows who signed in since, and no address held a secret', async () => {
    const other = await page.context().newPage()
    await other.goto(given().url)
    await other.getByRole('button', { name: 'Your menu' }).waitFor()
    await page.getByRole('button', { name: 'Your menu' }).click()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    await page.goto(`${given().url}/keys`)
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    const { body } = await world.demo.post('/v1/team/members', { email: 'kito@example.com', role: 'viewer' })
    await page.goto(body.invite_url)
    await page.getByLabel('Choose a password').fill('correct horse battery staple')
    await page.getByRole('button', { name: 'Begin' }).click()
    await other.getByRole('button', { name: 'Your menu' }).filter({ hasText: 'KE' }).waitFor()
    await other.close()
    assert.deepEqual(complaints, [])
  })
})
