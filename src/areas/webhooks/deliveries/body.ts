// SPDX-License-Identifier: Apache-2.0
// The bytes of a delivery: the event's own, unless there are more than a receiver is promised. Then the largest fields
// become null, their paths are listed, and a link leads to the whole.

export const maxBodyBytes = 64 * 1024

/** A body of at most 64 KiB. The same event always gives the same bytes. */
export function bodyBytes(body: string, resourceUrl: string): Buffer {
  const bytes = Buffer.from(body)
  return bytes.length <= maxBodyBytes ? bytes : Buffer.from(shortened(body, resourceUrl))
}

function shortened(body: string, resourceUrl: string): string {
  const event: Record<string, unknown> = JSON.parse(body)
  const truncated: string[] = []
  for (;;) {
    const text = JSON.stringify({ ...event, truncated, resource_url: resourceUrl })
    if (Buffer.byteLength(text) <= maxBodyBytes) return text
    const field = largest(event, '')
    if (field === null) throw new Error('a body without fields is too large')
    // Many small fields make a body large too: then what holds most of them goes as a whole.
    const { holder, name, path } = field.size >= worthwhile ? field : largestMember(event)
    holder[name] = null
    truncated.push(path)
  }
}

/** Fields smaller than this are not taken away one by one. */
const worthwhile = 1_024

interface Field {
  holder: Record<string, unknown>
  name: string
  path: string
  size: number
}

/** The largest text, list or leaf; an object is looked into instead, so that as little as possible goes. */
function largest(holder: Record<string, unknown>, before: string): Field | null {
  let found: Field | null = null
  for (const [name, value] of Object.entries(holder)) {
    const path = before + name
    const field = isPlainObject(value)
      ? largest(value, `${path}.`)
      : { holder, name, path, size: value === null ? 0 : Buffer.byteLength(JSON.stringify(value)) }
    if (field && field.size > 0 && (found === null || field.size > found.size)) found = field
  }
  return found
}

function largestMember(event: Record<string, unknown>): Field {
  const sizes = Object.entries(event).map(([name, value]) => ({
    holder: event,
    name,
    path: name,
    size: value === null ? 0 : Buffer.byteLength(JSON.stringify(value)),
  }))
  return sizes.reduce((most, field) => (field.size > most.size ? field : most))
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
