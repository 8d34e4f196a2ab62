// SPDX-License-Identifier: Apache-2.0
// What the reference says of things that no single route says: its chapters, which areas declare, and what a filter of a list
// does. The pages and the OpenAPI document both read it.
import type { Route } from '../route.ts'

/** A part of the reference. */
export interface Chapter {
  readonly title: string
  /** What is found in it, in a sentence. */
  readonly about: string
}

/** What areas declare, as far as the reference is made of it. */
interface Described {
  readonly routes: readonly Route[]
  readonly chapters?: Readonly<Record<string, Chapter>>
}

interface WrittenChapter extends Chapter {
  readonly tag: string
  readonly routes: readonly Route[]
}

/** What an operation belongs to: `sms` of `sms.send`. */
export function tagOf({ operation }: Pick<Route, 'operation'>): string {
  return operation.split('.')[0] ?? operation
}

/** Operations by tag, in the order in which areas declare chapters; those of no chapter first, under their tag. */
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

/** Filters that are not called after what they look at. */
const filters: Readonly<Record<string, string>> = {
  to: 'Only those to this number',
  from: 'Only those from this sender or number',
  phone: 'Only those of this number',
  direction: 'Only those that go this way',
  active: 'Only those that are, or only those that are not',
}

/** What a filter does that its declaration does not explain. */
export function filterMeaning(name: string): string {
  const known = filters[name]
  if (known !== undefined) return known
  const thing = name.replace(/_id$/, '').replaceAll('_', ' ')
  return name.endsWith('_id') ? `Only those of this ${thing}` : `Only those with this ${thing}`
}
