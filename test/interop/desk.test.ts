// SPDX-License-Identifier: Apache-2.0
// A call centre with nothing of ours at either end: baresip calls, an agent answers in Chromium, a supervisor whispers, the agent
// hands the call over, and the recording and the report say so. Debian has both (`baresip`, `chromium`); without them the reason
// is printed. PAMOJA_REQUIRE_BARESIP=1 and PAMOJA_TEST_CHROMIUM=required make their absence a failure.
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { share, tone } from '../../src/protocols/audio/tones.ts'
import { agentIs, assign, connected, done, ended, login, numberOf, queueOf } from '../callcentre.ts'
import { buildConsole, openBrowser, withoutChromium } from '../chromium.ts'
import { TestDesk } from '../desk.ts'
import { eventually, patienceMs } from '../eventually.ts'
import { startWorld } from '../world.ts'
import { fetched, startBaresip, withoutBaresip } from './baresip.ts'

const reason = withoutBaresip() || withoutChromium()
const microphone = [
  '--use-fake-device-for-media-stream',
  '--use-fake-ui-for-media-stream',
  '--autoplay-policy=no-user-gesture-required',
]
/** What baresip says, and what the supervisor whispers. */
const [customerHertz, whisperHertz] = [700, 1_500]

test('an agent in Chromium answers a phone, is whispered to, hands the call over, and all of it is on record', {
  skip: reason,
  timeout: patienceMs(300_000),
}, async (t) => {
  buildConsole()
  const world = await startWorld()
  t.after(() => world.stop())
  const ada = await world.account({ balance: 100 })
  const queue = await queueOf(ada, { record: true, wrap_up_seconds: 0 })
  await assign(ada, { queue_id: queue })
  const browser = await openBrowser(microphone)
  t.after(() => browser.close())
  const context = await browser.newContext({ ignoreHTTPSErrors: true, permissions: ['microphone'] })
  const page = await context.newPage()
  page.setDefaultTimeout(patienceMs(60_000))
  await page.addInitScript(keepPeers)
  const problems: string[] = []
  page.on('pageerror', (error) => problems.push(error.message))
  const member = await done(ada, '/v1/team/members', { email: 'amina@example.com', name: 'Amina', role: 'agent' }, 201)
  await page.goto(member.invite_url)
  await page.getByLabel('Choose a password').fill('correct horse battery staple')
  await page.getByRole('button', { name: 'Begin' }).click()
  await page.getByRole('button', { name: 'Start work' }).click()
  const amina: string = member.id
  await agentIs(ada, amina, 'available')
  await ada.client.patch(`/v1/voice/agent/${amina}`, { queues: [queue] })

  const sip = new URL((world.node.listeners.sip ?? '').replace('sip:', 'http:'))
  const phone = await startBaresip(t, {
    dials: `sip:${numberOf(ada)}@127.0.0.1:${sip.port}`,
    speech: tone([300, 700], 240_000, 12_000),
  })
  await page
    .getByRole('button', { name: 'Answer' })
    .click({ timeout: patienceMs(120_000) })
    .catch(async (problem) => {
      const { body: agent } = await ada.client.get(`/v1/voice/agent/${amina}/context`)
      assert.fail(`${problem.message}\nagent: ${JSON.stringify(agent)}\nbaresip: ${phone.printed()}`)
    })
  const { call_id: call } = await agentIs(ada, amina, 'on_call')
  await connected(ada, call, amina)
  await browserHears(page, customerHertz, true)

  const { token } = await done(ada, '/v1/voice/agent/login', { agent_id: 'boss' })
  const boss = await TestDesk.open(world.node, token, { hertz: whisperHertz })
  t.after(() => boss.die())
  const monitor = await done(ada, '/v1/voice/monitor', { call_id: call, mode: 'whisper', supervisor_id: 'boss' }, 201)
  await boss.says('call.offer')
  await boss.done({ type: 'call.accept' })
  await browserHears(page, whisperHertz, true)
  await ada.client.delete(`/v1/voice/monitor/${monitor.monitor_id}`)
  await browserHears(page, whisperHertz, false)

  for (const pressed of [true, false]) {
    await page.getByRole('button', { name: 'Hold' }).click()
    await page.getByRole('button', { name: 'Hold', pressed }).waitFor()
  }

  await login(ada, 'baraka', 2)
  await page.getByRole('button', { name: 'Transfer' }).click()
  const colleague = page.getByRole('listitem').filter({ hasText: 'baraka' })
  await colleague.getByRole('button', { name: 'Hand over' }).click()
  await connected(ada, call, 'baraka')
  await agentIs(ada, amina, 'available')
  await page.getByRole('heading', { name: /^Outcome of the call with/ }).waitFor()
  await phone.stop()
  const over = await ended(ada, call)
  assert.deepEqual([over.agent_id, over.recording_ids.length, over.hangup_by], ['baraka', 1, 'caller'])
  assert.deepEqual(problems, [])

  const recording = await eventually(async () => {
    const { body } = await ada.client.get(`/v1/voice/recording/${over.recording_ids[0]}`)
    return body.status === 'ready' ? body : null
  }, 'the recording')
  const file = await fetched(recording.file_url, await readFile(world.node.caFile ?? '', 'utf8'))
  const [customer = new Int16Array(), agents = new Int16Array()] = channelsOf(file)
  assert.ok(maxShare(customer, customerHertz) > 0.2, 'the customer is on the left')
  assert.ok(maxShare(agents, whisperHertz) < 0.1, 'nobody who whispers is recorded')
  const heard = await phone.heard()
  assert.ok(typeof heard !== 'string' && maxShare(heard, whisperHertz) < 0.1, 'the customer did not hear it either')

  const { body: report } = await ada.client.get('/v1/call-center/reports?group_by=agent')
  const rows = Object.fromEntries(
    report.rows.map((row: Record<string, unknown>) => [row.agent_id, [row.answered, row.transferred]]),
  )
  assert.deepEqual(rows, { [amina]: [1, 1], baraka: [1, 0] })
})

