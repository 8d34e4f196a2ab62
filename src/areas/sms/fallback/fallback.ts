// SPDX-License-Identifier: Apache-2.0
// Fallback of a text to another channel when it fails or is not delivered in time. This file stores the request and
// schedules the check; the other channel registers `smsFallback` as a job, and notes the outcome.
import { type Static, Type } from 'typebox'
import type { App } from '../../../platform/app.ts'
import { maybe, statement } from '../../../platform/db.ts'
import { Nullable } from '../../../platform/schema/fields.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import type { NewJob } from '../../../platform/work.ts'

const leastSeconds = 10
const maxSeconds = 172_800
/** Time after the end of its validity at which a text without a receipt is checked. */
const graceSeconds = 60

export const Fallback = Type.Object(
  {
    channel: Type.Literal('messenger', {
      rule: 'must be messenger',
      description: 'Channel of the fallback; only one value so far',
    }),
    after: Type.Optional(
      Type.Integer({
        minimum: leastSeconds,
        maximum: maxSeconds,
        rule: `must be a whole number of seconds from ${leastSeconds} to ${maxSeconds}`,
        description: 'Seconds after which an undelivered text is sent over the fallback; without it, only a failed one',
      }),
    ),
    text: Type.Optional(
      Type.Object(
        {
          body: Type.String({
            minLength: 1,
            maxLength: 4096,
            sensitive: true,
            rule: 'must have 1 to 4096 characters',
            description: 'Text shown to the user',
          }),
        },
        { description: 'Text for users who wrote within the last 24 hours' },
      ),
    ),
    template: Type.Optional(
      Type.Object(
        {
          name: Type.String({ minLength: 1, maxLength: 512, description: 'Name of your approved template' }),
          language: Type.String({
            minLength: 2,
            maxLength: 15,
            description: 'Language of the template, such as `en` or `sw`',
          }),
          components: Type.Optional(
            Type.Array(Type.Unsafe<Record<string, unknown>>({ type: 'object' }), {
              maxItems: 10,
              description: 'Values for its placeholders, as in POST /v1/messenger/send',
            }),
          ),
        },
        {
          description:
            'Approved template, which also reaches users who have not written; one of `text` and `template` is required',
        },
      ),
    ),
  },
  { description: 'Messenger message sent when the text is not delivered' },
)
export type FallbackContent = Static<typeof Fallback>

/** The job that decides whether a text goes on. */
export const smsFallback = {
  lane: 'sms.fallback',
  payload: Type.Object({ message: Type.String(), isDue: Nullable(Type.Boolean()) }),
}

/** Looks when the time is up that the text was given. */
export function fallbackTimer(
  app: App,
  tenant: Tenant,
  message: string,
  { after }: FallbackContent,
  validitySeconds: number,
  delayMs: number,
): NewJob {
  const waitMs = (after ?? validitySeconds + graceSeconds) * 1000
  return app.work.prepare(smsFallback, tenant, { message, isDue: after !== undefined }, { delayMs: delayMs + waitMs })
}

interface FallbackRow {
  content: FallbackContent | null
  went_on_as: string | null
  recipient: string
  status: string
  error_code: string | null
  request_id: string | null
  clock_offset_ms: bigint
  currency: string
}

type OneText = Tenant & { message: string }

const find = statement.tenant<OneText, FallbackRow>(
  'sms.find_fallback',
  `select f.content, f.went_on_as, m.recipient, m.status, m.error_code, m.request_id,
          accounts.clock_offset_ms(m.account_id, m.environment) as clock_offset_ms, accounts.currency_of(m.account_id) as currency
     from sms.fallbacks f
     join sms.messages m on m.bucket = f.bucket and m.account_id = f.account_id and m.environment = f.environment and m.id = f.message_id
    where f.bucket = $bucket and f.account_id = $account and f.environment = $environment and f.message_id = $message`,
)

const finish = statement.tenant<OneText & { wentOnAs: string | null }, object>(
  'sms.finish_fallback',
  `update sms.fallbacks set content = null, went_on_as = $wentOnAs
    where bucket = $bucket and account_id = $account and environment = $environment and message_id = $message`,
)

/** Fallback of a text, once decided; `later` while the text may still arrive. */
export async function fallbackOf(
  app: App,
  tenant: Tenant,
  message: string,
  isDue: boolean,
): Promise<(FallbackRow & { content: FallbackContent }) | 'later' | null> {
  const row = await maybe(app.db.query(find, { ...tenant, message }))
  const { content = null } = row ?? {}
  if (!row || content === null) return null
  const isUndecided = row.status === 'queued' || row.status === 'sent'
  if (isUndecided && !isDue) return 'later'
  return row.status === 'delivered' || row.error_code === 'CANCELLED' ? null : { ...row, content }
}

/** Ends the fallback of a text: its content is deleted. */
export async function finishFallback(
  app: App,
  tenant: Tenant,
  message: string,
  wentOnAs: string | null,
): Promise<void> {
  await app.db.query(finish, { ...tenant, message, wentOnAs })
}

/** Has a text that failed be looked at now. Its timer is there all the same, should this node die first. */
export async function goOn(app: App, tenant: Tenant, message: string): Promise<void> {
  const row = await maybe(app.db.query(find, { ...tenant, message }))
  if (row?.content == null) return
  const job = app.work.prepare(smsFallback, tenant, { message, isDue: false })
  await app.db.tx(tenant, async (tx) => {
    await app.work.add(tx, job)
    tx.afterCommit(() => app.work.begin(job))
  })
}

const wentOnAs = statement.tenant<OneText, { went_on_as: string | null }>(
  'sms.went_on_as',
  `select went_on_as from sms.fallbacks
    where bucket = $bucket and account_id = $account and environment = $environment and message_id = $message`,
)

/** The message that a text became elsewhere; undefined where it was not to go on. */
export async function fallbackMessageOf(app: App, tenant: Tenant, message: string): Promise<string | null | undefined> {
  return (await maybe(app.db.query(wentOnAs, { ...tenant, message })))?.went_on_as
}
