// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Channel, type Trouble, Troubles } from './troubles.ts'

const minutes = (count: number): number => count * 60_000

/** Troubles at a time of their own, and what two channels were told; the second can be cut off. */
function watched() {
  const state = { nowMs: 0, isCut: false }
  const heard: string[] = []
  const channel = (name: string, isReached: () => boolean): Channel => ({
    name,
    tell: async ({ name: trouble, problem, until }: Trouble) => {
      if (isReached()) heard.push(`${name}: ${trouble} ${until === null ? problem : 'over'}`)
      return isReached()
    },
  })
  const channels = [channel('chat', () => true), channel('mail', () => !state.isCut)]
  const troubles = new Troubles(channels, () => state.nowMs)
  /** Notes at a time, settles, and gives what was told by it. */
  const at = async (nowMs: number, problem: string | null, isToldAtOnce = false): Promise<string[]> => {
    state.nowMs = nowMs
    troubles.note('disk', problem, isToldAtOnce)
    await troubles.settle()
    return heard.splice(0)
  }
  return { state, at }
}

test('a trouble is told of once when it has lasted, and once when it is over', async () => {
  const { at } = watched()
  assert.deepEqual(await at(0, 'full'), [])
  assert.deepEqual(await at(15_000, 'full'), [])
  assert.deepEqual(await at(30_000, 'full'), ['chat: disk full', 'mail: disk full'])
  assert.deepEqual(await at(45_000, 'full'), [])
  assert.deepEqual(await at(minutes(1), null), [])
  assert.deepEqual(await at(minutes(3), null), ['chat: disk over', 'mail: disk over'])
  assert.deepEqual(await at(minutes(4), null), [])
  assert.deepEqual(await at(minutes(5), 'full'), [], 'another trouble')
})

test('what passes by itself is not told of, and what comes and goes is one trouble', async () => {
  const { at } = watched()
  assert.deepEqual(await at(0, 'full'), [])
  assert.deepEqual(await at(15_000, null), [])
  assert.deepEqual(await at(minutes(3), null), [], 'it lasted for 15 seconds')
  await at(minutes(4), 'full')
  assert.equal((await at(minutes(5), 'full')).length, 2)
  await at(minutes(6), null)
  assert.deepEqual(await at(minutes(7), 'full'), [], 'still the same')
  assert.deepEqual(await at(minutes(8), null), [])
  assert.equal((await at(minutes(10), null)).length, 2)
})

test('who could not be told is told later, each channel for itself', async () => {
  const { state, at } = watched()
  state.isCut = true
  assert.deepEqual(await at(0, 'does not add up', true), ['chat: disk does not add up'])
  assert.deepEqual(await at(minutes(1), 'does not add up'), [])
  state.isCut = false
  assert.deepEqual(await at(minutes(2), 'does not add up'), ['mail: disk does not add up'])
  state.isCut = true
  await at(minutes(3), null)
  assert.deepEqual(await at(minutes(5), null), ['chat: disk over'])
  assert.deepEqual(await at(minutes(60), null), [])
  state.isCut = false
  assert.deepEqual(await at(minutes(62), null), ['mail: disk over'], 'the last round of the hour')
  assert.deepEqual(await at(minutes(70), null), [])
})
