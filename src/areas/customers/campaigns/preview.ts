// SPDX-License-Identifier: Apache-2.0
// Preview of a campaign: who would get what, at which price, and who would not.
import type { Static } from 'typebox'
import { idOf } from '../../../kernel/ids.ts'
import type { App } from '../../../platform/app.ts'
import type { Caller } from '../../../platform/auth.ts'
import { findCustomers } from '../store.ts'
import { chosen, variantNames } from './recipients.ts'
import { audiencePage } from './run.ts'
import type { Preview } from './schema.ts'
import type { CampaignRow } from './store.ts'

const maxLookedAt = 10_000
const maxShown = 10

export async function previewOf(app: App, caller: Caller, row: CampaignRow): Promise<Static<typeof Preview>> {
  const { tenant } = caller
  const seen = { audience: 0, recipients: 0, parts: 0, cost: 0n }
  const byChannel: Record<string, number> = {}
  const leftOut: Record<string, number> = {}
  const messages: Static<typeof Preview>['messages'] = []
  const names = variantNames(row)
  let cursor: string | null = null
  let isWhole = false
  while (!isWhole && seen.audience < maxLookedAt) {
    const ids: string[] = await audiencePage(app, caller, { ...row, cursor })
    isWhole = ids.length === 0
    cursor = ids.at(-1) ?? cursor
    const customers = await app.db.query(findCustomers, { ...tenant, ids })
    seen.audience += customers.length
    for (const one of await chosen(app, caller, row, customers)) {
      if ('reason' in one) {
        leftOut[one.reason] = (leftOut[one.reason] ?? 0) + 1
        continue
      }
      const { channel, variant, address: to, text, parts, cost, customer } = one
      seen.recipients += 1
      seen.parts += parts
      seen.cost += cost
      byChannel[channel] = (byChannel[channel] ?? 0) + 1
      if (messages.length < maxShown)
        messages.push({ customer_id: idOf('customer', customer.id), channel, variant: names[variant] ?? 'A', to, text })
    }
  }
  return { ...seen, whole: isWhole, by_channel: byChannel, left_out: leftOut, currency: row.currency, messages }
}
