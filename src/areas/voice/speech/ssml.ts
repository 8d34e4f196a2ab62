// SPDX-License-Identifier: Apache-2.0
// Whether marked-up text is well formed. Which elements an engine obeys is the engine's; those it does not know are read as their
// text. Documents with declarations are refused, since entities can be made to grow without end.
const mostDepth = 20
const tag = /<(\/?)([A-Za-z][\w.:-]*)((?:\s+[\w.:-]+\s*=\s*(?:"[^"<]*"|'[^'<]*'))*)\s*(\/?)>/y

/** A sentence that says what is wrong; null for plain text and for well-formed SSML. */
export function ssmlProblem(text: string): string | null {
  if (!text.trimStart().startsWith('<speak')) return null
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
    if (open.length > mostDepth) return 'the markup is nested too deeply'
    hasEnded = open.length === 0
  }
  if (open.length > 0) return `<${open.at(-1)}> is not closed`
  return /&(?!(?:amp|lt|gt|quot|apos|#\d{1,7}|#x[0-9A-Fa-f]{1,6});)/.test(text) ? 'an & is not written &amp;' : null
}
