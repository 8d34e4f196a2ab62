// SPDX-License-Identifier: Apache-2.0
// Another way for a message that was sent and could not be delivered, where its route says so.
import type { App } from '../../../platform/app.ts'
import { operation } from '../../../platform/commit.ts'
import { tenantColumns, tenantOf } from '../../../platform/tenant.ts'
import { jobRow } from '../../../platform/work.ts'
import { type Receipt, tiersUpTo } from '../carrier.ts'
import { priorityOf } from '../message.ts'
import { networkOf } from '../network/network.ts'
import type { NamedPart } from './load.ts'
import { submission } from './queue.ts'

/** Errors of one network after which another may deliver. */
const deliverableElsewhere: ReadonlySet<string | null> = new Set(['UNDELIVERABLE', 'REJECTED'])

const storeRerouted = operation.tenant(
  'sms.reroute',
  {
    ...tenantColumns,
    id: 'uuid',
    carrier: 'text',
    carrier_id: 'text',
    job: jobRow,
  },
  { rerouted: 'boolean' },
)

/** Whether a message that was not delivered is submitted again, to a carrier of the next tier, or was already. */
export async function reroute(app: App, { message, part, holder }: NamedPart, receipt: Receipt): Promise<boolean> {
  const { account_id: account, environment, country, network } = message
  const { carrier, carrierId, errorCode, carrierCode } = receipt
  const route = networkOf(app).routeFor({ environment, account, country, network })
  if (!route?.rerouteOnUndelivered) return false
  const without = deliverableElsewhere.has(errorCode) ? tiersUpTo(route, carrier) : null
  // The receipt of a carrier that no longer has the message is only noted.
  if (without === null && holder === carrier) return false
  const undelivered = { without: without ?? [], part, carrier, carrierId, errorCode, carrierCode }
  const priority = priorityOf(message.type, message.batch_id !== null)
  const tenant = tenantOf(message)
  const job = submission(app, tenant, { ...message, priority, undelivered })
  const { rerouted } = await app.commitSurely(storeRerouted, {
    ...tenant,
    id: message.id,
    carrier,
    carrier_id: carrierId,
    job,
  })
  if (rerouted) app.work.begin(job)
  return true
}
