// SPDX-License-Identifier: Apache-2.0
// Limits of mail and what keeps senders from harm: plans, SMTP credentials, suppressions, templates in use, links that were changed, bulk
// that bounces too much.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect as connectTcp } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { SmtpClient, SmtpError } from '../../src/protocols/smtp/client.ts'
import { refusal } from '../client.ts'
import { mailIn, sendMail, settled, toldOf } from '../mailing.ts'
import { type Account, eventually, startWorld, type World } from '../world.ts'

let world: World
before(async () => {
  world = await startWorld()
})
after(() => world.stop())

const message = { from: 'duka@sandbox.pamoja.test', to: 'amina@shop.example', subject: 'Habari', html: '<p>Karibu</p>' }

function connect(auth: { username: string; password: string }, from: World = world): Promise<SmtpClient> {
  const port = Number(new URL(from.node.listeners.submission ?? '').port)
  const ca = readFileSync(from.node.caFile ?? '', 'utf8')
  const place = { host: '127.0.0.1', port, servername: 'localhost', hello: 'x.example' }
  return SmtpClient.connect({ ...place, tls: 'required', ca, auth })
}

async function submitted(client: SmtpClient): Promise<string> {
  const content = Buffer.from('From: duka@sandbox.pamoja.test\r\nSubject: Habari\r\n\r\nHabari\r\n')
  const transaction = { from: 'a@shop.example', to: 'amina@shop.example', content, isUtf8: false, isEightBit: false }
  const { reply } = await client.send(transaction)
  return `${reply.code} ${reply.text}`
}

test('a plan’s messages a minute hold for the API and for SMTP, and never for the size of a bulk', async () => {
  const limited = await startWorld({ PAMOJA_RATE_LIMITS: 'on' })
  try {
    await limited.operator.post('/v1/operator/plans', { name: 'tiny', limits: { email: 3 } })
    const ada = await limited.account({ balance: 100, plan: 'tiny' })
    const { body: user } = await ada.client.post('/v1/email/smtp-credentials', { name: 'shop' })
    const answers: string[] = []
    for (let i = 0; i < 4; i++)
      answers.push((await ada.client.post('/v1/email/send', message)).body.error?.code ?? 'ok')
    assert.equal(answers.at(-1), 'RATE_LIMIT_EXCEEDED', answers.join())
    const refused = await ada.client.post('/v1/email/send', message)
    assert.ok(Number(refused.headers['retry-after']) > 0)
    const client = await connect(user, limited)
    assert.match(await submitted(client), /^451 4\.7\.1 RATE_LIMIT_EXCEEDED/)
    await client.quit()
    const eve = await limited.account({ balance: 100, plan: 'tiny' })
    const recipients = Array.from({ length: 20 }, (_, i) => ({ email: `r${i}@shop.example` }))
    const bulk = await eve.client.post('/v1/email/bulk', { from: message.from, subject: 'x', html: 'x', recipients })
    assert.deepEqual([bulk.status, bulk.body.accepted], [200, 20], bulk.text)
    await limited.operator.post('/v1/operator/plans', { name: 'wide', limits: { email: 1_000 } })
    const joe = await limited.account({ balance: 100, plan: 'wide' })
    await joe.client.post('/v1/email/domains', { domain: 'joe.example' })
    const verify = () => joe.client.post('/v1/email/domains/joe.example/verify')
    for (let i = 0; i < 6; i++) assert.equal((await verify()).status, 200)
    assert.deepEqual(await refusal(verify()), [429, 'RATE_LIMIT_EXCEEDED'])
  } finally {
    await limited.stop()
  }
})

test('one network does not take all connections of the port for bounces', async () => {
  const port = Number(new URL(world.node.listeners.bounces ?? '').port)
  const sockets = Array.from({ length: 51 }, () => connectTcp(port, '127.0.0.1'))
  try {
    const greetings = await Promise.all(sockets.map(async (socket) => String((await once(socket, 'data'))[0])))
    assert.equal(greetings.filter((text) => text.startsWith('220 ')).length, 50)
    assert.equal(greetings.filter((text) => text.startsWith('421 4.7.0')).length, 1)
    sockets.find((_, i) => greetings[i]?.startsWith('220 '))?.end('QUIT\r\n')
    await eventually(async () => {
      const next = connectTcp(port, '127.0.0.1')
      sockets.push(next)
      return String((await once(next, 'data'))[0]).startsWith('220 ')
    }, 'room after one has left')
  } finally {
    for (const socket of sockets) socket.destroy()
  }
})

