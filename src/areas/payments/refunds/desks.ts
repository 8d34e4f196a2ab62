// SPDX-License-Identifier: Apache-2.0
// Who gives money back, for each way to pay: a line each. A desk knows the carrier of a payment and asks it, unless it does
// not answer anybody.
import type { App } from '../../../platform/app.ts'
import type { Environment } from '../../../platform/tenant.ts'
import { gatewayOf } from '../gateway.ts'
import type { MobileMoney, Outgoing, OutgoingVerdict, RefundCarrier } from '../provider.ts'
import type { PaymentRow } from '../store.ts'
import type { RefundRow } from './store.ts'

/** With whom a payment was made, and how it is given back: by the provider's refund, or by paying the payer's number. */
interface Named {
  provider: string
  country: string
  way: RefundRow['way']
}

export interface RefundDesk {
  /** Null when nobody here can ask the provider so. */
  carrierOf(app: App, named: Named, environment: Environment): RefundCarrier | null
  /** Asks for something new. */
  ask(
    app: App,
    named: Named,
    environment: Environment,
    what: (carrier: RefundCarrier) => Promise<OutgoingVerdict>,
  ): Promise<OutgoingVerdict>
}

const mobileMoney: RefundDesk = {
  carrierOf(app, named, environment) {
    const provider = gatewayOf(app).provider(named, environment)
    return provider && wayOf(provider, named)
  },
  ask: (app, named, environment, what) =>
    gatewayOf(app).giveBack(named, environment, async (provider) => {
      const carrier = wayOf(provider, named)
      return carrier ? what(carrier) : { kind: 'unavailable', reason: 'nothing can be paid there' }
    }),
}

const desks: Readonly<Partial<Record<PaymentRow['method'], RefundDesk>>> = { mobile_money: mobileMoney }

/** Null when what was paid so cannot be given back. */
export function deskOf({ method }: Pick<PaymentRow, 'method'>): RefundDesk | null {
  return desks[method] ?? null
}

function wayOf({ refunds, outgoing }: MobileMoney, { way }: Named): RefundCarrier | null {
  return way === 'refund' ? refunds : outgoing && byPayout(outgoing)
}

/** Gives money back by paying it to the payer's number. */
function byPayout(outgoing: Outgoing): RefundCarrier {
  return {
    repeatable: outgoing.repeatable,
    resultsAreFinal: false,
    objection: ({ phone }) => (phone === null ? 'knows no number to pay it to' : null),
    refund: async ({ phone, ...order }) =>
      phone === null
        ? { kind: 'refused', reason: 'RECIPIENT_NOT_FOUND', code: '' }
        : outgoing.payOut({ ...order, phone, description: order.description || order.reference }),
    queryRefund: (order) => outgoing.queryPayout(order),
    readRefund: (topic, body) => outgoing.readPayout(topic, body),
  }
}
