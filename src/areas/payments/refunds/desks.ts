// SPDX-License-Identifier: Apache-2.0
// Who gives money back, for each way to pay: a line each. A desk knows the carrier of a payment and asks it, unless it does
// not answer anybody.
import type { App } from '../../../platform/app.ts'
import type { Environment } from '../../../platform/tenant.ts'
import { gatewayOf } from '../gateway.ts'
import type { RefundCarrier, Verdict } from '../provider.ts'
import type { PaymentRow } from '../store.ts'

/** With whom a payment was made. */
interface Named {
  provider: string
  country: string
}

export interface RefundDesk {
  /** Null when nobody here speaks to the provider. */
  carrierOf(app: App, named: Named, environment: Environment): RefundCarrier | null
  /** Asks for something new. */
  ask(
    app: App,
    named: Named,
    environment: Environment,
    what: (carrier: RefundCarrier) => Promise<Verdict>,
  ): Promise<Verdict>
}

const mobileMoney: RefundDesk = {
  carrierOf: (app, named, environment) => gatewayOf(app).provider(named, environment)?.refunds ?? null,
  ask: (app, named, environment, what) => gatewayOf(app).ask(named, environment, ({ refunds }) => what(refunds)),
}

const desks: Readonly<Partial<Record<PaymentRow['method'], RefundDesk>>> = { mobile_money: mobileMoney }

/** Null when what was paid so cannot be given back. */
export function deskOf({ method }: Pick<PaymentRow, 'method'>): RefundDesk | null {
  return desks[method] ?? null
}
