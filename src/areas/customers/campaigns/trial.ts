// SPDX-License-Identifier: Apache-2.0
// Test message of a campaign: each variant by each of its channels, to one's own number and address, before anybody else gets it.
import type { Static } from 'typebox'
import { AppError, invalid } from '../../../kernel/errors.ts'
import { idOf, newUuid, uuidOf } from '../../../kernel/ids.ts'
import { isCurrency } from '../../../kernel/money.ts'
import { record } from '../../../platform/api/audit.ts'
import type { App } from '../../../platform/app.ts'
import type { Caller } from '../../../platform/auth.ts'
import { maybe, one, type Tx } from '../../../platform/db.ts'
import { acceptBulk, mailPrice, prepareBulk } from '../../email/area.ts'
import { chatForAccount, chatPrices } from '../../messenger/area.ts'
import { acceptBatch, draftedEntries } from '../../sms/area.ts'
import { customerWith } from '../change.ts'
import { type AddressKind, type CustomerRow, findCustomer, findOwners } from '../store.ts'
import { campaignWith } from './campaign.ts'
import { rendered, variablesOf } from './content.ts'
import { chatTemplate, contentFor, variantNames } from './recipients.ts'
import type { Channel, Trial, WantedTrial } from './schema.ts'
import type { CampaignRow } from './store.ts'

type Reply = Static<typeof Trial>
type Shown = Reply['messages'][number]

/** One message of a trial. */
interface Planned {
  readonly channel: Channel
  readonly variant: number
  readonly to: string
  readonly text: string
}

type Entries = Awaited<ReturnType<typeof draftedEntries>>
interface PlannedMail extends Planned {
  readonly input: Parameters<typeof prepareBulk>[1]
  readonly prepared: Awaited<ReturnType<typeof prepareBulk>>
}

/** Trial that was looked through before its transaction. */
interface PreparedTrial {
  readonly row: CampaignRow
  readonly customer: CustomerRow | null
  readonly texts: readonly Planned[]
  readonly entries: Entries
  readonly mails: readonly PlannedMail[]
  readonly chats: readonly (Planned & { readonly cost: bigint })[]
  readonly mailCost: bigint
}

/** Renders and prices the messages of a trial. Throws VALIDATION_ERROR where no channel of the campaign reaches what was given. */
export async function preparedTrial(app: App, caller: Caller, id: string, wanted: WantedTrial): Promise<PreparedTrial> {
  const row = await campaignWith(app.db, caller.tenant, id)
  const customer = await personOf(app, caller, wanted)
  const planned = row.channels.flatMap((channel) => {
    const to = channel === 'email' ? wanted.email?.toLowerCase() : wanted.phone
    if (to === undefined) return []
    return Array.from(variantNames(row).keys(), (variant): Planned => {
      return { channel, variant, to, text: wordsOf(row, channel, variant, customer) }
    })
  })
  if (planned.length === 0)
    throw invalid(row.channels.includes('email') && row.channels.length === 1 ? 'email' : 'phone', 'is required')
  const texts = planned.filter(({ channel }) => channel === 'sms')
  const { currency } = caller.principal.facts
  if (!isCurrency(currency)) throw new Error(`the account has an unknown currency: ${currency}`)
  return {
    ...{ row, customer, texts, entries: await entriesOf(app, caller, row, texts) },
    mails: await mailsOf(app, caller, row, planned, customer),
    chats: await chatsOf(app, caller, row, planned),
    mailCost: mailPrice(app, caller.tenant, currency, caller.receivedMs),
  }
}

/** Customer whose name and attributes are filled in: the one that is named, or whose number or address it is. */
async function personOf(app: App, { tenant }: Caller, wanted: WantedTrial): Promise<CustomerRow | null> {
  const { phone, email, customer_id } = wanted
  if (customer_id !== undefined) return customerWith(app.db, tenant, customer_id)
  const given: readonly (readonly [AddressKind, string | undefined])[] = [
    ['phone', phone],
    ['email', email?.toLowerCase()],
  ]
  const named = given.flatMap(([kind, address]) => (address === undefined ? [] : [{ kind, address }]))
  const asked = { kinds: named.map(({ kind }) => kind), addresses: named.map(({ address }) => address) }
  const [owner] = await app.db.query(findOwners, { ...tenant, ...asked })
  return owner ? maybe(app.db.query(findCustomer, { ...tenant, id: owner.customer_id })) : null
}

const valuesOf = (customer: CustomerRow | null): Record<string, string> =>
  customer === null ? {} : variablesOf(customer)

function wordsOf(row: CampaignRow, channel: Channel, variant: number, customer: CustomerRow | null): string {
  if (channel === 'messenger') return chatTemplate(row, variant, customer).name
  const words = channel === 'sms' ? contentFor(row, variant, channel)?.text : contentFor(row, variant, channel)?.subject
  return rendered(words ?? '', valuesOf(customer)) || ' '
}

