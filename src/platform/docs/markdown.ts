// SPDX-License-Identifier: Apache-2.0
// Markdown to HTML, for the subset the guides use (headings, paragraphs, lists, tables, code, links, pictures).
// Everything else stays text.
import { type Html, html, json } from '../web/html.ts'

interface Heading {
  readonly level: number
  readonly text: string
  readonly id: string
}

export interface Guide {
  readonly title: string
  readonly content: Html
  readonly headings: readonly Heading[]
  /** Plain text, for the search index. */
  readonly text: string
}

/** Target of a link; null when it leads outside the documentation. */
export type LinkTo = (address: string) => string | null

export function guideOf(markdown: string, linkTo: LinkTo): Guide {
  const lines = markdown.split('\n')
  const headings: Heading[] = []
  const blocks: Html[] = []
  for (let at = 0; at < lines.length; ) {
    const { block, next } = blockAt(lines, at, linkTo, headings)
    if (block) blocks.push(block)
    at = next
  }
  return { title: headings[0]?.text ?? '', content: html`${blocks}`, headings, text: wordsOf(markdown) }
}

interface Block {
  block: Html | null
  /** Index of the following line. */
  next: number
}

function blockAt(lines: readonly string[], at: number, linkTo: LinkTo, headings: Heading[]): Block {
  const line = lines[at] ?? ''
  const heading = /^(#{1,4}) (.*)$/.exec(line)
  if (line.trim() === '') return { block: null, next: at + 1 }
  if (heading) return { block: titled(heading[1]?.length ?? 1, heading[2] ?? '', linkTo, headings), next: at + 1 }
  if (line.startsWith('```')) return fenced(lines, at)
  if (rowForm.test(line)) return table(lines, at, linkTo)
  if (itemForm.test(line)) return list(lines, at, linkTo)
  const next = until(lines, at + 1, (one) => one.trim() === '' || /^(#|```|\|)/.test(one) || itemForm.test(one))
  return { block: html`<p>${inline(lines.slice(at, next).join('\n'), linkTo)}</p>`, next }
}

const itemForm = /^ *(?:[-*]|\d+\.) /
/** A row of a table, which is indented where the table belongs to an item of a list. */
const rowForm = /^ *\|/

function until(lines: readonly string[], from: number, isOver: (line: string) => boolean): number {
  const found = lines.slice(from).findIndex(isOver)
  return found === -1 ? lines.length : from + found
}

function titled(level: number, text: string, linkTo: LinkTo, headings: Heading[]): Html {
  const plain = wordsOf(text)
  const id = anchorOf(plain)
  headings.push({ level, text: plain, id })
  const inner = inline(text, linkTo)
  if (level === 1) return html`<h1 id="${id}">${inner}</h1>`
  if (level === 2) return html`<h2 id="${id}"><a href="#${id}">${inner}</a></h2>`
  return html`<h3 id="${id}"><a href="#${id}">${inner}</a></h3>`
}

/** Heading anchors as on GitHub, so that links work in both places. */
function anchorOf(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-')
}

function fenced(lines: readonly string[], at: number): Block {
  const end = until(lines, at + 1, (line) => line.startsWith('```'))
  const language = /^```(\w*)/.exec(lines[at] ?? '')?.[1] ?? ''
  const code = lines.slice(at + 1, end).join('\n')
  const content = language === 'json' ? json(code) : html`${code}`
  const title = language === 'sh' ? 'Shell' : language
  return {
    block: html`<figure><figcaption>${title}</figcaption><pre tabindex="0"><code>${content}</code></pre></figure>`,
    next: end + 1,
  }
}

function table(lines: readonly string[], at: number, linkTo: LinkTo): Block {
  const next = until(lines, at, (line) => !rowForm.test(line))
  const rows = lines.slice(at, next).map(cellsOf)
  const [head = [], , ...body] = rows
  const cells = (row: readonly string[]) => row.map((cell) => html`<td>${inline(cell, linkTo)}</td>`)
  const named = head.some((cell) => cell !== '')
  const over = (cell: string) => (cell === '' ? html`<td></td>` : html`<th scope="col">${inline(cell, linkTo)}</th>`)
  const top = html`<thead><tr>${head.map(over)}</tr></thead>`
  return {
    block: html`<div class="wide" tabindex="0"><table class="guide${named && ' headed'}">${named && top}<tbody>${body.map((row) => html`<tr>${cells(row)}</tr>`)}</tbody></table></div>`,
    next,
  }
}

/** A bar in code or after a backslash does not separate cells. */
function cellsOf(line: string): string[] {
  const guarded = line.replaceAll(/`[^`]*`|\\\|/g, (part) => part.replaceAll('|', '\u0000').replace(/^\\/, ''))
  return guarded
    .replaceAll(/^ *\||\|\s*$/g, '')
    .split('|')
    .map((cell) => cell.replaceAll('\u0000', '|').trim())
}

function list(lines: readonly string[], at: number, linkTo: LinkTo): Block {
  const next = until(lines, at + 1, (line) => line.trim() === '' || /^(#|```|\|)/.test(line))
  const items: string[] = []
  for (const line of lines.slice(at, next))
    if (itemForm.test(line)) items.push(line.replace(itemForm, ''))
    else items.push(`${items.pop() ?? ''}\n${line.trim()}`)
  const rows = items.map((item) => html`<li>${inline(item, linkTo)}</li>`)
  return { block: /^ *\d/.test(lines[at] ?? '') ? html`<ol>${rows}</ol>` : html`<ul>${rows}</ul>`, next }
}

const inlineForm =
  /`([^`]+)`|!\[([^\]]*)\]\(([^)\s]+)\)|\[((?:[^\][`]|`[^`]*`)*)\]\(([^)\s]+)\)|<(https?:[^>\s]+)>|\*\*([^*]+)\*\*|\*([^*\s][^*]*)\*/g

function inline(text: string, linkTo: LinkTo): Html {
  const parts: Html[] = []
  let end = 0
  for (const match of text.matchAll(inlineForm)) {
    const [all, code, alt, picture, label, address, bare, strong, slanted] = match
    parts.push(html`${text.slice(end, match.index)}`)
    end = match.index + all.length
    if (code !== undefined) parts.push(html`<code>${code}</code>`)
    else if (picture !== undefined) parts.push(image(alt ?? '', picture, linkTo))
    else if (address !== undefined) parts.push(anchor(inline(label ?? '', linkTo), linkTo(address)))
    else if (bare !== undefined) parts.push(html`<code>${bare}</code>`)
    else if (strong !== undefined) parts.push(html`<b>${inline(strong, linkTo)}</b>`)
    else parts.push(html`<i>${slanted ?? ''}</i>`)
  }
  return html`${parts}${text.slice(end)}`
}

function anchor(label: Html, href: string | null): Html {
  return href === null ? label : html`<a href="${href}">${label}</a>`
}

function image(alt: string, address: string, linkTo: LinkTo): Html {
  const src = linkTo(address)
  return src === null ? html`${alt}` : html`<img src="${src}" alt="${alt}">`
}

/** Text without Markdown marks. */
function wordsOf(markdown: string): string {
  return markdown
    .replaceAll(/\[((?:[^\][`]|`[^`]*`)*)\]\([^)\s]+\)/g, '$1')
    .replaceAll(/[`*#|]|^-+$/gm, '')
    .trim()
}
