// SPDX-License-Identifier: Apache-2.0
// Segments and campaigns as an account meets them: who is in a segment, and who gets what of a campaign, once and only with consent.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { uuidOf } from '../../src/kernel/ids.ts'
import { type Client, refusal } from '../client.ts'
import { startMarket } from '../market.ts'
import { settled } from '../paying.ts'
import { eventually } from '../world.ts'

const { world, sql } = await startMarket(0.05)

const customers = '/v1/customers'
const segments = '/v1/segments'

async function made(client: Client, path: string, body: object) {
  const reply = await client.post(path, body)
  assert.equal(reply.status, 201, reply.text)
  return reply.body
}

const granted = (channel: string) => ({ channel, purpose: 'marketing', state: 'granted' })
const withdrawn = (channel: string) => ({ channel, purpose: 'marketing', state: 'withdrawn' })

async function namesIn(client: Client, filter: object): Promise<string[]> {
  const { id } = await made(client, segments, { name: 'Tried', filter })
  const counted = await client.get(`${segments}/${id}/count`)
  assert.equal(counted.status, 200, counted.text)
  const { data } = (await client.get(`${customers}?segment=${id}`)).body
  assert.deepEqual([counted.body.count, counted.body.estimated], [data.length, false])
  assert.equal((await client.post(`${segments}/count`, { filter })).body.count, data.length)
  return data.map(({ name }: { name: string }) => name).sort()
}

test('a segment has the customers that its filter says, by what is known, wished, paid and sent', async () => {
  const { client } = await world.account({ balance: 100 })
  await made(client, customers, {
    ...{ name: 'Asha', country: 'KE', language: 'sw', phones: ['+254711000201'], tags: ['vip'] },
    attributes: { plan: 'gold', visits: 12, member: true, birthday: '1994-05-17' },
    consents: [granted('sms'), granted('voice')],
  })
  await made(client, customers, {
    ...{
      name: 'Baraka',
      country: 'KE',
      phones: ['+254711000202'],
      emails: ['b@example.com'],
      tags: ['vip', 'nairobi'],
    },
    ...{ attributes: { plan: 'silver', visits: 3, birthday: '2001-01-01' } },
    consents: [granted('sms'), granted('email'), granted('messenger'), withdrawn('voice')],
  })
  await made(client, customers, {
    name: 'Chidi',
    country: 'NG',
    emails: ['c@example.com'],
    consents: [withdrawn('email')],
  })
  assert.equal((await client.post('/v1/sms/opt-outs', { phone: '+254711000202' })).status, 201)
  const sent = await client.post('/v1/sms/send', { to: '+254711000201', from: 'PAMOJA', message: 'Habari' })
  assert.equal(sent.status, 200, sent.text)
  const payment = await client.post('/v1/payments', {
    ...{ amount: 150, currency: 'KES', method: 'mobile_money', phone: '+254711000201' },
  })
  assert.equal(payment.status, 201, payment.text)
  await settled(client, payment.body.payment_id)

  const is = (field: string, op: string, value?: unknown) => ({ field, op, ...(value === undefined ? {} : { value }) })
  const all = ['Asha', 'Baraka', 'Chidi']
  const cases: [object, string[]][] = [
    [is('country', 'eq', 'KE'), ['Asha', 'Baraka']],
    [is('country', 'in', ['NG', 'TZ']), ['Chidi']],
    [is('language', 'exists'), ['Asha']],
    [is('language', 'exists', false), ['Baraka', 'Chidi']],
    [is('tags', 'eq', 'VIP'), ['Asha', 'Baraka']],
    [is('tags', 'in', ['nairobi', 'x']), ['Baraka']],
    [is('attributes.plan', 'eq', 'gold'), ['Asha']],
    [is('attributes.plan', 'in', ['gold', 'silver']), ['Asha', 'Baraka']],
    [is('attributes.visits', 'gte', 12), ['Asha']],
    [is('attributes.visits', 'lt', 12), ['Baraka']],
    [is('attributes.member', 'eq', true), ['Asha']],
    [is('attributes.birthday', 'lt', '2000-01-01'), ['Asha']],
    [is('attributes.plan', 'exists', false), ['Chidi']],
    [is('created_at', 'within_days', 1), all],
    [is('created_at', 'lt', '2020-01-01'), []],
    [is('consent.sms', 'eq', 'granted'), ['Asha']],
    [is('consent.sms', 'eq', 'withdrawn'), ['Baraka']],
    [is('consent.sms', 'eq', 'unknown'), ['Chidi']],
    [is('consent.messenger', 'eq', 'granted'), ['Baraka']],
    [is('consent.messenger', 'eq', 'unknown'), ['Asha', 'Chidi']],
    [is('consent.email', 'eq', 'granted'), ['Baraka']],
    [is('consent.email', 'eq', 'withdrawn'), ['Chidi']],
    [is('consent.voice', 'eq', 'granted'), ['Asha']],
    [is('consent.voice', 'eq', 'withdrawn'), ['Baraka']],
    [is('consent.voice', 'eq', 'unknown'), ['Chidi']],
    [is('paid', 'exists'), ['Asha']],
    [is('paid', 'within_days', 2), ['Asha']],
    [is('paid_total', 'gte', 150), ['Asha']],
    [is('paid_total', 'gt', 150), []],
    [is('sent', 'within_days', 1), ['Asha']],
    [is('sent', 'exists', false), ['Baraka', 'Chidi']],
    [{ not: is('country', 'eq', 'KE') }, ['Chidi']],
    [{ not: is('language', 'eq', 'sw') }, ['Baraka', 'Chidi']],
    [
      {
        and: [is('country', 'eq', 'KE'), { or: [is('tags', 'eq', 'nairobi'), is('attributes.plan', 'eq', 'bronze')] }],
      },
      ['Baraka'],
    ],
    [is('name', 'eq', `O'Brien" \\ $4`), []],
  ]
  for (const [filter, expected] of cases)
    assert.deepEqual(await namesIn(client, filter), expected, JSON.stringify(filter))
})

