// SPDX-License-Identifier: Apache-2.0
// Imports as replies and events tell of them.
import { type Static, Type } from 'typebox'
import { idOf } from '../../../kernel/ids.ts'
import { eventType } from '../../../platform/events.ts'
import { Import } from './schema.ts'
import type { ImportRow } from './store.ts'

const sample: Static<typeof Import> = {
  ...{ import_id: 'imp_01jb2c3d4e5f6g7h8j9kamnpqr', state: 'completed', reason: null, format: 'csv' },
  ...{ file_name: 'customers.csv', file_bytes: 912_334, bytes_read: 912_334, rows_read: 10_000 },
  ...{ created: 9_950, updated: 30, unchanged: 12, failed: 8, consents_withdrawn: 2 },
  ...{ created_at: new Date('2026-03-01T09:15:30Z'), finished_at: new Date('2026-03-01T09:15:32Z') },
}

export const importEvents = {
  finished: eventType({
    name: 'customer.import_finished',
    summary: 'An import of customers was completed or failed; its rows have no events of their own',
    payload: Type.Object(
      { import: Type.Object(Import.properties, { description: 'Import with the results of its rows' }) },
      { title: 'CustomerImportFinishedEvent' },
    ),
    sample: { import: sample },
  }),
}

export function importOf({ id, withdrawn, file_bytes, bytes_read, ...row }: ImportRow): Static<typeof Import> {
  const { state, reason, format, file_name, rows_read, created, updated, unchanged, failed } = row
  return {
    ...{ import_id: idOf('customerImport', id), state, reason, format, file_name, file_bytes: Number(file_bytes) },
    ...{ bytes_read: Number(bytes_read), rows_read, created, updated, unchanged, failed },
    ...{ consents_withdrawn: withdrawn, created_at: row.created_at, finished_at: row.finished_at },
  }
}
