// SPDX-License-Identifier: Apache-2.0
// Waiting for what happens elsewhere, in a file of its own: most who wait need nothing else of the world.

/** Waits until `look` gives something, asking again and again; gives up loudly. */
export async function eventually<T>(
  look: () => Promise<T | null | undefined | false>,
  what: string,
  withinMs = 30_000,
): Promise<T> {
  const until = performance.now() + withinMs
  for (;;) {
    const found = await look()
    if (found) return found
    if (performance.now() > until) throw new Error(`waited in vain for ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