test('a thousand invented customers, of whom seven in ten agreed to marketing, come by one request', async () => {
  const { client } = await world.account({ balance: 1 })
  assert.equal((await client.post('/v1/sandbox/customers', {})).body.created, 1_000)
  assert.equal((await client.post('/v1/sandbox/customers', { count: 10 })).body.created, 10)
  for (const field of ['consent.sms', 'consent.email']) {
    const filter = {
      and: [
        { field: 'tags', op: 'eq', value: 'invented' },
        { field, op: 'eq', value: 'granted' },
      ],
    }
    const { body } = await client.post(`${segments}/count`, { filter })
    assert.deepEqual([body.count, body.estimated, body.margin], [707, false, 0])
  }
})

test('a segment of a large account is counted exactly up to 10,000 customers, and estimated above', async () => {
  const { client } = await world.account({ balance: 1 })
  const { id } = await made(client, customers, { name: 'First' })
  await sql.query(
    `insert into customers.customers (bucket, account_id, environment, id, name, tags, created_at, updated_at)
     select c.bucket, c.account_id, c.environment, gen_random_uuid(), 'Other',
            case when n % 20 = 0 then array['some', 'many'] when n % 2 = 0 then array['many'] else '{}' end, now(), now()
       from customers.customers c, generate_series(1, 60000) n where c.id = $1`,
    [uuidOf('customer', id)],
  )
  const counted = async (tag: string) => {
    const filter = { field: 'tags', op: 'eq', value: tag }
    const { status, text, body } = await client.post(`${segments}/count`, { filter })
    assert.equal(status, 200, text)
    return body
  }
  // A machine that is busy may take longer than an exact count is given.
  const exact = await eventually(async () => {
    const found = await counted('some')
    return found.estimated ? null : found
  }, 'an exact count')
  assert.deepEqual([exact.count, exact.margin], [3_000, 0])
  const many = await counted('many')
  assert.equal(many.estimated, true)
  assert.ok(many.margin > 0 && many.margin < many.count * 0.15, `± ${many.margin}`)
  assert.ok(Math.abs(many.count - 30_000) < many.margin * 3, `${many.count} ± ${many.margin} of 30,000`)
  // Where a sample sees none of them.
  await sql.query(
    `update customers.customers c set tags = '{late}'
      where c.id in (select o.id from customers.customers o join customers.customers f using (bucket, account_id, environment)
                      where f.id = $1 and (uuid_hash(o.id) & 1023) >= 300 limit 11000)`,
    [uuidOf('customer', id)],
  )
  const late = await eventually(async () => {
    const found = await counted('late')
    return found.count > 0 ? found : null
  }, 'a count that was not cut off')
  assert.deepEqual([late.count, late.estimated], [10_001, true], 'no fewer than were counted')
})

