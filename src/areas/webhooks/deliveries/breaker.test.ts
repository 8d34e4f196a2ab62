// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { endpointBreaker, probeEveryMs } from './breaker.ts'

/** Records outcomes, `x` for a failure, and gives the state after each. */
function after(outcomes: string, breaker = endpointBreaker()): string {
  for (const outcome of outcomes) breaker.record(outcome !== 'x', 0)
  return breaker.state
}

describe('a breaker', () => {
  const rows: [name: string, outcomes: string, state: string][] = [
    ['stays closed at first', '', 'closed'],
    ['stays closed after nine failures', 'x'.repeat(9), 'closed'],
    ['opens with the tenth in a row', 'x'.repeat(10), 'open'],
    ['begins to count anew with a success', `${'x'.repeat(9)}.${'x'.repeat(9)}`, 'closed'],
    ['bears a failure in two for ever', 'x.'.repeat(500), 'closed'],
    ['bears exactly nine failures in ten', 'xxxxxxxxx.'.repeat(100), 'closed'],
  ]
  for (const [name, outcomes, state] of rows) it(name, () => assert.equal(after(outcomes), state))

  it('opens when more than nine tenths of the last fifty failed, though never ten in a row', () => {
    const breaker = endpointBreaker()
    assert.equal(after(`${'xxxxxxxxx.'.repeat(4)}xxxxxxxxx`, breaker), 'closed')
    assert.equal(breaker.record(false, 0), 'opened', 'the fiftieth is the forty-sixth failure')
  })

  it('lets one probe through every half minute', () => {
    const breaker = endpointBreaker()
    after('x'.repeat(10), breaker)
    assert.equal(breaker.admit(probeEveryMs - 1), 'wait')
    assert.equal(breaker.admit(probeEveryMs), 'probe')
    assert.equal(breaker.state, 'half-open')
    assert.equal(breaker.admit(probeEveryMs + 1), 'wait')
    assert.equal(breaker.record(false, probeEveryMs + 5_000), null)
    assert.equal(breaker.state, 'open')
    assert.equal(breaker.admit(2 * probeEveryMs + 4_999), 'wait')
    assert.equal(breaker.admit(2 * probeEveryMs + 5_000), 'probe')
  })

  it('lets what was asked for through as a probe, without waiting for the time of one', () => {
    const breaker = endpointBreaker()
    assert.equal(breaker.admit(0, true), 'send')
    after('x'.repeat(10), breaker)
    assert.equal(breaker.admit(1, true), 'probe')
    assert.equal(breaker.record(false, 2), null)
    assert.equal(breaker.admit(probeEveryMs + 1), 'wait', 'half a minute after it failed')
    assert.equal(breaker.admit(3, true), 'probe')
    assert.equal(breaker.record(true, 4), 'closed')
  })

  it('sends another probe when nothing was heard of the last', () => {
    const breaker = endpointBreaker()
    breaker.open(0)
    assert.equal(breaker.admit(0), 'probe')
    assert.equal(breaker.admit(probeEveryMs), 'probe')
  })

  it('closes with the first success, and forgets what was', () => {
    const breaker = endpointBreaker()
    after('x'.repeat(10), breaker)
    assert.equal(breaker.record(true, 1), 'closed')
    assert.equal(breaker.admit(1), 'send')
    assert.equal(after('x'.repeat(9), breaker), 'closed')
    assert.equal(after('x', breaker), 'open')
  })

  it('takes nothing from failures that were on their way when it opened', () => {
    const breaker = endpointBreaker()
    after('x'.repeat(10), breaker)
    breaker.record(false, 20_000)
    assert.equal(breaker.admit(probeEveryMs), 'probe')
  })
})
