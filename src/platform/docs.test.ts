// SPDX-License-Identifier: Apache-2.0
// Reference pages over a real socket: complete, self-contained, escaped, with commands that can be pasted.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { after, before, describe, it } from 'node:test'
import Fastify, { type FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import { areas } from '../areas.ts'
import { errors } from '../kernel/errors.ts'
import { chaptersOf, tagOf } from './api/reference.ts'
import { write } from './api/route.ts'
import type { Area } from './area.ts'
import { guides } from './docs/guides.ts'
import { eventsOf } from './docs/reference-page.ts'
import { realReply } from './docs/replies.ts'
import { samplesOf } from './docs/samples.ts'
import { docs } from './docs.ts'
import { eventType } from './events.ts'

const config = { PAMOJA_HOME: '.pamoja', PAMOJA_PUBLIC_URL: null, PAMOJA_TLS_CERT: null }
const app = { version: '1.2.3', publicUrl: 'https://localhost:8443', config }
const routes = areas.flatMap((area) => area.routes)

describe('the reference pages', () => {
  let site: Site
  /** Every page of the site by its path. */
  const pages = new Map<string, string>()
  const pageOf = (path: string) => pages.get(path) ?? assert.fail(`there is no ${path}`)
  const referenceOf = (route: { operation: string }) => pageOf(`/docs/reference/${tagOf(route)}`)

  before(async () => {
    site = await open(app, areas)
    for (const path of [
      '/docs',
      '/docs/events',
      '/docs/errors',
      ...chaptersOf(areas).map(({ tag }) => `/docs/reference/${tag}`),
      ...guides().map(({ name }) => `/docs/guides/${name}`),
      ...Object.keys(errors).map((code) => `/docs/errors/${code}`),
    ])
      pages.set(path, await site.text(path))
  })
  after(() => site.close())

  it('show every operation with its method, path, aliases, scope and summary', () => {
    for (const route of routes) {
      const { operation, method, path, aliases = [], scope, summary } = route
      const article = articleOf(referenceOf(route), operation)
      const words = plain(article)
      for (const expected of [method, ...[path, ...aliases].map(braced), summary.replaceAll('`', '')])
        assert.ok(words.includes(expected), `${operation}: ${expected}`)
      assert.ok(words.includes(scope === 'any' ? 'any valid credential' : scope), `${operation}: ${scope}`)
    }
  })

  it('show every field of every request', () => {
    for (const route of routes) {
      const { operation, body, query } = route
      const words = plain(articleOf(referenceOf(route), operation))
      for (const name of [
        ...Object.keys(Object(body).properties ?? {}),
        ...Object.keys(Object(query).properties ?? {}),
      ])
        assert.ok(words.includes(name), `${operation}: ${name}`)
    }
  })

  it('show every event that can happen with its sample, and no other', () => {
    const catalogue = pageOf('/docs/events')
    const happening = eventsOf({ areas }).map(({ name }) => name)
    for (const name of happening)
      assert.match(plain(articleOf(catalogue, `event.${name}`)), new RegExp(`"(event|type)": "${name}"`))
    for (const { name } of areas.filter((area) => area.routes.length === 0).flatMap((area) => area.events ?? []))
      assert.ok(!catalogue.includes(`id="event.${name}"`), name)
  })

  it('have a page for every error code, with its status, its sentences and an example', () => {
    for (const [code, [status, message]] of Object.entries(errors)) {
      const own = plain(pageOf(`/docs/errors/${code}`))
      for (const expected of [String(status), ...message.split(/(?<=[.!?]) (?=[A-Z])/), `"code": "${code}"`])
        assert.ok(own.includes(expected), `${code}: ${expected}`)
      assert.ok(plain(articleOf(pageOf('/docs/errors'), code)).includes(message), code)
    }
  })

  it('show the reply that an example got', () => {
    const real = routes.filter(({ operation }) => realReply(operation, app.publicUrl) !== null)
    assert.ok(real.length > 100, `${real.length} of ${routes.length}`)
    const send = plain(articleOf(pageOf('/docs/reference/sms'), 'sms.send'))
    assert.match(send, /"message_id": "sms_[0-9a-z]{26}"/)
  })

  it('show requests in four languages, and let those be tried that a test key may make', () => {
    const article = articleOf(pageOf('/docs/reference/sms'), 'sms.send')
    for (const language of ['Node', 'Python', 'PHP']) assert.ok(article.includes(`<summary>${language}</summary>`))
    assert.match(article, /<button type="button" class="try" hidden data-method="POST" data-address="\/v1\/sms\/send"/)
    assert.doesNotMatch(pageOf('/docs/reference/operator'), /class="try"/)
  })

  it('have samples that find the certificate wherever it is, and send an object without members as one', () => {
    const place = { url: app.publicUrl, home: '$PAMOJA_HOME', caFile: '$PAMOJA_HOME/tls/ca.pem' }
    const call = { operation: 'x.y', path: [], input: { z: {} }, files: [], gives: 'value', isOperator: false } as const
    const all = new Map(
      samplesOf(place, { method: 'POST', address: '/v1/x', body: { z: {} }, call }).map(([name, code]) => [
        name,
        plain(code.html),
      ]),
    )
    assert.ok(all.get('Python')?.includes('ca_file=os.environ["PAMOJA_HOME"] + "/tls/ca.pem"'), all.get('Python'))
    assert.ok(all.get('PHP')?.includes("'caFile' => getenv('PAMOJA_HOME') . '/tls/ca.pem'"), all.get('PHP'))
    assert.ok(all.get('PHP')?.includes("'z' => (object) []"), all.get('PHP'))
  })

  it('have guides with headings, tables and code, and links that lead to pages', () => {
    const sms = pageOf('/docs/guides/sms')
    assert.match(sms, /<h2 id="the-sandbox">/)
    assert.match(sms, /<table class="guide">/)
    assert.match(sms, /<figcaption>Shell<\/figcaption>/)
    assert.match(pageOf('/docs/guides/sandbox'), /href="\/docs\/guides\/sms#the-sandbox"/)
    for (const page of guides()) assert.doesNotMatch(page.guide.content.html, /<p>[^<]*\|---/, page.name)
    assert.match(pageOf('/docs/guides/console'), /<img src="\/docs\/guides\/console-phones\.jpg"/)
  })

  it('are found by any word of them', async () => {
    const index = JSON.parse(await site.text('/docs/search.json'))
    const hits = (word: string) =>
      index
        .filter((one: { t: string; w: string }) => `${one.t} ${one.w}`.toLowerCase().includes(word))
        .map(({ u }: { u: string }) => u)
    assert.ok(hits('otp').includes('/docs/reference/sms#sms.send'), 'type: otp of a text')
    assert.ok(hits('reroute_on_undelivered').includes('/docs/guides/sms#a-real-message-centre'))
    for (const { u } of index) assert.ok(pages.has(u.split('#')[0]), u)
  })

  it('have no link that leads nowhere, and no id twice', () => {
    const ids = new Map([...pages].map(([path, text]) => [path, idsOf(text)]))
    for (const [at, text] of pages)
      for (const link of attributesOf(text, 'href')) {
        const [path = '', anchor] = link.split('#')
        const target = path === '' ? at : path
        if (/\.(css|svg|json)$/.test(target) || target === '/console') continue
        assert.ok(ids.has(target), `${at} links to ${link}`)
        if (anchor !== undefined) assert.ok(ids.get(target)?.includes(anchor), `${at} links to ${link}`)
      }
    for (const [path, list] of ids) assert.equal(new Set(list).size, list.length, path)
  })

  it('begin with a menu that names a page and its sections, none of them twice', () => {
    const [, begin = ''] = /<h2>Begin<\/h2>(.*?)<\/section>/s.exec(pageOf('/docs')) ?? []
    const titles = [...begin.matchAll(/>([^<]+)<\/a>/g)].map(([, title]) => title)
    assert.deepEqual(titles.slice(0, 2), ['Introduction', 'First request'])
    assert.equal(new Set(titles).size, titles.length, titles.join())
  })

  it('load nothing from anywhere else', async () => {
    for (const [path, text] of pages) {
      for (const address of [...attributesOf(text, 'href'), ...attributesOf(text, 'src')])
        assert.match(address, /^(\/(?!\/)|#)/, path)
      for (const source of attributesOf(text, 'src')) assert.equal((await site.get(source)).status, 200, source)
    }
    assert.doesNotMatch(await site.text('/docs/style.css'), /url\(|@import|https?:/)
    assert.doesNotMatch(await site.text('/docs/docs.js'), /https?:|import\(/)
  })

  it('forbid what they do not need, and need nothing inline', async () => {
    for (const path of ['/docs', '/docs/errors', '/docs/style.css', '/docs/docs.js', '/docs/icon.svg']) {
      const { headers } = await site.get(path)
      const policy = headers.get('content-security-policy') ?? ''
      assert.match(policy, /default-src 'none'/)
      assert.match(policy, /script-src 'self';/)
      assert.doesNotMatch(policy, /unsafe|\*|https?:|data:/)
      assert.equal(headers.get('x-content-type-options'), 'nosniff')
    }
    for (const text of pages.values()) {
      assert.doesNotMatch(text.replaceAll(/<code>[\s\S]*?<\/code>/g, ''), /<style|\sstyle=|\son[a-z]+=|javascript:/i)
      assert.deepEqual(text.match(/<script[^>]*>/g), ['<script src="/docs/docs.js" defer>'])
    }
  })

  it('are sent compressed, and only once while they do not change', async () => {
    const first = await site.get('/docs')
    assert.equal(first.headers.get('content-encoding'), 'gzip')
    const tag = first.headers.get('etag') ?? ''
    for (const known of [tag, `W/${tag}`, `"another", ${tag}`, '*'])
      assert.equal((await site.get('/docs', { 'if-none-match': known })).status, 304, known)
    assert.equal((await site.get('/docs', { 'if-none-match': '"another"' })).status, 200)
    const unwanted = await site.get('/docs', { 'accept-encoding': 'gzip;q=0, identity' })
    assert.equal(unwanted.headers.get('content-encoding'), null)
    const uncompressed = await site.get('/docs', { 'accept-encoding': 'identity' })
    assert.equal(uncompressed.headers.get('content-encoding'), null)
    assert.equal(await uncompressed.text(), pageOf('/docs'))
  })

  it('come with the same for programs, which is sent in the same way', async () => {
    const first = await site.get('/openapi.json')
    assert.equal(first.headers.get('content-type'), 'application/json; charset=utf-8')
    assert.equal(first.headers.get('content-encoding'), 'gzip')
    const tag = first.headers.get('etag') ?? ''
    assert.equal((await site.get('/openapi.json', { 'if-none-match': tag })).status, 304)
    const { paths } = JSON.parse(await first.text())
    assert.ok(Object.hasOwn(paths, '/v1/auth/whoami'))
  })

  it('begin with a command for this installation', () => {
    const [command = ''] = commandsIn(articleOf(pageOf('/docs'), 'start'))
    assert.deepEqual(argumentsOf(command), [
      'https://localhost:8443/api/v1/auth/whoami',
      '--cacert',
      '.pamoja/tls/ca.pem',
      '-H',
      'Authorization: Bearer the-key',
    ])
  })

  it('give every example as a command that a shell reads as it was meant', () => {
    const shown = routes.map((route) => commandsIn(articleOf(referenceOf(route), route.operation)))
    // One shell for all of them: starting one costs more than what it reads.
    const read = argumentsOfEach(shown.flat())
    for (const [at, { operation, method, path, examples = [] }] of routes.entries()) {
      const commands = read.splice(0, shown[at]?.length)
      assert.equal(commands.length, Math.max(1, examples.length), operation)
      for (const [i, { query, body }] of examples.entries()) {
        const given = commands[i] ?? []
        const url = new URL(given.find((argument) => argument.startsWith('https://')) ?? '')
        assert.ok(url.pathname.startsWith(`/api${path.split(':')[0]}`), operation)
        for (const [name, value] of Object.entries(Object(query)))
          assert.equal(url.searchParams.get(name), String(value))
        const sent = given.includes('-d') ? JSON.parse(given[given.indexOf('-d') + 1] ?? '') : undefined
        assert.deepEqual(sent, body, operation)
        const spoken = given.includes('-X') ? given[given.indexOf('-X') + 1] : body === undefined ? 'GET' : 'POST'
        assert.equal(spoken, method, operation)
      }
    }
  })
})

describe('the reference pages of an installation with a public address', () => {
  it('name that address and no certificate authority', async () => {
    const publicUrl = 'https://api.example.com'
    const site = await open({ ...app, publicUrl, config: { ...config, PAMOJA_PUBLIC_URL: publicUrl } }, areas)
    const page = await site.text('/docs')
    const guide = await site.text('/docs/guides/sandbox')
    await site.close()
    assert.ok(page.includes('https://api.example.com/api/v1/auth/whoami'))
    assert.ok(!page.includes('--cacert'))
    assert.ok(guide.includes('API=https://api.example.com/api/v1'))
    assert.ok(!guide.includes('--cacert'))
  })
})

describe('the reference pages of an installation with another directory', () => {
  const homes = [
    ['/srv/pamoja', '$PAMOJA_HOME', '$PAMOJA_HOME'],
    ['data/pamoja', 'data/pamoja', './data/pamoja'],
  ] as const
  for (const [PAMOJA_HOME, shown, required] of homes)
    it(`name ${PAMOJA_HOME} as ${shown} in every command, and no other`, async () => {
      const site = await open({ ...app, config: { ...config, PAMOJA_HOME } }, areas)
      const paths = ['/docs', ...guides().map(({ name }) => `/docs/guides/${name}`)]
      const pages = await Promise.all(paths.map(site.text))
      await site.close()
      for (const [i, page] of pages.entries()) {
        assert.doesNotMatch(plain(page), /(?<![\w/])\.pamoja\b/, paths[i])
        if (PAMOJA_HOME.startsWith('/')) assert.ok(!page.includes(PAMOJA_HOME), paths[i])
      }
      const [front = '', sandbox = ''] = ['/docs', '/docs/guides/sandbox'].map((path) => pages[paths.indexOf(path)])
      for (const text of [front, sandbox].map(plain)) {
        assert.ok(text.includes(`require('${required}/credentials.json')`))
        assert.ok(text.includes(`--cacert ${shown}/tls/ca.pem`))
      }
    })
})

describe('text that looks like HTML or shell', () => {
  const attack = `</code></pre>"><script>alert('x')</script><img src=x onerror=alert(1)>`
  const hostile: Area = {
    name: 'hostile',
    routes: [
      write({
        method: 'POST',
        path: '/v1/hostile',
        operation: 'hostile.post',
        summary: `A summary <script>alert(1)</script> & more`,
        description: `Code \`${attack}\` and ${attack}`,
        scope: 'sms:write',
        body: Type.Object({
          text: Type.String({ description: attack, rule: `must be ${attack}`, default: attack }),
          [attack]: Type.Optional(Type.String()),
        }),
        reply: { status: 200, schema: Type.Object({ word: Type.Unsafe<string>({ type: 'string', enum: [attack] }) }) },
        examples: [{ name: attack, body: { text: `It's $HOME, "quoted" \`id\` \\ ${attack}` } }],
        handle: async () => ({ word: attack }),
      }),
    ],
    events: [
      eventType({
        name: 'hostile.happened',
        summary: attack,
        payload: Type.Object({ text: Type.String() }),
        sample: { text: attack },
      }),
    ],
  }

  it('stands on the page as text', async () => {
    const site = await open(app, [hostile])
    const page = await site.text('/docs/reference/hostile')
    const catalogue = await site.text('/docs/events')
    await site.close()
    for (const text of [page, catalogue]) {
      assert.equal(text.match(/<script/g)?.length, 1)
      assert.doesNotMatch(text, /<img src=x/)
    }
    assert.ok(page.includes('A summary &lt;script&gt;alert(1)&lt;/script&gt; &amp; more'))
  })

  it('survives the shell in a pasted command', async () => {
    const site = await open(app, [hostile])
    const page = await site.text('/docs/reference/hostile')
    await site.close()
    const [command = ''] = commandsIn(articleOf(page, 'hostile.post'))
    const given = argumentsOf(command)
    assert.deepEqual(JSON.parse(given[given.indexOf('-d') + 1] ?? ''), hostile.routes[0]?.examples?.[0]?.body)
  })
})

interface Site {
  get(path: string, headers?: Record<string, string>): Promise<Response>
  text(path: string): Promise<string>
  close(): Promise<void>
}

async function open(of: Parameters<typeof docs>[1], from: readonly Area[]): Promise<Site> {
  const http: FastifyInstance = Fastify()
  docs(http, of, from)
  const url = await http.listen({ host: '127.0.0.1', port: 0 })
  const get: Site['get'] = (path, headers = {}) => fetch(`${url}${path}`, { headers })
  return { get, text: async (path) => (await get(path)).text(), close: () => http.close() }
}

function articleOf(page: string, id: string): string {
  const start = page.indexOf(`<article id="${id}"`)
  assert.ok(start >= 0, `${id} is not on the page`)
  return page.slice(start, page.indexOf('</article>', start))
}

/** Visible text: no tags, no entities. */
function plain(markup: string): string {
  const entities: Record<string, string> = { lt: '<', gt: '>', quot: '"', '#39': "'", amp: '&' }
  return markup.replaceAll(/<[^>]*>/g, '').replaceAll(/&([a-z]+|#39);/g, (all, name: string) => entities[name] ?? all)
}

function commandsIn(article: string): string[] {
  return [...article.matchAll(/<pre[^>]*><code>([\s\S]*?)<\/code>/g)]
    .map(([, code = '']) => plain(code))
    .filter((code) => code.startsWith('curl '))
}

/** Arguments a shell passes to curl. */
function argumentsOf(command: string): string[] {
  return argumentsOfEach([command])[0] ?? []
}

/** Arguments that a shell passes to the curl of each command; two NULs end those of one. */
function argumentsOfEach(commands: readonly string[]): string[][] {
  const input = ["curl() { printf '%s\\0' \"$@\"; printf '\\0'; }", ...commands, ''].join('\n')
  const env = { PATH: process.env.PATH, KEY: 'the-key', OPERATOR: 'the-operator-key' }
  const said = execFileSync('/bin/sh', ['-es'], { env, input, encoding: 'utf8', maxBuffer: 16 * 1024 * 1024 })
  return said
    .split('\0\0')
    .slice(0, -1)
    .map((one) => one.split('\0'))
}

function braced(path: string): string {
  return path.replaceAll(/:(\w+)/g, '{$1}')
}

function idsOf(page: string): string[] {
  return attributesOf(page, 'id')
}

function attributesOf(page: string, name: string): string[] {
  return [...page.matchAll(new RegExp(`<[a-z0-9]+ [^>]*?\\b${name}="([^"]*)"`, 'g'))].map(([, value = '']) => value)
}
