// SPDX-License-Identifier: Apache-2.0
// Changes of conversations by members and programs: begin, assign, snooze, close, open, read. Each says what it did to whoever asked and,
// where others want to know, by an event.
import { AppError, invalid } from '../../../kernel/errors.ts'
import { idOf, newUuid, uuidOf } from '../../../kernel/ids.ts'
import { dayMs, parseMoment } from '../../../kernel/time.ts'
import { record } from '../../../platform/api/audit.ts'
import type { App } from '../../../platform/app.ts'
import type { Dealing } from '../../../platform/auth/dealings.ts'
import { allows } from '../../../platform/auth/scopes.ts'
import type { Caller } from '../../../platform/auth.ts'
import { maybe, one, type Queryable, statement, type Tx } from '../../../platform/db.ts'
import type { Occasion } from '../../../platform/events.ts'
import type { MergeCustomers } from '../../../platform/operator/history.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import { lockedCustomer } from '../change.ts'
import { begun, joined, saved } from './conversation.ts'
import { conversationEvents } from './events.ts'
import { shownOf } from './schema.ts'
import {
  type ConversationRow,
  conversationsOf,
  findConversation,
  hasConversation,
  lockBeginnings,
  lockConversation,
  moveReplies,
  removeConversation,
  saveConversation,
} from './store.ts'
import { wakeJob } from './wake-job.ts'

const maxSnoozeDays = 365

const isMember = statement.home<{ account: string; member: string }, { known: boolean }>(
  'customers.is_member',
  'select accounts.is_member($account::uuid, $member::uuid) as known',
)

/** Member whose conversations are all that a caller may use; null for a caller who may use each. Throws FORBIDDEN to a key. */
export function limitedTo({ principal }: Caller): string | null {
  if (allows(principal.scopes, 'conversations:read')) return null
  const member = principal.signedInAtMs === null ? null : uuidOf('member', principal.actor.slice('member:'.length))
  if (member === null)
    throw new AppError('FORBIDDEN', 'conversations are assigned to members: this key has none', {
      extra: { required_scope: 'conversations:read' },
    })
  return member
}

/** Numbers of conversations that are assigned to a member, or of all for a member who may read all. */
export const ownConversations: Dealing = async (db, { tenant, member, scopes }, phone) => {
  const only = allows(scopes, 'conversations:read') ? null : member
  return (await one(db.query(hasConversation, { ...tenant, member: only, phone }))).known
}

/** Conversation that the caller may use, by its id. Throws NOT_FOUND. */
export async function conversationWith(queryable: Queryable, caller: Caller, id: string): Promise<ConversationRow> {
  return ownOf(caller, await read(queryable, caller.tenant, id, findConversation))
}

/** Locks a conversation that the caller may use, by its id. Throws NOT_FOUND. */
export async function lockedConversation(tx: Tx, caller: Caller, id: string): Promise<ConversationRow> {
  return ownOf(caller, await read(tx, caller.tenant, id, lockConversation))
}

/** Locks a conversation whoever it is assigned to. Throws NOT_FOUND. */
export async function anyConversation(tx: Tx, tenant: Tenant, id: string): Promise<ConversationRow> {
  return read(tx, tenant, id, lockConversation)
}

function ownOf(caller: Caller, row: ConversationRow): ConversationRow {
  const member = limitedTo(caller)
  if (member !== null && row.assignee !== member) throw notThere()
  return row
}

const notThere = () => new AppError('NOT_FOUND', 'there is no such conversation; their ids begin with conv_')

async function read(
  queryable: Queryable,
  tenant: Tenant,
  id: string,
  statement: typeof findConversation,
): Promise<ConversationRow> {
  const uuid = uuidOf('conversation', id)
  const row = uuid === null ? null : await maybe(queryable.query(statement, { ...tenant, id: uuid }))
  if (row === null) throw notThere()
  return row
}

/** Begins a conversation with a customer, or finds the one there is. */
export async function beginConversation(
  app: App,
  tx: Tx,
  caller: Caller,
  customerId: string,
): Promise<{ row: ConversationRow; isNew: boolean }> {
  const { tenant, receivedMs, nowMs } = caller
  await tx.query(lockBeginnings, tenant)
  const customer = await lockedCustomer(tx, tenant, customerId)
  const there = await maybe(tx.query(conversationsOf, { ...tenant, customers: [customer.id] }))
  if (there) return { row: there, isNew: false }
  const row = begun(newUuid(receivedMs), customer, newUuid(receivedMs), new Date(nowMs))
  await tx.query(saveConversation, saved(tenant, row))
  await tellOpened(app, tx, caller, row, 'request')
  return { row, isNew: true }
}

