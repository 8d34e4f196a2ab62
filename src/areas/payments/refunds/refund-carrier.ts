// SPDX-License-Identifier: Apache-2.0
// Carrier of a refund: the provider by its refunds, or by paying the payer's number. A provider that is down is not
// asked.
import type { App } from '../../../platform/app.ts'
import type { Environment } from '../../../platform/tenant.ts'
import { gatewayOf } from '../gateway/gateway.ts'
import type { Carrier } from '../providers/kind.ts'
import type { Outgoing, OutgoingVerdict, RefundCarrier } from '../providers/provider.ts'
import type { RefundRow } from './store.ts'

/** Provider of a payment, and the way in which it is given back. */
interface Named {
  provider: string
  country: string
  way: RefundRow['way']
}

/** Carrier of a refund; null when this installation cannot ask the provider for it. */
export function refunderOf(app: App, named: Named, environment: Environment): RefundCarrier | null {
  const carrier = gatewayOf(app).speaksTo(named, environment)
  return carrier && wayOf(carrier, named)
}

/** Asks for something new, or again with the account that was asked first. */
export function askForRefund(
  app: App,
  named: Named & Pick<RefundRow, 'sent_by'>,
  environment: Environment,
  what: (carrier: RefundCarrier) => Promise<OutgoingVerdict>,
): Promise<OutgoingVerdict> {
  return gatewayOf(app).giveBack(named, environment, async (carrier) => {
    const refunder = wayOf(carrier, named)
    return refunder ? what(refunder) : { kind: 'unavailable', reason: 'nothing can be paid there' }
  })
}

function wayOf(carrier: Carrier, { way }: Named): RefundCarrier | null {
  if (way === 'refund') return carrier.refunds
  return carrier.method === 'mobile_money' && carrier.outgoing ? byPayout(carrier.outgoing) : null
}

/** Carrier that refunds by paying the money to the payer's number. */
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
    readRefund: (topic, body, received) => outgoing.readPayout(topic, body, received),
  }
}
