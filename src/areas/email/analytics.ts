// SPDX-License-Identifier: Apache-2.0
// Email statistics per recipient by the day of acceptance, and the feed of events. Both require a webhook that receives
// email events, as specified.

import { type Static, Type } from 'typebox'
import { AppError } from '../../kernel/errors.ts'
import { firstUuidAt, idOf } from '../../kernel/ids.ts'
import { dayMs, dayOf } from '../../kernel/time.ts'
import { list, read } from '../../platform/api/route.ts'
import type { App } from '../../platform/app.ts'
import type { Caller } from '../../platform/auth.ts'
import { maybe, statement } from '../../platform/db.ts'
import { actionOf, listEvents } from '../../platform/events.ts'
import { listQuery, Nullable, OneOf } from '../../platform/schema/fields.ts'
import { pageOf, shownBetween, shownBounds, timeWindow, windowOf } from '../../platform/schema/lists.ts'
import type { Tenant } from '../../platform/tenant.ts'
import { emailEvents } from './events.ts'
import { requireMessage } from './read.ts'
import { MessageParam } from './schema.ts'

const maxDays = 366
const groups = ['day', 'hour', 'tag', 'template', 'domain', 'bulk_id'] as const
const count = (description: string) => Type.Integer({ description })

const figures = {
  sent: count('Recipients with a delivery attempt'),
  delivered: count('Recipients whose server accepted it'),
  opened: count('Recipients who opened it at least once'),
  clicked: count('Recipients who followed a link'),
  bounced: count('Recipients whose message bounced'),
  complained: count('Recipients who reported it as spam'),
  unsubscribed: count('Recipients who unsubscribed through it'),
  deferred: count('Recipients whose server asked to try again later'),
  failed: count('Recipients not reached for another reason'),
  machine_opens: count('Recipients for whom a scanner or a prefetching mail client opened it'),
  deliverability_rate: Type.Number({ description: 'Percent of sent that were delivered; 0 when none were sent' }),
  open_rate: Type.Number({ description: 'Percent of delivered that were opened; 0 when none were delivered' }),
  click_rate: Type.Number({ description: 'Percent of delivered with a click; 0 when none were delivered' }),
}

const Analytics = Type.Object(
  {
    ...figures,
    from: Type.String({ description: 'First day, UTC' }),
    to: Type.String({ description: 'Last day, UTC' }),
    series: Type.Array(
      Type.Object({
        key: Nullable(
          Type.String({
            description:
              'Value of the group: the day, hour, tag, template, domain or bulk; null for messages that have none',
          }),
        ),
        ...figures,
      }),
      { description: 'Figures by day, tag and so on, as set by `group_by`; empty without it' },
    ),
  },
  { title: 'EmailAnalytics' },
)

interface Counts {
  key: string | null
  sent: number
  delivered: number
  opened: number
  clicked: number
  bounced: number
  complained: number
  unsubscribed: number
  deferred: number
  failed: number
  machine_opens: number
}

const figuresOf = statement.tenant<
  Tenant & {
    from: string
    to: string
    since: Date | null
    until: Date | null
    tag: string | null
    stream: string | null
    group: string | null
  },
  Counts
>(
  'email.figures',
  `select case $group::text
            when 'day' then to_char(m.created_at at time zone 'UTC', 'YYYY-MM-DD')
            when 'hour' then to_char(m.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:00:00"Z"')
            when 'tag' then g.tag when 'template' then m.template when 'domain' then split_part(r.email, '@', 2)
            when 'bulk_id' then m.bulk_id::text end as key,
          count(*) filter (where r.sent_at is not null)::int as sent,
          count(*) filter (where r.delivered_at is not null)::int as delivered,
          count(*) filter (where r.opened_at is not null)::int as opened,
          count(*) filter (where r.clicked_at is not null)::int as clicked,
          count(*) filter (where r.status = 'bounced')::int as bounced,
          count(*) filter (where r.complained_at is not null)::int as complained,
          count(*) filter (where r.unsubscribed_at is not null)::int as unsubscribed,
          count(*) filter (where r.deferred)::int as deferred,
          count(*) filter (where r.status = 'failed')::int as failed,
          coalesce(sum(least(r.machine_opens, 1)), 0)::int as machine_opens
     from email.messages m
     join email.recipients r on r.bucket = m.bucket and r.account_id = m.account_id and r.environment = m.environment and r.message_id = m.id
     left join lateral unnest(case when $group = 'tag' then m.tags end) as g(tag) on true
    where m.bucket = $bucket and m.account_id = $account and m.environment = $environment and m.id >= $from and m.id < $to
      and r.bucket = $bucket and r.account_id = $account and r.environment = $environment and r.message_id >= $from and r.message_id < $to
      and ($since::timestamptz is null or m.created_at >= $since) and ($until::timestamptz is null or m.created_at < $until)
      and ($tag::text is null or $tag = any(m.tags)) and ($stream::text is null or m.stream = $stream)
    group by 1 order by 1`,
  { mayBeLate: true },
)

