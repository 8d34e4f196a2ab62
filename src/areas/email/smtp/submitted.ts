// SPDX-License-Identifier: Apache-2.0
// Prepares a submitted message: applies and removes our control headers, removes Bcc, adds missing fields.
import { type Mailbox, parseAddress } from '../../../kernel/email-address.ts'
import { parseMoment } from '../../../kernel/time.ts'
import { parseJson } from '../../../platform/api/json.ts'
import { decodeWords, fieldOf, type HeaderField, headerField, parseHeader } from '../../../protocols/mime/header.ts'
import { isTooDeep, parseMessage } from '../../../protocols/mime/parse.ts'

export interface Submitted {
  readonly from: Mailbox
  readonly subject: string
  readonly raw: Buffer
  readonly commands: {
    readonly opens: boolean
    readonly clicks: boolean
    readonly tags: readonly string[]
    readonly template: string | null
    readonly variables: Record<string, unknown> | null
    readonly metadata: Record<string, string | number | boolean>
    readonly scheduledAt: string | null
    readonly stream: 'transactional' | 'bulk'
    readonly key: string | null
  }
}

const commandNames = new Set([
  'x-track-opens',
  'x-track-clicks',
  'x-tag',
  'x-template',
  'x-variables',
  'x-metadata',
  'x-scheduled-at',
  'x-stream',
  'x-idempotency-key',
])
const maxTags = 10
const maxFields = 500
const maxNameLength = 200

/** Parses a submitted message; a string states the error. */
export function readSubmitted(
  content: Buffer,
  about: { messageId: string; domain: string; date: string; received: string },
): Submitted | string {
  const { fields, bodyAt } = parseHeader(content)
  if (fields.filter(({ name }) => name.toLowerCase() === 'from').length !== 1) return 'the message must have one From'
  if (content.subarray(0, bodyAt).includes(0)) return 'the header must not hold the character NUL'
  if (fields.length > maxFields) return `the header must have at most ${maxFields} fields`
  if (isTooDeep(parseMessage(content))) return 'the parts of the message are nested too deep'
  const from = mailboxOf(fieldOf(fields, 'from') ?? '')
  if (!from) return 'INVALID_EMAIL From is not an address'
  const commands = commandsOf(fields)
  if (typeof commands === 'string') return commands
  const kept = fields.filter(
    ({ name }) =>
      !commandNames.has(name.toLowerCase()) && !['bcc', 'return-path', 'dkim-signature'].includes(name.toLowerCase()),
  )
  const has = (name: string) => kept.some((field) => field.name.toLowerCase() === name)
  const added =
    headerField('Received', about.received) +
    (has('message-id') ? '' : headerField('Message-ID', `<${about.messageId}@${about.domain}>`)) +
    (has('date') ? '' : headerField('Date', about.date))
  const header = added + kept.map(({ raw }) => raw).join('')
  const raw = Buffer.concat([Buffer.from(`${header}\r\n`), content.subarray(bodyAt)])
  return { from, subject: decodeWords(fieldOf(fields, 'subject') ?? '').slice(0, 998), raw, commands }
}

/**
 * Sender mailbox as all readers see it. Encoded words are names, never addresses (RFC 2047 §5), and nothing before the
 * angle brackets may look like an address; otherwise a reader could see another sender than the one checked.
 */
function mailboxOf(value: string): Mailbox | null {
  const open = value.lastIndexOf('<')
  if (open < 0 || !value.endsWith('>')) return parseAddress(value)
  const parsed = parseAddress(value.slice(open + 1, -1).trim())
  const phrase = value.slice(0, open).trim()
  const isQuoted = /^"(?:[^"\\]|\\.)*"$/.test(phrase)
  if (!parsed || (!isQuoted && /[@<>,;"]/.test(phrase))) return null
  const name = decodeWords(isQuoted ? phrase.slice(1, -1).replace(/\\(.)/g, '$1') : phrase)
  return {
    ...parsed,
    name:
      name
        .replace(/[\p{Cc}"<>\\]/gu, ' ')
        .trim()
        .slice(0, maxNameLength) || null,
  }
}

function commandsOf(fields: readonly HeaderField[]): Submitted['commands'] | string {
  const of = (name: string) => fieldOf(fields, name)
  const tags = fields.filter(({ name }) => name.toLowerCase() === 'x-tag').map(({ value }) => value)
  if (tags.length > maxTags || tags.some((tag) => !/^[A-Za-z0-9_.-]{1,64}$/.test(tag)))
    return 'X-Tag must be 1 to 64 letters, digits, _ . -, at most 10 times'
  const stream = of('x-stream') ?? 'transactional'
  if (stream !== 'transactional' && stream !== 'bulk') return 'X-Stream must be transactional or bulk'
  const variables = objectOf(of('x-variables'))
  if (variables === undefined) return 'X-Variables must be a JSON object'
  const metadata = objectOf(of('x-metadata'))
  const notes: Record<string, string | number | boolean> = {}
  for (const [name, value] of Object.entries(metadata ?? {})) {
    if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean')
      return 'X-Metadata must be a JSON object of texts, numbers and booleans'
    notes[name] = value
  }
  if (metadata === undefined || JSON.stringify(notes).length > 4096)
    return 'X-Metadata must be a JSON object of at most 4 KiB'
  const scheduledAt = of('x-scheduled-at')
  if (scheduledAt !== null && !parseMoment(scheduledAt)) return 'X-Scheduled-At must be an RFC 3339 time'
  return {
    opens: of('x-track-opens') !== 'false',
    clicks: of('x-track-clicks') !== 'false',
    tags,
    template: of('x-template'),
    variables,
    metadata: notes,
    scheduledAt,
    stream,
    key: of('x-idempotency-key')?.slice(0, 255) ?? null,
  }
}

/** JSON object of a header; null when absent, undefined when not an object. */
function objectOf(text: string | null): Record<string, unknown> | null | undefined {
  if (text === null) return null
  try {
    const { value } = parseJson(Buffer.from(text))
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined
  } catch {
    return undefined
  }
}
