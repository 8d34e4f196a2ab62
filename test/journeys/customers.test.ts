// SPDX-License-Identifier: Apache-2.0
// Customers as an account meets them: one record of a person, whose numbers and addresses are theirs alone, whose wishes are those
// that the channels know, and whose story is told over all areas.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { addCredit } from '../../src/areas/billing/customers/customer.ts'
import { hearPeople } from '../../src/areas/customers/conversations/hear.ts'
import { uuidOf } from '../../src/kernel/ids.ts'
import { atOnce, statusesOf } from '../at-once.ts'
import { type Client, refusal } from '../client.ts'
import { startMarket } from '../market.ts'
import { parts } from '../parts.ts'
import { settled } from '../paying.ts'
import { runs } from '../properties.ts'
import { dial, newCode, newPhone } from '../ussd.ts'
import { eventually, tenantOf } from '../world.ts'

const { world, sql } = await startMarket(0.05)

const customers = '/v1/customers'

async function made(client: Client, body: object) {
  const reply = await client.post(customers, body)
  assert.equal(reply.status, 201, reply.text)
  return reply.body
}

async function found(client: Client, query: string) {
  const reply = await client.get(`${customers}?${query}`)
  assert.equal(reply.status, 200, reply.text)
  return reply.body.data.map(({ id }: { id: string }) => id)
}

/** A code whose menu greets whoever dials it. */
async function greeting(client: Client): Promise<string> {
  const menu = { name: 'Greeting', languages: ['sw'], start: 'home', nodes: { home: { text: 'Karibu', end: true } } }
  const { id } = (await client.post('/v1/ussd/menus', menu)).body
  const code = await client.post('/v1/ussd/shortcodes', { shortcode: newCode(), mode: 'menu', menu_id: id })
  assert.equal(code.status, 201, code.text)
  return code.body.shortcode
}

test('a customer is created, read, changed, and found by whatever is known of them', async () => {
  const { client } = await world.account()
  const asha = await made(client, {
    external_id: 'shop-1042',
    name: 'Asha Njeri',
    language: 'sw',
    country: 'KE',
    timezone: 'Africa/Nairobi',
    phones: ['+254711000101', '+254711000102', '+254711000101'],
    emails: ['Asha@Example.com'],
    attributes: { plan: 'gold', visits: 12, member: true, birthday: '1994-05-17' },
    tags: ['VIP', 'vip', 'nairobi'],
  })
  const other = await made(client, { name: 'Baraka Otieno' })
  assert.match(asha.id, /^cus_[0-9a-z]{26}$/)
  assert.deepEqual(asha.phones, ['+254711000101', '+254711000102'])
  assert.deepEqual(asha.emails, ['asha@example.com'])
  assert.deepEqual(asha.tags, ['vip', 'nairobi'])
  assert.deepEqual([asha.consents, asha.first_seen_at], [[], null])
  const { success: _, data: __, ...read } = (await client.get(`${customers}/${asha.id}`)).body
  const { success: ___, data: ____, ...answered } = asha
  assert.deepEqual(read, answered)
  const one = [
    'phone=%2B254711000102',
    'email=ASHA@example.com',
    'external_id=shop-1042',
    'tag=vip',
    'q=njer',
    'q=ash%20nje',
  ]
  for (const query of [...one, 'q=%2B2547110001', 'q=asha@ex', 'q=shop-10', 'tag=VIP&q=asha'])
    assert.deepEqual(await found(client, query), [asha.id], query)
  assert.deepEqual(await found(client, 'phone=%2B254711000102&email=nobody@example.com'), [])
  assert.deepEqual(await found(client, 'q=zz'), [])
  assert.deepEqual(await found(client, ''), [other.id, asha.id])
  assert.deepEqual(await found(client, 'seen_after=2026-01-01'), [], 'nobody was seen')

  const changed = await client.patch(`${customers}/${asha.id}`, {
    name: null,
    phones: ['+254711000103'],
    attributes: { visits: 13, plan: null },
    tags: [],
  })
  assert.equal(changed.status, 200, changed.text)
  const { name, phones, attributes, tags, emails } = changed.body
  assert.deepEqual(
    [name, phones, attributes, tags, emails],
    [null, ['+254711000103'], { visits: 13, member: true, birthday: '1994-05-17' }, [], ['asha@example.com']],
  )
  assert.deepEqual(await found(client, 'phone=%2B254711000101'), [], 'the number is free again')
  await made(client, { phones: ['+254711000101'] })
  const told = (await client.get('/v1/events?limit=200')).body.data.map((one: { event: string }) => one.event)
  assert.deepEqual(
    told.filter((name: string) => name.startsWith('customer.')),
    ['customer.created', 'customer.updated', 'customer.created', 'customer.created'],
  )
  assert.deepEqual(await refusal(client.get(`${customers}/cus_nobody`)), [404, 'NOT_FOUND'])
})

