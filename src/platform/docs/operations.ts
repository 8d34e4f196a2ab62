// SPDX-License-Identifier: Apache-2.0
// Operations and events of the reference pages, from their declarations.
import { errors } from '../../kernel/errors.ts'
import { explanationOf } from '../api/reference.ts'
import type { Route } from '../api/route.ts'
import { sampleBody } from '../events/catalogue.ts'
import type { EventType } from '../events.ts'
import { errorCodesOf, ownErrorCodesOf } from '../openapi/route-errors.ts'
import { needsBody } from '../openapi.ts'
import { propertiesOf, requiredOf } from '../schema/json-schema.ts'
import { type Html, html, json, prose } from '../web/html.ts'
import { countFields, replyTable, requestTable, sampleOf } from './fields.ts'
import { replyLike } from './replies.ts'
import { type Sample, samplesOf } from './samples.ts'
import type { Place, SdkCall } from './sdk-samples.ts'

export function operationArticle(route: Route, place: Place, routes: readonly Route[]): Html {
  const { method, path, aliases = [], operation, summary } = route
  const explained = explanationOf(route)
  return html`
    <article id="${operation}" class="operation">
      <div class="text">
        <h2><a href="#${operation}">${prose(summary)}</a></h2>
        <p class="address">${badge(method)} ${pathOf(path)}</p>
        ${aliases.length > 0 && html`<p class="aliases">Also ${aliases.map((alias) => pathOf(alias))}</p>`}
        ${explained !== undefined && html`<p>${prose(explained)}</p>`}
        ${facts(route)}
        ${inputs(route)}
        ${replyFields(route)}
        ${errorLinks(route)}
      </div>
      <div class="code">
        ${examplesOf(route).map((example) => requestSample(route, example, place))}
        ${replySample(route, place, routes)}
      </div>
    </article>`
}

export function eventArticle(type: EventType): Html {
  const { aliases = [] } = type
  return html`
    <article id="event.${type.name}" class="operation">
      <div class="text">
        <h2><a href="#event.${type.name}">${type.name}</a></h2>
        ${aliases.length > 0 && html`<p class="aliases">Also ${aliases.map((alias) => html`<code>${alias}</code> `)}</p>`}
        <p>${prose(type.summary)}.</p>
        ${replyTable(type.payload)}
      </div>
      <div class="code">${codeBlock('Body', json(JSON.stringify(JSON.parse(sampleBody(type)), null, 2)))}</div>
    </article>`
}

export function badge(method: string): Html {
  return html`<span class="method ${method.toLowerCase()}">${method}</span>`
}

/** Path with highlighted parameters and line break opportunities. */
function pathOf(path: string): Html {
  const steps = path.split('/').slice(1)
  return html`<code class="path">${steps.map((step) => (step.startsWith(':') ? html`/<wbr><i>{${step.slice(1)}}</i>` : html`/<wbr>${step}`))}</code> `
}

function facts({ operation, scope, limit, method }: Route): Html {
  return html`
    <dl class="facts">
      <div><dt>Operation</dt><dd><code>${operation}</code></dd></div>
      <div><dt>Scope</dt><dd>${scope === 'any' ? 'any valid credential' : html`<code>${scope}</code>`}</dd></div>
      ${limit !== undefined && method !== 'GET' && html`<div><dt>Plan limit</dt><dd><code>${limit}</code></dd></div>`}
    </dl>`
}

function inputs(route: Route): Html[] {
  const { path, params, query, body, files = {} } = route
  const tables: Html[] = []
  if (path.includes(':')) tables.push(section('Path', replyTable(params)))
  if (countFields(query) > 0) tables.push(section('Query', requestTable(query)))
  if (countFields(body) > 0) tables.push(section(bodyTitle(route), requestTable(body)))
  if (Object.keys(files).length > 0) tables.push(section('Files', fileList(files)))
  return tables
}

function bodyTitle({ kind, form, files }: Route): string {
  if (kind === 'multipart') return 'Body, as multipart/form-data'
  if (files) return 'Body, as JSON or as multipart/form-data'
  return form ? 'Body, as JSON or as a form' : 'Body'
}