test('the few of a large account are found whatever tells them, in their order, page by page', async () => {
  const { client } = await world.account({ balance: 1_000 })
  const { id } = await made(client, customers, { name: 'First', phones: ['+254711000290'] })
  // Those who are looked at before the few, and more than are looked at one by one.
  await sql.query(
    `insert into customers.customers (bucket, account_id, environment, id, name, created_at, updated_at)
     select c.bucket, c.account_id, c.environment, ('ffffffff-ffff-7fff-8fff-' || lpad(to_hex(n), 12, '0'))::uuid, 'Other', now(), now()
       from customers.customers c, generate_series(1, 21000) n where c.id = $1`,
    [uuidOf('customer', id)],
  )
  const phones = ['+254711000291', '+254711000292', '+254711000293', '+254711000294']
  const people: string[] = [id]
  for (const [i, phone] of phones.entries()) {
    const more = i === 3 ? ['+254711000295'] : []
    const emails = [`few${i}@example.com`]
    const one = { name: `Few ${i}`, phones: [phone, ...more], emails, tags: ['few'], attributes: { rank: 900 + i } }
    people.push((await made(client, customers, { ...one, consents: [granted('sms'), granted('email')] })).id)
  }
  const [, a, b, c, d] = people
  for (const [phone, amount] of [
    [phones[0], 150],
    [phones[1], 400],
    [phones[3], 150],
    ['+254711000295', 150],
  ]) {
    const paid = await client.post('/v1/payments', { amount, currency: 'KES', method: 'mobile_money', phone })
    await settled(client, paid.body.payment_id)
  }
  await client.post('/v1/sms/opt-outs', { phone: phones[2] })
  const list = await made(client, segments, { name: 'List', customer_ids: [c, a] })
  const is = (field: string, op: string, value?: unknown) => ({ field, op, ...(value === undefined ? {} : { value }) })
  const cases: [object, (string | undefined)[]][] = [
    [is('paid', 'within_days', 1), [d, b, a]],
    [is('paid', 'exists'), [d, b, a]],
    [is('paid_total', 'gt', 200), [d, b]],
    [is('paid_total', 'gte', 400), [b]],
    [is('consent.sms', 'eq', 'withdrawn'), [c]],
    [is('consent.sms', 'eq', 'granted'), [d, b, a]],
    [is('consent.email', 'eq', 'granted'), [d, c, b, a]],
    [is('consent.messenger', 'eq', 'granted'), []],
    [is('tags', 'eq', 'few'), [d, c, b, a]],
    [is('attributes.rank', 'gt', 901), [d, c]],
    [{ and: [is('tags', 'eq', 'few'), is('paid_total', 'gt', 200), is('attributes.rank', 'lt', 903)] }, [b]],
    [{ or: [is('paid_total', 'gt', 300), is('consent.sms', 'eq', 'withdrawn')] }, [c, b]],
    [{ or: [is('consent.sms', 'eq', 'withdrawn'), is('name', 'eq', 'First')] }, [c, id]],
    [{ and: [{ not: is('paid', 'exists') }, is('tags', 'eq', 'few')] }, [c]],
  ]
  for (const [filter, expected] of cases) {
    const told = JSON.stringify(filter)
    const { id: segment } = await made(client, segments, { name: told.slice(0, 100), filter })
    const first = (await client.get(`${customers}?segment=${segment}&limit=2`)).body
    const rest = first.next_cursor
      ? (await client.get(`${customers}?segment=${segment}&limit=200&cursor=${first.next_cursor}`)).body.data
      : []
    const found = [...first.data, ...rest].map((one: { id: string }) => one.id)
    assert.deepEqual(found, expected, told)
    assert.equal((await client.get(`${segments}/${segment}/count`)).body.count, expected.length, told)
  }
  const listed = (await client.get(`${customers}?segment=${list.id}`)).body.data.map((one: { id: string }) => one.id)
  assert.deepEqual(listed, [c, a])
})

test('a filter that cannot be read is refused with the place of the condition', async () => {
  const { client } = await world.account()
  const cases: [unknown, string][] = [
    [{}, 'filter.field'],
    [{ field: 'pets', op: 'eq', value: 1 }, 'filter.field'],
    [
      {
        and: [
          { field: 'tags', op: 'eq', value: 'a' },
          { field: 'tags', op: 'gt', value: 'a' },
        ],
      },
      'filter.and[1].op',
    ],
    [{ or: [] }, 'filter.or'],
    [{ not: { field: 'paid', op: 'within_days', value: 'x' } }, 'filter.not.value'],
    [{ field: 'consent.sms', op: 'eq', value: 'maybe' }, 'filter.value'],
    [{ or: Array.from({ length: 21 }, () => ({ field: 'tags', op: 'eq', value: 'a' })) }, 'filter.or[20]'],
  ]
  for (const [filter, path] of cases) {
    const { status, body } = await client.post(segments, { name: 'Bad', filter })
    assert.deepEqual([status, body.error.code, body.error.path], [422, 'SEGMENT_INVALID', path])
  }
  assert.deepEqual(await refusal(client.post(segments, { name: 'Neither' })), [422, 'VALIDATION_ERROR'])
})

test('a segment can be a fixed list, which follows a merge, and is changed and deleted', async () => {
  const { client } = await world.account()
  const [a, b, c] = [
    await made(client, customers, { name: 'A' }),
    await made(client, customers, { name: 'B' }),
    await made(client, customers, { name: 'C' }),
  ]
  const segment = await made(client, segments, { name: 'Pilot', customer_ids: [a.id, b.id] })
  const count = async () => (await client.get(`${segments}/${segment.id}/count`)).body.count
  const inside = async () =>
    (await client.get(`${customers}?segment=${segment.id}&limit=1`)).body.data.map(({ id }: { id: string }) => id)
  assert.deepEqual([await count(), await inside()], [2, [b.id]])
  await client.post(`${customers}/${c.id}/merge`, { customer_id: b.id })
  assert.deepEqual([await count(), await inside()], [2, [c.id]])
  await client.post(`${customers}/${c.id}/merge`, { customer_id: a.id })
  assert.equal(await count(), 1)
  const changed = await client.patch(`${segments}/${segment.id}`, { filter: { field: 'name', op: 'eq', value: 'C' } })
  assert.equal(changed.status, 200, changed.text)
  assert.deepEqual([changed.body.name, await count()], ['Pilot', 1])
  assert.equal((await client.delete(`${segments}/${segment.id}`)).status, 204)
  assert.deepEqual(await refusal(client.get(`${segments}/${segment.id}`)), [404, 'NOT_FOUND'])
})

const campaigns = '/v1/campaigns'

/** An account whose clock shows ten in the morning of Nairobi, when people may be advertised to; and the time of that. */
async function morning(): Promise<{ client: Client; nowMs: number }> {
  const { client } = await world.account({ balance: 100 })
  const [dayMs, tenMs] = [86_400_000, 7 * 3_600_000]
  const atMs = Math.floor(Date.now() / dayMs) * dayMs + dayMs + tenMs
  const moved = await client.post('/v1/sandbox/clock', { advance_seconds: Math.round((atMs - Date.now()) / 1000) })
  assert.equal(moved.status, 200, moved.text)
  return { client, nowMs: atMs }
}
const day = { quiet_hours: null }

