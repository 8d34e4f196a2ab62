// SPDX-License-Identifier: Apache-2.0
// What an account's rules and blacklists do to payouts: what is blocked is never sent and holds nothing, what is to be looked
// at waits with its money held until somebody lets it go or does not, alone and in batches.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { uuidOf } from '../../src/kernel/ids.ts'
import type { Client, Reply } from '../client.ts'
import { startMarket } from '../market.ts'
import { over, wallet } from '../paying.ts'
import { runs } from '../properties.ts'
import { eventually } from '../world.ts'

const { world, sql } = await startMarket(0.01)

const bulk = '/v1/payments/payout/bulk'
const payout = { amount: 100, currency: 'KES', phone: '+254700000001' }
const large = { field: 'amount', operator: 'gte', value: 500 }

test('a rule blocks a payout: it is stored as failed, told of, holds nothing and is not sent', async () => {
  const { client } = await world.account({ balance: 1_000 })
  const rule = await addRule(client, { action: 'block', conditions: [large] })
  const allowed = await client.post('/v1/payouts', payout)
  assert.equal(allowed.status, 201, allowed.text)
  assert.deepEqual(
    [allowed.body.risk.decision, allowed.body.risk.rule_id, allowed.body.risk.flags, allowed.body.in_review],
    ['allow', null, ['new_recipient'], false],
  )
  await over(client, allowed.body.payout_id)
  const asked = { ...payout, amount: 500, reference: 'too-much' }
  const headers = { 'Idempotency-Key': 'k' }
  const blocked = await client.post('/v1/payouts', asked, { headers })
  assert.deepEqual(
    [blocked.status, blocked.body.error.code, blocked.body.error.rule_id],
    [403, 'PAYMENT_BLOCKED', rule],
  )
  const { payout_id } = blocked.body.error
  const { body } = await client.get(`/v1/payouts/${payout_id}`)
  assert.deepEqual(
    [body.status, body.failure_reason, body.failure_message, body.reference, body.risk.decision, body.risk.rule_id],
    ['failed', 'BLOCKED_BY_RULE', 'The payment was not accepted.', 'too-much', 'block', rule],
  )
  assert.deepEqual(await eventsOf(client, payout_id), ['payout.failed 1'])
  assert.deepEqual(await wallet(client), { balance: 899.5, held: 0 })
  const { rows } = await sql.query('select state from payments.payouts where id = $1', [uuidOf('payout', payout_id)])
  assert.deepEqual(rows, [{ state: 'final' }])
  const repeated = await client.post('/v1/payouts', asked, { headers })
  assert.deepEqual([repeated.text, repeated.headers['idempotent-replayed']], [blocked.text, 'true'])
  const again = await client.post('/v1/payouts', asked)
  assert.deepEqual([again.status, again.body.error.original_id], [409, payout_id])
  const unwaited = await client.post('/v1/payouts?wait=0', { ...payout, amount: 600 })
  assert.deepEqual([unwaited.status, unwaited.body.error.code], [403, 'PAYMENT_BLOCKED'])
  const scheduled_at = new Date(Date.now() + 3_600_000).toISOString()
  const later = await client.post('/v1/payouts', { ...payout, amount: 600, scheduled_at })
  assert.deepEqual([later.status, later.body.error.code], [403, 'PAYMENT_BLOCKED'])
  // One that there is no money for is blocked all the same: whether there is would be told otherwise.
  assert.equal((await client.post('/v1/payouts', { ...payout, amount: 5_000 })).status, 403)
  assert.deepEqual(await wallet(client), { balance: 899.5, held: 0 })
})

test('a recipient on a blacklist is not paid, and rules for payments leave payouts alone', async () => {
  const { client } = await world.account({ balance: 1_000 })
  await addRule(client, { action: 'block', conditions: [{ ...large, value: 1 }], applies_to: ['payment'] })
  assert.equal((await client.post('/v1/payouts', payout)).status, 201)
  const entry = { type: 'phone', value: '+254700000020', applies_to: ['payout'] }
  assert.equal((await client.post('/v1/payments/fraud/blacklist', entry)).status, 201)
  const blocked = await client.post('/v1/payouts', { ...payout, phone: '+254700000020' })
  assert.deepEqual(
    [blocked.status, blocked.body.error.code, blocked.body.error.rule_id],
    [403, 'PAYMENT_BLOCKED', null],
  )
  const { body } = await client.get(`/v1/payouts/${blocked.body.error.payout_id}`)
  assert.deepEqual([body.status, body.failure_reason], ['failed', 'BLACKLISTED'])
  const other = { type: 'email', value: 'asha@example.com' }
  assert.equal((await client.post('/v1/payments/fraud/blacklist', other)).status, 201)
  const named = await client.post('/v1/payouts', { ...payout, recipient: { email: 'Asha@Example.com' } })
  assert.equal(named.status, 403, 'by the recipient’s address too')
})

