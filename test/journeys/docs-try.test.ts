// SPDX-License-Identifier: Apache-2.0
// Somebody reads the reference in a real browser, presses "Try it" and sends requests with the test key: one that reads, one
// that sends a text, and some that are refused.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser, Locator, Page } from 'playwright-core'
import { accessibilityProblems, openBrowser, withoutChromium } from '../chromium.ts'
import { patienceMs } from '../eventually.ts'
import { startWorld, type World } from '../world.ts'

const quietMs = 15_000

describe('a request is tried on its page of the reference', { skip: withoutChromium() }, () => {
  let world: World
  let browser: Browser
  let page: Page
  const complaints: string[] = []

  before(async () => {
    world = await startWorld()
    browser = await openBrowser()
    const context = await browser.newContext({ ignoreHTTPSErrors: true, viewport: { width: 1280, height: 800 } })
    page = await context.newPage()
    page.setDefaultTimeout(patienceMs(quietMs))
    page.on('console', (message) => {
      if (message.type() === 'error' && !/ 4\d\d /.test(message.text())) complaints.push(message.text())
    })
    page.on('pageerror', (error) => complaints.push(error.message))
    await page.goto(`${world.node.url}/docs/reference/sms`)
  })
  after(async () => {
    await browser?.close()
    await world?.stop()
  })

  const article = (operation: string): Locator => page.locator(`article[id="${operation}"]`)
  const opened = async (operation: string): Promise<Locator> => {
    await article(operation).getByRole('button', { name: 'Try it' }).first().click()
    return article(operation).locator('form')
  }
  /** What it is answered: the status, and the body where that is JSON. */
  const answered = async (form: Locator) => {
    await form.getByRole('button', { name: 'Send' }).click()
    const output = form.locator('pre')
    await output.filter({ hasText: /^\d{3}\n/ }).waitFor()
    const [status = '', ...lines] = ((await output.textContent()) ?? '').split('\n')
    return { status: Number(status), body: JSON.parse(lines.join('\n')) }
  }

  test('only with a test key, which is asked for first', async () => {
    const form = await opened('sms.list')
    const key = form.getByLabel('Test key')
    assert.equal(await form.locator('input:focus').getAttribute('placeholder'), 'pmj_test_…')
    assert.equal(await key.getAttribute('type'), 'password')
    await key.fill('pmj_live_nothing')
    await form.getByRole('button', { name: 'Send' }).click()
    await form.getByText('Only test keys are tried here: they begin with pmj_test_.').waitFor()
  })

  test('a GET shows what the account has', async () => {
    const { body: sent } = await world.demo.post('/v1/sms/send', {
      ...{ to: '+254711000001', from: 'PAMOJA', message: 'Habari' },
    })
    const form = article('sms.list').locator('form')
    await form.getByLabel('Test key').fill(world.credentials.api_key)
    await form.getByLabel('GET /api').fill('/v1/sms?limit=1')
    const { status, body } = await answered(form)
    assert.equal(status, 200)
    assert.equal(body.data[0].message_id, sent.message_id)
  })

  test('a POST does what it says, with the key that was given once', async () => {
    const form = await opened('sms.send')
    assert.equal(await form.getByLabel('Test key').inputValue(), world.credentials.api_key)
    const { status, body } = await answered(form)
    assert.equal(status, 200)
    const shown = JSON.parse(await form.getByLabel('Body').inputValue())
    const { body: stored } = await world.demo.get(`/v1/sms/${body.data.message_id}`)
    assert.equal(stored.message, shown.message)
  })

  test('a refusal is shown as it came, and the next try goes through', async () => {
    const form = article('sms.send').locator('form')
    await form.getByLabel('Body').fill('{"to": "+254711000001", "text": "Habari"}')
    const { status, body } = await answered(form)
    assert.deepEqual([status, body.error.code], [422, 'VALIDATION_ERROR'])
    assert.match(body.error.details, /message is required/)
    await form.getByLabel('Body').fill('{"to": "+254711000001", "message": "Habari"')
    assert.equal((await answered(form)).status, 400)
    await form.getByLabel('Body').fill('{"to": "+254711000001", "from": "PAMOJA", "message": "Habari"}')
    assert.equal((await answered(form)).status, 200)
    await form.getByLabel('Test key').fill('pmj_test_nobodys')
    assert.equal((await answered(form)).status, 401)
  })

  test('an address that wants an id says so', async () => {
    await page.reload()
    const form = await opened('sms.get')
    await form.getByLabel('Test key').fill(world.credentials.api_key)
    await form.getByRole('button', { name: 'Send' }).click()
    await form.getByText('Put an id where the address has a word with a $.').waitFor()
  })

  test('on a page that everybody can read, as all of the documentation', async () => {
    for (const path of ['reference/auth', 'guides/console', 'errors/VALIDATION_ERROR', '']) {
      await page.goto(`${world.node.url}/docs/${path}`.replace(/\/$/, ''))
      const attempt = page.getByRole('button', { name: 'Try it' })
      if ((await attempt.count()) > 0) await attempt.first().click()
      assert.deepEqual(await accessibilityProblems(page), [], path)
    }
    assert.deepEqual(complaints, [])
  })
})
