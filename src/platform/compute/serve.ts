// SPDX-License-Identifier: Apache-2.0
// Child side of the compute pool: takes one task after the other from its parent, and exits with it.
import { Socket } from 'node:net'
import { Type } from 'typebox'
import Value from 'typebox/value'

const Message = Type.Object({ id: Type.Integer(), task: Type.String(), input: Type.Unknown() })

/** Error the caller can tell from a crash. */
interface Refusal {
  readonly code: string
  readonly message: string
  readonly picture: number | null
}

export function serveTasks(
  tasks: Readonly<Record<string, (input: unknown) => Promise<unknown>>>,
  refusalOf: (problem: unknown) => Refusal | null,
): void {
  forbidNetwork()
  process.on('disconnect', () => process.exit())
  process.on('message', async (message) => {
    if (!Value.Check(Message, message)) return
    const { id, task, input } = message
    try {
      const answer = await tasks[task]?.(input)
      process.send?.({ id, answer })
    } catch (problem) {
      const refusal = refusalOf(problem)
      // Any other error is a bug: crash, and the pool starts a fresh process.
      if (!refusal) throw problem
      process.send?.({ id, refusal })
    }
  })
}

/** Network block for systems without `unshare`: it covers JavaScript, not native code. */
function forbidNetwork(): void {
  Socket.prototype.connect = () => {
    throw new Error('a compute process has no network')
  }
}
