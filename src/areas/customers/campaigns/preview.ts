// SPDX-License-Identifier: Apache-2.0
// Preview of a campaign: who would get what, at which price, and who would not.
import type { Static } from 'typebox'
import { idOf } from '../../../kernel/ids.ts'
import type { App } from '../../../platform/app.ts'
import type { Caller } from '../../../platform/auth.ts'
import { findPeople } from '../store.ts'
import { needsFourEyes } from './change.ts'
import { unknownIn, variablesOf } from './content.ts'
import { type Chosen, chosen, contentFor, variantNames } from './recipients.ts'
import { audiencePage } from './run.ts'
import type { Preview } from './schema.ts'
import type { CampaignRow } from './store.ts'

const maxLookedAt = 10_000
const maxShown = 10

export async function previewOf(app: App, caller: Caller, row: CampaignRow): Promise<Static<typeof Preview>> {
  const { tenant } = caller
  const seen = { audience: 0, recipients: 0, parts: 0, cost: 0n }
  const byChannel: Record<string, number> = {}
  const leftOut: Record<string, number> = row.duplicates > 0 ? { duplicate: row.duplicates } : {}
  const blocked: Record<string, number> = {}
  const unfilled: Record<string, number> = {}
  const prices = new Map<string, Price>()
  const messages: Static<typeof Preview>['messages'] = []
  const names = variantNames(row)
  let cursor: string | null = null
  let isWhole = false
  while (!isWhole && seen.audience < maxLookedAt) {
    const ids: string[] = await audiencePage(app, caller, { ...row, cursor })
    isWhole = ids.length === 0
    cursor = ids.at(-1) ?? cursor
    const customers = await app.db.query(findPeople, { ...tenant, ids })
    seen.audience += customers.length
    for (const one of await chosen(app, caller, row, customers)) {
      if ('reason' in one) {
        count(leftOut, one.reason)
        if (one.code !== undefined) count(blocked, one.code)
        continue
      }
      const { channel, variant, address: to, text, parts, cost, customer } = one
      seen.recipients += 1
      seen.parts += parts
      seen.cost += cost
      count(byChannel, channel)
      for (const name of unknownIn(writtenTo(row, one), variablesOf(customer))) count(unfilled, name)
      addPrice(prices, one)
      if (messages.length < maxShown)
        messages.push({ customer_id: idOf('customer', customer.id), channel, variant: names[variant] ?? 'A', to, text })
    }
  }
  return {
    ...{ ...seen, whole: isWhole, by_channel: byChannel, left_out: leftOut, blocked, unfilled },
    four_eyes: await needsFourEyes(app, caller, row),
    prices: [...prices.values()].sort((a, b) => Number(b.cost - a.cost)),
    ...{ currency: row.currency, messages },
  }
}

function count(counts: Record<string, number>, name: string): void {
  counts[name] = (counts[name] ?? 0) + 1
}

/** What a recipient is written, with its placeholders. */
function writtenTo(row: CampaignRow, { channel, variant }: Chosen): readonly (string | undefined)[] {
  if (channel === 'sms') return [contentFor(row, variant, channel)?.text]
  if (channel === 'messenger') return contentFor(row, variant, channel)?.parameters ?? []
  const mail = contentFor(row, variant, channel)
  return [mail?.subject, mail?.html, mail?.text]
}

type Price = Static<typeof Preview>['prices'][number]

function addPrice(prices: Map<string, Price>, { channel, entry, parts, cost }: Chosen): void {
  const { country, network } = entry !== null && 'draft' in entry ? entry.draft.place : { country: null, network: null }
  const key = `${channel} ${country} ${network}`
  const before = prices.get(key) ?? { channel, country, network, messages: 0, parts: 0, cost: 0n }
  const messages = before.messages + 1
  prices.set(key, { ...before, messages, parts: before.parts + parts, cost: before.cost + cost })
}
