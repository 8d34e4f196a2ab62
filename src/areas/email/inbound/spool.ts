// SPDX-License-Identifier: Apache-2.0
// Queue of recipients' actions (opens, clicks): the reader is answered at once, and actions are buffered, within a
// limit, while the database is unavailable. A crash loses the buffer only.
import { newUuid } from '../../../kernel/ids.ts'
import type { App } from '../../../platform/app.ts'
import { operation } from '../../../platform/commit.ts'
import { isUnavailable, maybe, statement } from '../../../platform/db.ts'
import { type NewEvent, occasionNow } from '../../../platform/events.ts'
import { onePerApp } from '../../../platform/program/one-per-app.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import { aboutOf, beginAll, eventsColumn, newsOf, type Told } from '../delivery/news.ts'
import { emailEvents } from '../events.ts'
import { clientOf, isMachine } from '../tracking/reader.ts'
import type { Recipient } from '../tracking/token.ts'

const maxKept = 100_000
const maxAtOnce = 32
const awayMs = 500

export type RecipientAction =
  | { kind: 'open'; userAgent: string | null; ip: string | null }
  | { kind: 'click'; link: number; url: string; userAgent: string | null; ip: string | null }
  | {
      kind: 'unsubscribe'
      source: 'one_click' | 'page' | 'mailto' | 'api'
      userAgent: string | null
      ip: string | null
    }
  | { kind: 'complain'; feedbackType: string; reporter: string | null }

interface Kept {
  readonly recipient: Recipient
  readonly action: RecipientAction
  readonly atMs: number
}

const track = operation.tenant(
  'email.track',
  {
    bucket: 'smallint',
    account: 'uuid',
    environment: 'text',
    message: 'uuid',
    number: 'smallint',
    kind: 'text',
    link: 'smallint',
    machine: 'boolean',
    at: 'timestamptz',
    suppression: 'uuid',
    address: 'text',
    detail: 'text',
    opened: 'jsonb',
    event: 'jsonb',
  },
  { opened_told: 'text', told: 'text' },
)

interface Row extends Told {
  delivered_at: Date | null
  clock_offset_ms: bigint
  request_id: string | null
}

const load = statement.tenant<Tenant & { message: string; number: number }, Row>(
  'email.load_tracked',
  `select m.id, r.email, m.bulk_id, m.tags, m.metadata, m.callback_url, m.request_id, r.delivered_at,
          accounts.clock_offset_ms(m.account_id, m.environment) as clock_offset_ms
     from email.messages m
     join email.recipients r on r.bucket = m.bucket and r.account_id = m.account_id and r.environment = m.environment
                            and r.message_id = m.id and r.number = $number
    where m.bucket = $bucket and m.account_id = $account and m.environment = $environment and m.id = $message`,
)

class Spool {
  readonly #app: App
  readonly #kept: Kept[] = []
  #running = 0

  constructor(app: App) {
    this.#app = app
  }

  /** Queues an action; false when the buffer is full and it is not counted. */
  add(recipient: Recipient, action: RecipientAction): boolean {
    if (this.#kept.length >= maxKept) return false
    this.#kept.push({ recipient, action, atMs: this.#app.clock.nowMs() })
    this.#pump()
    return true
  }

  #pump(): void {
    while (this.#running < maxAtOnce) {
      const next = this.#kept.shift()
      if (!next) return
      this.#running += 1
      void this.#store(next).finally(() => {
        this.#running -= 1
        this.#pump()
      })
    }
  }

  async #store(kept: Kept): Promise<void> {
    try {
      await storeAction(this.#app, kept.recipient, kept.action, kept.atMs)
    } catch (error) {
      if (!isUnavailable(error))
        return this.#app.log.error(
          { error },
          'opens and clicks not stored: they are retried; check the database if this repeats',
        )
      await new Promise((resolve) => setTimeout(resolve, awayMs))
      this.#kept.unshift(kept)
    }
  }
}

const spool = onePerApp((app) => new Spool(app))

/** Queues an action to be stored soon. */
export function note(app: App, recipient: Recipient, action: RecipientAction): void {
  if (!spool(app).add(recipient, action))
    app.log.warn(
      'opens and clicks dropped: the buffer is full because the database is slow or away; check the database',
    )
}

/** Stores an action; false when the recipient is unknown. */
export async function storeAction(
  app: App,
  { tenant, message, number }: Recipient,
  action: RecipientAction,
  atMs = app.clock.nowMs(),
): Promise<boolean> {
  const row = await maybe(app.db.query(load, { ...tenant, message, number }))
  if (!row) return false
  const occasion = { ...occasionNow(app.clock, tenant, row.clock_offset_ms), nowMs: atMs + Number(row.clock_offset_ms) }
  const machine =
    (action.kind === 'open' || action.kind === 'click') && isMachine(action.userAgent, occasion.nowMs, row.delivered_at)
  const opened =
    action.kind === 'open' || action.kind === 'click'
      ? newsOf(app, emailEvents.opened, occasion, row, openedPayload(row, action, machine))
      : null
  const events = action.kind === 'open' ? (opened ? [opened] : []) : eventsOf(app, occasion, row, action, machine)
  const { opened_told, told } = await app.commit(track, {
    bucket: tenant.bucket,
    account: tenant.account,
    environment: tenant.environment,
    message,
    number,
    kind: action.kind,
    link: action.kind === 'click' ? action.link : null,
    machine,
    at: new Date(occasion.nowMs),
    suppression: newUuid(occasion.receivedMs),
    address: row.email.toLowerCase(),
    detail: action.kind === 'complain' ? action.feedbackType : action.kind === 'unsubscribe' ? action.source : null,
    opened: opened && eventsColumn([opened]),
    event: events.length === 0 ? null : eventsColumn(events),
  })
  if (opened && opened_told !== null) app.outbox.begin(opened, opened_told || null)
  beginAll(app, events, told)
  return true
}

function openedPayload(row: Row, { userAgent, ip }: { userAgent: string | null; ip: string | null }, machine: boolean) {
  return { ...aboutOf(row), user_agent: userAgent, ip, machine, client: clientOf(userAgent), country: null }
}

function eventsOf(
  app: App,
  occasion: Parameters<typeof newsOf>[2],
  row: Row,
  action: Exclude<RecipientAction, { kind: 'open' }>,
  machine: boolean,
): NewEvent[] {
  const about = aboutOf(row)
  switch (action.kind) {
    case 'click':
      return [
        newsOf(app, emailEvents.clicked, occasion, row, {
          ...about,
          url: action.url,
          user_agent: action.userAgent,
          ip: action.ip,
          link_index: action.link,
          machine,
        }),
      ]
    case 'unsubscribe':
      return [
        newsOf(app, emailEvents.unsubscribed, occasion, row, {
          ...about,
          user_agent: action.userAgent,
          ip: action.ip,
          source: action.source,
        }),
      ]
    case 'complain': {
      const said = { ...about, feedback_type: action.feedbackType, reporter: action.reporter }
      return [
        newsOf(app, emailEvents.complained, occasion, row, said),
        // Its other name has subscribers of its own, and no callback_url.
        newsOf(app, emailEvents.spam, occasion, { ...row, callback_url: null }, said),
      ]
    }
  }
}