test('a number, an address or an id of yours belongs to one customer, however many ask for it at once', async () => {
  const { client } = await world.account()
  const asha = await made(client, { external_id: 'a-1', phones: ['+254711000111'], emails: ['a@example.com'] })
  for (const taken of [
    { phones: ['+254711000112', '+254711000111'] },
    { emails: ['A@example.com'] },
    { external_id: 'a-1' },
  ]) {
    const { status, body } = await client.post(customers, taken)
    assert.deepEqual([status, body.error.code, body.error.customer_id], [409, 'CUSTOMER_CONFLICT', asha.id])
  }
  const ben = await made(client, { phones: ['+254711000112'] })
  const { body } = await client.patch(`${customers}/${ben.id}`, { phones: ['+254711000112', '+254711000111'] })
  assert.deepEqual([body.error.code, body.error.customer_id], ['CUSTOMER_CONFLICT', asha.id])
  const stranger = await world.account()
  await made(stranger.client, { external_id: 'a-1', phones: ['+254711000111'] })

  const racing = await atOnce(20, () =>
    client.post(customers, { phones: ['+254711000113'], emails: ['race@example.com'] }),
  )
  assert.deepEqual(statusesOf(racing), { 201: 1, 409: 19 })
  const puts = await atOnce(20, (i) =>
    client.put(`${customers}/by-external-id/till-9`, { attributes: { [`n${i}`]: i } }),
  )
  assert.deepEqual(statusesOf(puts), { 200: 20 })
  assert.equal(new Set(puts.map((one) => one.body.id)).size, 1)
  const { attributes } = (await client.get(`${customers}/${puts[0]?.body.id}`)).body
  assert.equal(Object.keys(attributes).length, 20, 'nobody undid what another wrote')
})

test('an attribute keeps the type of its first value', async () => {
  const { client } = await world.account()
  await made(client, { attributes: { visits: 1, since: '2026-03-01', city: 'Kisumu', member: false } })
  for (const wrong of [{ visits: '2' }, { since: 'yesterday' }, { city: 7 }, { member: 'no' }]) {
    const reply = await client.post(customers, { attributes: wrong })
    assert.deepEqual([reply.status, reply.body.error.code], [422, 'ATTRIBUTE_TYPE'], reply.text)
  }
  await made(client, { attributes: { visits: 2.5, since: '2026-04-01T09:00:00Z', city: '2026-03-01', member: true } })
  const many = Object.fromEntries(Array.from({ length: 51 }, (_, i) => [`a${i}`, i]))
  assert.deepEqual(await refusal(client.post(customers, { attributes: many })), [422, 'VALIDATION_ERROR'])
  assert.deepEqual(await refusal(client.post(customers, { attributes: { card: '4111 1111 1111 1111' } })), [
    422,
    'VALIDATION_ERROR',
  ])
})

