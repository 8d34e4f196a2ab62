// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import { Session } from 'node:inspector'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, test } from 'node:test'
import { eventually, startWorld, type World } from '../../../test/world.ts'
import { createLog } from './log.ts'
import { startTracer, TraceCache } from './tracing.ts'

/** All scripts loaded by this process, as the debugger sees them. */
const loaded: string[] = []
const session = new Session()
session.connect()
session.on('Debugger.scriptParsed', ({ params }) => loaded.push(params.url))
session.post('Debugger.enable')

interface ReceivedSpan {
  name: string
  kind: number
  traceId: string
  spanId: string
  parentSpanId?: string
  status: { code?: number }
  attributes: Readonly<Record<string, unknown>>
  resource: Readonly<Record<string, unknown>>
}

const spans: ReceivedSpan[] = []
let collector: Server
let endpoint: string
let connections = 0
let world: World | undefined

before(async () => {
  collector = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      if (request.url === '/v1/traces') spans.push(...spansIn(Buffer.concat(chunks).toString()))
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
    })
  })
  collector.on('connection', () => connections++)
  await new Promise<void>((resolve) => collector.listen(0, '127.0.0.1', resolve))
  const address = collector.address()
  if (typeof address !== 'object' || address === null) throw new Error('the collector does not listen')
  endpoint = `http://127.0.0.1:${address.port}`
})
after(async () => {
  await world?.stop()
  session.disconnect()
  collector.closeAllConnections()
  collector.close()
})

test('without a collector nothing is loaded and nobody is called', async () => {
  const quiet = await startWorld()
  assert.equal((await quiet.demo.get('/v1/auth/whoami')).status, 200)
  assert.equal(quiet.app.tracer, null)
  await quiet.stop()
  assert.ok(
    loaded.some((url) => url.includes('/fastify/')),
    'the debugger sees what is loaded',
  )
  assert.deepEqual(
    loaded.filter((url) => /opentelemetry\/(sdk|exporter|otlp|resources)/.test(url)),
    [],
  )
  assert.equal(connections, 0)
})

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
const callerSpan = '00f067aa0ba902b7'

test('a request and the job it started are spans of the caller’s own trace', async () => {
  world = await startWorld({ OTEL_EXPORTER_OTLP_ENDPOINT: endpoint })
  const { client } = await world.account({ balance: 100 })
  const reply = await client.post(
    '/v1/notes',
    { text: 'Habari' },
    { headers: { traceparent: `00-${traceId}-${callerSpan}-01` } },
  )
  assert.equal(reply.status, 200)
  await eventually(
    async () => (await client.get(`/v1/notes/${reply.body.note_id}`)).body.status === 'published',
    'the note to be published',
  )
  assert.equal((await client.get('/v1/nothing-here')).status, 404)
  // Stopping flushes.
  await world.stop()
  world = undefined

  const mine = spans.filter((span) => span.traceId === traceId)
  const request = mine.find(({ name }) => name === 'POST /v1/notes')
  const job = mine.find(({ name }) => name === 'run notes.publish')
  assert.equal(mine.length, 2)
  assert.equal(request?.parentSpanId, callerSpan)
  assert.equal(request?.kind, 2)
  assert.equal(request?.attributes['http.request.method'], 'POST')
  assert.equal(request?.attributes['http.route'], '/v1/notes')
  assert.equal(request?.attributes['http.response.status_code'], 200)
  assert.equal(request?.attributes['pamoja.operation'], 'notes.create')
  assert.equal(request?.attributes['pamoja.request_id'], reply.headers['x-request-id'])
  assert.equal(request?.resource['service.name'], 'pamoja')
  assert.equal(job?.parentSpanId, request?.spanId)
  assert.equal(job?.kind, 5)
  assert.equal(job?.attributes['pamoja.lane'], 'notes.publish')
  assert.equal(job?.attributes['pamoja.outcome'], 'settled')
})

