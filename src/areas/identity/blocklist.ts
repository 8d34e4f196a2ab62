// SPDX-License-Identifier: Apache-2.0
// Blocklist of an account: documents, phones, email addresses, devices and users, stored as hashes. A listed person is
// rejected by every verification, without override, and has a risk score of 100.
import { type Static, Type } from 'typebox'
import { AppError } from '../../kernel/errors.ts'
import { idOf, newUuid, uuidOf } from '../../kernel/ids.ts'
import { record } from '../../platform/api/audit.ts'
import { IdParam, list, noContent, type Route, read, write } from '../../platform/api/route.ts'
import type { App } from '../../platform/app.ts'
import { maybe, type Queryable, statement } from '../../platform/db.ts'
import { At, listQuery, Nullable, OneOf } from '../../platform/schema/fields.ts'
import { pageOf, type Window, windowOf } from '../../platform/schema/lists.ts'
import { mine, type One, type Tenant } from '../../platform/tenant.ts'

const kinds = ['document', 'phone', 'email', 'device', 'external_id'] as const
type Kind = (typeof kinds)[number]

/** Known data of a person, by kind. */
export type Known = Readonly<Partial<Record<Kind, string | null | undefined>>>

const Block = Type.Object({
  kind: OneOf(kinds, {
    description: 'Kind of value: the number of a document, or the field of this name in verifications and risk scores',
  }),
  value: Type.String({
    minLength: 1,
    maxLength: 254,
    sensitive: true,
    description: 'Value to block, stored as a fingerprint only',
  }),
  reason: Type.Optional(Type.String({ maxLength: 200, description: 'Internal note' })),
})

const Blocked = Type.Object(
  {
    id: Type.String({ description: 'Id of the entry, such as `idb_…`' }),
    kind: OneOf(kinds, { description: 'Kind of value' }),
    hint: Type.String({ description: 'Last characters of the value' }),
    reason: Nullable(Type.String({ description: 'Your note; null if none was given' })),
    created_at: At({ description: 'Time it was blocked' }),
  },
  { title: 'IdentityBlocklistEntry' },
)

type Row = Static<typeof Blocked>

const columns = 'id, kind, hint, reason, created_at'

const add = statement.tenant<One & { kind: string; value: Buffer; hint: string; reason: string | null; at: Date }, Row>(
  'identity.block',
  `insert into identity.blocklist (bucket, account_id, environment, id, kind, value_index, hint, reason, created_at)
   values ($bucket, $account, $environment, $id, $kind, $value, $hint, $reason, $at)
   on conflict (bucket, account_id, environment, kind, value_index) do nothing returning ${columns}`,
)

const page = statement.tenant<Tenant & Window, Row>(
  'identity.list_blocklist',
  `select ${columns} from identity.blocklist
    where ${mine} and ($after::uuid is null or case when $descending then id < $after else id > $after end)
    order by case when $descending then id end desc, case when not $descending then id end limit $limit::int + 1`,
)

const find = statement.tenant<One, Row>(
  'identity.find_block',
  `select ${columns} from identity.blocklist where ${mine} and id = $id`,
)

const remove = statement.tenant<One, { id: string }>(
  'identity.unblock',
  `delete from identity.blocklist where ${mine} and id = $id returning id`,
)

const among = statement.tenant<Tenant & { kinds: readonly string[]; values: readonly string[] }, { kind: Kind }>(
  'identity.blocked_among',
  `select distinct b.kind from unnest($kinds::text[], $values::text[]) as k (kind, value)
     join identity.blocklist b
       on b.bucket = $bucket and b.account_id = $account and b.environment = $environment
      and b.kind = k.kind and b.value_index = decode(k.value, 'hex')`,
)

