// SPDX-License-Identifier: Apache-2.0
// Tests that tell one story: each begins where the one before it ended. After one that failed the others are left out, since each
// would wait in vain for what that one should have left behind.
import { type TestContext, test } from 'node:test'

/** Begins a story; the function that it gives declares its tests, in their order. */
export function story(): (name: string, run: (context: TestContext) => Promise<void>) => void {
  let failed: string | null = null
  return (name, run) => {
    test(name, async (context) => {
      if (failed !== null) return context.skip(`begins where "${failed}" should have ended`)
      try {
        await run(context)
      } catch (error) {
        failed = name
        throw error
      }
    })
  }
}
