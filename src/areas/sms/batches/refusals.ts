// SPDX-License-Identifier: Apache-2.0
// Refusal of a whole bulk request, with the problem of each entry.
import { AppError } from '../../../kernel/errors.ts'
import type { EntryOutcome } from './accept.ts'

/** Problems listed in a refusal. */
const maxListed = 1_000

/** The codes by which a whole request is refused; what else may be wrong with an entry is VALIDATION_ERROR. */
const problemCodes = [
  'INVALID_PHONE',
  'INVALID_URL',
  'ENCODING_ERROR',
  'NO_ROUTE',
  'PROVIDER_UNAVAILABLE',
  'DUPLICATE_REFERENCE',
  'OPTED_OUT',
  'SENDER_NOT_ALLOWED',
  'COUNTRY_NOT_ENABLED',
] as const

/** Refusal of a batch of which nothing was accepted, or not all where all must be. */
export function allRefused(list: 'to' | 'messages', outcomes: readonly EntryOutcome[]): AppError {
  return refusedEntries(
    list,
    outcomes.flatMap(({ index, to, error_code, error = '', existing_id }) =>
      error_code === null ? [] : [{ index, to, code: error_code, why: error, existing_id }],
    ),
  )
}

interface Problem {
  readonly index: number
  readonly to: string
  readonly code: string
  readonly why: string
  /** The message that has its reference. */
  readonly existing_id?: string | undefined
}

/** Refusal of a batch of which nothing was accepted: by the first problem, with all of them in `errors`. */
export function refusedEntries(list: 'to' | 'messages', problems: readonly Problem[]): AppError {
  const [first] = problems
  const code = problemCodes.find((known) => known === first?.code) ?? 'VALIDATION_ERROR'
  return new AppError(code, first ? `${list}[${first.index}]: ${first.why}` : '', {
    extra: {
      ...existing(first),
      errors: problems.slice(0, maxListed).map((problem) => {
        const { index, to, code: error_code, why: error } = problem
        return { index, to, error_code, error, ...existing(problem) }
      }),
    },
  })
}

function existing(problem: Problem | undefined): { existing_id?: string } {
  return problem?.existing_id === undefined ? {} : { existing_id: problem.existing_id }
}
