// SPDX-License-Identifier: Apache-2.0
// Html rewriting: tracked links, the open pixel, and text extraction. A small tokenizer that accepts real-world mail:
// unquoted attributes, entities in URLs.

const maxLinks = 500

/** Replaces http links by the result of `link`; null leaves one as it is. */
export function rewriteLinks(html: string, link: (url: string, index: number) => string | null): string {
  const out: string[] = []
  let from = 0
  let index = 0
  for (const tag of anchors(html)) {
    if (index >= maxLinks) break
    const href = tag.attributes.find(({ name }) => name === 'href')
    const isOff = tag.attributes.some(({ name, value }) => name === 'data-track' && value === 'off')
    const url = href ? decodeEntities(href.value).trim() : ''
    if (!href || isOff || !/^https?:\/\//i.test(url) || !URL.canParse(url)) continue
    const other = link(url, index)
    if (other === null) continue
    index += 1
    out.push(html.slice(from, href.from), `"${other.replaceAll('&', '&amp;').replaceAll('"', '&quot;')}"`)
    from = href.to
  }
  out.push(html.slice(from))
  return out.join('')
}

/** Inserts the open pixel before the end of the body, or at the end. */
export function addPicture(html: string, url: string): string {
  const picture = `<img src="${url}" width="1" height="1" alt="" style="display:none">`
  const at = [...html.matchAll(/<\/body/gi)].at(-1)?.index ?? html.length
  return html.slice(0, at) + picture + html.slice(at)
}

interface Attribute {
  name: string
  value: string
  /** Position of the value, quotes included. */
  from: number
  to: number
}

/** Opening tags of links, outside comments, scripts and styles. */
function* anchors(html: string): Iterable<{ attributes: Attribute[] }> {
  const pattern = /<!--|<(script|style|title|textarea)\b|<a(?=[\s/])/gi
  for (let match = pattern.exec(html); match; match = pattern.exec(html)) {
    const closing = match[1] ? closings.get(match[1].toLowerCase()) : undefined
    if (match[0] === '<!--') pattern.lastIndex = endOf(html, commentEnd, pattern.lastIndex)
    else if (closing) pattern.lastIndex = endOf(html, closing, pattern.lastIndex)
    else {
      const { attributes, end } = attributesAt(html, pattern.lastIndex)
      pattern.lastIndex = end
      yield { attributes }
    }
  }
}

const commentEnd = /-->/g
const tagEnd = />/g
const headEnd = /<\/head/gi
/** Ends of elements whose content is not parsed. */
const closings: ReadonlyMap<string, RegExp> = new Map([
  ['script', /<\/script/gi],
  ['style', /<\/style/gi],
  ['title', /<\/title/gi],
  ['textarea', /<\/textarea/gi],
])

/** Position after the match, or the end of the html, as in browsers. */
function endOf(html: string, closing: RegExp, from: number): number {
  closing.lastIndex = from
  return closing.test(html) ? closing.lastIndex : html.length
}

const maxAttributes = 100

/** Attributes of a tag and where it ends. Linear time for any input. */
function attributesAt(html: string, from: number): { attributes: Attribute[]; end: number } {
  const attributes: Attribute[] = []
  const pattern = /\s*(?:(>)|\/|([^\s=>/]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>"']+)))?)/gy
  pattern.lastIndex = from
  let end = from
  for (let match = pattern.exec(html); match; match = pattern.exec(html)) {
    end = pattern.lastIndex
    if (match[1]) return { attributes, end }
    const value = match[3] ?? match[4] ?? match[5]
    if (match[2] === undefined || value === undefined || attributes.length >= maxAttributes) continue
    const quotes = match[5] === undefined ? 2 : 0
    attributes.push({ name: match[2].toLowerCase(), value, from: end - value.length - quotes, to: end })
  }
  return { attributes, end: endOf(html, tagEnd, end) }
}

/** Plain text of html: lines, URLs after link texts, no styles. */
export function textOfHtml(html: string): string {
  const out: string[] = []
  let link: { url: string; at: number } | null = null
  for (const { text, tag } of pieces(html)) {
    if (text !== '') out.push(decodeEntities(text.replace(/\s+/g, ' ')))
    if (tag === '/a' && link) {
      if (!out.slice(link.at).join('').includes(link.url)) out.push(` (${link.url})`)
      link = null
    }
    if (typeof tag === 'object') link = { url: tag.url, at: out.length }
    else out.push(breaks.get(tag) ?? '')
  }
  return out
    .join('')
    .split('\n')
    .map((line) => line.trim())
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim()
}

/** Tags that start a new line. */
const breaks: ReadonlyMap<string, string> = new Map([
  ['li', '\n- '],
  ...'br hr /tr /li'.split(' ').map((tag): [string, string] => [tag, '\n']),
  ...'/p /div /h1 /h2 /h3 /h4 /h5 /h6 /ul /ol /table /blockquote'
    .split(' ')
    .map((tag): [string, string] => [tag, '\n\n']),
])

interface Piece {
  readonly text: string
  /** Name of the tag after the text, with a slash for a closing one; or the URL of a link. */
  readonly tag: string | { readonly url: string }
}

/** Text and tags in turn, in linear time. */
function* pieces(html: string): Iterable<Piece> {
  const pattern = /<!--|<[!?]|<(\/?[a-z][a-z0-9]*)/gi
  let from = 0
  for (let match = pattern.exec(html); match; match = pattern.exec(html)) {
    const text = html.slice(from, match.index)
    const name = match[1]?.toLowerCase()
    if (name === undefined) {
      from = endOf(html, match[0] === '<!--' ? commentEnd : tagEnd, pattern.lastIndex)
      yield { text, tag: '' }
    } else {
      const { attributes, end } = attributesAt(html, pattern.lastIndex)
      const href = name === 'a' ? attributes.find((one) => one.name === 'href') : undefined
      const url = href ? decodeEntities(href.value).trim() : ''
      const closing = name === 'head' ? headEnd : closings.get(name)
      from = closing ? endOf(html, tagEnd, endOf(html, closing, end)) : end
      yield { text, tag: /^https?:/i.test(url) ? { url } : name }
    }
    pattern.lastIndex = from
  }
  yield { text: html.slice(from), tag: '' }
}

const entities: ReadonlyMap<string, string> = new Map([
  ['amp', '&'],
  ['lt', '<'],
  ['gt', '>'],
  ['quot', '"'],
  ['apos', "'"],
  ['nbsp', '\u00a0'],
  ['copy', '©'],
  ['reg', '®'],
  ['euro', '€'],
  ['hellip', '…'],
  ['ndash', '–'],
  ['mdash', '—'],
])

function decodeEntities(text: string): string {
  return text.replace(
    /&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]+));/gi,
    (whole, decimal?: string, hex?: string, word?: string) => {
      const code = decimal ? Number(decimal) : hex ? Number.parseInt(hex, 16) : null
      if (code !== null) return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : ''
      return entities.get(word?.toLowerCase() ?? '') ?? whole
    },
  )
}
