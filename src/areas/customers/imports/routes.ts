// SPDX-License-Identifier: Apache-2.0
// Routes of imports: a file is taken in, and a job reads it.
import { Type } from 'typebox'
import { AppError } from '../../../kernel/errors.ts'
import { firstUuidAt, idOf, newUuid, uuidOf } from '../../../kernel/ids.ts'
import { dayMs } from '../../../kernel/time.ts'
import { record } from '../../../platform/api/audit.ts'
import { download, IdParam, list, multipart, type Route, read } from '../../../platform/api/route.ts'
import type { App } from '../../../platform/app.ts'
import { maybe, one, type Tx } from '../../../platform/db.ts'
import { csvLine } from '../../../platform/http/csv.ts'
import { listQuery } from '../../../platform/schema/fields.ts'
import { pageOf, windowOf } from '../../../platform/schema/lists.ts'
import { FileRefused, fileKind } from '../../../platform/storage/file-kind.ts'
import type { ArrivedFile } from '../../../platform/storage.ts'
import type { One, Tenant } from '../../../platform/tenant.ts'
import { importOf } from './events.ts'
import { preview } from './preview.ts'
import { formatOf, maxFileBytes, maxRows } from './rows.ts'
import { importJob } from './run.ts'
import { Import } from './schema.ts'
import {
  countRunning,
  findImport,
  forgetErrors,
  forgetImports,
  type ImportRow,
  insertImport,
  listErrors,
  listImports,
} from './store.ts'

const slackBytes = 1024 * 1024
/** Beginning of a file that names its columns. */
const beginningBytes = 64 * 1024
/** Imports of an account that are not completed: each keeps a file that may be large. */
const maxRunning = 10
const rememberedMs = 90 * dayMs
const errorsAtOnce = 5_000

const importFiles = fileKind({ name: 'customers.imports', types: { '*': maxFileBytes }, keepDays: 30 })

interface Received {
  readonly file: ArrivedFile
  readonly format: ImportRow['format']
}

const begin = multipart({
  path: '/v1/customers/import',
  operation: 'customers.import',
  summary: 'Import customers from a file',
  description: `CSV with a row of column names, or JSON lines as \`GET /v1/customers/export\` gives them; at most ${maxRows / 1_000_000} million rows and 512 MB. A row finds its customer by \`external_id\`, or else by a number or address, or creates one, so that the same file sent twice creates no duplicates. Empty cells change nothing; numbers, addresses and tags are added to those that the customer has. The reply is sent when the upload is complete: read the progress with \`GET /v1/customers/imports/{id}\`.`,
  scope: 'customers:write',
  // Above the storage limit, so that storage gives the error.
  files: {
    file: {
      maxBytes: maxFileBytes + slackBytes,
      types: ['text/csv', 'application/x-ndjson'],
      description: 'CSV or JSON lines, in UTF-8',
    },
  },
  bodyLimitBytes: maxFileBytes + 2 * slackBytes,
  reply: { status: 201, schema: Import, location: ({ import_id }) => `/v1/customers/imports/${import_id}` },
  errors: ['PAYLOAD_TOO_LARGE'],
  async receive(app, { name, type, bytes }, _input, { tenant, nowMs }): Promise<Received> {
    const { bucket, account, environment } = tenant
    const { count } = await one(app.db.query(countRunning, { bucket, account, environment }))
    if (count >= maxRunning)
      throw new AppError(
        'RATE_LIMITED',
        `${count} imports are being read; send the next when one of them is completed`,
        {
          retryAfterSeconds: 60,
        },
      )
    const file = await put(app, { tenant, type, name: name?.slice(0, 240) ?? null, bytes, nowMs })
    try {
      return { file, format: await formatOf(await file.read(0, beginningBytes)) }
    } catch (error) {
      await app.storage.discard(file)
      throw error
    }
  },
  discard: (app, { file }) => app.storage.discard(file),
  async handle(app, tx, _input, caller, [received]) {
    if (!received) throw new AppError('VALIDATION_ERROR', 'file is missing')
    const { tenant, receivedMs, nowMs, actor } = caller
    const { file, format } = received.kept
    const id = newUuid(receivedMs)
    await forget(tx, tenant, receivedMs)
    await app.storage.keep(tx, file)
    const job = app.work.prepare(importJob, tenant, { import: id })
    const row = await one(
      tx.query(insertImport, {
        ...{ ...tenant, id, format, file: file.id, name: file.name, bytes: BigInt(file.bytes) },
        ...{ job: job.id, startedBy: actor, at: new Date(nowMs) },
      }),
    )
    await record(tx, caller, 'customer.import', idOf('customerImport', id), { after: { bytes: file.bytes } })
    await app.work.add(tx, job)
    tx.afterCommit(() => app.work.begin(job))
    return importOf(row)
  },
})

