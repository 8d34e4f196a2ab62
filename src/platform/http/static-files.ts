// SPDX-License-Identifier: Apache-2.0
// Static files served from memory: built at first use, compressed once, with an ETag. Public, without account data.
import { createHash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { gzipSync } from 'node:zlib'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type Hook, type HookAnswer, hook } from '../api/hook.ts'
import { nothingAt, pathOf } from './exchange.ts'
import { knows } from './ranges.ts'

/** Rate limit per IP address, which a whole network may share. */
const perSecond = 500

export interface StaticFile {
  readonly path: string
  /** Media type; text is UTF-8. */
  readonly type: string
  readonly contentSecurityPolicy: string
  /** Builds the content, once, at the first request: the address is known only after listening. */
  make(): string | Buffer
}

/** Serves files by one route per path pattern; the list of files is built at the first request. */
export function serveFiles(
  http: FastifyInstance,
  patterns: readonly string[],
  files: () => readonly StaticFile[],
): void {
  let answers: ReadonlyMap<string, Answering> | undefined
  const handler = async (request: FastifyRequest, reply: FastifyReply) => {
    answers ??= new Map(files().map((file) => [file.path, answering(file)]))
    const answer = answers.get(pathOf(request).replace(/\/$/, ''))
    if (!answer) throw nothingAt(request)
    const { status, headers, body } = answer(request.headers)
    return reply
      .code(status)
      .headers(headers)
      .send(body ?? undefined)
  }
  for (const url of patterns)
    http.route({ method: ['GET', 'HEAD'], url, exposeHeadRoute: false, config: { open: true, files: true }, handler })
}

/** Static file as a hook of an area. */
export function fileHook(operation: string, file: StaticFile): Hook {
  const answer = answering(file)
  return hook({
    methods: ['GET', 'HEAD'],
    path: file.path,
    operation,
    summary: 'Get a page or one of its files',
    maxBytes: 1,
    limits: [{ by: 'address', perSecond }],
    handle: async (_app, { headers }) => answer(headers),
  })
}

type Answering = (asked: IncomingHttpHeaders) => HookAnswer

function answering({ type, contentSecurityPolicy, make }: StaticFile): Answering {
  let file: Stored | undefined
  return (asked) => {
    file ??= stored(type, make())
    const { status, headers, body } = give(file, asked)
    return { status, headers: { ...headers, 'content-security-policy': contentSecurityPolicy }, body }
  }
}

interface Stored {
  type: string
  tag: string
  plain: Buffer
  /** Compressed content; null for pictures, which are compressed already. */
  zipped: Buffer | null
}

function stored(type: string, content: string | Buffer): Stored {
  const tag = `"${createHash('sha256').update(content).digest('base64url').slice(0, 22)}"`
  if (typeof content !== 'string') return { type, tag, plain: content, zipped: null }
  return { type: `${type}; charset=utf-8`, tag, plain: Buffer.from(content), zipped: gzipSync(content) }
}

function give({ type, tag, plain, zipped }: Stored, asked: IncomingHttpHeaders): HookAnswer {
  const headers = {
    'content-type': type,
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cache-control': 'no-cache',
    etag: tag,
    vary: 'accept-encoding',
  }
  if (knows(asked['if-none-match'], tag)) return { status: 304, headers, body: null }
  if (zipped === null || !takesGzip(asked['accept-encoding'])) return { status: 200, headers, body: plain }
  return { status: 200, headers: { ...headers, 'content-encoding': 'gzip' }, body: zipped }
}

function takesGzip(header: string | string[] | undefined): boolean {
  const wish = /\bgzip\b *(?:; *q=([\d.]+))?/.exec(String(header ?? ''))
  return wish !== null && Number(wish[1] ?? 1) > 0
}
