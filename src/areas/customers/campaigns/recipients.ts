// SPDX-License-Identifier: Apache-2.0
// Recipients of a campaign before it is sent to them: by which channel, with which words, at which price, or why not.

import { isCurrency } from '../../../kernel/money.ts'
import type { App } from '../../../platform/app.ts'
import type { Caller } from '../../../platform/auth.ts'
import { mailPrice } from '../../email/area.ts'
import { chatPrices } from '../../messenger/area.ts'
import { draftedEntries } from '../../sms/area.ts'
import { consentsOf } from '../consents.ts'
import type { Person } from '../store.ts'
import { rendered, variablesOf, variantOf } from './content.ts'
import type { Channel, ContentOf } from './schema.ts'
import type { CampaignRow } from './store.ts'

type TextEntry = Awaited<ReturnType<typeof draftedEntries>>[number]

/** Customer who gets nothing. */
interface LeftOut {
  readonly customer: Person
  readonly reason: 'no_consent' | 'no_address' | 'blocked' | 'duplicate'
  /** Code of the error that stands against a text. */
  readonly code?: string
}

/** Customer who gets a message. */
export interface Chosen {
  readonly customer: Person
  readonly channel: Channel
  /** Number of the variant; 0 is the content of the campaign. */
  readonly variant: number
  readonly address: string
  /** Text, subject, or name of the template. */
  readonly text: string
  readonly cost: bigint
  readonly parts: number
  /** Draft of a text. */
  readonly entry: TextEntry | null
}

export type Verdict = LeftOut | Chosen

/** Content that a variant has for a channel; what it lacks is that of the campaign. */
export function contentFor<C extends Channel>(
  { content, variants }: CampaignRow,
  variant: number,
  channel: C,
): ContentOf[C] {
  return variants[variant - 1]?.content[channel] ?? content[channel]
}

/** Names of variants, the campaign's own first. */
export function variantNames({ variants }: CampaignRow): string[] {
  return ['A', ...variants.map(({ name }) => name)]
}

/** Values of a template's placeholders, filled in. */
export function chatTemplate(row: CampaignRow, variant: number, customer: Person | null) {
  const chat = contentFor(row, variant, 'messenger')
  if (!chat) throw new Error('a campaign has no template for the messenger')
  const variables = customer === null ? {} : variablesOf(customer)
  const parameters = (chat.parameters ?? []).map((text) =>
    customer === null ? text : rendered(text, variables) || '-',
  )
  return { name: chat.template, language: chat.language, parameters }
}

/** Decides for customers what they get. Throws an AppError where nobody could be sent anything. */
export async function chosen(
  app: App,
  caller: Caller,
  row: CampaignRow,
  customers: readonly Person[],
): Promise<Verdict[]> {
  const consents = await consentsOf(app.db, caller.tenant, customers, new Date(caller.nowMs), row.channels)
  const shares = [
    100 - row.variants.reduce((sum, { share }) => sum + share, 0),
    ...row.variants.map(({ share }) => share),
  ]
  const picked = customers.map((customer, i) => ({
    customer,
    variant: variantOf(row.id, customer.id, shares),
    ...addressOf(row.channels, customer, consents[i] ?? []),
  }))
  const texts = await textDrafts(app, caller, row, picked)
  const { currency } = caller.principal.facts
  if (!isCurrency(currency)) throw new Error(`the account has an unknown currency: ${currency}`)
  const mail = row.channels.includes('email') ? mailPrice(app, caller.tenant, currency, caller.receivedMs) : 0n
  const chats = new Map<number, (to: string) => bigint>()
  if (row.channels.includes('messenger'))
    for (const variant of variantNames(row).keys())
      chats.set(variant, await chatPrices(app, caller, chatTemplate(row, variant, null)))
  return picked.map((one): Verdict => {
    if ('reason' in one) return { customer: one.customer, reason: one.reason }
    const { customer, variant, channel, address } = one
    const common = { customer, variant, channel, address, parts: 0, entry: null }
    if (channel === 'messenger')
      return { ...common, text: chatTemplate(row, variant, customer).name, cost: chats.get(variant)?.(address) ?? 0n }
    if (channel === 'email') {
      const subject = contentFor(row, variant, 'email')?.subject ?? ''
      return { ...common, text: rendered(subject, variablesOf(customer)), cost: mail }
    }
    const entry = texts.get(customer.id)
    if (!entry) return { customer, reason: 'blocked' }
    if (!('draft' in entry)) return { customer, reason: 'blocked', code: entry.code }
    const { text, cost } = entry.draft
    return { ...common, text: text.text, cost, parts: text.segments, entry }
  })
}

type Consents = Awaited<ReturnType<typeof consentsOf>>[number]

/** First channel, in the order of preference, by which a customer may be written to. */
function addressOf(
  channels: readonly Channel[],
  { phones, emails }: Person,
  consents: Consents,
): { channel: Channel; address: string } | { reason: LeftOut['reason'] } {
  let isKnown = false
  for (const channel of channels) {
    const addresses = channel === 'email' ? emails : phones
    isKnown ||= addresses.length > 0
    const of = (address: string, state: string) =>
      consents.some(
        (one) =>
          one.channel === channel && one.purpose === 'marketing' && one.address === address && one.state === state,
      )
    const address = addresses.find((one) => of(one, 'granted') && !of(one, 'withdrawn'))
    if (address !== undefined) return { channel, address }
  }
  return { reason: isKnown ? 'no_consent' : 'no_address' }
}

/** Drafts of the texts, by customer. */
async function textDrafts(
  app: App,
  caller: Caller,
  row: CampaignRow,
  picked: readonly { customer: Person; variant: number; channel?: Channel; address?: string }[],
): Promise<Map<string, TextEntry>> {
  const texted = picked.flatMap(({ customer, variant, channel, address }) =>
    channel === 'sms' && address !== undefined ? [{ customer, variant, address }] : [],
  )
  const [first] = texted
  if (first === undefined) return new Map()
  const messages = texted.map(({ customer, variant, address }) => {
    const { from, text } = contentFor(row, variant, 'sms') ?? { from: '', text: '' }
    return { to: address, from, message: rendered(text, variablesOf(customer)).slice(0, 1_600) || ' ' }
  })
  const from = messages[0]?.from ?? ''
  const entries = await draftedEntries(app, { from, messages, type: 'promotional' }, caller)
  return new Map(
    entries.flatMap((entry) => {
      const id = texted[entry.index]?.customer.id
      return id === undefined ? [] : [[id, entry] as const]
    }),
  )
}