test('connections of a balancer are anybody’s, and not those of one network', async () => {
  const behind = await startWorld({ PAMOJA_SMTP_BALANCERS: ['127.0.0.0/8'] })
  const port = Number(new URL(behind.node.listeners.bounces ?? '').port)
  const sockets = Array.from({ length: 60 }, () => connectTcp(port, '127.0.0.1'))
  try {
    const greetings = await Promise.all(sockets.map(async (socket) => String((await once(socket, 'data'))[0])))
    assert.deepEqual([...new Set(greetings.map((text) => text.slice(0, 4)))], ['220 '])
  } finally {
    for (const socket of sockets) socket.destroy()
    await behind.stop()
  }
})

describe('SMTP credentials', () => {
  test('are listed, rotated and removed; a password is shown once, and the old one ends at once', async () => {
    const ada = await world.account({ balance: 100 })
    const made = await ada.client.post('/v1/email/smtp-credentials', { name: 'shop' })
    assert.deepEqual([made.status, made.headers.location], [201, '/api/v1/email/smtp-credentials'], made.text)
    const { id, username, password } = made.body
    const logged = `/v1/logs/${made.headers['x-request-id']}`
    await eventually(async () => (await ada.client.get(logged)).status === 200, 'the request log')
    assert.doesNotMatch((await ada.client.get(logged)).text, new RegExp(password))
    const { body: listed } = await ada.client.get('/v1/email/smtp-credentials')
    assert.deepEqual([listed.data[0].id, listed.data[0].password, listed.data[0].last_used_at], [id, undefined, null])
    const { body: rotated } = await ada.client.post(`/v1/email/smtp-credentials/${id}/rotate`)
    await assert.rejects(connect({ username, password }), isRefused)
    const client = await connect(rotated)
    assert.match(await submitted(client), /^250/)
    await client.quit()
    const { body: used } = await ada.client.get('/v1/email/smtp-credentials')
    assert.ok(Date.parse(used.data[0].last_used_at) >= Date.parse(used.data[0].created_at), 'its use is told')
    assert.equal((await ada.client.delete(`/v1/email/smtp-credentials/${id}`)).body.deleted, true)
    await assert.rejects(connect(rotated), isRefused)
    assert.deepEqual(await refusal(ada.client.delete(`/v1/email/smtp-credentials/${id}`)), [404, 'NOT_FOUND'])
    assert.deepEqual(await refusal(ada.client.post(`/v1/email/smtp-credentials/${id}/rotate`)), [404, 'NOT_FOUND'])
  })

  test('work only from the addresses they name, and an account has at most 50', async () => {
    const ada = await world.account({ balance: 100 })
    const create = (more: object) => ada.client.post('/v1/email/smtp-credentials', { name: 'shop', ...more })
    const { body: elsewhere } = await create({ allowed_ips: ['203.0.113.0/24'] })
    await assert.rejects(connect(elsewhere), isRefused)
    const { body: here } = await create({ allowed_ips: ['127.0.0.0/8', '::1'] })
    await (await connect(here)).quit()
    assert.deepEqual(await refusal(create({ allowed_ips: ['home'] })), [422, 'VALIDATION_ERROR'])
    assert.deepEqual(await refusal(create({ domains: ['no domain'] })), [422, 'VALIDATION_ERROR'])
    for (let i = 2; i < 50; i++) assert.equal((await create({})).status, 201)
    assert.deepEqual(await refusal(create({})), [422, 'VALIDATION_ERROR'])
  })
})

function isRefused(error: unknown): boolean {
  return error instanceof SmtpError && error.kind === 'auth' && /^535/.test(error.message)
}

