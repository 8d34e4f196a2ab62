// SPDX-License-Identifier: Apache-2.0
// Engines for images, run in separate processes; failures become errors for the customer. A missing optional package
// gives an error that says what to install; nothing else depends on it.
import { availableParallelism } from 'node:os'
import type { Static, TSchema } from 'typebox'
import { AppError } from '../../../kernel/errors.ts'
import type { App } from '../../../platform/app.ts'
import type { Caller } from '../../../platform/auth.ts'
import {
  Compute,
  ComputeBusyError,
  ComputeFailedError,
  ComputeRefusedError,
  type Task,
} from '../../../platform/compute.ts'
import { onePerApp } from '../../../platform/program/one-per-app.ts'
import { root } from '../../../platform/program/root.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import { isAboutPicture, problemCodes } from './problem.ts'

const maxWaitMs = 30_000
const maxWaiting = 64
const restartSeconds = 5

export const computeOf = onePerApp(
  (app: App) =>
    new Compute({
      program: new URL('dist/src/areas/identity/engines/program.js', root),
      programArguments: app.config.PAMOJA_FACE_MODEL ? [app.config.PAMOJA_FACE_MODEL] : [],
      processes: app.config.PAMOJA_ENGINE_PROCESSES || Math.max(1, availableParallelism() - 1),
      maxWaitMs,
      maxWaiting,
      log: app.log,
    }),
)

/** Who wants pictures looked at, and until when: live before test, accounts in turn. */
export interface Viewer {
  readonly tenant: Tenant
  /** Real time at which the answer has to be there; unless given, the engines take their time. */
  readonly untilMs?: number
}

/** Longest time that a request takes, whatever it waits for. */
const longestMs = 25_000

/** Viewer of a request, which is answered `seconds` after it came, or when engines usually are. */
export function viewerOf({ tenant, receivedMs }: Pick<Caller, 'tenant' | 'receivedMs'>, seconds = 0): Viewer {
  return { tenant, untilMs: receivedMs + (seconds > 0 ? seconds * 1_000 : longestMs) }
}

/** Runs a task on pictures; `fields` are their request fields, in order. */
export async function engine<Input, S extends TSchema>(
  app: App,
  { tenant, untilMs }: Viewer,
  task: Task<Input, S>,
  input: Input,
  fields: readonly string[],
): Promise<Static<S>> {
  const within = untilMs === undefined ? {} : { withinMs: Math.max(0, untilMs - app.clock.nowMs()) }
  const asked = { owner: tenant.account, isUrgent: tenant.environment === 'live', ...within }
  try {
    return await computeOf(app).run(task, input, asked)
  } catch (problem) {
    throw answerFor(problem, fields)
  }
}

function answerFor(problem: unknown, fields: readonly string[]): unknown {
  if (problem instanceof ComputeBusyError)
    return new AppError(
      'PROVIDER_UNAVAILABLE',
      'too many pictures are waiting to be processed; repeat the request later',
      {
        retryAfterSeconds: problem.retryAfterSeconds,
      },
    )
  if (problem instanceof ComputeFailedError)
    return new AppError('PROVIDER_UNAVAILABLE', 'the picture engine is restarting; repeat the request', {
      retryAfterSeconds: restartSeconds,
      cause: problem,
    })
  if (problem instanceof ComputeRefusedError) return refusal(problem, fields)
  return problem
}

function refusal(problem: ComputeRefusedError, fields: readonly string[]): AppError {
  const code = problemCodes.find((known) => known === problem.code)
  const field = fields[problem.picture ?? 0] ?? 'image'
  if (!code || !isAboutPicture(code))
    return new AppError('PROVIDER_UNAVAILABLE', problem.message, { extra: { reason: problem.code }, cause: problem })
  if (code === 'image_too_large')
    return new AppError('IMAGE_TOO_LARGE', `${field}: ${problem.message}`, { extra: { image: field } })
  if (code === 'image_too_small')
    return new AppError('IMAGE_QUALITY_LOW', `${field}: ${problem.message}`, {
      extra: { image: field, problems: ['too_small'] },
    })
  return new AppError('VALIDATION_ERROR', `${field}: ${problem.message}`, {
    fields: [{ field, code: 'VALIDATION_ERROR', message: problem.message }],
  })
}
