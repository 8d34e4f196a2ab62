// SPDX-License-Identifier: Apache-2.0
// The request with which a profile has a message sent: its fields and headers, filled with what the message says.
import type { OutboundMessage } from '../carrier.ts'
import { type Profile, placeholder, type Variable, variables } from './http-profile.ts'

export type Values = Readonly<Record<Variable, string | number>>

export function valuesOf(
  message: OutboundMessage,
  more: Pick<Values, 'parts' | 'password' | 'receipts_url' | 'inbound_url'>,
): Values {
  const { id, to, from, text, encoding, validitySeconds } = message
  return { id, to, to_digits: to.replace('+', ''), from, text, encoding, validity_seconds: validitySeconds, ...more }
}

export interface HttpRequest {
  readonly query: string
  readonly headers: Record<string, string>
  readonly body: string | null
}

export function requestOf({ request, auth }: Profile, values: Values): HttpRequest {
  const { format, fields } = request
  const headers: Record<string, string> = { accept: 'application/json' }
  for (const [name, value] of Object.entries(request.headers ?? {})) headers[name.toLowerCase()] = filled(value, values)
  const password = String(values.password)
  if (auth?.kind === 'basic')
    headers.authorization = `Basic ${Buffer.from(`${auth.username}:${password}`).toString('base64')}`
  if (auth?.kind === 'bearer') headers.authorization = `Bearer ${password}`
  if (auth?.kind === 'header') headers[(auth.header ?? '').toLowerCase()] = password
  if (format === 'json')
    return {
      query: '',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify(deeplyFilled(fields, values)),
    }
  const pairs = new URLSearchParams()
  for (const [name, value] of Object.entries(fields)) pairs.append(name, filled(String(value), values))
  if (format === 'query') return { query: pairs.toString(), headers, body: request.method === 'GET' ? null : '' }
  headers['content-type'] = 'application/x-www-form-urlencoded'
  return { query: '', headers, body: pairs.toString() }
}

function isVariable(name: string): name is Variable {
  return variables.some((variable) => variable === name)
}

function filled(template: string, values: Values): string {
  return template.replace(placeholder, (whole, name: string) => (isVariable(name) ? String(values[name]) : whole))
}

/** A text that is nothing but a number's name becomes the number. */
function deeplyFilled(value: unknown, values: Values): unknown {
  if (typeof value === 'string') {
    const [, only = ''] = /^\{\{(\w+)\}\}$/.exec(value) ?? []
    return isVariable(only) ? values[only] : filled(value, values)
  }
  if (Array.isArray(value)) return value.map((item) => deeplyFilled(item, values))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, deeplyFilled(member, values)]))
}
