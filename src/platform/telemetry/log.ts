// SPDX-License-Identifier: Apache-2.0
// Log of the program: JSON lines on stdout, or readable lines in a terminal. Fields with secret names are masked, and
// of an error only its message is kept: PostgreSQL quotes customers' data in other fields.
import { stdout } from 'node:process'
import pino from 'pino'
import { lineWithoutCardNumbers } from '../../kernel/card.ts'
import { momentText } from '../../kernel/time.ts'
import { systemClock } from '../clock.ts'
import { sqlState } from '../db.ts'

export interface Logger extends pino.Logger {
  /** Logs an answered request. Formatted by hand, because every request pays for it. */
  answered(request: AnsweredRequest): void
}

interface AnsweredRequest {
  id: string
  method: string
  /** Printable, without keys. */
  path: string
  status: number
  ms: number
  errorCode: string | null
  accountId: string | null
  keyId: string | null
  /** Fields that were probably meant otherwise, without keys. */
  warning: string | null
}

export interface LogOptions {
  level: string
  /** Whether lines are readable instead of JSON; null: in a terminal. */
  pretty: boolean | null
  /** File instead of stdout; for tests and benchmarks. */
  file: string | null
}

/** Field names masked at the top level of a line or one level down. */
const secretFields: ReadonlySet<string> = new Set([
  'access_token',
  'api_key',
  'authorization',
  'card',
  'client_secret',
  'cookie',
  'cvc',
  'cvv',
  'document',
  'html',
  'key',
  'message',
  'operator_key',
  'otp',
  'pan',
  'password',
  'pin',
  'secret',
  'test_api_key',
  'text',
  'token',
])
const mask = '[redacted]'
const flushMs = 500
const pageLength = 4_096
const maxCauses = 5

export function createLog({ level, pretty, file }: LogOptions): Logger {
  const options: pino.LoggerOptions = {
    level,
    base: null,
    timestamp: time,
    // pino's `redact` took six times as long as the line itself, because its wildcards copy objects.
    formatters: { level: (label) => ({ level: label }), log: masked },
    serializers: { error: described },
    // Card numbers are masked anywhere in a line, at any level.
    hooks: { streamWrite: lineWithoutCardNumbers },
  }
  if (file === null && (pretty ?? stdout.isTTY)) return withAnswered(pino(options, terminal), terminal)
  const destination = pino.destination({
    dest: file ?? 1,
    sync: false,
    // Buffer size: writing every few lines took 40 of the 140 microseconds of a simple request.
    minLength: 16_383,
    maxLength: 16 * 1024 * 1024,
    ...(file ? { mkdir: true } : {}),
  })
  // A full or missing disk must not stop the program: lines are buffered, or dropped.
  destination.on('error', () => undefined)
  const gathered = gathering(destination)
  // Flush interval: the last line of a quiet program appears within a second.
  setInterval(() => gathered.flush(), flushMs).unref()
  return withAnswered(pino(options, gathered), { write: gathered.add })
}

interface Destination {
  write(lines: string): unknown
  flush(done?: (error?: Error) => unknown): void
}

/** Batch request lines into pages: the destination measures its whole buffer for each write. */
function gathering(destination: Destination): Destination & { add(line: string): void } {
  let page = ''
  const turn = (): void => {
    if (page !== '') destination.write(page)
    page = ''
  }
  return {
    add(line) {
      page += line
      if (page.length >= pageLength) turn()
    },
    write(line) {
      turn()
      return destination.write(line)
    },
    flush(done) {
      turn()
      destination.flush(done)
    },
  }
}

const time = (): string => `,"time":"${momentText(new Date(systemClock.nowMs()))}"`

/** Lines held back while a start shows its progress line; null when not holding. */
let held: string[] | null = null
const maxHeld = 1_000

const terminal = {
  write(line: string): void {
    if (held === null) stdout.write(readable(line))
    else if (held.length < maxHeld) held.push(line)
  },
}

/** Holds back terminal lines until the returned function is called. */
export function holdTerminal(): () => void {
  held ??= []
  return () => {
    const lines = held ?? []
    held = null
    for (const line of lines) terminal.write(line)
  }
}

