// SPDX-License-Identifier: Apache-2.0
// The reference page and the error catalogue: the frame around both, the introduction, and the navigation.
import { STATUS_CODES } from 'node:http'
import { type ErrorCode, errors } from '../../kernel/errors.ts'
import type { Area } from '../area.ts'
import { chaptersOf } from '../openapi/reference.ts'
import { codesInOrder, errorCodesOf } from '../openapi/route-errors.ts'
import type { Route } from '../route.ts'
import { breakable, type Html, html, json } from '../web/html.ts'
import { badge, codeBlock, curlCommand, eventArticle, operationArticle, type Place } from './operations.ts'

export interface Reference {
  version: string
  areas: readonly Area[]
  place: Place
}

/** `/docs`: how to begin, every operation, every event. */
export function referencePage({ version, areas, place }: Reference): string {
  const routes = areas.flatMap((area) => area.routes)
  const events = areas.flatMap((area) => area.events ?? [])
  const chapters = chaptersOf(routes)
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

/** `/docs/errors`: every code, what it means and where it is met. `doc_url` of an error leads to its anchor. */
export function errorsPage({ version, areas }: Reference): string {
  const statuses = [...new Set(codesInOrder.map((code) => errors[code][0]))]
  const routes = areas.flatMap((area) => area.routes)
  const met = whoAnswers(routes)
  const links = html`${statuses.map((status) =>
    navGroup(
      `${status} ${STATUS_CODES[status] ?? ''}`,
      codesOf(status).map((code) => html`<li><a href="#${code}"><span>${breakable(code)}</span></a></li>`),
    ),
  )}`
  const content = html`
    <article class="operation intro">
      <div class="text">
        <h1>Errors</h1>
        <p>A program decides by <code>code</code>, a person reads <code>message</code> and <code>details</code>. Codes are always text. These three, <code>request_id</code> and <code>timestamp</code> are always there; some codes add members of their own.</p>
        <p>Repeat a request after 429, 500, 503 and <code>REQUEST_IN_PROGRESS</code>, waiting for <code>Retry-After</code> where it is given. Repeating any other error gives the same answer until something changes.</p>
      </div>
      <div class="code">${codeBlock('An error', json(sampleError))}</div>
    </article>
    ${statuses.map((status) => html`<h2>${status} ${STATUS_CODES[status] ?? ''}</h2>${codesOf(status).map((code) => errorArticle(code, met.get(code) ?? [], routes.length))}`)}`
  return page({ title: 'Errors', version, links, content })
}

// The frame --------------------------------------------------------------------------------------------------------

interface Frame {
  title: string
  version: string
  links: Html
  content: Html
}

function page({ title, version, links, content }: Frame): string {
  const { html: text } = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} · Pamoja</title>
<link rel="icon" href="/docs/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/docs/style.css">
<script src="/docs/docs.js" defer></script>
</head>
<body>
<a class="skip" href="#content">Skip to content</a>
<header>
  <a class="brand" href="/docs"><img src="/docs/icon.svg" alt="" width="24" height="24">Pamoja</a>
  <span class="version">${version}</span>
  <span class="links"><a class="home" href="/docs">Reference</a><a href="/docs/errors">Errors</a><a href="/openapi.json">OpenAPI</a><a class="menu" href="#menu">Menu</a></span>
</header>
<nav id="menu" aria-label="Contents">
  <a class="close" href="#content">Close</a>
  <input id="filter" type="search" placeholder="Filter" aria-label="Filter the contents" autocomplete="off" hidden>
  ${links}
</nav>
<main id="content" tabindex="-1">
${content}
</main>
</body>
</html>
`
  return text
}

function navGroup(title: string, items: readonly Html[]): Html {
  return html`<section><h2>${title}</h2><ul>${items}</ul></section>`
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

// The introduction -------------------------------------------------------------------------------------------------

interface Surroundings {
  routes: readonly Route[]
  place: Place
}

type Section = readonly [id: string, title: string, write: (title: string, around: Surroundings) => Html]

const introduction: readonly Section[] = [
  [
    'start',
    'First request',
    (_title, { routes, place }) => {
      const first = routes.find(({ method, path }) => method === 'GET' && !path.includes(':'))
      return columns(
        html`
          <h1>One API for messages, calls and money</h1>
          <p class="lead">Everything is HTTPS and JSON under <code>${place.url}/api/v1</code>. The same paths work without <code>/api</code>.</p>
          <p>Put your test key into <code>PAMOJA_API_KEY</code> and run the command; the first start prints one and keeps it in <code>credentials.json</code>. Test keys work on a sandbox of their own: nothing they do reaches a person or costs money.</p>
          ${place.caFile !== null && html`<p>This installation made its own certificate authority: <code>--cacert</code> tells curl to trust it, <code>NODE_EXTRA_CA_CERTS</code> does the same for Node.</p>`}`,
        first
          ? codeBlock('Your first request', curlCommand(place, { method: first.method, address: first.path }))
          : null,
      )
    },
  ],
  [
    'authentication',
    'Authentication',
    (title) =>
      columns(
        html`
          <h2>${title}</h2>
          <p>Send an API key, or a short-lived access token made with one, as <code>Authorization: Bearer</code>. Keys begin with <code>pmj_test_</code> or <code>pmj_live_</code>, and that decides which environment a request works on.</p>
          <p>A credential carries scopes such as <code>account:read</code>; write includes read. Plain HTTP is refused, never redirected, because a key sent that way must be replaced.</p>`,
        codeBlock(
          'Header',
          html`Authorization: Bearer <span class="s">pmj_test_…</span>\n\n<span class="c"># on every answer</span>\nPamoja-Environment: <span class="s">test</span>`,
        ),
      ),
  ],
  [
    'replies',
    'Replies',
    (title) =>
      columns(
        html`
          <h2>${title}</h2>
          <p>The fields of a thing stand in <code>data</code> and once more beside it, so clients of either habit can read them. The header <code>Pamoja-Envelope: flat</code> or <code>data</code> leaves one of the two out.</p>
          <p>Fields that are not known are ignored and named in <code>Pamoja-Warning</code>; with <code>Pamoja-Strict: true</code> they are refused. <code>X-Request-Id</code> names every request. Errors have one shape and a <a href="/docs/errors">code from one list</a>.</p>`,
        codeBlock(
          'Envelope',
          json(
            '{\n  "success": true,\n  "data": { "id": "key_…", "name": "Server" },\n  "id": "key_…",\n  "name": "Server"\n}',
          ),
        ),
      ),
  ],
  [
    'idempotency',
    'Safe retries',
    (title) =>
      columns(
        html`
          <h2>${title}</h2>
          <p>Give a POST, PATCH or DELETE an <code>Idempotency-Key</code>. Repeating the same request with the same key, even after a lost connection, gives the first answer again and does nothing twice. The same key with another request is <a href="/docs/errors#DUPLICATE_REFERENCE">DUPLICATE_REFERENCE</a>. Keys are kept for a day.</p>`,
        codeBlock(
          'Headers',
          html`Idempotency-Key: <span class="s">order-1001</span>\n\n<span class="c"># on every answer after the first</span>\nIdempotent-Replayed: <span class="s">true</span>`,
        ),
      ),
  ],
  [
    'limits',
    'Limits',
    (title) =>
      columns(
        html`
          <h2>${title}</h2>
          <p>Each key has a limit per second, and each plan a limit per minute and area for requests that start work. Every response tells the tightest one. Over it, the answer is 429 with <code>Retry-After</code> in seconds; requests that were refused do not count.</p>`,
        codeBlock(
          'Headers',
          html`X-RateLimit-Limit: <span class="n">100</span>\nX-RateLimit-Remaining: <span class="n">87</span>\nX-RateLimit-Reset: <span class="n">1772356531</span>`,
        ),
      ),
  ],
  [
    'lists',
    'Lists',
    (title) =>
      columns(
        html`
          <h2>${title}</h2>
          <p>Newest first. While <code>has_more</code> is true, pass <code>next_cursor</code> as <code>cursor</code> for the next page; rows that arrive meanwhile do not shift it. With <code>format=csv</code> or <code>Accept: text/csv</code> the whole list comes as a file.</p>
          <p>Times are ISO 8601 in UTC, money is a number of major units with its currency, ids are opaque texts that sort by time.</p>`,
        codeBlock(
          'A page',
          json('{\n  "success": true,\n  "data": [ … ],\n  "has_more": true,\n  "next_cursor": "…"\n}'),
        ),
      ),
  ],
]

