// SPDX-License-Identifier: Apache-2.0
// Payers played by a test, at the simulated mobile-money providers: a header makes the prompt wait for a PIN, and an
// address of each simulator takes the answer. No real provider has either.

/** Header of a request to pay: the payer does nothing until an answer is given for them. */
export const payerHeader = 'x-sandbox-payer'
export const byHand = 'by-hand'

export function payerHeaders(isByHand = false): Record<string, string> {
  return isByHand ? { [payerHeader]: byHand } : {}
}

export const payerPath = '/simulator/payer'
/** Header with the secret that allows answering. */
export const payerKeyHeader = 'x-simulator-key'

/** Answer of a payer to the prompt. */
export type PayerAnswer = 'paid' | 'declined' | 'wrong_pin'

const payerAnswers: readonly PayerAnswer[] = ['paid', 'declined', 'wrong_pin']

export function isPayerAnswer(value: unknown): value is PayerAnswer {
  return payerAnswers.some((answer) => answer === value)
}
