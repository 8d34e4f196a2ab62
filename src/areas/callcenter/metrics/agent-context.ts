// SPDX-License-Identifier: Apache-2.0
// Context of a call for the agent: the wait, the path through the menus, and the customer's history on all channels
// that emit events.
import { AppError } from '../../../kernel/errors.ts'
import { idOf, uuidOf } from '../../../kernel/ids.ts'
import { formatMicros } from '../../../kernel/money.ts'
import { isE164, withheldNumber } from '../../../kernel/phone.ts'
import { dayMs } from '../../../kernel/time.ts'
import type { App } from '../../../platform/app.ts'
import { allows } from '../../../platform/auth/scopes.ts'
import type { Caller } from '../../../platform/auth.ts'
import { maybe, one } from '../../../platform/db.ts'
import type { KnownAs } from '../../../platform/operator/history.ts'
import { type Profile, profileOf } from '../../../platform/operator/profile.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import { agentOf, deskAgentOf } from '../agent/login.ts'
import type { AgentRow } from '../agents/store.ts'
import { type ContactRow, contactOfCall, contactsOfCaller, hasCall } from '../contacts.ts'
import { waitMs } from './measure.ts'

const maxCalls = 10
const maxElsewhere = 5
const maxNotes = 20

interface ContextQuery {
  readonly call_id?: string
  readonly phone?: string
}

export async function contextOf(app: App, caller: Caller, agent: AgentRow, query: ContextQuery) {
  const { tenant, nowMs, principal } = caller
  const call = query.call_id === undefined ? agent.call_id : uuidOf('call', query.call_id)
  const contact = call === null ? null : await maybe(app.db.query(contactOfCall, { ...tenant, call }))
  if (query.call_id !== undefined && !contact)
    throw new AppError('NOT_FOUND', 'there is no such call of the call centre; ids of calls begin with call_')
  const phone = query.phone ?? (contact && customerOf(contact))
  if (phone !== null && !isE164(phone)) throw new AppError('NOT_FOUND', 'phone is not E.164, such as +254711000001')
  // Callers who withhold their numbers are different people: none has the history of another.
  const past =
    phone === null || phone === withheldNumber
      ? []
      : await app.db.query(contactsOfCaller, { ...tenant, phone, limit: maxNotes })
  const isAtDesk = deskAgentOf(caller) === agent.agent_id
  const isTheirs = phone !== null && isAtDesk && (await hasToDoWith(app, tenant, agent, phone, nowMs))
  // An agent alone knows more only of those with whom they have a call, or had one within a day; others what their scopes say.
  const mayRead = (scope: string) => isTheirs || (agentOf(caller) === null && allows(principal.scopes, scope))
  const profile = phone !== null && mayRead('customers:read') ? await profileOf(app, tenant, phone) : null
  // A call says nothing of a number that is not in it.
  const own = contact && customerOf(contact) === phone ? contact : null
  const customer = phone === null ? null : customerShown(phone, own, profile)
  // An agent may write any address into the data of a call: what it has is shown where it is that of the customer record.
  const email = (isTheirs || agentOf(caller) !== null ? profile?.email : customer?.email) ?? null
  return {
    agent_id: agent.agent_id,
    status: agent.status,
    call: contact && callShown(contact, nowMs),
    customer,
    history: {
      calls: past.slice(0, maxCalls).map(callBefore),
      ...(await elsewhere(app, tenant, { phone, email }, mayRead)),
    },
    notes: past.flatMap(({ notes, agent_id, ended_at, entered_at }) =>
      notes === null ? [] : [{ text: notes, agent_id, created_at: ended_at ?? entered_at }],
    ),
  }
}

/** Whether a number is that of the agent's call, ringing or live, or of one within the last day. */
async function hasToDoWith(
  app: App,
  tenant: Tenant,
  { agent_id: agent, call_id: call }: AgentRow,
  phone: string,
  nowMs: number,
): Promise<boolean> {
  const contact = call === null ? null : await maybe(app.db.query(contactOfCall, { ...tenant, call }))
  if (contact && customerOf(contact) === phone) return true
  const since = new Date(nowMs - dayMs)
  return (await one(app.db.query(hasCall, { ...tenant, agent, phone, since }))).known
}

/** Customer history on other channels, newest first; what the reader may not read is without contents. */
async function elsewhere(
  app: App,
  tenant: Tenant,
  { phone, email }: { phone: string | null; email: string | null },
  mayRead: (scope: string) => boolean,
) {
  const shown = { sms: [], messages: [], emails: [], payments: [], ussd_sessions: [], verifications: [] }
  if (phone === null) return shown
  const phones = phone === withheldNumber ? [] : [phone]
  const known: KnownAs = { phones, emails: email === null ? [] : [email.toLowerCase()], customers: [] }
  const found = await Promise.all(
    app.histories
      .filter(({ name }) => Object.hasOwn(shown, name))
      .map(async (one) => {
        const rows = await one.newest(app.db, tenant, known, maxElsewhere)
        return [one.name, rows.map((row) => pastShown(row, mayRead(one.scope)))] as const
      }),
  )
  return { ...shown, ...Object.fromEntries(found) }
}

type PastRow = Awaited<ReturnType<App['histories'][number]['newest']>>[number]

/** Messages to the customer are shown without their text: it may be a code that nobody else may know. */
function pastShown({ id, status, created_at, direction, title, text, amount, currency }: PastRow, isKnown: boolean) {
  const isSecret = text !== null && direction !== 'inbound'
  return {
    ...{ id, status, created_at, direction },
    title: isKnown && !isSecret ? title : null,
    amount: isKnown && amount !== null ? Number(formatMicros(amount)) : null,
    currency: isKnown ? currency : null,
  }
}

function customerOf({ direction, from_number, to_number }: ContactRow): string {
  return direction === 'inbound' ? from_number : to_number
}

function callShown(contact: ContactRow, nowMs: number) {
  return {
    call_id: idOf('call', contact.call_id),
    direction: contact.direction,
    from: contact.from_number,
    to: contact.to_number,
    queue_id: contact.queue_id === null ? null : idOf('queue', contact.queue_id),
    wait_seconds: Math.round(waitMs(contact, nowMs) / 1_000),
    ivr_path: contact.ivr_path,
    custom_data: contact.data,
  }
}

/** Customer of a call: menu variables and custom data may identify them, and come before the profile. */
function customerShown(phone: string, contact: ContactRow | null, profile: Profile | null) {
  const data = contact?.data ?? {}
  const text = (name: 'name' | 'email' | 'language') =>
    typeof data[name] === 'string' ? data[name] : (profile?.[name] ?? null)
  return {
    phone,
    name: text('name'),
    email: text('email'),
    language: text('language'),
    tags: [...new Set([...(profile?.tags ?? []), ...(contact?.tags ?? [])])],
    attributes: { ...profile?.attributes, ...data },
  }
}

function callBefore(contact: ContactRow) {
  return {
    call_id: idOf('call', contact.call_id),
    direction: contact.direction,
    queue_id: contact.queue_id === null ? null : idOf('queue', contact.queue_id),
    agent_id: contact.agent_id,
    outcome: contact.outcome,
    started_at: contact.entered_at,
    ended_at: contact.ended_at,
    disposition: contact.disposition,
  }
}