test('consents are the opt-outs, opt-ins and suppressions of the channels, whoever writes them', async () => {
  const { client } = await world.account({ balance: 10 })
  const phone = '+254711000121'
  const { id } = await made(client, { phones: [phone], emails: ['c@example.com'] })
  const state = async () => {
    const { consents } = (await client.get(`${customers}/${id}`)).body
    return consents.map((one: Record<string, string>) => `${one.channel} ${one.purpose} ${one.state}`).sort()
  }
  const write = async (channel: string, purpose: string, wish: string) => {
    const reply = await client.patch(`${customers}/${id}`, { consents: [{ channel, purpose, state: wish }] })
    assert.equal(reply.status, 200, reply.text)
  }
  assert.deepEqual(await state(), [])
  await write('sms', 'marketing', 'granted')
  await write('email', 'marketing', 'granted')
  await write('messenger', 'marketing', 'granted')
  const granted = ['email marketing granted', 'messenger marketing granted', 'messenger service granted']
  assert.deepEqual(await state(), [...granted, 'sms marketing granted'])
  assert.equal((await client.get(`/v1/messenger/opt-ins/${phone}`)).body.status, 'opted_in')

  for (const channel of ['sms', 'email', 'messenger']) await write(channel, 'marketing', 'unknown')
  assert.deepEqual(await state(), [], 'what was written by mistake is taken back, and nobody said no')

  await write('voice', 'marketing', 'granted')
  assert.deepEqual(await state(), ['voice marketing granted'])
  await write('voice', 'marketing', 'withdrawn')
  await write('voice', 'marketing', 'unknown')
  assert.deepEqual(await state(), ['voice marketing withdrawn'], 'unknown takes back no withdrawal')
  const exported = (await client.get('/v1/customers/export')).text.split('\r\n').map((line) => line.split(','))
  assert.equal(exported[1]?.[exported[0]?.indexOf('voice_marketing') ?? 0], 'withdrawn')
  await write('voice', 'marketing', 'granted')
  await write('voice', 'marketing', 'unknown')
  assert.deepEqual(await state(), [])
  assert.equal((await client.get(`/v1/sms/opt-outs/${phone}`)).status, 404)
  for (const channel of ['sms', 'email', 'messenger']) await write(channel, 'marketing', 'granted')

  await write('sms', 'marketing', 'withdrawn')
  await write('sms', 'marketing', 'unknown')
  assert.equal((await client.get(`/v1/sms/opt-outs/${phone}`)).body.from, '*', 'a withdrawal stays')
  const text = { to: phone, from: 'PAMOJA', message: 'Habari' }
  assert.deepEqual(await refusal(client.post('/v1/sms/send', text)), [403, 'OPTED_OUT'])
  await write('email', 'marketing', 'withdrawn')
  assert.equal((await client.get('/v1/email/suppressions/c@example.com')).body.applies_to, 'bulk')
  await write('email', 'service', 'withdrawn')
  assert.equal((await client.get('/v1/email/suppressions/c@example.com')).body.applies_to, 'all')
  await write('messenger', 'service', 'withdrawn')
  assert.equal((await client.get(`/v1/messenger/opt-ins/${phone}`)).body.status, 'opted_out')
  assert.ok((await state()).every((one: string) => one.endsWith('withdrawn')))
  assert.equal((await state()).length, 6)

  await client.delete(`/v1/sms/opt-outs/${phone}`)
  await client.delete('/v1/email/suppressions/c@example.com')
  assert.deepEqual(await state(), ['messenger marketing withdrawn', 'messenger service withdrawn'])
  await client.post('/v1/email/suppressions', { email: 'c@example.com', reason: 'complaint' })
  const refused = client.patch(`${customers}/${id}`, {
    consents: [{ channel: 'email', purpose: 'marketing', state: 'granted' }],
  })
  assert.deepEqual(await refusal(refused), [409, 'CONFLICT'], 'who complained is asked by a person')
})

test('whatever writes the wish of a customer, they are written to exactly while the record does not say no', async () => {
  const { client } = await world.account({ balance: 1_000 })
  const phone = '+254711000122'
  const { id } = await made(client, { phones: [phone] })
  const wish = (state: string) =>
    client.patch(`${customers}/${id}`, { consents: [{ channel: 'sms', purpose: 'marketing', state }] })
  const ways: Record<string, { isOut: boolean; go(): Promise<unknown> }> = {
    withdrawn: { isOut: true, go: () => wish('withdrawn') },
    granted: { isOut: false, go: () => wish('granted') },
    optOut: { isOut: true, go: () => client.post('/v1/sms/opt-outs', { phone }) },
    optIn: { isOut: false, go: () => client.delete(`/v1/sms/opt-outs/${phone}`) },
    stop: {
      isOut: true,
      go: () => client.post('/v1/sandbox/sms/inbound', { from: phone, to: 'PAMOJA', message: 'STOPALL' }),
    },
  }
  const names = fc.array(fc.constantFrom(...Object.keys(ways)), { minLength: 1, maxLength: 5 })
  await fc.assert(
    fc.asyncProperty(names, async (steps) => {
      for (const step of steps) {
        const way = ways[step]
        await way?.go()
        const { consents } = (await client.get(`${customers}/${id}`)).body
        const saysNo = consents.some((one: { channel: string; state: string }) => one.state === 'withdrawn')
        assert.equal(saysNo, way?.isOut, step)
        const { status } = await client.post('/v1/sms/send', { to: phone, from: 'PAMOJA', message: 'Habari' })
        assert.equal(status, saysNo ? 403 : 200, step)
      }
    }),
    { numRuns: runs(16) },
  )
})

test('who writes, dials or pays becomes a customer, once, and is seen again', async () => {
  const { client } = await world.account({ balance: 10 })
  const [writer, chatter, payer] = ['+254711000131', '+254711000132', '+254733000001']
  await atOnce(5, () => client.post('/v1/sandbox/sms/inbound', { from: writer, to: '22003', message: 'Habari' }))
  await client.post('/v1/sandbox/messenger/inbound', {
    from: chatter,
    name: 'Chausiku',
    type: 'text',
    text: { body: 'Habari' },
  })
  const dialler = newPhone()
  await dial(client, await greeting(client), dialler)
  const paid = await client.post('/v1/payments', {
    ...{ amount: 100, currency: 'KES', method: 'mobile_money', phone: payer, customer: { name: 'Penda' } },
  })
  assert.equal(paid.status, 201, paid.text)
  await settled(client, paid.body.payment_id)
  for (const phone of [writer, chatter, payer, dialler]) {
    const [one] = await eventually(async () => {
      const { data } = (await client.get(`${customers}?phone=${encodeURIComponent(phone)}`)).body
      return data.length > 0 && data
    }, `${phone} to be a customer`)
    assert.ok(one.first_seen_at !== null && one.last_seen_at >= one.first_seen_at)
  }
  const { data } = (await client.get(customers)).body
  assert.deepEqual(
    data.map((one: { phones: string[] }) => one.phones[0]).sort(),
    [writer, chatter, payer, dialler].sort(),
  )
  assert.deepEqual(data.flatMap((one: { name: string | null }) => one.name ?? []).sort(), ['Chausiku', 'Penda'])
  await client.post('/v1/sms/send', { to: '+254711000139', from: 'PAMOJA', message: 'Habari' })
  assert.deepEqual(await found(client, 'phone=%2B254711000139'), [], 'who is written to is no customer by that')
})