/** Customers with numbers who agreed to texts, named Person 0 and so on. */
async function audience(client: Client, count: number, from: number): Promise<string[]> {
  const ids: string[] = []
  for (let i = 0; i < count; i++) {
    const phones = [`+2547110${String(from + i).padStart(5, '0')}`]
    const body = { name: `Person ${i}`, phones, tags: ['all'], consents: [granted('sms')] }
    ids.push((await made(client, customers, body)).id)
  }
  return ids
}

const content = { sms: { from: 'PAMOJA', text: 'Habari {{first_name|rafiki}}, ofa ya {{plan|leo}}' } }
const everybody = { name: 'All', filter: { field: 'tags', op: 'eq', value: 'all' } }

const statsOf = async (client: Client, id: string) => (await client.get(`${campaigns}/${id}/stats`)).body

async function over(client: Client, id: string, state = 'completed') {
  await eventually(
    async () => (await client.get(`${campaigns}/${id}`)).body.state === state,
    `the campaign to be ${state}`,
  )
  return eventually(async () => {
    const stats = await statsOf(client, id)
    return stats.queued === 0 && stats
  }, 'its messages to arrive')
}

async function textsTo(client: Client): Promise<string[]> {
  const { data } = (await client.get('/v1/sms?limit=200')).body
  return data
    .filter((one: { direction: string }) => one.direction === 'outbound')
    .map((one: { to: string }) => one.to)
    .sort()
}

test('a campaign goes from a segment to its result: previewed, paid, once to everybody who agreed', async () => {
  const { client } = await morning()
  await audience(client, 5, 3_000)
  await made(client, customers, { name: 'Never asked', phones: ['+254711003100'], tags: ['all'] })
  await made(client, customers, { name: 'No phone', emails: ['nophone@example.com'], tags: ['all'] })
  const segment = await made(client, segments, everybody)
  const campaign = await made(client, campaigns, {
    ...{ name: 'Offers', segment_id: segment.id, channel: ['sms'], content, ...day },
    variants: [{ name: 'B', share: 50, content: { sms: { from: 'PAMOJA', text: 'Hi {{name}}' } } }],
  })
  assert.deepEqual([campaign.state, campaign.spent], ['draft', 0])
  const preview = await client.post(`${campaigns}/${campaign.id}/preview`, {})
  assert.equal(preview.status, 200, preview.text)
  const { recipients, left_out, parts, cost, whole, messages } = preview.body
  assert.deepEqual([recipients, left_out, parts, whole], [5, { no_consent: 1, no_address: 1 }, 5, true])
  assert.equal(cost, 4)
  const prices = [{ channel: 'sms', country: 'KE', network: 'Safaricom', messages: 5, parts: 5, cost: 4 }]
  assert.deepEqual([preview.body.prices, preview.body.blocked, preview.body.four_eyes], [prices, {}, false])
  const { plan = 0, first_name, name } = preview.body.unfilled
  const [theirs, ours] = ['Hi', 'Habari'].map(
    (word) => messages.filter(({ text }: { text: string }) => text.startsWith(word)).length,
  )
  assert.deepEqual([plan, first_name, name, theirs + ours], [ours, undefined, undefined, 5], 'nobody has a plan')
  assert.match(messages[0].text, /^(Habari Person, ofa ya leo|Hi Person \d)$/)
  const started = await client.post(`${campaigns}/${campaign.id}/start`, {})
  assert.equal(started.status, 200, started.text)
  const stats = await over(client, campaign.id)
  assert.deepEqual([stats.sent, stats.waiting, stats.cost, stats.left_out], [5, 0, cost, left_out])
  assert.equal(stats.variants[0].sent + stats.variants[1].sent, 5)
  const [{ network, sent, delivered, failed, cost: charged }, ...others] = stats.networks
  assert.deepEqual([network, sent, delivered + failed, charged, others], ['Safaricom', 5, 5, cost, []])
  assert.equal(new Set(await textsTo(client)).size, 5)
  assert.equal((await textsTo(client)).length, 5)
  const [from = ''] = await textsTo(client)
  const replies = async () => (await client.get(`${campaigns}/${campaign.id}/replies`)).body.data
  assert.deepEqual(await replies(), [])
  await client.post('/v1/sandbox/sms/inbound', { from, to: 'PAMOJA', message: 'Ngapi zimebaki?' })
  const [answer] = await eventually(async () => {
    const found = await replies()
    return found.length > 0 && found[0].conversation_id !== null && found
  }, 'the reply to be told')
  assert.deepEqual([answer.from, answer.text], [from, 'Ngapi zimebaki?'])
  assert.match(`${answer.customer_id} ${answer.conversation_id} ${answer.variant}`, /^cus_\S+ conv_\S+ [AB]$/)
  assert.deepEqual(await refusal(client.post(`${campaigns}/${campaign.id}/start`, {})), [409, 'CAMPAIGN_STATE'])
  const told = (await client.get('/v1/events?limit=200&order=asc')).body.data.map((one: { event: string }) => one.event)
  assert.deepEqual(
    told.filter((name: string) => name.startsWith('campaign.')),
    ['campaign.started', 'campaign.completed'],
  )
})

