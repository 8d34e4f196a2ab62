// SPDX-License-Identifier: Apache-2.0
// Server that answers as the cases of the SDKs tell it to: badly, late, or not at all. It writes down what it was asked.
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'

export interface ScriptedAnswer {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  /** Body of a success, in its envelope. */
  readonly data?: unknown
  /** Whole body. */
  readonly raw?: unknown
  readonly error?: Readonly<Record<string, unknown>>
  /** Rows of a page, with the next cursor. */
  readonly page?: readonly unknown[]
  readonly next?: string | null
  readonly more?: boolean
  readonly text?: string
  readonly hex?: string
  readonly sse?: string
  /** The stream is left open. */
  readonly stay?: boolean
  /** The connection ends without an answer. */
  readonly drop?: boolean
  /** The answer breaks off. */
  readonly cut?: boolean
  /** There is never an answer. */
  readonly hang?: boolean
}

export interface Asked {
  readonly method: string
  readonly path: string
  readonly query: Readonly<Record<string, string>>
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

export interface BadServer {
  readonly url: string
  /** What was asked under a prefix. */
  asked(prefix: string): readonly Asked[]
  stop(): void
}

/** Answers a prefix of two steps, `/Node/3`, by the answers of case 3, the last of which is repeated. */
export async function startBadServer(answersOf: (index: number) => readonly ScriptedAnswer[]): Promise<BadServer> {
  const asked = new Map<string, Asked[]>()
  const server = createServer(async (request, response) => {
    const url = new URL(request.url ?? '/', 'http://localhost')
    const [, language = '', index = '', ...rest] = url.pathname.split('/')
    const prefix = `${language}/${index}`
    const body = await buffer(request)
    const before = asked.get(prefix) ?? []
    const query = Object.fromEntries(url.searchParams)
    const { method = '', headers } = request
    asked.set(prefix, [...before, { method, path: `/${rest.join('/')}`, query, headers, body: body.toString('utf8') }])
    const answers = answersOf(Number(index))
    const answer = answers[before.length] ?? answers.at(-1)
    if (answer) reply(response, answer)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' && address ? address.port : 0
  return {
    url: `http://127.0.0.1:${port}`,
    asked: (prefix) => asked.get(prefix) ?? [],
    stop() {
      server.closeAllConnections()
      server.close()
    },
  }
}

function reply(response: ServerResponse, answer: ScriptedAnswer): void {
  const { status = 200, headers = {}, drop, cut, hang, sse, stay } = answer
  if (hang) return
  if (drop) return void response.socket?.destroy()
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, dated(value))
  if (sse !== undefined) {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write(sse)
    if (!stay) response.end()
    return
  }
  const body = bodyOf(answer)
  if (cut) {
    response
      .writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' })
      .write('{"success": true, ')
    return void setImmediate(() => response.socket?.destroy())
  }
  if (!response.hasHeader('content-type') && body !== null) response.setHeader('content-type', 'application/json')
  response.writeHead(status).end(body ?? undefined)
}

function bodyOf({
  status,
  data,
  raw,
  error,
  page,
  next = null,
  more = next !== null,
  text,
  hex,
}: ScriptedAnswer): string | Buffer | null {
  if (status === 204) return null
  if (text !== undefined) return text
  if (hex !== undefined) return Buffer.from(hex, 'hex')
  if (raw !== undefined) return JSON.stringify(raw)
  if (page) return JSON.stringify({ success: true, data: page, has_more: more, next_cursor: next })
  if (error)
    return JSON.stringify({ success: false, error: { message: 'What it means', request_id: 'req_1', ...error } })
  return JSON.stringify({ success: true, data })
}

/** `+20 as a date` is the time in twenty seconds, as HTTP writes it. */
function dated(value: string): string {
  const [, seconds] = /^\+(\d+) as a date$/.exec(value) ?? []
  return seconds === undefined ? value : new Date(Date.now() + Number(seconds) * 1000).toUTCString()
}
