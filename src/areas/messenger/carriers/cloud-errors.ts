// SPDX-License-Identifier: Apache-2.0
// Provider error codes mapped to those of the specification, which gives four of the numbers other meanings. The
// provider's code is kept beside ours.
import type { GraphError } from '../../../protocols/graph.ts'
import type { MessageErrors } from '../schema.ts'

/** Outcome of a send request. */
export type Outcome =
  | { kind: 'sent'; providerId: string }
  /** Permanent error: no retry. */
  | { kind: 'rejected'; errors: MessageErrors }
  | { kind: 'retry'; reason: string; throttled: boolean }
  /** Outcome unknown: the provider may have accepted it. */
  | { kind: 'unknown'; reason: string }

const titles = {
  131053: 'Media upload error',
  131052: 'Media download error',
  130429: 'Rate limit reached',
  130472: 'Not a messenger user',
  131026: 'Template not approved',
  131051: 'User not opted in',
  133004: 'Message undeliverable',
  131047: 'The 24-hour window is closed',
} as const

export type OurCode = keyof typeof titles

/** Provider code → ours. 131026 and 131009 also depend on the error's details. */
const ours: Readonly<Record<number, OurCode>> = {
  131053: 131053,
  131052: 131052,
  132001: 131026,
  132007: 131026,
  132015: 131026,
  132016: 131026,
  131050: 131051,
  130472: 133004,
  131049: 133004,
  131047: 131047,
  470: 131047,
}

const throttled: ReadonlySet<number> = new Set([130429, 131048, 131056, 80007, 4])
/** Temporary codes, to be retried. For the provider, 133004 means temporarily unavailable. */
const passing: ReadonlySet<number> = new Set([131000, 131016, 133004, 1, 2])

export function verdictOf(error: GraphError): Outcome {
  if (throttled.has(error.code)) return { kind: 'retry', reason: `${error.code}: ${error.title}`, throttled: true }
  if (passing.has(error.code)) return { kind: 'retry', reason: `${error.code}: ${error.title}`, throttled: false }
  return { kind: 'rejected', errors: errorsOf(ourCode(error), error) }
}

/** Errors of a `failed` status. */
export function errorsOfStatus([error]: readonly GraphError[]): MessageErrors {
  if (!error) return errorsOf(133004, { code: 0, title: '', details: 'the provider gave no reason' })
  return errorsOf(throttled.has(error.code) ? 130429 : ourCode(error), error)
}

function ourCode({ code, details }: GraphError): OurCode {
  if (code === 131026) return /no account|not a (\w+ )?user|not on/i.test(details) ? 130472 : 133004
  if (code === 131009) return /link|url|download/i.test(details) ? 131052 : 131053
  return ours[code] ?? 133004
}

export function errorsOf(code: OurCode, { code: providerCode, details, title }: GraphError): MessageErrors {
  return [
    {
      code,
      title: titles[code],
      message: titles[code],
      error_data: {
        details: details || title || titles[code],
        ...(providerCode === 0 ? {} : { provider_code: providerCode }),
      },
    },
  ]
}
