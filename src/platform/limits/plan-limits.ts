// SPDX-License-Identifier: Apache-2.0
// Limits by the minute that a plan sets, and an operator for a single account. Areas declare them; which requests count
// against one is declared by each route.
import { type TOptional, Type } from 'typebox'
import type { ErrorCode } from '../../kernel/errors.ts'
import { Nullable } from '../schema.ts'

export interface PlanLimit {
  readonly name: string
  /** Code of the answer to a request that is one too many. */
  readonly code: ErrorCode
}

const MinuteLimit = Nullable(
  Type.Integer({
    minimum: 0,
    maximum: 1_000_000,
    rule: 'must be 0 to 1000000 requests a minute, or null for no limit',
  }),
)

/** In the order of the alphabet, so that documents do not depend on which area was read first. */
const fields: Record<string, TOptional<typeof MinuteLimit>> = {}
const declared = new Map<string, PlanLimit>()

/** Shape in which plans and accounts give limits. Its fields are those that were declared by the time it is looked at. */
export const PlanLimits = Type.Object(fields, { description: 'Requests a minute by area; null for no limit' })

/** Declares a limit that a route may name as its `limit`. */
export function planLimit(name: string, code: ErrorCode = 'RATE_LIMITED'): PlanLimit {
  if (declared.has(name)) throw new Error(`the limit ${name} is declared twice`)
  const made = { name, code }
  declared.set(name, made)
  for (const other of Object.keys(fields)) delete fields[other]
  for (const each of limitNames()) fields[each] = Type.Optional(MinuteLimit)
  return made
}

export function limitNames(): string[] {
  return [...declared.keys()].sort()
}

/** Code of the refusal by a plan's limit. */
export function limitCode(name: string): ErrorCode {
  return declared.get(name)?.code ?? 'RATE_LIMITED'
}
