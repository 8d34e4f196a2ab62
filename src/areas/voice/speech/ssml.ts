// SPDX-License-Identifier: Apache-2.0
// Marked-up text: whether it is well formed, and what of it an engine is given. Only the elements and attributes that are known
// here are, because an engine may read a file of this machine where a customer writes <audio src>; others are read as their text.
// Documents with declarations are refused, since entities can be made to grow without end.
const maxDepth = 20
const maxBreakMs = 10_000
const tag = /<(\/?)([A-Za-z][\w.:-]*)((?:\s+[\w.:-]+\s*=\s*(?:"[^"<]*"|'[^'<]*'))*)\s*(\/?)>/y
const attribute = /\s+([\w.:-]+)\s*=\s*("[^"<]*"|'[^'<]*')/g

/** Elements that are obeyed, each with its attributes. */
const obeyed: ReadonlyMap<string, readonly string[]> = new Map([
  ['speak', ['xml:lang']],
  ['p', ['xml:lang']],
  ['s', ['xml:lang']],
  ['lang', ['xml:lang']],
  ['break', ['time', 'strength']],
  ['prosody', ['rate', 'pitch', 'volume']],
  ['say-as', ['interpret-as']],
  ['emphasis', ['level']],
  ['sub', ['alias']],
  ['phoneme', ['alphabet', 'ph']],
  ['mark', ['name']],
])
/** An engine may look for a file of this name. */
const languageForm = /^["'][A-Za-z0-9-]{1,20}["']$/

export type MarkupPiece =
  | { readonly kind: 'text'; readonly text: string }
  | {
      readonly kind: 'open'
      readonly name: string
      readonly attributes: Readonly<Record<string, string>>
      readonly isEmpty: boolean
      /** Source text. */
      readonly source: string
    }
  | { readonly kind: 'close'; readonly name: string }

/** Whether a text is marked up; all other text is plain, whatever signs it has. */
export function isMarkup(text: string): boolean {
  return text.trimStart().startsWith('<speak')
}

/** A sentence that says what is wrong; null for plain text and for well-formed SSML. */
export function ssmlProblem(text: string): string | null {
  if (!isMarkup(text)) return null
  const open: string[] = []
  let hasEnded = false
  for (let at = text.indexOf('<'); at >= 0; at = text.indexOf('<', tag.lastIndex)) {
    tag.lastIndex = at
    const found = tag.exec(text)
    if (!found) return 'the markup is not well-formed XML'
    if (hasEnded) return 'something follows the speak element'
    const [, slash, name = '', , selfClosing] = found
    if (slash && open.pop() !== name) return `</${name}> closes an element that is not open`
    if (!slash && !selfClosing) open.push(name)
    if (open.length > maxDepth) return 'the markup is nested too deeply'
    hasEnded = open.length === 0
  }
  if (open.length > 0) return `<${open.at(-1)}> is not closed`
  return /&(?!(?:amp|lt|gt|quot|apos|#\d{1,7}|#x[0-9A-Fa-f]{1,6});)/.test(text) ? 'an & is not written &amp;' : null
}

/** Well-formed text, reduced to the markup that engines are given. */
export function obeyedSsml(text: string): string {
  return text.replace(
    new RegExp(tag.source, 'g'),
    (_, slash: string, name: string, attributes: string, end: string) => {
      const allowed = obeyed.get(name)
      if (!allowed) return ''
      const kept = [...attributes.matchAll(attribute)].filter(
        ([, one = '', value = '']) => allowed.includes(one) && (one !== 'xml:lang' || languageForm.test(value)),
      )
      const written = kept.map(([whole, one, value = '']) => (one === 'time' ? boundedTime(whole, value) : whole))
      return `<${slash}${name}${slash ? '' : written.join('')}${end}>`
    },
  )
}

/** Length of a pause, of ten seconds at most; none when it cannot be read. */
function boundedTime(whole: string, value: string): string {
  const found = /^["']\+?(\d{0,9}(?:\.\d{1,9})?)(ms|s)["']$/.exec(value)
  const ms = Number(found?.[1] || Number.NaN) * (found?.[2] === 's' ? 1_000 : 1)
  if (ms <= maxBreakMs) return whole
  return Number.isNaN(ms) ? '' : ` time="${maxBreakMs}ms"`
}

/** Tags and texts of well-formed SSML, in their order; texts and attributes without entities. */
export function markupPieces(text: string): MarkupPiece[] {
  const pieces: MarkupPiece[] = []
  let from = 0
  for (let at = text.indexOf('<'); at >= 0; at = text.indexOf('<', from)) {
    tag.lastIndex = at
    const found = tag.exec(text)
    if (!found) break
    const [source, slash, name = '', given = '', selfClosing] = found
    if (at > from) pieces.push({ kind: 'text', text: withoutEntities(text.slice(from, at)) })
    const attributes: Record<string, string> = {}
    for (const [, key = '', value = ''] of given.matchAll(attribute))
      attributes[key] = withoutEntities(value.slice(1, -1))
    pieces.push(
      slash ? { kind: 'close', name } : { kind: 'open', name, attributes, isEmpty: selfClosing === '/', source },
    )
    from = tag.lastIndex
  }
  if (from < text.length) pieces.push({ kind: 'text', text: withoutEntities(text.slice(from)) })
  return pieces
}

export function escapeMarkup(text: string): string {
  return text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;')
}

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

function withoutEntities(text: string): string {
  const entity = /&(?:(amp|lt|gt|quot|apos)|#(\d+)|#x([0-9A-Fa-f]+));/g
  return text.replace(entity, (_: string, name?: string, decimal?: string, hex = '') => {
    if (name !== undefined) return entities[name] ?? ''
    const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal)
    return code <= 0x10_ff_ff ? String.fromCodePoint(code) : ''
  })
}
