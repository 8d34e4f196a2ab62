// SPDX-License-Identifier: Apache-2.0
// The sandbox: what a test account may do to its own world. Simulators add their controls here as their areas arrive.
import { type Static, Type } from 'typebox'
import { invalid } from '../../kernel/errors.ts'
import { dayMs } from '../../kernel/time.ts'
import { record } from '../../platform/api/audit.ts'
import { read, writeAcross } from '../../platform/api/route.ts'
import type { Area } from '../../platform/area.ts'
import { scopeArea } from '../../platform/auth/scopes.ts'
import type { Caller } from '../../platform/auth.ts'
import { At } from '../../platform/schema/fields.ts'
import { moveClock, setClockBack } from '../accounts/area.ts'
import { catcherHook } from './catcher.ts'
import { walk } from './clock.ts'
import { hookChores, hookRoutes } from './hooks.ts'

const seconds = (description: string) =>
  Type.Number({ minimum: 0, maximum: 31_622_400, rule: 'must be 0 to 31622400 seconds', description })

/** Furthest clock. Some formats have no five-digit years, and no test needs half a century. */
const maxYearsAhead = 50
const maxAheadMs = maxYearsAhead * 365 * dayMs

const ClockAdvance = Type.Object({
  advance_seconds: Type.Optional(seconds('Seconds to advance the clock of this test account')),
  seconds: Type.Optional(seconds('Alias of `advance_seconds`')),
})

const ClockReply = Type.Object(
  {
    now: At({ description: 'Time on the clock of this test account' }),
    offset_seconds: Type.Number({ description: 'Offset from the real time in seconds; never negative' }),
  },
  { title: 'SandboxClock' },
)

const readClock = read({
  method: 'GET',
  path: '/v1/sandbox/clock',
  operation: 'sandbox.clock',
  summary: 'Get the test clock',
  scope: 'sandbox:read',
  reply: { status: 200, schema: ClockReply },
  examples: [{ name: 'The time' }],
  handle: async (_app, _input, { nowMs, principal }) => ({
    now: new Date(nowMs),
    offset_seconds: principal.facts.clockOffsetMs / 1000,
  }),
})

const advanceClock = writeAcross({
  method: 'POST',
  path: '/v1/sandbox/clock',
  aliases: ['/v1/sandbox/time/advance'],
  operation: 'sandbox.advanceClock',
  summary: 'Advance the test clock',
  description:
    'Timers, schedules, windows and retries of the account’s test environment fall due as if the time had passed. Subscriptions are renewed and charged in order before the reply.',
  scope: 'sandbox:write',
  body: ClockAdvance,
  reply: { status: 200, schema: ClockReply },
  errors: ['VALIDATION_ERROR'],
  examples: [{ name: 'A day later', body: { advance_seconds: 86_400 } }],
  prepare: (app, { body }, caller) => walk(app, caller, forwardMs(body, caller)),
  handle: async (app, tx, { body }, caller, walkedMs) => {
    const moved = await moveClock(app, tx, forwardMs(body, caller) - walkedMs, caller)
    await record(tx, caller, 'sandbox.advance_clock', caller.accountId, {
      after: { offset_seconds: moved.offset_seconds },
    })
    return moved
  },
})

const resetClock = writeAcross({
  method: 'DELETE',
  path: '/v1/sandbox/clock',
  operation: 'sandbox.resetClock',
  summary: 'Reset the test clock',
  description:
    'Returns the clock to the real time. Objects created while it was ahead keep their times; renewals and schedules fall due at their own dates.',
  scope: 'sandbox:write',
  reply: { status: 200, schema: ClockReply },
  examples: [{ name: 'Back to the real time' }],
  handle: async (app, tx, _input, caller) => {
    const now = await setClockBack(app, tx, caller)
    await record(tx, caller, 'sandbox.reset_clock', caller.accountId, { after: { offset_seconds: 0 } })
    return now
  },
})

function forwardMs({ advance_seconds, seconds }: Static<typeof ClockAdvance>, { principal }: Caller): number {
  const forward = advance_seconds ?? seconds
  if (forward === undefined) throw invalid('advance_seconds', 'is required')
  if (principal.facts.clockOffsetMs + forward * 1_000 > maxAheadMs)
    throw invalid('advance_seconds', `must leave the clock at most ${maxYearsAhead} years ahead`)
  return Math.round(forward * 1_000)
}

export const sandbox: Area = {
  name: 'sandbox',
  chapters: {
    sandbox: {
      title: 'Sandbox',
      about: 'Tools for test keys only: move the clock, catch webhooks, play the other side.',
    },
  },
  uses: ['accounts', 'webhooks'],
  scopes: [scopeArea('sandbox')],
  routes: [readClock, advanceClock, resetClock, ...hookRoutes],
  chores: hookChores,
  hooks: [catcherHook],
}
