// SPDX-License-Identifier: Apache-2.0
// The Helm chart rendered with Go's own templates (Debian's package `golang-go`), and the units of systemd read by systemd.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { parse, parseAllDocuments } from 'yaml'
import { settings } from '../../src/config.ts'
import { root } from '../program.ts'

const chart = join(root, 'deploy/helm/pamoja')
const reasonWithout = (program: string, name: string): string | false =>
  existsSync(program) ? false : `${program} not found: install the package ${name}`
const noGo = reasonWithout('/usr/bin/go', 'golang-go')
const noSystemd = reasonWithout('/usr/bin/systemd-analyze', 'systemd')
if (noGo && process.env.PAMOJA_REQUIRE_GO) throw new Error(noGo)

const scratch = await mkdtemp(join(tmpdir(), 'pamoja-chart-'))
after(() => rm(scratch, { recursive: true, force: true }))

async function run(program: string, words: string[], input = ''): Promise<{ code: number; out: string; said: string }> {
  const home = { HOME: scratch, GOCACHE: join(scratch, 'go'), GOFLAGS: '-mod=mod', GO111MODULE: 'off' }
  const child = spawn(program, words, { env: { ...process.env, ...home } })
  let [out, said] = ['', '']
  child.stdout.on('data', (chunk: Buffer) => {
    out += chunk
  })
  child.stderr.on('data', (chunk: Buffer) => {
    said += chunk
  })
  child.stdin.end(input)
  const code = await new Promise<number>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (ended) => resolve(ended ?? 1))
  })
  return { code, out, said }
}

type Values = Record<string, Record<string, unknown>>
interface Thing {
  apiVersion: string
  kind: string
  metadata: { name: string; labels: Record<string, string> }
  spec: Record<string, unknown>
}

const usual = { host: 'api.example.com', files: { url: 's3://pamoja/files', endpoint: 'https://s3.example.com' } }

let program: Promise<string> | null = null
/** The renderer, built once. */
async function renderer(): Promise<string> {
  const file = join(scratch, 'render')
  const { code, said } = await run('/usr/bin/go', ['build', '-o', file, join(root, 'test/interop/helm/render.go')])
  assert.equal(code, 0, said)
  return file
}

async function render(given: object): Promise<{ code: number; said: string; things: Thing[] }> {
  program ??= renderer()
  const values: Values = parse(readFileSync(join(chart, 'values.yaml'), 'utf8'))
  for (const [name, value] of Object.entries(given))
    values[name] = typeof value === 'object' ? { ...values[name], ...value } : value
  const release = { Name: 'shop', Namespace: 'shop', Service: 'Helm', Revision: 3 }
  const seen = { Values: values, Release: release, Chart: { AppVersion: '0.1.0' } }
  const { code, out, said } = await run(await program, [chart], JSON.stringify(seen))
  if (code !== 0) return { code, said, things: [] }
  const things = Object.entries<string>(JSON.parse(out)).flatMap(([file, text]) => {
    if (!file.endsWith('.yaml')) return []
    return parseAllDocuments(text).flatMap((document) => {
      assert.deepEqual(document.errors, [], file)
      const thing: Thing | null = document.toJS()
      return thing ? [thing] : []
    })
  })
  return { code, said, things }
}

/** Values of a name, wherever it stands in a thing. */
function allOf(thing: unknown, name: string): unknown[] {
  if (typeof thing !== 'object' || thing === null) return []
  return Object.entries(thing).flatMap(([key, value]) => [...(key === name ? [value] : []), ...allOf(value, name)])
}

const one = (things: Thing[], kind: string, name: string): Thing => {
  const found = things.find((thing) => thing.kind === kind && thing.metadata.name === name)
  assert.ok(found, `${kind} ${name}`)
  return found
}

