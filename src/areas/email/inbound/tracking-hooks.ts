// SPDX-License-Identifier: Apache-2.0
// Tracking URLs: open pixel, links, and unsubscribe. Links redirect only to signed targets and work without the
// database; link scanners change nothing.
import { AppError } from '../../../kernel/errors.ts'
import { dayMs } from '../../../kernel/time.ts'
import { formOf, type HookAnswer, type HookCall, hook, redirect } from '../../../platform/api/hook.ts'
import { maybe, statement } from '../../../platform/db.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import type { Brand } from '../../../platform/web/brand.ts'
import { html } from '../../../platform/web/html.ts'
import { askedBy } from '../../../platform/web/language.ts'
import { type Reader, readerOf } from '../../../platform/web/reader.ts'
import { notice, type Page, page, testLink } from '../../../platform/web/shell.ts'
import { readLinkToken } from '../tracking/token.ts'
import { note, storeAction } from './spool.ts'
import { unsubscribeTexts } from './unsubscribe-texts.ts'

const picture = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64')
const limits = [{ by: 'address', perSecond: 500 }]
const undoMs = dayMs

function userAgentOf({ headers }: Pick<HookCall, 'headers'>): string | null {
  return headers['user-agent']?.slice(0, 500) ?? null
}

const open = hook({
  methods: ['GET'],
  path: '/t/o/:token',
  operation: 'email.open',
  summary: 'Record that an email was opened',
  maxBytes: 1_024,
  limits,
  handle: async (app, call) => {
    const recipient = readLinkToken(app, 'open', call.params.token.replace(/\.gif$/, ''))
    if (recipient) note(app, recipient, { kind: 'open', userAgent: userAgentOf(call), ip: call.ip })
    return {
      status: 200,
      headers: { 'content-type': 'image/gif', 'cache-control': 'no-store, private' },
      body: picture,
    }
  },
})

const click = hook({
  methods: ['GET'],
  path: '/t/c/:token',
  operation: 'email.click',
  summary: 'Record a click and follow the link',
  maxBytes: 1_024,
  limits,
  handle: async (app, call) => {
    const url = typeof call.query.u === 'string' ? call.query.u : ''
    const recipient = readLinkToken(app, 'click', call.params.token, url)
    if (!recipient) return broken(call, 'noSuchLink')
    note(app, recipient, { kind: 'click', link: recipient.link, url, userAgent: userAgentOf(call), ip: call.ip })
    // Anybody can get a test key: test links show their target instead of redirecting in this installation's name.
    const answer = recipient.tenant.environment === 'test' ? page(200, testLink(url)) : redirect(url, 302)
    return { ...answer, headers: { ...answer.headers, 'cache-control': 'no-store, private' } }
  },
})

/** Answer to an address that none of ours is. */
function broken(call: HookCall, title: 'noSuchLink' | 'noSuchMessage'): HookAnswer {
  const { language, words } = readerOf(askedBy(call), 'UTC')
  const say = words(unsubscribeTexts)
  return page(404, { title: say(title), language, content: notice('bad', say(title), html`<p>${say('changed')}</p>`) })
}

interface Whose {
  email: string
  account_name: string
  brand: Brand
}

const addressOf = statement.tenant<Tenant & { message: string; number: number }, Whose>(
  'email.address_of_recipient',
  `select email, accounts.name_of(account_id) as account_name, accounts.brand_of(account_id) as brand
     from email.recipients
    where bucket = $bucket and account_id = $account and environment = $environment and message_id = $message and number = $number`,
)

const unsubscribe = hook({
  methods: ['GET', 'POST'],
  path: '/u/:token',
  operation: 'email.unsubscribe',
  summary: 'Unsubscribe a recipient',
  maxBytes: 4_096,
  limits,
  handle: async (app, call) => {
    const recipient = readLinkToken(app, 'unsubscribe', call.params.token)
    if (!recipient) return broken(call, 'noSuchMessage')
    const whose = await maybe(app.db.query(addressOf, addressed(recipient)))
    const reader = readerOf(askedBy(call), 'UTC')
    const frame = { ...frameOf(recipient, whose), language: reader.language }
    if (call.method === 'GET') return page(200, { ...frame, ...question(reader, whose?.email ?? null) }, 'here')
    const source = formOf(call).get('List-Unsubscribe') === 'One-Click' ? 'one_click' : 'page'
    if (
      !(await storeAction(app, recipient, { kind: 'unsubscribe', source, userAgent: userAgentOf(call), ip: call.ip }))
    )
      return broken(call, 'noSuchMessage')
    return page(200, { ...frame, ...done(reader, call.params.token) }, 'here')
  },
})

const lift = statement.tenant<Tenant & { message: string; number: number; since: Date }, { email: string }>(
  'email.lift_unsubscription',
  `delete from email.suppressions s using email.recipients r
    where s.bucket = $bucket and s.account_id = $account and s.environment = $environment and s.reason = 'unsubscribe'
      and r.bucket = $bucket and r.account_id = $account and r.environment = $environment and r.message_id = $message and r.number = $number
      and s.email = lower(r.email) and s.created_at > $since::timestamptz
   returning s.email`,
)

const resubscribe = hook({
  methods: ['POST'],
  path: '/u/:token/undo',
  operation: 'email.resubscribe',
  summary: 'Undo an unsubscription',
  maxBytes: 4_096,
  limits,
  handle: async (app, call): Promise<HookAnswer> => {
    const recipient = readLinkToken(app, 'unsubscribe', call.params.token)
    if (!recipient) return broken(call, 'noSuchMessage')
    const { tenant, message, number } = recipient
    const lifted = await maybe(
      app.db.query(lift, { ...tenant, message, number, since: new Date(app.clock.nowMs() - undoMs) }),
    )
    if (!lifted) throw new AppError('NOT_FOUND', 'there is nothing to undo, or more than a day has passed')
    const whose = await maybe(app.db.query(addressOf, addressed(recipient)))
    const { language, words } = readerOf(askedBy(call), 'UTC')
    const say = words(unsubscribeTexts)
    const content = notice('good', say('subscribedAgain'), html`<p>${say('asBefore')}</p>`)
    return page(200, { ...frameOf(recipient, whose), title: say('subscribedAgain'), language, content })
  },
})

type Recipient = NonNullable<ReturnType<typeof readLinkToken>>

function addressed({ tenant, message, number }: Recipient) {
  return { ...tenant, message, number }
}

/** Brand of the sender's page; none once the message is deleted. */
function frameOf({ tenant }: Recipient, whose: Whose | null): Pick<Page, 'from' | 'brand' | 'isTest'> {
  const isTest = tenant.environment === 'test'
  return whose === null ? { isTest } : { isTest, from: whose.account_name, brand: whose.brand }
}

function question({ words, leftToRight }: Reader, email: string | null) {
  const say = words(unsubscribeTexts)
  const title = say('unsubscribe')
  const who = email === null ? say('thisAddress') : leftToRight(email)
  return {
    title,
    content: html`<h1>${title}</h1><p>${say('willGetNone', { email: who })}</p>
<form method="post"><button type="submit">${title}</button></form>`,
  }
}

function done({ words, language }: Reader, token: string) {
  const say = words(unsubscribeTexts)
  const body = html`<p>${say('youGetNone')}</p>
<form method="post" action="/u/${token}/undo?lang=${language}"><button type="submit">${say('undo')}</button></form>`
  return { title: say('unsubscribed'), content: notice('good', say('unsubscribed'), body) }
}

export const trackingHooks = [open, click, unsubscribe, resubscribe]
