// SPDX-License-Identifier: Apache-2.0
// How a test plays a payer of the simulated mobile-money providers: a header says that the prompt waits for a PIN, and an
// address of each simulator takes what was typed. No real provider has either.

/** On a request to pay: the payer does nothing until somebody answers for them. */
export const payerHeader = 'x-sandbox-payer'
export const byHand = 'by-hand'

export function payerHeaders(isByHand = false): Record<string, string> {
  return isByHand ? { [payerHeader]: byHand } : {}
}

export const payerPath = '/simulator/payer'
/** Carries the secret of whoever may answer. */
export const payerKeyHeader = 'x-simulator-key'

/** What a payer does with the prompt. */
export type PayerAnswer = 'paid' | 'declined' | 'wrong_pin'

const payerAnswers: readonly PayerAnswer[] = ['paid', 'declined', 'wrong_pin']

export function isPayerAnswer(value: unknown): value is PayerAnswer {
  return payerAnswers.some((answer) => answer === value)
}
