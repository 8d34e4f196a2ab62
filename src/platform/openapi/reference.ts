// SPDX-License-Identifier: Apache-2.0
// Reference texts beyond single routes: chapters declared by areas, and the meaning of list filters. Used by the pages
// and the OpenAPI document.
import type { Route } from '../api/route.ts'

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

/** Tag of an operation: `sms` of `sms.send`. */
export function tagOf({ operation }: Pick<Route, 'operation'>): string {
  return operation.split('.')[0] ?? operation
}

/** Operations by tag, in the order of declared chapters; those without a chapter first. */
export function chaptersOf(areas: readonly Described[]): WrittenChapter[] {
  const routes = areas.flatMap((area) => area.routes)
  const chapters = new Map(areas.flatMap((area) => Object.entries(area.chapters ?? {})))
  const order = [...chapters.keys()]
  const tags = [...new Set(routes.map(tagOf))].sort((a, b) => order.indexOf(a) - order.indexOf(b))
  return tags.map((tag) => {
    const { title, about } = chapters.get(tag) ?? { title: spelled(tag), about: '' }
    return { tag, title, about, routes: routes.filter((route) => tagOf(route) === tag) }
  })
}

function spelled(tag: string): string {
  return `${tag.charAt(0).toUpperCase()}${tag.slice(1)}`
}

/** Filters whose name differs from their field. */
const filters: Readonly<Record<string, string>> = {
  to: 'Only those to this number',
  from: 'Only those from this sender or number',
  phone: 'Only those of this number',
  direction: 'Only those that go this way',
  active: 'Only those that are, or only those that are not',
}

/** Meaning of a filter without a description. */
export function filterMeaning(name: string): string {
  const known = filters[name]
  if (known !== undefined) return known
  const thing = name.replace(/_id$/, '').replaceAll('_', ' ')
  return name.endsWith('_id') ? `Only those of this ${thing}` : `Only those with this ${thing}`
}
