// SPDX-License-Identifier: Apache-2.0
// Callback addresses of a refund, one per topic.
import type { App } from '../../../platform/app.ts'
import { tenantOf } from '../../../platform/tenant.ts'
import type { Addresses } from '../providers/provider.ts'
import { callbackUrl } from '../records/callback-address.ts'
import type { RefundRow } from './store.ts'

/** The number of each in its address. */
export const topics = ['result', 'timeout', 'answer'] as const satisfies (keyof Addresses)[]

export function addressesOf(app: App, refund: RefundRow): Addresses {
  const [result, timeout, answer] = topics.map((_, topic) =>
    callbackUrl(app, tenantOf(refund), refund, 'refund', topic),
  )
  if (!result || !timeout || !answer) throw new Error('a topic has no address')
  return { result, timeout, answer }
}
