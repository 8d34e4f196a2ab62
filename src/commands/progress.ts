// SPDX-License-Identifier: Apache-2.0
// The steps of a start or stop, as a person sees them: one line each, written when the step begins and completed with
// the time it took when it ends. Nothing is rewritten, so that it reads the same in a terminal and in a file.
import type { Writable } from 'node:stream'

export interface Progress {
  /** Fulfilled when the first step begins. */
  begun: Promise<void>
  /** Ends the step before and begins another. */
  step(sentence: string): void
  /** Ends the last step. */
  end(): void
  /** Ends the last step as the one that went wrong. */
  fail(): void
}

export function progressOn(stream: Writable): Progress {
  let begunMs: number | null = null
  let begin: () => void = () => undefined
  const begun = new Promise<void>((resolve) => {
    begin = resolve
  })
  const finish = (remark: string): void => {
    if (begunMs !== null) stream.write(`${remark} ${seconds(performance.now() - begunMs)}\n`)
    begunMs = null
  }
  return {
    begun,
    step(sentence) {
      finish('')
      begin()
      begunMs = performance.now()
      stream.write(`  ${sentence.replace(/\.$/, '')} ...`)
    },
    end: () => finish(''),
    fail: () => finish(' failed after'),
  }
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`
}
