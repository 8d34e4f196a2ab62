// SPDX-License-Identifier: Apache-2.0
// Worker thread's side of a drawing desk: one answer per paper, in order.
import { parentPort } from 'node:worker_threads'

/** PDF bytes, or the error. */
export type Drawn = { readonly bytes: Uint8Array } | { readonly problem: string }

export function serveDrawings<Paper>(draw: (paper: Paper) => Promise<Uint8Array>): void {
  parentPort?.on('message', async (paper: Paper) => parentPort?.postMessage(await drawn(() => draw(paper))))
}

async function drawn(draw: () => Promise<Uint8Array>): Promise<Drawn> {
  try {
    return { bytes: await draw() }
  } catch (error) {
    return { problem: error instanceof Error ? error.message : 'unknown' }
  }
}
