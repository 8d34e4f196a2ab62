// SPDX-License-Identifier: Apache-2.0
// Search index of the documentation, one file fetched when the reader starts typing: sections of guides, operations
// with fields, events, errors.
import { errors } from '../../kernel/errors.ts'
import { chaptersOf } from '../api/reference.ts'
import { propertiesOf } from '../schema/json-schema.ts'
import type { Reference } from './frame.ts'
import { guides } from './guides.ts'
import { eventsOf } from './reference-page.ts'

interface Entry {
  /** URL. */
  u: string
  /** Title. */
  t: string
  /** Parent title. */
  p: string
  /** Words. */
  w: string
}

export function searchIndex(reference: Reference): string {
  const operations = chaptersOf(reference.areas).flatMap(({ tag, title, routes }) =>
    routes.map(({ operation, summary, description = '', path, body, query }): Entry => {
      const fields = [...Object.keys(propertiesOf(body)), ...Object.keys(propertiesOf(query)), ...wordsIn(body)]
      const words = `${operation} ${path} ${description} ${fields.join(' ')}`
      return { u: `/docs/reference/${tag}#${operation}`, t: summary.replaceAll('`', ''), p: title, w: words }
    }),
  )
  const events = eventsOf(reference).map(
    ({ name, summary }): Entry => ({ u: `/docs/events#event.${name}`, t: name, p: 'Event', w: summary }),
  )
  const codes = Object.entries(errors).map(
    ([code, [status, message]]): Entry => ({ u: `/docs/errors/${code}`, t: code, p: `Error ${status}`, w: message }),
  )
  return JSON.stringify([...sections(), ...operations, ...events, ...codes])
}

/** Index entries of guides, one per section. */
function sections(): Entry[] {
  return guides().flatMap(({ name, guide }) => {
    const starts = guide.headings.map((heading) => ({ heading, at: guide.text.indexOf(`${heading.text}\n`) }))
    return starts.map(({ heading, at }, i): Entry => {
      const words = guide.text.slice(at, starts[i + 1]?.at).replaceAll(/\s+/g, ' ')
      return { u: `/docs/guides/${name}#${heading.id}`, t: heading.text, p: guide.title, w: words }
    })
  })
}

/** Enum values of fields, so that `otp` finds what takes `type: otp`. */
function wordsIn(schema: unknown): string[] {
  return Object.values(propertiesOf(schema)).flatMap((property) => {
    const { enum: words } = Object(property)
    return Array.isArray(words) ? words.map(String) : []
  })
}
