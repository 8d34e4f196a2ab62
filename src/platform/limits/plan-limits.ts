// SPDX-License-Identifier: Apache-2.0
// Plan limits per minute, which an operator may override for an account. Areas declare them; routes declare which one
// they count against.
import { type TOptional, Type } from 'typebox'
import type { ErrorCode } from '../../kernel/errors.ts'
import { Nullable } from '../schema/fields.ts'

export interface PlanLimit {
  readonly name: string
  /** Error code of a refused request. */
  readonly code: ErrorCode
}

const MinuteLimit = Nullable(
  Type.Integer({
    minimum: 0,
    maximum: 1_000_000,
    rule: 'must be 0 to 1000000 requests a minute, or null for no limit',
    description: 'Requests per minute in this area; 0 refuses all',
  }),
)

/** Sorted, so that the OpenAPI document does not depend on the order of areas. */
const fields: Record<string, TOptional<typeof MinuteLimit>> = {}
const declared = new Map<string, PlanLimit>()

/** Schema of limits of plans and accounts. Its fields are those declared so far. */
export const PlanLimits = Type.Object(fields, { description: 'Requests per minute by area; null for no limit' })

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

/** Error code of a plan limit. */
export function limitCode(name: string): ErrorCode {
  return declared.get(name)?.code ?? 'RATE_LIMITED'
}
