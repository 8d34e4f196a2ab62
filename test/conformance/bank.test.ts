// SPDX-License-Identifier: Apache-2.0
// What the carrier of banks must do, over real sockets: against the simulator, and against a bank that says whatever a row
// of the table tells it to.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { bank as kind } from '../../src/areas/payments/carriers/bank.ts'
import type { Bank } from '../../src/areas/payments/providers/bank.ts'
import type { Verdict } from '../../src/areas/payments/providers/provider.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { signNotice } from '../../src/protocols/acquirer.ts'
import { bankSignatureHeader } from '../../src/protocols/bank.ts'
import { eventually } from '../eventually.ts'
import { type Answer, connectTo, type Settings, startScripted, startSimulators } from './provider.ts'

const { bank: settings = {} } = await startSimulators()

function connect(more: Settings = {}, patienceMs = 5_000): Bank {
  const carrier = connectTo(kind, { ...settings, ...more }, patienceMs)
  assert.ok(carrier.method === 'bank_transfer')
  return carrier
}

const order = () => ({
  id: randomUUID(),
  micros: 1_500_000_000n,
  currency: 'KES' as const,
  description: 'Order 77',
  notifyUrl: 'https://127.0.0.1:9/hooks/p/AAAA',
})
const holder = (ending: string) => ({ account_number: `0112${ending}`, bank_code: '999', account_name: 'Asha' })

function decided(ask: () => Promise<Verdict>): Promise<Verdict> {
  return eventually(async () => {
    const verdict = await ask()
    return (verdict.kind === 'paid' || verdict.kind === 'refused') && verdict
  }, 'the bank to decide')
}

test('debits and transfers are paid, or not for a reason that is told', async () => {
  const bank = connect()
  for (const [send, ask] of [
    [bank.debit.bind(bank), bank.queryDebit.bind(bank)],
    [bank.payOut.bind(bank), bank.queryPayout.bind(bank)],
  ] as const) {
    const paid = order()
    assert.deepEqual(await send({ ...paid, account: holder('0001') }), { kind: 'accepted', providerId: paid.id })
    const verdict = await decided(() => ask(paid.id))
    assert.deepEqual([verdict.kind, verdict.kind === 'paid' && verdict.micros], ['paid', 1_500_000_000n])
    assert.deepEqual(await send({ ...paid, account: holder('0001') }), verdict, 'the same id is taken once')
    const poor = order()
    await send({ ...poor, account: holder('0002') })
    const refusal = await decided(() => ask(poor.id))
    assert.equal(refusal.kind === 'refused' && refusal.reason, 'INSUFFICIENT_FUNDS')
    const slow = order()
    await send({ ...slow, account: holder('0003') })
    assert.equal((await ask(slow.id)).kind, 'accepted')
    const nobody = await send({ ...order(), account: holder('0004') })
    assert.equal(nobody.kind === 'refused' && nobody.reason, 'PAYER_NOT_FOUND')
    assert.equal((await send({ ...order(), account: { ...holder('0001'), bank_code: '01' } })).kind, 'refused')
    assert.equal((await send({ ...order(), account: holder('0012') })).kind, 'unavailable')
    assert.equal((await ask(randomUUID())).kind, 'missing')
    const cut = order()
    assert.equal((await send({ ...cut, account: holder('0011') })).kind, 'unknown')
    assert.equal((await decided(() => ask(cut.id))).kind, 'paid')
    const lost = order()
    assert.equal((await send({ ...lost, account: holder('0016') })).kind, 'unknown')
    assert.equal((await ask(lost.id)).kind, 'missing')
    assert.equal((await send({ ...lost, account: holder('0016') })).kind, 'accepted', 'sent again')
  }
  const back = order()
  await bank.payOut({ ...back, account: holder('0001'), refundOf: randomUUID() })
  assert.equal((await decided(() => bank.queryPayout(back.id))).kind, 'paid')
})

