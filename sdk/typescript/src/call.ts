// SPDX-License-Identifier: Apache-2.0
// Calls of the areas: one method for every row of the table, by which it takes its path, its query and its body from what it is
// given, and gives the value, a list to walk, or a stream to read.
import {
  type Answered,
  type Client,
  filled,
  type Page,
  pauseMs,
  queryOf,
  type RequestOptions,
  valueIn,
} from './client.ts'
import { PamojaError } from './errors.ts'

export type { Page, RequestOptions }

/** What an answer said beside its value. */
export interface ResponseInfo {
  readonly status: number
  readonly headers: Headers
  readonly requestId: string
  /** Whether it is the first answer to this idempotency key again. */
  readonly isReplayed: boolean
  readonly rateLimit: { readonly limit: number; readonly remaining: number; readonly reset: number } | null
}

/** A value, and what its answer said beside it; `_response` is left out of JSON and of loops. */
export type Answer<T> = T & { readonly _response: ResponseInfo }

export interface WaitOptions extends RequestOptions {
  /** Milliseconds to wait in all; 120,000 unless given. */
  readonly within?: number
}

/** Rows of a list: walk it, or take a page or an array. */
export class List<Row> implements AsyncIterable<Row> {
  readonly #ask: (cursor: string | undefined) => Promise<Answer<Page<Row>>>

  constructor(ask: (cursor: string | undefined) => Promise<Answer<Page<Row>>>) {
    this.#ask = ask
  }

  /** One page: the first, or the one that `next_cursor` of another names. */
  page(cursor?: string): Promise<Answer<Page<Row>>> {
    return this.#ask(cursor)
  }

  async *[Symbol.asyncIterator](): AsyncIterator<Row> {
    let cursor: string | undefined
    for (;;) {
      const { data, has_more, next_cursor } = await this.#ask(cursor)
      yield* data
      if (!has_more || next_cursor === null || next_cursor === cursor) return
      cursor = next_cursor
    }
  }

  /** At most so many rows in an array. */
  async toArray({ limit }: { limit: number }): Promise<Row[]> {
    if (!(limit > 0)) throw new TypeError('toArray wants a limit, such as { limit: 1000 }')
    const rows: Row[] = []
    for await (const row of this) {
      rows.push(row)
      if (rows.length >= limit) break
    }
    return rows
  }
}

/** One message of a stream. */
export interface StreamMessage<T> {
  readonly id: string
  readonly event: string
  readonly data: T
}

/** Messages as they come. A stream that breaks goes on after the last one, and tells none twice. */
export type MessageStream<T> = AsyncIterable<StreamMessage<T>>

type Given = readonly unknown[]

interface Row {
  readonly method: string
  readonly path: string
  readonly params: readonly string[]
  readonly queryNames: ReadonlySet<string>
  /** Whether something is taken beside the path. */
  readonly takesInput: boolean
  readonly gives: string
}

/** `POST /v1/payments?wait` and `GET /v1/sms page`, as the table has them. */
function rowOf(spec: string): Row {
  const [method = '', where = '', gives = 'data'] = spec.split(' ')
  const [path = '', names = ''] = where.replace('!', '').split('?')
  const params = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
  return { method, path, params, queryNames: new Set(names.split(',')), takesInput: !where.endsWith('!'), gives }
}

/** Methods of an area, from its rows. */
export function areaOf(client: Client, rows: Readonly<Record<string, string>>): object {
  const methods = Object.entries(rows).map(([name, spec]) => {
    const row = rowOf(spec)
    return [name, (...given: Given) => called(client, row, given)]
  })
  return Object.fromEntries(methods)
}

function called(client: Client, { method, path, params, queryNames, takesInput, gives }: Row, given: Given): unknown {
  const where = filled(path, new Map(params.map((name, index) => [name, given[index]])))
  const rest = given.slice(params.length)
  const [input, options] = [takesInput ? rest.shift() : undefined, optionsIn(rest)]
  const { query, body } = partsOf(method, queryNames, input)
  if (gives === 'page')
    return new List((cursor) =>
      client
        .ask(method, where, { ...options, query: cursor === undefined ? query : { ...query, cursor } })
        .then((answered) => withResponse(valueIn('page', answered), answered)),
    )
  if (gives === 'stream') return messagesOf(client, where, query, options)
  if (gives === 'file')
    return client.send(method, where, { ...options, query, body, headers: { accept: '*/*', ...options.headers } })
  return client
    .ask(method, where, { ...options, query, body })
    .then((answered) => withResponse(valueIn(gives, answered), answered))
}

