// SPDX-License-Identifier: Apache-2.0
// Providers' statements against the books: each line finds its payment, is booked for what it is, or is put before
// somebody; the ledger proves itself throughout.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { uuidOf } from '../../src/kernel/ids.ts'
import { verifyLedger } from '../../src/ledger/verify.ts'
import type { Client } from '../client.ts'
import { startMarket } from '../market.ts'
import { runs } from '../properties.ts'
import { type Account, eventually } from '../world.ts'

const { world, sql } = await startMarket(0.01)
const path = '/v1/operator/payments/statements'

/** One row of an M-Pesa organisation statement. */
interface Row {
  receipt: string
  paidIn?: number
  withdrawn?: number
  phone?: string
  type?: string
  status?: string
  at?: Date
  balance?: number | ''
}

const names =
  'Receipt No.,Completion Time,Initiation Time,Details,Transaction Status,Paid In,Withdrawn,Balance,Balance Confirmed,Reason Type,Other Party Info,Linked Transaction ID,A/C No.'

function mpesaFile(rows: readonly Row[]): string {
  const text = rows.map(({ receipt, paidIn, withdrawn, phone, type, status, at, balance }) =>
    [
      receipt,
      nairobi(at ?? now()),
      nairobi(at ?? now()),
      `"${type ?? 'Pay Bill Online'}, from a phone"`,
      status ?? 'Completed',
      paidIn === undefined ? '' : `"${paidIn.toLocaleString('en-US', { minimumFractionDigits: 2 })}"`,
      withdrawn === undefined ? '' : `-${withdrawn}.00`,
      balance ?? '',
      'true',
      type ?? 'Pay Bill Online',
      phone === undefined ? '' : `${phone.slice(1)} - ASHA`,
      '',
      '',
    ].join(','),
  )
  return ['Organization Name:,Pamoja', 'Short Code:,174379', '', names, ...text].join('\r\n')
}

/** By the wall clock of Kenya, as the statement has it. */
function nairobi(moment: Date): string {
  const [, year, month, day, time] =
    /^(\d+)-(\d+)-(\d+)T(.{8})/.exec(new Date(moment.getTime() + 10_800_000).toISOString()) ?? []
  return `${day}-${month}-${year} ${time}`
}

function now(): Date {
  return new Date(world.app.clock.nowMs())
}

test('a statement finds its payments, settles those that nobody knew the end of, and the float comes out even', async () => {
  const ada = await world.account()
  const told = await paid(ada, '0001', 1_000)
  const untold = await paid(ada, '0010', 300)
  const cut = await over(ada, '0016', 500)
  const expired = await over(ada, '0003', 250)
  assert.deepEqual([untold.provider_reference, cut.status, expired.status], [null, 'expired', 'expired'])
  const file = mpesaFile([
    { receipt: told.provider_reference, paidIn: 1_000, phone: told.phone },
    { receipt: 'UNTOLD0001', paidIn: 300, phone: untold.phone },
    { receipt: 'CUT0000001', paidIn: 500, phone: '+25470****016' },
    { receipt: 'CUT0000001', withdrawn: 5, type: 'Pay Bill Charge' },
    { receipt: 'BANK000001', withdrawn: 1_200, type: 'Organization Settlement to Bank' },
    { receipt: 'NOBODY0001', paidIn: 700, phone: '+254711111111' },
    { receipt: 'FAILED0001', paidIn: 250, phone: expired.phone, status: 'Failed' },
    { receipt: 'LAST000001', withdrawn: 1, type: 'Pay Bill Charge', balance: 1_294 },
  ])
  const first = await imported('mpesa', file)
  assert.deepEqual(
    [first.lines, first.known_lines, first.skipped_lines, first.closing_balance, first.float_balance, first.difference],
    [7, 0, 1, 1_294, 1_294, 0],
  )
  assert.deepEqual(first.classes, {
    matched: { lines: 3, amount: 1_800, net: 1_800 },
    theirs_only: { lines: 1, amount: 700, net: 700 },
    amount_differs: { lines: 0, amount: 0, net: 0 },
    booked: { lines: 3, amount: 1_206, net: -1_206 },
    ours_only: { lines: 0, amount: 0, net: 0 },
  })
  const { body: revived } = await ada.client.get(`/v1/payments/${cut.payment_id}`)
  assert.deepEqual(
    [revived.status, revived.late, revived.provider_reference, revived.failure_reason],
    ['completed', true, 'CUT0000001', null],
  )
  assert.equal(
    (await ada.client.get(`/v1/payments/${untold.payment_id}`)).body.provider_reference,
    'UNTOLD0001',
    'what polling cannot tell, the statement does',
  )
  assert.equal((await ada.client.get(`/v1/payments/${expired.payment_id}`)).body.status, 'expired')
  assert.deepEqual(await houseMoves('mpesa'), [
    ['bank', 'float:mpesa', 1_200],
    ['expense:provider_fees', 'float:mpesa', 6],
    ['float:mpesa', 'suspense:mpesa', 700],
  ])
  const events = (await ada.client.get('/v1/events?limit=50')).body.data
  assert.equal(events.filter(({ event }: { event: string }) => event === 'payment.completed').length, 3)

  const again = await imported('mpesa', file)
  assert.deepEqual([again.lines, again.known_lines, again.difference], [0, 7, 0])
  assert.equal((await houseMoves('mpesa')).length, 3, 'the same file twice changes nothing')
  assert.equal((await ada.client.get('/v1/events?limit=50')).body.data.length, events.length)

  const matched = (await world.operator.get(`${path}/${first.id}/lines?class=matched&order=asc`)).body.data
  assert.deepEqual(
    matched.map((line: { receipt: string; matched_by: string; payment_id: string; account_id: string }) => [
      line.receipt,
      line.matched_by,
      line.payment_id,
      line.account_id,
    ]),
    [
      [told.provider_reference, 'receipt', told.payment_id, ada.id],
      ['UNTOLD0001', 'payer', untold.payment_id, ada.id],
      ['CUT0000001', 'payer', cut.payment_id, ada.id],
    ],
  )
  const listed = (await world.operator.get(`${path}?provider=mpesa&environment=test`)).body.data
  assert.deepEqual(
    listed.map(({ id }: { id: string }) => id),
    [again.id, first.id],
  )
  const text = await (await fetch(`${world.node.adminUrl}/metrics`)).text()
  const labels = 'environment="test",provider="mpesa",currency="KES",covers="everything"'
  assert.ok(text.includes(`pamoja_payments_float_difference{${labels}} 0\n`))
})