test('nobody gets a campaign twice over pause, resume, a merge and whoever is named twice', async () => {
  const { client } = await morning()
  const [a = '', b = '', c = '', d = ''] = await audience(client, 4, 4_000)
  const list = { customer_ids: [a, b, b, c, d, a] }
  const campaign = await made(client, campaigns, {
    name: 'Twice',
    ...list,
    channel: ['sms'],
    content,
    ...day,
    rate: 1,
  })
  const preview = await client.post(`${campaigns}/${campaign.id}/preview`, {})
  assert.deepEqual([preview.body.audience, preview.body.left_out], [4, { duplicate: 2 }])
  await client.post(`${campaigns}/${campaign.id}/start`, {})
  await eventually(async () => (await statsOf(client, campaign.id)).sent > 0, 'the first')
  const paused = await client.post(`${campaigns}/${campaign.id}/pause`, {})
  assert.deepEqual([paused.status, paused.body.state], [200, 'paused'])
  const before = await statsOf(client, campaign.id)
  assert.equal(before.sent < 4, true, 'the rate holds')
  // One who got it and one who waits become one: they got it.
  const texted = (await textsTo(client))[0]
  const got = (await client.get(`${customers}?phone=${encodeURIComponent(texted ?? '')}`)).body.data[0].id
  const other = [a, b, c, d].find((id) => id !== got) ?? ''
  assert.equal((await client.post(`${customers}/${other}/merge`, { customer_id: got })).status, 200)
  // One who waits is given the number of the one who got it.
  const waiting = [a, b, c, d].find((id) => id !== got && id !== other) ?? ''
  const { phones } = (await client.get(`${customers}/${waiting}`)).body
  assert.equal((await client.patch(`${customers}/${other}`, { phones: ['+254711004100'] })).status, 200)
  assert.equal((await client.patch(`${customers}/${waiting}`, { phones: [texted] })).status, 200)
  assert.notEqual(phones[0], texted)
  await client.patch(`${campaigns}/${campaign.id}`, { rate: null })
  assert.equal((await client.post(`${campaigns}/${campaign.id}/resume`, {})).status, 200)
  const stats = await over(client, campaign.id)
  assert.deepEqual([stats.audience, stats.sent, stats.left_out], [3, 2, { duplicate: 3 }])
  assert.deepEqual([(await textsTo(client)).length, new Set(await textsTo(client)).size], [2, 2])
})

test('STOP in the middle stops what is not sent, and the budget is never exceeded', async () => {
  const { client } = await morning()
  await audience(client, 6, 5_000)
  const segment = await made(client, segments, everybody)
  const campaign = await made(client, campaigns, {
    ...{ name: 'Bounded', segment_id: segment.id, channel: ['sms'], content, ...day, rate: 12, budget: 2.5 },
  })
  await client.post(`${campaigns}/${campaign.id}/start`, {})
  await eventually(async () => (await statsOf(client, campaign.id)).sent > 0, 'the first')
  await client.post(`${campaigns}/${campaign.id}/pause`, {})
  const done = new Set(await textsTo(client))
  const next = ['+254711005004', '+254711005005'].filter((phone) => !done.has(phone))
  assert.equal(next.length > 0, true)
  for (const phone of next) assert.equal((await client.post('/v1/sms/opt-outs', { phone })).status, 201)
  await client.patch(`${campaigns}/${campaign.id}`, { rate: null })
  await client.post(`${campaigns}/${campaign.id}/resume`, {})
  const stats = await over(client, campaign.id, 'stopped_budget')
  assert.deepEqual([stats.sent, stats.cost], [3, 2.4])
  assert.deepEqual((await client.get(`${campaigns}/${campaign.id}`)).body.spent, 2.4)
  for (const phone of await textsTo(client)) assert.equal(next.includes(phone), false, `${phone} said STOP`)
  await client.patch(`${campaigns}/${campaign.id}`, { budget: 2.4 })
  assert.deepEqual(await refusal(client.post(`${campaigns}/${campaign.id}/resume`, {})), [402, 'BUDGET_REACHED'])
  await client.patch(`${campaigns}/${campaign.id}`, { budget: 50 })
  await client.post(`${campaigns}/${campaign.id}/resume`, {})
  const all = await over(client, campaign.id)
  assert.deepEqual([all.sent, all.left_out], [6 - next.length, { no_consent: next.length }])
})

test('a draft that was changed since it was read is neither changed over it nor started', async () => {
  const { client } = await morning()
  const [one = ''] = await audience(client, 1, 6_100)
  const read = await made(client, campaigns, { name: 'Twice', customer_ids: [one], channel: ['sms'], content })
  const own = `${campaigns}/${read.id}`
  const changed = await client.patch(own, { rate: 7, unchanged_since: read.updated_at })
  assert.deepEqual([changed.status, changed.body.rate], [200, 7], changed.text)
  assert.ok(changed.body.updated_at > read.updated_at)
  const stale = { unchanged_since: read.updated_at }
  assert.deepEqual(await refusal(client.patch(own, { rate: 8, ...stale })), [409, 'CONFLICT'])
  assert.deepEqual(await refusal(client.post(`${own}/start`, stale)), [409, 'CONFLICT'])
  const { state, rate, updated_at } = (await client.get(own)).body
  assert.deepEqual([state, rate], ['draft', 7])
  const started = await client.post(`${own}/start`, { unchanged_since: updated_at })
  assert.equal(started.status, 200, started.text)
})