test('whom billing bills are these customers, and invoices follow a merge', async () => {
  const { client } = await world.account()
  const invoice = async (customer: object, send = true) => {
    const items = [{ description: 'Setup', quantity: 1, unit_amount: 100 }]
    const reply = await client.post('/v1/billing/invoices', { customer, currency: 'KES', items, send })
    assert.equal(reply.status, 201, reply.text)
    return reply.body
  }
  const billed = await invoice({ name: 'Asha', email: 'Asha@example.com', phone: '+254711000141' })
  const asha = billed.customer.customer_id
  const record = (await client.get(`${customers}/${asha}`)).body
  assert.deepEqual([record.name, record.emails, record.phones], ['Asha', ['asha@example.com'], ['+254711000141']])
  assert.equal((await invoice({ phone: '+254711000141' })).customer.customer_id, asha, 'found by their number')
  const shared = await invoice({ email: 'ben@example.com', phone: '+254711000141' })
  const ben = shared.customer.customer_id
  assert.notEqual(ben, asha, 'another address is another customer')
  assert.equal(shared.customer.phone, '+254711000141', 'and is billed at the number that was given')
  assert.deepEqual((await client.get(`${customers}/${ben}`)).body.phones, [], 'which stays with whose it is')

  await client.post(`${customers}/${ben}/notes`, { text: 'Speaks Luo' })
  const merged = await client.post(`${customers}/${asha}/merge`, { customer_id: ben })
  assert.equal(merged.status, 200, merged.text)
  assert.deepEqual([merged.body.id, merged.body.emails], [asha, ['asha@example.com', 'ben@example.com']])
  assert.equal((await client.get(`${customers}/${ben}`)).body.id, asha, 'the old id leads to the new one')
  assert.equal((await client.get(`/v1/billing/customers/${ben}`)).body.customer_id, asha)
  const listed = (await client.get(`/v1/billing/invoices?customer_id=${asha}`)).body.data
  assert.equal(listed.length, 3)
  assert.equal((await invoice({ email: 'ben@example.com' })).customer.customer_id, asha)
  assert.deepEqual(await refusal(client.post(`${customers}/${asha}/merge`, { customer_id: ben })), [
    422,
    'VALIDATION_ERROR',
  ])
})

test('a merge moves all credit of a customer to the other, and no cent more', async () => {
  const account = await world.account()
  const { client } = account
  const tenant = tenantOf(account)
  const micros = fc.bigInt({ min: 0n, max: 9_000_000_000n })
  const purse = fc.record({ KES: micros, USD: micros, TZS: micros })
  const credits = async (id: string) => {
    const { body } = await client.get(`/v1/billing/customers/${id}`)
    return Object.fromEntries(
      body.credits.map((one: { currency: string; amount: number }) => [one.currency, one.amount]),
    )
  }
  await fc.assert(
    fc.asyncProperty(purse, purse, async (some, others) => {
      const owners = [await made(client, { tags: ['into'] }), await made(client, { tags: ['from'] })]
      const [into, from] = owners.map((one) => one.id)
      for (const [id, own] of [
        [into, some],
        [from, others],
      ] as const)
        for (const [currency, amount] of Object.entries(own)) {
          const customerId = uuidOf('customer', id) ?? ''
          await world.app.db.tx(tenant, (tx) =>
            addCredit(
              tx,
              { tenant, nowMs: Date.now() },
              { customerId, currency, sourceId: customerId, step: currency },
              amount,
            ),
          )
        }
      const before = [await credits(into), await credits(from)]
      const merges = await atOnce(3, () => client.post(`${customers}/${into}/merge`, { customer_id: from }))
      assert.deepEqual(statusesOf(merges), { 200: 1, 422: 2 })
      const after = await credits(into)
      for (const currency of ['KES', 'USD', 'TZS']) {
        const sum = before.reduce((total, one) => total + Math.round((one[currency] ?? 0) * 1e6), 0)
        assert.equal(Math.round((after[currency] ?? 0) * 1e6), sum, currency)
      }
    }),
    { numRuns: runs(12) },
  )
})

