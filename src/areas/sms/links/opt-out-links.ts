// SPDX-License-Identifier: Apache-2.0
// Opt-out links, since a sender that is a name cannot be answered with STOP. Where a promotional text says {{optout}},
// each recipient gets a short link to a page that asks once and opts them out. The page changes nothing until its
// button is pressed, because programs open links in messages before people do.
import { buckets, newUuid } from '../../../kernel/ids.ts'
import { isE164 } from '../../../kernel/phone.ts'
import { isSender } from '../../../kernel/sender.ts'
import { hook, pagesPerAddress } from '../../../platform/api/hook.ts'
import type { App } from '../../../platform/app.ts'
import type { Caller } from '../../../platform/auth.ts'
import { maybe, type Queryable, statement } from '../../../platform/db.ts'
import { occasionNow } from '../../../platform/events.ts'
import { type Environment, type Tenant, tenantOf } from '../../../platform/tenant.ts'
import type { Brand } from '../../../platform/web/brand.ts'
import { html } from '../../../platform/web/html.ts'
import { askedBy } from '../../../platform/web/language.ts'
import { type Reader, readerOf } from '../../../platform/web/reader.ts'
import { notice, type Page, page } from '../../../platform/web/shell.ts'
import { insertOptOut } from '../consent/store.ts'
import { smsEvents } from '../events.ts'
import { lengthChecked, type MessageType, type Segments } from '../message.ts'
import { linkTexts } from './link-texts.ts'
import { anyToken, isToken, linkRefused, newToken, noSuchLink } from './token.ts'

const placeholder = '{{optout}}'
/** The text as long as it will be when it has its link; refuses one that is too long then. */
export function withRoomForLink(app: App, type: MessageType, message: string): string {
  if (type !== 'promotional' || !message.includes(placeholder)) return message
  return lengthChecked(message.replaceAll(placeholder, linkOf(app, anyToken)))
}

interface Addressed {
  readonly to: string
  readonly from: string
  readonly message: string
}

const makeLinks = statement.tenant<
  Tenant & {
    phones: readonly string[]
    senders: readonly string[]
    tokens: readonly string[]
    at: Date
  },
  { phone: string; sender: string; token: string }
>(
  'sms.make_opt_out_links',
  `insert into sms.opt_out_links as l (bucket, account_id, environment, phone, sender, token, created_at)
   select $bucket::smallint, $account::uuid, $environment::text, w.phone, w.sender, w.token, $at::timestamptz
     from unnest($phones::text[], $senders::text[], $tokens::text[]) as w(phone, sender, token)
    order by w.phone, w.sender
   on conflict (bucket, account_id, environment, phone, sender) do update set token = l.token
   returning phone, sender, token`,
)

/** Makes the links that messages need, and gives what puts each into its text. */
export async function linksFor(
  app: App,
  queryable: Queryable,
  { tenant, nowMs }: Caller,
  type: MessageType,
  messages: readonly Addressed[],
): Promise<(text: Segments, to: string, from: string) => Segments> {
  const wanted = new Map<string, Addressed>()
  if (type === 'promotional')
    for (const one of messages)
      if (one.message.includes(placeholder) && isE164(one.to) && isSender(one.from))
        wanted.set(keyOf(one.to, one.from), one)
  if (wanted.size === 0) return (text) => text
  const rows = await queryable.query(makeLinks, {
    ...tenant,
    phones: [...wanted.values()].map(({ to }) => to),
    senders: [...wanted.values()].map(({ from }) => from),
    tokens: Array.from(wanted, newToken),
    at: new Date(nowMs),
  })
  const tokens = new Map(rows.map(({ phone, sender, token }) => [keyOf(phone, sender), token]))
  return (text, to, from) => {
    const token = tokens.get(keyOf(to, from)) ?? anyToken
    return { ...text, text: text.text.replaceAll(linkOf(app, anyToken), linkOf(app, token)) }
  }
}

function keyOf(phone: string, sender: string): string {
  return `${phone} ${sender}`
}

function linkOf(app: App, token: string): string {
  return `${app.publicUrl}/o/${token}`
}

interface Link {
  bucket: number
  account_id: string
  environment: Environment
  phone: string
  sender: string
  clock_offset_ms: bigint
  account_name: string
  brand: Brand
}

const findLink = statement.everywhere<{ buckets: readonly number[]; token: string }, Link>(
  'sms.find_opt_out_link',
  `select bucket, account_id, environment, phone, sender, accounts.clock_offset_ms(account_id, environment) as clock_offset_ms,
          accounts.name_of(account_id) as account_name, accounts.brand_of(account_id) as brand
     from sms.opt_out_links where bucket = any($buckets::smallint[]) and token = $token`,
)

export const optOutHook = hook({
  methods: ['GET', 'HEAD', 'POST'],
  path: '/o/:token',
  operation: 'sms.optOutByLink',
  summary: 'Opt out by a link in a text',
  // The button of the page sends an empty form, and some clients a word of their own.
  maxBytes: 1_024,
  limits: [pagesPerAddress],
  handle: async (app, call) => {
    const link = await linkWith(app, call.params.token)
    if (!link) throw noSuchLink()
    const isDone = call.method === 'POST'
    if (isDone) await optOut(app, link)
    return page(200, pageOf(link, isDone, readerOf(askedBy(call), 'UTC')), 'here')
  },
  refused: linkRefused,
})

async function linkWith(app: App, token: string): Promise<Link | null> {
  return isToken(token) ? maybe(app.db.query(findLink, { buckets, token })) : null
}

async function optOut(app: App, link: Link) {
  const { phone, sender, clock_offset_ms } = link
  const tenant = tenantOf(link)
  const occasion = occasionNow(app.clock, tenant, clock_offset_ms)
  const told = { phone, reason: 'link', source: 'keyword' as const, created_at: new Date(occasion.nowMs) }
  await app.db.tx(tenant, async (tx) => {
    const { isNew } = await insertOptOut(tx, tenant, { id: newUuid(occasion.receivedMs), sender, ...told })
    if (isNew)
      await app.outbox.emit(tx, smsEvents.optedOut, occasion, phone, { ...told, from: sender, message_id: null })
  })
}

function pageOf(
  { sender, phone, environment, account_name: from, brand }: Link,
  isDone: boolean,
  { language, words, leftToRight }: Reader,
): Page {
  const say = words(linkTexts)
  const named = { sender: leftToRight(sender), number: leftToRight(`…\u2060${phone.slice(-3)}`) }
  const content = isDone
    ? notice('good', say('done'), html`<p>${say('noMore', named)}</p>`)
    : html`<h1>${say('question', named)}</h1><form method="post"><button>${say('stop')}</button></form>`
  return { title: sender, language, from, brand, isTest: environment === 'test', content }
}