function fileList(files: NonNullable<Route['files']>): Html {
  const rows = Object.entries(files).map(
    ([name, { maxBytes, types = [], description, most = 1, optional = false }]) => {
      const bounds = [
        `at most ${maxBytes} bytes`,
        ...(most > 1 ? [`${most} of them`] : []),
        ...(types.length > 0 ? [types.join(', ')] : []),
        ...(optional ? ['may be left out'] : []),
      ]
      return html`<li><code>${name}</code> ${description ? `${description}: ` : ''}${bounds.join('; ')}</li>`
    },
  )
  return html`<ul>${rows}</ul>`
}

function section(title: string, content: Html): Html {
  return html`<section><h3>${title}</h3>${content}</section>`
}

/** Reply fields, collapsed: the sample shows the shape, and many operations return the same long object. */
function replyFields(route: Route): Html {
  const { kind, reply } = route
  if (route.kind === 'download')
    return folded('200', `bytes: ${route.types.join(', ')}; 206 for a Range, 304 for an ETag`)
  if (reply.status === 204) return folded('204', 'no body')
  if (reply.text === true) return folded(String(reply.status), 'text/plain')
  const count = countFields(reply.schema)
  const each = kind === 'stream' ? ' of each message' : reply.list ? ' of each row' : ''
  const what = `${count} ${count === 1 ? 'field' : 'fields'}${each}`
  return html`<details><summary>Reply <b>${reply.status}</b> <span>${what}</span></summary><div class="fold">${envelopeNote(route)}${replyTable(reply.schema)}</div></details>`
}

/** Where the fields stand: what every reply has is not in its table. */
function envelopeNote({ kind, reply }: Route): Html {
  if (kind === 'stream') return html`<p>JSON in the <code>data</code> of each message.</p>`
  if (reply.list)
    return html`<p>Each row of <code>data</code>, beside <code>success</code>, <code>has_more</code> and <code>next_cursor</code>: see <a href="/docs#lists">Lists</a>.</p>`
  const ownsData = Object.hasOwn(propertiesOf(reply.schema), 'data')
  return ownsData
    ? html`<p>Beside <code>success</code>: see <a href="/docs#replies">Replies</a>.</p>`
    : html`<p>In <code>data</code> and beside it, with <code>success</code>: see <a href="/docs#replies">Replies</a>.</p>`
}

/** Collapsed reply without fields. */
function folded(status: string, what: string): Html {
  return html`<details><summary>Reply <b>${status}</b> <span>${what}</span></summary></details>`
}

function errorLinks(route: Route): Html {
  const links = errorCodesOf(route).map(
    (code) => html`<a href="/docs/errors/${code}"><b>${errors[code][0]}</b> ${code}</a> `,
  )
  const own = ownErrorCodesOf(route).join(', ')
  const what = own ? `${own} and ${links.length - ownErrorCodesOf(route).length} more` : `${links.length} codes`
  return html`<details><summary>Errors <span>${what}</span></summary><p class="codes fold">${links}</p></details>`
}

/** Recorded reply of the example; otherwise a sample from the schema. */
function replySample(route: Route, { url }: Place, routes: readonly Route[]): Html | false {
  const { kind, reply } = route
  if (kind === 'download' || reply.status === 204) return false
  const title = `Reply ${reply.status}`
  const real = replyLike(routes, route, url)
  if (real !== null) return codeBlock(title, json(JSON.stringify(real, null, 2)))
  const row = sampleOf(reply.schema)
  if (reply.text === true) return codeBlock(title, html`${String(row)}`)
  if (kind === 'stream')
    return codeBlock('One message of the stream', html`id: evt_...\nevent: ...\ndata: ${json(JSON.stringify(row))}`)
  const ownsData = Object.hasOwn(propertiesOf(reply.schema), 'data')
  const shape = reply.list
    ? { success: true, data: [row], has_more: false, next_cursor: null }
    : { success: true, ...(ownsData ? Object(row) : { data: row }) }
  return codeBlock(title, json(JSON.stringify(shape, null, 2)))
}

