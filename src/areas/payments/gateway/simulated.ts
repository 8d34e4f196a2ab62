// SPDX-License-Identifier: Apache-2.0
// The simulated payment providers, which take test payments.
import type { App } from '../../../platform/app.ts'
import { areTexts, Simulator } from '../../../platform/program/simulators.ts'

/** Simulated accounts by provider: what an operator would enter for each. */
export type SimulatedAccounts = Readonly<Record<string, Readonly<Record<string, string>>>>

/** Key beside the providers: provider -> what answering its prompts for a payer takes. */
export const payers = 'payers'

export const paymentProviders = new Simulator<SimulatedAccounts, SimulatedAccounts>('payments', {
  of: (accounts) => accounts,
  is: (value): value is SimulatedAccounts => Object.values(Object(value)).every(areTexts),
})

export function simulatedAccounts(app: Pick<App, 'simulators'>): SimulatedAccounts {
  return paymentProviders.shared(app) ?? {}
}
