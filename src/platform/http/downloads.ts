// SPDX-License-Identifier: Apache-2.0
// Serves a download: all of it, one range (206), not modified (304) or an invalid range (416). Bytes are streamed with
// backpressure; a source of the wrong length cuts the connection, so that the client notices.
import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '../../kernel/errors.ts'
import type { ByteRange, Download } from '../api/download.ts'
import type { App } from '../app.ts'
import type { CompiledRoute } from './exchange.ts'
import { knows, rangeOf } from './ranges.ts'
import { callerOf, checked } from './request-input.ts'

export async function handleDownload(
  app: App,
  compiled: CompiledRoute,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<unknown> {
  const { route } = compiled
  if (route.kind !== 'download') throw new Error(`${route.operation} is no download`)
  if (request.exchange.principal?.masksPeople)
    throw new AppError('FORBIDDEN', 'your role has no access to personal data, which files may contain')
  const input = checked(compiled, request, reply)
  return giveDownload(request, reply, await route.handle(app, input, callerOf(request.exchange)))
}

export async function giveDownload(
  request: FastifyRequest,
  reply: FastifyReply,
  download: Download,
): Promise<FastifyReply> {
  const { headers, method, exchange } = request
  const { size } = download
  const tag = `"${download.tag}"`
  if (knows(headers['if-none-match'], tag)) return reply.code(304).header('etag', tag).send()
  const range = size === null || method !== 'GET' ? null : wantedRange(headers, tag, size)
  if (range === 'outside') {
    reply.header('content-range', `bytes */${size}`)
    throw new AppError('RANGE_NOT_SATISFIABLE', `there are ${size} bytes`)
  }
  reply.headers({ ...download.headers, ...fileHeaders(download), etag: tag })
  const promised = range ? range.last - range.first + 1 : size
  reply.header('content-type', download.type)
  reply.header('accept-ranges', size === null ? 'none' : 'bytes')
  if (promised !== null) reply.header('content-length', String(promised))
  if (range) reply.code(206).header('content-range', `bytes ${range.first}-${range.last}/${size}`)
  if (method === 'HEAD' || promised === 0) return reply.send()
  exchange.resultText = `{"bytes":${promised}}`
  return reply.send(await opened(download, range ?? (size === null ? null : { first: 0, last: size - 1 }), promised))
}

/** Requested range, if it is for the current content (If-Range). */
function wantedRange(headers: FastifyRequest['headers'], tag: string, size: number): ByteRange | 'outside' | null {
  const condition = headers['if-range']
  return condition === undefined || condition === tag ? rangeOf(headers.range, size) : null
}

/** Reads the source before sending headers, so that its error can still be reported. */
async function opened(download: Download, range: ByteRange | null, promised: number | null): Promise<Readable> {
  const source = (await download.open(range))[Symbol.asyncIterator]()
  const first = await source.next()
  async function* bytes(): AsyncGenerator<Buffer> {
    let sent = 0
    try {
      for (let next = first; !next.done; next = await source.next()) {
        sent += next.value.length
        if (promised !== null && sent > promised) break
        if (next.value.length > 0) yield next.value
      }
    } finally {
      await source.return?.()
    }
    if (promised !== null && sent !== promised)
      throw new Error(`a download of ${promised} bytes has ${sent < promised ? 'ended after' : 'more than'} ${sent}`)
  }
  return Readable.from(bytes(), { objectMode: false })
}

/** Headers of every file: no type sniffing, and no scripts. */
function fileHeaders({ name, disposition = 'attachment', headers = {} }: Download): Record<string, string> {
  return {
    'x-content-type-options': 'nosniff',
    'content-security-policy':
      headers['content-security-policy'] ??
      "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    'referrer-policy': 'no-referrer',
    'content-disposition': name === undefined ? disposition : `${disposition}; ${fileName(name)}`,
  }
}

/** RFC 6266 file name: in ASCII and in UTF-8. */
function fileName(name: string): string {
  const plain = name.replaceAll(/[^A-Za-z0-9._ -]/g, '-')
  if (plain === name) return `filename="${plain}"`
  const encoded = encodeURIComponent(name.toWellFormed()).replaceAll(
    /['()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16)}`,
  )
  return `filename="${plain}"; filename*=UTF-8''${encoded}`
}
