// SPDX-License-Identifier: Apache-2.0
// Baresip, a SIP phone that is not ours, calls a number: it hears a Swahili menu, presses keys, says a phrase that is understood,
// and is recorded and written down. Debian has it in the package `baresip`; PAMOJA_REQUIRE_BARESIP=1 makes its absence a failure.
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { Speaker } from '../../src/areas/voice/speech/speak.ts'
import { rms, silence } from '../../src/protocols/audio/tones.ts'
import { readWav } from '../../src/protocols/audio/wav.ts'
import { eventually } from '../eventually.ts'
import { startReceiver } from '../receiver.ts'
import { startWorld } from '../world.ts'
import { fetched, startBaresip, withoutBaresip } from './baresip.ts'

const reason = withoutBaresip()

const phrase = 'Transfer money'
const mostAsked = 5

test('an independent phone hears a Swahili menu, presses keys, says a phrase and is recorded', {
  skip: reason,
}, async (t) => {
  const world = await startWorld({ PAMOJA_VOICE_LATENESS_MS: 60_000 })
  t.after(() => world.stop())
  const shop = await startReceiver()
  t.after(() => shop.stop())
  const speech = { language: 'en-KE', context: ['My balance', phrase, 'An agent'], endOnSilence: 0.6 }
  const listen = { action: 'input', type: ['speech'], speech, eventUrl: [shop.url('/said')] }
  const record = {
    action: 'record',
    timeOut: 6,
    transcription: { language: 'en-KE' },
    eventUrl: [shop.url('/recorded')],
  }
  let asked = 0
  shop.answer(({ url, body }, response) => {
    const flows: Record<string, () => object[]> = {
      '/answer': () => [
        { action: 'talk', text: 'Karibu. Bonyeza moja kwa salio, mbili kwa msaada.', language: 'sw-KE', bargeIn: true },
        { action: 'input', maxDigits: 2, timeOut: 30, eventUrl: [shop.url('/typed')] },
      ],
      '/typed': () => [listen],
      // The phone repeats itself: an utterance that began before it was listened to is asked for again.
      '/said': () => (isPhrase(body) || ++asked >= mostAsked ? [record, { action: 'hangup' }] : [listen]),
    }
    response.end(JSON.stringify(flows[url]?.() ?? {}))
  })
  const ada = await world.account({ balance: 100 })
  const number = '+254700333444'
  const assigned = await ada.client.post(`/v1/voice/numbers/${encodeURIComponent(number)}/assign`, {
    application: { answer_url: shop.url('/answer'), event_url: shop.url('/events') },
  })
  assert.equal(assigned.status, 200, JSON.stringify(assigned.body))
  const sip = new URL((world.node.listeners.sip ?? '').replace('sip:', 'http:'))
  const phone = await startBaresip(t, `sip:${number}@127.0.0.1:${sip.port}`, await repeated(phrase))
  const call = JSON.parse((await shop.next('/answer')).body)
  assert.deepEqual([call.to, call.direction], [number, 'inbound'])
  await phone.says('established')
  phone.press('1')
  phone.press('5')
  assert.equal(JSON.parse((await shop.next('/typed')).body).dtmf, '15')
  let said = (await shop.next('/said')).body
  while (!isPhrase(said) && asked < mostAsked) said = (await shop.next('/said')).body
  assert.ok(isPhrase(said), said)
  const recorded = JSON.parse((await shop.next('/recorded')).body)
  assert.ok(recorded.duration >= 5, JSON.stringify(recorded))
  const sound = readWav(await fetched(recorded.recording_url, await readFile(world.node.caFile ?? '', 'utf8')))
  assert.ok(typeof sound !== 'string' && rms(sound) > 500, 'what the phone said is on the recording')
  const text = await eventually(async () => {
    const { status, body } = await ada.client.get(`/v1/voice/recording/${recorded.recording_uuid}/transcription`)
    return status === 200 ? body : null
  }, 'the recording to be written down')
  assert.match(text.text, /money/i)
  const over = await eventually(async () => {
    const { body } = await ada.client.get(`/v1/voice/${call.call_id}`)
    return body.ended_at ? body : null
  }, 'the call to end')
  assert.deepEqual([over.status, over.hangup_by], ['completed', 'system'])
  const told: string[] = []
  while (told.at(-1) !== 'completed') told.push(JSON.parse((await shop.next('/events')).body).status)
  assert.deepEqual(told, ['started', 'ringing', 'answered', 'completed'])
  await phone.stop()
  const heard = await phone.heard()
  assert.ok(typeof heard !== 'string' && rms(heard) > 200, 'the phone heard the menu')
})

/** Whether the phrase was understood. */
function isPhrase(body: string): boolean {
  return JSON.parse(body).speech.results[0]?.text === phrase
}

/** Says a phrase over and over, with pauses. */
async function repeated(text: string): Promise<Int16Array> {
  const once = [...(await new Speaker('espeak-ng').speak({ text, language: 'en-US' })), ...silence(2_000)]
  return Int16Array.from(Array.from({ length: 40 }, () => once).flat())
}