/** Kinds of a person's data that are on the blocklist. */
export async function blockedAmong(app: App, queryable: Queryable, tenant: Tenant, known: Known): Promise<Kind[]> {
  const given = kinds.flatMap((kind) => {
    const value = known[kind]
    return value ? [{ kind, value: indexOf(app, tenant, kind, value).toString('hex') }] : []
  })
  if (given.length === 0) return []
  const { bucket, account, environment } = tenant
  const rows = await queryable.query(among, {
    ...{ bucket, account, environment },
    kinds: given.map(({ kind }) => kind),
    values: given.map(({ value }) => value),
  })
  return rows.map(({ kind }) => kind)
}

/** Hash of a normalised value. */
function indexOf(app: App, { account }: Tenant, kind: Kind, value: string): Buffer {
  const plain = kind === 'document' || kind === 'phone' ? value.replace(/[^A-Za-z0-9]/g, '') : value.trim()
  return app.secrets.fingerprint('identity.blocked', `${account} ${kind} ${plain.toLowerCase()}`)
}

const shown = (row: Row): Row => ({ ...row, id: idOf('identityBlock', row.id) })

const block = write({
  method: 'POST',
  path: '/v1/identity/blocklist',
  operation: 'identity.block',
  summary: 'Add an entry to the identity blocklist',
  scope: 'identity:write',
  limit: 'identity',
  body: Block,
  reply: { status: 201, schema: Blocked, location: ({ id }) => `/v1/identity/blocklist/${id}` },
  errors: ['CONFLICT'],
  examples: [{ name: 'A forged passport', body: { kind: 'document', value: 'AK0999999', reason: 'forged' } }],
  handle: async (app, tx, { body }, caller) => {
    const { tenant, receivedMs, nowMs } = caller
    const { kind, value, reason = null } = body
    const [id, at] = [newUuid(receivedMs), new Date(nowMs)]
    const hint = `…${value.slice(-Math.min(4, Math.floor(value.length / 2)))}`
    const index = indexOf(app, tenant, kind, value)
    const row = await maybe(tx.query(add, { ...tenant, id, kind, value: index, hint, reason, at }))
    if (!row) throw new AppError('CONFLICT', 'the value is already on the blocklist')
    await record(tx, caller, 'identity_blocklist.add', idOf('identityBlock', id))
    return shown(row)
  },
})

const listAll = list({
  path: '/v1/identity/blocklist',
  operation: 'identity.listBlocklist',
  summary: 'List the identity blocklist',
  scope: 'identity:read',
  query: Type.Object(listQuery),
  row: Blocked,
  handle: async (app, { query }, { tenant }) => {
    const window = windowOf(query)
    return pageOf(window, await app.db.query(page, { ...tenant, ...window }), shown)
  },
})

const getOne = read({
  method: 'GET',
  path: '/v1/identity/blocklist/:id',
  operation: 'identity.getBlock',
  summary: 'Get an entry of the identity blocklist',
  scope: 'identity:read',
  params: IdParam,
  needs: { operation: 'identity.block', id: 'id' },
  reply: { status: 200, schema: Blocked },
  errors: ['NOT_FOUND'],
  handle: async (app, { params }, { tenant }) => {
    const id = uuidOf('identityBlock', params.id)
    const row = id && (await maybe(app.db.query(find, { ...tenant, id })))
    if (!row) throw new AppError('NOT_FOUND', 'there is no such entry')
    return shown(row)
  },
})

const unblock = write({
  method: 'DELETE',
  path: '/v1/identity/blocklist/:id',
  operation: 'identity.unblock',
  summary: 'Remove an entry from the identity blocklist',
  scope: 'identity:write',
  limit: 'identity',
  params: IdParam,
  needs: { operation: 'identity.block', id: 'id' },
  reply: noContent,
  errors: ['NOT_FOUND'],
  handle: async (_app, tx, { params }, caller) => {
    const id = uuidOf('identityBlock', params.id)
    const gone = id ? await tx.query(remove, { ...caller.tenant, id }) : []
    if (gone.length === 0) throw new AppError('NOT_FOUND', 'there is no such entry')
    await record(tx, caller, 'identity_blocklist.remove', params.id)
    return {}
  },
})

export const blocklistRoutes: readonly Route[] = [block, listAll, getOne, unblock]
