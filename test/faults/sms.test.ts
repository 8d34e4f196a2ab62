// SPDX-License-Identifier: Apache-2.0
// kill -9 of the node that sends texts, three times; `npm run bench -- faults-sms` does it a hundred times.
// PAMOJA_TEST_SEED=<seed> chooses the same moments again.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { chooseSeed, randomFrom } from './harness.ts'
import { Texts } from './texts.ts'

const rounds = 3
const seed = chooseSeed()
let texts: Texts

before(async () => {
  texts = await Texts.start(randomFrom(seed))
})
after(() => texts.stop())

test('whenever the node is killed, every text it accepted arrives, is paid once and told of once', async (t) => {
  t.diagnostic(`seed ${seed}`)
  for (let round = 0; round < rounds; round++) await texts.round()
  const { accepted, arrivedAgain, problems } = await texts.examine()
  t.diagnostic(`${accepted} texts, ${arrivedAgain} arrived again after ${rounds} kills`)
  assert.deepEqual(problems, [])
})