test('another amount, a payment on no statement and money of nobody are told apart, and somebody assigns the last', async () => {
  const ben = await world.account()
  const other = await paid(ben, '0001', 1_000, 'UGX')
  const missing = await paid(ben, '0020', 2_000, 'UGX')
  const declined = await over(ben, '0004', 4_000, 'UGX')
  const late = now()
  const file = [
    'Id,Date,Status,Type,From,Amount,Fee,Balance',
    `${other.provider_reference},${wall(missing.completed_at, -60)},Successful,Payment,${other.phone.slice(1)},"1,500",10,`,
    `77001,${wall(late.toISOString(), 1)},Successful,Payment,256770000004,4000.00,,`,
    `77002,${wall(late.toISOString(), 2)},Successful,Transfer,,-250,,5240`,
  ].join('\n')
  const statement = await imported('mtn_momo', file, { country: 'UG' })
  assert.deepEqual(statement.classes, {
    matched: { lines: 0, amount: 0, net: 0 },
    theirs_only: { lines: 2, amount: 4_250, net: 3_750 },
    amount_differs: { lines: 1, amount: 1_500, net: 1_500 },
    booked: { lines: 1, amount: 10, net: -10 },
    ours_only: { lines: 1, amount: 2_000, net: 2_000 },
  })
  // Ours: 1000 + 2000 + 4000 in suspense - 10; theirs: 1500 + 4000 - 10 - 250.
  assert.deepEqual([statement.float_balance, statement.difference], [6_990, -1_750])
  const [gap] = (await world.operator.get(`${path}/${statement.id}/lines?class=ours_only`)).body.data
  assert.deepEqual([gap.payment_id, gap.account_id, gap.amount], [missing.payment_id, ben.id, 2_000])
  const unknown = (await world.operator.get(`${path}/${statement.id}/lines?class=theirs_only&order=asc`)).body.data
  assert.deepEqual(
    unknown.map(({ receipt, booking, kind }: { receipt: string; booking: string | null; kind: string }) => [
      receipt,
      booking,
      kind,
    ]),
    [
      ['77001', 'suspense', 'collection'],
      ['77002', null, 'other'],
    ],
    'a payer who declined is not taken at the word of a guess, and money that left is nobody’s yet',
  )

  const [line, outgoing] = unknown
  const assign = (id: string, body: object) => world.operator.post(`${path}/${statement.id}/lines/${id}/assign`, body)
  const right = { account_id: ben.id, payment_id: declined.payment_id }
  const eve = await world.account()
  const refusals: [id: string, body: object, status: number, code: string][] = [
    ['stl_nonsense', right, 404, 'NOT_FOUND'],
    [line.id, { ...right, payment_id: 'pay_nonsense' }, 404, 'NOT_FOUND'],
    [line.id, { ...right, account_id: eve.id }, 404, 'NOT_FOUND'],
    [line.id, { ...right, account_id: 'acc_nonsense' }, 404, 'NOT_FOUND'],
    [line.id, { account_id: ben.id }, 422, 'VALIDATION_ERROR'],
    [line.id, { ...right, payment_id: missing.payment_id }, 422, 'VALIDATION_ERROR'],
    [outgoing.id, right, 409, 'INVALID_STATE'],
  ]
  for (const [id, body, status, code] of refusals) {
    const refused = await assign(id, body)
    assert.deepEqual([refused.status, refused.body.error?.code], [status, code], JSON.stringify(body))
  }
  const assigned = await assign(line.id, right)
  assert.deepEqual(
    [assigned.status, assigned.body.class, assigned.body.matched_by, assigned.body.booking],
    [200, 'matched', 'hand', null],
    assigned.text,
  )
  const { body: completed } = await ben.client.get(`/v1/payments/${declined.payment_id}`)
  assert.deepEqual([completed.status, completed.late, completed.provider_reference], ['completed', true, '77001'])
  assert.equal((await assign(line.id, right)).body.error.code, 'INVALID_STATE')
  assert.deepEqual(await houseMoves('mtn_momo'), [
    ['expense:provider_fees', 'float:mtn_momo', 10],
    ['float:mtn_momo', 'suspense:mtn_momo', 4_000],
    ['suspense:mtn_momo', 'float:mtn_momo', 4_000],
  ])
  assert.equal(await walletGot(declined.payment_id), 3_940)

  const next = `Id,Date,Status,Type,From,Amount,Fee,Balance\n${missing.provider_reference},${wall(missing.completed_at, 0)},Successful,Payment,,2000,,7240`
  await imported('mtn_momo', next, { country: 'UG' })
  const { body: healed } = await world.operator.get(`${path}/${statement.id}`)
  assert.equal(healed.classes.ours_only.lines, 0, 'a payment that a later statement names is missing no longer')
})

