// SPDX-License-Identifier: Apache-2.0
// Format of invoice numbers. A pattern ends in the running number, with no digit right before it, so two numbers of one
// account differ however often it changes its pattern.

export const usualPattern = 'INV-{year}-{seq:6}'

/** Regular expression of a pattern. */
export const numberPatternForm = '^((?:[A-Za-z0-9 ./_-]|\\{year\\}){0,28}[A-Za-z ./_-])?\\{seq(?::([1-9]|1[0-2]))?\\}$'

const form = new RegExp(numberPatternForm)

/** The number of the invoice that came `sequence`th. */
export function numberOf(pattern: string, sequence: bigint, at: Date): string {
  const [, before = '', digits = '1'] = form.exec(pattern) ?? form.exec(usualPattern) ?? []
  return `${before.replaceAll('{year}', String(at.getUTCFullYear()))}${sequence.toString().padStart(Number(digits), '0')}`
}
