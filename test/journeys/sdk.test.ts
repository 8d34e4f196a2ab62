// SPDX-License-Identifier: Apache-2.0
// The client of sdk/ against a real node: typed calls, pages, refusals, and what is tried again without being done twice.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { Client, type Options, PamojaError } from '../../sdk/typescript/src/client.ts'
import { sandboxHandset, smsGet, smsList, smsSend, usageGet } from '../../sdk/typescript/src/operations.ts'
import { type Account, startWorld, type World } from '../world.ts'

let world: World
let account: Account
before(async () => {
  world = await startWorld()
  account = await world.account({ balance: 100 })
})
after(() => world.stop())

type Fetch = NonNullable<Options['fetch']>

/** By the way that tests have to the node, which knows its certificate. */
const overTheWire: Fetch = async (url, init) => {
  const { pathname, search } = new URL(url)
  const headers = Object.fromEntries(new Headers(init.headers))
  const sent = typeof init.body === 'string' ? { headers, raw: init.body } : { headers }
  const reply = await world.stranger.request(init.method ?? 'GET', pathname + search, sent)
  const { status, text } = reply
  const retryAfter = reply.headers['retry-after']
  return new Response(text, { status, ...(retryAfter ? { headers: { 'retry-after': retryAfter } } : {}) })
}

const client = (fetch: Fetch = overTheWire, options: Partial<Options> = {}): Client =>
  new Client({ baseUrl: world.node.url, apiKey: account.key, fetch, ...options })

const text = { to: '+254711000001', from: 'PAMOJA', message: 'Habari' }

test('sends, reads, lists by cursor and filters', async () => {
  const api = client()
  const ids = []
  for (const n of [1, 2, 3])
    ids.push((await smsSend(api, { body: { ...text, message: `Habari ${n}`, reference: `r ${n}&x` } })).message_id)
  const found = await smsGet(api, { id: ids[0] ?? '' })
  assert.equal(found.message, 'Habari 1')
  const first = await smsList(api, { query: { limit: 2, order: 'asc' } })
  assert.deepEqual([first.data.length, first.has_more], [2, true])
  const rest = await smsList(api, { query: { limit: 2, order: 'asc', cursor: first.next_cursor ?? '' } })
  assert.deepEqual(
    [...first.data, ...rest.data].map(({ message_id }) => message_id),
    ids,
  )
  assert.equal((await smsList(api, { query: { reference: 'r 2&x' } })).data.length, 1)
  assert.ok((await usageGet(api, { query: { group_by: ['day', 'area'] } })).rows.every(({ day, area }) => day && area))
  assert.equal(
    sandboxHandset.at({ query: { phone: '+254711000001' } }),
    '/v1/sandbox/sms/handset?phone=%2B254711000001',
  )
})

test('a refusal is an error with the code, the words and the request of the server', async () => {
  const refused = await smsSend(client(), { body: { ...text, to: '+1' } }).catch((error: unknown) => error)
  assert.ok(refused instanceof PamojaError)
  assert.deepEqual([refused.status, refused.code], [422, 'INVALID_PHONE'])
  assert.match(refused.requestId, /^req_/)
  const strange = await smsList(client(overTheWire, { apiKey: 'none' })).catch((error: unknown) => error)
  assert.ok(strange instanceof PamojaError && strange.code === 'UNAUTHORIZED')
})

test('an answer that was lost is asked for again, and the text goes out once', async () => {
  let calls = 0
  const losing: Fetch = async (url, init) => {
    const answer = await overTheWire(url, init)
    if (++calls === 1) throw new Error('the connection was lost')
    return answer
  }
  const before = (await smsList(client())).data.length
  await smsSend(client(losing), { body: text })
  assert.equal(calls, 2)
  assert.equal((await smsList(client())).data.length, before + 1)
})

test('what cannot be reached is tried as often as wanted, and nothing is sent to another path', async () => {
  let calls = 0
  const dead: Fetch = async () => {
    calls++
    throw new Error('nobody listens')
  }
  const failed = await smsList(client(dead, { maxRetries: 1 })).catch((error: unknown) => error)
  assert.ok(failed instanceof PamojaError && failed.status === 0 && /nobody listens/.test(failed.message))
  assert.equal(calls, 2)
  for (const id of ['', '.', '..']) await assert.rejects(smsGet(client(dead), { id }), TypeError)
  assert.equal(smsGet.at({ id: '../account?x' }), '/v1/sms/..%2Faccount%3Fx')
  assert.equal(calls, 2)
})
