// SPDX-License-Identifier: Apache-2.0
// The html of a message: its links given other addresses, a picture added at its end, and its text without the tags. A small
// tokenizer, since mail is written by hand and by programs of every age: attributes without quotes, entities in addresses.

const maxLinks = 500

/** Gives each http link to `link`, which gives the address to put in its place, or null to leave it. */
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

/** Puts a picture before the end of the body, or at the end where there is none. */
export function addPicture(html: string, url: string): string {
  const picture = `<img src="${url}" width="1" height="1" alt="" style="display:none">`
  const at = html.toLowerCase().lastIndexOf('</body')
  return at < 0 ? html + picture : html.slice(0, at) + picture + html.slice(at)
}

interface Attribute {
  name: string
  value: string
  /** Where the value stands, with its quotes. */
  from: number
  to: number
}

/** The opening tags of links, outside of comments, scripts and styles. */
function* anchors(html: string): Iterable<{ attributes: Attribute[] }> {
  const pattern = /<!--|<(script|style|title|textarea)\b|<a(?=[\s/])/gi
  for (let match = pattern.exec(html); match; match = pattern.exec(html)) {
    if (match[0] === '<!--') pattern.lastIndex = endOf(html, '-->', pattern.lastIndex)
    else if (match[1]) pattern.lastIndex = endOf(html, `</${match[1]}`, pattern.lastIndex)
    else {
      const { attributes, end } = attributesAt(html, pattern.lastIndex)
      pattern.lastIndex = end
      yield { attributes }
    }
  }
}

function endOf(html: string, text: string, from: number): number {
  const at = html.toLowerCase().indexOf(text.toLowerCase(), from)
  return at < 0 ? html.length : at + text.length
}

function attributesAt(html: string, from: number): { attributes: Attribute[]; end: number } {
  const attributes: Attribute[] = []
  const pattern = /\s*(?:(>)|\/|([^\s=>/]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>"']+)))?)/gy
  pattern.lastIndex = from
  for (let match = pattern.exec(html); match; match = pattern.exec(html)) {
    if (match[1]) return { attributes, end: pattern.lastIndex }
    const value = match[3] ?? match[4] ?? match[5]
    if (match[2] === undefined || value === undefined) continue
    const quotes = match[5] === undefined ? 2 : 0
    attributes.push({
      name: match[2].toLowerCase(),
      value,
      from: pattern.lastIndex - value.length - quotes,
      to: pattern.lastIndex,
    })
  }
  return { attributes, end: from }
}

/** What a reader without html sees: lines, links after their words, no styles. */
export function textOfHtml(html: string): string {
  return decodeEntities(
    html
      .replace(/<!--[\s\S]*?-->/g, '')
      .replace(/<(script|style|title|head)\b[\s\S]*?<\/\1\s*>/gi, '')
      .replace(/\s+/g, ' ')
      .replace(
        /<a\b[^>]*?\bhref\s*=\s*"?(https?:[^"\s>]+)"?[^>]*>([\s\S]*?)<\/a\s*>/gi,
        (_, url: string, words: string) => (words.includes(url) ? words : `${words} (${url})`),
      )
      .replace(/<li\b[^>]*>/gi, '\n- ')
      .replace(/<(?:br|hr)\b[^>]*>/gi, '\n')
      .replace(/<\/(?:p|div|h[1-6]|ul|ol|table|blockquote)\s*>/gi, '\n\n')
      .replace(/<\/(?:tr|li)\s*>/gi, '\n')
      .replace(/<[^>]*>/g, ''),
  )
    .split('\n')
    .map((line) => line.trim())
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim()
}

const entities: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: '\u00a0',
  copy: '©',
  reg: '®',
  euro: '€',
  hellip: '…',
  ndash: '–',
  mdash: '—',
}

function decodeEntities(text: string): string {
  return text.replace(
    /&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]+));/gi,
    (whole, decimal?: string, hex?: string, word?: string) => {
      const code = decimal ? Number(decimal) : hex ? Number.parseInt(hex, 16) : null
      if (code !== null) return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : ''
      return entities[word?.toLowerCase() ?? ''] ?? whole
    },
  )
}