test('a payout in review holds its money, is told of and not sent, and goes when it is approved', async () => {
  const { client } = await world.account({ balance: 2_000 })
  const rule = await addRule(client, { action: 'review', conditions: [large], score: 30 })
  const asked = await client.post('/v1/payouts', { ...payout, amount: 500 })
  assert.equal(asked.status, 201, asked.text)
  const { payout_id, status, in_review, risk } = asked.body
  assert.deepEqual(
    [status, in_review, risk.decision, risk.rule_id, risk.risk_score],
    ['pending', true, 'review', rule, 39],
  )
  assert.deepEqual(await wallet(client), { balance: 2_000, held: 502.5 })
  assert.deepEqual(await eventsOf(client, payout_id), ['fraud.review_required 1'])
  const [{ payload }] = (await client.get('/v1/events')).body.data
  assert.deepEqual(
    [payload.payment_id, payload.payout_id, payload.risk, payload.payout.status, payload.payout.in_review],
    [
      null,
      payout_id,
      { risk_score: 39, risk_level: 'medium', flags: ['new_recipient'], decision: 'review' },
      'pending',
      true,
    ],
  )
  const { body: other } = await client.post('/v1/payouts', payout)
  const listed = async (query: string) =>
    (await client.get(`/v1/payouts?${query}`)).body.data.map((row: { payout_id: string }) => row.payout_id)
  assert.deepEqual(await listed('in_review=true'), [payout_id])
  assert.deepEqual(await listed('in_review=false'), [other.payout_id])
  assert.deepEqual(await listed('in_review=true&status=completed'), [])
  assert.equal((await client.get('/v1/payouts?in_review=perhaps')).status, 400)
  const own = await client.post(`/v1/payouts/${payout_id}/approve`)
  assert.deepEqual([own.status, own.body.error.code], [403, 'FORBIDDEN'], 'never by the key that made it')
  const { body: token } = await client.post('/v1/auth/token', {
    grant_type: 'client_credentials',
    subject: 'somebody-else',
  })
  const disguised = await world.stranger.as(token.access_token).post(`/v1/payouts/${payout_id}/approve`)
  assert.equal(disguised.status, 403, 'nor by a token of it')
  const { body: writer } = await client.post('/v1/api-keys', { name: 'writer', scopes: ['payouts:write'] })
  const unscoped = await world.stranger.as(writer.key).post(`/v1/payouts/${payout_id}/approve`)
  assert.deepEqual([unscoped.status, unscoped.body.error.required_scope], [403, 'payouts:approve'])
  const approver = await approverOf(client)
  const approved = await approver.post(`/v1/payouts/${payout_id}/approve`)
  assert.deepEqual([approved.status, approved.body.status, approved.body.in_review], [200, 'processing', false])
  assert.deepEqual([(await over(client, payout_id)).status, await listed('in_review=true')], ['completed', []])
  await over(client, other.payout_id)
  assert.deepEqual(await eventsOf(client, payout_id), ['fraud.review_required 1', 'payout.completed 2'])
  assert.deepEqual(await wallet(client), { balance: 1_397, held: 0 })
  for (const verb of ['approve', 'reject']) {
    const late = await client.post(`/v1/payouts/${payout_id}/${verb}`)
    assert.deepEqual([late.status, late.body.error.code, late.body.error.status], [409, 'INVALID_STATE', 'completed'])
  }
  const trail = (await client.get('/v1/audit-log?limit=50')).body.data.map(({ action }: { action: string }) => action)
  assert.ok(trail.includes('payout.approve'), trail.join())
})

test('a payout in review is rejected or withdrawn, and its money is back', async () => {
  const { client } = await world.account({ balance: 2_000 })
  await addRule(client, { action: 'review', conditions: [large] })
  const ask = async () => (await client.post('/v1/payouts', { ...payout, amount: 500 })).body.payout_id
  const [first, second] = [await ask(), await ask()]
  assert.deepEqual(await wallet(client), { balance: 2_000, held: 1_005 })
  const rejected = await client.post(`/v1/payouts/${first}/reject`)
  assert.deepEqual([rejected.status, rejected.body.status, rejected.body.in_review], [200, 'cancelled', false])
  assert.equal((await client.post(`/v1/payouts/${second}/cancel`)).body.status, 'cancelled')
  assert.deepEqual(await wallet(client), { balance: 2_000, held: 0 })
  for (const verb of ['approve', 'reject'])
    for (const id of [first, second]) {
      const { status, body } = await client.post(`/v1/payouts/${id}/${verb}`)
      assert.deepEqual([status, body.error.code, body.error.status], [409, 'INVALID_STATE', 'cancelled'])
    }
  const scheduled_at = new Date(Date.now() + 3_600_000).toISOString()
  const { body: waiting } = await client.post('/v1/payouts', { ...payout, scheduled_at })
  for (const verb of ['approve', 'reject']) {
    const { status, body } = await client.post(`/v1/payouts/${waiting.payout_id}/${verb}`)
    assert.deepEqual([status, body.error.status], [409, 'pending'], 'it waits for its time, and for nobody')
    assert.equal((await client.post(`/v1/payouts/po_01jb2c3d4e5f6g7h8j9kamnpqr/${verb}`)).status, 404)
    assert.equal((await client.post(`/v1/payouts/nonsense/${verb}`)).status, 404)
  }
  const { body: reader } = await client.post('/v1/api-keys', { name: 'reader', scopes: ['payouts:read'] })
  assert.equal((await world.stranger.as(reader.key).post(`/v1/payouts/${second}/approve`)).status, 403)
  const { client: eve } = await world.account()
  assert.equal((await eve.post(`/v1/payouts/${second}/approve`)).status, 404)
  const trail = (await client.get('/v1/audit-log?limit=50')).body.data.map(({ action }: { action: string }) => action)
  assert.ok(trail.includes('payout.reject'), trail.join())
})

