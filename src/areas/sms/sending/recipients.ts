// SPDX-License-Identifier: Apache-2.0
// Recipients of a message, as a request names them.
import { AppError } from '../../../kernel/errors.ts'
import { maxRecipients } from '../schema.ts'

/** Characters of an invalid recipient in a reply: a number has 16. */
const maxShown = 64

/** A list that is too long or empty is refused; what is wrong with one of its numbers is said of that one. */
export function recipientsOf(to: string | readonly unknown[]): string | string[] {
  if (typeof to === 'string') return to
  if (to.length < 1 || to.length > maxRecipients)
    throw new AppError('VALIDATION_ERROR', `to must be a number or a list of 1 to ${maxRecipients} numbers`)
  return to.map(recipientText)
}

/** Given recipient as text: values that are no text are shown as JSON, which is never a number. */
export function recipientText(given: unknown): string {
  const text = typeof given === 'string' ? given : (JSON.stringify(given) ?? '')
  return text.length <= maxShown ? text : [...text.slice(0, 2 * maxShown)].slice(0, maxShown).join('')
}
