// SPDX-License-Identifier: Apache-2.0
// Owner of an inbound message: the account that has the number and the keyword, else the one that has the number, else
// the one that wrote to the handset last from the number or name that it now writes to.

import { buckets, firstUuidAt } from '../../../kernel/ids.ts'
import { dayMs } from '../../../kernel/time.ts'
import type { App } from '../../../platform/app.ts'
import { firstBy } from '../../../platform/db/merging.ts'
import { maybe, statement } from '../../../platform/db.ts'
import { type Environment, type Tenant, tenantOf } from '../../../platform/tenant.ts'
import { keywordIn } from '../numbers/keywords.ts'
import { smsNumbers } from '../numbers/store.ts'

/** An answer belongs to the last message that the handset got from the sender within this time. */
const answerWithinDays = 30

/** Whose environment it is, and how far its clock was moved. */
interface Whose {
  readonly tenant: Tenant
  readonly clockOffsetMs: number
}

/** Whose message it is, and what the owner wants done with it. */
export interface Owner extends Whose {
  readonly inReplyTo: string | null
  readonly keyword: string | null
  readonly webhookUrl: string | null
  readonly autoReply: string | null
}

/** Everything that may say whose a message is; the text of a long one is known only when it is whole. */
export interface Claims {
  /** Under whom its parts are kept until then: the same for all of them. */
  readonly keeper: Tenant | null
  ownerOf(text: string): Owner | null
}

const findLast = statement.everywhere<
  { buckets: readonly number[]; handset: string; sender: string; environment: Environment | null; since: string },
  { bucket: number; account_id: string; environment: Environment; id: string; clock_offset_ms: bigint }
>(
  'sms.find_last_to',
  `select m.bucket, m.account_id, m.environment, m.id, accounts.clock_offset_ms(m.account_id, m.environment) as clock_offset_ms
     from sms.messages m
    where m.bucket = any($buckets::smallint[]) and m.recipient = $handset
      and sms.sender_form(m.sender) = sms.sender_form($sender)
      and m.direction = 'outbound' and m.id >= $since::uuid and ($environment::text is null or m.environment = $environment)
    order by m.id desc limit 1`,
  {
    merge: firstBy(
      ({ id }) => id,
      () => 1,
      true,
    ),
  },
)

type NumberRow = Awaited<ReturnType<typeof smsNumbers.owners>>[number]

const findHomes = statement.home<{ accounts: readonly string[] }, { country: string }>(
  'sms.find_homes',
  `select distinct accounts.country_of(account) as country from unnest($accounts::uuid[]) as account`,
)

/** The countries of the accounts that have a live number. */
export async function homesOf(app: App, number: string): Promise<string[]> {
  const owners = await smsNumbers.owners(app.db, 'live', formsOf(number))
  const accounts = owners.map(({ account_id }) => account_id)
  return (await app.db.query(findHomes, { accounts })).map(({ country }) => country)
}

export interface Arrived {
  readonly from: string
  readonly to: string
  /** Whether it came from the sandbox's network, where every account has numbers of its own. */
  readonly isTest: boolean
  /** Request that asked for it, if one did. */
  readonly expectedBy: Whose | null
}

export async function claimsTo(app: App, { from, to, isTest, expectedBy }: Arrived): Promise<Claims> {
  const last = await lastTo(app, from, to, isTest)
  const rows = await numbersFor(app, to, isTest, expectedBy ?? last)
  return {
    keeper: expectedBy?.tenant ?? (rows[0] ? whoseIs(rows[0]).tenant : (last?.tenant ?? null)),
    ownerOf(text) {
      const row = expectedBy ? rows[0] : rowFor(text, rows)
      const whose = expectedBy ?? (row ? whoseIs(row) : last)
      if (!whose) return null
      const { keywords = [], default_webhook_url = null } =
        (row ?? rows.find((one) => isSameTenant(whoseIs(one), whose)))?.settings ?? {}
      const found = keywordIn(text, keywords)
      return {
        ...whose,
        inReplyTo: last && isSameTenant(last, whose) ? last.message : null,
        keyword: found?.keyword ?? null,
        webhookUrl: found?.webhook_url ?? default_webhook_url,
        autoReply: found?.auto_reply ?? null,
      }
    },
  }
}

async function lastTo(
  app: App,
  handset: string,
  sender: string,
  isTest: boolean,
): Promise<(Whose & { message: string }) | null> {
  const last = await maybe(
    app.db.query(findLast, {
      buckets,
      handset,
      sender,
      environment: isTest ? 'test' : null,
      since: firstUuidAt(app.clock.nowMs() - answerWithinDays * dayMs),
    }),
  )
  return last && { ...whoseIs(last), message: last.id }
}

/** The owners of a number: of a live one all, in test the account that the message is for anyway. */
async function numbersFor(app: App, to: string, isTest: boolean, whose: Whose | null): Promise<NumberRow[]> {
  const forms = formsOf(to)
  const rows = isTest ? [] : await smsNumbers.owners(app.db, 'live', forms)
  if (rows.length > 0 || whose?.tenant.environment !== 'test') return rows
  return smsNumbers.owners(app.db, 'test', forms, whose.tenant.account)
}

function formsOf(number: string): string[] {
  return number.startsWith('+') ? [number, number.slice(1)] : [number, `+${number}`]
}

function rowFor(text: string, rows: readonly NumberRow[]): NumberRow | undefined {
  const found = keywordIn(
    text,
    rows.flatMap(({ settings }) => settings.keywords),
  )
  return rows.find(({ settings, shared }) => (found ? settings.keywords.includes(found) : !shared))
}

function whoseIs(row: Pick<NumberRow, 'bucket' | 'account_id' | 'environment' | 'clock_offset_ms'>): Whose {
  return { tenant: tenantOf(row), clockOffsetMs: Number(row.clock_offset_ms) }
}

function isSameTenant({ tenant: a }: Whose, { tenant: b }: Whose): boolean {
  return a.account === b.account && a.environment === b.environment
}
