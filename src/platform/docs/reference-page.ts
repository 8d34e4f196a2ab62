// SPDX-License-Identifier: Apache-2.0
// Pages of the reference: introduction, one page per area, events.

import { chaptersOf } from '../api/reference.ts'
import type { EventType } from '../events.ts'
import { type Html, html, prose } from '../web/html.ts'
import { page, type Reference } from './frame.ts'
import { appliedTo, type GuidePage, guides } from './guides.ts'
import { introduction } from './introduction.ts'
import { badge, eventArticle, operationArticle } from './operations.ts'

export function frontPage(reference: Reference): string {
  const { areas, place } = reference
  const routes = areas.flatMap((area) => area.routes)
  const links = introduction.map(([id, title]) => html`<li><a href="#${id}">${title}</a></li>`)
  const content = html`
    ${introduction.map(([id, title, write]) => html`<article id="${id}" class="operation intro">${write(title, { routes, place })}</article>`)}
    <h2 id="areas">What there is</h2>
    <ul class="areas">${chaptersOf(areas).map(({ tag, title, about }) => html`<li><a href="/docs/reference/${tag}">${title}</a> ${about}</li>`)}</ul>`
  return page(reference, { title: 'Documentation', path: '/docs', links, content })
}

/** Operations of an area, each under its summary. */
export function areaPage(reference: Reference, tag: string): string {
  const chapter = chaptersOf(reference.areas).find((one) => one.tag === tag)
  const { title = tag, about = '', routes = [] } = chapter ?? {}
  const links = routes.map(
    ({ operation, method, summary }) =>
      html`<li><a href="#${operation}" title="${operation}"><span>${prose(summary)}</span> ${badge(method)}</a></li>`,
  )
  const all = reference.areas.flatMap((area) => area.routes)
  const content = html`<h1 class="area">${title}</h1>${about !== '' && html`<p class="lead">${about}</p>`}${routes.map((route) => operationArticle(route, reference.place, all))}`
  return page(reference, { title, path: `/docs/reference/${tag}`, links, content })
}

export function eventsPage(reference: Reference): string {
  const events = eventsOf(reference)
  const links = events.map(({ name }) => html`<li><a href="#event.${name}">${name}</a></li>`)
  const content = html`<h1 class="area">Event catalogue</h1><p class="lead">What happened, as it is told to you. Each event is stored in the transaction that made it true.</p>${events.map(eventArticle)}`
  return page(reference, { title: 'Event catalogue', path: '/docs/events', links, content })
}

/** Events of areas that have routes. */
export function eventsOf({ areas }: Pick<Reference, 'areas'>): EventType[] {
  return areas.filter(({ routes }) => routes.length > 0).flatMap((area) => area.events ?? [])
}

export function guidePage(reference: Reference, { name, guide }: GuidePage): string {
  const links = guide.headings
    .filter(({ level }) => level === 2)
    .map(({ id, text }) => html`<li><a href="#${id}">${text}</a></li>`)
  const content = html`<article class="prose">${appliedTo(reference.place, guide.content)}${name === 'api' && decisions()}</article>`
  return page(reference, { title: guide.title, path: `/docs/guides/${name}`, links, content })
}

function decisions(): Html {
  const pages = guides().filter(({ name }) => name.startsWith('decisions/'))
  if (pages.length === 0) return html``
  return html`<h2 id="why-it-is-so">Why it is so</h2><ul>${pages.map(({ name, guide }) => html`<li><a href="/docs/guides/${name}">${guide.title}</a></li>`)}</ul>`
}
