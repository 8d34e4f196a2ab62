// SPDX-License-Identifier: Apache-2.0
// Metadata with its original text: exact digits of numbers and order of keys. JavaScript rounds long numbers, and jsonb
// reorders keys, so metadata that either would change carries its text, under a key longer than customers may use.
// Serialisers write that text instead.

type Notes = Record<string, string | number | boolean>

/** Key of the original text. */
const exactName = 'these notes as they were sent, digit for digit'

/** Original texts of objects parsed from a body. */
const texts = new WeakMap<object, string>()

const piece = /[ \t\r\n]*(?:([[\]{}:,])|("(?:[^"\\]|\\.)*")|(-?\d[\d.eE+-]*|true|false|null))/y

/** Records the texts of all objects named `metadata` in a JSON body parsed to `value`. */
export function noteExact(text: string, value: unknown): void {
  if (!text.includes('"metadata"')) return
  let at = 0
  const next = (): { sign?: string; string?: string; scalar?: string } => {
    piece.lastIndex = at
    const found = piece.exec(text)
    at = found ? piece.lastIndex : text.length
    const [, sign, string, scalar] = found ?? []
    return { ...(sign ? { sign } : {}), ...(string ? { string } : {}), ...(scalar ? { scalar } : {}) }
  }
  /** Walks the text beside the parsed value; returns the text of a scalar. */
  const walk = (parsed: unknown, name: string | null): string | null => {
    const { sign, string, scalar } = next()
    if (sign === '{') return members(Object(parsed), name)
    if (sign === '[') return items(Array.isArray(parsed) ? parsed : [])
    return string === undefined ? (scalar ?? null) : JSON.stringify(JSON.parse(string))
  }
  const members = (parsed: Record<string, unknown>, name: string | null): null => {
    const found: string[] = []
    let isFlat = true
    for (let { sign, string } = next(); sign !== '}' && at < text.length; { sign, string } = next()) {
      if (string === undefined) continue
      const member: string = JSON.parse(string)
      next()
      const written = walk(parsed[member], member)
      if (written === null) isFlat = false
      else if (written !== 'null') found.push(`${JSON.stringify(member)}:${written}`)
    }
    if (name === 'metadata' && isFlat) texts.set(parsed, `{${found.join()}}`)
    return null
  }
  const items = (parsed: readonly unknown[]): null => {
    for (let i = 0; at < text.length; i++) {
      const before = at
      if (next().sign === ']') return null
      at = before
      walk(parsed[i], null)
      if (next().sign === ']') return null
    }
    return null
  }
  walk(value, null)
}

/** Copies an object's text to its copy. */
export function keepExact<T extends object>(from: object, copy: T): T {
  const text = texts.get(from)
  if (text !== undefined) texts.set(copy, text)
  return copy
}

/** Metadata with its text, where that differs. */
export function withExact(notes: Notes): Notes {
  const text = texts.get(notes)
  return text === undefined || text === JSON.stringify(inJsonbOrder(notes)) ? notes : { ...notes, [exactName]: text }
}

/** Metadata without its text, for rules on number and size. */
export function plainNotes(notes: Notes): Notes {
  const { [exactName]: _, ...plain } = notes
  return plain
}

/** Metadata of a request merged with that of one entry, which wins. */
export function mergedNotes(whole: Notes = {}, entry: Notes = {}): Notes {
  const own = withExact(entry)
  const plain = { ...plainNotes(whole), ...plainNotes(own) }
  if (!(exactName in whole) && !(exactName in own)) return plain
  const written = new Map([...writtenOf(whole), ...writtenOf(own)])
  return { ...plain, [exactName]: `{${[...written].map(([name, value]) => `${name}:${value}`).join()}}` }
}

/** Serialises metadata in its original text. */
export function writeNotes(notes: unknown): string {
  const text = typeof notes === 'object' && notes !== null ? Reflect.get(notes, exactName) : undefined
  return typeof text === 'string' && isObjectText(text) ? text : JSON.stringify(notes)
}

/** Keys and values of metadata as written, in order. */
function writtenOf(notes: Notes): [name: string, value: string][] {
  const text = notes[exactName]
  if (typeof text !== 'string')
    return Object.entries(notes).map(([name, value]) => [JSON.stringify(name), JSON.stringify(value)])
  const form = /("(?:[^"\\]|\\.)*"):("(?:[^"\\]|\\.)*"|[^,}]+)/g
  return [...text.matchAll(form)].map(([, name = '', value = '']) => [name, value])
}

function isObjectText(text: string): boolean {
  try {
    return text.startsWith('{') && typeof JSON.parse(text) === 'object'
  } catch {
    return false
  }
}

/** Order of jsonb keys: by length, then bytes. */
function inJsonbOrder(notes: Notes): Notes {
  const names = Object.keys(notes).sort((a, b) => {
    const [left, right] = [Buffer.from(a), Buffer.from(b)]
    return left.length - right.length || Buffer.compare(left, right)
  })
  return Object.fromEntries(names.map((name) => [name, notes[name] ?? '']))
}
