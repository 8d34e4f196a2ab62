// SPDX-License-Identifier: Apache-2.0
// Errors of an engine. Those about a picture are for the customer, the others for the operator.

const pictureCodes = ['image_unreadable', 'image_type', 'image_too_large', 'image_too_small'] as const
const operatorCodes = ['package_missing', 'model_damaged', 'model_refused'] as const

export type ProblemCode = (typeof pictureCodes)[number] | (typeof operatorCodes)[number]

export const problemCodes: readonly ProblemCode[] = [...pictureCodes, ...operatorCodes]

export class EngineProblem extends Error {
  readonly code: ProblemCode
  /** Index of the picture concerned. */
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
