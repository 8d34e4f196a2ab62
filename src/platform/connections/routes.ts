// SPDX-License-Identifier: Apache-2.0
// Operator routes that all kinds of connections have: the list, one of it, its deletion and its test. Settings differ from kind to
// kind, so an area declares how a connection is created and changed.
import { type Static, type TSchema, Type } from 'typebox'
import type { AppError, ErrorCode } from '../../kernel/errors.ts'
import { record } from '../api/audit.ts'
import { IdParam, list, type Need, type Route, read, writeAcross } from '../api/route.ts'
import type { App } from '../app.ts'
import type { AcrossTx, Statement } from '../db.ts'
import { Deleted, wholeListQuery } from '../schema/fields.ts'
import { pageOfWhole } from '../schema/lists.ts'
import { Probe, testOf } from './probe.ts'

interface Named {
  readonly operation: string
  readonly summary: string
  readonly description?: string
}

interface Connections<Row extends object, R extends TSchema> {
  /** Path of the list; a connection is below it, by its name. */
  readonly path: string
  readonly record: R
  readonly needs?: Need | 'nothing'
  /** Every connection, in the order of the list. */
  readonly rows: Statement<Record<never, never>, Row>
  /** Name in paths. */
  nameOf(row: Row): string
  show(app: App, row: Row): Static<R> | Promise<Static<R>>
  /** Error for a name that no connection has. */
  none(): AppError
  readonly list: Named & { readonly example: string }
  readonly get: Named
  readonly remove: Named & {
    readonly errors?: readonly ErrorCode[]
    /** Action in the audit log. */
    readonly action: string
    /** Topic under which nodes hear of it. */
    readonly topic: string
    /** Deletes it; false when there is none of the name. */
    run(tx: AcrossTx, name: string): Promise<boolean>
  }
  readonly test?: Pick<Named, 'operation' | 'summary'> & { run(app: App, row: Row, probe: Probe): Promise<void> }
}

/** Routes of one kind of connections; `own` are those that create and change one. */
export function connectionRoutes<Row extends object, R extends TSchema>(
  of: Connections<Row, R>,
  own: readonly Route[],
): readonly Route[] {
  const { path, needs, test } = of
  const one = { path: `${path}/:id`, scope: 'operator', params: IdParam, ...(needs ? { needs } : {}) } as const
  const found = async (app: App, name: string): Promise<Row> => {
    const row = (await app.db.query(of.rows, {})).find((each) => of.nameOf(each) === name)
    if (!row) throw of.none()
    return row
  }
  const { example, ...listed } = of.list
  const { run: remove, action, topic, errors = [], ...removed } = of.remove
  const testing = test && [
    read({
      ...testOf(IdParam),
      ...{ operation: test.operation, summary: test.summary },
      path: `${path}/:id/test`,
      handle: async (app, { params }) => {
        const probe = new Probe()
        await test.run(app, await found(app, params.id), probe)
        return probe.result
      },
    }),
  ]
  return [
    list({
      ...listed,
      path,
      scope: 'operator',
      query: Type.Object(wholeListQuery),
      row: of.record,
      examples: [{ name: example }],
      handle: async (app, { query }) => {
        const rows = await app.db.query(of.rows, {})
        const { rows: page, nextCursor } = pageOfWhole(query, rows, of.nameOf)
        return { rows: await Promise.all(page.map((row) => of.show(app, row))), nextCursor }
      },
    }),
    read({
      ...one,
      ...of.get,
      method: 'GET',
      reply: { status: 200, schema: of.record },
      errors: ['NOT_FOUND'],
      handle: async (app, { params }) => of.show(app, await found(app, params.id)),
    }),
    ...own,
    writeAcross({
      ...one,
      ...removed,
      method: 'DELETE',
      reply: { status: 200, schema: Deleted },
      errors: ['NOT_FOUND', ...errors],
      handle: async (app, tx, { params: { id } }, caller) => {
        if (!(await remove(tx, id))) throw of.none()
        await record(tx, caller, action, id, { after: {} })
        await app.signals.send(tx, topic, id)
        return { id, deleted: true as const }
      },
    }),
    ...(testing ?? []),
  ]
}
