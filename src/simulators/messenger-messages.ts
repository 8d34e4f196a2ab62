// SPDX-License-Identifier: Apache-2.0
// Messages as the Cloud API takes them: what is wrong with one, the files in it, and how a user answers it.
import { graphProduct } from '../protocols/graph.ts'
import { membersOf, textOf } from '../protocols/json.ts'

const messageTypes = [
  'audio',
  'contacts',
  'document',
  'image',
  'interactive',
  'location',
  'reaction',
  'sticker',
  'template',
  'text',
  'video',
]
const filesTypes = ['audio', 'document', 'image', 'sticker', 'video']

/** What is wrong with a message; null when nothing is. */
export function messageProblem(body: Record<string, unknown>, to: string, type: string): string | null {
  if (body.messaging_product !== graphProduct) return `messaging_product must be ${graphProduct}`
  if (!/^[1-9]\d{1,14}$/.test(to)) return 'to is not a phone number'
  if (!messageTypes.includes(type)) return `Param type must be one of {${messageTypes.join(', ').toUpperCase()}}`
  const content = membersOf(body[type])
  if (type === 'contacts' ? !Array.isArray(body.contacts) : Object.keys(content).length === 0)
    return `The parameter ${type} is required`
  if (type === 'text' && textOf(content.body) === '') return "The parameter text['body'] is required"
  if (type === 'template' && (textOf(content.name) === '' || textOf(membersOf(content.language).code) === ''))
    return "The parameters template['name'] and template['language'] are required"
  if (filesTypes.includes(type) && textOf(content.id) === '' && textOf(content.link) === '')
    return `The parameter ${type}['id'] or ${type}['link'] is required`
  return null
}

/** Ids of the media in the parameters of a template. */
export function parameterFiles({ components }: Record<string, unknown>): string[] {
  const parameters = listIn(components).flatMap((component) => listIn(membersOf(component).parameters))
  return parameters.map((one) => textOf(membersOf(membersOf(one)[textOf(membersOf(one).type)]).id))
}

function listIn(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

export function pressFirst(type: string, body: Record<string, unknown>): { type: string; content: object } | null {
  if (type !== 'interactive') return null
  const { type: kind, action } = membersOf(body.interactive)
  const { buttons, sections } = membersOf(action)
  if (kind === 'button' && Array.isArray(buttons)) {
    const { id, title } = membersOf(membersOf(buttons[0]).reply)
    return { type: 'interactive', content: { type: 'button_reply', button_reply: { id, title } } }
  }
  if (kind === 'list' && Array.isArray(sections)) {
    const { rows } = membersOf(sections[0])
    const { id, title, description } = membersOf(Array.isArray(rows) ? rows[0] : null)
    const picked = { id, title, ...(description === undefined ? {} : { description }) }
    return { type: 'interactive', content: { type: 'list_reply', list_reply: picked } }
  }
  return null
}
