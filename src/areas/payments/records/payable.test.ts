// SPDX-License-Identifier: Apache-2.0
// What is left of top-ups when some of it was used: tables of cases, and any history of a wallet, in which money that was
// topped up lately never leaves, whatever is used and given back before, between and after.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { runs } from '../../../../test/properties.ts'
import { least } from '../../../kernel/money.ts'
import { unused } from './payable.ts'

const holdDays = 3

function dayOf(number: number): string {
  return new Date(Date.UTC(2026, 0, 1 + number)).toISOString().slice(0, 10)
}

test('usage takes the oldest top-up first, and none of a later day', () => {
  const rows: [topups: [number, number][], used: [number, number][], left: number][] = [
    [[], [], 0],
    [[[1, 100]], [], 100],
    [[[1, 100]], [[1, 40]], 60],
    [[[1, 100]], [[2, 40]], 60],
    [[[1, 100]], [[1, 400]], 0],
    // What was given back was never used, and more than was used makes no top-up larger.
    [
      [[1, 100]],
      [
        [1, 40],
        [2, -40],
      ],
      100,
    ],
    [[[1, 100]], [[2, -40]], 100],
    // The first paid for it, so that the second is whole.
    [
      [
        [1, 100],
        [3, 100],
      ],
      [[2, 100]],
      100,
    ],
    [
      [
        [1, 100],
        [3, 100],
      ],
      [[2, 500]],
      100,
    ],
    [
      [
        [1, 100],
        [3, 100],
      ],
      [
        [2, 50],
        [3, 100],
      ],
      50,
    ],
  ]
  const days = (all: [number, number][]) => all.map(([day, micros]) => ({ day: dayOf(day), micros: BigInt(micros) }))
  for (const [topups, used, left] of rows)
    assert.equal(unused(days(topups), days(used)), BigInt(left), JSON.stringify([topups, used]))
})

type Step =
  | { kind: 'topup' | 'earn' | 'use' | 'give back' | 'pay out'; amount: number }
  | { kind: 'wait'; days: number }

const amount = fc.integer({ min: 1, max: 100 })
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constantFrom('topup', 'earn', 'use', 'give back', 'pay out'), amount }),
  fc.record({ kind: fc.constant('wait'), days: fc.integer({ min: 1, max: holdDays + 1 }) }),
)

test('however a wallet is used, no more leaves than was earned and topped up long ago; and usage holds nothing else back', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const wallet = new Wallet()
      for (const one of steps) wallet.take(one)
    }),
    { numRuns: runs(2_000) },
  )
})

/** Wallet as the ledger keeps it, without anything else. */
class Wallet {
  #today = 0
  #available = 0n
  #earned = 0n
  #left = 0n
  /** Used and not given back. */
  #open = 0n
  #hasGivenBack = false
  readonly #topups = new Map<number, bigint>()
  readonly #used = new Map<number, bigint>()

  take(step: Step): void {
    if (step.kind === 'wait') {
      this.#today += step.days
      return
    }
    const before = this.#payable()
    const asked = BigInt(step.amount)
    switch (step.kind) {
      case 'topup':
        add(this.#topups, this.#today, asked)
        this.#available += asked
        return
      case 'earn':
        this.#earned += asked
        this.#available += asked
        return
      case 'use': {
        const used = least(asked, this.#available)
        const held = this.#available - before
        add(this.#used, this.#today, used)
        this.#open += used
        this.#available -= used
        assert.ok(this.#payable() <= before, 'nothing can leave because something was used')
        if (used <= held && this.#isToppedUpToday() && !this.#hasGivenBack)
          assert.equal(this.#payable(), before, 'it held nothing else back')
        return
      }
      case 'give back': {
        const back = least(asked, this.#open)
        add(this.#used, this.#today, -back)
        this.#open -= back
        this.#hasGivenBack = true
        this.#available += back
        return
      }
      case 'pay out':
        if (asked > before) return
        this.#available -= asked
        this.#left += asked
        assert.ok(this.#left <= this.#earned + this.#aged(), 'money that was topped up lately has left')
    }
  }

  #payable(): bigint {
    const inTime = [...this.#topups].filter(([day]) => this.#isHeld(day))
    const first = Math.min(...inTime.map(([day]) => day))
    const used = [...this.#used].filter(([day]) => day >= first)
    const shown = (all: [number, bigint][]) => all.map(([day, micros]) => ({ day: dayOf(day), micros }))
    const kept = unused(shown(inTime), shown(used))
    return kept < this.#available ? this.#available - kept : 0n
  }

  #isHeld(day: number): boolean {
    return this.#today - day < holdDays
  }

  /** Whether all that is held back came today, so that what is used today is paid with it. */
  #isToppedUpToday(): boolean {
    const held = [...this.#topups.keys()].filter((day) => this.#isHeld(day))
    return held.length === 1 && held[0] === this.#today
  }

  #aged(): bigint {
    return [...this.#topups].reduce((sum, [day, micros]) => (this.#isHeld(day) ? sum : sum + micros), 0n)
  }
}

function add(amounts: Map<number, bigint>, day: number, micros: bigint): void {
  amounts.set(day, (amounts.get(day) ?? 0n) + micros)
}
