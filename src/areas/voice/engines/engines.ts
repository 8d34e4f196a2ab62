// SPDX-License-Identifier: Apache-2.0
// Speech and audio engines, run in separate processes with a bounded queue. A missing optional package gives an error
// that says what to install; nothing else depends on it.
import { availableParallelism } from 'node:os'
import type { Static, TSchema } from 'typebox'
import type { App } from '../../../platform/app.ts'
import {
  Compute,
  ComputeBusyError,
  ComputeFailedError,
  ComputeRefusedError,
  type Task,
} from '../../../platform/compute.ts'
import { atMost } from '../../../platform/concurrency/at-most.ts'
import { onePerApp } from '../../../platform/program/one-per-app.ts'
import { root } from '../../../platform/program/root.ts'

/** Queue timeout: a caller is waiting, so a task that would start later is refused at once. */
const maxWaitMs = 8_000
const maxWaiting = 64

export const soundEnginesOf = onePerApp(
  (app: App) =>
    new Compute({
      program: new URL('dist/src/areas/voice/engines/program.js', root),
      processes: app.config.PAMOJA_VOICE_ENGINE_PROCESSES || Math.max(1, availableParallelism() - 1),
      maxWaitMs,
      maxWaiting,
      log: app.log,
    }),
)

/** Engine failure. `engine_unavailable`: not installed; the others are temporary. */
export type EngineFault = 'engine_unavailable' | 'engine_busy' | 'engine_failed'

export type EngineAnswer<T> =
  | { readonly kind: 'answer'; readonly answer: T }
  | { readonly kind: 'fault'; readonly fault: EngineFault; readonly message: string }

/** Run a task on an engine; it times out after `withinMs`. */
export async function askEngine<Input, S extends TSchema>(
  app: App,
  task: Task<Input, S>,
  input: Input,
  withinMs: number,
): Promise<EngineAnswer<Static<S>>> {
  try {
    const answer = await atMost(withinMs, soundEnginesOf(app).run(task, input), null)
    return answer === null ? fault('engine_busy', 'the engine took too long') : { kind: 'answer', answer }
  } catch (problem) {
    if (problem instanceof ComputeBusyError) return fault('engine_busy', 'too much waits for the engine already')
    if (problem instanceof ComputeRefusedError) return fault('engine_unavailable', problem.message)
    if (problem instanceof ComputeFailedError) return fault('engine_failed', 'the engine stopped; it is started again')
    throw problem
  }
}

function fault(which: EngineFault, message: string) {
  return { kind: 'fault', fault: which, message } as const
}
