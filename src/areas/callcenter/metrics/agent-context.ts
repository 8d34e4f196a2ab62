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
  const knows = (phone: string) => isKnownTo(app, tenant, agent, phone, nowMs)
  const contactOf = (call: string | null) =>
    call === null ? null : maybe(app.db.query(contactOfCall, { ...tenant, call }))
  const current = await contactOf(agent.call_id)
  const asked = query.call_id === undefined ? current : await contactOf(uuidOf('call', query.call_id))
  // An agent alone sees calls of those with whom they have a call, or had one within a day.
  const isAlone = agentOf(caller) !== null
  const isShown = !isAlone || asked?.id === current?.id || (asked !== null && (await knows(customerOf(asked))))
  const contact = isShown ? asked : null
  if (query.call_id !== undefined && !contact)
    throw new AppError('NOT_FOUND', 'there is no such call of the call centre; ids of calls begin with call_')
  const phone = query.phone ?? (contact && customerOf(contact))
  if (phone !== null && !isE164(phone)) throw new AppError('NOT_FOUND', 'phone is not E.164, such as +254711000001')
  const isAtDesk = deskAgentOf(caller) === agent.agent_id
  const isCurrent = current !== null && customerOf(current) === phone
  const isTheirs = phone !== null && isAtDesk && (isCurrent || (await knows(phone)))
  // Of others an agent learns nothing; whoever is no agent learns what their scopes say.
  const known = isAlone && !isTheirs ? null : phone
  const mayRead = (scope: string) => isTheirs || (!isAlone && allows(principal.scopes, scope))
  // Callers who withhold their numbers are different people: none has the history of another.
  const past =
    known === null || known === withheldNumber
      ? []
      : await app.db.query(contactsOfCaller, { ...tenant, phone: known, limit: maxNotes })
  const profile = known !== null && mayRead('customers:read') ? await profileOf(app, tenant, known) : null
  // A call says nothing of a number that is not in it.
  const own = contact && customerOf(contact) === phone ? contact : null
  const customer = phone === null ? null : customerShown(phone, own, profile)
  // An agent may write any address into the data of a call: what it has is shown where it is that of the customer record.
  const email = (isTheirs || isAlone ? profile?.email : customer?.email) ?? null
  return {
    agent_id: agent.agent_id,
    status: agent.status,
    call: contact && callShown(contact, nowMs),
    customer,
    history: {
      calls: past.slice(0, maxCalls).map(callBefore),
      ...(await elsewhere(app, tenant, { phone: known, email }, mayRead)),
    },
    notes: past.flatMap(({ notes, agent_id, ended_at, entered_at }) =>
      notes === null ? [] : [{ text: notes, agent_id, created_at: ended_at ?? entered_at }],
    ),
  }
}

/** Whether an agent has a call with a number, or had one within the last day. Behind a withheld one may be anybody. */
async function isKnownTo(
  app: App,
  tenant: Tenant,
  { agent_id: agent }: AgentRow,
  phone: string,
  nowMs: number,
): Promise<boolean> {
  if (phone === withheldNumber) return false
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
