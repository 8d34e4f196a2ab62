// SPDX-License-Identifier: Apache-2.0
// Numbers of a campaign, live: who waits and who was left out, and what became of the messages, as the channels know it.
import type { Static } from 'typebox'
import type { App } from '../../../platform/app.ts'
import type { Caller } from '../../../platform/auth.ts'
import { one } from '../../../platform/db.ts'
import { outcomesOfBulks } from '../../email/area.ts'
import { outcomesOfChats } from '../../messenger/area.ts'
import { outcomesOfBatches } from '../../sms/area.ts'
import { variantNames } from './recipients.ts'
import type { Stats } from './schema.ts'
import { type CampaignRow, chatsOf, countRecipients, countUnsubscribed, listBatches } from './store.ts'

type Place = Pick<Static<typeof Stats>['networks'][number], 'country' | 'network'>

/** What became of some messages of a variant. */
interface Part {
  readonly variant: number
  readonly status: string
  readonly error: string | null
  readonly messages: number
  readonly cost: bigint
  /** Country and network of texts. */
  readonly place: Place | null
  readonly opened: number
  readonly clicked: number
  readonly replied: number
}

const arrived = ['delivered', 'read']
const lost = ['failed', 'bounced', 'cancelled']

export async function statsOf(app: App, caller: Caller, row: CampaignRow): Promise<Static<typeof Stats>> {
  const { tenant, nowMs } = caller
  const own = { ...tenant, id: row.id }
  const [counted, parts, { count: unsubscribed }] = await Promise.all([
    app.db.query(countRecipients, own),
    partsOf(app, caller, row),
    one(app.db.query(countUnsubscribed, { ...own, at: new Date(nowMs) })),
  ])
  const sum = (state: string) => counted.filter((one) => one.state === state).reduce((all, { count }) => all + count, 0)
  const failed = parts.filter(({ status }) => lost.includes(status))
  return {
    state: row.state,
    audience: counted.reduce((all, { count }) => all + count, 0),
    waiting: sum('waiting'),
    left_out: tally([
      ...counted
        .filter(({ state }) => state === 'left_out')
        .map((one): [string, number] => [one.reason ?? 'blocked', one.count]),
      ...(row.duplicates > 0 ? [['duplicate', row.duplicates] satisfies [string, number]] : []),
    ]),
    ...countsOf(parts, sum('sent')),
    failures: tally(failed.map(({ error, messages }) => [error ?? 'unknown', messages])),
    unsubscribed,
    cost: parts.reduce((all, { cost }) => all + cost, 0n),
    currency: row.currency,
    by_channel: tally(
      counted.filter(({ state }) => state === 'sent').map(({ channel, count }) => [channel ?? 'sms', count]),
    ),
    variants:
      row.variants.length === 0
        ? []
        : variantNames(row).map((name, i) => {
            const mine = counted.filter(({ state, variant }) => state === 'sent' && variant === i)
            const sent = mine.reduce((all, { count }) => all + count, 0)
            return {
              name,
              ...countsOf(
                parts.filter(({ variant }) => variant === i),
                sent,
              ),
            }
          }),
    networks: networksOf(parts),
  }
}

function networksOf(parts: readonly Part[]): Static<typeof Stats>['networks'] {
  const groups = new Map<string, { place: Place; own: Part[] }>()
  for (const part of parts) {
    if (part.place === null) continue
    const key = `${part.place.country} ${part.place.network}`
    const group = groups.get(key) ?? { place: part.place, own: [] }
    group.own.push(part)
    groups.set(key, group)
  }
  return Array.from(groups.values(), ({ place, own }) => {
    const sent = own.reduce((all, { messages }) => all + messages, 0)
    return { ...place, ...countsOf(own, sent), cost: own.reduce((all, { cost }) => all + cost, 0n) }
  }).sort((a, b) => b.sent - a.sent)
}

function countsOf(parts: readonly Part[], sent: number) {
  const sum = (among: readonly Part[], pick: (part: Part) => number) => among.reduce((all, part) => all + pick(part), 0)
  const over = (statuses: readonly string[]) =>
    sum(
      parts.filter(({ status }) => statuses.includes(status)),
      ({ messages }) => messages,
    )
  const [delivered, failed] = [over(arrived), over(lost)]
  return {
    ...{ sent, delivered, failed, queued: Math.max(0, sent - delivered - failed) },
    opened: sum(parts, ({ opened }) => opened),
    clicked: sum(parts, ({ clicked }) => clicked),
    replied: sum(parts, ({ replied }) => replied),
  }
}

function tally(pairs: readonly [string, number][]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const [name, count] of pairs) counts[name] = (counts[name] ?? 0) + count
  return counts
}

async function partsOf(app: App, { tenant }: Caller, row: CampaignRow): Promise<Part[]> {
  const batches = await app.db.query(listBatches, { ...tenant, id: row.id })
  const variants = new Map(batches.map(({ batch_id, variant }) => [batch_id, variant]))
  const named = (channel: string) => batches.filter((one) => one.channel === channel).map(({ batch_id }) => batch_id)
  const chats = row.channels.includes('messenger') ? await app.db.query(chatsOf, { ...tenant, id: row.id }) : []
  const variantOfChat = new Map(chats.map(({ message_id, variant }) => [message_id, variant]))
  const [texts, mails, told] = await Promise.all([
    outcomesOfBatches(app.db, tenant, named('sms')),
    outcomesOfBulks(app.db, tenant, named('email')),
    outcomesOfChats(app.db, tenant, [...variantOfChat.keys()]),
  ])
  const nothing = { opened: 0, clicked: 0, replied: 0, place: null }
  return [
    // Who opted out at the last moment was left out; their message was never charged.
    ...texts
      .filter(({ error_code, cost }) => error_code !== 'OPTED_OUT' || cost > 0n)
      .map(({ batch, status, error_code, messages, cost, replied, country, network }): Part => {
        const place = { country, network }
        return {
          ...nothing,
          variant: variants.get(batch) ?? 0,
          status,
          error: error_code,
          messages,
          cost,
          replied,
          place,
        }
      }),
    ...mails.map(({ bulk, status, reason, messages, cost, opened, clicked }): Part => {
      return { ...nothing, variant: variants.get(bulk) ?? 0, status, error: reason, messages, cost, opened, clicked }
    }),
    ...told.map(({ id, status, error_code, cost }): Part => {
      const opened = status === 'read' ? 1 : 0
      return { ...nothing, variant: variantOfChat.get(id) ?? 0, status, error: error_code, messages: 1, cost, opened }
    }),
  ]
}