test('suppressions are added many at once, found, exported, and end by themselves', async () => {
  const ada = await world.account({ balance: 100 })
  const path = '/v1/email/suppressions'
  const emails = ['One@shop.example', 'two@shop.example', 'one@shop.example']
  assert.deepEqual((await ada.client.post(path, { emails })).body.data, { added: 2, existing: 0 })
  assert.deepEqual((await ada.client.post(path, { email: 'two@shop.example' })).body.data, { added: 0, existing: 1 })
  assert.deepEqual(await refusal(ada.client.post(path, { email: 'two' })), [422, 'INVALID_EMAIL'])
  assert.deepEqual(await refusal(ada.client.post(path, {})), [422, 'VALIDATION_ERROR'])
  const csv = await ada.client.request('GET', path, { headers: { accept: 'text/csv' } })
  assert.match(csv.text, /^id,email,/)
  assert.match(csv.text, /one@shop\.example/)
  assert.equal((await ada.client.get(`${path}?email=TWO@shop.example`)).body.data.length, 1)
  assert.equal((await ada.client.get(`${path}?reason=complaint`)).body.data.length, 0)
  const { body: nobody } = await ada.client.post('/v1/email/send', { ...message, to: 'one@shop.example' })
  assert.deepEqual(
    [nobody.status, nobody.reason, nobody.cost, nobody.suppressed],
    ['failed', 'suppressed', 0, ['one@shop.example']],
  )
  assert.deepEqual(await toldOf(ada, nobody.message_id), ['email.suppressed'])
  const soon = new Date(Date.now() + 3_600_000).toISOString()
  await ada.client.post(path, { email: 'three@shop.example', expires_at: soon })
  await ada.client.post('/v1/sandbox/clock', { advance_seconds: 7_200 })
  assert.equal((await settled(ada, await sendMail(ada, { to: 'three@shop.example' }))).status, 'delivered')
})

test('a template that a bulk still needs stays; its bulk gone, it goes', async () => {
  const ada = await world.account({ balance: 100 })
  await ada.client.post('/v1/email/templates', { name: 'news', subject: 'Hi', html: '<p>{{name}}</p>' })
  const { body: bulk } = await ada.client.post('/v1/email/bulk', {
    from: message.from,
    template: 'news',
    recipients: [{ email: 'a@shop.example', name: 'A' }],
    scheduled_at: new Date(Date.now() + 3_600_000).toISOString(),
  })
  assert.deepEqual(await refusal(ada.client.delete('/v1/email/templates/news')), [409, 'TEMPLATE_IN_USE'])
  await ada.client.post(`/v1/email/bulk/${bulk.bulk_id}/cancel`)
  assert.equal((await ada.client.delete('/v1/email/templates/news')).status, 200)
})

