// SPDX-License-Identifier: Apache-2.0
// Small XML documents that customers' programs answer with: elements, attributes, text, entities, CDATA and comments. No
// document types, so no entities of its own and nothing to expand.

const maxDepth = 16

export interface Element {
  readonly name: string
  readonly attributes: Readonly<Record<string, string>>
  readonly children: readonly Element[]
  /** Text of the element itself, decoded. */
  readonly text: string
  /** What stands between its tags, as written. */
  readonly inside: string
}

const token =
  /<!--[\s\S]*?-->|<\?[\s\S]*?\?>|<!\[CDATA\[([\s\S]*?)\]\]>|<(\/?)([A-Za-z_][\w.:-]*)((?:\s+[\w.:-]+\s*=\s*(?:"[^"]*"|'[^']*'))*)\s*(\/?)>|([^<]+)/y
const attribute = /([\w.:-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g
const named: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

interface Open {
  readonly name: string
  readonly attributes: Record<string, string>
  readonly children: Element[]
  text: string
  readonly from: number
}

/** Root element of a document; null when it is not well formed. */
export function readXml(document: string): Element | null {
  const source = document.replace(/^\uFEFF/, '').trim()
  const open: Open[] = []
  let root: Element | null = null
  token.lastIndex = 0
  for (let at = 0; at < source.length; at = token.lastIndex) {
    token.lastIndex = at
    const found = token.exec(source)
    if (!found) return null
    const [, cdata, slash, name, attributes = '', empty, text] = found
    const inner = open.at(-1)
    if (text !== undefined || cdata !== undefined) {
      if (inner) inner.text += cdata ?? decoded(text ?? '')
      else if ((text ?? '').trim() !== '') return null
      continue
    }
    if (name === undefined) continue
    if (slash !== '/') {
      if (root || open.length >= maxDepth) return null
      open.push({ name, attributes: attributesIn(attributes), children: [], text: '', from: token.lastIndex })
      if (empty !== '/') continue
    }
    const closed = open.pop()
    if (closed?.name !== name) return null
    const { from, ...rest } = closed
    const element = { ...rest, inside: source.slice(from, Math.max(from, empty === '/' ? from : at)) }
    const outer = open.at(-1)
    if (outer) outer.children.push(element)
    else root = element
  }
  return open.length === 0 ? root : null
}

function attributesIn(text: string): Record<string, string> {
  return Object.fromEntries(
    [...text.matchAll(attribute)].map(([, name = '', double, single]) => [name, decoded(double ?? single ?? '')]),
  )
}

function decoded(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|#x([0-9a-fA-F]{1,6})|(\w+));/g, (whole, decimal, hex, name) => {
    if (name !== undefined) return Object.hasOwn(named, name) ? (named[name] ?? whole) : whole
    const point = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal)
    return point > 0 && point <= 0x10ffff ? String.fromCodePoint(point) : whole
  })
}
