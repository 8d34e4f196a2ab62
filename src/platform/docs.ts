// SPDX-License-Identifier: Apache-2.0
// The reference pages: made from the route table when first asked for, then served from memory, with everything they
// need on this server. They need no credentials and show nothing of any account.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Config } from '../config.ts'
import type { App } from './app.ts'
import type { Area } from './area.ts'
import type { Place } from './docs/operations.ts'
import { errorsPage, type Reference, referencePage } from './docs/page.ts'

/** The assets are not compiled, so they stay where they were written. */
const assets = new URL('../../../src/platform/docs/', import.meta.url)

const contentSecurityPolicy =
  "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

type DocsConfig = Pick<Config, 'PAMOJA_HOME' | 'PAMOJA_PUBLIC_URL' | 'PAMOJA_TLS_CERT'>
type DocsApp = Pick<App, 'version' | 'publicUrl'> & { readonly config: DocsConfig }

export function docs(http: FastifyInstance, app: DocsApp, areas: readonly Area[]): void {
  const reference = (): Reference => ({ version: app.version, areas, place: placeOf(app) })
  const serve = (path: string, type: string, make: () => string): void => {
    // The address of this installation is known once it listens, so nothing is made before it is asked for.
    let file: StoredFile | undefined
    http.get(path, { config: { open: true } }, async (request, reply) => {
      file ??= stored(type, make())
      return give(file, request, reply)
    })
  }
  serve('/docs', 'text/html', () => referencePage(reference()))
  serve('/docs/errors', 'text/html', () => errorsPage(reference()))
  serve('/docs/style.css', 'text/css', () => asset('style.css'))
  serve('/docs/docs.js', 'text/javascript', () => asset('docs.js'))
  serve('/docs/icon.svg', 'image/svg+xml', () => asset('icon.svg'))
}

/** An installation with a certificate of its own, or behind a proxy that has one, needs no authority to be named. */
function placeOf({ publicUrl, config }: DocsApp): Place {
  const ownAuthority = config.PAMOJA_TLS_CERT === null && config.PAMOJA_PUBLIC_URL === null
  const home = config.PAMOJA_HOME.startsWith('/') ? '$PAMOJA_HOME' : config.PAMOJA_HOME
  return { url: publicUrl, caFile: ownAuthority ? `${home}/tls/ca.pem` : null }
}

function asset(name: string): string {
  return readFileSync(new URL(name, assets), 'utf8')
}

interface StoredFile {
  type: string
  tag: string
  plain: Buffer
  zipped: Buffer
}

function stored(type: string, text: string): StoredFile {
  const tag = `"${createHash('sha256').update(text).digest('base64url').slice(0, 22)}"`
  return { type: `${type}; charset=utf-8`, tag, plain: Buffer.from(text), zipped: gzipSync(text) }
}

function give(
  { type, tag, plain, zipped }: StoredFile,
  { headers }: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  reply.headers({
    'content-type': type,
    'content-security-policy': contentSecurityPolicy,
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cache-control': 'no-cache',
    etag: tag,
    vary: 'accept-encoding',
  })
  if (headers['if-none-match'] === tag) return reply.code(304).send()
  if (!/\bgzip\b/.test(String(headers['accept-encoding'] ?? ''))) return reply.send(plain)
  return reply.header('content-encoding', 'gzip').send(zipped)
}
