// SPDX-License-Identifier: Apache-2.0
// A call centre with nothing of ours at either end: baresip calls, two agents and a supervisor are in Chromium, one agent asks the
// other, all three speak, and the recording and the report say so. Debian has both (`baresip`, `chromium`); without them the reason
// is printed. PAMOJA_REQUIRE_BARESIP=1 and PAMOJA_TEST_CHROMIUM=required make their absence a failure.
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { share, tone } from '../../src/protocols/audio/tones.ts'
import { agentIs, assign, connected, ended, numberOf, queueOf } from '../callcentre.ts'
import { buildConsole, openBrowser, withoutChromium } from '../chromium.ts'
import { eventually, patienceMs } from '../eventually.ts'
import { browserHears, fakeAudio, memberIn } from '../speaking-browser.ts'
import { startWorld } from '../world.ts'
import { fetched, startBaresip, withoutBaresip } from './baresip.ts'

const reason = withoutBaresip() || withoutChromium()
/** What each of them says. */
const hertz = { customer: 700, zawadi: 1_100, baraka: 1_300, supervisor: 1_500 }

test('agents and a supervisor in Chromium serve a phone: it is answered, listened to, asked about, handed over, and on record', {
  skip: reason,
  timeout: patienceMs(300_000),
}, async (t) => {
  buildConsole()
  const world = await startWorld()
  t.after(() => world.stop())
  const ada = await world.account({ balance: 100 })
  const queue = await queueOf(ada, { name: 'Orders', record: true, wrap_up_seconds: 0 })
  await assign(ada, { queue_id: queue })
  const browser = await openBrowser(fakeAudio)
  t.after(() => browser.close())
  const complaints: string[] = []
  const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click()
  const atDesk = async (name: string, tone: number) => {
    const page = await memberIn(browser, ada, { role: 'agent', name, hertz: tone }, complaints)
    await press(page, 'Start work')
    const id = await eventually(async () => {
      const { body } = await ada.client.get('/v1/voice/agent')
      const agent = body.data.find((one: { name: string }) => one.name === name)
      return agent?.status === 'available' ? String(agent.agent_id) : null
    }, `${name} to work`)
    return { page, id }
  }
  const zawadi = await atDesk('Zawadi Kamau', hertz.zawadi)
  const baraka = await atDesk('Baraka Otieno', hertz.baraka)
  await ada.client.patch(`/v1/voice/agent/${zawadi.id}`, { queues: [queue] })
  const who = { role: 'supervisor', name: 'Sara Supervisor', hertz: hertz.supervisor }
  const supervisor = await memberIn(browser, ada, who, complaints)

  const sip = new URL((world.node.listeners.sip ?? '').replace('sip:', 'http:'))
  const phone = await startBaresip(t, {
    dials: `sip:${numberOf(ada)}@127.0.0.1:${sip.port}`,
    speech: tone([300, hertz.customer], 240_000, 12_000),
  })
  await zawadi.page
    .getByRole('button', { name: 'Answer' })
    .click()
    .catch(async (problem) => {
      const { body: agent } = await ada.client.get(`/v1/voice/agent/${zawadi.id}/context`)
      assert.fail(`${problem.message}\nagent: ${JSON.stringify(agent)}\nbaresip: ${phone.printed()}`)
    })
  const { call_id: call } = await agentIs(ada, zawadi.id, 'on_call')
  await connected(ada, call, zawadi.id)
  await browserHears(zawadi.page, hertz.customer)

  await supervisor.goto(`${world.node.url}/console/wallboard`)
  await press(supervisor, 'Listen')
  for (const one of [hertz.customer, hertz.zawadi]) await browserHears(supervisor, one)
  await browserHears(zawadi.page, hertz.supervisor, false)
  await press(supervisor, 'Whisper')
  await browserHears(zawadi.page, hertz.supervisor)
  await press(supervisor, 'Stop listening')
  await browserHears(zawadi.page, hertz.supervisor, false)

  for (const pressed of [true, false]) {
    await press(zawadi.page, 'Hold')
    await zawadi.page.getByRole('button', { name: 'Hold', pressed }).waitFor()
  }

  await press(zawadi.page, 'Transfer')
  const colleague = zawadi.page.getByRole('listitem').filter({ hasText: 'Baraka Otieno' })
  await colleague.getByRole('button', { name: 'Warm: consult first' }).click()
  await baraka.page.getByRole('alertdialog').waitFor()
  await baraka.page.keyboard.press('Enter')
  await browserHears(zawadi.page, hertz.baraka)
  await browserHears(baraka.page, hertz.zawadi)
  await browserHears(baraka.page, hertz.customer, false)
  await press(zawadi.page, 'Speak all three')
  for (const one of [hertz.customer, hertz.zawadi]) await browserHears(baraka.page, one)
  for (const one of [hertz.customer, hertz.baraka]) await browserHears(zawadi.page, one)
  await zawadi.page.keyboard.press('Control+e')
  await connected(ada, call, baraka.id)
  await agentIs(ada, zawadi.id, 'available')
  await zawadi.page.getByRole('heading', { name: /^Outcome of the call with/ }).waitFor()
  const hasHeard = async (hertz: number) => {
    const heard = await phone.heard()
    return typeof heard !== 'string' && maxShare(heard, hertz) > 0.2
  }
  await eventually(() => hasHeard(hertz.baraka), 'the customer to hear who has the call now')
  await phone.stop()
  const over = await ended(ada, call)
  assert.deepEqual([over.agent_id, over.recording_ids.length, over.hangup_by], [baraka.id, 1, 'caller'])
  assert.deepEqual(complaints, [])

  const recording = await eventually(async () => {
    const { body } = await ada.client.get(`/v1/voice/recording/${over.recording_ids[0]}`)
    return body.status === 'ready' ? body : null
  }, 'the recording')
  const file = await fetched(recording.file_url, await readFile(world.node.caFile ?? '', 'utf8'))
  const [customer = new Int16Array(), agents = new Int16Array()] = channelsOf(file)
  assert.ok(maxShare(customer, hertz.customer) > 0.2, 'the customer is on the left')
  for (const one of [hertz.zawadi, hertz.baraka]) assert.ok(maxShare(agents, one) > 0.2, `${one} Hz is on the right`)
  assert.ok(maxShare(agents, hertz.supervisor) < 0.1, 'nobody who whispers is recorded')
  const heard = await phone.heard()
  assert.ok(typeof heard !== 'string', 'the phone wrote down what it heard')
  for (const one of [hertz.zawadi, hertz.baraka]) assert.ok(maxShare(heard, one) > 0.2, `the customer heard ${one} Hz`)
  assert.ok(maxShare(heard, hertz.supervisor) < 0.1, 'the customer did not hear who whispers')

  const { body: report } = await ada.client.get('/v1/call-center/reports?group_by=agent')
  const rows = Object.fromEntries(
    report.rows.map((row: Record<string, unknown>) => [row.agent_id, [row.answered, row.transferred]]),
  )
  assert.deepEqual(rows, { [zawadi.id]: [1, 1], [baraka.id]: [1, 0] })
})

/** The most that a tone makes of any half second. */
function maxShare(samples: Int16Array, hertz: number): number {
  let most = 0
  for (let at = 0; at + 4_000 <= samples.length; at += 4_000)
    most = Math.max(most, share(samples.subarray(at, at + 4_000), hertz))
  return most
}

/** Left and right of a recording, which is 16-bit PCM behind a header of 44 bytes. */
function channelsOf(file: Buffer): Int16Array[] {
  const frames = (file.length - 44) >> 2
  return [0, 1].map((side) => Int16Array.from({ length: frames }, (_, i) => file.readInt16LE(44 + 4 * i + 2 * side)))
}
