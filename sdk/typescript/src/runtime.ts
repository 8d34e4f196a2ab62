// SPDX-License-Identifier: Apache-2.0
// What the client asks of where it runs: Node, Bun, Deno, a browser. Nothing of Node is imported, so that a bundle for browsers
// has nothing to leave out.

interface Runtime {
  readonly env?: Readonly<Record<string, string | undefined>>
  readonly versions?: Readonly<Record<string, string | undefined>>
  readonly platform?: string
  readonly stderr?: { write(text: string): unknown }
  getBuiltinModule?(name: 'node:fs'): FileSystem
  getBuiltinModule?(name: 'node:https'): Https
  getBuiltinModule?(name: 'node:stream'): { Readable: Readable }
}

interface FileSystem {
  readFileSync(path: string, encoding: 'utf8'): string
}

interface Https {
  Agent: new (options: object) => object
  request(url: string, options: object, answered: (message: Incoming) => void): Outgoing
}

interface Incoming {
  readonly statusCode?: number
  readonly headersDistinct: Readonly<Record<string, readonly string[] | undefined>>
}

interface Outgoing {
  on(name: 'error', failed: (error: Error) => void): unknown
  end(): unknown
}

interface Readable {
  toWeb(stream: Incoming): ReadableStream<Uint8Array>
  fromWeb(stream: ReadableStream<Uint8Array>): { pipe(to: Outgoing): unknown }
}

const runtime: Runtime | undefined = Reflect.get(globalThis, 'process')

export function setting(name: string): string | undefined {
  return runtime?.env?.[name] || undefined
}

/** Such as `pamoja-node/0.1.0 node/20.19 linux`; undefined in a browser, which has its own. */
export function userAgent(version: string): string | undefined {
  const versions = runtime?.versions
  const name = ['bun', 'deno', 'node'].find((one) => versions?.[one])
  if (name === undefined) return undefined
  const short = versions?.[name]?.split('.').slice(0, 2).join('.')
  return `pamoja-node/${version} ${name}/${short} ${runtime?.platform ?? ''}`.trim()
}

/** Line for a person who looks for a fault. */
export function debugLine(text: string): void {
  runtime?.stderr?.write(`pamoja: ${text}\n`)
}

export type Fetch = (url: string, init: RequestInit) => Promise<Response>

/** `fetch` that trusts the certificates of a file, which that of Node cannot be told for a request. */
export function fetchTrusting(caFile: string): Fetch {
  const https = runtime?.getBuiltinModule?.('node:https')
  const files = runtime?.getBuiltinModule?.('node:fs')
  const streams = runtime?.getBuiltinModule?.('node:stream')
  if (!https || !files || !streams) throw new TypeError('caFile works in Node, Bun and Deno only')
  const agent = new https.Agent({ ca: files.readFileSync(caFile, 'utf8'), keepAlive: true })
  return async (url, init) => {
    if (url.startsWith('http:')) return fetch(url, init)
    const { body, headers } = new Request(url, init)
    const sent = Object.fromEntries(headers)
    if (typeof init.body === 'string') sent['content-length'] = String(new TextEncoder().encode(init.body).length)
    return new Promise((answer, fail) => {
      const asked = https.request(url, { method: init.method, headers: sent, agent, signal: init.signal }, (message) =>
        answer(responseOf(message, streams.Readable)),
      )
      asked.on('error', fail)
      if (body === null) asked.end()
      else streams.Readable.fromWeb(body).pipe(asked)
    })
  }
}

function responseOf(message: Incoming, { toWeb }: Readable): Response {
  const headers = new Headers()
  for (const [name, values = []] of Object.entries(message.headersDistinct))
    for (const value of values) headers.append(name, value)
  const status = message.statusCode ?? 0
  const isEmpty = status === 204 || status === 304
  const stream = toWeb(message)
  return new Response(isEmpty ? null : stream, { status, headers })
}
