// SPDX-License-Identifier: Apache-2.0
// `/docs`: how to begin, every operation, every event.
import { chaptersOf } from '../openapi/reference.ts'
import type { Route } from '../route.ts'
import { type Html, html } from '../web/html.ts'
import { navGroup, page, type Reference } from './frame.ts'
import { introduction } from './introduction.ts'
import { badge, eventArticle, operationArticle } from './operations.ts'

export function referencePage({ version, areas, place }: Reference): string {
  const routes = areas.flatMap((area) => area.routes)
  const events = areas.flatMap((area) => area.events ?? [])
  const chapters = chaptersOf(areas)
  const links = html`
    ${navGroup(
      'Introduction',
      introduction.map(([id, title]) => html`<li><a href="#${id}">${title}</a></li>`),
    )}
    ${chapters.map(({ title, routes }) => navGroup(title, routes.map(operationLink)))}
    ${
      events.length > 0 &&
      navGroup(
        'Event catalogue',
        events.map(({ name }) => html`<li><a href="#event.${name}">${name}</a></li>`),
      )
    }`
  const content = html`
    ${introduction.map(([id, title, write]) => html`<article id="${id}" class="operation intro">${write(title, { routes, place })}</article>`)}
    ${chapters.map(({ tag, title, about, routes }) => html`<h2 id="area.${tag}">${title}</h2>${about !== '' && html`<p class="lead">${about}</p>`}${routes.map((route) => operationArticle(route, place))}`)}
    ${events.length > 0 && html`<h2 id="event-catalogue">Event catalogue</h2><p class="lead">What happened, as it is told to you. Each event is stored in the transaction that made it true.</p>`}
    ${events.map(eventArticle)}`
  return page({ title: 'API reference', version, links, content })
}

function operationLink({ operation, method, summary }: Route): Html {
  return html`<li><a href="#${operation}" title="${summary}">${words(operation.split('.').slice(1).join(' '))} ${badge(method)}</a></li>`
}

const spelling: Readonly<Record<string, string>> = {
  api: 'API',
  sms: 'SMS',
  ussd: 'USSD',
  ivr: 'IVR',
  otp: 'OTP',
  whoami: 'Who am I',
}

/** `apiKeys` -> `API keys`. */
function words(name: string): string {
  const [first = '', ...rest] = name.split(/(?=[A-Z])|\s/)
  const spelled = rest.map((word) => spelling[word.toLowerCase()] ?? word.toLowerCase())
  return [spelling[first] ?? `${first.charAt(0).toUpperCase()}${first.slice(1)}`, ...spelled]
    .join(' ')
    .replace(/\bApi\b/i, 'API')
}
