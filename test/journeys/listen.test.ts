// SPDX-License-Identifier: Apache-2.0
// `listen` and the other commands of `pamoja`, as a developer runs them beside the server they are writing.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { stat } from 'node:fs/promises'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import { connect, createServer as createTcpServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import { after, afterEach, before, type TestContext, test } from 'node:test'
import { endAll, freePort, newHome, Program, run } from '../program.ts'
import { eventually, startWorld, type World } from '../world.ts'

let world: World
before(async () => {
  world = await startWorld()
})
afterEach(endAll)
after(() => world.stop())

test('events reach a server on this machine with headers that verify, and are printed', async (t) => {
  const local = await localServer(t)
  const { body: secret } = await world.demo.get('/v1/webhooks/callback-secret')
  const program = listening(['--forward-to', local.url])
  await program.prints(`events go to ${local.url}, signed with the callback secret (GET /v1/webhooks/callback-secret).`)
  const id = await happen()
  const { headers, body, method, path } = await local.request(id)
  assert.equal(method, 'POST')
  assert.equal(path, '/hook?x=1')
  assert.equal(headers['x-service-signature'], createHmac('sha256', secret.secret).update(body).digest('hex'))
  assert.equal(headers['content-type'], 'application/json; charset=utf-8')
  assert.equal(headers['user-agent'], 'Pamoja-Webhooks/1.0')
  assert.equal(headers['x-service-event'], 'apikey.revoked')
  assert.equal(headers['webhook-id'], id)
  await program.prints(`apikey.revoked  ${id}  202  `)
  const { code, stdout } = await program.stop('SIGINT')
  assert.equal(code, 0)
  assert.match(stdout, new RegExp(`^apikey\\.revoked {2}${id} {2}202 {2}\\d+ ms\n$`))
})

test('only the events that were asked for are handed on', async (t) => {
  const local = await localServer(t)
  const payments = listening(['--forward-to', local.url, '--events', 'payment.*'])
  const { body: second } = await world.demo.post('/v1/api-keys', { name: 'Key for listening' })
  const keys = listening(['--forward-to', local.url, '--events', 'sms.*,apikey.*'], { PAMOJA_API_KEY: second.key })
  await payments.prints('Listening to')
  await keys.prints('Listening to')
  const id = await happen()
  await keys.prints(id)
  assert.equal(payments.stdout, '')
  assert.equal(local.received.length, 1)
})

test('a server that does not answer is named, and the next event is tried all the same', async (t) => {
  const port = await freePort()
  const program = listening(['--forward-to', `http://127.0.0.1:${port}/hook?x=1`])
  await program.prints('Listening to')
  const first = await happen()
  await program.prints(`apikey.revoked  ${first}  failed: connect ECONNREFUSED 127.0.0.1:${port}`)
  const local = await localServer(t, port)
  const second = await happen()
  await local.request(second)
  assert.deepEqual(
    local.received.map(({ headers }) => headers['x-service-event-id']),
    [second],
  )
})

test('without an address events are shown, one line each', async () => {
  const program = listening([])
  await program.prints('; events are shown here (--forward-to <url> posts them too).')
  const id = await happen()
  await program.prints(id)
  const { code, stdout } = await program.stop('SIGINT')
  const [line = ''] = stdout.split('\n').filter((one) => one.includes(id))
  const [, event = '', shown, body = ''] = /^(\S+) {2}(\S+) {2}(.*)$/.exec(line) ?? []
  assert.deepEqual([shown, JSON.parse(body).event_id, JSON.parse(body).event, code], [id, id, event, 0])
})

test('a line that breaks is opened again, and no event is lost or repeated', async (t) => {
  const local = await localServer(t)
  const line = await proxy(t)
  const program = listening(['--forward-to', local.url], { PAMOJA_PUBLIC_URL: `https://localhost:${line.port}` })
  await program.prints('Listening to')
  const ids = [await happen()]
  await local.request(ids[0] ?? '')
  line.cut()
  await program.prints('Trying again in')
  ids.push(await happen(), await happen())
  line.mend()
  await program.prints('Listening again.')
  ids.push(await happen())
  for (const id of ids) await local.request(id)
  assert.deepEqual(
    local.received.map(({ headers }) => headers['x-service-event-id']),
    ids,
  )
  assert.equal((await program.stop('SIGINT')).code, 0)
})

test('it can be interrupted while it waits to try again', async (t) => {
  const line = await proxy(t)
  const program = listening(['--forward-to', 'http://localhost:1/hook'], {
    PAMOJA_PUBLIC_URL: `https://localhost:${line.port}`,
  })
  await program.prints('Listening to')
  line.cut()
  await program.prints('Trying again in')
  assert.equal((await program.stop('SIGINT')).code, 0)
})

