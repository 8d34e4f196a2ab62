// SPDX-License-Identifier: Apache-2.0
// Cloud API of a messenger provider, both ends: outgoing messages, the answers to them, and later notices. The provider
// may deviate from its documentation: missing members are read as nothing.
import { createHmac, timingSafeEqual } from 'node:crypto'
import { membersOf, textOf } from './json.ts'

export const graphVersion = 'v23.0'
export const graphProduct = 'whatsapp'

/** Business of a number in the sandbox, where each number has its own. */
export function simulatedBusinessOf(phoneNumberId: string): string {
  return `business-${phoneNumberId}`
}

export interface GraphMessage {
  /** Digits only. */
  to: string
  type: string
  content: object
  /** The provider's id of the message that this one answers. */
  context: string | null
  /** Comes back with every status of the message. */
  opaque: string
}

export function graphMessageBody({ to, type, content, context, opaque }: GraphMessage): Record<string, unknown> {
  return {
    messaging_product: graphProduct,
    recipient_type: 'individual',
    to,
    type,
    [type]: content,
    ...(context === null ? {} : { context: { message_id: context } }),
    biz_opaque_callback_data: opaque,
  }
}

export interface GraphError {
  code: number
  title: string
  details: string
}

export type GraphAnswer = { kind: 'sent'; id: string } | { kind: 'error'; error: GraphError } | { kind: 'strange' }

export function readGraphAnswer(status: number, body: unknown): GraphAnswer {
  const { messages, error } = membersOf(body)
  const id = textOf(membersOf(listOf(messages)[0]).id)
  if (status >= 200 && status < 300 && id !== '') return { kind: 'sent', id }
  const found = readGraphError(error)
  return found === null ? { kind: 'strange' } : { kind: 'error', error: found }
}

/** The error of an answer or of a status; both write it in nearly the same way. */
export function readGraphError(value: unknown): GraphError | null {
  const { code, message, title, error_data } = membersOf(value)
  const number = Number(textOf(code))
  if (!Number.isSafeInteger(number) || number === 0) return null
  const details = textOf(membersOf(error_data).details)
  return { code: number, title: textOf(title) || textOf(message), details: details || textOf(message) }
}

export function graphErrorBody({ code, title, details }: GraphError): object {
  return {
    error: {
      message: `(#${code}) ${title}`,
      type: 'OAuthException',
      code,
      error_data: { messaging_product: graphProduct, details },
    },
  }
}

export interface GraphStatus {
  kind: 'status'
  phoneNumberId: string
  id: string
  status: 'sent' | 'delivered' | 'read' | 'failed'
  atMs: number
  opaque: string
  errors: readonly GraphError[]
}

export interface GraphInbound {
  kind: 'message'
  phoneNumberId: string
  id: string
  /** Digits only. */
  from: string
  name: string
  atMs: number
  type: string
  content: unknown
  context: string | null
}

export interface GraphTemplateNotice {
  kind: 'template'
  id: string
  event: string
  reason: string | null
}

export type GraphNotice = GraphStatus | GraphInbound | GraphTemplateNotice

const statuses = ['sent', 'delivered', 'read', 'failed'] as const
/** Limit of notices in one call, more than any provider sends. */
const maxNotices = 1_000

/** Notices in one call of the provider; null when it is not written as such calls are. */
export function readGraphNotices(body: unknown): GraphNotice[] | null {
  const { entry } = membersOf(body)
  if (!Array.isArray(entry)) return null
  const notices: GraphNotice[] = []
  for (const one of entry)
    for (const change of listOf(membersOf(one).changes)) {
      const { field, value } = membersOf(change)
      if (field === 'messages') notices.push(...readMessages(membersOf(value)))
      if (field === 'message_template_status_update') notices.push(...readTemplate(membersOf(value)))
    }
  return notices.slice(0, maxNotices)
}

function readMessages(value: Record<string, unknown>): GraphNotice[] {
  const phoneNumberId = textOf(membersOf(value.metadata).phone_number_id)
  const names = new Map(
    listOf(value.contacts).map((contact) => {
      const { wa_id, profile } = membersOf(contact)
      return [textOf(wa_id), textOf(membersOf(profile).name)]
    }),
  )
  const found: GraphNotice[] = []
  for (const one of listOf(value.statuses)) {
    const { id, status, timestamp, errors, biz_opaque_callback_data } = membersOf(one)
    const known = statuses.find((word) => word === status)
    if (known === undefined || textOf(id) === '') continue
    found.push({
      kind: 'status',
      phoneNumberId,
      id: textOf(id),
      status: known,
      atMs: secondsOf(timestamp),
      opaque: textOf(biz_opaque_callback_data),
      errors: listOf(errors).flatMap((error) => readGraphError(error) ?? []),
    })
  }
  for (const one of listOf(value.messages)) {
    const message = membersOf(one)
    const [id, from, type] = [textOf(message.id), textOf(message.from), textOf(message.type)]
    if (id === '' || !/^[1-9]\d{1,14}$/.test(from) || type === '') continue
    found.push({
      kind: 'message',
      phoneNumberId,
      id,
      from,
      name: names.get(from) ?? '',
      atMs: secondsOf(message.timestamp),
      type,
      content: message[type],
      context: textOf(membersOf(message.context).id) || null,
    })
  }
  return found
}

function readTemplate(value: Record<string, unknown>): GraphTemplateNotice[] {
  const id = textOf(value.message_template_id)
  const event = textOf(value.event)
  const reason = textOf(value.reason)
  if (id === '' || event === '') return []
  return [{ kind: 'template', id, event, reason: reason === '' || reason === 'NONE' ? null : reason }]
}

/** Notice of the provider: one change of one number. */
export function graphNoticeBody(businessId: string, field: string, value: object): string {
  return JSON.stringify({
    object: 'whatsapp_business_account',
    entry: [{ id: businessId, changes: [{ field, value }] }],
  })
}

export const graphSignatureHeader = 'x-hub-signature-256'

export function graphSignature(appSecret: string, body: Buffer | string): string {
  return `sha256=${createHmac('sha256', appSecret).update(body).digest('hex')}`
}

export function isGraphSignature(appSecret: string, body: Buffer, given: unknown): boolean {
  const expected = Buffer.from(graphSignature(appSecret, body))
  const actual = Buffer.from(typeof given === 'string' ? given : '')
  return actual.length === expected.length && timingSafeEqual(actual, expected)
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

function secondsOf(value: unknown): number {
  const seconds = Number(textOf(value))
  return Number.isSafeInteger(seconds) && seconds > 0 && seconds < 1e11 ? seconds * 1000 : 0
}
