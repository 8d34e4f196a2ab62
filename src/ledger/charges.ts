// SPDX-License-Identifier: Apache-2.0
// A charge as the item of a group commit holds it: `charge: chargeRow`, and in SQL `ledger.charge(array(select i.charge …))`.
// What it costs is taken from the wallet in the commit that stores what it is for.
import { newUuid } from '../kernel/ids.ts'
import { type RowIn, rowType } from '../platform/commit/row-encoding.ts'
import type { Tenant } from '../platform/tenant.ts'

export const chargeRow = rowType('ledger.charge_item', {
  bucket: 'smallint',
  account_id: 'uuid',
  environment: 'text',
  currency: 'text',
  amount: 'bigint',
  source_id: 'uuid',
  step: 'text',
  transfer_id: 'uuid',
  credit: 'text',
})

export interface Charge {
  readonly currency: string
  readonly micros: bigint
  /** Id of what is paid for, such as a message. */
  readonly sourceId: string
  /** The account that earns it, such as `revenue:sms`. */
  readonly credit: string
}

/** The cell of a charge that is made for something once. */
export function chargeOf(
  { bucket, account, environment }: Tenant,
  { currency, micros, sourceId, credit }: Charge,
  atMs: number,
): RowIn<typeof chargeRow> {
  return {
    bucket,
    account_id: account,
    environment,
    currency,
    amount: micros,
    source_id: sourceId,
    step: 'charge',
    transfer_id: newUuid(atMs),
    credit,
  }
}