test('what keeps it from listening is said in a sentence', async (t) => {
  const empty = await newHome()
  t.after(empty.remove)
  const to = ['--forward-to', 'http://localhost:3000/hook']
  const home = { PAMOJA_HOME: world.home }
  const rows: [string[], Record<string, string>, RegExp, code?: number][] = [
    [['--forward-to', 'localhost:3000'], home, /^--forward-to must be an http:\/\/ or https:\/\/ URL/, 2],
    [to, { PAMOJA_HOME: empty.path }, /^No API key found: set --api-key or PAMOJA_API_KEY\.$/, 2],
    [[...to, '--api-key', 'pmj_test_x'], home, /answered 401: the key is malformed.* \(UNAUTHORIZED\)\.$/],
    [[...to, '--events', 'nothing.happened'], home, /answered 400: .*nothing\.happened.* \(INVALID_EVENT\)\.$/],
    [
      to,
      // Nobody listens on the lowest port; a free one may be given to another test meanwhile.
      { ...home, PAMOJA_PUBLIC_URL: 'https://localhost:1' },
      /cannot be reached \(.*ECONNREFUSED.*\): check/,
      3,
    ],
  ]
  for (const [args, environment, sentence, code = 1] of rows) {
    const ended = await run(['listen', ...args], environment)
    assert.equal(ended.code, code, ended.stderr)
    assert.match(ended.sentence, sentence)
    assert.equal(ended.stdout, '')
  }
  const other = await run(['config', '--events', 'x'])
  assert.equal(other.code, 2)
  assert.equal(other.sentence, 'config takes no --events.')
})

test('a text, a payment, a list and any operation are commands, for people and as JSON', async () => {
  const here = { PAMOJA_HOME: world.home, HOME: world.home }
  const sent = await run(['sms', 'send', '+254711000001', 'Habari', '--from', 'PAMOJA', '--json'], here)
  assert.deepEqual([sent.code, sent.stderr], [0, ''])
  const { message_id } = JSON.parse(sent.stdout)
  const read = await run(['sms', 'get', message_id], here)
  assert.match(read.stdout, new RegExp(`^message_id +${message_id}$`, 'm'))
  assert.ok(!read.stdout.includes('\u001b'), 'no colours outside a terminal')
  const odd = await run(['sms', 'send', '+254711000001', '--json', '--', 'total=150 \u009b2J'], here)
  const shown = await run(['sms', 'get', JSON.parse(odd.stdout).message_id], here)
  assert.match(shown.stdout, /^message +total=150 \uFFFD2J$/m, 'a text steers no terminal')
  assert.match((await run(['pay', '+254700000001', '1500'], here)).stdout, /^status +completed$/m)
  const declined = await run(['pay', '+254700000004', '1500'], here)
  assert.deepEqual(
    [declined.code, /^status +(failed|cancelled)$/m.test(declined.stdout)],
    [1, true],
    'no money, no success',
  )
  const listed = await run(['api-keys', 'list', '--json', '--limit', '1'], here)
  assert.match(JSON.parse(listed.stdout).id, /^key_/)
  const made = await run(['payments', 'createLink', 'amount:=150', 'currency=KES', 'description=Tea', '--json'], here)
  assert.equal(JSON.parse(made.stdout).amount, 150, made.stderr)
})

test('profiles are kept for their owner alone, and say where a command goes', async (t) => {
  const home = await newHome()
  t.after(home.remove)
  const own = { HOME: home.path, PAMOJA_HOME: home.path }
  const { base_url, api_key, ca_file } = world.credentials
  const login = ['login', '--profile', 'work', '--url', base_url, '--key', api_key, '--ca', ca_file ?? '']
  assert.match((await run(login, own)).stderr, /^Signed in to https:.* as acc_.* \(test\); kept as the profile work/)
  assert.equal((await stat(join(home.path, '.config/pamoja/profiles.json'))).mode & 0o777, 0o600)
  assert.match((await run(['profiles'], own)).stdout, /^\* work {2}https:/)
  assert.match((await run(['whoami', '--profile', 'work'], own)).stdout, /^environment +test$/m)
  const refused = await run([...login.slice(0, 6), 'pmj_test_x', ...login.slice(7)], own)
  assert.equal(refused.code, 1)
  const open = await run(['login', '--url', 'http://pamoja.example', '--key', api_key], own)
  assert.deepEqual([open.code, /is not https/.test(open.stderr)], [2, true])
  assert.equal((await run(['logout'], own)).code, 0)
  const nothing = await run(['whoami'], own)
  assert.deepEqual([nothing.code, nothing.stdout], [2, ''])
  assert.match(nothing.stderr, /^No API key found: run `pamoja login`/)
})