/** Template `lamps` in Swahili, with the name of the customer. */
async function approvedTemplate(client: Client): Promise<void> {
  const body = { type: 'BODY', text: 'Habari {{1}}, taa mpya' }
  const template = { name: 'lamps', category: 'MARKETING', language: 'sw', components: [body] }
  const { id, template_id } = await made(client, '/v1/messenger/templates', template)
  const status = async () => (await client.get(`/v1/messenger/templates/${id ?? template_id}`)).body.status
  await eventually(async () => (await status()) === 'APPROVED', 'the template to be approved')
}

test('one sends each variant to oneself first: filled in, paid, by every channel, and in no figures', async () => {
  const { client } = await morning()
  const [one = ''] = await audience(client, 1, 6_200)
  const phone = '+254711006201'
  const email = 'wangari@example.com'
  const own = { name: 'Wangari Njeri', phones: [phone], emails: [email], attributes: { plan: 'gold' } }
  await made(client, customers, { ...own, consents: [granted('messenger')] })
  const mail = { from: 'offers@sandbox.pamoja.test', subject: 'Ofa ya {{first_name}}', text: 'Ofa' }
  await approvedTemplate(client)
  const draft = await made(client, campaigns, {
    ...{ name: 'Tried', customer_ids: [one], channel: ['sms', 'email', 'messenger'], ...day },
    content: {
      ...{ ...content, email: mail },
      messenger: { template: 'lamps', language: 'sw', parameters: ['{{first_name}}'] },
    },
    variants: [{ name: 'B', share: 50, content: { sms: { from: 'PAMOJA', text: 'Hi {{name}}' } } }],
  })
  const tried = await client.post(`${campaigns}/${draft.id}/test`, { phone, email })
  assert.equal(tried.status, 200, tried.text)
  const told = tried.body.messages.map((sent: Record<string, unknown>) => [
    ...[sent.channel, sent.variant, sent.to, sent.text, sent.error_code],
  ])
  assert.deepEqual(told, [
    ['sms', 'A', phone, 'Habari Wangari, ofa ya gold', null],
    ['sms', 'B', phone, 'Hi Wangari Njeri', null],
    ['email', 'A', email, 'Ofa ya Wangari', null],
    ['email', 'B', email, 'Ofa ya Wangari', null],
    ['messenger', 'A', phone, 'lamps', null],
    ['messenger', 'B', phone, 'lamps', null],
  ])
  await eventually(async () => (await textsTo(client)).length === 2, 'both texts')
  assert.deepEqual(await textsTo(client), [phone, phone])
  assert.equal((await client.get('/v1/messenger/messages')).body.data.length, 2)
  const { audience: all, sent, cost } = await statsOf(client, draft.id)
  assert.deepEqual([all, sent, cost], [1, 0, 0], 'no figure of the campaign tells of it')
  assert.equal((await client.post('/v1/sms/opt-outs', { phone })).status, 201)
  const refused = (await client.post(`${campaigns}/${draft.id}/test`, { phone })).body.messages
  assert.deepEqual([refused[0].error_code, refused[0].message_id, refused[0].cost], ['OPTED_OUT', null, 0])
  const toNobody = await made(client, campaigns, {
    name: 'Mail',
    customer_ids: [one],
    channel: ['email'],
    content: { email: mail },
  })
  const nowhere = client.post(`${campaigns}/${toNobody.id}/test`, { phone })
  assert.deepEqual(await refusal(nowhere), [422, 'VALIDATION_ERROR'])
})

test('above the number that an account sets, a second person starts a campaign, and just what was asked for', async () => {
  const { client } = await morning()
  const people = await audience(client, 3, 6_300)
  const settings = (campaign_four_eyes: number | null) =>
    client.patch('/v1/account', { settings: { campaign_four_eyes } })
  assert.equal((await settings(2)).status, 200)
  const base = { name: 'Large', channel: ['sms'], content, ...day }
  const small = await made(client, campaigns, { ...base, customer_ids: people.slice(1) })
  const begun = await client.post(`${campaigns}/${small.id}/start`, {})
  assert.deepEqual([begun.body.state, begun.body.four_eyes], ['checking', null], 'two are not above two')
  const { id } = await made(client, campaigns, { ...base, customer_ids: people })
  const [own, start] = [`${campaigns}/${id}`, `${campaigns}/${id}/start`]
  assert.equal((await client.post(`${own}/preview`, {})).body.four_eyes, true)
  const key = await client.post('/v1/api-keys', {
    name: 'Second',
    scopes: ['campaigns:read', 'campaigns:write', 'campaigns:start'],
  })
  const second = world.stranger.as(key.body.key ?? key.body.api_key)
  const asked = await client.post(start, {})
  assert.equal(asked.status, 200, asked.text)
  assert.equal(asked.body.state, 'draft')
  assert.match(asked.body.four_eyes.asked_by, /^(key|member):/)
  assert.deepEqual(await refusal(client.post(start, {})), [403, 'FORBIDDEN'], 'nobody approves what they asked for')
  const changed = await second.patch(own, { rate: 600 })
  assert.deepEqual([changed.status, changed.body.four_eyes], [200, null], 'a changed draft was not asked for')
  assert.equal((await second.post(start, {})).body.state, 'draft')
  assert.deepEqual(await refusal(second.post(start, {})), [403, 'FORBIDDEN'])
  assert.equal((await client.post(start, {})).body.state, 'checking')
  assert.equal((await over(client, id)).sent, 3)
  const told = (await client.get('/v1/events?limit=200&order=asc')).body.data
  const names = told.filter((one: { id: string; event: string }) => one.event === 'campaign.approval_requested')
  assert.equal(names.length, 2)
})

