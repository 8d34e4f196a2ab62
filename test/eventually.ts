// SPDX-License-Identifier: Apache-2.0
// Waiting for what happens elsewhere, in a file of its own: most who wait need nothing else of the world.

/** Longer than anything takes on a machine that is busy with much else: only what never happens waits for it. */
export const patienceMs = 120_000

/** Waits until `look` gives something, asking again and again; gives up loudly. */
export async function eventually<T>(
  look: () => Promise<T | null | undefined | false>,
  what: string,
  withinMs = patienceMs,
): Promise<T> {
  const until = performance.now() + withinMs
  for (;;) {
    const found = await look()
    if (found) return found
    if (performance.now() > until) throw new Error(`waited in vain for ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
