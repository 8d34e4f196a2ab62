// SPDX-License-Identifier: Apache-2.0
// HTML templates that escape: every value is text, unless it came from a template.

export interface Html {
  readonly html: string
}

type Part = string | number | Html | readonly Html[] | null | false

export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
  let out = strings[0] ?? ''
  for (const [i, part] of parts.entries()) out += `${written(part)}${strings[i + 1] ?? ''}`
  return { html: out }
}

/** Text with `backticks` turned into code. */
export function prose(text: string): Html {
  return {
    html: text
      .split(/`([^`]+)`/)
      .map((part, i) => (i % 2 === 1 ? `<code>${escaped(part)}</code>` : escaped(part)))
      .join(''),
  }
}

/** Name with line break opportunities after underscores. */
export function breakable(name: string): Html {
  return { html: name.split('_').map(escaped).join('_<wbr>') }
}

/** JSON with syntax colours. */
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
