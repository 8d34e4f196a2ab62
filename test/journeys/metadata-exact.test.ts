// SPDX-License-Identifier: Apache-2.0
// Metadata comes back as it was sent, in replies, lists and webhooks: the same digits of numbers, the same order of names.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { mergedNotes, noteExact, withExact, writeNotes } from '../../src/platform/metadata/exact.ts'
import type { Client } from '../client.ts'
import { startMarket } from '../market.ts'
import { writes } from '../messaging.ts'
import { runs } from '../properties.ts'

const { world, receiver } = await startMarket(0.01)

const notes = '{"zeta":12345678901234567890,"a":1.50,"10":"kumi","2":true,"e":1e3,"name":"Aïsha \\"A\\""}'

async function post(client: Client, path: string, body: object) {
  const raw = JSON.stringify({ ...body, metadata: 0 }).replace(
    '"metadata":0',
    `"metadata": ${notes.replaceAll(',', ' ,\n')}`,
  )
  const made = await client.request('POST', path, { raw, headers: { 'content-type': 'application/json' } })
  assert.ok(made.status < 300, made.text)
  return made
}

for (const [what, path, body, id, where] of [
  ['a text', '/v1/sms/send', { to: '+254711000001', from: 'PAMOJA', message: 'Habari' }, 'message_id', '/v1/sms'],
  ['a payment', '/v1/payments', { amount: 100, currency: 'KES', phone: '+254700000001' }, 'payment_id', '/v1/payments'],
  ['a payout', '/v1/payouts', { amount: 100, currency: 'KES', phone: '+254700000001' }, 'payout_id', '/v1/payouts'],
  [
    'an invoice',
    '/v1/billing/invoices',
    { customer: { name: 'Asha' }, currency: 'KES', items: [{ description: 'Chai', unit_amount: 100 }], send: true },
    'invoice_id',
    '/v1/billing/invoices',
  ],
] as const)
  test(`of ${what}`, async () => {
    const { client } = await world.account({ balance: 1_000 })
    const hook = `/${id}`
    await client.post('/v1/webhooks', { url: receiver.url(hook), events: ['*'] })
    const made = await post(client, path, body)
    const { text } = await client.get(`${where}/${made.body[id]}`)
    assert.ok(text.includes(`"metadata":${notes}`), text)
    assert.equal(text.split(notes).length, 3, 'in the envelope and beside it')
    const told = await receiver.next(hook)
    assert.ok(told.body.includes(`"metadata":${notes}`), told.body)
    const list = what === 'a payment' ? '/v1/payments/transactions' : where
    assert.ok((await client.get(`${list}?metadata[2]=true`)).text.includes(notes))
    assert.equal((await client.get(`${list}?metadata[2]=false`)).body.data.length, 0)
  })

for (const [what, path, body, id, where] of [
  [
    'a message by e-mail',
    '/v1/email/send',
    { from: 'duka@sandbox.pamoja.test', to: 'amina@shop.example', subject: 'Habari', text: 'Karibu' },
    'message_id',
    '/v1/email',
  ],
  [
    'a message by messenger',
    '/v1/messenger/messages',
    { to: '+254711000001', type: 'text', text: { body: 'Karibu' } },
    'message_id',
    '/v1/messenger',
  ],
  [
    'a USSD session',
    '/v1/ussd/initiate',
    { phone: '+254711000001', shortcode: '*384#', message: 'Habari' },
    'session_id',
    '/v1/ussd/sessions',
  ],
  [
    'a payment link',
    '/v1/payments/links',
    { amount: 100, currency: 'KES', description: 'Chai' },
    'payment_link_id',
    '/v1/payments/links',
  ],
] as const)
  test(`of ${what}`, async () => {
    const account = await world.account({ balance: 1_000 })
    if (path === '/v1/messenger/messages') await writes(account, '+254711000001')
    const { body: made } = await post(account.client, path, body)
    const { text } = await account.client.get(`${where}/${made[id]}`)
    assert.ok(text.includes(`"metadata":${notes}`), text)
  })

test('of each entry of a bulk, with those of the whole', async () => {
  const { client } = await world.account({ balance: 1_000 })
  const raw =
    '{"from": "PAMOJA", "metadata": {"z": 1.0, "b": 2}, "messages": [{"to": "+254711000001", "message": "Habari", "metadata": {"b": 3.10, "a": null}}]}'
  const sent = await client.request('POST', '/v1/sms/bulk', { raw, headers: { 'content-type': 'application/json' } })
  const { text } = await client.get(`/v1/sms/${sent.body.messages[0].message_id}`)
  assert.ok(text.includes('"metadata":{"z":1.0,"b":3.10}'), text)
})

test('of any names and values', () => {
  const value = fc.oneof(
    fc.string({ maxLength: 20 }),
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.boolean(),
  )
  const entries = fc.uniqueArray(fc.tuple(fc.string({ minLength: 1, maxLength: 8 }), value), {
    selector: ([name]) => name,
    maxLength: 6,
  })
  fc.assert(
    fc.property(entries, (given) => {
      const members = given.filter(([name]) => name !== '__proto__')
      const text = `{${members.map(([name, one]) => `${JSON.stringify(name)}:${JSON.stringify(one)}`).join()}}`
      const body = `{"list": [1, {"x": []}, []], "metadata": ${text}}`
      const parsed = JSON.parse(body)
      noteExact(body, parsed)
      const stored = JSON.parse(JSON.stringify(withExact(parsed.metadata)))
      assert.equal(
        writeNotes(mergedNotes({}, withExact(parsed.metadata))),
        members.length === 0 ? '{}' : writeNotes(stored),
      )
      if ('these notes as they were sent, digit for digit' in stored) assert.equal(writeNotes(stored), text)
      else assert.deepEqual(JSON.parse(writeNotes(stored)), JSON.parse(text))
    }),
    { numRuns: runs(400) },
  )
})