/** Drafts of the texts: as advertising, with its links, but whoever asks for one gets it at night too. */
async function entriesOf(app: App, caller: Caller, row: CampaignRow, texts: readonly Planned[]): Promise<Entries> {
  const messages = texts.map(({ to, text, variant }) => {
    return { to, from: contentFor(row, variant, 'sms')?.from ?? '', message: text.slice(0, 1_600) }
  })
  const [first] = messages
  if (first === undefined) return []
  const entries = await draftedEntries(app, { from: first.from, messages, type: 'promotional' }, caller)
  return entries.map((entry): Entries[number] =>
    'draft' in entry ? { ...entry, draft: { ...entry.draft, type: 'transactional', scheduledAt: null } } : entry,
  )
}

function mailsOf(
  app: App,
  caller: Caller,
  row: CampaignRow,
  planned: readonly Planned[],
  customer: CustomerRow | null,
): Promise<PlannedMail[]> {
  const mailed = planned.filter(({ channel }) => channel === 'email')
  return Promise.all(
    mailed.map(async (plan) => {
      const content = contentFor(row, plan.variant, 'email')
      if (!content) throw new Error('a campaign has no mail')
      const { from, subject, html, text } = content
      const bodies = { ...(html === undefined ? {} : { html }), ...(text === undefined ? {} : { text }) }
      const input = { from, subject, ...bodies, recipients: [{ email: plan.to, variables: valuesOf(customer) }] }
      return { ...plan, input, prepared: await prepareBulk(app, input, caller) }
    }),
  )
}

async function chatsOf(app: App, caller: Caller, row: CampaignRow, planned: readonly Planned[]) {
  const chats: (Planned & { readonly cost: bigint })[] = []
  for (const plan of planned)
    if (plan.channel === 'messenger') {
      const priceOf = await chatPrices(app, caller, chatTemplate(row, plan.variant, null))
      chats.push({ ...plan, cost: priceOf(plan.to) })
    }
  return chats
}

/** Sends the texts and mail of a trial; its chats go after the commit, by `sendTrialChats`. */
export async function sendTrial(app: App, tx: Tx, caller: Caller, trial: PreparedTrial): Promise<Reply> {
  const { row, customer, texts, entries, mails, chats, mailCost } = trial
  const names = variantNames(row)
  const shown = ({ channel, variant, to, text }: Planned, more: Pick<Shown, 'message_id' | 'error_code' | 'cost'>) => {
    return { channel, variant: names[variant] ?? 'A', to, text, ...more }
  }
  const refused = (error_code: string) => ({ message_id: null, error_code, cost: 0n })
  const messages: Shown[] = []
  const metadata = { campaign_id: idOf('campaign', row.id) }
  const isSendable = entries.some((entry) => 'draft' in entry)
  const { outcomes } = isSendable ? await acceptBatch(app, tx, entries, metadata, caller) : { outcomes: [] }
  for (const [i, plan] of texts.entries()) {
    const [entry, outcome] = [entries[i], outcomes[i]]
    if (entry && 'code' in entry) messages.push(shown(plan, refused(entry.code)))
    else if (outcome?.message_id && outcome.error_code === null)
      messages.push(shown(plan, { message_id: outcome.message_id, error_code: null, cost: outcome.cost }))
    else messages.push(shown(plan, refused(outcome?.error_code ?? 'OPTED_OUT')))
  }
  for (const mail of mails) {
    const isSuppressed = mail.prepared.entries.length === 0
    const sent = isSuppressed ? null : await acceptBulk(app, tx, mail.input, caller, mail.prepared)
    const id = sent?.messages[0]?.message_id ?? null
    messages.push(
      shown(mail, id === null ? refused('OPTED_OUT') : { message_id: id, error_code: null, cost: mailCost }),
    )
  }
  for (const chat of chats) {
    const message_id = idOf('messengerMessage', newUuid(caller.receivedMs))
    messages.push(shown(chat, { message_id, error_code: null, cost: chat.cost }))
  }
  await record(tx, caller, 'campaign.test', idOf('campaign', row.id))
  return replyOf({ customer_id: customer && idOf('customer', customer.id), messages, currency: row.currency })
}

function replyOf(reply: Omit<Reply, 'cost'>): Reply {
  return { ...reply, cost: reply.messages.reduce((sum, { cost }) => sum + cost, 0n) }
}

/** Sends the chats of a trial; one that is refused says why. */
export async function sendTrialChats(app: App, caller: Caller, id: string, reply: Reply): Promise<Reply> {
  if (!reply.messages.some(({ channel }) => channel === 'messenger')) return reply
  const row = await campaignWith(app.db, caller.tenant, id)
  const person = reply.customer_id === null ? null : uuidOf('customer', reply.customer_id)
  const customer = person === null ? null : await one(app.db.query(findCustomer, { ...caller.tenant, id: person }))
  const names = variantNames(row)
  const messages: Shown[] = []
  for (const shown of reply.messages) {
    const uuid = shown.channel === 'messenger' ? uuidOf('messengerMessage', shown.message_id ?? '') : null
    if (uuid === null) {
      messages.push(shown)
      continue
    }
    const template = chatTemplate(row, Math.max(0, names.indexOf(shown.variant)), customer)
    try {
      await chatForAccount(app, caller, { to: shown.to, id: uuid, template, key: `campaign test ${uuid}` })
      messages.push(shown)
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      messages.push({ ...shown, message_id: null, error_code: error.code, cost: 0n })
    }
  }
  return replyOf({ ...reply, messages })
}
