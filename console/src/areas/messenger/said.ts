// SPDX-License-Identifier: Apache-2.0
// What a chat message says, in one line, whatever its kind.
import { textOf } from '../../kit/list-page.tsx'
import { words } from '../../kit/words.ts'

/** Its words; otherwise its kind, with the caption, the file's name, the button or the place that it has. */
export function saidIn(message: object): string {
  const { text, type, template } = Object(message)
  if (Object(text).body) return textOf(text.body)
  const kind = textOf(type)
  const content = Object(Object(message)[kind])
  const { button_reply, list_reply, body, caption, filename, name, emoji, title } = content
  const inner = Object(button_reply ?? list_reply).title ?? Object(body).text
  const said = inner ?? caption ?? filename ?? name ?? emoji ?? title ?? Object(template).name
  return said ? `${words(kind)}: ${textOf(said)}` : words(kind)
}
