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
      description: 'State; `completed`: all rows were read, `failed`: reading stopped, see `reason`',
    }),
    reason: Nullable(Type.String({ description: 'Reason why reading stopped; earlier rows are imported' })),
    format: OneOf(formats, { description: 'Format of the file: CSV or JSON lines' }),
    file_name: Nullable(Type.String({ description: 'Name of the uploaded file' })),
    file_bytes: Type.Integer({ description: 'Size of the file' }),
    bytes_read: Type.Integer({ description: 'Number of processed bytes of the file' }),
    rows_read: Type.Integer({ description: 'Number of processed rows' }),
    created: Type.Integer({ description: 'Rows that created a customer' }),
    updated: Type.Integer({ description: 'Rows that changed a customer' }),
    unchanged: Type.Integer({ description: 'Rows that changed nothing' }),
    failed: Type.Integer({ description: 'Rows that were not imported; the errors say why' }),
    consents_withdrawn: Type.Integer({
      description: 'Number of consents in the file that the customer had withdrawn; the withdrawals are kept',
    }),
    created_at: At({ description: 'Time the upload was complete' }),
    finished_at: Nullable(At({ description: 'Time of completion' })),
  },
  { title: 'CustomerImport' },
)
