// SPDX-License-Identifier: Apache-2.0
// Shapes of imports.
import { Type } from 'typebox'
import { At, Nullable, OneOf } from '../../../platform/schema/fields.ts'

export const importStates = ['running', 'completed', 'failed'] as const
export const formats = ['csv', 'jsonl'] as const

export const Import = Type.Object(
  {
    import_id: Type.String({ description: 'Id of the import, such as `imp_…`' }),
    state: OneOf(importStates, {
      description: '`completed` when every row was read, `failed` when the file cannot be read on; see reason',
    }),
    reason: Nullable(Type.String({ description: 'Reason why reading stopped. Rows before that are imported' })),
    format: OneOf(formats, { description: 'Format of the file: CSV or JSON lines' }),
    file_name: Nullable(Type.String({ description: 'Name of the file as it was sent' })),
    file_bytes: Type.Integer({ description: 'Size of the file' }),
    bytes_read: Type.Integer({ description: 'Bytes of the file whose rows are done' }),
    rows_read: Type.Integer({ description: 'Rows that are done' }),
    created: Type.Integer({ description: 'Rows that created a customer' }),
    updated: Type.Integer({ description: 'Rows that changed a customer' }),
    unchanged: Type.Integer({ description: 'Rows that changed nothing' }),
    failed: Type.Integer({ description: 'Rows that were not imported; the errors say why' }),
    consents_withdrawn: Type.Integer({
      description: 'Consents that the file grants and the customer withdrew before. The withdrawal stays',
    }),
    created_at: At({ description: 'Time the upload was complete' }),
    finished_at: Nullable(At({ description: 'Time of completion' })),
  },
  { title: 'CustomerImport' },
)
