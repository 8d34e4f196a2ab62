// SPDX-License-Identifier: Apache-2.0
// Prices as a file: taken whole, or refused with a word about every line that is wrong.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { idOf, newUuid } from '../../src/kernel/ids.ts'
import { startWorld, type World } from '../world.ts'

let world: World
before(async () => {
  world = await startWorld()
})
after(() => world.stop())

const path = '/v1/operator/prices/import/csv'

function send(file: string | Buffer, type = 'text/csv', client = world.operator) {
  return client.post(path, undefined, { raw: file, headers: { 'content-type': type } })
}

async function pricesOf(area: string) {
  return (await world.operator.get(`/v1/operator/prices?area=${area}&order=asc`)).body.data
}

test('a file sets its prices, and what was exported can be sent back', async () => {
  const sent = await send(
    [
      'Area,unit,country,network,amount,currency,effective_from',
      'letters,page,KE,"Posta, Nairobi",12.5,KES,2026-01-01T00:00:00Z',
      'letters,page,KE,,0.000001,KES,',
      '',
      'letters,page,,,3,USD,2026-02-01T00:00:00Z',
    ].join('\r\n'),
  )
  assert.deepEqual([sent.status, sent.body.imported], [200, 3], sent.text)
  const seen = (await pricesOf('letters')).map((row: Record<string, unknown>) => [
    row.country,
    row.network,
    row.amount,
    row.currency,
  ])
  assert.deepEqual(seen, [
    ['KE', 'Posta, Nairobi', 12.5, 'KES'],
    ['KE', null, 0.000001, 'KES'],
    [null, null, 3, 'USD'],
  ])
  const { text } = await world.operator.get('/v1/operator/prices?area=letters&format=csv')
  assert.match(text, /^id,area,unit,/)
  const again = await send(text.replaceAll('12.5', '13'))
  assert.deepEqual([again.status, again.body.imported], [200, 3], again.text)
  const after = await pricesOf('letters')
  assert.deepEqual(
    after.map(({ amount }: { amount: number }) => amount),
    [13, 0.000001, 3],
    'the same prices, one with another amount',
  )
  const { body: log } = await world.operator.get('/v1/audit-log?action=price.set')
  assert.equal(log.data.length, 6)
})

test('every line that is wrong is named, and nothing is stored', async () => {
  const refused = await send(
    [
      'area;unit;country;network;account_id;amount;currency;effective_from',
      'parcels;kilo;KE;;;1;KES;',
      'parcels;kilo;Kenya;;;1;KES;',
      'parcels;kilo;KE;;;much;KES;',
      'parcels;kilo;KE;;;1.0000001;KES;',
      'parcels;kilo;KE;;;1;XXX;',
      'parcels;kilo;;Posta;;1;KES;',
      'parcels;kilo;KE;;pay_1;1;KES;',
      `parcels;kilo;KE;;${idOf('account', newUuid(Date.now()))};1;KES;`,
      'parcels;kilo;KE;;;1;KES;soon',
      'parcels;;KE;;;1;KES;',
      'parcels;kilo;KE;;;2;KES;',
      'parcels;kilo;UG;;;2;UGX;;and more',
      'parcels;kilo;KE;;;10000001;KES;',
    ].join('\n'),
  )
  assert.deepEqual([refused.status, refused.body.error.code], [422, 'VALIDATION_ERROR'], refused.text)
  const { errors, error_count, details } = refused.body.error
  assert.deepEqual(
    errors.map(({ line, code }: { line: number; code: string }) => [line, code]),
    [3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14].map((line) => [
      line,
      line === 6 ? 'UNSUPPORTED_CURRENCY' : 'VALIDATION_ERROR',
    ]),
  )
  assert.equal(error_count, 12)
  assert.match(details, /^line 3: country .*nothing was stored$/)
  const said = Object.fromEntries(errors.map(({ line, details }: { line: number; details: string }) => [line, details]))
  assert.match(said[9], /account_id must be the id of an account/)
  assert.match(said[11], /unit is required/)
  assert.match(said[12], /the same price as line 2/)
  assert.match(said[13], /9 cells where the first row names 8/)
  assert.match(said[14], /amount must be at most 10000000/)
  assert.deepEqual(await pricesOf('parcels'), [])
})

test('a file with an idempotency key is refused, because the key would not be heeded', async () => {
  const headers = { 'content-type': 'text/csv', 'idempotency-key': 'prices-1' }
  const raw = 'area,unit,amount,currency\nparcels,kilo,1,KES\n'
  const { status, body } = await world.operator.post(path, undefined, { raw, headers })
  assert.deepEqual([status, body.error.code], [400, 'INVALID_REQUEST'])
  assert.match(body.error.details, /Idempotency-Key is not supported/)
  assert.deepEqual(await pricesOf('parcels'), [])
})

test('a thousand verdicts are given of more bad lines than that', async () => {
  const { body } = await send(`area,unit,amount,currency\n${'parcels,kilo,-1,KES\n'.repeat(1_200)}`)
  assert.deepEqual([body.error.errors.length, body.error.error_count], [1_000, 1_200])
})

test('a file that is none is refused as a whole', async () => {
  const head = 'area,unit,amount,currency\n'
  const rows: [file: string | Buffer, status: number, details: RegExp, type?: string][] = [
    ['', 422, /no prices/],
    [head, 422, /no prices/],
    ['parcels,kilo,1,KES\n', 422, /does not name the column area, unit, amount, currency/],
    ['area,unit,amount,currency,ammount\nparcels,kilo,1,KES,1\n', 422, /names "ammount"/],
    ['area,unit,amount,currency,unit\nparcels,kilo,1,KES,box\n', 422, /names "unit"/],
    [`${head}parcels,"kilo,1,KES\n`, 422, /inside a quoted cell/],
    [Buffer.from([0x61, 0xff, 0x0a]), 422, /not UTF-8/],
    [`${head}${'parcels,kilo,1,KES\n'.repeat(10_001)}`, 413, /at most 10000 prices/],
    [`${head}${`${'x'.repeat(10_000)}\n`.repeat(1_100)}`, 413, /at most 10485760 bytes/],
    [head, 415, /application\/json, not text\/csv/, 'application/json'],
  ]
  for (const [file, status, details, type] of rows) {
    const { body, status: given, text } = await send(file, type)
    assert.equal(given, status, text)
    assert.match(body.error.details, details)
  }
  assert.deepEqual(await pricesOf('parcels'), [])
  const { client } = await world.account()
  assert.equal((await send(`${head}parcels,kilo,1,KES\n`, 'text/csv', client)).status, 403)
})