function columns(text: Html, code: Html | null): Html {
  return html`<div class="text">${text}</div><div class="code">${code}</div>`
}

// Errors -----------------------------------------------------------------------------------------------------------

const sampleError = JSON.stringify(
  {
    success: false,
    error: {
      code: 'VALIDATION_ERROR',
      message: errors.VALIDATION_ERROR[1],
      details: 'name must have 1 to 100 characters',
      request_id: 'req_01jb2c3d4e5f6g7h8j9kamnpqr',
      timestamp: '2026-03-01T09:15:30.000Z',
      fields: [{ field: 'name', code: 'VALIDATION_ERROR', message: 'must have 1 to 100 characters' }],
      doc_url: '…/docs/errors#VALIDATION_ERROR',
    },
  },
  null,
  2,
)

function codesOf(status: number): ErrorCode[] {
  return codesInOrder.filter((code) => errors[code][0] === status)
}

/** Which operations answer with a code. */
function whoAnswers(routes: readonly Route[]): Map<ErrorCode, string[]> {
  const met = new Map<ErrorCode, string[]>()
  for (const route of routes)
    for (const code of errorCodesOf(route)) met.set(code, [...(met.get(code) ?? []), route.operation])
  return met
}

function errorArticle(code: ErrorCode, operations: readonly string[], total: number): Html {
  const [status, message] = errors[code]
  return html`
    <article id="${code}" class="error">
      <h3><a href="#${code}"><code>${code}</code></a> <span class="status s${Math.floor(status / 100)}">${status}</span></h3>
      <p>${message}</p>
      ${operations.length > 0 && (operations.length === total ? html`<p class="soft">Any operation can answer with it.</p>` : whereMet(operations))}
    </article>`
}

function whereMet(operations: readonly string[]): Html {
  const count = `${operations.length} ${operations.length === 1 ? 'operation' : 'operations'}`
  const links = operations.map((operation) => html`<a href="/docs#${operation}">${operation}</a> `)
  return html`<details><summary>Where it is met <span>${count}</span></summary><p class="codes fold">${links}</p></details>`
}
