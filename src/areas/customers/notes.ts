// SPDX-License-Identifier: Apache-2.0
// Notes about customers, which only the account reads.
import { Type } from 'typebox'
import { refuseCardNumbers } from '../../kernel/card.ts'
import { idOf, newUuid } from '../../kernel/ids.ts'
import { write } from '../../platform/api/route.ts'
import type { Caller } from '../../platform/auth.ts'
import { statement, type Tx } from '../../platform/db.ts'
import { history } from '../../platform/operator/history.ts'
import { At } from '../../platform/schema/fields.ts'
import { mine, type Tenant } from '../../platform/tenant.ts'
import { lockedCustomer } from './change.ts'
import { CustomerParam } from './schema.ts'

const insertNote = statement.tenant<
  Tenant & { customer: string; id: string; author: string; body: string; at: Date },
  object
>(
  'customers.insert_note',
  `insert into customers.notes (bucket, account_id, environment, customer_id, id, author, body, created_at)
   values ($bucket, $account, $environment, $customer, $id, $author, $body, $at)`,
)

const move = statement.tenant<Tenant & { from: string; into: string }, object>(
  'customers.move_notes',
  `update customers.notes set customer_id = $into where ${mine} and customer_id = $from`,
)

/** Moves the notes of a customer to another. */
export async function moveNotes(tx: Tx, tenant: Tenant, from: string, into: string): Promise<void> {
  await tx.query(move, { ...tenant, from, into })
}

export const noteHistory = history({
  ...{
    name: 'customer_notes',
    kind: 'note',
    scope: 'customers:read',
    from: 'customers.notes t',
    id: 't.id',
    order: 't.id',
  },
  ...{ status: `'written'`, createdAt: 't.created_at', title: 't.body', text: 't.body', author: 't.author' },
  by: [{ column: 't.customer_id', knownBy: 'customers', prefix: 'customerNote' }],
})

const Note = Type.Object(
  {
    id: Type.String({ description: 'Id of the note, such as `note_…`' }),
    customer_id: Type.String({ description: 'Customer of the note' }),
    author: Type.String({ description: 'Member or key that wrote it' }),
    text: Type.String({ description: 'Text of the note' }),
    created_at: At({ description: 'Time of writing' }),
  },
  { title: 'CustomerNote' },
)

export const NoteText = Type.String({
  minLength: 1,
  maxLength: 2_000,
  rule: 'must have 1 to 2,000 characters',
  sensitive: true,
  description: 'Text of the note',
})

/** Writes a note about a customer. */
export async function writeNote(tx: Tx, caller: Caller, customer: string, id: string, text: string): Promise<void> {
  refuseCardNumbers({ text })
  const { tenant, actor: author, nowMs } = caller
  await tx.query(insertNote, { ...tenant, customer, id, author, body: text, at: new Date(nowMs) })
}

export const addNote = write({
  method: 'POST',
  path: '/v1/customers/:customer_id/notes',
  operation: 'customers.addNote',
  summary: 'Add a note to a customer',
  description: 'Notes are listed in the timeline of the customer, and visible to the account only.',
  scope: 'customers:write',
  params: CustomerParam,
  body: Type.Object({ text: NoteText }),
  reply: { status: 201, schema: Note, location: ({ customer_id }) => `/v1/customers/${customer_id}/timeline` },
  errors: ['NOT_FOUND'],
  examples: [{ name: 'A note', body: { text: 'Prefers to be called in the morning' } }],
  handle: async (_app, tx, { params, body: { text } }, caller) => {
    const { tenant, actor: author, receivedMs, nowMs } = caller
    const { id: customer } = await lockedCustomer(tx, tenant, params.customer_id)
    const [id, at] = [newUuid(receivedMs), new Date(nowMs)]
    await writeNote(tx, caller, customer, id, text)
    return { id: idOf('customerNote', id), customer_id: idOf('customer', customer), author, text, created_at: at }
  },
})
