// SPDX-License-Identifier: Apache-2.0
// Conversation with a customer: what a message, a reply and a member's decision make of it.

import type { Tenant } from '../../../platform/tenant.ts'
import type { ConversationRow, Saved, StoredConversation } from './store.ts'

/** Characters of the last message that a list shows. */
const maxShown = 200

/** Message that arrived. */
export interface Arrived {
  readonly channel: NonNullable<StoredConversation['channel']>
  readonly address: string
  readonly line: string
  readonly text: string | null
  readonly at: Date
  /** UUID that orders conversations by their last message. */
  readonly place: string
}

/** Conversation that begins with a customer, in which nothing was said yet. */
export function begun(id: string, customer: { id: string } & Names, place: string, at: Date): ConversationRow {
  const { name, phones, emails } = customer
  return {
    ...{
      id,
      customer_id: customer.id,
      state: 'open',
      assignee: null,
      unread: 0,
      channel: null,
      address: null,
      line: null,
    },
    ...{ place, last_text: null, last_direction: null, last_at: null, waiting_since: null, snoozed_until: null },
    ...{ created_at: at, updated_at: at, name, phone: phones[0] ?? null, email: emails[0] ?? null },
  }
}

interface Names {
  readonly name: string | null
  readonly phones: readonly string[]
  readonly emails: readonly string[]
}

/** Conversation after the customer wrote: open, whatever it was before. */
export function received(row: ConversationRow, { text, at, ...arrived }: Arrived): ConversationRow {
  return {
    ...{ ...row, ...arrived, state: 'open', snoozed_until: null, unread: row.unread + 1 },
    ...{ last_text: shortened(text), last_direction: 'inbound', last_at: at },
    ...{ waiting_since: row.waiting_since ?? at, updated_at: at },
  }
}

/** Conversation after the account wrote: read, and waiting for nothing. A snoozed one stays so. */
export function replied(
  row: ConversationRow,
  { text, at, place }: Pick<Arrived, 'text' | 'at' | 'place'>,
): ConversationRow {
  return {
    ...{ ...row, place, state: row.state === 'closed' ? 'open' : row.state, unread: 0, waiting_since: null },
    ...{ last_text: shortened(text), last_direction: 'outbound', last_at: at, updated_at: at },
  }
}

/** Conversation of two customers that became one: the newer words, and open if one was. */
export function joined(some: ConversationRow, other: ConversationRow): ConversationRow {
  const [newer, older] = some.place > other.place ? [some, other] : [other, some]
  return {
    ...{ ...newer, id: some.id, assignee: newer.assignee ?? older.assignee, unread: some.unread + other.unread },
    state: [some.state, other.state].includes('open') ? 'open' : newer.state,
    waiting_since: newer.waiting_since ?? older.waiting_since,
  }
}

function shortened(text: string | null): string | null {
  return text === null ? null : [...text].slice(0, maxShown).join('')
}

/** Parameters that store a conversation. */
export function saved(tenant: Tenant, row: StoredConversation): Saved {
  const { id, customer_id: customer, state, assignee, unread, channel, address, line, place } = row
  return {
    ...{ ...tenant, id, customer, state, assignee, unread, channel, address, line, place },
    ...{ lastText: row.last_text, lastDirection: row.last_direction, lastAt: row.last_at },
    ...{ waitingSince: row.waiting_since, snoozedUntil: row.snoozed_until },
    ...{ createdAt: row.created_at, updatedAt: row.updated_at },
  }
}
