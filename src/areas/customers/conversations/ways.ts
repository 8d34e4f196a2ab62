// SPDX-License-Identifier: Apache-2.0
// Ways to answer a customer: the number or address of each channel, and what stands against it. Read before a reply is written; the
// channel itself has the last word when it is sent.
import { AppError } from '../../../kernel/errors.ts'
import { isCurrency } from '../../../kernel/money.ts'
import { placeOf } from '../../../kernel/phone.ts'
import type { App } from '../../../platform/app.ts'
import type { Caller } from '../../../platform/auth.ts'
import { maybe, type Queryable, statement } from '../../../platform/db.ts'
import { mailPrice, mailSendersOf, suppressionsOf } from '../../email/area.ts'
import { chatPrice, chatSending, contactsOf, isWindowOpen } from '../../messenger/area.ts'
import { everySender, optOutsOf, textPrice } from '../../sms/area.ts'
import type { CustomerRow } from '../store.ts'
import type { ShownWay } from './schema.ts'
import type { Channel, ConversationRow } from './store.ts'

/** Sender of texts for accounts without one. */
const platformSender = 'PAMOJA'

const defaultSender = statement.home<{ account: string }, { sender: string }>(
  'customers.default_sender',
  `select value #>> '{}' as sender from accounts.with_setting('default_sender') where account_id = $account`,
)

/** Ways to answer in a conversation, the one the customer last used first. */
export async function waysOf(
  app: App,
  caller: Caller,
  row: ConversationRow,
  customer: CustomerRow,
): Promise<ShownWay[]> {
  const ways = [
    await chatWay(app, caller, row, customer),
    await textWay(app, caller, row, customer),
    await mailWay(app, caller, row, customer),
  ]
  return ways.sort((a, b) => Number(b.channel === row.channel) - Number(a.channel === row.channel))
}

/** Number or address of a customer on a channel: the one they last wrote from, while it is theirs, or else the main one. */
export function addressOn(channel: Channel, row: ConversationRow, { phones, emails }: CustomerRow): string | null {
  const own = channel === 'email' ? emails : phones
  return row.channel === channel && row.address !== null && own.includes(row.address) ? row.address : (own[0] ?? null)
}

/** Sender of texts in a conversation: the number the customer wrote to, or else the default of the account. */
export async function textSender(queryable: Queryable, caller: Caller, row: ConversationRow): Promise<string> {
  if (row.channel === 'sms' && row.line !== null) return row.line
  return (await maybe(queryable.query(defaultSender, { account: caller.tenant.account })))?.sender ?? platformSender
}

/** Sender of mail: an address at the first domain of the account; null without one. */
export async function mailSender(app: App, { tenant }: Caller): Promise<string | null> {
  const [sender] = await mailSendersOf(app, tenant)
  return sender ? `inbox@${sender.domain}` : null
}

async function chatWay(app: App, caller: Caller, row: ConversationRow, customer: CustomerRow): Promise<ShownWay> {
  const to = addressOn('messenger', row, customer)
  if (to === null) return nowhere('messenger')
  const [contact] = await contactsOf(app.db, caller.tenant, [to])
  const until = contact?.window_expires_at ?? null
  const isOut = contact?.opted_out_at != null
  const isOpen = isWindowOpen(until, caller.nowMs)
  const { cost: price, currency } = chatPrice(app, chatSending(caller), 'service', to)
  return {
    ...{ channel: 'messenger', to, from: null, is_open: isOpen && !isOut, takes_template: !isOut },
    problem: isOut ? 'opted_out' : isOpen ? null : 'window_closed',
    ...{ open_until: isOpen ? until : null, price, currency },
  }
}

async function textWay(app: App, caller: Caller, row: ConversationRow, customer: CustomerRow): Promise<ShownWay> {
  const to = addressOn('sms', row, customer)
  if (to === null) return nowhere('sms')
  const from = await textSender(app.db, caller, row)
  const optOuts = await optOutsOf(app.db, caller.tenant, [to])
  const isOut = optOuts.some(({ sender }) => sender === everySender || sender === from)
  const price = textPrice(app, caller, placeOf(to))
  return {
    ...{ channel: 'sms', to, from, is_open: !isOut, takes_template: false, problem: isOut ? 'opted_out' : null },
    ...{ open_until: null, price, currency: caller.principal.facts.currency },
  }
}

async function mailWay(app: App, caller: Caller, row: ConversationRow, customer: CustomerRow): Promise<ShownWay> {
  const to = addressOn('email', row, customer)
  if (to === null) return nowhere('email')
  const from = await mailSender(app, caller)
  const stops = await suppressionsOf(app.db, caller.tenant, [to], new Date(caller.nowMs))
  const isOut = stops.some(({ applies_to }) => applies_to === 'all')
  const problem = isOut ? 'opted_out' : from === null ? 'no_sender' : null
  return {
    ...{ channel: 'email', to, from, is_open: problem === null, takes_template: problem === null, problem },
    ...{ open_until: null, ...priceOfMail(app, caller) },
  }
}

function priceOfMail(app: App, { tenant, principal, receivedMs }: Caller): Pick<ShownWay, 'price' | 'currency'> {
  const { currency } = principal.facts
  if (!isCurrency(currency)) return { price: null, currency: null }
  try {
    return { price: mailPrice(app, tenant, currency, receivedMs), currency }
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return { price: null, currency: null }
  }
}

function nowhere(channel: Channel): ShownWay {
  return {
    ...{ channel, to: null, from: null, is_open: false, takes_template: false, problem: 'no_address' },
    ...{ open_until: null, price: null, currency: null },
  }
}