test('one that is approved before its time waits for that', async () => {
  const { client } = await world.account({ balance: 2_000 })
  await addRule(client, { action: 'review', conditions: [large] })
  const scheduled_at = new Date(Date.now() + 3_600_000).toISOString()
  const { body } = await client.post('/v1/payouts', { ...payout, amount: 500, scheduled_at })
  const approved = await (await approverOf(client)).post(`/v1/payouts/${body.payout_id}/approve`)
  assert.deepEqual([approved.body.status, approved.body.in_review], ['pending', false])
  await client.post('/v1/sandbox/clock', { advance_seconds: 3_700 })
  assert.equal((await over(client, body.payout_id)).status, 'completed')
})

test('of those who decide at once one is right, whatever they decide, and the money goes once', async () => {
  const { client } = await world.account({ balance: 20_000 })
  await addRule(client, { action: 'review', conditions: [large] })
  const approver = await approverOf(client)
  const verbs = fc.array(fc.constantFrom('approve', 'reject', 'cancel'), { minLength: 2, maxLength: 4 })
  await fc.assert(
    fc.asyncProperty(verbs, async (decided) => {
      const before = await wallet(client)
      const { body } = await client.post('/v1/payouts?wait=0', { ...payout, amount: 500 })
      const path = `/v1/payouts/${body.payout_id}`
      const answers = await Promise.all(
        decided.map((verb) => (verb === 'approve' ? approver : client).post(`${path}/${verb}`)),
      )
      const won = answers.filter(({ status }) => status === 200)
      assert.deepEqual([won.length, answers.every(({ status }) => status === 200 || status === 409)], [1, true])
      const { status } = await over(client, body.payout_id)
      assert.equal(status, won[0]?.body.status === 'cancelled' ? 'cancelled' : 'completed')
      const spent = status === 'completed' ? 502.5 : 0
      assert.deepEqual(await wallet(client), { balance: before.balance - spent, held: 0 })
    }),
    { numRuns: runs(12) },
  )
})

test('of a batch each is judged: blocked ones fail and give their share back, others wait, and the batch ends with the last', async () => {
  const { client } = await world.account({ balance: 5_000 })
  const review = { field: 'amount', operator: 'between', value: [200, 299] }
  await addRule(client, { action: 'review', conditions: [review] })
  await addRule(client, { action: 'block', conditions: [large] })
  const items = [
    { amount: 100, phone: '+254700000001' },
    { amount: 500, phone: '+254700000001', reference: 'blocked' },
    { amount: 200, phone: '+254700000001' },
    { amount: 201, phone: '+254700000001' },
    { amount: 202, phone: '+254700000001', scheduled_at: new Date(Date.now() + 3_600_000).toISOString() },
  ]
  const { body: batch, status } = await client.post(bulk, { currency: 'KES', items })
  assert.deepEqual([status, batch.accepted_count], [201, 5])
  const now = async () => (await client.get(`${bulk}/${batch.batch_id}`)).body
  await eventually(
    async () =>
      (await now()).payouts.map((one: { status: string }) => one.status).join() ===
      'completed,failed,pending,pending,pending',
    'the batch to be judged',
    60_000,
  )
  const waiting = await eventually(async () => {
    const { data } = (await client.get('/v1/payouts?in_review=true&order=asc')).body
    return data.length === 3 && data
  }, 'those that wait')
  assert.deepEqual(
    waiting.map(({ amount }: { amount: number }) => amount),
    [200, 201, 202],
  )
  const { payouts, failed_count } = await now()
  assert.deepEqual([payouts[1].failure_reason, failed_count], ['BLOCKED_BY_RULE', 1])
  assert.deepEqual(await eventsOf(client, payouts[1].payout_id), ['payout.failed 1'])
  assert.deepEqual(await eventsOf(client, payouts[2].payout_id), ['fraud.review_required 1'])
  assert.deepEqual(await wallet(client), { balance: 4_899.5, held: 606.01 })
  const path = `/v1/payouts/${payouts[2].payout_id}/approve`
  assert.equal((await client.post(path)).status, 403, 'it is the maker of a batch, too')
  assert.equal((await (await approverOf(client)).post(path)).status, 200)
  assert.equal((await client.post(`/v1/payouts/${payouts[3].payout_id}/reject`)).body.status, 'cancelled')
  assert.equal((await over(client, payouts[2].payout_id)).status, 'completed')
  assert.equal((await client.post(`${bulk}/${batch.batch_id}/cancel`)).body.status, 'completed')
  const ended = await now()
  assert.deepEqual([ended.completed_count, ended.failed_count], [2, 1])
  assert.deepEqual(await wallet(client), { balance: 4_698.5, held: 0 })
  assert.deepEqual(await eventsOf(client, batch.batch_id), ['payout.batch_completed 1'])
})

