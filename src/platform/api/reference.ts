// SPDX-License-Identifier: Apache-2.0
// Chapters of the reference, declared by areas. Used by the pages and the OpenAPI document.

import { propertiesOf, requiredOf } from '../schema/json-schema.ts'
import type { Route } from './route.ts'

/** Chapter of the reference. */
export interface Chapter {
  readonly title: string
  /** One-sentence description. */
  readonly about: string
}

/** Declarations of areas that the reference uses. */
interface Described {
  readonly routes: readonly Route[]
  readonly chapters?: Readonly<Record<string, Chapter>>
}

interface WrittenChapter extends Chapter {
  readonly tag: string
  readonly routes: readonly Route[]
}

const unchanged = 'Absent fields are left unchanged.'

/** Tag of an operation: `sms` of `sms.send`. */
export function tagOf({ operation }: Pick<Route, 'operation'>): string {
  return operation.split('.')[0] ?? operation
}

/** Operations by tag, in the order of declared chapters; those without a chapter first. */
export function chaptersOf(areas: readonly Described[]): WrittenChapter[] {
  const chapters = new Map(areas.flatMap((area) => Object.entries(area.chapters ?? {})))
  const order = [...chapters.keys()]
  const byTag = new Map<string, Route[]>()
  for (const route of areas.flatMap((area) => area.routes)) {
    const tag = tagOf(route)
    const known = byTag.get(tag)
    if (known) known.push(route)
    else byTag.set(tag, [route])
  }
  return [...byTag]
    .sort(([a], [b]) => order.indexOf(a) - order.indexOf(b))
    .map(([tag, routes]) => {
      const { title, about } = chapters.get(tag) ?? { title: spelled(tag), about: '' }
      return { tag, title, about, routes }
    })
}

/** Declared description of a route, and what holds for every change of a part: the schemas are shared with POST. */
export function explanationOf({ method, body, description }: Route): string | undefined {
  const isPartial = method === 'PATCH' && Object.keys(propertiesOf(body)).length > requiredOf(body).length
  const sentences = [...(description ? [description] : []), ...(isPartial ? [unchanged] : [])]
  return sentences.length > 0 ? sentences.join(' ') : undefined
}

function spelled(tag: string): string {
  return `${tag.charAt(0).toUpperCase()}${tag.slice(1)}`
}
