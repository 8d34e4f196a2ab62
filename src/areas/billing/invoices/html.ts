// SPDX-License-Identifier: Apache-2.0
// HTML as a template literal. Whatever is put into one is text and is escaped, unless it is HTML that was made here.

class Html {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

export type { Html }

type Part = string | Html | readonly Html[]

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
  return new Html(strings.map((text, i) => text + written(parts[i] ?? '')).join(''))
}

function written(part: Part): string {
  if (typeof part === 'string') return part.replace(/[&<>"']/g, (char) => entities[char] ?? '')
  return part instanceof Html ? part.text : part.map(({ text }) => text).join('')
}