test('what became of payouts is counted, those of a batch that were withdrawn too', async () => {
  const { client } = await world.account({ balance: 5_000 })
  const byPhone = (status: string) => ({ metric: 'count', by: ['phone'], window: '1h', status: [status] })
  const rules = await Promise.all(
    ['failed', 'cancelled'].map((status) =>
      addRule(client, { action: 'block', conditions: [{ velocity: byPhone(status), operator: 'gte', value: 2 }] }),
    ),
  )
  const missing = { ...payout, phone: '+254700000004' }
  for (let i = 0; i < 2; i++) await over(client, (await client.post('/v1/payouts', missing)).body.payout_id)
  const blocked = await client.post('/v1/payouts', missing)
  assert.deepEqual([blocked.status, blocked.body.error.rule_id], [403, rules[0]])
  const scheduled_at = new Date(Date.now() + 3_600_000).toISOString()
  const items = Array.from({ length: 3 }, () => ({ amount: 10, phone: payout.phone, scheduled_at }))
  const { body: batch } = await client.post(bulk, { currency: 'KES', items })
  await eventually(async () => {
    const { data } = (await client.get('/v1/payouts?status=pending')).body
    return data.length === 3 && data.every(({ risk }: { risk: object | null }) => risk !== null)
  }, 'the batch to be judged')
  assert.equal((await client.post(`${bulk}/${batch.batch_id}/cancel`)).body.status, 'cancelled')
  const after = await client.post('/v1/payouts', payout)
  assert.deepEqual([after.status, after.body.error?.rule_id], [403, rules[1]])
})

test('many payouts to one phone at once count each other, and none gets in the way of another', async () => {
  const { client } = await world.account({ balance: 5_000 })
  const velocity = { metric: 'count', by: ['phone'], window: '1h' }
  await addRule(client, { action: 'block', conditions: [{ velocity, operator: 'gt', value: 5 }] })
  const answers = await Promise.all(Array.from({ length: 10 }, () => client.post('/v1/payouts?wait=0', payout)))
  assert.deepEqual(
    answers.map(({ status }: Reply) => status).sort(),
    [201, 201, 201, 201, 201, 403, 403, 403, 403, 403],
  )
  const items = Array.from({ length: 20 }, () => ({ amount: 10, phone: payout.phone }))
  const { body: batch } = await client.post(bulk, { currency: 'KES', items })
  const ended = await eventually(
    async () => {
      const { status, body } = await client.get(`${bulk}/${batch.batch_id}`)
      return status === 200 && body.status !== 'processing' && body
    },
    'the batch to end',
    60_000,
  )
  assert.deepEqual([ended.completed_count, ended.failed_count], [0, 20])
})

/** Another key of the same account, which may let payouts go and nothing else. */
async function approverOf(client: Client): Promise<Client> {
  const { body } = await client.post('/v1/api-keys', { name: 'approver', scopes: ['payouts:approve'] })
  return world.stranger.as(body.key)
}

async function addRule(client: Client, rule: object): Promise<string> {
  const reply = await client.post('/v1/payments/fraud/rules', { name: 'Rule', applies_to: ['payout'], ...rule })
  assert.equal(reply.status, 201, reply.text)
  return reply.body.rule_id
}

/** What was told of something, with its number. */
async function eventsOf(client: Client, id: string): Promise<string[]> {
  const { data } = (await client.get('/v1/events?limit=100')).body
  return data
    .filter(({ payload }: { payload: { payout_id?: string; batch_id?: string } }) =>
      [payload.payout_id, payload.batch_id].includes(id),
    )
    .map(({ event, payload }: { event: string; payload: { sequence: number } }) => `${event} ${payload.sequence}`)
    .sort()
}
