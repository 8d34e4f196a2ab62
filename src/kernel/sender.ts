// SPDX-License-Identifier: Apache-2.0
// The name that a text is from: as many letters and digits as a handset shows. A short code is one too.

export const senderForm = '[A-Za-z0-9]{3,11}'
export const senderLength = '3 to 11 letters or digits'

export const senderPattern = `^${senderForm}$`
export const senderRule = `must have ${senderLength}`

const isForm = new RegExp(senderPattern)

export function isSender(text: string): boolean {
  return isForm.test(text)
}
