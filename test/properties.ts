// SPDX-License-Identifier: Apache-2.0
// How often a property is tried, and where its cases begin. A test run chooses a seed and prints it, so that every run sees
// other cases and PAMOJA_TEST_SEED repeats one; a file that is run alone has a seed of its own, which a failure prints.
import fc from 'fast-check'

const seed = process.env.PAMOJA_TEST_SEED
if (seed !== undefined) fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(seed) })

/** A quarter of the runs, or all of them with `npm test -- --full`. */
export function runs(full: number): number {
  return process.env.PAMOJA_TEST_FULL === 'true' ? full : Math.ceil(full / 4)
}

/**
 * A part of a list that is tried on each of many things: a quarter of it, another one for each thing and with each seed, or
 * all of it with `npm test -- --full`. Over all things everything in the list is tried.
 */
export function share<Item>(list: readonly Item[], thing: number): Item[] {
  const count = runs(list.length)
  const first = (Number(seed ?? 0) + thing) * count
  return Array.from({ length: count }, (_, i) => list[(first + i) % list.length]).filter((item) => item !== undefined)
}
