// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { brandOf, passesLuhn } from '../kernel/card.ts'
import { playOfCard, testCardRisks } from './test-cards.ts'

test('cards that are risky are test cards, which a card number’s check lets through', () => {
  for (const digits of Object.keys(testCardRisks)) {
    assert.equal(playOfCard(digits), 'approved')
    assert.ok(passesLuhn(digits) && brandOf(digits) === 'visa', digits)
  }
})

test('numbers that begin with 424242 are test cards, others only when they are listed', () => {
  assert.equal(playOfCard('4242421234567890'), 'approved')
  assert.equal(playOfCard('4111111111111111'), null)
  assert.equal(playOfCard('toString'), null)
})
