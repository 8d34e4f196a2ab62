// SPDX-License-Identifier: Apache-2.0
// The name that a text is from: as many letters and digits as a handset shows. A short code is one too.

export const senderForm = '[A-Za-z0-9]{3,11}'
export const senderLength = '3 to 11 letters or digits'

export const senderPattern = `^${senderForm}$`
export const senderRule = `must have ${senderLength}`

/** Sender of a text: a name, a short code, or a number of the account in E.164. */
export const textSenderPattern = `^(${senderForm}|\\+[1-9][0-9]{6,14})$`
export const textSenderRule = `must have ${senderLength}, or be a number of yours in E.164`

const isForm = new RegExp(textSenderPattern)

/** Whether a text may be from it, by its form. */
export function isSender(text: string): boolean {
  return isForm.test(text)
}
