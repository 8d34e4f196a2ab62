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
import type { Tenant } from '../../../platform/tenant.ts'

/** Queue timeout: a caller is waiting, so a task that would start later is refused at once. */
const maxWaitMs = 8_000
const maxWaiting = 64

/** Processes that recognise speech. */
export const soundEnginesOf = onePerApp((app: App) =>
  engines(app, app.config.PAMOJA_VOICE_ENGINE_PROCESSES || Math.max(1, availableParallelism() - 1)),
)

/** Process that reads sounds: a caller who is to hear one does not wait until others have been understood. */
export const soundReaderOf = onePerApp((app: App) => engines(app, 1))

function engines(app: App, processes: number): Compute {
  return new Compute({ program: programOf('program'), processes, maxWaitMs, maxWaiting, log: app.log })
}

/** Processes that speak: texts wait for their turn before they come here. */
const speakers = 2
const maxSpeechWaitMs = 60_000

export const speakersOf = onePerApp((app: App) => {
  const bounds = { processes: speakers, maxWaitMs: maxSpeechWaitMs, maxWaiting }
  return new Compute({ program: programOf('speaker'), ...bounds, log: app.log })
})

function programOf(name: 'program' | 'speaker'): URL {
  return new URL(`dist/src/areas/voice/engines/${name}.js`, root)
}

/** Engine failure. `engine_unavailable`: not installed; the others are temporary. */
export type EngineFault = 'engine_unavailable' | 'engine_busy' | 'engine_failed'

export type EngineAnswer<T> =
  | { readonly kind: 'answer'; readonly answer: T }
  | { readonly kind: 'fault'; readonly fault: EngineFault; readonly message: string }

/** Runs a task on an engine; it times out after `withinMs`. Accounts take turns, live before test. */
export async function askEngine<Input, S extends TSchema>(
  app: App,
  task: Task<Input, S>,
  input: Input,
  withinMs: number,
  { engine = soundEnginesOf(app), tenant = null }: { engine?: Compute; tenant?: Tenant | null } = {},
): Promise<EngineAnswer<Static<S>>> {
  const asked = tenant ? { owner: tenant.account, isUrgent: tenant.environment === 'live' } : undefined
  try {
    const answer = await atMost(withinMs, engine.run(task, input, asked), null)
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
