// SPDX-License-Identifier: Apache-2.0
// Preview of an import: what the columns of a file fill, and what its first rows would do. Nothing is written.
import { type Static, Type } from 'typebox'
import { AppError } from '../../../kernel/errors.ts'
import { read } from '../../../platform/api/route.ts'
import type { App } from '../../../platform/app.ts'
import { Nullable, OneOf } from '../../../platform/schema/fields.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import { AttributeTypes } from '../attributes.ts'
import { rehearsed } from './batch.ts'
import { importedRows, piece, type Row, type RowProblem, toldColumns, writtenAs } from './rows.ts'
import { formats, type Import } from './schema.ts'

const shownRows = 20
const maxBeginning = 64 * 1024

const text = (description: string) => Nullable(Type.String(), { description })

const Preview = Type.Object(
  {
    format: OneOf(formats, { description: 'Format of the file: CSV or JSON lines' }),
    columns: Type.Array(
      Type.Object({
        name: Type.String({ description: 'Name of the column in the file' }),
        field: text('Field of the customer that it fills; null if none'),
        known: Type.Boolean({
          description: 'False if the column is unknown: CSV files and JSON lines with unknown columns are refused',
        }),
      }),
      { description: 'Columns of the file, or fields of the JSON lines' },
    ),
    rows: Type.Array(
      Type.Object({
        line: Type.Integer({ description: 'Line of the file' }),
        outcome: OneOf(['created', 'updated', 'unchanged', 'failed'], {
          description: 'Effect of the row, without consents; `failed` if it cannot be imported',
        }),
        name: text('Resulting name of the customer'),
        external_id: text('Your own id of the customer'),
        phones: Type.Array(Type.String(), { description: 'Resulting phone numbers' }),
        emails: Type.Array(Type.String(), { description: 'Resulting email addresses' }),
        tags: Type.Array(Type.String(), { description: 'Resulting tags' }),
        problem: text('Problem of the row, with its field; null if none'),
      }),
      { description: `First ${shownRows} rows; empty if a column is unknown` },
    ),
    reason: text('Reason why the file cannot be read beyond these rows; null if it can'),
  },
  { title: 'CustomerImportPreview' },
)

export const preview = read({
  method: 'POST',
  path: '/v1/customers/import/preview',
  operation: 'customers.previewImport',
  summary: 'Preview an import of customers',
  description: `Takes the beginning of the file, up to the end of a row. Returns the fields that its columns fill, and the effect of the first ${shownRows} rows. Nothing is stored.`,
  scope: 'customers:write',
  body: Type.Object({
    beginning: Type.String({
      ...{ minLength: 1, maxLength: maxBeginning, rule: `must be text of 1 to ${maxBeginning} characters` },
      description: 'Beginning of the file, CSV with its row of column names or JSON lines',
    }),
  }),
  reply: { status: 200, schema: Preview },
  examples: [{ name: 'Two rows', body: { beginning: 'external_id,name,phone\nshop-1042,Asha Njeri,0711\n' } }],
  handle: async (app, { body: { beginning } }, caller) => {
    const format = writtenAs(beginning)
    const columns = await toldColumns(beginning, format)
    const isReadable = format === 'jsonl' || columns.every(({ isKnown }) => isKnown)
    const { rows, reason } = isReadable
      ? await firstRows(app, caller.tenant, beginning, format)
      : { rows: [], reason: null }
    const done = await rehearsed(app, caller, rows)
    const created = new Set(done.flatMap((one) => ('outcome' in one && one.outcome === 'created' ? one.draft.id : [])))
    return {
      ...{
        format,
        columns: columns.map(({ name, field, isKnown }) => ({ name: name.slice(0, 100), field, known: isKnown })),
      },
      rows: rows.map(({ line }, i) => {
        const one = done[i]
        if (one === undefined || 'problem' in one)
          return { line, outcome: 'failed' as const, ...nobody, problem: one ? told(one.problem, created) : null }
        const { name, external_id, phones, emails, tags } = one.fields
        return { line, outcome: one.outcome, name, external_id, phones, emails, tags, problem: null }
      }),
      reason,
    }
  },
})

/** What is wrong with a row. Whoever an earlier row would create has no id yet. */
function told({ field, message, customer }: RowProblem, created: ReadonlySet<string>): string {
  const said = customer !== null && created.has(customer) ? 'has one that belongs to an earlier row' : message
  return field === null ? said : `${field} ${said}`
}

const nobody = { name: null, external_id: null, phones: [], emails: [], tags: [] }

async function firstRows(
  app: App,
  tenant: Tenant,
  beginning: string,
  format: Static<typeof Import>['format'],
): Promise<{ rows: Row[]; reason: string | null }> {
  const types = await AttributeTypes.of(app.db, tenant)
  const rows: Row[] = []
  try {
    for await (const some of importedRows(piece(Buffer.from(beginning)), format, types, 0)) {
      rows.push(...some)
      if (rows.length >= shownRows) break
    }
  } catch (error) {
    if (!(error instanceof AppError) || rows.length === 0) throw error
    return { rows: rows.slice(0, shownRows), reason: error.details }
  }
  return { rows: rows.slice(0, shownRows), reason: null }
}