/** Keeps the connections that the page makes where a test can look at them. */
function keepPeers(): void {
  const { RTCPeerConnection } = Object(globalThis)
  const peers: unknown[] = []
  Object.assign(globalThis, {
    peers,
    RTCPeerConnection: new Proxy(RTCPeerConnection, {
      construct(target, given) {
        const made = Object(Reflect.construct(target, given))
        peers.push(made)
        return made
      },
    }),
  })
}

/** Waits until what the browser plays has a tone in it, by its own ears. */
async function browserHears(page: Page, hertz: number, isHeard: boolean): Promise<void> {
  await eventually(
    async () => {
      const loudness: number = await page.evaluate(loudnessAt, hertz)
      return loudness > -60 === isHeard
    },
    `the browser ${isHeard ? 'to hear' : 'not to hear'} ${hertz} Hz`,
    60_000,
  )
}

/** Decibels that the browser hears at a frequency. */
function loudnessAt(hertz: number): number {
  const scope = Object(globalThis)
  scope.context ??= new scope.AudioContext()
  const { track } = scope.peers.at(-1).getReceivers()[0]
  if (scope.ear?.track !== track) {
    const analyser = scope.context.createAnalyser()
    analyser.fftSize = 4_096
    scope.context.createMediaStreamSource(new scope.MediaStream([track])).connect(analyser)
    scope.ear = { track, analyser }
  }
  const bins = new Float32Array(scope.ear.analyser.frequencyBinCount)
  scope.ear.analyser.getFloatFrequencyData(bins)
  const middle = Math.round((hertz * 4_096) / scope.context.sampleRate)
  return Math.max(...bins.subarray(middle - 3, middle + 4))
}

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
