// SPDX-License-Identifier: Apache-2.0
// Routes of blacklists. A card is given by its number, of which only a fingerprint and the masked form are kept.

import { type Static, Type } from 'typebox'
import { refuseCardNumbers } from '../../../kernel/card.ts'
import { AppError, invalid } from '../../../kernel/errors.ts'
import { idOf, newUuid, uuidOf } from '../../../kernel/ids.ts'
import { parseMoment } from '../../../kernel/time.ts'
import { record } from '../../../platform/api/audit.ts'
import { list, type Route, read, write } from '../../../platform/api/route.ts'
import type { App } from '../../../platform/app.ts'
import type { Caller } from '../../../platform/auth.ts'
import { maybe, one, type Tx } from '../../../platform/db.ts'
import { At, listQuery, Moment, Nullable, OneOf } from '../../../platform/schema/fields.ts'
import { pageOf, windowOf } from '../../../platform/schema/lists.ts'
import { type BlacklistType, blacklistTypes, maskedCard, normalised, ruleOf } from './blacklist.ts'
import { deleteEntry, type EntryRow, findEntries, findEntry, insertEntries, listEntries } from './blacklist-store.ts'
import { fingerprintOf, isCardNumber } from './card.ts'
import type { Direction } from './fields.ts'
import { AppliesTo, directions } from './rules.ts'
import { touchPolicy } from './store.ts'

const maxEntriesAtOnce = 1_000
const maxEntries = 100_000
const bodyLimitBytes = 1024 * 1024

const value = Type.String({
  minLength: 1,
  maxLength: 254,
  rule: 'must have 1 to 254 characters',
  description: 'Value to block; for a card the full number, which is not stored',
  // The value may be a card number.
  sensitive: true,
})

const details = {
  reason: Type.Optional(
    Type.String({ maxLength: 500, rule: 'must have at most 500 characters', description: 'Internal note' }),
  ),
  applies_to: Type.Optional(AppliesTo),
  expires_at: Type.Optional(Moment({ description: 'Expiry time; default never' })),
}

const type = OneOf(blacklistTypes, {
  description: 'Kind of value; `email_domain`, `card_bin` and `ip_range` (CIDR) match many at once',
})

const Entry = Type.Object({
  type,
  value,
  ...details,
})

const EntryCreate = Type.Object({
  type: Type.Optional(type),
  value: Type.Optional(value),
  ...details,
  entries: Type.Optional(
    Type.Array(Entry, {
      minItems: 1,
      maxItems: maxEntriesAtOnce,
      rule: `must be a list of 1 to ${maxEntriesAtOnce} entries`,
      description: 'Entries to add, instead of type and value',
    }),
  ),
})

const EntryRecord = Type.Object(
  {
    blacklist_id: Type.String({ description: 'Id of the entry, such as `blk_…`' }),
    type: OneOf(blacklistTypes, { description: 'Kind of value, such as `phone` or `card_bin`' }),
    value: Type.String({ description: 'Normalised value; card numbers are masked' }),
    reason: Nullable(Type.String({ description: 'Your note; null if none was given' })),
    applies_to: Type.Array(OneOf(directions), { description: 'Scope of the entry: payments, payouts or both' }),
    expires_at: Nullable(At({ description: 'Expiry time; null for never' })),
    created_at: At({ description: 'Time it was added to the list' }),
  },
  { title: 'BlacklistEntry' },
)

const Added = Type.Object(
  {
    ...Type.Partial(EntryRecord).properties,
    created: Type.Integer({ description: 'Number of entries that are new' }),
    entries: Type.Optional(Type.Array(EntryRecord, { description: 'All entries of a bulk, in its order' })),
  },
  { title: 'BlacklistAdded' },
)

const base = '/v1/payments/fraud/blacklist'

/** An entry as it is stored. */
interface Written {
  type: BlacklistType
  value: string
  shown: string
  reason: string
  appliesTo: readonly Direction[]
  expiresAt: string
}