function percent(part: number, whole: number): number {
  return whole === 0 ? 0 : Math.round((part / whole) * 10_000) / 100
}

function withRates(counts: Counts) {
  const { sent, delivered, opened, clicked } = counts
  return {
    ...counts,
    deliverability_rate: percent(delivered, sent),
    open_rate: percent(opened, delivered),
    click_rate: percent(clicked, delivered),
  }
}

const none: Counts = {
  key: null,
  sent: 0,
  delivered: 0,
  opened: 0,
  clicked: 0,
  bounced: 0,
  complained: 0,
  unsubscribed: 0,
  deferred: 0,
  failed: 0,
  machine_opens: 0,
}

interface Query {
  from?: string
  to?: string
  group_by?: (typeof groups)[number]
  tag?: string
  stream?: 'transactional' | 'bulk'
}

async function analytics(app: App, query: Query, caller: Caller): Promise<Static<typeof Analytics>> {
  const { from = dayOf(new Date(caller.nowMs - 29 * dayMs)), to = dayOf(new Date(caller.nowMs)) } = query
  const bounds = shownBounds({ start_date: from, end_date: to }, caller, ['from', 'to'])
  if (bounds.since && bounds.until && bounds.until.getTime() - bounds.since.getTime() > maxDays * dayMs)
    throw new AppError('INVALID_DATE_RANGE', `from and to are more than ${maxDays} days apart`)
  await requireHearing(app, caller.tenant)
  const ask = (group: string | null) =>
    app.db.query(figuresOf, {
      ...caller.tenant,
      ...bounds,
      tag: query.tag ?? null,
      stream: query.stream ?? null,
      group,
    })
  const [total = none] = await ask(null)
  const series = query.group_by === undefined ? [] : await ask(query.group_by)
  const { key: _, ...totals } = withRates(total)
  const keyOf = (key: string | null) => (key !== null && query.group_by === 'bulk_id' ? idOf('emailBulk', key) : key)
  return { ...totals, from, to, series: series.map((one) => ({ ...withRates(one), key: keyOf(one.key) })) }
}

const hearing = statement.tenant<Tenant & { names: readonly string[] }, { id: string }>(
  'email.endpoint_that_hears',
  'select webhooks.endpoint_that_hears($bucket::smallint, $account::uuid, $environment::text, $names::text[]) as id',
)

const names = [
  ...new Set(['*', 'email.*', ...Object.values(emailEvents).flatMap(({ name, aliases = [] }) => [name, ...aliases])]),
]

/** Requires a webhook that receives the account's email events. */
async function requireHearing(app: App, tenant: Tenant): Promise<void> {
  const row = await maybe(app.db.query(hearing, { ...tenant, names }))
  if (!row?.id) throw new AppError('WEBHOOK_NOT_CONFIGURED', 'no webhook URL is set for the account')
}

