// SPDX-License-Identifier: Apache-2.0
// What goes wrong at the provider and on the way: calls that are forged, repeated or out of order, a provider that is away or
// says to come back later, and messages that go on by SMS because of it.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { simulatedMessenger } from '../../src/areas/messenger/carriers/sandbox.ts'
import { graphNoticeBody, graphSignature } from '../../src/protocols/graph.ts'
import type { Reply } from '../client.ts'
import { accepted, becomes, recordOf, text, writes } from '../messaging.ts'
import { type Account, eventually, startWorld, type World } from '../world.ts'

let world: World

before(async () => {
  world = await startWorld({ PAMOJA_SANDBOX_TIME_SCALE: 1 })
})
after(() => world.stop())

test('the challenge comes back to whoever knows the token, and to nobody else', async () => {
  const ask = (token: string): Promise<Reply> =>
    world.stranger.get(
      `/v1/messenger/ingress/sandbox?hub.mode=subscribe&hub.verify_token=${token}&hub.challenge=1234567890`,
    )
  const { status, text: said } = await ask(secretsOf().verifyToken)
  assert.deepEqual([status, said], [200, '1234567890'])
  assert.equal((await ask('guess')).status, 403)
  assert.equal((await world.stranger.get('/v1/messenger/ingress/mch_1?hub.mode=subscribe')).status, 404)
})

test('a call that is not signed with the secret, or changed on the way, changes nothing', async () => {
  const ada = await world.account({ balance: 100 })
  await writes(ada, '+254711000006')
  const id = await accepted(ada, text('+254711000006'))
  const { provider_id } = await becomes(ada, id, 'delivered')
  const body = statusBody(ada, provider_id, 'read')
  for (const signature of [
    '',
    'sha256=',
    graphSignature('guess', body),
    graphSignature(secretsOf().appSecret, `${body} `),
  ])
    assert.equal((await call(body, signature)).status, 401)
  assert.equal((await recordOf(ada, id)).status, 'delivered')
  assert.equal((await call('[]', graphSignature(secretsOf().appSecret, '[]'))).status, 400)
  assert.equal((await call('{"entry":[{"changes":7}]}')).status, 200, 'what says nothing is taken')
})

test('statuses that come again, late or of another account never lead back', async () => {
  const ada = await world.account({ balance: 100 })
  const eve = await world.account({ balance: 100 })
  await writes(ada, '+254711000006')
  const id = await accepted(ada, text('+254711000006'))
  const { provider_id } = await becomes(ada, id, 'delivered')
  await call(statusBody(eve, provider_id, 'read'))
  assert.equal((await recordOf(ada, id)).status, 'delivered')
  for (const status of ['sent', 'delivered', 'read', 'delivered', 'sent', 'failed', 'read'])
    assert.equal((await call(statusBody(ada, provider_id, status))).status, 200)
  const record = await recordOf(ada, id)
  assert.equal(record.status, 'read')
  assert.equal(record.failed_at, null)
  assert.equal((await call(statusBody(ada, 'wamid.unknown', 'read'))).status, 200)
})

test('a message that the provider tells of twice is one message', async () => {
  const ada = await world.account({ balance: 100 })
  await writes(ada, '+254711000021')
  const value = {
    metadata: metadataOf(ada),
    contacts: [{ profile: { name: 'Amina' }, wa_id: '254711000021' }],
    messages: [
      { from: '254711000021', id: 'wamid.twice', timestamp: '1772356530', type: 'text', text: { body: 'Once' } },
    ],
  }
  const body = graphNoticeBody('business', 'messages', value)
  const answers = await Promise.all([call(body), call(body), call(body)])
  for (const { status } of answers) assert.equal(status, 200)
  const { body: list } = await ada.client.get('/v1/messenger/messages?direction=inbound')
  assert.equal(list.data.filter((one: { text?: { body: string } }) => one.text?.body === 'Once').length, 1)
})

test('what a provider cut in the middle of a letter is taken without it', async () => {
  const ada = await world.account({ balance: 100 })
  await writes(ada, '+254711000022')
  const from = '254711000022'
  const body = graphNoticeBody('business', 'messages', {
    metadata: metadataOf(ada),
    contacts: [{ profile: { name: 'Amina \ud83d' }, wa_id: from }],
    messages: [
      {
        from,
        id: 'wamid.cut',
        timestamp: '1772356530',
        type: 'text',
        text: { body: 'Cut \ud83d\u0000', 'a\u0000': 1 },
      },
      { from, id: 'wamid.after', timestamp: '1772356530', type: 'text', text: { body: 'After it' } },
    ],
  })
  assert.equal((await call(body)).status, 200)
  const { body: list } = await ada.client.get('/v1/messenger/messages?direction=inbound&limit=2')
  const texts = list.data.map((one: { text: { body: string } }) => one.text.body)
  assert.deepEqual(texts, ['After it', 'Cut \ufffd'])
})

test('a provider that is away, or says to come back later, gets the message when it can take it', async () => {
  const ada = await world.account({ balance: 100 })
  for (const to of ['+254711000005', '+254711000010']) await writes(ada, to)
  const limited = await accepted(ada, text('+254711000005'))
  const away = await accepted(ada, text('+254711000010'))
  assert.equal((await recordOf(ada, away)).status, 'accepted')
  await becomes(ada, limited, 'read')
  await becomes(ada, away, 'read')
})

test('a message that is not sent in time goes on by SMS, and only the text is paid', async () => {
  const ada = await world.account({ balance: 100 })
  await writes(ada, '+254722000005')
  const fallback = { channel: 'sms', from: 'PAMOJA', message: 'By text, then', after: 3600 }
  const id = await accepted(ada, text('+254722000005', 'Karibu', { fallback }))
  await ada.client.post('/v1/sandbox/clock', { advance_seconds: 3601 })
  await eventually(async () => (await recordOf(ada, id)).fallback_message_id !== null, 'the text')
  const record = await recordOf(ada, id)
  assert.deepEqual([record.status, record.cost, record.errors[0].code], ['failed', 0, 133004])
})

function secretsOf() {
  const provider = simulatedMessenger.of(world.app)
  assert.ok(provider)
  return provider
}

function metadataOf({ id }: Account) {
  return { display_phone_number: '254700000000', phone_number_id: numberOf(id) }
}

/** As the provider calls the account's number: the account's UUID as a decimal number. */
function numberOf(accountId: string): string {
  const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'
  return [...accountId.slice(4)].reduce((sum, letter) => sum * 32n + BigInt(alphabet.indexOf(letter)), 0n).toString()
}

function statusBody(account: Account, providerId: string, status: string): string {
  const errors = status === 'failed' ? { errors: [{ code: 131026, title: 'Undeliverable' }] } : {}
  return graphNoticeBody('business', 'messages', {
    metadata: metadataOf(account),
    statuses: [{ id: providerId, status, timestamp: '1772356530', recipient_id: '254711000006', ...errors }],
  })
}

function call(body: string, signature = graphSignature(secretsOf().appSecret, body)): Promise<Reply> {
  return world.stranger.request('POST', '/v1/messenger/ingress/sandbox', {
    raw: body,
    headers: { 'x-hub-signature-256': signature },
  })
}