const addEntries = write({
  method: 'POST',
  path: base,
  operation: 'fraud.addToBlacklist',
  summary: 'Add an entry to the fraud blacklist',
  description: 'An existing entry is returned unchanged with 200. `entries` adds up to 1,000 at once.',
  scope: 'fraud:write',
  limit: 'payments',
  body: EntryCreate,
  bodyLimitBytes,
  reply: {
    status: 201,
    schema: Added,
    existed: ({ created, entries }) => created === 0 && entries === undefined,
    location: ({ blacklist_id }) => (blacklist_id === undefined ? base : `${base}/${blacklist_id}`),
  },
  errors: ['VALIDATION_ERROR'],
  examples: [
    { name: 'A phone', body: { type: 'phone', value: '+254711000009', reason: 'Stolen' } },
    {
      name: 'Many at once',
      body: {
        entries: [
          { type: 'ip_range', value: '203.0.113.0/24' },
          { type: 'email_domain', value: 'example.org' },
        ],
      },
    },
  ],
  // The fingerprint of a card needs a key that has to be read.
  prepare: (app, { body }, { nowMs }) => understood(app, body, nowMs),
  handle: async (_app, tx, { body }, caller, written) => {
    const { rows, created } = await added(tx, caller, written)
    const shown = rows.map(recordOf)
    const [first] = shown
    await record(tx, caller, 'fraud.add_to_blacklist', first?.blacklist_id ?? '', {
      after: { created, types: [...new Set(written.map(({ type }) => type))] },
    })
    return body.entries ? { created, entries: shown } : { ...first, created }
  },
})

const listAll = list({
  path: base,
  operation: 'fraud.listBlacklist',
  summary: 'List the fraud blacklist',
  scope: 'fraud:read',
  query: Type.Object({
    ...listQuery,
    type: Type.Optional(OneOf(blacklistTypes, { description: 'Filter by kind of value; default all' })),
  }),
  row: EntryRecord,
  examples: [{ name: 'Phones', query: { type: 'phone' } }],
  handle: async (app, { query }, { tenant }) => {
    const window = windowOf(query)
    return pageOf(window, await app.db.query(listEntries, { ...tenant, ...window, type: query.type ?? null }), recordOf)
  },
})

const EntryParam = Type.Object({ blacklist_id: Type.String({ description: 'Id of the entry, such as `blk_…`' }) })

const getEntry = read({
  method: 'GET',
  path: `${base}/:blacklist_id`,
  operation: 'fraud.getBlacklistEntry',
  summary: 'Get an entry of the fraud blacklist',
  scope: 'fraud:read',
  params: EntryParam,
  reply: { status: 200, schema: EntryRecord },
  errors: ['NOT_FOUND'],
  handle: async (app, { params }, { tenant }) => {
    const row = await maybe(app.db.query(findEntry, { ...tenant, id: entryUuid(params.blacklist_id) }))
    if (!row) throw noSuchEntry()
    return recordOf(row)
  },
})

const removeEntry = write({
  method: 'DELETE',
  path: `${base}/:blacklist_id`,
  operation: 'fraud.removeFromBlacklist',
  summary: 'Remove an entry from the fraud blacklist',
  scope: 'fraud:write',
  limit: 'payments',
  params: EntryParam,
  reply: {
    status: 200,
    schema: Type.Object(
      {
        blacklist_id: Type.String({ description: 'Id of the entry' }),
        deleted: Type.Literal(true, { description: 'Always true' }),
      },
      { title: 'BlacklistDeleted' },
    ),
  },
  errors: ['NOT_FOUND'],
  handle: async (_app, tx, { params }, caller) => {
    const id = entryUuid(params.blacklist_id)
    // Changes of lists wait for each other here, before any entry is locked.
    await tx.query(touchPolicy, { ...caller.tenant, rules: 0, entries: 0 })
    const gone = await maybe(tx.query(deleteEntry, { ...caller.tenant, id }))
    if (!gone) throw noSuchEntry()
    await tx.query(touchPolicy, { ...caller.tenant, rules: 0, entries: -1 })
    const blacklist_id = idOf('blacklistEntry', gone.id)
    await record(tx, caller, 'fraud.remove_from_blacklist', blacklist_id, { after: { type: gone.type } })
    return { blacklist_id, deleted: true as const }
  },
})

