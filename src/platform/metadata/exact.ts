// SPDX-License-Identifier: Apache-2.0
// Metadata as it was sent: the same digits of numbers, the same order of names. JavaScript rounds long numbers, and jsonb has
// an order of its own, so notes that either would change carry their text with them, under a name that no customer can give
// one: it is longer than names may be. Whoever writes notes as JSON writes that text in their place.

type Notes = Record<string, string | number | boolean>

/** Name under which notes carry their text. */
const exactName = 'these notes as they were sent, digit for digit'

/** Texts of objects that were parsed from a body, by the objects themselves. */
const texts = new WeakMap<object, string>()

const piece = /[ \t\r\n]*(?:([[\]{}:,])|("(?:[^"\\]|\\.)*")|(-?\d[\d.eE+-]*|true|false|null))/y

/** Notes the texts of all objects called `metadata` in a body, which is known to be JSON and was parsed to `value`. */
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
  /** Walks a value of the text beside the parsed one; gives its text where it is no object and no list. */
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

/** A copy of an object has the text of the object. */
export function keepExact<T extends object>(from: object, copy: T): T {
  const text = texts.get(from)
  if (text !== undefined) texts.set(copy, text)
  return copy
}

/** Notes that carry their text, where it says more than they do. */
export function withExact(notes: Notes): Notes {
  const text = texts.get(notes)
  return text === undefined || text === JSON.stringify(inJsonbOrder(notes)) ? notes : { ...notes, [exactName]: text }
}

/** Notes without their text: what rules on their number and size are about. */
export function plainNotes(notes: Notes): Notes {
  const { [exactName]: _, ...plain } = notes
  return plain
}

/** Notes of a whole request with those of one of its entries, which count where both have a name. */
export function mergedNotes(whole: Notes = {}, entry: Notes = {}): Notes {
  const own = withExact(entry)
  const plain = { ...plainNotes(whole), ...plainNotes(own) }
  if (!(exactName in whole) && !(exactName in own)) return plain
  const written = new Map([...writtenOf(whole), ...writtenOf(own)])
  return { ...plain, [exactName]: `{${[...written].map(([name, value]) => `${name}:${value}`).join()}}` }
}

/** Notes as JSON, in the words that they were sent in. */
export function writeNotes(notes: unknown): string {
  const text = typeof notes === 'object' && notes !== null ? Reflect.get(notes, exactName) : undefined
  return typeof text === 'string' && isObjectText(text) ? text : JSON.stringify(notes)
}

/** Names and values of notes as they are written, in their order. */
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

/** jsonb keeps shorter names first, and those of one length by their bytes. */
function inJsonbOrder(notes: Notes): Notes {
  const names = Object.keys(notes).sort((a, b) => {
    const [left, right] = [Buffer.from(a), Buffer.from(b)]
    return left.length - right.length || Buffer.compare(left, right)
  })
  return Object.fromEntries(names.map((name) => [name, notes[name] ?? '']))
}
