// SPDX-License-Identifier: Apache-2.0
// Introduction before the operations.
import type { Route } from '../api/route.ts'
import { type Html, html, json } from '../web/html.ts'
import { codeBlock } from './operations.ts'
import { curlCommand } from './samples.ts'
import type { Place } from './sdk-samples.ts'

interface Surroundings {
  routes: readonly Route[]
  place: Place
}

type Section = readonly [id: string, title: string, write: (title: string, around: Surroundings) => Html]

export const introduction: readonly Section[] = [
  [
    'start',
    'First request',
    (_title, { routes, place }) => {
      const first = routes.find(({ method, path }) => method === 'GET' && !path.includes(':'))
      return columns(
        html`
          <h1>One API for messages, calls and money</h1>
          <p class="lead">Everything is HTTPS and JSON under <code>${place.url}/api/v1</code>. The same paths work without <code>/api</code>.</p>
          <p>Put your test key into <code>KEY</code> and run the command; the first start prints one and keeps it in <code>credentials.json</code>. Commands of operators take theirs from <code>OPERATOR</code>. Where a sample has <code>$payment_id</code> or the like, export that too, in the same way: programs read it from there. Test keys work on a sandbox of their own: nothing they do reaches a person or costs money.</p>
          ${place.caFile !== null && html`<p>This installation made its own certificate authority: <code>--cacert</code> tells curl to trust it, <code>PAMOJA_CA_FILE</code> does the same for the <a href="/docs/guides/sdks">SDKs</a>.</p>`}
          ${place.home.startsWith('$') && html`<p>This installation keeps its files in a directory of its own: commands find it in <code>PAMOJA_HOME</code>.</p>`}`,
        first
          ? html`${codeBlock('The keys, where the program runs', keyLines(place))}${codeBlock('Your first request', curlCommand(place, { method: first.method, address: first.path }))}`
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
          <p>The fields of an object are in <code>data</code> and once more beside it, so clients of either habit can read them. The header <code>Pamoja-Envelope: flat</code> or <code>data</code> leaves one of the two out.</p>
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
          <p>Give a POST, PUT, PATCH or DELETE an <code>Idempotency-Key</code>. Repeating the same request with the same key, even after a lost connection, gives the first answer again and does nothing twice. The same key with another request is <a href="/docs/errors/DUPLICATE_REFERENCE">DUPLICATE_REFERENCE</a>. Keys are kept for a day.</p>`,
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
          <p>Newest first. Filters combine: a row must match them all. While <code>has_more</code> is true, pass <code>next_cursor</code> as <code>cursor</code> for the next page; rows that arrive meanwhile do not shift it. With <code>format=csv</code> or <code>Accept: text/csv</code> the whole list comes as a file.</p>
          <p>Times are ISO 8601 in UTC, money is a number of major units with its currency, ids are opaque texts that sort by time.</p>`,
        codeBlock(
          'A page',
          json('{\n  "success": true,\n  "data": [ … ],\n  "has_more": true,\n  "next_cursor": "…"\n}'),
        ),
      ),
  ],
]

function keyLines({ home }: Place): Html {
  const directory = home.startsWith('$') ? home : `./${home}`
  const from = (member: string) => `$(node -p "require('${directory}/credentials.json').${member}")`
  return html`export KEY=${from('api_key')}\nexport OPERATOR=${from('operator_key')}`
}

function columns(text: Html, code: Html | null): Html {
  return html`<div class="text">${text}</div><div class="code">${code}</div>`
}