test('the timeline tells what happened on every channel, newest first, each thing once', async () => {
  const { client } = await world.account({ balance: 100 })
  const phone = '+254733000001'
  const { id } = await made(client, { name: 'Asha', phones: [phone], emails: ['t@example.com'] })
  await client.post('/v1/sandbox/sms/inbound', { from: phone, to: '22003', message: 'Habari' })
  await client.post('/v1/sms/send', { to: phone, from: 'PAMOJA', message: 'Karibu' })
  await client.post('/v1/sandbox/messenger/inbound', {
    from: phone,
    name: 'Asha',
    type: 'text',
    text: { body: 'Nina swali' },
  })
  await dial(client, await greeting(client), phone)
  const paid = await client.post('/v1/payments', { amount: 100, currency: 'KES', method: 'mobile_money', phone })
  await settled(client, paid.body.payment_id)
  const refund = await client.post(`/v1/payments/${paid.body.payment_id}/refund`, { amount: 40 })
  assert.ok(refund.status < 300, refund.text)
  const items = [{ description: 'Setup', quantity: 1, unit_amount: 250 }]
  await client.post('/v1/billing/invoices', { customer: { customer_id: id }, currency: 'KES', items, send: true })
  const note = await client.post(`${customers}/${id}/notes`, { text: 'Asked for a demo' })
  assert.equal(note.status, 201, note.text)

  const timeline = async (query = '', as = client) => (await as.get(`${customers}/${id}/timeline${query}`)).body
  const { data: all } = await timeline()
  const kinds = all.map((one: { type: string; direction: string | null }) => `${one.type} ${one.direction}`)
  assert.deepEqual(kinds, [
    ...['note null', 'invoice outbound', 'refund outbound', 'payment inbound', 'ussd_session inbound', 'chat inbound'],
    ...['message outbound', 'message inbound'],
  ])
  const [noted, billed, refunded, payment, , chat, , text] = all
  assert.deepEqual([noted.title, chat.title, text.title], ['Asked for a demo', 'Nina swali', 'Habari'])
  assert.deepEqual([billed.amount, refunded.amount, payment.amount, payment.currency], [250, 40, 100, 'KES'])
  for (const { url } of all) if (url !== null) assert.equal((await client.get(new URL(url).pathname)).status, 200, url)

  const paged: string[] = []
  let cursor: string | null = ''
  while (cursor !== null) {
    const page: { data: { id: string }[]; next_cursor: string | null } = await timeline(
      `?limit=3${cursor && `&cursor=${cursor}`}`,
    )
    paged.push(...page.data.map((one) => one.id))
    cursor = page.next_cursor
  }
  assert.deepEqual(
    paged,
    all.map((one: { id: string }) => one.id),
  )
  const some = await timeline('?types=payment,refund')
  assert.deepEqual(
    some.data.map((one: { type: string }) => one.type),
    ['refund', 'payment'],
  )
  assert.equal((await timeline('?before=2026-01-01')).data.length, 0)
  assert.equal((await client.get(`${customers}/${id}/timeline?types=dreams`)).status, 400)
  const key = await client.post('/v1/api-keys', { name: 'Reader', scopes: ['customers:read', 'sms:read'] })
  const reader = world.stranger.as(key.body.key ?? key.body.api_key)
  const seen = (await timeline('', reader)).data.map((one: { type: string }) => one.type)
  assert.deepEqual(seen, ['note', 'message', 'message'], 'what the key may not read is left out')
})

test('the timeline tells what was agreed to and what was withdrawn, each thing once', async () => {
  const { client } = await world.account()
  const phone = '+254733000002'
  const consent = { purpose: 'marketing', state: 'granted', source: 'counter' }
  const { id } = await made(client, {
    ...{ name: 'Asha', phones: [phone], emails: ['told@example.com'] },
    consents: [
      { channel: 'sms', ...consent },
      { channel: 'email', ...consent },
    ],
  })
  const told = async (query = '') => (await client.get(`${customers}/${id}/timeline?types=consent${query}`)).body
  const said = async () =>
    (await told()).data.map((one: { title: string; state: string }) => `${one.title} ${one.state}`)
  const granted = ['email: marketing (counter) granted', 'sms: marketing (counter) granted']
  assert.deepEqual((await said()).sort(), granted)
  await client.post('/v1/sms/opt-outs', { phone })
  const [newest, ...before] = await said()
  assert.equal(newest, 'sms: marketing, service (api) withdrawn')
  assert.deepEqual(before.sort(), granted)
  const whole = (await told()).data.map((one: { id: string }) => one.id)
  const paged: string[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page: { data: { id: string }[]; next_cursor: string | null } = await told(
      `&limit=1${cursor && `&cursor=${cursor}`}`,
    )
    paged.push(...page.data.map((one) => one.id))
    cursor = page.next_cursor
  }
  assert.deepEqual(paged, whole)
  assert.equal((await told('&before=2026-01-01')).data.length, 0)
  const { consents } = (await client.get(`${customers}/${id}`)).body
  const wishes = consents.map((one: { channel: string; state: string }) => `${one.channel} ${one.state}`)
  assert.deepEqual(wishes.sort(), ['email granted', 'sms withdrawn', 'sms withdrawn'])
})

