// SPDX-License-Identifier: Apache-2.0
// Credentials with which programs of an account sign in by a protocol other than HTTP: at most fifty of a kind, each with a password
// that is shown once. An area has the table and says what a credential allows; listing, deletion and rotation are the same.
import { type Static, type TObject, type TProperties, type TString, Type } from 'typebox'
import { isAddressRange } from '../../config/setting.ts'
import { AppError } from '../../kernel/errors.ts'
import { idOf, type Kind, uuidOf } from '../../kernel/ids.ts'
import type { App } from '../app.ts'
import type { Scope } from '../auth/scopes.ts'
import { requireUnbound } from '../auth.ts'
import { maybe, one, statement, type Tx, type Value } from '../db.ts'
import { Deleted, listQuery } from '../schema/fields.ts'
import { pageOf, windowOf } from '../schema/lists.ts'
import { mine, type One, type Tenant } from '../tenant.ts'
import { record } from './audit.ts'
import { IdParam, list, type Route, writeAcross } from './route.ts'

const maxCredentials = 50

interface CredentialsOf<Row extends { id: string; name: string }, R extends TObject, Hash extends Value> {
  protocol: 'SMTP' | 'SMPP'
  kind: Kind & ('smtpCredential' | 'smppCredential')
  /** Table with the columns of every credential, `id`, `name`, `hash` and those of its tenant, and its own. */
  table: string
  columns: string
  path: string
  aliases?: readonly string[]
  operations: Readonly<Record<'list' | 'remove' | 'rotate', { operation: string; description?: string }>>
  reads: Scope
  writes: Scope
  limit: string
  record: R
  show(app: App, row: Row): Static<R>
  newPassword(): string
  hashOf(password: string): Hash | Promise<Hash>
}

/** Schema of an answer that shows the password. */
export function withPassword<P extends TProperties>(record: TObject<P>): TObject<P & { password: TString }> {
  const password = Type.String({ sensitive: true, description: 'Password, shown only once' })
  return Type.Object({ ...record.properties, password }, { title: `${Object(record).title}WithPassword` })
}

/** Ranges of addresses, each of which must be one. */
export function requireRanges(ranges: readonly string[]): void {
  const bad = ranges.findIndex((range) => !isAddressRange(range))
  if (bad >= 0) throw new AppError('VALIDATION_ERROR', `allowed_ips[${bad}] must be an address or a CIDR range`)
}

export function credentialsOf<Row extends { id: string; name: string }, R extends TObject, Hash extends Value>(
  of: CredentialsOf<Row, R, Hash>,
) {
  const { protocol, kind, table, columns, path, operations, show } = of
  const audit = `${protocol.toLowerCase()}_credential`
  const aliasOf = (tail: string) => ({ aliases: (of.aliases ?? []).map((alias) => `${alias}${tail}`) })
  const [schema, plural] = table.split('.')
  const named = (verb: string): string => `${schema}.${verb}_${plural}`

  const count = statement.home<Tenant, { count: number }>(
    named('count'),
    `select count(*)::int as count from ${table} where ${mine}`,
  )
  const listAll = statement.home<Tenant & { after: string | null; descending: boolean; limit: number }, Row>(
    named('list'),
    `select ${columns} from ${table}
      where ${mine} and ($after::uuid is null or (case when $descending::boolean then id < $after else id > $after end))
      order by case when $descending then id end desc, id
      limit $limit::int + 1`,
  )
  const remove = statement.home<One, Row>(
    named('delete'),
    `delete from ${table} where ${mine} and id = $id returning ${columns}`,
  )
  const rotate = statement.home<One & { hash: Hash }, Row>(
    named('rotate'),
    `update ${table} set hash = $hash where ${mine} and id = $id returning ${columns}`,
  )

  const uuidFor = (id: string): string => {
    const uuid = uuidOf(kind, id)
    if (uuid === null) throw none()
    return uuid
  }
  const none = () =>
    new AppError('NOT_FOUND', `there is no such ${protocol} credential; ids begin with ${protocol.toLowerCase()}_`)
  const secret = async () => {
    const password = of.newPassword()
    return { password, hash: await of.hashOf(password) }
  }
  const routes: readonly Route[] = [
    list({
      path,
      ...aliasOf(''),
      ...operations.list,
      summary: `List ${protocol} credentials`,
      scope: of.reads,
      query: Type.Object(listQuery),
      row: of.record,
      handle: async (app, { query }, caller) => {
        const window = windowOf(query)
        const rows = await app.db.query(listAll, { ...caller.tenant, ...window })
        return pageOf(window, rows, (row) => show(app, row))
      },
    }),
    writeAcross({
      method: 'DELETE',
      path: `${path}/:id`,
      ...aliasOf('/:id'),
      ...operations.remove,
      ...{ summary: `Delete an ${protocol} credential`, scope: of.writes, limit: of.limit, params: IdParam },
      reply: { status: 200, schema: Deleted },
      errors: ['NOT_FOUND'],
      handle: async (_app, tx, { params }, caller) => {
        const row = await maybe(tx.query(remove, { ...caller.tenant, id: uuidFor(params.id) }))
        if (!row) throw none()
        const id = idOf(kind, row.id)
        await record(tx, caller, `${audit}.delete`, id, { before: { name: row.name } })
        return { id, deleted: true as const }
      },
    }),
    writeAcross({
      method: 'POST',
      path: `${path}/:id/rotate`,
      ...operations.rotate,
      summary: `Rotate the password of an ${protocol} credential`,
      ...{ scope: of.writes, limit: of.limit, params: IdParam },
      reply: { status: 200, schema: withPassword(of.record) },
      errors: ['NOT_FOUND'],
      handle: async (app, tx, { params }, caller) => {
        requireUnbound(caller, `rotates no ${protocol} user`)
        const { password, hash } = await secret()
        const row = await maybe(tx.query(rotate, { ...caller.tenant, id: uuidFor(params.id), hash }))
        if (!row) throw none()
        await record(tx, caller, `${audit}.rotate`, idOf(kind, row.id), {})
        return { ...show(app, row), password }
      },
    }),
  ]
  return {
    routes,
    secret,
    /** Refuses one more than an account may have. */
    async requireRoom(tx: Tx, tenant: Tenant): Promise<void> {
      const { count: many } = await one(tx.query(count, { ...tenant }))
      if (many >= maxCredentials)
        throw new AppError('VALIDATION_ERROR', `an account has at most ${maxCredentials} ${protocol} credentials`)
    },
  }
}
