// SPDX-License-Identifier: Apache-2.0
// A file as an answer: whole or a range of it, with what browsers and caches need to know. Nobody is made to run it: it is
// always an attachment whose type is not guessed.
import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '../../kernel/errors.ts'
import type { App } from '../app.ts'
import type { OpenedFile } from '../storage.ts'
import { rangeOf } from './byte-ranges.ts'

/** Files at addresses that say by themselves who may read them, and until when. */
export function serveSignedFiles(http: FastifyInstance, app: App): void {
  http.get<{ Params: { token: string } }>('/files/:token', { config: { open: true } }, async (request, reply) => {
    const opened = await app.storage.openByToken(request.params.token)
    if (opened === null) throw new AppError('NOT_FOUND', 'there is no file at this address, or its time is over')
    return sendFile(request, reply, opened)
  })
}

function sendFile(request: FastifyRequest, reply: FastifyReply, { file, read }: OpenedFile): FastifyReply {
  const etag = `"${file.sha256.toString('hex')}"`
  reply
    .header('etag', etag)
    .header('accept-ranges', 'bytes')
    .header('cache-control', 'private, no-cache')
    .header('x-content-type-options', 'nosniff')
    .header('content-disposition', attachment(file.name))
    .header('content-type', file.type)
  if (request.headers['if-none-match'] === etag) return reply.code(304).send()
  const condition = request.headers['if-range']
  const range = condition === undefined || condition === etag ? rangeOf(request.headers.range, file.bytes) : null
  if (range === 'unsatisfiable') {
    return reply.code(416).header('content-range', `bytes */${file.bytes}`).header('content-length', '0').send()
  }
  const { start, end } = range ?? { start: 0, end: file.bytes }
  if (range !== null) reply.code(206).header('content-range', `bytes ${start}-${end - 1}/${file.bytes}`)
  reply.header('content-length', String(end - start))
  return request.method === 'HEAD' ? reply.send() : reply.send(Readable.from(read({ start, end })))
}

/** RFC 6266: a plain name for all, and the real one for those who can read it. */
function attachment(name: string | null): string {
  if (name === null) return 'attachment'
  const plain = name.replace(/[^\x20-\x7e]|["\\]/g, '_')
  const encoded = encodeURIComponent(name.toWellFormed()).replace(
    /['()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16)}`,
  )
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`
}