test('a payout goes to an account once, and is refused in words for a recipient', async () => {
  const { outgoing } = connect()
  assert.equal(outgoing.repeatable, true)
  const url = 'https://127.0.0.1:9/hooks/p/00'
  const addresses = { result: url, timeout: url, answer: url }
  const payout = (ending: string) => {
    const { notifyUrl: _, ...rest } = order()
    return { ...rest, country: 'KE', addresses, account: holder(ending) }
  }
  const paid = payout('0001')
  assert.deepEqual(await outgoing.payOut(paid), { kind: 'accepted', providerId: paid.id })
  const told = await eventually(async () => {
    const verdict = await outgoing.queryPayout(paid)
    return verdict.kind === 'paid' && verdict
  }, 'the bank to decide')
  assert.equal(told.micros, paid.micros)
  assert.deepEqual(await outgoing.payOut(paid), told, 'the same id is taken once')
  const poor = payout('0002')
  await outgoing.payOut(poor)
  const refused = await eventually(async () => {
    const verdict = await outgoing.queryPayout(poor)
    return verdict.kind === 'refused' && verdict
  }, 'the bank to refuse')
  assert.deepEqual([refused.reason, refused.code], ['PROVIDER_FLOAT_LOW', 'INSUFFICIENT_FUNDS'])
  const nobody = await outgoing.payOut(payout('0004'))
  assert.equal(nobody.kind === 'refused' && nobody.reason, 'RECIPIENT_NOT_FOUND')
  assert.equal((await outgoing.queryPayout(payout('0001'))).kind, 'missing')
  const body = { id: paid.id, status: 'paid' }
  const bytes = Buffer.from(JSON.stringify(body))
  const at = Math.floor(systemClock.nowMs() / 1_000)
  const headers = { [bankSignatureHeader]: signNotice(settings.webhook_secret ?? '', bytes.toString(), at) }
  assert.deepEqual(outgoing.readPayout('result', body, { bytes, headers }), {
    id: paid.id,
    verdict: { kind: 'pending' },
  })
  assert.equal(outgoing.readPayout('result', body, { bytes, headers: {} }), null, 'not signed')
  assert.equal(outgoing.readPayout('result', body), null, 'not as it came')
  assert.equal(outgoing.readPayout('answer', body, { bytes, headers }), null, 'an address that it was not given')
})

test('a one-time account is opened once, and is over for us when we say so', async () => {
  const bank = connect()
  const wanted = { ...order(), expiresAt: new Date(systemClock.nowMs() + 60_000) }
  const opened = await bank.openAccount(wanted)
  const into = opened.kind === 'accepted' ? opened.details?.pay_into : undefined
  assert.deepEqual([into?.bank_code, into?.bank_name, into?.account_name], ['999', 'Sandbox Bank', 'Order 77'])
  assert.deepEqual(await bank.openAccount(wanted), opened)
  assert.deepEqual(await bank.queryAccount(wanted.id, true), opened)
  const over = { ...order(), expiresAt: new Date(systemClock.nowMs() - 1) }
  await bank.openAccount(over)
  assert.equal((await bank.queryAccount(over.id, true)).kind, 'accepted')
  assert.deepEqual(await bank.queryAccount(over.id, false), {
    kind: 'refused',
    reason: 'TRANSACTION_TIMEOUT',
    code: 'EXPIRED',
  })
  assert.equal((await bank.queryAccount(randomUUID(), true)).kind, 'missing')
  assert.deepEqual(await bank.banks(), [{ code: '999', name: 'Sandbox Bank' }])
})

test('only what the bank signed, lately and as it stands, is heard', () => {
  const bank = connect()
  const body = '{"id":"a","status":"paid"}'
  const nowSeconds = Math.floor(systemClock.nowMs() / 1_000)
  const signed = (secret: string, text: string, at: number) => ({ [bankSignatureHeader]: signNotice(secret, text, at) })
  const { webhook_secret: secret = '' } = settings
  assert.ok(bank.isSigned(Buffer.from(body), signed(secret, body, nowSeconds)))
  for (const headers of [
    {},
    { [bankSignatureHeader]: 'v1=1' },
    signed('another', body, nowSeconds),
    signed(secret, `${body} `, nowSeconds),
    signed(secret, body, nowSeconds - 301),
    signed(secret, body, nowSeconds + 302),
  ])
    assert.equal(bank.isSigned(Buffer.from(body), headers), false, JSON.stringify(headers))
})

test('what a bank says that is not well is unknown, and what it never took unavailable', async () => {
  const rows: [answer: Answer | 'cut' | 'silence', ordered: string, asked: string][] = [
    [[200, '[]'], 'unknown', 'unknown'],
    [[200, '{"status":'], 'unknown', 'unknown'],
    [[502, '<html>'], 'unknown', 'unknown'],
    [[500, '{}'], 'unknown', 'unknown'],
    [[503, '{}'], 'unavailable', 'unknown'],
    [[429, '{}'], 'unavailable', 'unknown'],
    [[401, '{}'], 'unavailable', 'unknown'],
    [[404, '{}'], 'unknown', 'missing'],
    [[422, '{"code":"NEW_CODE"}'], 'refused', 'unknown'],
    ['cut', 'unknown', 'unknown'],
    ['silence', 'unknown', 'unknown'],
  ]
  for (const [answer, ordered, asked] of rows) {
    const { baseUrl } = await startScripted(answer === 'cut' ? [] : [answer, answer, answer, answer])
    const bank = connect({ base_url: baseUrl }, answer === 'silence' ? 200 : 5_000)
    assert.equal((await bank.debit({ ...order(), account: holder('0001') })).kind, ordered, String(answer))
    assert.equal((await bank.openAccount({ ...order(), expiresAt: new Date(0) })).kind, ordered, String(answer))
    assert.equal((await bank.queryDebit('x')).kind, asked, String(answer))
    assert.deepEqual(await bank.banks(), [], String(answer))
  }
  const nowhere = connect({ base_url: 'http://127.0.0.1:9' })
  assert.equal((await nowhere.debit({ ...order(), account: holder('0001') })).kind, 'unavailable')
})
