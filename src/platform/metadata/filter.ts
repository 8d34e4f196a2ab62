// SPDX-License-Identifier: Apache-2.0
// Metadata filter of lists, `?metadata[order]=77`. It scans the tenant's rows within the requested days, in list order;
// metadata has no index.
import { Type } from 'typebox'

const maxNotes = 10

/** Query parameters of the filter. */
export const metadataQuery = {
  metadata: Type.Optional(
    Type.Record(Type.String({ maxLength: 40 }), Type.String({ maxLength: 500 }), {
      maxProperties: maxNotes,
      rule: `must name at most ${maxNotes} metadata fields, as metadata[order]=77`,
      description: 'Filter by metadata',
    }),
  ),
}

/** Value of a statement's `$metadata`. */
export function askedMetadata({ metadata }: { metadata?: Record<string, string> }): string | null {
  return metadata === undefined ? null : JSON.stringify(metadata)
}

/** SQL condition: each requested key exists with an equal text. */
export function carriesMetadata(column = 'metadata'): string {
  return `($metadata::jsonb is null or not exists (
             select from jsonb_each_text($metadata::jsonb) w where ${column} ->> w.key is distinct from w.value))`
}