describe('links in mail', () => {
  test('lead only where they were signed to; scanners that fetch them unsubscribe nobody', async () => {
    const ada = await world.account({ balance: 100 })
    const html =
      '<a href="https://example.com/a">x</a><a href="mailto:a@b.example">y</a><a href="{{unsubscribe_url}}">z</a>'
    const id = await sendMail(ada, { html, variables: {}, stream: 'bulk', unsubscribe: true })
    const mail = await mailIn(ada, id)
    const [, click = ''] = /href="https:\/\/[^/"]+(\/t\/c\/[^"]+)"/.exec(mail.html.replaceAll('&amp;', '&')) ?? []
    const [, leave = ''] = /href="https:\/\/[^/"]+(\/u\/[^"]+)"/.exec(mail.html) ?? []
    const { stranger } = world
    const shown = await stranger.get(click)
    assert.deepEqual([shown.status, shown.headers.location], [200, undefined], 'a test link shows where it leads')
    assert.match(shown.text, /<a href="https:\/\/example\.com\/a"/)
    assert.equal((await stranger.get(click.replace('example.com', 'evil.example'))).status, 404)
    assert.equal((await stranger.get(`/t/c/${'A'.repeat(72)}?u=https://evil.example`)).status, 404)
    const picture = await stranger.get('/t/o/nothing.gif')
    assert.deepEqual([picture.status, picture.headers['content-type']], [200, 'image/gif'])
    await ada.client.patch('/v1/account', { settings: { brand_color: '#7a1fa2' } })
    const page = await stranger.get(leave)
    assert.equal(page.status, 200)
    assert.match(page.text, /#7a1fa2.*<p class="from">/s, 'it shows whose it is')
    assert.match(page.text, /amina@shop\.example will get no more messages of this kind/)
    assert.match((await stranger.get(`${leave}?lang=fr`)).text, /<html lang="fr".*ne recevra plus de messages/s)
    assert.ok(!(await toldOf(ada, id)).includes('email.unsubscribed'))
    for (let i = 0; i < 2; i++)
      assert.equal((await stranger.request('POST', leave, { raw: 'List-Unsubscribe=One-Click' })).status, 200)
    const told = await toldOf(ada, id)
    assert.equal(told.filter((event) => event === 'email.unsubscribed').length, 1)
    const suppressed = () => ada.client.get('/v1/email/suppressions/amina@shop.example')
    assert.equal((await suppressed()).body.applies_to, 'bulk')
    assert.equal((await stranger.request('POST', `${leave}/undo`, { raw: '' })).status, 200)
    assert.equal((await suppressed()).status, 404)
    assert.equal((await stranger.request('POST', `${leave}/undo`, { raw: '' })).status, 404)
    assert.equal((await stranger.request('POST', '/u/nothing', { raw: '' })).status, 404)
  })
})

test('a bulk of which too much bounces stops by itself, and goes on when it is told to', async () => {
  const ada = await world.account({ balance: 100 })
  const recipients = Array.from({ length: 260 }, (_, i) => ({
    email: `${i % 5 === 0 ? 'bounce+' : 'r'}${i}@shop.example`,
  }))
  const bulk = { from: message.from, subject: 'x', html: 'x', recipients, batch_size: 220, batch_interval: 3_600 }
  const { body } = await ada.client.post('/v1/email/bulk', bulk)
  const read = async () => (await ada.client.get(`/v1/email/bulk/${body.bulk_id}`)).body
  await eventually(async () => {
    const { counts } = await read()
    return counts.delivered + counts.bounced >= 220
  }, 'the first batch')
  await ada.client.post('/v1/sandbox/clock', { advance_seconds: 3_700 })
  const paused = await eventually(async () => ((await read()).status === 'paused' ? read() : null), 'the pause')
  assert.deepEqual([paused.paused_reason, paused.batches_sent], ['bounce_rate', 1])
  await ada.client.post(`/v1/email/bulk/${body.bulk_id}/resume`)
  await eventually(async () => (await read()).counts.bounced === 52, 'the second batch')
  // A bulk that is older than an hour is looked at every five minutes.
  await eventually(async () => (await read()).counts.delivered === 208, 'the rest of it')
  await ada.client.post('/v1/sandbox/clock', { advance_seconds: 400 })
  await eventually(async () => (await read()).status === 'completed', 'the end')
})

test('lists are filtered, and a content is read in each of its forms', async () => {
  const ada: Account = await world.account({ balance: 100 })
  const id = await sendMail(ada, { tags: ['a'], to: 'amina@shop.example', metadata: { order: 1 } })
  await sendMail(ada, { tags: ['b'], to: 'bounce+1@shop.example' }).then((one) => settled(ada, one))
  await settled(ada, id)
  const found = async (query: string) => (await ada.client.get(`/v1/email?${query}`)).body.data.length
  for (const query of ['tag=a', 'recipient=amina@shop.example', 'status=delivered'])
    assert.equal(await found(query), 1, query)
  assert.equal(await found('sender=duka@sandbox.pamoja.test'), 2)
  assert.equal(await found('template=none'), 0)
  assert.deepEqual(await refusal(ada.client.get('/v1/email?from=yesterday')), [400, 'INVALID_DATE_RANGE'])
  for (const [part, wanted] of Object.entries({
    html: /Karibu/,
    text: /Karibu/,
    raw: /^DKIM-Signature/,
    headers: /^Subject: /m,
  })) {
    const { body } = await ada.client.get(`/v1/email/${id}/content?part=${part}`)
    assert.match(body.content, wanted, part)
  }
  assert.deepEqual(await refusal(ada.client.get(`/v1/email/${id}/content?part=soul`)), [400, 'INVALID_REQUEST'])
  await ada.client.post('/v1/webhooks', { url: 'https://hooks.example/x', events: ['email.*'] })
  const events = async (query: string) => (await ada.client.get(`/v1/email/events?${query}`)).body.data
  assert.equal((await events('event=bounced')).length, 1)
  assert.equal((await events('event=delivered')).length, 1)
})
