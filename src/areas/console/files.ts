// SPDX-License-Identifier: Apache-2.0
// Files of the console, as tools/console.mjs built them: read and zipped once. Their names change with their content, so
// browsers keep them for a year; every other address below /console is the one page, which shows what its address says.
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { AppError } from '../../kernel/errors.ts'
import { type Hook, type HookAnswer, type HookCall, hook, text } from '../../platform/api/hook.ts'
import { root } from '../../platform/program/root.ts'

const folder = new URL('dist/console/', root)
const page = 'index.html'
const types: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
}
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; media-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

interface Built {
  readonly headers: Readonly<Record<string, string>>
  readonly plain: Buffer
  readonly zipped: Buffer
}

const built = new Map<string, Built>()

const declared = {
  methods: ['GET', 'HEAD'],
  summary: 'A browser loads the console',
  maxBytes: 1,
  limits: [{ name: 'console-files', by: 'address', perSecond: 200 }],
} as const

const start = hook({
  ...declared,
  path: '/console',
  operation: 'console.page',
  handle: async (_app, { headers }) => give(page, headers),
})

const below = hook({
  ...declared,
  path: '/console/*',
  operation: 'console.file',
  async handle(_app, { url, headers }) {
    const [path = ''] = url.slice('/console/'.length).split('?')
    if (path.startsWith('api/')) throw new AppError('NOT_FOUND', 'there is no such address of the console')
    return give(path.startsWith('assets/') ? path.slice('assets/'.length) : page, headers)
  },
})

export const consoleHooks: readonly Hook[] = [start, below]

function give(name: string, asked: HookCall['headers']): HookAnswer {
  const file = fileOf(name)
  if (!file) {
    if (name !== page) throw new AppError('NOT_FOUND', 'there is no such file of the console')
    return text('The console has not been built: npm run build.\n', 503)
  }
  const { headers, plain, zipped } = file
  if (asked['if-none-match'] === headers.etag) return { status: 304, headers, body: null }
  if (!/\bgzip\b/.test(String(asked['accept-encoding'] ?? ''))) return { status: 200, headers, body: plain }
  return { status: 200, headers: { ...headers, 'content-encoding': 'gzip' }, body: zipped }
}

/** Only what lies in the folder has a name here, so that no address leads out of it. */
function fileOf(name: string): Built | null {
  const known = built.get(name)
  if (known) return known
  const type = types[name.split('.').at(-1) ?? '']
  if (type === undefined || !existsSync(folder) || !readdirSync(folder).includes(name)) return null
  const plain = readFileSync(new URL(name, folder))
  const made = { headers: headersOf(type, plain), plain, zipped: gzipSync(plain) }
  built.set(name, made)
  return made
}

function headersOf(type: string, plain: Buffer): Record<string, string> {
  const isPage = type === types.html
  return {
    'content-type': type,
    'content-security-policy': policy,
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cache-control': isPage ? 'no-cache' : 'public, max-age=31536000, immutable',
    etag: `"${createHash('sha256').update(plain).digest('base64url').slice(0, 22)}"`,
    vary: 'accept-encoding',
  }
}
