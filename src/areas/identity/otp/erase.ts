// SPDX-License-Identifier: Apache-2.0
// Erasure of the one-time codes that were sent to a person, found by the fingerprint of the number.
import { idOf } from '../../../kernel/ids.ts'
import type { App } from '../../../platform/app.ts'
import { statement } from '../../../platform/db.ts'
import type { Erasable } from '../../../platform/operator/erasing.ts'
import { mine, type Tenant } from '../../../platform/tenant.ts'
import { phoneIndex } from './send.ts'

const eraseOtps = statement.tenant<Tenant & { phones: readonly string[] }, { id: string }>(
  'identity.erase_otps',
  `delete from identity.otps where ${mine} and phone_index = any(array(select decode(p, 'hex') from unnest($phones::text[]) p)) returning id`,
)

export const eraseCodes: Erasable<App> = {
  kind: 'codes',
  async erase(app, tx, { tenant }, { phones }) {
    const indexes = phones.map((phone) => phoneIndex(app, { tenant }, phone).toString('hex'))
    const { bucket, account, environment } = tenant
    const gone = await tx.query(eraseOtps, { bucket, account, environment, phones: indexes })
    const resources = gone.map(({ id }) => idOf('otp', id))
    return { kind: 'codes', erased: gone.length, kept: 0, reason: null, resources }
  },
}