test('money that came before its payment was known of leaves suspense when it is', async () => {
  const cleo = await world.account()
  const phone = '+254733000008'
  const { body: asked } = await cleo.client.post('/v1/payments', { amount: 900, currency: 'KES', phone })
  const file = (receipt: string) =>
    `Transaction ID,Transaction Date,Transaction Status,Sender MSISDN,Transaction Amount\n${receipt},${wall(now().toISOString(), 0, 3)},TS,700000000,900`
  const early = await imported('airtel_money', file('MP1'), { country: 'KE' })
  assert.equal(early.classes.theirs_only.lines, 1)
  const completed = await settled(cleo.client, asked.payment_id, ['completed'])
  await sql.query(`update payments.payments set provider_reference = 'MP1' where id = $1`, [
    uuidOf('payment', completed.payment_id),
  ])
  const later = await imported('airtel_money', file('MP1'), { country: 'KE' })
  assert.deepEqual([later.known_lines, later.difference], [1, null], 'without a balance there is nothing to compare')
  assert.deepEqual(await houseMoves('airtel_money'), [
    ['float:airtel_money', 'suspense:airtel_money', 900],
    ['suspense:airtel_money', 'float:airtel_money', 900],
  ])
  const [line] = (await world.operator.get(`${path}/${early.id}/lines`)).body.data
  assert.deepEqual([line.class, line.matched_by, line.payment_id], ['matched', 'receipt', completed.payment_id])
})

test('one line that fits two payments is left to somebody', async () => {
  const [dora, emil] = [await world.account(), await world.account()]
  await over(dora, '0016', 640)
  await over(emil, '0016', 640)
  const file = mpesaFile([{ receipt: 'EITHER0001', paidIn: 640, phone: '+254700000016' }])
  assert.equal((await imported('mpesa', file)).classes.theirs_only.lines, 1)
})

