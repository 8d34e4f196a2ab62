// SPDX-License-Identifier: Apache-2.0
// Short links, on request: each recipient of a text gets links of their own in place of the long ones, so that the
// record of the message shows how often each was opened. They redirect for as long as a text may be kept.
import type { Static } from 'typebox'
import { AppError } from '../../../kernel/errors.ts'
import { buckets } from '../../../kernel/ids.ts'
import { dayMs } from '../../../kernel/time.ts'
import { hook, pagesPerAddress, redirect } from '../../../platform/api/hook.ts'
import type { App } from '../../../platform/app.ts'
import type { Caller } from '../../../platform/auth.ts'
import { maybe, type Queryable, statement } from '../../../platform/db.ts'
import type { Chore } from '../../../platform/nodes/maintenance.ts'
import { type Environment, mine, type Tenant } from '../../../platform/tenant.ts'
import { page, testLink } from '../../../platform/web/shell.ts'
import { lengthChecked, type Segments } from '../message.ts'
import type { ShortLink } from '../schema.ts'
import { anyToken, isToken, linkRefused, newToken, noSuchLink, tokenLength } from './token.ts'

/** Links that one text may have made short. */
const maxLinks = 10
/** Retention of links: as long as an account may keep its texts. */
const keepDays = 400
const httpsLink = /https:\/\/[^\s<>"“”«»]+/g
/** Punctuation after a link, in any script, that is not part of it. */
const sentenceEnd = /(?:(?![/%&#@*\\])[\p{Po}’])+$/u
const brackets: readonly (readonly [opening: string, closing: string])[] = [
  ['(', ')'],
  ['[', ']'],
  ['{', '}'],
]
const tokensInText = new RegExp(`/l/([0-9a-z]{${tokenLength}})`, 'g')

const insertLinks = statement.tenant<
  Tenant & {
    tokens: readonly string[]
    urls: readonly string[]
    at: Date
  },
  object
>(
  'sms.insert_short_links',
  `insert into sms.short_links (bucket, account_id, environment, token, url, created_at)
   select $bucket::smallint, $account::uuid, $environment::text, l.token, l.url, $at::timestamptz
     from unnest($tokens::text[], $urls::text[]) as l(token, url)`,
)

interface LinkRow {
  token: string
  url: string
  clicks: number
  first_clicked_at: Date | null
  last_clicked_at: Date | null
}

const findLinks = statement.tenant<Tenant & { tokens: readonly string[] }, LinkRow>(
  'sms.find_short_links',
  `select token, url, clicks, first_clicked_at, last_clicked_at from sms.short_links
    where ${mine} and token = any($tokens::text[])`,
)

/** Notes that a link was opened, by the account's clock; a HEAD request does not count. */
const openLink = statement.everywhere<
  { buckets: readonly number[]; token: string; at: Date; opens: boolean },
  { url: string; environment: Environment }
>(
  'sms.open_short_link',
  `update sms.short_links l
      set clicks = case when $opens::boolean then least(l.clicks, 2147483646) + 1 else l.clicks end,
          first_clicked_at = case when $opens then coalesce(l.first_clicked_at, t.at) else l.first_clicked_at end,
          last_clicked_at = case when $opens then t.at else l.last_clicked_at end
     from (select o.bucket, o.token,
                  $at::timestamptz + accounts.clock_offset_ms(o.account_id, o.environment) * interval '1 millisecond' as at
             from sms.short_links o
            where o.bucket = any($buckets::smallint[]) and o.token = $token) t
    where l.bucket = t.bucket and l.token = t.token
   returning l.url, l.environment`,
)

const purgeLinks = statement.everywhere<{ buckets: readonly number[]; before: Date }, object>(
  'sms.purge_short_links',
  'delete from sms.short_links where bucket = any($buckets::smallint[]) and created_at < $before',
)

/** The links of a text while it becomes one message, or many. */
export interface ShortLinks {
  /** The text as long as it will be. */
  readonly message: string
  /** The text of one recipient, with links of their own. */
  put(text: Segments): Segments
  /** Stores the targets of the links, before the message is sent. */
  store(queryable: Queryable): Promise<void>
}

/** Refuses a text with too many links, or one that is too long with short ones. */
export function shortLinksIn(app: App, { tenant, receivedMs }: Caller, given: string): ShortLinks {
  const { message, urls } = withRoomForShortLinks(app, given)
  const made: { token: string; url: string }[] = []
  return {
    message,
    put(text) {
      const tokens = urls.map((url) => ({ token: newToken(), url }))
      made.push(...tokens)
      let next = 0
      const own = text.text.replaceAll(linkOf(app, anyToken), () => linkOf(app, tokens[next++]?.token ?? anyToken))
      return { ...text, text: own }
    },
    async store(queryable) {
      if (made.length === 0) return
      await queryable.query(insertLinks, {
        ...tenant,
        tokens: made.map(({ token }) => token),
        urls: made.map(({ url }) => url),
        at: new Date(receivedMs),
      })
    },
  }
}

/** The text as long as it will be when it has its links, and where they lead, in their order. */
export function withRoomForShortLinks(app: App, given: string): { message: string; urls: string[] } {
  const urls: string[] = []
  const message = given.replaceAll(httpsLink, (found) => {
    const url = linkIn(found)
    if (!URL.canParse(url)) return found
    urls.push(url)
    return linkOf(app, anyToken) + found.slice(url.length)
  })
  if (urls.length > maxLinks)
    throw new AppError('VALIDATION_ERROR', `message has ${urls.length} links: shorten_urls takes at most ${maxLinks}`)
  return { message: lengthChecked(message), urls }
}

function linkIn(found: string): string {
  const link = found.replace(sentenceEnd, '')
  // A bracket that closes one opened before the link is not part of it.
  const closes = brackets.some(([opening, closing]) => link.endsWith(closing) && !link.includes(opening))
  return closes ? linkIn(link.slice(0, -1)) : link
}

function linkOf(app: App, token: string): string {
  return `${app.publicUrl}/l/${token}`
}

/** The short links in a text, in their order, with how often each was opened. */
export async function linksIn(app: App, { tenant }: Caller, text: string | null): Promise<Static<typeof ShortLink>[]> {
  const tokens = [...(text ?? '').matchAll(tokensInText)].map(([, token = '']) => token)
  if (tokens.length === 0) return []
  const rows = await app.db.query(findLinks, { ...tenant, tokens })
  return tokens.flatMap((token) =>
    rows
      .filter((row) => row.token === token)
      .map(({ token: _, ...link }) => ({ short_url: linkOf(app, token), ...link })),
  )
}

export const shortLinkHook = hook({
  methods: ['GET', 'HEAD'],
  path: '/l/:token',
  operation: 'sms.openShortLink',
  summary: 'Follow a short link of a text',
  maxBytes: 1,
  limits: [pagesPerAddress],
  handle: async (app, { method, params: { token } }) => {
    const asked = { buckets, token, at: new Date(app.clock.nowMs()), opens: method === 'GET' }
    const found = isToken(token) ? await maybe(app.db.query(openLink, asked)) : null
    if (!found) throw noSuchLink()
    // Anybody can get a test key: test links show their target instead of redirecting in this installation's name.
    return found.environment === 'test' ? page(200, testLink(found.url)) : redirect(found.url, 302)
  },
  refused: linkRefused,
})

export const shortLinkChore: Chore = {
  name: 'sms short links',
  run: async ({ db, clock }) => {
    await db.query(purgeLinks, { buckets, before: new Date(clock.nowMs() - keepDays * dayMs) })
  },
}
