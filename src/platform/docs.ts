// SPDX-License-Identifier: Apache-2.0
// API reference for programs and as pages: built from the route table at first use, self-contained on this server.
import { readFileSync } from 'node:fs'
import type { FastifyInstance } from 'fastify'
import type { Config } from '../config.ts'
import { chaptersOf } from './api/reference.ts'
import type { App } from './app.ts'
import type { Area } from './area.ts'
import { errorPage, errorsPage } from './docs/errors-page.ts'
import type { Reference } from './docs/frame.ts'
import { guides, picture, pictures } from './docs/guides.ts'
import { areaPage, eventsPage, frontPage, guidePage } from './docs/reference-page.ts'
import type { Place } from './docs/sdk-samples.ts'
import { searchIndex } from './docs/search.ts'
import { type StaticFile, serveFiles } from './http/static-files.ts'
import { codesInOrder } from './openapi/route-errors.ts'
import { openapi } from './openapi.ts'
import { root } from './program/root.ts'
import { webAsset } from './web/shell.ts'

const assets = new URL('src/platform/docs/', root)

const contentSecurityPolicy =
  "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

type DocsConfig = Pick<Config, 'PAMOJA_HOME' | 'PAMOJA_PUBLIC_URL' | 'PAMOJA_TLS_CERT'>
type DocsApp = Pick<App, 'version' | 'publicUrl'> & { readonly config: DocsConfig }

type Make = (about: Reference) => string

export function docs(http: FastifyInstance, app: DocsApp, areas: readonly Area[]): void {
  const reference = (): Reference => ({ version: app.version, areas, place: placeOf(app) })
  // The start page redirects to the documentation.
  http.get('/', { config: { open: true } }, async (_request, reply) => reply.redirect('/docs', 302))
  serveFiles(http, ['/openapi.json'], () => [
    file('/openapi.json', 'application/json', () => JSON.stringify(openapi(app, areas))),
  ])
  serveFiles(http, ['/docs', '/docs/*'], () => filesOfSite(areas, reference))
}

/** All pages and assets, as one router entry: a few hundred would be half of the router and of the start time. */
function filesOfSite(areas: readonly Area[], reference: () => Reference): StaticFile[] {
  const page = (path: string, make: Make): StaticFile => file(path, 'text/html', () => make(reference()))
  return [
    page('/docs', frontPage),
    ...chaptersOf(areas).map(({ tag }) => page(`/docs/reference/${tag}`, (about) => areaPage(about, tag))),
    ...guides().map((guide) => page(`/docs/guides/${guide.name}`, (about) => guidePage(about, guide))),
    page('/docs/events', eventsPage),
    page('/docs/errors', errorsPage),
    ...codesInOrder.map((code) => page(`/docs/errors/${code}`, (about) => errorPage(about, code))),
    file('/docs/search.json', 'application/json', () => searchIndex(reference())),
    ...pictures().map(({ name, type }) => file(`/docs/guides/${name}`, type, () => picture(name))),
    file('/docs/style.css', 'text/css', () => webAsset('colours.css') + asset('style.css')),
    file('/docs/docs.js', 'text/javascript', () => asset('docs.js')),
    file('/docs/icon.svg', 'image/svg+xml', () => webAsset('icon.svg')),
  ]
}

function file(path: string, type: string, make: () => string | Buffer): StaticFile {
  return { path, type, contentSecurityPolicy, make }
}

/** An installation with its own certificate, or behind a proxy with one, names no CA file. */
function placeOf({ publicUrl, config }: DocsApp): Place {
  const ownAuthority = config.PAMOJA_TLS_CERT === null && config.PAMOJA_PUBLIC_URL === null
  // A path of the machine is not for every reader of the pages.
  const home = config.PAMOJA_HOME.startsWith('/') ? '$PAMOJA_HOME' : config.PAMOJA_HOME
  return { url: publicUrl, home, caFile: ownAuthority ? `${home}/tls/ca.pem` : null }
}

function asset(name: string): string {
  return readFileSync(new URL(name, assets), 'utf8')
}
