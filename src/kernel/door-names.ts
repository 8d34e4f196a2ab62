// SPDX-License-Identifier: Apache-2.0
// Doors by name: the folder in src/doors, the part of the path after /compat, and the dialect of a callback.

export const doorNames = ['africastalking', 'twilio', 'cloud', 'kannel', 'sendgrid', 'resend'] as const

/** Doors that have callbacks. */
export const dialectNames = [
  'africastalking',
  'twilio',
  'cloud',
  'kannel',
  'sendgrid',
  'resend',
] as const satisfies readonly (typeof doorNames)[number][]