test('the chart makes nodes, one migration, a database of three and a way in', { skip: noGo }, async () => {
  const { things, said } = await render(usual)
  assert.equal(said, '')
  const kinds = things.map(({ kind, metadata }) => `${kind} ${metadata.name}`)
  assert.equal(new Set(kinds).size, kinds.length, 'every name once')
  const api = one(things, 'Deployment', 'shop-api')
  const names = allOf(things, 'env').flatMap((env) => (Array.isArray(env) ? env.map(({ name }) => String(name)) : []))
  const strange = names.filter((name) => !(name in settings) && !/^DATABASE_(USER|PASSWORD)$/.test(name))
  assert.deepEqual(strange, [])
  assert.deepEqual(allOf(api, 'terminationGracePeriodSeconds'), [45])
  const [ready] = allOf(api, 'readinessProbe')
  assert.deepEqual(allOf(ready, 'path'), ['/readyz'])
  assert.deepEqual(allOf(one(things, 'Job', 'shop-migrate-3'), 'args'), [['migrate']])
  assert.deepEqual(allOf(one(things, 'Cluster', 'shop-database'), 'synchronous'), [{ method: 'any', number: 1 }])
  one(things, 'HorizontalPodAutoscaler', 'shop-api')
  one(things, 'Ingress', 'shop')
  const carriers = one(things, 'Deployment', 'shop-carriers')
  assert.deepEqual(allOf(carriers, 'hostNetwork'), [true])
})

test('a service leads to ports that its pods have', { skip: noGo }, async () => {
  const { things } = await render({
    ...usual,
    ...{ mail: { enabled: true }, voice: { hostNetwork: false, publicHost: '203.0.113.9' }, carriers: { replicas: 1 } },
  })
  const named = (thing: Thing): string[] =>
    allOf(thing, 'ports').flatMap((ports) => (Array.isArray(ports) ? ports.map(({ name }) => String(name)) : []))
  const pods = { api: one(things, 'Deployment', 'shop-api'), carriers: one(things, 'Deployment', 'shop-carriers') }
  for (const [service, component] of [
    ['shop-api', 'api'],
    ['shop-mail', 'api'],
    ['shop-sip', 'carriers'],
    ['shop-metrics', 'carriers'],
  ] as const)
    for (const target of allOf(one(things, 'Service', service), 'targetPort'))
      assert.ok(typeof target === 'number' || named(pods[component]).includes(String(target)), `${service}: ${target}`)
  const sip = one(things, 'Service', 'shop-sip')
  const audio = named(sip).filter((name) => name.startsWith('rtp-'))
  assert.deepEqual([audio.length, audio[0], audio.at(-1)], [200, 'rtp-20000', 'rtp-20199'])
})

test('with a pooler requests go through it, and the direct address past it', { skip: noGo }, async () => {
  const { things } = await render({
    ...usual,
    ...{ pooler: { enabled: true }, watch: { enabled: true }, database: { backup: { destinationPath: 's3://wal' } } },
  })
  const api = one(things, 'Deployment', 'shop-api')
  const env: { name: string; value?: string }[] = allOf(api, 'env').flat().map(Object)
  const value = (name: string) => env.find((each) => each.name === name)?.value ?? ''
  assert.match(value('DATABASE_URL'), /@shop-database-pooler:5432\/pamoja$/)
  assert.match(value('PAMOJA_DATABASE_DIRECT_URL'), /@shop-database-rw:5432\/pamoja$/)
  assert.deepEqual(allOf(one(things, 'Pooler', 'shop-database-pooler'), 'poolMode'), ['transaction'])
  one(things, 'ScheduledBackup', 'shop-database')
  const rules = one(things, 'PrometheusRule', 'shop')
  assert.deepEqual(rules.spec, parse(readFileSync(join(root, 'deploy/prometheus/alerts.yml'), 'utf8')))
  assert.equal(allOf(one(things, 'ServiceMonitor', 'shop'), 'port')[0], 'metrics')
  const { data }: { data?: Record<string, string> } = Object(one(things, 'ConfigMap', 'shop-dashboards'))
  assert.equal(Object.values(data ?? {}).map((board) => JSON.parse(board)).length, 6)
})

test('what is missing is said in a sentence', { skip: noGo }, async () => {
  for (const [values, sentence] of [
    [{ ...usual, host: '' }, /host is needed: the name that customers reach the API at/],
    [{ host: 'api.example.com' }, /files.url is needed: several nodes keep files of customers in an object store/],
    [{ ...usual, voice: { hostNetwork: false }, carriers: { replicas: 1 } }, /voice.publicHost is needed/],
    [{ ...usual, voice: { hostNetwork: false, publicHost: '203.0.113.9' } }, /set carriers.replicas to 1/],
  ] as const) {
    const { code, said } = await render(values)
    assert.equal(code, 1)
    assert.match(said, sentence)
  }
})

test('systemd takes the units', { skip: noSystemd }, async () => {
  for (const unit of ['pamoja.service', 'pamoja@.service']) {
    const { code, said } = await run('/usr/bin/systemd-analyze', ['verify', join(root, 'deploy/systemd', unit)])
    assert.equal(code, 0, said)
  }
})