test('whatever lines come, in whatever files and however often: each is booked once, and the float is their sum', async () => {
  let round = 0
  const drawn = fc.record({
    kind: fc.constantFrom('paid', 'fee', 'bank', 'reversal'),
    amount: fc.integer({ min: 1, max: 5_000 }),
    files: fc.uniqueArray(fc.integer({ min: 0, max: 2 }), { minLength: 1 }),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(drawn, { minLength: 1, maxLength: 12 }), async (lines) => {
      const name = `P${round++}N`
      const types = { paid: 'Payment', fee: 'Service charge', bank: 'Transfer to bank', reversal: 'Reversal' }
      const before = await houseBalances('RWF')
      for (const file of [0, 1, 2, 0]) {
        const rows = lines.flatMap(({ kind, amount, files }, i) =>
          files.includes(file)
            ? [
                `${name}${i},2026-03-01 10:00:0${i % 10},Successful,${types[kind]},,${kind === 'paid' ? '' : '-'}${amount}`,
              ]
            : [],
        )
        await imported('mtn_momo', ['Id,Date,Status,Type,From,Amount', ...rows].join('\n'), { country: 'RW' })
      }
      const after = await houseBalances('RWF')
      const sum = (kind: string) => lines.reduce((total, one) => total + (one.kind === kind ? one.amount : 0), 0)
      const moved = (account: string) => (after.get(account) ?? 0) - (before.get(account) ?? 0)
      assert.equal(moved('suspense:mtn_momo') + sum('paid'), 0)
      assert.equal(moved('expense:provider_fees'), sum('fee'))
      assert.equal(moved('bank'), sum('bank'))
      assert.equal(
        moved('float:mtn_momo'),
        sum('paid') - sum('fee') - sum('bank'),
        'what left for no known reason is not booked',
      )
      assert.deepEqual((await verifyLedger(world.app.db)).problems, [])
    }),
    { numRuns: runs(6) },
  )
})

test('a file that cannot be read is refused whole, with the place', async () => {
  const { body: statement } = await world.operator.post(path, { provider: 'mpesa', environment: 'test' })
  const good = { receipt: 'GOOD000001', paidIn: 10, phone: '+254700000001' }
  const rows: [file: string | Buffer, status: number, code: string, details: RegExp][] = [
    ['', 422, 'VALIDATION_ERROR', /names the columns/],
    ['a,b\n1,2', 422, 'VALIDATION_ERROR', /names the columns/],
    ['x\n'.repeat(60), 422, 'VALIDATION_ERROR', /first 50 rows/],
    [`${mpesaFile([good])}\nBAD,yesterday,,,Completed,5`, 422, 'VALIDATION_ERROR', /line 6 has a time/],
    [`${mpesaFile([good])}\nBAD,01-03-2026 10:00:00,,,Completed,five`, 422, 'VALIDATION_ERROR', /line 6 has an amount/],
    [`${mpesaFile([good])}\n,01-03-2026 10:00:00,,,Completed,5`, 422, 'VALIDATION_ERROR', /line 6 has no receipt/],
    [`${mpesaFile([good])}\n"BAD`, 422, 'VALIDATION_ERROR', /inside a quoted cell/],
    [`${mpesaFile([good])}\n${'x'.repeat(20_001)}`, 422, 'VALIDATION_ERROR', /20000 characters/],
    [`${mpesaFile([good])}\n${','.repeat(201)}`, 422, 'VALIDATION_ERROR', /200 cells/],
    [`${mpesaFile([good])}\na\u0000b`, 422, 'VALIDATION_ERROR', /U\+0000/],
    [Buffer.from([0xff, 0xfe, 0x00]), 422, 'VALIDATION_ERROR', /not UTF-8/],
  ]
  for (const [raw, status, code, details] of rows) {
    const refused = await send(statement.id, raw)
    assert.deepEqual([refused.status, refused.body.error?.code], [status, code], String(raw).slice(-80))
    assert.match(refused.body.error.details, details)
  }
  const wrong = await world.operator.post(`${path}/${statement.id}/lines`, { a: 1 })
  assert.deepEqual([wrong.status, wrong.body.error.code], [415, 'UNSUPPORTED_MEDIA_TYPE'])
  const { body: after } = await world.operator.get(`${path}/${statement.id}`)
  assert.deepEqual([after.status, after.lines], ['open', 0])
  const { rows: stored } = await sql.query(`select 1 from payments.statement_lines where receipt = 'GOOD000001'`)
  assert.equal(stored.length, 0)
  for (const bad of [
    { provider: 'cowries', environment: 'test' },
    { provider: 'mpesa', environment: 'test', country: 'UG' },
    { provider: 'mtn_momo', environment: 'test' },
    { provider: 'mpesa', environment: 'test', closing_balance: 5 },
    { provider: 'mpesa', environment: 'test', closing_balance: 'x', closing_at: '2026-03-01T00:00:00Z' },
    { provider: 'mpesa', environment: 'test', closing_balance: 9_999_999_999_999, closing_at: '2026-03-01T00:00:00Z' },
    { provider: 'mpesa', environment: 'test', utc_offset: '3' },
    { provider: 'mpesa', environment: 'test', columns: { receipt: '' } },
  ])
    assert.equal((await world.operator.post(path, bad)).body.error?.code, 'VALIDATION_ERROR', JSON.stringify(bad))
})

