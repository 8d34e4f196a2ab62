// SPDX-License-Identifier: Apache-2.0
// Call of an operation: the same request that a program would send, given to the same server inside this process, so that
// limits, scope, idempotency, checks, audit and request log are those of the operation.

import { propertiesOf } from '../schema/json-schema.ts'
import { shortened } from './short.ts'
import type { Tool } from './tools.ts'
import { type Parts, rowsUnlessSaid } from './tools.ts'

/** Request to the server inside this process. */
interface InnerRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly payload?: string
  readonly remoteAddress: string
}

interface InnerAnswer {
  readonly statusCode: number
  readonly headers: Readonly<Record<string, unknown>>
  readonly body: string
}

/** Server of this process. */
export type Inner = (request: InnerRequest) => Promise<InnerAnswer>

/** Who calls, as the operation's request says it. */
export interface Calling {
  readonly authorization: string
  readonly ip: string
  readonly idempotencyKey: string | null
}

/** Result of a tool, as MCP has it. */
export interface ToolResult {
  readonly content: readonly { readonly type: 'text'; readonly text: string }[]
  readonly structuredContent?: object
  readonly isError?: true
  readonly _meta?: Readonly<Record<string, unknown>>
}

export async function callOperation(inner: Inner, tool: Tool, parts: Parts, calling: Calling): Promise<ToolResult> {
  const { statusCode, headers, body } = await inner(requestOf(tool, parts, calling))
  const _meta = { 'pamoja/request_id': headers['x-request-id'] }
  if (statusCode >= 400) return { ...failed(Object(JSON.parse(body).error)), _meta }
  const replayed = headers['idempotent-replayed'] === 'true' ? { 'pamoja/replayed': true } : {}
  return { ...succeeded(valueIn(String(headers['content-type'] ?? ''), body)), _meta: { ..._meta, ...replayed } }
}

function requestOf({ route }: Tool, { params, query, body }: Parts, calling: Calling): InnerRequest {
  const { method } = route
  const path = route.path.replaceAll(/:(\w+)/g, (_match, name: string) => encodeURIComponent(String(params[name])))
  const rows = Object.hasOwn(propertiesOf(route.query), 'limit') ? { limit: rowsUnlessSaid } : {}
  const search = searchOf({ ...rows, ...query })
  const payload = route.body === undefined ? {} : { payload: JSON.stringify(inOneOrder(body)) }
  return {
    method,
    url: search === '' ? path : `${path}?${search}`,
    headers: {
      authorization: calling.authorization,
      accept: 'application/json',
      // A misspelt field is refused with the one that was meant, so that the next call is right.
      'pamoja-strict': 'true',
      'pamoja-envelope': 'flat',
      ...(calling.idempotencyKey === null || method === 'GET' ? {} : { 'idempotency-key': calling.idempotencyKey }),
      ...(route.body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...payload,
    remoteAddress: calling.ip,
  }
}

/** Fields in one order: under an idempotency key, a repeat must be the same text. */
function inOneOrder(fields: object): object {
  return Object.fromEntries(Object.entries(fields).sort(([a], [b]) => (a < b ? -1 : 1)))
}

/** Query as the API reads it: lists with commas, objects with brackets. */
function searchOf(query: Readonly<Record<string, unknown>>): string {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query))
    if (Array.isArray(value)) search.set(name, value.join(','))
    else if (typeof value === 'object' && value !== null)
      for (const [key, one] of Object.entries(value)) search.set(`${name}[${key}]`, String(one))
    else if (value !== null) search.set(name, String(value))
  return search.toString()
}

function valueIn(type: string, body: string): object {
  if (body === '') return { done: true }
  if (!type.startsWith('application/json')) return { text: body }
  const { success: _success, ...value } = Object(JSON.parse(body))
  return value
}

/** Result of something that was done. */
export function succeeded(value: object): ToolResult {
  const { value: short, isCut } = shortened(value)
  const told = isCut ? { ...short, shortened: 'Long texts and lists are cut: ask for less, or for one record' } : short
  return { content: [{ type: 'text', text: JSON.stringify(told) }], structuredContent: told }
}

/** Refusal, in words that a model can act on: the code, what is wrong, and with which fields. */
export function failed({ code, details, fields, request_id, required_scope }: Record<string, unknown>): ToolResult {
  const text = JSON.stringify({ code, details, fields, required_scope, request_id })
  return { content: [{ type: 'text', text }], isError: true }
}