/** Gives a conversation to a member of the account, or to nobody. */
export async function assign(
  app: App,
  tx: Tx,
  caller: Caller,
  id: string,
  member: string | null,
): Promise<ConversationRow> {
  const assignee = member === null ? null : await memberOf(tx, caller, member)
  const before = await lockedConversation(tx, caller, id)
  if (before.assignee === assignee) return before
  const row = await save(tx, caller, { ...before, assignee })
  await record(tx, caller, 'conversation.assign', id, { after: { member_id: member } })
  await app.outbox.emit(tx, conversationEvents.assigned, caller, id, { conversation: shownOf(row) })
  return row
}

async function memberOf(tx: Tx, { tenant }: Caller, id: string): Promise<string> {
  const member = uuidOf('member', id)
  const isKnown = member !== null && (await one(tx.query(isMember, { account: tenant.account, member }))).known
  if (!isKnown) throw invalid('member_id', 'must be a member of the account who can sign in, such as mbr_…')
  return member
}

/** Puts a conversation aside until a time; the job opens it again. */
export async function snooze(app: App, tx: Tx, caller: Caller, id: string, until: string): Promise<ConversationRow> {
  const { tenant, nowMs } = caller
  const at = parseMoment(until)
  if (at === null || at.getTime() <= nowMs || at.getTime() > nowMs + maxSnoozeDays * dayMs)
    throw invalid('until', `must be in the future, within ${maxSnoozeDays} days`)
  const before = await lockedConversation(tx, caller, id)
  const row = await save(tx, caller, { ...before, state: 'snoozed', snoozed_until: at })
  const job = app.work.prepare(
    wakeJob,
    tenant,
    { conversation: row.id, until: at.getTime() },
    { delayMs: at.getTime() - nowMs },
  )
  await app.work.add(tx, job)
  tx.afterCommit(() => app.work.begin(job))
  return row
}

/** Closes a conversation; what the customer writes next opens it again. */
export async function close(app: App, tx: Tx, caller: Caller, id: string): Promise<ConversationRow> {
  const before = await lockedConversation(tx, caller, id)
  if (before.state === 'closed') return before
  const row = await save(tx, caller, {
    ...{ ...before, state: 'closed', snoozed_until: null, unread: 0, waiting_since: null },
  })
  await app.outbox.emit(tx, conversationEvents.closed, caller, id, { conversation: shownOf(row) })
  return row
}

/** Opens a closed or snoozed conversation. */
export async function open(app: App, tx: Tx, caller: Caller, id: string): Promise<ConversationRow> {
  const before = await lockedConversation(tx, caller, id)
  if (before.state === 'open') return before
  const row = await save(tx, caller, { ...before, state: 'open', snoozed_until: null })
  await tellOpened(app, tx, caller, row, 'request')
  return row
}

/** Notes that the messages of a conversation were read. */
export async function markRead(tx: Tx, caller: Caller, id: string): Promise<ConversationRow> {
  const before = await lockedConversation(tx, caller, id)
  return before.unread === 0 ? before : save(tx, caller, { ...before, unread: 0 })
}

/** Opens a conversation whose snooze ended, unless it was opened, closed or snoozed anew since. */
export async function wake(
  app: App,
  tx: Tx,
  occasion: Occasion,
  conversation: string,
  until: number,
): Promise<'woken' | 'moved' | 'early'> {
  const { tenant, nowMs } = occasion
  const before = await maybe(tx.query(lockConversation, { ...tenant, id: conversation }))
  if (before?.state !== 'snoozed' || before.snoozed_until?.getTime() !== until) return 'moved'
  if (until > nowMs) return 'early'
  const row = await save(tx, occasion, { ...before, state: 'open', snoozed_until: null })
  await tellOpened(app, tx, occasion, row, 'snooze_ended')
  return 'woken'
}

async function tellOpened(
  app: App,
  tx: Tx,
  occasion: Occasion,
  row: ConversationRow,
  reason: 'request' | 'snooze_ended',
): Promise<void> {
  const id = idOf('conversation', row.id)
  await app.outbox.emit(tx, conversationEvents.opened, occasion, id, { conversation: shownOf(row), reason })
}

async function save(
  tx: Tx,
  { tenant, nowMs }: Pick<Occasion, 'tenant' | 'nowMs'>,
  row: ConversationRow,
): Promise<ConversationRow> {
  const changed = { ...row, updated_at: new Date(nowMs) }
  await tx.query(saveConversation, saved(tenant, changed))
  return changed
}

/** Moves the conversation of a customer to another, who may have one already. */
export const mergeConversations: MergeCustomers = async (tx, tenant, { from, into }) => {
  await tx.query(lockBeginnings, tenant)
  const rows = await tx.query(conversationsOf, { ...tenant, customers: [from, into] })
  const moving = rows.find((row) => row.customer_id === from)
  const staying = rows.find((row) => row.customer_id === into)
  if (!moving) return
  if (!staying) return void (await tx.query(saveConversation, saved(tenant, { ...moving, customer_id: into })))
  await tx.query(removeConversation, { ...tenant, id: moving.id })
  await tx.query(moveReplies, { ...tenant, from: moving.id, into: staying.id })
  await tx.query(saveConversation, saved(tenant, { ...joined(staying, moving), customer_id: into }))
}
