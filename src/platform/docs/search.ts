// SPDX-License-Identifier: Apache-2.0
// What the search of the documentation looks through, as one file that the page fetches when somebody begins to type: every
// section of the guides, every operation with its fields, every event and every error.
import { errors } from '../../kernel/errors.ts'
import { propertiesOf } from '../openapi/json-schema.ts'
import { chaptersOf } from '../openapi/reference.ts'
import type { Reference } from './frame.ts'
import { guides } from './guides.ts'
import { eventsOf } from './reference-page.ts'

interface Entry {
  /** Where it leads. */
  u: string
  /** Its title. */
  t: string
  /** What it is part of. */
  p: string
  /** Its words. */
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

/** A guide is found by each of its sections. */
function sections(): Entry[] {
  return guides().flatMap(({ name, guide }) => {
    const starts = guide.headings.map((heading) => ({ heading, at: guide.text.indexOf(`${heading.text}\n`) }))
    return starts.map(({ heading, at }, i): Entry => {
      const words = guide.text.slice(at, starts[i + 1]?.at).replaceAll(/\s+/g, ' ')
      return { u: `/docs/guides/${name}#${heading.id}`, t: heading.text, p: guide.title, w: words }
    })
  })
}

/** Words that a field may have, so that `otp` finds what takes `type: otp`. */
function wordsIn(schema: unknown): string[] {
  return Object.values(propertiesOf(schema)).flatMap((property) => {
    const { enum: words } = Object(property)
    return Array.isArray(words) ? words.map(String) : []
  })
}