test('a job that another node runs is a span of the trace that queued it', async () => {
  const traced = { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint }
  const asked = await startWorld({ ...traced, PAMOJA_ROLES: ['api', 'timers', 'sandbox'] })
  world = asked
  const other = await asked.another({ ...traced, PAMOJA_ROLES: ['dispatch'] })
  const { client } = await asked.account({ balance: 100 })
  const { body, headers } = await client.post('/v1/notes', { text: 'Habari' })
  await eventually(
    async () => (await client.get(`/v1/notes/${body.note_id}`)).body.status === 'published',
    'the note to be published',
  ).finally(() => other.stop())
  await asked.stop()
  world = undefined
  const request = spans.find(({ attributes }) => attributes['pamoja.request_id'] === headers['x-request-id'])
  const job = spans.find(({ parentSpanId }) => parentSpanId === request?.spanId)
  assert.equal(job?.name, 'run notes.publish')
  assert.equal(job?.traceId, request?.traceId)
  assert.notEqual(job?.resource['service.instance.id'], request?.resource['service.instance.id'])
})

test('a request without a traceparent begins a trace, and an unknown path gets no name of its own', () => {
  const get = spans.find(({ name }) => name === 'GET /v1/notes/:id')
  assert.ok(get)
  assert.notEqual(get.traceId, traceId)
  assert.ok(!get.parentSpanId)
  const nothing = spans.find(({ attributes }) => attributes['http.response.status_code'] === 404)
  assert.equal(nothing?.name, 'GET')
  assert.equal(nothing?.attributes['error.type'], 'NOT_FOUND')
  assert.equal(nothing?.attributes['http.route'], undefined)
})

test('with a collector the packages are loaded', () => {
  assert.ok(loaded.some((url) => /opentelemetry\/exporter/.test(url)))
})

test('a traceparent that is none is ignored', async () => {
  const tracer = await startTracer({
    endpoint,
    version: '1',
    nodeId: 'n',
    log: createLog({ level: 'silent', pretty: false, file: '/dev/null' }),
  })
  const traceOf = (traceparent: string): string => tracer.request('GET', traceparent, {}).trace.traceId
  assert.equal(traceOf(`00-${traceId}-${callerSpan}-01`), traceId)
  assert.equal(
    traceOf(`cc-${traceId}-${callerSpan}-01-more`),
    traceId,
    'a later version of the header still names the trace',
  )
  for (const wrong of [
    '',
    'x',
    `00-${'0'.repeat(32)}-${callerSpan}-01`,
    `00-${traceId}-${'0'.repeat(16)}-01`,
    `00-${traceId}-${callerSpan}-01-more`,
    `00-${traceId.toUpperCase()}-${callerSpan}-01`,
    `ff-${traceId}-${callerSpan}-01`,
  ])
    assert.notEqual(traceOf(wrong).toLowerCase(), traceId, wrong)
  await tracer.stop()
})

test('a collector that is gone costs a stopping node a few seconds at most', async () => {
  const file = join(await mkdtemp(join(tmpdir(), 'pamoja-traces-')), 'log')
  const log = createLog({ level: 'warn', pretty: false, file })
  const tracer = await startTracer({ endpoint: 'http://127.0.0.1:1', version: '1', nodeId: 'n', log })
  tracer.request('GET', undefined, {}).end({}, false)
  await tracer.stop()
  log.flush()
  await eventually(async () => (await readFile(file, 'utf8')).includes('traces not exported'), 'the log to say so')
  await rm(dirname(file), { recursive: true })
})

test('the latest five thousand traces are remembered, and not all that ever were', () => {
  const traces = new TraceCache()
  for (let i = 0; i <= 10_000; i++) traces.noteNamed(`req_${i}`, `00-${traceId}-${callerSpan}-01`)
  traces.noteNamed('req_none', 'x')
  assert.deepEqual(
    ['req_0', 'req_5001', 'req_10000', 'req_none', null].map((id) => traces.of(id)?.traceId),
    [undefined, traceId, traceId, undefined, undefined],
  )
})

interface OtlpValue {
  stringValue?: string
  intValue?: number | string
}
type OtlpAttributes = { key: string; value: OtlpValue }[]

function spansIn(text: string): ReceivedSpan[] {
  const { resourceSpans } = JSON.parse(text)
  const found: ReceivedSpan[] = []
  for (const { resource, scopeSpans } of resourceSpans)
    for (const scope of scopeSpans)
      for (const span of scope.spans)
        found.push({ ...span, attributes: plain(span.attributes), resource: plain(resource.attributes) })
  return found
}

function plain(attributes: OtlpAttributes): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, value.stringValue ?? Number(value.intValue)]))
}