test('whatever is done to customers, an address has one owner and stands in the record of nobody else', async () => {
  const account = await world.account()
  const { client, id } = account
  const phones = Array.from({ length: 6 }, (_, i) => `+25471100050${i}`)
  const some = fc.uniqueArray(fc.constantFrom(...phones), { maxLength: 3 })
  const step = fc.oneof(
    fc.record({ do: fc.constant('create' as const), phones: some }),
    fc.record({ do: fc.constant('change' as const), phones: some, at: fc.nat(20) }),
    fc.record({ do: fc.constant('put' as const), phones: some, at: fc.nat(3) }),
    fc.record({ do: fc.constant('merge' as const), at: fc.nat(20), other: fc.nat(20) }),
    fc.record({ do: fc.constant('bill' as const), at: fc.nat(phones.length - 1) }),
  )
  const known: string[] = [(await made(client, {})).id]
  const of = (n: number): string => known[n % known.length] ?? ''
  const items = [{ description: 'Setup', quantity: 1, unit_amount: 1 }]
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 8 }), async (steps) => {
      // All at once: whatever order they come in, none fails and the addresses agree.
      const answers = await atOnce(steps.length, async (i) => {
        const one = steps[i]
        if (one?.do === 'change') return client.patch(`${customers}/${of(one.at)}`, { phones: one.phones })
        if (one?.do === 'put') return client.put(`${customers}/by-external-id/p-${one.at}`, { phones: one.phones })
        if (one?.do === 'merge') return client.post(`${customers}/${of(one.at)}/merge`, { customer_id: of(one.other) })
        if (one?.do === 'bill')
          return client.post('/v1/billing/invoices', { customer: { phone: phones[one.at] }, currency: 'KES', items })
        return client.post(customers, { phones: one?.phones ?? [] })
      })
      for (const { status, body } of answers) if (status < 300 && body.id?.startsWith('cus_')) known.push(body.id)
      const { rows } = await sql.query(
        `select 1 from (select 'phone' as kind, unnest(phones) as address, id from customers.customers where account_id = $1
                        union all select 'external', external_id, id from customers.customers
                         where account_id = $1 and external_id is not null) c
           full join (select kind, address, customer_id as id from customers.addresses where account_id = $1) a
             using (kind, address, id) where (c.id is null) <> (a.id is null) or c.* is null or a.* is null`,
        [uuidOf('account', id)],
      )
      assert.equal(rows.length, 0)
    }),
    { numRuns: runs(40) },
  )
})

test('where customers are always made, who is written to becomes one, and counts as not yet seen', async () => {
  const { client } = await world.account({ balance: 10 })
  const always = hearPeople({ ...world.app, config: { ...world.app.config, PAMOJA_CUSTOMERS_CREATE: 'always' } })
  await client.post('/v1/sms/send', { to: '+254711000601', from: 'PAMOJA', message: 'Habari' })
  const [one] = await eventually(async () => {
    const { data } = (await client.get(`${customers}?phone=%2B254711000601`)).body
    return data.length > 0 && data
  }, 'the recipient to be a customer')
  assert.equal(one.last_seen_at, null)
  await always()
})

