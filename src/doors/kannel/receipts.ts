// SPDX-License-Identifier: Apache-2.0
// Delivery reports of Kannel: a GET of the program's own address, with its escapes filled in.
import { uuidOf } from '../../kernel/ids.ts'
import type { Dialect, Reply } from '../../platform/api/dialect.ts'

/** Bits of dlr-mask → letter in the address of a callback. */
const bits: Readonly<Record<number, string>> = { 1: 'a', 2: 'b', 4: 'c', 8: 'd', 16: 'e' }

/** Refusals before a network had the text. */
const refusals = new Set([
  'NO_ROUTE',
  'CANCELLED',
  'PROVIDER_UNAVAILABLE',
  'REJECTED',
  'SPAM_REJECTED',
  'INVALID_NUMBER',
])

/** Address of reports, which keeps what the program wants to hear of; null when it wants nothing. */
export function reportsTo(url: string | undefined, mask: number, user: string): string | null {
  const letters = Object.entries(bits).flatMap(([bit, letter]) => (mask & Number(bit) ? [letter] : []))
  if (url === undefined || letters.length === 0) return null
  return `kannel.${letters.join('')}+${url.replaceAll('%n', encodeURIComponent(user))}`
}

export const dialect: Dialect = {
  events: ['sms.status', 'sms.sent', 'sms.delivered', 'sms.failed'],
  tell({ name, payload }, { url, options, nowMs }) {
    if (!dialect.events.includes(name)) return null
    const type = typeOf(payload)
    if (!options[0]?.includes(bits[type] ?? '?')) return null
    return { method: 'GET', url: filled(url, payload, type, nowMs), contentType: 'text/plain', body: '' }
  },
}

function typeOf(payload: Reply): number {
  const status = payload.text('status')
  if (status === 'sent') return 8
  if (status === 'delivered') return 1
  return refusals.has(payload.maybe('error_code') ?? '') ? 16 : 2
}

function filled(url: string, payload: Reply, type: number, nowMs: number): string {
  const id = uuidOf('sms', payload.text('message_id')) ?? ''
  const code = payload.maybe('error_code') ?? ''
  const receipt = { 8: 'ACK/', 16: `NACK/${code}/` }[type] ?? `id:${id} stat:${type === 1 ? 'DELIVRD' : 'UNDELIV'}`
  const values: Readonly<Record<string, string>> = {
    '%d': String(type),
    '%p': payload.text('to').replace('+', ''),
    '%P': payload.text('from').replace('+', ''),
    '%T': String(Math.floor(nowMs / 1_000)),
    '%t': new Date(nowMs).toISOString().slice(0, 19).replace('T', ' '),
    '%I': id,
    '%F': id,
    '%a': receipt,
    '%A': receipt,
    '%b': receipt,
    '%c': '-1',
    '%C': 'UTF-8',
    '%%': '%',
  }
  // Two hexadecimal digits are a percent-encoded byte, which stays.
  return url.replace(/%(?:[0-9a-fA-F]{2}|.)/g, (found) =>
    found.length === 3 ? found : encodeURIComponent(values[found] ?? ''),
  )
}
