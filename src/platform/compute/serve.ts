// SPDX-License-Identifier: Apache-2.0
// The other end: what a program that computes runs. It takes one task after the other from the process that started it,
// and ends with it.
import { Socket } from 'node:net'
import { Type } from 'typebox'
import Value from 'typebox/value'

const Message = Type.Object({ id: Type.Integer(), task: Type.String(), input: Type.Unknown() })

/** A refusal that the caller can tell from a crash. */
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
      // Anything else is a fault of the program: a fresh process is the way out of it.
      if (!refusal) throw problem
      process.send?.({ id, refusal })
    }
  })
}

/** For systems where the process shares the network of its parent: a fence for JavaScript, none for native code. */
function forbidNetwork(): void {
  Socket.prototype.connect = () => {
    throw new Error('a compute process has no network')
  }
}
