// SPDX-License-Identifier: Apache-2.0
// Hearing of people: what they do makes them customers, and what they write opens their conversation. It follows the commit of the
// event and holds up nobody. The event is kept in customers.heard until it is noted, so that a node that is killed, or has too much
// to do, leaves it to the chore.
import { buckets, firstUuidAt, idOf, newUuid, timeOfUuid } from '../../../kernel/ids.ts'
import type { App } from '../../../platform/app.ts'
import type { Tx } from '../../../platform/db.ts'
import { findEvent, type NewEvent, type Occasion, type Person } from '../../../platform/events.ts'
import type { Chore } from '../../../platform/nodes/maintenance.ts'
import { type Tenant, tenantOf } from '../../../platform/tenant.ts'
import { addressOf, notePerson } from '../people.ts'
import { findCustomers, findOwners } from '../store.ts'
import { begun, received, saved } from './conversation.ts'
import { conversationEvents } from './events.ts'
import { shownOf } from './schema.ts'
import {
  type ConversationRow,
  conversationsOf,
  listHeard,
  lockBeginnings,
  saveConversation,
  takeHeard,
} from './store.ts'

/** Signs that may wait on this node; those beyond are left to the chore. */
const maxWaiting = 10_000
/** Signs of one account that are noted together. */
const maxTogether = 100
/** Age at which the chore takes what no node has noted. */
const leftMs = 15_000
const maxLeft = 500

/** Sign of a person: an event that tells of them. */
interface Sign {
  /** UUID of the event. */
  readonly event: string
  readonly at: Date
  readonly person: Person
}

/** Starts noting people; returns the stop function. */
export function hearPeople(app: App): () => Promise<void> {
  const lines = new Map<string, Sign[]>()
  const running = new Set<Promise<void>>()
  let waiting = 0
  const stop = app.outbox.onCommitted((tenant, event) => {
    const sign = signOf(event)
    if (sign === null || waiting >= maxWaiting) return
    waiting++
    const name = `${tenant.account} ${tenant.environment}`
    const line = lines.get(name)
    if (line) return void line.push(sign)
    const signs = [sign]
    lines.set(name, signs)
    const work = serve(tenant, name, signs).finally(() => running.delete(work))
    running.add(work)
  })
  return async () => {
    stop()
    await Promise.all(running)
  }

  async function serve(tenant: Tenant, name: string, signs: Sign[]): Promise<void> {
    while (signs.length > 0) {
      const together = signs.splice(0, maxTogether)
      await note(app, tenant, together).catch((error: unknown) =>
        app.log.warn(
          { err: error },
          'customers not created from contacts: the periodic task creates them; check the database if this repeats',
        ),
      )
      waiting -= together.length
    }
    lines.delete(name)
  }
}

function signOf({ row, nowMs, person }: NewEvent): Sign | null {
  return person && { event: row.id, at: new Date(nowMs), person }
}

/** Chore that notes what no node got to. */
export const leftSigns: Chore = {
  name: 'people not noted yet',
  everyMs: 30_000,
  async run(app) {
    const before = firstUuidAt(app.clock.nowMs() - leftMs)
    for (const row of await app.db.query(listHeard, { buckets, before, limit: maxLeft })) {
      const tenant = tenantOf(row)
      const event = await findEvent(app.db, tenant, row.id)
      const person = event === null ? null : (app.catalogue.find(event.type)?.person?.(JSON.parse(event.body)) ?? null)
      const at = event?.created_at ?? timeOfUuid(row.id)
      await note(app, tenant, [{ event: row.id, at, person: person ?? { isInbound: true } }])
    }
  },
}

/** Notes signs of people of one account: they are customers first, then what they wrote is in their conversation. */
async function note(app: App, tenant: Tenant, signs: readonly Sign[]): Promise<void> {
  await Promise.all(signs.map(({ at, person }) => notePerson(app, tenant, at, person)))
  const heard = signs.filter(({ person }) => person.isInbound)
  if (heard.length > 0) await app.db.tx(tenant, (tx) => converse(app, tx, tenant, heard))
}

/** Puts what people wrote into their conversations, each sign once. */
async function converse(app: App, tx: Tx, tenant: Tenant, signs: readonly Sign[]): Promise<void> {
  const isSpoken = signs.some(({ person }) => person.said !== undefined)
  if (isSpoken) await tx.query(lockBeginnings, tenant)
  const taken = await tx.query(takeHeard, { ...tenant, ids: signs.map(({ event }) => event) })
  const fresh = new Set(taken.map(({ id }) => id))
  const spoken = signs.filter(({ event, person }) => fresh.has(event) && person.said !== undefined)
  if (spoken.length === 0) return
  const rows = await rowsOf(app, tx, tenant, spoken)
  const changed = new Set<string>()
  for (const sign of spoken) {
    const { said } = sign.person
    const known = addressOf(sign.person)
    const row = known && rows.get(known.address)
    if (!said || !row) continue
    const [receivedMs, nowMs] = [app.clock.nowMs(), sign.at.getTime()]
    const occasion: Occasion = { tenant, receivedMs, nowMs, requestId: null }
    const { channel, line, text, id: message_id } = said
    const after = received(row.now, {
      channel,
      line,
      text,
      address: known.address,
      at: sign.at,
      place: newUuid(receivedMs),
    })
    const isOpened = row.isNew || row.now.state !== 'open'
    Object.assign(row, { now: after, isNew: false })
    changed.add(known.address)
    const [id, shown] = [idOf('conversation', after.id), shownOf(after)]
    if (isOpened)
      await app.outbox.emit(tx, conversationEvents.opened, occasion, id, { conversation: shown, reason: 'message' })
    await app.outbox.emit(tx, conversationEvents.message, occasion, id, {
      ...{ conversation_id: id, customer_id: shown.customer_id, message_id, channel, direction: 'inbound', text },
      ...{ author: null, at: sign.at },
    })
  }
  for (const row of new Set([...changed].map((address) => rows.get(address))))
    if (row) await tx.query(saveConversation, saved(tenant, row.now))
}

/** Conversation while signs are noted. */
interface Growing {
  now: ConversationRow
  isNew: boolean
}

/** Conversations of those who wrote, by the address they wrote from: there already, or beginning. Strangers have none. */
async function rowsOf(app: App, tx: Tx, tenant: Tenant, signs: readonly Sign[]): Promise<Map<string, Growing>> {
  const known = signs.flatMap(({ person }) => addressOf(person) ?? [])
  const owners = await tx.query(findOwners, {
    ...tenant,
    kinds: known.map(({ kind }) => kind),
    addresses: known.map(({ address }) => address),
  })
  const ids = [...new Set(owners.map(({ customer_id }) => customer_id))]
  const there = await tx.query(conversationsOf, { ...tenant, customers: ids })
  const customers = await tx.query(findCustomers, { ...tenant, ids })
  const growing = new Map(
    customers.map((customer): [string, Growing] => {
      const row = there.find(({ customer_id }) => customer_id === customer.id)
      const nowMs = app.clock.nowMs()
      const at = signs[0]?.at ?? new Date(nowMs)
      return [
        customer.id,
        { now: row ?? begun(newUuid(nowMs), customer, newUuid(nowMs), at), isNew: row === undefined },
      ]
    }),
  )
  return new Map(
    owners.flatMap(({ address, customer_id }) => {
      const row = growing.get(customer_id)
      return row ? [[address, row] as const] : []
    }),
  )
}