function withAnswered(log: pino.Logger, destination: { write(line: string): unknown }): Logger {
  return Object.assign(log, {
    answered({ id, method, path, status, ms, errorCode, accountId, keyId, warning }: AnsweredRequest): void {
      if (!log.isLevelEnabled('info')) return
      const error = errorCode === null ? '' : `,"error_code":"${errorCode}"`
      const meant = warning === null ? '' : `,"warning":${JSON.stringify(warning)}`
      const maker = accountId === null ? '' : `,"account":"${accountId}","key_id":"${keyId}"`
      const asked = `"request":"${id}","method":"${method}","path":${JSON.stringify(path)}`
      destination.write(
        `{"level":"info"${time()},${asked},"status":${status},"ms":${ms}${error}${meant}${maker},"msg":"request"}\n`,
      )
    },
  })
}

/** Message of an error, without the values PostgreSQL quotes when it cannot parse them (SQLSTATE 22). */
export function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return sqlState(error).startsWith('22') ? error.message.replace(/".*"/s, `"${mask}"`) : error.message
}

type Fields = Record<string, unknown>

/** Fields with secrets masked; the same object when there are none, which is nearly always. */
function masked(fields: Fields): Fields {
  let copy: Fields | null = null
  for (const name in fields) {
    const value = fields[name]
    const shown = secretFields.has(name) ? mask : isPlain(value) ? maskedMembers(value) : value
    if (shown !== value && value !== null && value !== undefined) {
      copy ??= { ...fields }
      copy[name] = shown
    }
  }
  return copy ?? fields
}

function maskedMembers(members: Fields): Fields {
  let copy: Fields | null = null
  for (const name in members)
    if (secretFields.has(name) && members[name] !== null && members[name] !== undefined) {
      copy ??= { ...members }
      copy[name] = mask
    }
  return copy ?? members
}

function isPlain(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Error)
}

interface Described {
  type: string
  message: string
  code?: string
  stack?: string
  cause?: Described | string
}

/** Error and its causes, messages only: other members may hold customers' data. */
function described(error: unknown, depth = 0): Described | string {
  if (!(error instanceof Error)) return String(error)
  const message = messageOf(error)
  return {
    type: error.name,
    message,
    ...('code' in error && typeof error.code === 'string' ? { code: error.code } : {}),
    ...(error.stack ? { stack: error.stack.replace(error.message, () => message) } : {}),
    ...(error.cause !== undefined && depth < maxCauses ? { cause: described(error.cause, depth + 1) } : {}),
  }
}

const colours: Readonly<Record<string, string>> = { warn: '\u001b[33m', error: '\u001b[31m', fatal: '\u001b[31m' }
const dim = '\u001b[2m'
const plain = '\u001b[0m'

/** Readable line for a terminal: time, level, message, fields; an error with its causes below. */
export function readable(line: string): string {
  const { level, time, msg, error, ...fields } = JSON.parse(line)
  if (msg === 'request' && fields.method) return requestLine(time, fields)
  const rest = Object.entries(fields).map(
    ([name, value]) => ` ${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
  )
  const start = `${dim}${String(time).slice(11, 19)}${plain} ${colours[level] ?? dim}${level}${plain} ${msg ?? ''}`
  return `${start}${dim}${rest.join('')}${plain}\n${level === 'warn' ? reasonLines(error) : errorLines(error)}`
}

/** Warnings show the reason of an outside failure, without a stack trace. */
function reasonLines(error: Described | string | undefined): string {
  if (error === undefined) return ''
  if (typeof error === 'string') return `  ${error}\n`
  return `  ${error.message}\n${reasonLines(error.cause)}`
}

/** Request line. The request log has the caller, under the id at the end. */
function requestLine(time: string, { method, path, status, ms, request, error_code }: Fields): string {
  const colour = Number(status) >= 500 ? colours.error : Number(status) >= 400 ? colours.warn : ''
  const outcome = `${colour}${status}${error_code ? ` ${error_code}` : ''}${plain}`
  return `${dim}${time.slice(11, 19)}${plain} ${method} ${path} ${outcome} ${dim}${ms} ms ${request}${plain}\n`
}

function errorLines(error: Described | string | undefined): string {
  if (error === undefined) return ''
  if (typeof error === 'string') return `  ${error}\n`
  const { stack, type, message, cause } = error
  return `  ${(stack ?? `${type}: ${message}`).replaceAll('\n', '\n  ')}\n${cause === undefined ? '' : `  caused by:\n${errorLines(cause)}`}`
}
