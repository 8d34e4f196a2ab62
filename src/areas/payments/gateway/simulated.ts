// SPDX-License-Identifier: Apache-2.0
// The simulated payment providers, which take test payments.
import type { App } from '../../../platform/app.ts'
import { Simulator } from '../../../platform/program/simulators.ts'

/** Simulated accounts by provider: what an operator would enter for each. */
export type SimulatedAccounts = Readonly<Record<string, Readonly<Record<string, string>>>>

/** Key beside the providers: provider -> what answering its prompts for a payer takes. */
export const payers = 'payers'

export const paymentProviders = new Simulator<SimulatedAccounts>('payments')

export function simulatedAccounts(app: Pick<App, 'simulators'>): SimulatedAccounts {
  return paymentProviders.of(app) ?? {}
}
