// SPDX-License-Identifier: Apache-2.0
// Content of a message: validation of the object its type names, beyond the schema.
import { AppError, invalid } from '../../kernel/errors.ts'
import type { MessageType, SendInput } from './schema.ts'

/** Stored content: exactly one type with its object. */
export interface Content {
  readonly type: MessageType
  readonly object: Readonly<Record<string, unknown>>
  /** Uploaded files it shows, with the message type. */
  readonly media: readonly { readonly id: string; readonly type: string }[]
}

export type TemplateInput = NonNullable<SendInput['template']>

export function contentOf(input: SendInput): Content {
  const { type } = input
  const object = input[type]
  if (object === undefined) throw invalid(type, `must be given, because type is ${type}`)
  switch (type) {
    case 'image':
    case 'video':
    case 'audio':
    case 'document':
      return { type, object, media: mediaOf(type, type, input[type] ?? {}) }
    case 'interactive':
      if (input.interactive) checkInteractive(input.interactive)
      return { type, object, media: [] }
    case 'text':
      return { type, object: { preview_url: false, ...object }, media: [] }
    case 'template':
      return { type, object, media: input.template ? templateMedia(input.template) : [] }
  }
}

export function languageOf({ language }: TemplateInput): string {
  return typeof language === 'string' ? language : language.code
}

/** File of a media object by id; none for one with a link. */
function mediaOf(where: string, type: string, media: { id?: string; link?: string; caption?: string }) {
  const { id, link } = media
  if ((id === undefined) === (link === undefined)) throw invalid(where, 'must have either link or id')
  if (type === 'audio' && media.caption !== undefined) throw invalid('audio.caption', 'is not supported on audio')
  if (link !== undefined && !/^https:\/\/./i.test(link)) throw invalid(`${where}.link`, 'must begin with https://')
  if (link !== undefined && !URL.canParse(link)) throw invalid(`${where}.link`, 'is not a valid URL')
  return id === undefined ? [] : [{ id, type }]
}

/** Files in a template's parameters; each must have the object its type names. */
function templateMedia({ components = [] }: TemplateInput): Content['media'] {
  const parameters = components.flatMap(({ parameters: given = [] }) => given)
  return parameters.flatMap((parameter) => {
    const { type } = parameter
    const where = `template.components.parameters.${type}`
    if (parameter[type] === undefined) throw invalid(where, `must be given, because its type is ${type}`)
    return type === 'image' || type === 'video' || type === 'document'
      ? mediaOf(where, type, parameter[type] ?? {})
      : []
  })
}

function checkInteractive({ type, action }: NonNullable<SendInput['interactive']>): void {
  if (type === 'button') {
    const { buttons } = action
    if (!buttons) throw invalid('interactive.action.buttons', 'must be given, because interactive.type is button')
    distinct(
      'interactive.action.buttons',
      'ids',
      buttons.map(({ reply }) => reply.id),
    )
    distinct(
      'interactive.action.buttons',
      'titles',
      buttons.map(({ reply }) => reply.title),
    )
    return
  }
  const { button, sections } = action
  if (button === undefined)
    throw invalid('interactive.action.button', 'must be given, because interactive.type is list')
  if (!sections) throw invalid('interactive.action.sections', 'must be given, because interactive.type is list')
  const rows = sections.flatMap((section) => section.rows)
  if (rows.length > maxRows) throw invalid('interactive.action.sections', `must have at most ${maxRows} rows in all`)
  if (sections.length > 1 && sections.some(({ title }) => title === undefined))
    throw invalid('interactive.action.sections', 'must have a title each, when there are several')
  distinct(
    'interactive.action.sections',
    'ids of rows',
    rows.map(({ id }) => id),
  )
}

const maxRows = 10

function distinct(field: string, what: string, values: readonly string[]): void {
  if (new Set(values).size < values.length) throw invalid(field, `must have different ${what}`)
}

/** Checks a message's parameters against the placeholders of its template. */
export function checkParameters(components: readonly StoredComponent[], given: TemplateInput['components'] = []): void {
  for (const part of ['header', 'body'] as const) {
    const stored = components.find(({ type }) => type === part.toUpperCase())
    const wanted = stored === undefined ? 0 : parametersIn(stored)
    const sent = given.filter(({ type }) => type === part).flatMap(({ parameters = [] }) => parameters).length
    if (sent !== wanted)
      throw invalid('template.components', `must give ${wanted} parameters for the ${part}, not ${sent}`)
  }
}

export interface StoredComponent {
  type: string
  text?: string
  format?: string
}

/** A media header takes one parameter. */
function parametersIn({ type, format, text = '' }: StoredComponent): number {
  if (type === 'HEADER' && format !== undefined && format !== 'TEXT') return 1
  return placeholdersIn(text).length
}

/** Distinct numbers of the placeholders {{1}}, {{2}}… in order. */
export function placeholdersIn(text: string): number[] {
  const found = [...text.matchAll(/\{\{(\d{1,3})\}\}/g)].map(([, number]) => Number(number))
  return [...new Set(found)].sort((a, b) => a - b)
}

export function windowClosed(to: string): AppError {
  return new AppError('131047', `${to} has not written to you within the last 24 hours; nothing was sent or charged`)
}

export function notOptedIn(to: string): AppError {
  return new AppError('131051', `${to} does not want messages; nothing was sent or charged`)
}