async function put(app: App, incoming: Parameters<App['storage']['put']>[1]): Promise<ArrivedFile> {
  try {
    return await app.storage.put(importFiles, incoming)
  } catch (error) {
    if (!(error instanceof FileRefused)) throw error
    throw new AppError(error.fault === 'size' ? 'PAYLOAD_TOO_LARGE' : 'VALIDATION_ERROR', error.message)
  }
}

/** Forgets imports of long ago, with their errors. */
async function forget(tx: Tx, { bucket, account, environment }: Tenant, nowMs: number): Promise<void> {
  const old = { bucket, account, environment, before: firstUuidAt(nowMs - rememberedMs) }
  await tx.query(forgetErrors, old)
  await tx.query(forgetImports, old)
}

const listAll = list({
  path: '/v1/customers/imports',
  operation: 'customers.listImports',
  summary: 'List imports of customers',
  description: 'Imports of the last 90 days.',
  scope: 'customers:read',
  query: Type.Object(listQuery),
  row: Import,
  examples: [{ name: 'All' }],
  handle: async (app, { query }, { tenant }) => {
    const window = windowOf(query)
    return pageOf(window, await app.db.query(listImports, { ...tenant, ...window }), importOf)
  },
})

/** How the examples of what names an import come to one. */
const needs = {
  ...{ operation: 'customers.import', id: 'import_id', file: 'external_id,name,phone\nshop-1042,Asha Njeri,0711\n' },
}

const get = read({
  method: 'GET',
  path: '/v1/customers/imports/:id',
  operation: 'customers.getImport',
  summary: 'Get an import of customers',
  description: 'Progress, and the results of its rows. The event `customer.import_finished` is sent at the end.',
  scope: 'customers:read',
  params: IdParam,
  needs,
  reply: { status: 200, schema: Import },
  errors: ['NOT_FOUND'],
  handle: async (app, { params }, { tenant }) => importOf(await importWith(app, tenant, params.id)),
})

const getErrors = download({
  path: '/v1/customers/imports/:id/errors',
  operation: 'customers.getImportErrors',
  summary: 'Download the errors of an import of customers',
  description:
    'CSV with a line for each row that was not imported: line, code, field, message and, for CUSTOMER_CONFLICT, customer_id of the existing customer.',
  scope: 'customers:read',
  params: IdParam,
  needs,
  types: ['text/csv'],
  errors: ['NOT_FOUND'],
  handle: async (app, { params }, { tenant }) => {
    const { id, failed } = await importWith(app, tenant, params.id)
    return {
      ...{ type: 'text/csv; charset=utf-8', size: null, tag: `${id}-${failed}`, name: 'import-errors.csv' },
      open: () => errorLines(app, { ...tenant, id }),
    }
  },
})

async function* errorLines(app: App, { bucket, account, environment, id }: One): AsyncGenerator<Buffer> {
  yield Buffer.from(csvLine(['line', 'code', 'field', 'message', 'customer_id']))
  let after = 0
  for (;;) {
    const rows = await app.db.query(listErrors, { bucket, account, environment, id, after, limit: errorsAtOnce })
    const lines = rows.map(({ line, code, field, message, customer_id }) =>
      csvLine([line, code, field, message, customer_id === null ? null : idOf('customer', customer_id)]),
    )
    if (lines.length > 0) yield Buffer.from(lines.join(''))
    after = rows.at(-1)?.line ?? after
    if (rows.length < errorsAtOnce) return
  }
}

async function importWith(app: App, tenant: Tenant, id: string): Promise<ImportRow> {
  const uuid = uuidOf('customerImport', id)
  const row = uuid === null ? null : await maybe(app.db.query(findImport, { ...tenant, id: uuid }))
  if (row === null) throw new AppError('NOT_FOUND', 'there is no such import; the ids of imports begin with imp_')
  return row
}

export const importRoutes: readonly Route[] = [begin, preview, listAll, get, getErrors]
