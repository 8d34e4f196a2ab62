// SPDX-License-Identifier: Apache-2.0
// Baresip, a SIP phone that is not ours, calls a number: it hears a Swahili menu, presses a key and is recorded. Debian has it in
// the package `baresip`; PAMOJA_REQUIRE_BARESIP=1 makes its absence a failure.
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { rms } from '../../src/protocols/audio/tones.ts'
import { readWav } from '../../src/protocols/audio/wav.ts'
import { eventually } from '../eventually.ts'
import { startReceiver } from '../receiver.ts'
import { startWorld } from '../world.ts'
import { fetched, startBaresip, withoutBaresip } from './baresip.ts'

const reason = withoutBaresip()

test('an independent phone hears a Swahili menu, presses a key and is recorded', { skip: reason }, async (t) => {
  const world = await startWorld({ PAMOJA_VOICE_LATENESS_MS: 60_000 })
  t.after(() => world.stop())
  const shop = await startReceiver()
  t.after(() => shop.stop())
  shop.answer(({ url }, response) => {
    const flows: Record<string, object[]> = {
      '/answer': [
        { action: 'talk', text: 'Karibu. Bonyeza moja kwa salio, mbili kwa msaada.', language: 'sw-KE', bargeIn: true },
        { action: 'input', maxDigits: 1, timeOut: 30, eventUrl: [shop.url('/typed')] },
      ],
      '/typed': [{ action: 'record', timeOut: 3, eventUrl: [shop.url('/recorded')] }, { action: 'hangup' }],
    }
    response.end(JSON.stringify(flows[url] ?? {}))
  })
  const ada = await world.account({ balance: 100 })
  const number = '+254700333444'
  const assigned = await ada.client.post(`/v1/voice/numbers/${encodeURIComponent(number)}/assign`, {
    application: { answer_url: shop.url('/answer') },
  })
  assert.equal(assigned.status, 200, JSON.stringify(assigned.body))
  const sip = new URL((world.node.listeners.sip ?? '').replace('sip:', 'http:'))
  const phone = await startBaresip(t, `sip:${number}@127.0.0.1:${sip.port}`)
  const asked = JSON.parse((await shop.next('/answer')).body)
  assert.deepEqual([asked.to, asked.direction], [number, 'inbound'])
  await phone.says('established')
  phone.press('1')
  const typed = JSON.parse((await shop.next('/typed')).body)
  assert.equal(typed.dtmf, '1')
  const recorded = JSON.parse((await shop.next('/recorded')).body)
  assert.ok(recorded.duration >= 2, JSON.stringify(recorded))
  const sound = readWav(await fetched(recorded.recording_url, await readFile(world.node.caFile ?? '', 'utf8')))
  assert.ok(typeof sound !== 'string' && rms(sound) > 1_000, 'what the phone said is on the recording')
  const over = await eventually(async () => {
    const { body } = await ada.client.get(`/v1/voice/${asked.call_id}`)
    return body.ended_at ? body : null
  }, 'the call to end')
  assert.deepEqual([over.status, over.hangup_by], ['completed', 'system'])
  await phone.stop()
  const heard = await phone.heard()
  assert.ok(typeof heard !== 'string' && rms(heard) > 200, 'the phone heard the menu')
})