async function understood(
  app: App,
  { entries, type, value, ...rest }: Static<typeof EntryCreate>,
  nowMs: number,
): Promise<Written[]> {
  if (entries !== undefined) {
    if (type !== undefined || value !== undefined) throw invalid('entries', 'cannot be combined with type and value')
    return Promise.all(entries.map((entry, i) => written(app, entry, `entries[${i}].`, nowMs)))
  }
  if (type === undefined || value === undefined)
    throw invalid(type === undefined ? 'type' : 'value', 'is required, unless entries is given')
  return [await written(app, { type, value, ...rest }, '', nowMs)]
}

async function written(app: App, entry: Static<typeof Entry>, path: string, nowMs: number): Promise<Written> {
  const { type, reason = '', applies_to = directions, expires_at } = entry
  const value = normalised(type, entry.value)
  if (value === null || (type === 'card' && !isCardNumber(value))) throw invalid(`${path}value`, ruleOf(type))
  refuseCardNumbers({ [`${path}reason`]: reason })
  const until = expires_at === undefined ? null : parseMoment(expires_at)
  if (until !== null && until.getTime() <= nowMs) throw invalid(`${path}expires_at`, 'must be in the future')
  const isCard = type === 'card'
  return {
    type,
    value: isCard ? fingerprintOf(app, value) : value,
    shown: isCard ? maskedCard(value) : value,
    reason,
    appliesTo: applies_to,
    expiresAt: until?.toISOString() ?? '',
  }
}

/** Adds those that are not there; gives all of them, in their order. */
async function added(
  tx: Tx,
  { tenant, receivedMs, nowMs }: Caller,
  written: readonly Written[],
): Promise<{ rows: EntryRow[]; created: number }> {
  const once = [...new Map(written.map((entry) => [`${entry.type} ${entry.value}`, entry])).values()]
  // Changes of lists wait for each other here, so that the count is right.
  await tx.query(touchPolicy, { ...tenant, rules: 0, entries: 0 })
  const ids = once.map(() => newUuid(receivedMs))
  const inserted = await tx.query(insertEntries, {
    ...tenant,
    ids,
    types: once.map(({ type }) => type),
    values: once.map(({ value }) => value),
    shown: once.map(({ shown }) => shown),
    reasons: once.map(({ reason }) => reason),
    appliesTo: once.map(({ appliesTo }) => appliesTo.join()),
    expiresAt: once.map(({ expiresAt }) => expiresAt),
    at: new Date(nowMs),
  })
  const created = inserted.filter(({ id }) => ids.includes(id)).length
  const { entries } = await one(tx.query(touchPolicy, { ...tenant, rules: 0, entries: created }))
  if (entries > maxEntries)
    throw new AppError('VALIDATION_ERROR', `an account has at most ${maxEntries} entries on its blacklist`)
  const types = written.map(({ type }) => type)
  const rows = await tx.query(findEntries, { ...tenant, types, values: written.map(({ value }) => value) })
  return { rows, created }
}

function recordOf(row: EntryRow): Static<typeof EntryRecord> {
  return {
    blacklist_id: idOf('blacklistEntry', row.id),
    type: row.type,
    value: row.shown,
    reason: row.reason,
    applies_to: row.applies_to,
    expires_at: row.expires_at,
    created_at: row.created_at,
  }
}

function entryUuid(id: string): string {
  const uuid = uuidOf('blacklistEntry', id)
  if (uuid === null) throw noSuchEntry()
  return uuid
}

function noSuchEntry(): AppError {
  return new AppError('NOT_FOUND', 'there is no such entry; the ids of entries begin with blk_')
}

export const blacklistRoutes: readonly Route[] = [addEntries, listAll, getEntry, removeEntry]