const getAnalytics = read({
  method: 'GET',
  path: '/v1/email/analytics',
  operation: 'email.analytics',
  summary: 'Get email statistics',
  scope: 'email:read',
  query: Type.Object({
    from: Type.Optional(Type.String({ maxLength: 40, description: 'First day, UTC: YYYY-MM-DD; default 29 days ago' })),
    to: Type.Optional(
      Type.String({
        maxLength: 40,
        description: 'Last day, UTC, inclusive: YYYY-MM-DD; default today. At most 366 days in all',
      }),
    ),
    group_by: Type.Optional(
      OneOf(groups, { description: 'Grouping of `series`: by day, hour, tag and so on; default none' }),
    ),
    tag: Type.Optional(Type.String({ maxLength: 64, description: 'Filter by tag of the messages' })),
    stream: Type.Optional(
      OneOf(['transactional', 'bulk'], {
        description:
          'Filter by stream: mail that recipients can unsubscribe from (`bulk`), or other mail; default both',
      }),
    ),
  }),
  reply: { status: 200, schema: Analytics },
  errors: ['INVALID_DATE_RANGE', 'WEBHOOK_NOT_CONFIGURED'],
  handle: (app, { query }, caller) => analytics(app, query, caller),
})

const EmailEventRow = Type.Object(
  {
    id: Type.String({ description: 'Id of the event, such as `evt_…`' }),
    event: Type.String({ description: 'Kind of event, such as `delivered`: the `event` of the payload' }),
    payload: Type.Record(Type.String(), Type.Unknown(), { description: 'Payload that webhooks receive' }),
  },
  { title: 'EmailEvent' },
)

const nameable = Object.values(emailEvents).filter(({ name }) => !/bulk_completed|domain_/.test(name))
/** Each change once. */
const perMessage = nameable.filter(({ within }) => within === undefined)

function eventRow({ id, type, body }: { id: string; type: string; body: string }): Static<typeof EmailEventRow> {
  const payload: Record<string, unknown> = JSON.parse(body)
  return { id: idOf('event', id), event: actionOf(type), payload }
}

const listEventsOfAll = list({
  path: '/v1/email/events',
  operation: 'email.listEvents',
  summary: 'List email events',
  scope: 'email:read',
  query: Type.Object({
    ...listQuery,
    event: Type.Optional(
      OneOf(
        nameable.map(({ name }) => actionOf(name)),
        { description: 'Kind of event, without the `email.` of the event’s name' },
      ),
    ),
    tag: Type.Optional(Type.String({ maxLength: 64, description: 'Filter by tag of the message' })),
    from: Type.Optional(Type.String({ maxLength: 40, description: 'First day, or an RFC 3339 time' })),
    to: Type.Optional(Type.String({ maxLength: 40, description: 'Last day, or an RFC 3339 time' })),
  }),
  row: EmailEventRow,
  errors: ['INVALID_DATE_RANGE', 'WEBHOOK_NOT_CONFIGURED'],
  handle: async (app, { query }, caller) => {
    const bounds = shownBetween(timeWindow(query), caller)
    await requireHearing(app, caller.tenant)
    const window = windowOf(query)
    const types = query.event === undefined ? perMessage.map(({ name }) => name) : [`email.${query.event}`]
    return pageOf(
      window,
      await listEvents(app.db, caller.tenant, window, {
        ...bounds,
        types,
        twins: [],
        resource: null,
        ...(query.tag === undefined ? {} : { tag: query.tag }),
      }),
      eventRow,
    )
  },
})

const listEventsOfOne = list({
  path: '/v1/email/:message_id/events',
  needs: { operation: 'email.send', id: 'message_id' },
  operation: 'email.listMessageEvents',
  summary: 'List the events of an email',
  scope: 'email:read',
  params: MessageParam,
  query: Type.Object(listQuery),
  row: EmailEventRow,
  errors: ['NOT_FOUND', 'WEBHOOK_NOT_CONFIGURED'],
  handle: async (app, { params, query }, caller) => {
    await requireHearing(app, caller.tenant)
    const { id } = await requireMessage(app, params.message_id, caller)
    const window = windowOf(query)
    const bounds = { from: firstUuidAt(0), to: 'ffffffff-ffff-ffff-ffff-ffffffffffff', since: null, until: null }
    const filter = { ...bounds, types: perMessage.map(({ name }) => name), twins: [], resource: idOf('email', id) }
    return pageOf(window, await listEvents(app.db, caller.tenant, window, filter), eventRow)
  },
})

export const analyticsRoutes = [getAnalytics, listEventsOfAll, listEventsOfOne]