function optionsIn([options]: Given): RequestOptions {
  return { ...Object(options) }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

function partsOf(method: string, queryNames: ReadonlySet<string>, input: unknown): { query?: object; body?: unknown } {
  if (typeof input === 'string') return { body: input }
  if (!isObject(input)) return {}
  if (method === 'GET') return { query: input }
  const fields = Object.entries(input)
  const query = Object.fromEntries(fields.filter(([name]) => queryNames.has(name)))
  const own = fields.filter(([name, value]) => !queryNames.has(name) && value !== undefined)
  if (own.length === 0 && method === 'DELETE') return { query }
  const isForm = own.some(([, value]) => value instanceof Blob || (Array.isArray(value) && value[0] instanceof Blob))
  return { query, body: isForm ? formOf(own) : Object.fromEntries(own) }
}

function formOf(fields: readonly (readonly [string, unknown])[]): FormData {
  const form = new FormData()
  for (const [name, value] of fields)
    for (const one of Array.isArray(value) && value[0] instanceof Blob ? value : [value])
      form.append(name, one instanceof Blob ? one : isObject(one) ? JSON.stringify(one) : String(one))
  return form
}

function withResponse<T extends object>(value: T, { response }: Answered): Answer<T> {
  const { status, headers } = response
  const number = (name: string): number => Number(headers.get(`x-ratelimit-${name}`))
  const _response: ResponseInfo = {
    status,
    headers,
    requestId: headers.get('x-request-id') ?? '',
    isReplayed: headers.get('idempotent-replayed') === 'true',
    rateLimit: headers.has('x-ratelimit-limit')
      ? { limit: number('limit'), remaining: number('remaining'), reset: number('reset') }
      : null,
  }
  const answer = Object.assign(value, { _response })
  return Object.defineProperty(answer, '_response', { enumerable: false })
}

const unfinished = new Set(['pending', 'processing', 'requires_action'])

/** Asks until a thing is over, each time for as long as the server may wait, or the time is over. */
export async function waited<T extends { status: string }>(
  get: (wait: number) => Promise<T>,
  within = 120_000,
): Promise<T> {
  const untilMs = performance.now() + within
  for (;;) {
    const left = Math.ceil((untilMs - performance.now()) / 1_000)
    const thing = await get(Math.max(0, Math.min(30, left)))
    if (!unfinished.has(thing.status) || performance.now() >= untilMs) return thing
  }
}

/** Three heartbeats of a stream. */
const silenceMs = 45_000
const maxRemembered = 10_000
const maxMessageLength = 2 * 1024 * 1024

async function* messagesOf(
  client: Client,
  path: string,
  query: object | undefined,
  options: RequestOptions,
): AsyncGenerator<StreamMessage<unknown>> {
  const told = new Set<string>()
  let lastId = ''
  for (let failures = 0; ; ) {
    const stop = new AbortController()
    const signal = options.signal ? AbortSignal.any([options.signal, stop.signal]) : stop.signal
    let watch: ReturnType<typeof setTimeout> | undefined
    const heard = (): void => {
      clearTimeout(watch)
      watch = setTimeout(() => stop.abort(), silenceMs)
    }
    const headers = {
      accept: 'text/event-stream',
      ...(lastId === '' ? {} : { 'last-event-id': lastId }),
      ...options.headers,
    }
    try {
      const { body } = await client.send('GET', `${path}${queryOf(query)}`, { ...options, signal, headers })
      heard()
      for await (const message of parsedMessages(body, heard)) {
        failures = 0
        lastId = message.id
        if (message.data === '' || told.has(message.id)) continue
        told.add(message.id)
        if (told.size > maxRemembered) for (const oldest of told) if (told.delete(oldest)) break
        yield { ...message, data: JSON.parse(message.data) }
      }
    } catch (error) {
      if (options.signal?.aborted) return
      if (error instanceof PamojaError && error.status >= 400 && error.status < 500 && error.status !== 429) throw error
    } finally {
      clearTimeout(watch)
      stop.abort()
    }
    await client.pause(pauseMs(null, ++failures))
  }
}

interface RawMessage {
  id: string
  event: string
  data: string
}

async function* parsedMessages(body: ReadableStream<Uint8Array> | null, heard: () => void): AsyncGenerator<RawMessage> {
  if (body === null) return
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let rest = ''
  let message: RawMessage = { id: '', event: '', data: '' }
  for (;;) {
    const { value, done } = await reader.read()
    if (done) return
    heard()
    const lines = (rest + decoder.decode(value, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) {
      if (line === '') {
        if (message.id !== '') yield message
        message = { id: '', event: '', data: '' }
        continue
      }
      const [, field = '', text = ''] = /^(\w*): ?(.*)$/s.exec(line) ?? []
      if (field === 'id') message.id = text
      else if (field === 'event') message.event = text
      else if (field === 'data') message.data += message.data === '' ? text : `\n${text}`
    }
    if (rest.length + message.data.length > maxMessageLength) throw new TypeError('a message of the stream is too long')
  }
}
