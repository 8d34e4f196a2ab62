// SPDX-License-Identifier: Apache-2.0
// The call centre as two agents and a supervisor have it in their browsers: prompts and versions of a menu, hours, reports by mail,
// calls that are handed on from desk to desk, a conference, and the view for a screen on the wall.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { simulatedCarrier } from '../../src/areas/voice/trunks/sandbox-carrier.ts'
import { writeWav } from '../../src/protocols/audio/wav.ts'
import { agentIs, assign, callerOf, connected, done, ended, later, numberOf, queueOf } from '../callcentre.ts'
import { accessibilityProblems, buildConsole, openBrowser, withoutChromium } from '../chromium.ts'
import { endless, hearsNow, hum } from '../hearing.ts'
import { browserHears, fakeAudio, memberIn, shot } from '../speaking-browser.ts'
import { type Account, eventually, startWorld, type World } from '../world.ts'

/** Tones that microphones hear, and that of the uploaded prompt. */
const hertz = { zawadi: 600, baraka: 900, supervisor: 1_500, prompt: 440 }

describe('pages of the call centre', { skip: withoutChromium() }, () => {
  let world: World
  let browser: Browser
  let ada: Account
  let supervisor: Page
  let queue: string
  const complaints: string[] = []

  before(async () => {
    world = await startWorld()
    buildConsole()
    browser = await openBrowser(fakeAudio)
    ada = await world.account({ balance: 1_000 })
    queue = await queueOf(ada, { name: 'Orders' })
    supervisor = await memberIn(
      browser,
      ada,
      { role: 'supervisor', name: 'Sara Supervisor', hertz: hertz.supervisor },
      complaints,
    )
  })
  after(async () => {
    await browser?.close()
    await world?.stop()
  })

  const carrier = () => simulatedCarrier.of(world.app) ?? assert.fail('no carrier')
  const at = (path: string): string => `${world.node.url}/console/${path}`
  const dialog = (page: Page, name: string) => page.getByRole('dialog', { name })
  const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click()
  const phoneHears = (call: string, tone: number, isHeard = true) =>
    eventually(
      async () => hearsNow(carrier().heard(call)?.samples ?? new Int16Array(0), tone) === isHeard,
      `the phone ${isHeard ? 'to hear' : 'not to hear'} ${tone} Hz`,
    )

  test('a supervisor uploads a prompt that callers hear, and takes the menu back to a version and forth again', async () => {
    const menus = { main: { prompt: { text: 'One.' }, options: { '1': { action: { type: 'queue', id: queue } } } } }
    const { ivr_id } = await done(ada, '/v1/voice/ivr', { name: 'Reception', entry: 'main', menus }, 201)
    await assign(ada, { ivr_id })
    await supervisor.goto(at(`voice-menus/${ivr_id}`))
    const step = supervisor.getByRole('region', { name: 'main' })
    await step.getByLabel('Audio').selectOption({ label: 'An uploaded sound' })
    const buffer = writeWav([hum(hertz.prompt), hum(hertz.prompt)])
    await step.getByLabel('Upload a sound').setInputFiles({ name: 'welcome.wav', mimeType: 'audio/wav', buffer })
    const chosen = step.getByLabel('Uploaded sound')
    await eventually(async () => (await chosen.inputValue()).startsWith('prm_'), 'the uploaded sound to be chosen')
    await shot(supervisor, 'prompt')
    await press(supervisor, 'Save menu')
    await supervisor.getByText('Version 2').first().waitFor()
    assert.deepEqual(await accessibilityProblems(supervisor), [])
    const call = await callerOf(ada)
    await phoneHears(call, hertz.prompt)
    await done(ada, `/v1/voice/call/${call}/hangup`, {})

    const now = async () => (await ada.client.get(`/v1/voice/ivr/${ivr_id}`)).body
    const first = supervisor.getByRole('listitem').filter({ hasText: 'Version 1' })
    await first.getByRole('button', { name: 'Look at it' }).click()
    await first.getByRole('definition').getByText('One.').waitFor()
    await first.scrollIntoViewIfNeeded()
    await shot(supervisor, 'versions')
    await first.getByRole('button', { name: 'Restore' }).click()
    await supervisor.getByText('Version 1 is back').waitFor()
    assert.deepEqual([(await now()).version, (await now()).menus.main.prompt], [3, { text: 'One.' }])
    await supervisor.locator('.toast', { hasText: 'is back' }).getByRole('button', { name: 'Undo' }).click()
    await eventually(async () => (await now()).version === 4, 'the undoing')
    assert.ok((await now()).menus.main.prompt.prompt_id, 'the uploaded sound is played again')
    await supervisor.goto(at('voice-prompts'))
    await supervisor.getByText('welcome.wav').first().waitFor()
    await shot(supervisor, 'prompts')
    await supervisor.goto(at(`queues/${queue}`))
    await press(supervisor, 'Change')
    await dialog(supervisor, 'Edit queue').getByLabel('Name').waitFor()
    await shot(supervisor, 'queue-form')
  })

  test('a menu has hours, variables and a step that asks for digits, all made in the builder', async () => {
    const shop = { name: 'Shop', timezone: 'Africa/Nairobi', weekly: { monday: [{ open: '08:00', close: '17:00' }] } }
    const { business_hours_id } = await done(ada, '/v1/voice/routing/business-hours', shop, 201)
    const menus = { main: { prompt: { text: 'One.' }, options: { '1': { action: { type: 'queue', id: queue } } } } }
    const { ivr_id } = await done(ada, '/v1/voice/ivr', { name: 'Orders', entry: 'main', menus }, 201)
    const now = async () => (await ada.client.get(`/v1/voice/ivr/${ivr_id}`)).body
    await supervisor.goto(at(`voice-menus/${ivr_id}`))
    await press(supervisor, 'Change')
    const form = dialog(supervisor, 'Edit voice menu')
    await form.getByLabel('Business hours', { exact: true }).selectOption({ label: 'Shop' })
    await form.getByLabel('Destination outside business hours').selectOption({ label: 'Play a message' })
    await form.getByLabel('Prompt').fill('We are closed.')
    await form.getByLabel('Variables, one on a line').fill('shop=Duka\nlimit=5')
    await form.getByRole('button', { name: 'Save' }).click()
    await form.waitFor({ state: 'detached' })
    const map = supervisor.getByRole('region', { name: 'Steps of the call' })
    await map.getByRole('button', { name: 'Is it open?' }).waitFor()
    await map.getByRole('button', { name: 'Play a message: We are closed.' }).waitFor()
    const { variables, closed, ...rest } = await now()
    assert.deepEqual(
      [variables, closed, rest.business_hours_id],
      [{ shop: 'Duka', limit: 5 }, { type: 'message', text: 'We are closed.' }, business_hours_id],
    )
    const step = supervisor.getByRole('region', { name: 'main' })
    await step.getByRole('button', { name: 'Remove' }).click()
    await step.getByRole('button', { name: 'Ask for digits' }).click()
    await step.getByLabel('Variable for the digits').fill('order')
    await step.getByLabel('Leads to').selectOption({ label: 'Queue Orders' })
    await shot(supervisor, 'builder')
    assert.deepEqual(await accessibilityProblems(supervisor), [])
    await press(supervisor, 'Save menu')
    await supervisor.getByText('Version 3').first().waitFor()
    assert.deepEqual((await now()).menus.main.collect, { variable: 'order', next: { type: 'queue', id: queue } })

    await press(supervisor, 'Change')
    await form.getByLabel('Business hours', { exact: true }).selectOption({ label: 'Always open' })
    await form.getByLabel('Variables, one on a line').fill('')
    await form.getByRole('button', { name: 'Save' }).click()
    await map.getByRole('button', { name: 'Is it open?' }).waitFor({ state: 'detached' })
    const after = await now()
    assert.deepEqual([after.business_hours_id, after.variables], [null, {}])
  })

  test('hours keep their holidays of every year and of half a day when they are changed, and let go of their queues', async () => {
    const office = {
      ...{ name: 'Office', timezone: 'Africa/Nairobi', queue_ids: [queue] },
      weekly: { monday: [{ open: '08:00', close: '17:00' }] },
      holidays: [
        { date: '2026-12-25', name: 'Christmas', every_year: true },
        { date: '2027-03-10', name: 'Eid', intervals: [{ open: '08:00', close: '12:00' }] },
      ],
    }
    const { business_hours_id: id } = await done(ada, '/v1/voice/routing/business-hours', office, 201)
    await supervisor.goto(at(`hours/${id}`))
    await supervisor.getByText('25 Dec, every year, Christmas').waitFor()
    await press(supervisor, 'Change')
    const form = dialog(supervisor, 'Edit hours')
    assert.equal(
      await form.getByLabel('Holidays, one on a line').inputValue(),
      '12-25 Christmas\n2027-03-10 08:00-12:00 Eid',
    )
    await shot(supervisor, 'hours-form')
    await form.getByLabel('Orders').uncheck()
    await form.getByRole('button', { name: 'Save' }).click()
    await form.waitFor({ state: 'detached' })
    const { body } = await ada.client.get(`/v1/voice/routing/business-hours/${id}`)
    assert.deepEqual(
      [body.name, body.queue_ids, body.holidays],
      ['Office', [], [{ ...office.holidays[0], date: '2000-12-25' }, office.holidays[1]]],
    )
  })

  test('a report by mail is scheduled, changed to all queues, mailed and paused by forms', async () => {
    await supervisor.goto(at('call-report'))
    await press(supervisor, 'Schedule a report by mail')
    const form = dialog(supervisor, 'Schedule a report by mail')
    await form.getByLabel('Name').fill('Yesterday')
    await form.getByLabel('Recipients').fill('lead@shop.example')
    await form.getByLabel('Frequency').selectOption({ label: 'Every day' })
    await form.getByLabel('Queue').selectOption({ label: 'Orders' })
    await shot(supervisor, 'report-form')
    await form.getByRole('button', { name: 'Schedule' }).click()
    const row = supervisor.getByRole('row').filter({ hasText: 'Yesterday' })
    await row.getByText('Every day at 07:00').waitFor()
    const now = async () => (await ada.client.get('/v1/call-center/report-schedules')).body.data[0]
    assert.deepEqual([(await now()).queue_id, (await now()).formats], [queue, ['pdf', 'csv']])
    await row.getByRole('button', { name: 'Change' }).click()
    await dialog(supervisor, 'Change the report by mail').getByLabel('Queue').selectOption({ label: 'All queues' })
    await dialog(supervisor, 'Change the report by mail').getByRole('button', { name: 'Save' }).click()
    await eventually(async () => (await now()).queue_id === null, 'all queues to be reported')
    await later(ada, 86_400)
    await eventually(async () => (await now()).last?.status === 'sent', 'the report to be mailed')
    await supervisor.reload()
    await row.getByText('Sent').waitFor()
    await shot(supervisor, 'report-by-mail')
    assert.deepEqual(await accessibilityProblems(supervisor), [])
    await row.getByRole('button', { name: 'Pause' }).click()
    await eventually(async () => (await now()).enabled === false, 'the report to be paused')
  })

  test('a call goes from one desk to another and back to a queue, and each agent notes an outcome', async () => {
    await assign(ada, { queue_id: queue })
    const atDesk = async (name: string, tone: number) => {
      const page = await memberIn(browser, ada, { role: 'agent', name, hertz: tone }, complaints)
      await page.getByRole('heading', { name: 'Desk', level: 1 }).waitFor()
      await press(page, 'Start work')
      const { body } = await eventually(async () => {
        const reply = await ada.client.get('/v1/voice/agent')
        return reply.body.data.some((one: { name: string }) => one.name === name) && reply
      }, `${name} to work`)
      const { agent_id: id } = body.data.find((one: { name: string }) => one.name === name)
      await agentIs(ada, id, 'available')
      await page.getByText('You serve no queue yet').waitFor()
      return { page, id: String(id) }
    }
    const zawadi = await atDesk('Zawadi Kamau', hertz.zawadi)
    await ada.client.patch(`/v1/voice/agent/${zawadi.id}`, { queues: [queue] })
    // It rings on whatever page the agent is, and is answered there.
    await zawadi.page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Inbox' }).click()
    await zawadi.page.getByRole('heading', { name: 'Inbox', level: 1 }).waitFor()
    const call = await callerOf(ada)
    // A tab in the background rings all the same.
    await zawadi.page.evaluate(`Object.defineProperty(document, 'visibilityState', { value: 'hidden' })
      Object.defineProperty(document, 'hidden', { value: true })
      document.dispatchEvent(new Event('visibilitychange'))`)
    await zawadi.page.getByRole('alertdialog').waitFor()
    await eventually(async () => Number(await zawadi.page.evaluate('heard.tones')) >= 2, 'a bell in the hidden tab')
    assert.equal(Object(await zawadi.page.evaluate('heard.notices')).length, 1)
    await zawadi.page.keyboard.press('Enter')
    await connected(ada, call, zawadi.id)
    assert.ok(carrier().say(call, hum(1_000), endless))
    await zawadi.page.getByText('Good connection').waitFor()

    // A text and a request for money to the caller, who is still on the phone.
    await shot(zawadi.page, 'quick')
    await press(zawadi.page, 'Send a text')
    const text = dialog(zawadi.page, 'Send a text')
    assert.equal(await text.getByLabel('Sender').inputValue(), numberOf(ada))
    await text.getByLabel('Text').fill('Your order 4512 comes at three.')
    await shot(zawadi.page, 'quick-text')
    await text.getByRole('button', { name: 'Send', exact: true }).click()
    await text.waitFor({ state: 'detached' })
    await press(zawadi.page, 'Request a payment')
    const money = dialog(zawadi.page, 'Request a payment')
    await money.getByLabel('Amount').fill('150')
    await money.getByRole('button', { name: 'Request payment' }).click()
    await money.waitFor({ state: 'detached' })
    const { body: texts } = await ada.client.get('/v1/sms?limit=5')
    const { body: payments } = await ada.client.get('/v1/payments/transactions?limit=5')
    assert.deepEqual(
      [texts.data[0].to, texts.data[0].message, payments.data[0].amount],
      ['+254711000021', 'Your order 4512 comes at three.', 150],
    )

    const baraka = await atDesk('Baraka Otieno', hertz.baraka)
    await zawadi.page.keyboard.press('p')
    const colleague = zawadi.page.getByRole('listitem').filter({ hasText: 'Baraka Otieno' })
    await colleague.getByRole('button', { name: 'Hand over' }).click()
    await baraka.page.getByRole('alertdialog').waitFor()
    await baraka.page.keyboard.press('Enter')
    await connected(ada, call, baraka.id)
    await browserHears(baraka.page, 1_000)
    await phoneHears(call, hertz.baraka)
    // A telephone that is not answered gives the call back, and the desk says so.
    await baraka.page.keyboard.press('p')
    await baraka.page.getByLabel('Transfer to').fill('+254 711 000 004')
    await baraka.page.getByRole('button', { name: 'Warm: consult first' }).click()
    await baraka.page.getByText('is being rung…').waitFor()
    await later(ada, 120)
    await baraka.page.getByText('The call was not answered: you speak with the caller again.').waitFor()
    await browserHears(baraka.page, 1_000)
    await zawadi.page.getByRole('heading', { name: /^Outcome of the call with/ }).waitFor()
    await zawadi.page.getByLabel('Notes').fill('Wanted to speak with Baraka')
    await zawadi.page.keyboard.press('Escape')
    await zawadi.page.keyboard.press('1')
    await zawadi.page.keyboard.press('Control+Enter')
    await agentIs(ada, zawadi.id, 'available')

    await baraka.page.getByLabel('Transfer to').fill('')
    const orders = baraka.page.getByRole('listitem').filter({ hasText: 'Queue Orders' })
    await orders.getByRole('button', { name: 'Hand over' }).click()
    await zawadi.page.getByRole('alertdialog').waitFor()
    await zawadi.page.keyboard.press('Enter')
    await connected(ada, call, zawadi.id)
    await baraka.page.getByRole('heading', { name: /^Outcome of the call with/ }).waitFor()
    await baraka.page.keyboard.press('2')
    await baraka.page.keyboard.press('Control+Enter')
    await agentIs(ada, baraka.id, 'available')

    // Warm: the colleague is asked at the other desk while the caller hears music, then all three speak, then two.
    const phone = String(await zawadi.page.getByRole('definition').first().textContent())
    await zawadi.page.keyboard.press('p')
    await colleague.getByRole('button', { name: 'Warm: consult first' }).click()
    await baraka.page.getByRole('alertdialog').waitFor()
    await baraka.page.keyboard.press('Enter')
    await zawadi.page.getByText('You speak with Baraka Otieno; the caller hears music.').waitFor()
    await browserHears(zawadi.page, hertz.baraka)
    await browserHears(baraka.page, hertz.zawadi)
    for (const { page } of [zawadi, baraka]) await browserHears(page, 1_000, false)
    for (const tone of [hertz.zawadi, hertz.baraka]) await phoneHears(call, tone, false)
    await baraka.page.getByText(`Zawadi Kamau asks you before handing ${phone} over.`).waitFor()
    assert.equal(await baraka.page.getByRole('button', { name: 'Speak all three' }).count(), 0)
    await shot(zawadi.page, 'warm-asking')
    await shot(baraka.page, 'warm-asked')
    await press(zawadi.page, 'Speak all three')
    await zawadi.page.getByText(`You, ${phone} and Baraka Otieno speak.`).waitFor()
    await baraka.page.getByText(`You, ${phone} and Zawadi Kamau speak.`).waitFor()
    for (const tone of [hertz.baraka, 1_000]) await browserHears(zawadi.page, tone)
    for (const tone of [hertz.zawadi, 1_000]) await browserHears(baraka.page, tone)
    for (const tone of [hertz.zawadi, hertz.baraka]) await phoneHears(call, tone)
    await zawadi.page.keyboard.press('Control+e')
    await connected(ada, call, baraka.id)
    await phoneHears(call, hertz.zawadi, false)
    await phoneHears(call, hertz.baraka)
    await zawadi.page.getByRole('heading', { name: /^Outcome of the call with/ }).waitFor()
    await zawadi.page.keyboard.press('1')
    await zawadi.page.keyboard.press('Control+Enter')
    await agentIs(ada, zawadi.id, 'available')
    await baraka.page.keyboard.press('Control+e')
    await ended(ada, call)
    await baraka.page.keyboard.press('1')
    await baraka.page.keyboard.press('Control+Enter')
    await agentIs(ada, baraka.id, 'available')
    const { body: report } = await ada.client.get('/v1/call-center/reports?group_by=agent,disposition')
    const noted = report.rows.map((row: { agent_id: string; disposition: string }) => [row.agent_id, row.disposition])
    assert.deepEqual(
      noted.filter(([id]: string[]) => id === zawadi.id || id === baraka.id).length,
      noted.length,
      JSON.stringify(noted),
    )
    assert.ok(
      noted.every(([, disposition]: string[]) => disposition !== null),
      JSON.stringify(noted),
    )

    // A conference of both desks and a telephone.
    await supervisor.goto(at('wallboard'))
    await press(supervisor, 'Start a conference')
    const form = dialog(supervisor, 'Start a conference')
    await form.getByLabel('Name').fill('Stand-up')
    await form.getByLabel('Numbers and agents').fill(`${zawadi.id}, ${baraka.id}, +254711000141`)
    await form.getByLabel('From').fill(numberOf(ada))
    await form.getByRole('button', { name: 'Call them' }).click()
    await supervisor.getByRole('heading', { name: 'Stand-up', level: 1 }).waitFor()
    for (const { page } of [zawadi, baraka]) {
      await page.getByRole('alertdialog').waitFor()
      await page.keyboard.press('Enter')
    }
    await browserHears(zawadi.page, hertz.baraka)
    await browserHears(baraka.page, hertz.zawadi)
    await shot(supervisor, 'conference')
    await press(supervisor, 'End it')
    await dialog(supervisor, 'End Stand-up?').getByRole('button', { name: 'End it' }).click()
    for (const { id } of [zawadi, baraka]) await agentIs(ada, id, 'available')
  })

  test('a refusal is in the language of the reader, with the sentence of the API below it', async () => {
    for (const [language, words] of [
      ['fr', 'Une date est fausse, la première suit la dernière, ou la période est trop longue.'],
      ['ar', 'تاريخ غير صحيح، أو الأول بعد الأخير، أو الفترة طويلة جدًا.'],
    ] as const) {
      await supervisor.evaluate(`localStorage.setItem('pamoja-language', '${language}')`)
      await supervisor.goto(at('call-report?from=2026-03-02&to=2026-03-01'))
      const alert = supervisor.getByRole('alert').filter({ hasText: words })
      await alert.getByText('From is not before to.').waitFor()
      await shot(supervisor, `refusal-${language}`)
      assert.deepEqual(await accessibilityProblems(supervisor), [])
    }
    await supervisor.evaluate("localStorage.removeItem('pamoja-language')")
  })

  test('the wallboard has a view for a screen on the wall, without anything else', async () => {
    await supervisor.goto(at('wallboard'))
    await supervisor.getByRole('region', { name: 'Orders' }).waitFor()
    const pages = supervisor.getByRole('navigation', { name: 'Pages' })
    await press(supervisor, 'On a big screen')
    await pages.waitFor({ state: 'hidden' })
    const { body: agents } = await ada.client.get('/v1/voice/agent')
    const { agent_id } = agents.data.find(({ name }: { name: string }) => name === 'Zawadi Kamau')
    await done(ada, '/v1/voice/agent/status', { agent_id, status: 'break', reason: 'lunch' })
    await supervisor.getByRole('listitem').filter({ hasText: 'Zawadi Kamau' }).getByText('Lunch').waitFor()
    await shot(supervisor, 'wall')
    assert.deepEqual(await accessibilityProblems(supervisor), [])
    await press(supervisor, 'On a big screen')
    await pages.waitFor()
    assert.deepEqual(complaints, [])
  })

  test('a queue whose callers wait asks for help: free agents of other queues are added to it', async () => {
    const late = await queueOf(ada, { name: 'Late' })
    await assign(ada, { queue_id: late })
    const call = await callerOf(ada)
    await press(supervisor, 'Alerts')
    await supervisor.getByLabel('Callers who wait').fill('1')
    await press(supervisor, 'Add free agents')
    await supervisor.getByText('Added to Late: Baraka Otieno').waitFor()
    const { body } = await ada.client.get('/v1/voice/agent')
    const { queues } = body.data.find(({ name }: { name: string }) => name === 'Baraka Otieno')
    assert.ok(queues.includes(late), JSON.stringify(queues))
    await done(ada, `/v1/voice/call/${call}/hangup`, {})
    assert.deepEqual(complaints, [])
  })
})
