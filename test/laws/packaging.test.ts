// SPDX-License-Identifier: Apache-2.0
// What Pamoja is packaged in says what is true: settings that there are, ports that are listened on, licences of what is inside.
import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { DCLinter } from 'dclint'
import { validate } from 'dockerfile-utils'
import { parse } from 'yaml'
import { settings } from '../../src/config.ts'
import { root } from '../program.ts'

interface Service {
  image?: string
  build?: string
  environment?: Record<string, string>
  ports?: string[]
  volumes?: string[]
  networks?: { default: { ipv4_address: string } }
}

const read = (path: string): string => readFileSync(join(root, path), 'utf8')
const packaging = [
  'compose.yaml',
  'Dockerfile',
  ...readdirSync(join(root, 'deploy'), { recursive: true, encoding: 'utf8' })
    .map((file) => join('deploy', file))
    .filter((file) => /\.(ya?ml|tpl|ini|service|txt)$|Dockerfile$/.test(file)),
]
const { services, volumes }: { services: Record<string, Service>; volumes: object } = parse(read('compose.yaml'), {
  merge: true,
})

test('every setting that a package names is one', () => {
  assert.ok(packaging.length > 12)
  const unknown = packaging.flatMap((file) =>
    [...read(file).matchAll(/\bPAMOJA_[A-Z0-9_]+/g)]
      .map(([name]) => name)
      .filter((name) => !(name in settings) && !(name.replace(/_FILE$/, '') in settings))
      .map((name) => `${file}: ${name}`),
  )
  assert.deepEqual(unknown, [])
})

test('compose.yaml publishes what nodes listen on: API, metrics, SIP, audio and mail', () => {
  const { environment = {}, ports = [], networks } = services.pamoja ?? {}
  const inside = ports.map((port) => port.split(':').at(-1))
  const port = (name: 'PAMOJA_PORT' | 'PAMOJA_ADMIN_PORT' | 'PAMOJA_SMTP_PORT' | 'PAMOJA_BOUNCE_PORT') =>
    `${settings[name].default}`
  const sip = settings.PAMOJA_SIP_PORT.default
  for (const wanted of [
    port('PAMOJA_PORT'),
    port('PAMOJA_ADMIN_PORT'),
    port('PAMOJA_SMTP_PORT'),
    port('PAMOJA_BOUNCE_PORT'),
    `${settings.PAMOJA_DNS_PORT.default}/udp`,
    `${sip}/udp`,
    `${sip}/tcp`,
    `${settings.PAMOJA_SIP_TLS_PORT.default}/tcp`,
    `${environment.PAMOJA_RTP_PORTS}/udp`,
  ])
    assert.ok(inside.includes(wanted), `${wanted} is published`)
  assert.equal(environment.PAMOJA_SIP_HOST, networks?.default.ipv4_address)
  assert.ok(
    ports.filter((each) => /:(8443|9464)$/.test(each)).every((each) => each.startsWith('127.0.0.1:')),
    'API and metrics are for this machine: a proxy stands in front',
  )
})

test('compose.yaml keeps to its schema, and the files and volumes that it names are there', () => {
  const linter = new DCLinter({ rules: {}, quiet: true, debug: false, exclude: [] })
  const found: { messages: { rule: string; message: string }[] }[] = linter.lintFiles(
    [join(root, 'compose.yaml')],
    false,
  )
  // Order and quotes are a matter of taste; ports of SIP and mail are for everybody.
  const taste = /order|quotes|no-unbound-port-interfaces/
  const problems = found.flatMap(({ messages }) => messages).filter(({ rule }) => !taste.test(rule))
  assert.deepEqual(problems, [])
  for (const [name, { image = '', build, volumes: mounted = [] }] of Object.entries(services)) {
    assert.match(build === undefined ? image : ':0', /:[\w.-]*\d/, `${name} has a version`)
    if (build !== undefined) assert.ok(existsSync(join(root, build, 'Dockerfile')), name)
    for (const from of mounted.map((mount) => mount.split(':')[0] ?? ''))
      assert.ok(from.startsWith('.') ? existsSync(join(root, from)) : from in volumes, `${name}: ${from}`)
  }
})

test('the images are written well, and the label of ours names every licence inside', () => {
  for (const file of ['Dockerfile', 'deploy/pgbouncer/Dockerfile']) {
    const problems = validate(read(file)).map(({ message, range }) => `${file}:${range.start.line + 1}: ${message}`)
    assert.deepEqual(problems, [])
  }
  const [, label = ''] = /image\.licenses="([^"]+)"/.exec(read('Dockerfile')) ?? []
  const named = label.split(' AND ')
  const page = read('docs/third-party.md')
  const copyleft = [...page.matchAll(/\bL?GPL-\d\.\d(?:-or-later|-only)?/g)].map(([licence]) => licence)
  for (const licence of ['Apache-2.0', ...copyleft])
    assert.ok(
      named.some((one) => one.startsWith(licence)),
      `${licence} is in the label: ${label}`,
    )
  for (const licence of named.filter((one) => one.includes('GPL')))
    assert.ok(page.includes(licence.replace('-only', '')), `${licence} is on the page`)
  assert.match(read('Dockerfile'), /COPY .*\/app\/LICENSE/)
})

test('units of systemd start what is built, and give a node the time that it needs to drain', () => {
  for (const unit of ['pamoja.service', 'pamoja@.service']) {
    const text = read(join('deploy/systemd', unit))
    assert.match(text, /^ExecStart=\/usr\/bin\/env node .*dist\/program\/main\.js$/m, unit)
    assert.match(text, /^TimeoutStopSec=40$/m, unit)
    assert.match(text, /^AmbientCapabilities=CAP_NET_BIND_SERVICE$/m, unit)
  }
})
