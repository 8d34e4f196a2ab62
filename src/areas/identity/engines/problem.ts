// SPDX-License-Identifier: Apache-2.0
// The reasons an engine gives for having no answer. Those about the picture are the customer's business, the others the
// operator's.

const pictureCodes = ['image_unreadable', 'image_type', 'image_too_large', 'image_too_small'] as const
const operatorCodes = ['package_missing', 'model_damaged', 'model_refused'] as const

export type ProblemCode = (typeof pictureCodes)[number] | (typeof operatorCodes)[number]

export const problemCodes: readonly ProblemCode[] = [...pictureCodes, ...operatorCodes]

export class EngineProblem extends Error {
  readonly code: ProblemCode
  /** The number of the picture that it is about, in the order in which they were handed over. */
  readonly picture: number | null

  constructor(code: ProblemCode, message: string, options: { cause?: unknown; picture?: number } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'EngineProblem'
    this.code = code
    this.picture = options.picture ?? null
  }
}

export function isAboutPicture(code: ProblemCode): boolean {
  return pictureCodes.some((one) => one === code)
}