test('a campaign that one person started is a draft again when its segment has grown beyond one person meanwhile', async () => {
  const { client, nowMs } = await morning()
  const people = await audience(client, 3, 6_400)
  assert.equal((await client.patch('/v1/account', { settings: { campaign_four_eyes: 2 } })).status, 200)
  const segment = await made(client, segments, { name: 'Few', customer_ids: people })
  const at = new Date(nowMs + 3_600_000).toISOString()
  const base = { name: 'Grown', segment_id: segment.id, channel: ['sms'], content, ...day, schedule: { at } }
  const { id } = await made(client, campaigns, base)
  const own = `${campaigns}/${id}`
  const asked = await client.post(`${own}/start`, {})
  assert.equal(asked.body.state, 'draft')
  assert.notEqual(asked.body.four_eyes, null)
  assert.equal((await client.patch(`${segments}/${segment.id}`, { customer_ids: people.slice(1) })).status, 200)
  const begun = await client.post(`${own}/start`, {})
  assert.deepEqual([begun.body.state, begun.body.four_eyes], ['checking', null], 'who asked starts it alone')
  await eventually(async () => (await client.get(own)).body.state === 'scheduled', 'it to be gathered')
  // As a pause before the first customer is gathered leaves it.
  const paused = `update customers.campaigns set state = 'paused', job = null, gathered = false, cursor = null where id = $1`
  await sql.query(paused, [uuidOf('campaign', id)])
  assert.equal((await client.patch(`${segments}/${segment.id}`, { customer_ids: people })).status, 200)
  assert.equal((await client.post(`${own}/resume`, {})).body.state, 'checking')
  const draft = await eventually(async () => {
    const { body } = await client.get(own)
    return body.state === 'checking' ? null : body
  }, 'it to be gathered again')
  assert.deepEqual([draft.state, draft.reason], ['draft', 'FOUR_EYES'])
  assert.equal((await client.post(`${own}/start`, {})).body.state, 'draft', 'it is asked for now')
})

test('a campaign waits for its time and for the morning, is cancelled, and is refused when it reaches nobody', async () => {
  const { client, nowMs } = await morning()
  const [one = ''] = await audience(client, 1, 6_000)
  const base = { name: 'Later', customer_ids: [one], channel: ['sms'], content }
  const at = new Date(nowMs + 3_600_000).toISOString()
  const later = await made(client, campaigns, { ...base, ...day, schedule: { at } })
  await client.post(`${campaigns}/${later.id}/start`, {})
  await eventually(async () => (await client.get(`${campaigns}/${later.id}`)).body.state === 'scheduled', 'it to wait')
  assert.equal((await client.post(`${campaigns}/${later.id}/cancel`, {})).body.state, 'cancelled')
  assert.deepEqual(await refusal(client.post(`${campaigns}/${later.id}/resume`, {})), [409, 'CAMPAIGN_STATE'])
  const quiet = await made(client, campaigns, { ...base, quiet_hours: { from: '09:00', to: '11:00' } })
  await client.post(`${campaigns}/${quiet.id}/start`, {})
  await eventually(async () => (await client.get(`${campaigns}/${quiet.id}`)).body.state === 'scheduled', 'it to wait')
  assert.equal((await statsOf(client, quiet.id)).sent, 0)
  const { id: nobody } = await made(client, segments, {
    name: 'No',
    filter: { field: 'tags', op: 'eq', value: 'none' },
  })
  const empty = await made(client, campaigns, { ...base, customer_ids: undefined, segment_id: nobody })
  assert.deepEqual(await refusal(client.post(`${campaigns}/${empty.id}/start`, {})), [422, 'NO_RECIPIENTS'])
  const stranger = await made(client, customers, { phones: ['+254711006100'] })
  const unasked = await made(client, campaigns, { ...base, customer_ids: [stranger.id] })
  assert.deepEqual(await refusal(client.post(`${campaigns}/${unasked.id}/start`, {})), [422, 'CONSENT_REQUIRED'])
})

