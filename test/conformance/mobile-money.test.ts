// SPDX-License-Identifier: Apache-2.0
// What every mobile-money carrier must do, over real sockets: against its simulator, and against a provider that says
// whatever a row of the table tells it to. What callbacks may do wrong is in the journey of payments, for each of them.
import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { describe, test } from 'node:test'
import { kinds } from '../../src/areas/payments/carriers/kinds.ts'
import { isMobile } from '../../src/areas/payments/providers/facts.ts'
import type { Asked, Collection, MobileMoney, Taken } from '../../src/areas/payments/providers/provider.ts'
import { utcOffsets } from '../../src/areas/payments/reconciliation/columns.ts'
import { eventually } from '../eventually.ts'
import { testAnswers } from './answers.ts'
import { rowsOf } from './every-provider.ts'
import { connectTo, type Settings, startSimulators } from './provider.ts'

/** Endings that tell what the connection does, as the end of an amount. */
const faults: Readonly<Record<string, number>> = { '0011': 11, '0012': 12, '0016': 16 }

const mobileKinds = kinds.flatMap((kind) => (isMobile(kind.facts) ? [{ ...kind, facts: kind.facts }] : []))
const simulated = await startSimulators()

test('every kind of provider is in this suite', () => {
  assert.deepEqual(mobileKinds.map(({ facts }) => facts.provider).sort(), Object.keys(rowsOf).sort())
})

test('every provider is somewhere, and the clocks of its statements are known', () => {
  for (const { facts } of mobileKinds) {
    assert.ok(facts.places.length > 0, `${facts.provider} has no country, so that nobody can pay`)
    for (const [country] of facts.places) assert.ok(utcOffsets[country], `${country} has no UTC offset`)
  }
})

test('the documentation of payments names every provider', async () => {
  const text = await readFile(new URL('../../../docs/providers.md', import.meta.url), 'utf8')
  for (const { facts } of kinds) assert.ok(text.includes(`\`${facts.provider}\``), facts.provider)
})

test('settings of two kinds that share a name are the same', () => {
  const seen = new Map<string, string>()
  for (const { open, secret, outgoing } of kinds)
    for (const [name, shape] of Object.entries({
      ...open,
      ...secret,
      ...outgoing.open,
      ...outgoing.secret,
    })) {
      const schema = { ...shape, description: '' }
      const known = seen.get(name) ?? JSON.stringify(schema)
      assert.equal(JSON.stringify(schema), known, name)
      seen.set(name, known)
    }
})

