// SPDX-License-Identifier: Apache-2.0
// How often a property is tried, and where its cases begin. A test run chooses a seed and prints it, so that every run sees
// other cases and PAMOJA_TEST_SEED repeats one; a file that is run alone has a seed of its own, which a failure prints.
import fc from 'fast-check'

const seed = process.env.PAMOJA_TEST_SEED
if (seed !== undefined) fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(seed) })

/** How many times fewer cases are tried: 8 by `npm test`, 4 where files are named and with `--all`, 1 with `--full`. */
const part = Number(process.env.PAMOJA_TEST_PART ?? 4)

/** The part of the runs that this test run has. */
export function runs(full: number): number {
  return Math.ceil(full / part)
}

/**
 * The part of a list that is tried on each of many things, another one for each thing and with each seed. Over all things
 * everything in the list is tried.
 */
export function share<Item>(list: readonly Item[], thing: number): Item[] {
  const count = runs(list.length)
  const first = (Number(seed ?? 0) + thing) * count
  return Array.from({ length: count }, (_, i) => list[(first + i) % list.length]).filter((item) => item !== undefined)
}
