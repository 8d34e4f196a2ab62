// SPDX-License-Identifier: Apache-2.0
// HTML that cannot forget to escape: everything put into a template is text, unless it was made by a template itself.

export interface Html {
  readonly html: string
}

type Part = string | number | Html | readonly Html[] | null | false

export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
  let out = strings[0] ?? ''
  for (const [i, part] of parts.entries()) out += `${written(part)}${strings[i + 1] ?? ''}`
  return { html: out }
}

/** A sentence of a declaration: `words` in backticks become code. */
export function prose(text: string): Html {
  return {
    html: text
      .split(/`([^`]+)`/)
      .map((part, i) => (i % 2 === 1 ? `<code>${escaped(part)}</code>` : escaped(part)))
      .join(''),
  }
}

/** A name_of_words that may go on in the next line after each word. */
export function breakable(name: string): Html {
  return { html: name.split('_').map(escaped).join('_<wbr>') }
}

/** JSON with its keys, texts and other values told apart by colour. */
export function json(text: string): Html {
  const token = /("(?:[^"\\]|\\.)*")(\s*:)?|\b(?:true|false|null)\b|-?\d[\d.eE+-]*/g
  let out = ''
  let end = 0
  for (const { 0: all, 1: quoted, 2: colon, index } of text.matchAll(token)) {
    const kind = quoted === undefined ? 'n' : colon === undefined ? 's' : 'k'
    out += `${escaped(text.slice(end, index))}<span class="${kind}">${escaped(quoted ?? all)}</span>${colon ?? ''}`
    end = index + all.length
  }
  return { html: out + escaped(text.slice(end)) }
}

function written(part: Part): string {
  if (part === null || part === false) return ''
  if (typeof part === 'string') return escaped(part)
  if (typeof part === 'number') return String(part)
  return 'html' in part ? part.html : part.map(({ html }) => html).join('')
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (char) => entities[char] ?? char)
}