test('columns may have names of their own, and the balance may be given beside the file', async () => {
  const balance = { closing_balance: 7_300, closing_at: '2026-03-01T12:00:00Z' }
  const columns = { receipt: 'Ref', time: 'When', amount: 'Sum', phone: 'Who' }
  const file = 'Ref;When;Sum;Who\nR-1;2026-03-01T09:00:00+02:00;"7,300.00";0961234567\n'
  const statement = await imported('mtn_momo', file, { country: 'ZM', columns, ...balance })
  assert.deepEqual([statement.currency, statement.closing_balance, statement.difference], ['ZMW', 7_300, 0])
  const [line] = (await world.operator.get(`${path}/${statement.id}/lines`)).body.data
  assert.deepEqual(
    [line.receipt, line.amount, line.phone, line.occurred_at],
    ['R-1', 7_300, '+260961234567', '2026-03-01T07:00:00.000Z'],
  )
})

/** A moment as MTN and Airtel write it, so many seconds later. */
function wall(moment: string, seconds: number, hours = 3): string {
  const shifted = new Date(new Date(moment).getTime() + hours * 3_600_000 + seconds * 1_000)
  return shifted.toISOString().slice(0, 19).replace('T', ' ')
}

function send(id: string, raw: string | Buffer) {
  return world.operator.post(`${path}/${id}/lines`, undefined, { raw, headers: { 'content-type': 'text/csv' } })
}

async function imported(provider: string, file: string, more: object = {}) {
  const made = await world.operator.post(path, { provider, environment: 'test', ...more })
  assert.equal(made.status, 201, made.text)
  const sent = await send(made.body.id, file)
  assert.equal(sent.status, 200, sent.text)
  return eventually(async () => {
    const { body } = await world.operator.get(`${path}/${made.body.id}`)
    return body.status === 'matched' && body
  }, 'the statement to be matched')
}

const beginnings = { KES: '+25470000', UGX: '+25677000' }

async function over({ client }: Account, ending: string, amount: number, currency: 'KES' | 'UGX' = 'KES') {
  const phone = `${beginnings[currency]}${ending}`
  const { body, text } = await client.post('/v1/payments', { amount, currency, phone })
  assert.ok(body.payment_id, text)
  return settled(client, body.payment_id, ['completed', 'failed', 'cancelled', 'expired'])
}

/** Completed, with the receipt where somebody tells it. */
async function paid(account: Account, ending: string, amount: number, currency: 'KES' | 'UGX' = 'KES') {
  const payment = await over(account, ending, amount, currency)
  assert.equal(payment.status, 'completed')
  if (ending === '0010') return payment
  return eventually(async () => {
    const { body } = await account.client.get(`/v1/payments/${payment.payment_id}`)
    return body.provider_reference !== null && body
  }, 'the receipt')
}

function settled(client: Client, id: string, states: readonly string[]) {
  return eventually(async () => {
    const { body } = await client.get(`/v1/payments/${id}`)
    return states.includes(body.status) && body
  }, `payment ${id} to be over`)
}

/** What the house moved between contra accounts because of a provider. */
async function houseMoves(provider: string): Promise<[string, string, number][]> {
  const { rows } = await sql.query(
    `select debit, credit, sum(amount) / 1000000 as amount from ledger.transfers
      where account_id = '00000000-0000-0000-0000-000000000000' and $1 in (debit, credit)
      group by debit, credit order by debit, credit`,
    [`float:${provider}`],
  )
  return rows.map(({ debit, credit, amount }) => [debit, credit, Number(amount)])
}

/** What each contra account of the house was debited, less what it was credited, in one currency. */
async function houseBalances(currency: string): Promise<Map<string, number>> {
  const { rows } = await sql.query(
    `select name, sum(amount) / 1000000 as amount
       from (select debit as name, amount, currency, account_id from ledger.transfers
             union all select credit, -amount, currency, account_id from ledger.transfers) moves
      where account_id = '00000000-0000-0000-0000-000000000000' and currency = $1
      group by name`,
    [currency],
  )
  return new Map(rows.map(({ name, amount }) => [name, Number(amount)]))
}

async function walletGot(id: string): Promise<number> {
  const { rows } = await sql.query(
    `select coalesce(sum(amount), 0) / 1000000 as got from ledger.transfers where source_id = $1 and credit = 'wallet'`,
    [uuidOf('payment', id)],
  )
  return Number(rows[0].got)
}
