// SPDX-License-Identifier: Apache-2.0
// Limits of requests that cost more than a delivery, such as tests and replays: each endpoint has its own count.
import { AppError } from '../../kernel/errors.ts'
import { minuteMs } from '../../kernel/time.ts'
import type { App } from '../../platform/app.ts'

export interface Allowance {
  /** Name in refusals and metrics. */
  readonly name: string
  readonly perMinute: number
  readonly what: string
}

/** Counts one more, or throws RATE_LIMITED. */
export async function admit(app: App, { id }: { id: string }, { name, perMinute, what }: Allowance): Promise<void> {
  const policy = { name, key: `${name}:${id}`, limit: perMinute, windowMs: minuteMs, shared: true }
  const { refusedBy } = await app.limits.admit([policy])
  if (!refusedBy || app.config.PAMOJA_RATE_LIMITS === 'off') return
  app.metrics.refusals.inc({ policy: name })
  const seconds = Math.max(1, Math.ceil(refusedBy.resetMs / 1000))
  throw new AppError('RATE_LIMITED', `a webhook takes ${perMinute} ${what} in a minute; try again in ${seconds} s`, {
    retryAfterSeconds: seconds,
    extra: { limit: perMinute, window: minuteMs / 1000, policy: name },
  })
}