test('a file of customers is imported, bad rows are told of, and the same file twice makes nobody twice', async () => {
  const { client } = await world.account()
  const bring = async (content: string | Buffer) => {
    const reply = await client.request('POST', `${customers}/import`, parts({}, [{ part: 'file', content }]))
    assert.equal(reply.status, 201, reply.text)
    return eventually(async () => {
      const { body } = await client.get(`${customers}/imports/${reply.body.import_id}`)
      return body.state === 'running' ? null : body
    }, 'an import to end')
  }
  const counts = ({ state, rows_read, created, updated, unchanged, failed, consents_withdrawn }: Counts) => [
    ...[state, rows_read, created, updated, unchanged, failed, consents_withdrawn],
  ]
  interface Counts {
    readonly [name: string]: unknown
  }
  const ben = await made(client, { name: 'Ben', phones: ['+254711000302'], attributes: { visits: 3 } })
  const stopped = await made(client, {
    phones: ['+254711000303'],
    consents: [{ channel: 'sms', purpose: 'marketing', state: 'withdrawn' }],
  })
  const many = Array.from({ length: 1_100 }, (_, i) => `b-${i},Many ${i},+2547120${String(i).padStart(5, '0')},,,,,,,`)
  const csv = [
    'external_id;name;phone;emails;tags;sms_marketing;messenger_service;attributes.visits;attributes.code:text;consent_source',
    's-1;"Asha; Njeri";+254711000301 +254711000309;Asha@Example.com;VIP, nairobi;granted;granted;7;007;counter',
    's-2;;+254711000302;;;;;;;',
    's-3;Stopped;+254711000303;;;granted;;;;list of 2024',
    's-4;Bad;0711;;;;;;;',
    's-5;Bad;+254711000305;;;;;many;;',
    's-6;Taken;+254711000306 +254711000301;;;;;;;',
    ';Nobody;;;;;;;;',
    's-1;;;;;;;8;;',
    ...many.map((line) => line.replaceAll(',', ';')),
  ].join('\r\n')
  const looked = await client.post(`${customers}/import/preview`, { beginning: csv.slice(0, csv.indexOf('b-15;')) })
  assert.deepEqual(
    looked.body.columns.map(({ field }: Counts) => field),
    [
      ...['external_id', 'name', 'phones', 'emails', 'tags', 'sms_marketing', 'messenger_service'],
      ...['attributes.visits', 'attributes.code', 'consent_source'],
    ],
  )
  assert.deepEqual(
    looked.body.rows.map(({ outcome }: Counts) => outcome).join(' '),
    `created updated updated failed failed failed failed updated${' created'.repeat(12)}`,
  )
  assert.deepEqual(looked.body.rows[5].problem, 'phones has one that belongs to an earlier row')
  assert.deepEqual(await found(client, 'external_id=s-1'), [], 'a preview stores nothing')
  const first = await bring(csv)
  assert.deepEqual(counts(first), ['completed', 1_108, 1_101, 3, 0, 4, 1])
  assert.equal(first.bytes_read, first.file_bytes)
  const errors = await client.get(`${customers}/imports/${first.import_id}/errors`)
  const [asha = ''] = await found(client, 'external_id=s-1')
  assert.deepEqual(errors.text.trimEnd().split('\r\n'), [
    'line,code,field,message,customer_id',
    '5,INVALID_PHONE,phones[0],"must be E.164, such as +254711000001",',
    '6,ATTRIBUTE_TYPE,attributes.visits,must be a number,',
    `7,CUSTOMER_CONFLICT,phones,has one that belongs to ${asha},${asha}`,
    '8,VALIDATION_ERROR,external_id,"or a phone or an email is needed, by which the customer is known when the file comes again",',
  ])
  const { name, phones, emails, tags, attributes, consents } = (await client.get(`${customers}/${asha}`)).body
  assert.deepEqual(
    { name, phones, emails, tags, attributes },
    {
      ...{ name: 'Asha; Njeri', phones: ['+254711000301', '+254711000309'], emails: ['asha@example.com'] },
      ...{ tags: ['vip', 'nairobi'], attributes: { visits: 8, code: '007' } },
    },
  )
  assert.equal(consents.filter((one: Counts) => one.channel === 'sms' && one.source === 'counter').length, 2)
  assert.equal(consents.filter((one: Counts) => one.channel === 'messenger' && one.state === 'granted').length, 4)
  assert.deepEqual(await found(client, 'external_id=s-2'), [ben.id])
  const still = (await client.get(`${customers}/${stopped.id}`)).body
  assert.deepEqual([still.name, still.consents[0]?.state], ['Stopped', 'withdrawn'], 'a file takes back no STOP')

  const again = await bring(csv)
  assert.deepEqual(counts(again), ['completed', 1_108, 0, 2, 1_102, 4, 1])
  const whole = await client.get(`${customers}/export`)
  assert.equal(whole.text.trimEnd().split('\r\n').length, 1_104, whole.text.slice(0, 500))
  const lines = await client.get(`${customers}/export?format=jsonl`)
  const exported = lines.text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  assert.deepEqual(
    exported.find(({ id }) => id === asha),
    omit((await client.get(`${customers}/${asha}`)).body),
  )
  assert.equal((await client.get(`${customers}/export?tag=vip`)).text.trimEnd().split('\r\n').length, 2)
  assert.equal((await client.get(`${customers}/export?q=many%20109`)).text.trimEnd().split('\r\n').length, 12)
  for (const file of [whole.text, lines.text]) {
    const { state, unchanged, failed } = await bring(file)
    assert.deepEqual([state, unchanged, failed], ['completed', 1_103, 0], 'what was exported is there already')
    const { client: other } = await world.account()
    const reply = await other.request('POST', `${customers}/import`, parts({}, [{ part: 'file', content: file }]))
    const copied = await eventually(async () => {
      const { body } = await other.get(`${customers}/imports/${reply.body.import_id}`)
      return body.state === 'running' ? null : body
    }, 'an import to end')
    assert.deepEqual([copied.created, copied.failed], [1_103, 0])
    const [copy = ''] = await found(other, 'external_id=s-1')
    const { attributes: own, consents: wishes } = (await other.get(`${customers}/${copy}`)).body
    assert.deepEqual([own.visits, wishes.length], [8, consents.length])
  }

  const jsonl = [
    JSON.stringify({ external_id: 's-1', attributes: { code: null, member: true }, tags: ['new'] }),
    '{"external_id": "s-1", "nickname": "A"}',
    '{"external_id": "s-1", "name": "\\ud800"}',
    'no JSON',
    '',
    JSON.stringify({ emails: ['ASHA@example.com'], external_id: 's-9' }),
  ].join('\n')
  const third = await bring(jsonl)
  assert.deepEqual([third.format, ...counts(third)], ['jsonl', 'completed', 5, 0, 1, 0, 4, 0])
  assert.deepEqual((await client.get(`${customers}/${asha}`)).body.attributes, { visits: 8, member: true })
  const unasked = await bring(
    [
      'external_id,phone,sms_marketing,consent_source',
      's-20,+254711000320,granted,',
      's-21,+254711000321,withdrawn,',
      's-22,+254711000322,granted,counter',
      's-23,,granted,counter',
    ].join('\n'),
  )
  assert.deepEqual([unasked.created, unasked.failed], [2, 2], 'what is granted needs a source, and a number')
  assert.deepEqual(await found(client, 'external_id=s-23'), [], 'a row that fails makes nobody')
  const formula = await made(client, { name: '=HYPERLINK("x")', tags: ['formula'], attributes: { note: '@SUM(A1)' } })
  const safe = await client.get(`${customers}/export?tag=formula`)
  assert.ok(safe.text.includes(`${formula.id},,"'=HYPERLINK(""x"")"`) && safe.text.includes(",'@SUM(A1),"), safe.text)
  const cut = await bring('name,email\nA,a@example.com\nB,"b@example.com\n')
  assert.deepEqual([cut.state, cut.created, cut.reason], ['failed', 1, 'the file ends inside a quoted cell'])
  const strange = await client.post(`${customers}/import/preview`, {
    beginning: 'name,phone,shoe,id\nA,+254711000399,9,x\n',
  })
  assert.deepEqual(
    [strange.body.rows, ...strange.body.columns.map((one: Counts) => [one.field, one.known])],
    [[], ['name', true], ['phones', true], [null, false], [null, true]],
  )
  const shown = await client.post(`${customers}/import/preview`, { beginning: jsonl })
  assert.deepEqual(
    shown.body.columns.filter(({ known }: Counts) => !known),
    [{ name: 'nickname', field: null, known: false }],
  )
  const broken = await client.post(`${customers}/import/preview`, { beginning: 'name,email\nA,a@example.com\nB,"b' })
  assert.equal(broken.body.reason, 'the file ends inside a quoted cell')
  const unknown = parts({}, [{ part: 'file', content: 'name,phone,shoe\n' }])
  assert.deepEqual(await refusal(client.request('POST', `${customers}/import`, unknown)), [422, 'VALIDATION_ERROR'])
  const told = (await client.get('/v1/events?limit=200')).body.data.filter(
    (one: { event: string }) => one.event === 'customer.import_finished',
  )
  assert.equal(told.length, 7)
})

test('an account waits with its next file while ten of its imports are being read', async () => {
  const { client } = await world.account()
  const send = () =>
    client.request('POST', `${customers}/import`, parts({}, [{ part: 'file', content: 'phone\n+254711000330\n' }]))
  const { body } = await send()
  const read = async () => (await client.get(`${customers}/imports/${body.import_id}`)).body.state === 'completed'
  await eventually(read, 'the import to end')
  await sql.query(
    `insert into customers.imports (bucket, account_id, environment, id, state, format, file_id, file_bytes, job, created_at)
     select i.bucket, i.account_id, i.environment, gen_random_uuid(), 'running', i.format, i.file_id, 1, i.job, now()
       from customers.imports i cross join generate_series(1, 10) where i.id = $1`,
    [uuidOf('customerImport', body.import_id)],
  )
  assert.deepEqual(await refusal(send()), [429, 'RATE_LIMITED'])
  await sql.query(`update customers.imports set state = 'completed' where file_bytes = 1`)
  assert.equal((await send()).status, 201)
})

/** Reply without what every reply has. */
function omit({ success: _, data: __, ...rest }: Record<string, unknown>): object {
  return rest
}
