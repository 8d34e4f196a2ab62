// SPDX-License-Identifier: Apache-2.0
// What a person does in the console is done once, whatever is lost on the way: payouts, answers, campaigns; and nobody's draft is
// changed by somebody who did not press a key.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser, Page, Route } from 'playwright-core'
import { buildConsole, openBrowser, withoutChromium } from '../chromium.ts'
import { eventually, startWorld, type World } from '../world.ts'

const patienceMs = 45_000

describe('the console', { skip: withoutChromium() }, () => {
  let world: World
  let browser: Browser
  let page: Page
  let url: string

  const enter = async (): Promise<Page> => {
    const { console: given } = world.credentials
    assert.ok(given)
    url = given.url
    const context = await browser.newContext({ ignoreHTTPSErrors: true, viewport: { width: 1280, height: 800 } })
    const own = await context.newPage()
    own.setDefaultTimeout(patienceMs)
    await own.goto(url)
    await own.getByLabel('Email address').fill(given.email)
    await own.getByLabel('Password').fill(given.password)
    await own.getByRole('button', { name: 'Sign in', exact: true }).click()
    await own.getByRole('navigation', { name: 'Pages' }).waitFor()
    return own
  }

  before(async () => {
    buildConsole()
    world = await startWorld()
    browser = await openBrowser()
    page = await enter()
  })
  after(async () => {
    await browser?.close()
    await world?.stop()
  })

  const made = async (path: string, body: object) => {
    const reply = await world.demo.post(path, body)
    assert.ok(reply.status < 300, reply.text)
    return reply.body
  }

  /** The server does what it is asked, and its next answers never arrive. */
  const loseAnswers = async (path: string, ways: readonly ('lost' | 'failed')[]): Promise<() => Promise<void>> => {
    const left = [...ways]
    const lose = async (route: Route): Promise<void> => {
      const way = route.request().method() === 'POST' ? left.shift() : undefined
      if (way === undefined) return route.continue()
      await route.fetch()
      const error = { code: 'INTERNAL_ERROR', message: 'Something failed.', request_id: 'req_1' }
      await (way === 'lost' ? route.abort('connectionreset') : route.fulfill({ status: 500, json: { error } }))
    }
    await page.route(path, lose)
    return () => page.unroute(path, lose)
  }

  test('a payout whose answer is lost is paid once when it is sent again, and anew when it is another', async () => {
    const phone = '+254711000301'
    const amounts = async (): Promise<number[]> => {
      const { data } = (await world.demo.get('/v1/payouts?limit=100')).body
      return data.map(({ amount }: { amount: number }) => amount).sort()
    }
    const find = await loseAnswers('**/v1/payouts', ['lost', 'failed'])
    await page.goto(`${url}/payouts`)
    const fill = async (amount: string) => {
      await page.getByRole('button', { name: 'Create payout' }).click()
      const form = page.getByRole('dialog', { name: 'Create payout' })
      await form.getByLabel('Phone').fill(phone)
      await form.getByLabel('Amount').fill(amount)
      await form.getByLabel('Currency').fill('KES')
      return form
    }
    const form = await fill('120')
    const pay = form.getByRole('button', { name: 'Pay', exact: true })
    await pay.click()
    await form.getByRole('alert').waitFor()
    await pay.click()
    await form.getByText('Something failed.').or(form.getByText(/req_1/)).first().waitFor()
    await pay.click()
    await page.getByRole('heading', { name: /KES\s120\.00/, level: 1 }).waitFor()
    await find()
    assert.deepEqual(await amounts(), [120])

    const lose = await loseAnswers('**/v1/payouts', ['lost'])
    await page.goto(`${url}/payouts`)
    const second = await fill('120')
    await second.getByRole('button', { name: 'Pay', exact: true }).click()
    await second.getByRole('alert').waitFor()
    assert.deepEqual(await amounts(), [120, 120], 'a payout after one that was answered is another')
    await second.getByLabel('Amount').fill('130')
    await second.getByRole('button', { name: 'Pay', exact: true }).click()
    await page.getByRole('heading', { name: /KES\s130\.00/, level: 1 }).waitFor()
    await lose()
    assert.deepEqual(await amounts(), [120, 120, 130])
  })

  const talkWith = async (phone: string, message: string): Promise<string> => {
    await made('/v1/sandbox/sms/inbound', { from: phone, to: 'PAMOJA', message })
    const talk = async () => {
      const { data } = (await world.demo.get('/v1/conversations?limit=100')).body
      return data.find((one: { phone: string }) => one.phone === phone)?.id
    }
    return eventually(talk, 'the conversation')
  }
  const textsTo = async (phone: string): Promise<string[]> => {
    const { data } = (await world.demo.get(`/v1/sms?to=${encodeURIComponent(phone)}`)).body
    return data.map(({ message }: { message: string }) => message)
  }

  test('an answer whose reply is lost, or that is sent by keys that are held, is sent once', async () => {
    const phone = '+254711000302'
    const id = await talkWith(phone, 'Bei gani?')
    const find = await loseAnswers('**/reply', ['lost'])
    await page.goto(`${url}/inbox/${id}`)
    const box = page.getByLabel('Answer', { exact: true })
    await box.fill('Mia mbili')
    const send = page.getByRole('button', { name: 'Send', exact: true })
    await send.click()
    await page.getByRole('main').getByRole('alert').waitFor()
    await send.click()
    await page.locator('.said').getByText('Mia mbili').first().waitFor()
    await find()
    assert.deepEqual(await textsTo(phone), ['Mia mbili'])

    let asked = 0
    await page.route('**/reply', async (route) => {
      asked++
      await route.continue()
    })
    await box.fill('Karibu tena')
    await page.keyboard.down('Control')
    for (let i = 0; i < 5; i++) await page.keyboard.down('Enter')
    await page.keyboard.up('Enter')
    await page.keyboard.press('Enter')
    await page.keyboard.up('Control')
    await page.locator('.said').getByText('Karibu tena').first().waitFor()
    await eventually(async () => (await box.inputValue()) === '', 'the answer to be sent')
    await page.unroute('**/reply')
    assert.deepEqual([asked, await textsTo(phone)], [1, ['Karibu tena', 'Mia mbili']])
  })

  test('an answer that is sent while the agent goes on is no draft again; one that is not is told and kept', async () => {
    const [first, second] = [await talkWith('+254711000303', 'Mpo?'), await talkWith('+254711000304', 'Naomba msaada')]
    const box = page.getByLabel('Answer', { exact: true })
    const goOn = async (to: string): Promise<void> => page.locator(`.conversations a[href*="${to}"]`).click()
    const held: Route[] = []
    await page.route('**/reply', (route) => void held.push(route))
    const sendAndGoOn = async (words: string): Promise<Route> => {
      await page.goto(`${url}/inbox/${first}`)
      await box.fill(words)
      await page.getByRole('button', { name: 'Send', exact: true }).click()
      const route = await eventually(async () => held.shift(), 'the answer on its way')
      await goOn(second)
      await page.locator('.said').getByText('Naomba msaada').waitFor()
      return route
    }
    const sent = await sendAndGoOn('Tupo')
    await sent.continue()
    await eventually(async () => (await textsTo('+254711000303')).length === 1, 'the text')
    await goOn(first)
    await page.locator('.said').getByText('Tupo').waitFor()
    await eventually(async () => (await box.inputValue()) === '', 'no draft')

    const lost = await sendAndGoOn('Hadi saa kumi')
    await lost.abort('connectionreset')
    await page
      .getByRole('status')
      .getByText(/^Not sent to/)
      .waitFor()
    await goOn(first)
    await eventually(async () => (await box.inputValue()) === 'Hadi saa kumi', 'the draft')
    await page.unroute('**/reply')
  })

  test('a key that is pressed twice before the first answer is pressed twice', async () => {
    const actions = [{ action: 'input', type: ['dtmf'], maxDigits: 3, timeOut: 30 }]
    await made('/v1/voice/calls', { from: '+254700000000', to: '+254711000001', actions })
    await page.getByRole('button', { name: 'Calls', exact: true }).last().click()
    const five = page.getByRole('button', { name: '5', exact: true })
    await five.or(page.getByRole('button', { name: 'Answer the call' })).waitFor()
    if (!(await five.isVisible())) await page.getByRole('button', { name: 'Answer the call' }).click()
    const held: Route[] = []
    await page.route('**/input', (route) => void held.push(route))
    await five.dblclick()
    await eventually(async () => held.length === 2, 'two requests')
    const answer = async (route: Route): Promise<boolean> => {
      const response = await route.fetch()
      await route.fulfill({ response })
      return response.ok()
    }
    assert.deepEqual(await Promise.all(held.map(answer)), [true, true])
    await page.unroute('**/input')
    assert.equal(new Set(held.map((route) => route.request().headers()['idempotency-key'])).size, 2)
  })

  test('words beside an audio file are not dropped in silence', async () => {
    const chat = { from: '+254711000306', type: 'text', text: { body: 'Nitumie sauti' } }
    await made('/v1/sandbox/messenger/inbound', chat)
    await page.goto(`${url}/inbox`)
    await page.getByRole('link', { name: /Nitumie sauti/ }).click()
    const main = page.getByRole('main')
    const file = { name: 'hello.mp3', mimeType: 'audio/mpeg', buffer: Buffer.from('ID3') }
    await main.getByLabel('Attach a file').setInputFiles(file)
    await main.getByLabel('Answer', { exact: true }).fill('Sikiliza hii')
    await main.getByRole('button', { name: 'Send', exact: true }).click()
    await main
      .getByRole('alert')
      .getByText(/An audio file takes no words/)
      .waitFor()
    assert.equal(await main.getByLabel('Answer', { exact: true }).inputValue(), 'Sikiliza hii')
  })

  const draftOf = async (more: object = {}): Promise<string> => {
    const text = { sms: { from: 'PAMOJA', text: 'Habari' } }
    const body = {
      name: 'Lamps',
      segment_id: 'Lamp buyers',
      channel: ['sms'],
      quiet_hours: null,
      content: text,
      ...more,
    }
    return (await made('/v1/campaigns', body)).id
  }
  const stored = async (id: string) => (await world.demo.get(`/v1/campaigns/${id}`)).body

  test('a campaign is started with the words of the page, also right after they were typed, or not at all', async () => {
    const consents = [{ channel: 'sms', purpose: 'marketing', state: 'granted' }]
    await made('/v1/customers', { name: 'Neema', phones: ['+254711000305'], consents, tags: ['lamps'] })
    await made('/v1/segments', { name: 'Lamp buyers', filter: { field: 'tags', op: 'eq', value: 'lamps' } })
    const id = await draftOf()
    await page.goto(`${url}/campaigns/${id}`)
    const start = page.getByRole('button', { name: 'Send to 1' })
    const confirmed = page.getByRole('dialog').getByRole('button', { name: /^Send for/ })
    await start.waitFor()
    await page.getByLabel('Text', { exact: true }).fill('Taa mpya')
    await start.click()
    await confirmed.waitFor()
    await made(`/v1/campaigns/${id}/preview`, {})
    const changed = await world.demo.patch(`/v1/campaigns/${id}`, {
      content: { sms: { from: 'PAMOJA', text: 'Taa za zamani' } },
    })
    assert.equal(changed.status, 200, changed.text)
    await confirmed.click()
    await page.getByText('Taa za zamani').first().waitFor()
    assert.equal((await stored(id)).state, 'draft')
    await page.getByLabel('Text', { exact: true }).fill('Taa bora')
    await start.click()
    await confirmed.click()
    await page.getByText('1 of 1 done').first().waitFor()
    assert.deepEqual(await textsTo('+254711000305'), ['Taa bora'])
  })

  test('of two people with one draft neither undoes what the other wrote, and each chooses what stays', async () => {
    const id = await draftOf()
    const other = await enter()
    await page.goto(`${url}/campaigns/${id}`)
    await other.goto(`${url}/campaigns/${id}`)
    const [mine, theirs] = [page, other].map((one) => one.getByLabel('Text', { exact: true }))
    assert.ok(mine && theirs)
    await mine.waitFor()
    await theirs.fill('Bei mpya')
    await other.getByText('Saved', { exact: true }).waitFor()
    await eventually(async () => (await stored(id)).content.sms.text === 'Bei mpya', 'theirs to be saved')
    await mine.fill('Bei nafuu')
    await page.getByText(/Somebody else changed this draft/).waitFor()
    assert.equal((await stored(id)).content.sms.text, 'Bei mpya')
    await page.getByRole('button', { name: 'Take theirs' }).click()
    await eventually(async () => (await mine.inputValue()) === 'Bei mpya', 'their words')
    await mine.fill('Bei nafuu')
    await eventually(async () => (await stored(id)).content.sms.text === 'Bei nafuu', 'mine to be saved')
    await theirs.fill('Bei poa')
    await other.getByRole('button', { name: 'Keep mine' }).click()
    await eventually(async () => (await stored(id)).content.sms.text === 'Bei poa', 'what was kept')
    const { updated_at } = await stored(id)
    await page.getByRole('button', { name: 'Rename' }).click()
    await page.getByRole('dialog').getByLabel('Name').fill('Lamps in May')
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
    await eventually(async () => (await mine.inputValue()) === 'Bei poa', 'the words that are stored')
    await page.getByText('Saved', { exact: true }).waitFor()
    const renamed = await stored(id)
    assert.deepEqual([renamed.name, renamed.content.sms.text], ['Lamps in May', 'Bei poa'])
    assert.ok(renamed.updated_at > updated_at)
    await other.context().close()
  })

  test('what the page of a draft does not show stays, and words typed just before it is left are saved', async () => {
    const email = { from: 'shop@example.com', subject: 'Taa', html: '<b>Taa</b>', text: 'Taa' }
    const messenger = { template: 'lamps', language: 'sw', parameters: ['{{name}}'] }
    const id = await draftOf({ content: { sms: { from: 'PAMOJA', text: 'Habari' }, email, messenger }, rate: 7 })
    await page.goto(`${url}/campaigns/${id}`)
    const text = page.getByLabel('Text', { exact: true })
    await text.fill('Habari yako')
    await page.getByText('Saved', { exact: true }).waitFor()
    await eventually(async () => (await stored(id)).content.sms.text === 'Habari yako', 'the words')
    assert.deepEqual((await stored(id)).content, { sms: { from: 'PAMOJA', text: 'Habari yako' }, email, messenger })

    await page.getByLabel('Messages a minute').fill('07')
    await page.getByText('Saving…').waitFor()
    await page.getByText('Saved', { exact: true }).waitFor()

    await text.fill('Habari za leo')
    await page.getByRole('link', { name: 'Campaigns', exact: true }).first().click()
    await eventually(
      async () => (await stored(id)).content.sms.text === 'Habari za leo',
      'the words of a page that is left',
    )
    await page.goto(`${url}/campaigns/${id}`)
    await text.fill('Habari za jioni')
    await page.goto('about:blank')
    await eventually(
      async () => (await stored(id)).content.sms.text === 'Habari za jioni',
      'the words of a window that is left',
    )

    const mail = await draftOf({ channel: ['email'], content: { email } })
    await page.goto(`${url}/campaigns/${mail}`)
    await page.getByLabel('Subject').fill('Taa mpya')
    await eventually(async () => (await stored(mail)).content.email.subject === 'Taa mpya', 'the subject')
    assert.deepEqual((await stored(mail)).content.email, { ...email, subject: 'Taa mpya' })
  })
})
