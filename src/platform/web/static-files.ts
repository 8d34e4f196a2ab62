// SPDX-License-Identifier: Apache-2.0
// Pages and what they need, served from memory: made when first asked for, zipped once, and told apart by their content.
// They need no credentials and hold nothing of any account.
import { createHash } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

export interface StaticFile {
  readonly path: string
  /** Its media type; the text is UTF-8. */
  readonly type: string
  /** What a browser that shows it may do. */
  readonly contentSecurityPolicy: string
  /** Called once, when it is first asked for: the address of an installation is known only when it listens. */
  make(): string
}

export function serveFile(http: FastifyInstance, { path, type, contentSecurityPolicy, make }: StaticFile): void {
  let file: Stored | undefined
  http.get(path, { config: { open: true } }, async (request, reply) => {
    file ??= stored(type, make())
    reply.header('content-security-policy', contentSecurityPolicy)
    return give(file, request, reply)
  })
}

interface Stored {
  type: string
  tag: string
  plain: Buffer
  zipped: Buffer
}

function stored(type: string, text: string): Stored {
  const tag = `"${createHash('sha256').update(text).digest('base64url').slice(0, 22)}"`
  return { type: `${type}; charset=utf-8`, tag, plain: Buffer.from(text), zipped: gzipSync(text) }
}

function give({ type, tag, plain, zipped }: Stored, { headers }: FastifyRequest, reply: FastifyReply): FastifyReply {
  reply.headers({
    'content-type': type,
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cache-control': 'no-cache',
    etag: tag,
    vary: 'accept-encoding',
  })
  if (knows(headers['if-none-match'], tag)) return reply.code(304).send()
  if (!takesGzip(headers['accept-encoding'])) return reply.send(plain)
  return reply.header('content-encoding', 'gzip').send(zipped)
}

/** Whether a client has the content of a tag. A proxy that zips makes a tag a weak one, and there may be several. */
function knows(header: string | undefined, tag: string): boolean {
  const known = (header ?? '').split(',').map((one) => one.trim().replace(/^W\//, ''))
  return known.includes(tag) || known.includes('*')
}

function takesGzip(header: string | string[] | undefined): boolean {
  const wish = /\bgzip\b *(?:; *q=([\d.]+))?/.exec(String(header ?? ''))
  return wish !== null && Number(wish[1] ?? 1) > 0
}
