// SPDX-License-Identifier: Apache-2.0
// Wave's checkout, held against the bodies of its public documentation.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readWaveAnswer, type WaveSession, waveSessionAnswer, waveSessionBody } from './wave.ts'

const documented = {
  id: 'cos-18qq25rgr100a',
  amount: '100',
  checkout_status: 'open',
  client_reference: null,
  currency: 'XOF',
  error_url: 'https://example.com/error',
  last_payment_error: null,
  business_name: 'Shop',
  payment_status: 'processing',
  success_url: 'https://example.com/success',
  wave_launch_url: 'https://pay.wave.com/c/cos-18qq25rgr100a',
  when_completed: null,
  when_created: '2021-12-08T10:15:32Z',
  when_expires: '2021-12-09T10:15:32Z',
}

test('a session is asked for', () => {
  const order = {
    amount: '100',
    currency: 'XOF',
    reference: 'r-1',
    returnUrl: 'https://a.example/',
    phone: '+221770000001',
  }
  assert.deepEqual(waveSessionBody(order), {
    amount: '100',
    currency: 'XOF',
    client_reference: 'r-1',
    restrict_payer_mobile: '+221770000001',
    success_url: 'https://a.example/',
    error_url: 'https://a.example/',
  })
})

test('what the answers say', () => {
  const open: WaveSession = {
    id: documented.id,
    state: 'open',
    isPaid: false,
    amount: '100',
    currency: 'XOF',
    launchUrl: documented.wave_launch_url,
    receipt: null,
    errorCode: null,
  }
  assert.deepEqual(readWaveAnswer(200, documented), { kind: 'session', session: open })
  assert.deepEqual(readWaveAnswer(200, { result: [documented] }), { kind: 'session', session: open })
  assert.equal(readWaveAnswer(200, { result: [] }).kind, 'missing')
  const paid: WaveSession = { ...open, state: 'complete', isPaid: true, receipt: 'TCN4Y4ZC3FM' }
  const failed: WaveSession = { ...open, state: 'expired', errorCode: 'insufficient-funds' }
  for (const session of [open, paid, failed])
    assert.deepEqual(readWaveAnswer(200, waveSessionAnswer(session)), { kind: 'session', session })
  for (const [status, body, kind] of [
    [401, { code: 'no-matching-api-key' }, 'token'],
    [400, { code: 'request-validation-error' }, 'refused'],
    [404, { code: 'not-found' }, 'missing'],
    [429, null, 'busy'],
    [503, null, 'busy'],
    [500, null, 'strange'],
    [200, { ...documented, wave_launch_url: '' }, 'strange'],
    [200, [], 'strange'],
  ] as const)
    assert.equal(readWaveAnswer(status, body).kind, kind, JSON.stringify(body))
})