test('doctor finds what is right and what is wrong, and exit codes tell the rest', async () => {
  const here = { PAMOJA_HOME: world.home, HOME: world.home, PAMOJA_PORT: '1' }
  const { stdout } = await run(['doctor', '--json'], here)
  const found = new Map(
    stdout
      .trimEnd()
      .split('\n')
      .map((line) => [JSON.parse(line).name, JSON.parse(line).ok]),
  )
  for (const name of ['address', 'certificate', 'database', 'key', 'disk']) assert.equal(found.get(name), true, stdout)
  const gone = { ...here, PAMOJA_BASE_URL: `https://localhost:${await freePort()}`, PAMOJA_API_KEY: 'pmj_test_x' }
  assert.match((await run(['doctor'], gone)).stdout, /^wrong {2}address +https:.* cannot be reached/m)
  const unanswered = await run(['whoami'], gone)
  assert.equal(unanswered.code, 3)
  assert.match(unanswered.stderr, /\(UNREACHABLE\)/)
  const refused = await run(['sms', 'get', 'sms_x'], here)
  assert.equal(refused.code, 1)
  assert.match(refused.stderr, /\(NOT_FOUND\)\nreq_/)
  for (const args of [
    ['sms', 'fly'],
    ['sms', 'send', '+254711000001'],
    ['pay', 'x', 'much'],
    ['sms', 'list', '--strange', 'x'],
  ])
    assert.equal((await run(args, here)).code, 2, args.join(' '))
})

test('shells complete commands, areas and operations', async () => {
  for (const shell of ['bash', 'zsh', 'fish']) {
    const { stdout, code } = await run(['completion', shell])
    assert.equal(code, 0)
    assert.match(stdout, /sendBulk/)
  }
  const { stdout } = await run(['completion', 'bash'])
  const asked = `${stdout}\nCOMP_WORDS=(pamoja sms sen) COMP_CWORD=2; _pamoja; echo "\${COMPREPLY[@]}"`
  assert.equal(spawnSync('bash', ['-c', asked], { encoding: 'utf8' }).stdout, 'send sendBulk\n')
})

function listening(args: readonly string[], environment: Readonly<Record<string, string>> = {}): Program {
  return new Program({ args: ['listen', ...args], environment: { PAMOJA_HOME: world.home, ...environment } })
}

/** Makes something happen to the first account, and gives its event. */
async function happen(): Promise<string> {
  const { body: key } = await world.demo.post('/v1/api-keys', { name: 'Short-lived' })
  await world.demo.delete(`/v1/api-keys/${key.id}`)
  return (await world.demo.get(`/v1/events?resource_id=${key.id}`)).body.data[0].id
}

interface Received {
  method: string
  path: string
  headers: IncomingHttpHeaders
  body: string
}

async function localServer(t: TestContext, port = 0) {
  const received: Received[] = []
  const server = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8')
    request.on('data', (chunk: string) => {
      body += chunk
    })
    request.on('end', () => {
      received.push({ method: request.method ?? '', path: request.url ?? '', headers: request.headers, body })
      response.writeHead(202).end()
    })
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return {
    url: `http://127.0.0.1:${portOf(server)}/hook?x=1`,
    received,
    /** Waits for the request that tells of an event. */
    request: (id: string) =>
      eventually(async () => received.find(({ headers }) => headers['x-service-event-id'] === id), `the event ${id}`),
  }
}

/** A line to the node that can be cut and mended. */
async function proxy(t: TestContext) {
  const sockets = new Set<Socket>()
  let isCut = false
  const server = createTcpServer((client) => {
    if (isCut) return void client.destroy()
    const node = connect(world.node.port, '127.0.0.1')
    for (const [one, other] of [
      [client, node],
      [node, client],
    ] as const) {
      sockets.add(one)
      one.on('error', () => undefined)
      one.on('close', () => {
        sockets.delete(one)
        other.destroy()
      })
      one.pipe(other)
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const cut = (): void => {
    isCut = true
    for (const socket of sockets) socket.destroy()
  }
  t.after(() => {
    cut()
    server.close()
  })
  return {
    port: portOf(server),
    cut,
    mend: () => {
      isCut = false
    },
  }
}

function portOf(server: Server): number {
  const address = server.address()
  return typeof address === 'object' && address ? address.port : 0
}
