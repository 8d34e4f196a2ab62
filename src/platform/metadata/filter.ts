// SPDX-License-Identifier: Apache-2.0
// `?metadata[order]=77` on a list: only what carries these notes of the customer's own. It is looked for among the
// tenant's own rows and within the days that are asked for, in the order of the list; no index is kept of notes.
import { Type } from 'typebox'

const maxNotes = 10

/** The part of a query string that names notes. */
export const metadataQuery = {
  metadata: Type.Optional(
    Type.Record(Type.String({ maxLength: 40 }), Type.String({ maxLength: 500 }), {
      maxProperties: maxNotes,
      rule: `must name at most ${maxNotes} of your notes, as metadata[order]=77`,
      description: 'Your own notes, as metadata[order]=77',
    }),
  ),
}

/** What a statement is given as `$metadata`. */
export function askedMetadata({ metadata }: { metadata?: Record<string, string> }): string | null {
  return metadata === undefined ? null : JSON.stringify(metadata)
}

/** The condition: each note that is asked for is there, and reads the same as a text. */
export function carriesMetadata(column = 'metadata'): string {
  return `($metadata::jsonb is null or not exists (
             select from jsonb_each_text($metadata::jsonb) w where ${column} ->> w.key is distinct from w.value))`
}