type ExampleShown = NonNullable<Route['examples']>[number]

function examplesOf(route: Route): readonly ExampleShown[] {
  const { examples = [], body } = route
  if (examples.length > 0) return examples
  if (route.kind === 'multipart') return [{ name: 'Request' }]
  return [{ name: 'Request', ...(needsBody(route) ? { body: neededOf(body) } : {}) }]
}

/** Required fields of a request without an example. */
function neededOf(body: unknown): unknown {
  const needed = requiredOf(body)
  return Object.fromEntries(Object.entries(Object(sampleOf(body))).filter(([name]) => needed.includes(name)))
}

/** Example in every language, the first one open, and the data for trying it in the browser. */
function requestSample(route: Route, example: ExampleShown, place: Place): Html {
  const sample = sampleRequest(route, example)
  const [[, curl] = ['', html``], ...others] = samplesOf(place, sample)
  const more = others.map(
    ([language, code]) =>
      html`<details class="language"><summary>${language}</summary><pre tabindex="0"><code>${code}</code></pre></details>`,
  )
  const body = sample.body === undefined ? '' : JSON.stringify(sample.body, null, 2)
  // Operator keys are for live data, and files cannot be typed into a page: not tried in the browser.
  const isTried = route.scope !== 'operator' && ['read', 'write', 'commit'].includes(route.kind)
  const attempt = html`<button type="button" class="try" hidden data-method="${sample.method}" data-address="${sample.address}" data-body="${body}">Try it</button>`
  return html`<figure><figcaption>${example.name}</figcaption><pre tabindex="0"><code>${curl}</code></pre>${more}${isTried && attempt}</figure>`
}

function sampleRequest(route: Route, { params, query, body }: ExampleShown): Sample {
  const { method, path, scope } = route
  const given: Readonly<Record<string, unknown>> = Object(params)
  const address = path.replaceAll(/:(\w+)/g, (_all, name: string) =>
    given[name] === undefined ? `$${name}` : encodeURIComponent(String(given[name])),
  )
  const search = new URLSearchParams(
    Object.entries(Object(query)).map(([name, value]): [string, string] => [name, String(value)]),
  )
  const asked = search.toString().replaceAll('%2C', ',')
  return {
    method,
    address: `${address}${asked && `?${asked}`}`,
    gives: givesOf(route),
    key: scope === 'operator' ? 'OPERATOR' : 'KEY',
    body,
    ...(route.kind === 'multipart' ? { parts: partsOf(route) } : {}),
    ...(route.kind === 'upload' ? {} : { call: sdkCall(route, given, query, body) }),
  }
}

/** The same request as a call of an SDK, where query and body are one. */
function sdkCall(route: Route, params: Readonly<Record<string, unknown>>, query: unknown, body: unknown): SdkCall {
  const { operation, path, scope, kind, files = {} } = route
  const isForm = kind === 'multipart'
  return {
    operation,
    path: [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => String(params[name] ?? `$${name}`)),
    input: { ...Object(query), ...Object(isForm ? neededOf(route.body) : body) },
    files: isForm ? Object.keys(files).filter((name) => !files[name]?.optional) : [],
    gives: givesOf(route),
    isOperator: scope === 'operator',
  }
}

function givesOf({ kind, reply }: Route): SdkCall['gives'] {
  if (kind === 'download') return 'file'
  if (kind === 'stream') return 'stream'
  if (reply.text === true) return 'text'
  return reply.list ? 'list' : 'value'
}

/** Required parts of a multipart request, for curl. */
function partsOf({ files = {}, body }: Route): string[] {
  const needed = Object.keys(files).filter((name) => !files[name]?.optional)
  const fields = Object.entries(Object(neededOf(body))).map(([name, value]) => `${name}=${String(value)}`)
  return [...needed.map((name) => `${name}=@${name}`), ...fields]
}

export function codeBlock(title: string, content: Html): Html {
  return html`<figure><figcaption>${title}</figcaption><pre tabindex="0"><code>${content}</code></pre></figure>`
}