/** Providers wait for most of their time, so several have their turn at once. */
describe('providers', { concurrency: 6 }, () => {
  for (const kind of mobileKinds) {
    const { provider, confirmsOn } = kind.facts
    const known = rowsOf[provider]?.payments
    // The first test names who is missing.
    if (!known) continue
    const market = { country: known.country, currency: known.currency }

    const connect = (settings: Settings, patienceMs?: number): MobileMoney => {
      const carrier = connectTo(kind, settings, patienceMs)
      assert.ok(carrier.method === 'mobile_money')
      return carrier
    }

    /** Collection whose connection does what the number says, or where no number is told the amount. */
    const collection = (ending: string): Collection => ({
      ...market,
      attempt: randomUUID(),
      shortId: randomBytes(13).toString('hex'),
      micros: confirmsOn === 'page' ? 1_000_000_000n + BigInt(faults[ending] ?? 0) * 1_000_000n : 1_000_000_000n,
      phone: `${known.beginning}${ending}`,
      reference: 'order-77',
      description: 'Order 77',
      callbackUrl: 'https://127.0.0.1:9/hooks/p/AAAA',
      returnUrl: 'https://127.0.0.1:9/go/AAAA/return',
    })

    /** Collects as the product does: a provider that could not be reached was not asked, and is asked again. */
    const collect = (carrier: MobileMoney, asked: Collection) =>
      eventually(async () => {
        const verdict = await carrier.collect(asked)
        return verdict.kind !== 'unavailable' && verdict
      }, `${provider} to be reached`)

    const takenAs = (asked: Collection, providerId: string, kept: Asked['kept'] = {}): Taken => ({
      ...asked,
      providerId,
      kept,
    })

    /** Asks a payer, who goes to the page if there is one. */
    const asking = async (carrier: MobileMoney, ending: string): Promise<Taken> => {
      const asked = collection(ending)
      const verdict = await collect(carrier, asked)
      assert.ok(verdict.kind === 'accepted' || verdict.kind === 'action', `${ending}: ${verdict.kind}`)
      assert.equal(verdict.kind, confirmsOn === 'page' ? 'action' : 'accepted')
      const { page_url: page } = verdict.details ?? {}
      if (page !== undefined) await visit(page, asked.phone)
      return takenAs(asked, verdict.providerId, verdict.keeps)
    }

    const decided = (carrier: MobileMoney, taken: Taken) =>
      eventually(async () => {
        const verdict = await carrier.query(taken)
        return (verdict.kind === 'paid' || verdict.kind === 'refused') && verdict
      }, 'the payer to decide')

    test(`${provider}: a payer who is asked has paid, or has not for a reason that is told`, async () => {
      const carrier = connect(simulated[provider] ?? {})
      const waiting = await carrier.query(await asking(carrier, '0003'))
      assert.ok(['pending', 'action'].includes(waiting.kind), waiting.kind)
      assert.equal((await decided(carrier, await asking(carrier, '0001'))).kind, 'paid')
      for (const [ending, reason] of Object.entries(known.endings)) {
        const verdict = await decided(carrier, await asking(carrier, ending))
        assert.equal(verdict.kind === 'refused' && verdict.reason, reason, ending)
      }
      assert.equal((await carrier.collect(collection('0012'))).kind, 'unavailable')
    })

    test(`${provider}: whoever is cut off after the payer was asked does not know, and may ask`, async () => {
      const carrier = connect(simulated[provider] ?? {})
      const cut = collection('0011')
      assert.equal((await collect(carrier, cut)).kind, 'unknown')
      const known = takenAs(cut, cut.attempt)
      if (carrier.knownByAttempt) {
        const found = await carrier.query(known)
        if (found.kind === 'action') await visit(found.details.page_url ?? '', cut.phone)
        assert.equal((await decided(carrier, known)).kind, 'paid')
      }
      const never = await carrier.query(takenAs(collection('0001'), randomUUID()))
      assert.equal(never.kind, carrier.knownByAttempt ? 'missing' : 'unknown')
      if (!carrier.repeatable) return
      assert.deepEqual(await collect(carrier, cut), { kind: 'accepted', providerId: cut.attempt }, 'sent again')
      const lost = collection('0016')
      assert.equal((await collect(carrier, lost)).kind, 'unknown')
      assert.equal((await carrier.query(takenAs(lost, lost.attempt))).kind, 'missing')
      assert.equal((await collect(carrier, lost)).kind, 'accepted')
      assert.equal((await decided(carrier, takenAs(lost, lost.attempt))).kind, 'paid')
    })

    testAnswers(provider, known, {
      connect: (base_url, patienceMs) => connect({ ...simulated[provider], base_url }, patienceMs),
      request: (carrier) => carrier.collect(collection('0001')),
      query: (carrier) => carrier.query(takenAs(collection('0001'), 'x', known.kept)),
    })

    test(`${provider}: wrong credentials ask nobody`, async () => {
      const secrets = Object.fromEntries(Object.keys(kind.secret).map((name) => [name, 'wrong']))
      const stranger = connect({ ...simulated[provider], ...secrets })
      assert.equal((await stranger.collect(collection('0001'))).kind, 'unavailable')
    })

    test(`${provider}: what is no callback of its is none`, () => {
      const carrier = connect(simulated[provider] ?? {})
      for (const nonsense of [null, 1, 'x', [], {}, { Body: 1 }, { status: 'PAID' }, { transaction: {} }])
        for (const asked of [
          takenAs(collection('0001'), 'x', known.kept),
          { ...collection('0001'), providerId: null, kept: {} },
        ])
          assert.equal(carrier.readCallback(nonsense, asked), null, JSON.stringify(nonsense))
    })
  }
})

/** Does what a payer does on the page of a simulator. */
async function visit(page: string, phone: string): Promise<void> {
  const body = JSON.stringify({ decision: 'approve', phone })
  const { status } = await fetch(page, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
  assert.equal(status, 200)
}