test('who is erased is taken out of campaigns that are not sent, and of lists; the report says what stays', async () => {
  const { client, nowMs } = await morning()
  const [gone = '', ...others] = await audience(client, 3, 7_000)
  const base = { channel: ['sms'], content, ...day }
  const sent = await made(client, campaigns, { ...base, name: 'Sent', customer_ids: [gone] })
  await client.post(`${campaigns}/${sent.id}/start`, {})
  await over(client, sent.id)
  const list = await made(client, segments, { name: 'List', customer_ids: [gone, ...others] })
  const schedule = { at: new Date(nowMs + 3_600_000).toISOString() }
  const later = await made(client, campaigns, { ...base, name: 'Later', segment_id: list.id, schedule })
  await client.post(`${campaigns}/${later.id}/start`, {})
  await eventually(async () => (await client.get(`${campaigns}/${later.id}`)).body.state === 'scheduled', 'it to wait')
  assert.equal((await statsOf(client, later.id)).audience, 3)
  const report = await client.delete(`${customers}/${gone}`)
  assert.equal(report.status, 200, report.text)
  const told = (kind: string) => report.body.items.find((one: { kind: string }) => one.kind === kind)
  assert.deepEqual([told('campaigns').erased, told('campaigns').kept, told('segments').erased], [2, 0, 1])
  assert.match(told('campaigns').reason, /prices/)
  const { rowCount } = await sql.query(`select 1 from customers.campaign_recipients where address = '+254711007000'`)
  assert.equal(rowCount, 0, 'no campaign knows the number')
  const unsent = { ...base, name: 'Nobody', customer_ids: [gone] }
  assert.deepEqual(await refusal(client.post(campaigns, unsent)), [422, 'NO_RECIPIENTS'])
  assert.equal((await client.get(`${segments}/${list.id}/count`)).body.count, 2)
  await client.post('/v1/sandbox/clock', { advance_seconds: 7_200 })
  await client.post(`${campaigns}/${later.id}/pause`, {})
  await client.post(`${campaigns}/${later.id}/resume`, {})
  const stats = await over(client, later.id)
  assert.deepEqual([stats.audience, stats.sent, stats.left_out], [2, 2, {}])
  const first = await statsOf(client, sent.id)
  assert.deepEqual([first.sent, first.cost], [1, 0.8], 'what was sent is still counted')
})

test('a chat that is not handed over when its customer is erased is never sent, and its price is given back', async () => {
  const { client } = await morning()
  await approvedTemplate(client)
  const phone = '+254711007900'
  const { id: gone } = await made(client, customers, {
    name: 'Zawadi',
    phones: [phone],
    consents: [granted('messenger')],
  })
  const campaign = await made(client, campaigns, {
    ...{ name: 'Chats', customer_ids: [gone], channel: ['messenger'], ...day },
    content: { messenger: { template: 'lamps', language: 'sw', parameters: ['{{first_name}}'] } },
  })
  // The database refuses the chat for as long as this is there, and the job tries again.
  await sql.query(`create function public.refuse_chat() returns trigger language plpgsql as $$
    begin raise exception 'the database is out of room'; end $$`)
  await sql.query(`create trigger refuse_chat before insert on messenger.messages for each row
    when (new.recipient = '${phone}') execute function public.refuse_chat()`)
  try {
    await client.post(`${campaigns}/${campaign.id}/start`, {})
    await eventually(async () => (await statsOf(client, campaign.id)).sent === 1, 'the chat to be on its way')
    assert.ok((await client.get(`${campaigns}/${campaign.id}`)).body.spent > 0)
    assert.equal((await client.delete(`${customers}/${gone}`)).status, 200)
  } finally {
    await sql.query('drop function public.refuse_chat() cascade')
  }
  const stats = await eventually(async () => {
    const found = await statsOf(client, campaign.id)
    return found.sent === 0 && found
  }, 'the chat to be given up')
  assert.deepEqual([stats.left_out, stats.cost], [{ blocked: 1 }, 0])
  assert.equal((await client.get(`${campaigns}/${campaign.id}`)).body.spent, 0)
  assert.deepEqual((await client.get('/v1/messenger/messages')).body.data, [])
})

test('a table names the audience of a campaign, by id, number or address, each person once', async () => {
  const { client } = await morning()
  await audience(client, 2, 8_000)
  const by = { emails: ['Named@example.com'], phones: ['+254711008100'], external_id: 'shop-1' }
  await made(client, customers, { name: 'Third', ...by, consents: [granted('sms')] })
  const csv = [
    'note;phone;email;external_id',
    'the first;+254711008000;;',
    'the same;+254711008000;;',
    'by address;;named@EXAMPLE.com;',
    'by id;;;shop-1',
    'nobody;+254711008999;;',
  ].join('\n')
  const base = { name: 'Table', channel: ['sms'], content, ...day }
  const campaign = await made(client, campaigns, { ...base, csv })
  assert.equal(campaign.segment_id, null)
  await client.post(`${campaigns}/${campaign.id}/start`, {})
  const stats = await over(client, campaign.id)
  assert.deepEqual([stats.audience, stats.sent, stats.left_out], [2, 2, { duplicate: 2 }])
  assert.deepEqual(await textsTo(client), ['+254711008000', '+254711008100'])
  const draft = await made(client, campaigns, { ...base, csv: 'phone\n+254711008000' })
  await client.patch(`${campaigns}/${draft.id}`, { csv: 'phone\n+254711008001' })
  const preview = (await client.post(`${campaigns}/${draft.id}/preview`, {})).body
  assert.deepEqual(
    preview.messages.map(({ to }: { to: string }) => to),
    ['+254711008001'],
  )
  for (const [bad, refused] of [
    [{ csv: 'phone\n+254711008999' }, [422, 'NO_RECIPIENTS']],
    [{ csv: 'name\nAsha' }, [422, 'VALIDATION_ERROR']],
    [{ csv, customer_ids: [] }, [422, 'VALIDATION_ERROR']],
    [{}, [422, 'VALIDATION_ERROR']],
  ] as const)
    assert.deepEqual(await refusal(client.post(campaigns, { ...base, ...bad })), refused)
})
