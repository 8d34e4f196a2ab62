// SPDX-License-Identifier: Apache-2.0
// Starting and stopping, as whoever installs the program sees it: processes, directories, ports and signals.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { cp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { connect as connectTcp, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, afterEach, before, test } from 'node:test'
import { connect as connectTls, type TLSSocket } from 'node:tls'
import { promisify } from 'node:util'
import type { Credentials } from '../src/commands/welcome.ts'
import { Client } from './client.ts'
import { createTestDatabase, type TestDatabase } from './database.ts'
import { eventually } from './eventually.ts'
import { endAll, freePort, newHome, Program, processesIn, root, serve, somebodyElse } from './program.ts'

let home: Awaited<ReturnType<typeof newHome>>
let database: TestDatabase

before(async () => {
  home = await newHome()
  database = await createTestDatabase()
})

afterEach(endAll)

after(async () => {
  await database.drop()
  await home.remove()
})

// The embedded database: these follow each other on one installation, because making one takes seconds.

test('the first start needs nothing but an empty directory, and what it prints works', async () => {
  const port = await freePort()
  const program = new Program({ environment: { PAMOJA_HOME: home.path, PAMOJA_PORT: String(port) } })
  await eventually(() => answers(port), 'an answer of /healthz')
  const written = await credentials()

  await program.prints('Ctrl-C stops it')
  assert.match(program.stderr, /^ {2}Creating the database in .* \.\.\. \d+\.\d s$/m)
  assert.match(program.stderr, /^ {2}Starting the database \.\.\. \d+\.\d s$/m)
  for (const line of new Set(program.stderr.split('\n').filter(Boolean)))
    assert.equal(program.stderr.split(line).length, 2, `"${line}" is printed once`)
  assert.match(program.stdout, new RegExp(`API +https://localhost:${port}/api/v1\n`))
  assert.match(program.stdout, new RegExp(`Docs +https://localhost:${port}/docs\n`))
  assert.match(program.stdout, /Metrics +http:\/\/127\.0\.0\.1:\d+\/metrics\n/)
  assert.ok(!program.stdout.includes('\u001b'), 'no colours where nobody looks')
  assert.ok(program.stdout.includes(written.api_key) && program.stdout.includes(written.operator_key))

  const { mode } = await stat(join(home.path, 'credentials.json'))
  assert.equal(mode & 0o777, 0o600)
  const { base_url, sandbox_url, ca_file, console, smtp, listeners } = written
  assert.deepEqual([base_url, sandbox_url], [`https://localhost:${port}`, `https://localhost:${port}/sandbox`])
  assert.equal(listeners.api, base_url)
  assert.deepEqual([console?.url, console?.email], [`${base_url}/console`, 'owner@localhost'])
  assert.ok(console?.password && program.stdout.includes(console.password), 'the password is printed')
  assert.ok(smtp && smtp.port > 0 && smtp.username.startsWith('smtp_') && smtp.password.length > 20)
  const client = new Client(base_url, await readFile(ca_file ?? '', 'utf8'), written.api_key)
  const { body: who } = await client.get('/v1/auth/whoami')
  assert.deepEqual([who.account_id, who.environment, who.scopes], [written.account_id, 'test', ['*']])
  const operator = client.as(written.operator_key)
  assert.ok((await operator.get('/v1/auth/whoami')).body.scopes.includes('operator'))
  const { body: account } = await operator.get(`/v1/operator/accounts/${written.account_id}`)
  assert.equal(account.plan, 'enterprise')
  const [wallet] = account.wallets.filter(({ environment }: { environment: string }) => environment === 'test')
  assert.deepEqual([wallet.currency, wallet.balance], ['KES', 100_000])
  assert.match(await (await fetch(`${listeners.admin}/metrics`)).text(), /pamoja_/)
  assert.equal((await fetch(`${listeners.admin}/metrics?name=up`)).status, 200)
  assert.equal((await fetch(`${listeners.admin}/other?/metrics`)).status, 404)
  assert.equal((await client.get('/docs')).status, 200)
  assert.equal(JSON.parse(await pasted(program, client)).account_id, written.account_id)

  client.close()
  const { code, stderr } = await program.stop('SIGTERM')
  assert.equal(code, 0, stderr)
  assert.match(stderr, /^ {2}Stopping: finishing what is in progress \.\.\. \d+\.\d s$/m)
  await isGone(port)
})

test('the embedded database is started again when it is killed under a running program', async () => {
  const { client } = await serve(home.path)
  const lockFile = join(home.path, 'postgres/18/data/postmaster.pid')
  const pid = Number((await readFile(lockFile, 'utf8')).split('\n')[0])
  process.kill(pid, 'SIGKILL')
  const made = await eventually(async () => {
    const reply = await client.post('/v1/api-keys', { name: 'Made after the crash' })
    assert.ok([201, 503].includes(reply.status), reply.text)
    return reply.status === 201 && reply
  }, 'a write after the crash')
  assert.equal((await client.get(`/v1/api-keys/${made.body.id}`)).body.name, 'Made after the crash')
  assert.notEqual(Number((await readFile(lockFile, 'utf8')).split('\n')[0]), pid)
})

test('the second start keeps the keys, the certificate authority and the data', async () => {
  const first = await credentials()
  const ca = await readFile(first.ca_file ?? '', 'utf8')
  const { program, credentials: second, client } = await serve(home.path)
  assert.deepEqual([second.api_key, second.operator_key], [first.api_key, first.operator_key])
  assert.deepEqual([second.account_id, await readFile(second.ca_file ?? '', 'utf8')], [first.account_id, ca])
  assert.doesNotMatch(program.stderr, /Creating/)
  assert.equal((await client.get('/v1/auth/whoami')).body.account_id, first.account_id)
  client.close()
  assert.equal((await program.stop('SIGINT')).code, 0)
  await isGone(Number(new URL(second.base_url).port))
})

test('after a crash the next start takes over the database that was left running, and stops it in the end', async () => {
  const crashed = await serve(home.path)
  crashed.client.close()
  await crashed.program.stop('SIGKILL')
  const left = await processesIn(home.path)
  if (left) assert.notEqual(left.length, 0, 'the database outlives its program')
  const next = await serve(home.path)
  assert.doesNotMatch(next.program.stderr, /Starting the database/)
  assert.equal((await next.client.get('/v1/auth/whoami')).status, 200)
  next.client.close()
  assert.equal((await next.program.stop()).code, 0)
  await isGone(Number(new URL(next.credentials.base_url).port))
})

test('a command beside a running platform uses its database and leaves it running', async () => {
  const { program, client } = await serve(home.path)
  const command = new Program({ args: ['ledger', 'verify'], environment: { PAMOJA_HOME: home.path } })
  assert.match((await command.ended).stdout, /everything adds up/)
  assert.equal((await client.get('/readyz')).body.status, 'ok')
  client.close()
  assert.equal((await program.stop()).code, 0)
})

test('reset refuses while the platform runs, and afterwards the next start is a first one that keeps its authority', async () => {
  const environment = { PAMOJA_HOME: home.path }
  const { program, client, credentials: first } = await serve(home.path)
  const refused = await new Program({ args: ['reset'], environment }).ended
  assert.equal(refused.code, 2)
  assert.match(refused.sentence, /is running \(process \d+\): stop the platform first/)
  assert.equal((await client.get('/v1/auth/whoami')).status, 200)
  client.close()
  await program.stop()
  const authority = await readFile(first.ca_file ?? '', 'utf8')
  const done = await new Program({ args: ['reset'], environment }).ended
  assert.deepEqual([done.code, /^Took postgres, .* out of /.test(done.stdout)], [0, true], done.stdout)
  const again = await serve(home.path)
  assert.notEqual(again.credentials.account_id, first.account_id)
  assert.equal(await readFile(again.credentials.ca_file ?? '', 'utf8'), authority)
  assert.equal((await again.client.as(first.api_key).get('/v1/auth/whoami')).status, 401)
  again.client.close()
  await again.program.stop()
  const elsewhere = { ...environment, DATABASE_URL: 'postgres://localhost/other' }
  assert.match(
    (await new Program({ args: ['reset'], environment: elsewhere }).ended).sentence,
    /DATABASE_URL is another database/,
  )
})

test('a signal during the start ends it without leaving anything behind', async () => {
  const program = new Program({ environment: { PAMOJA_HOME: home.path, PAMOJA_PORT: '0' } })
  await program.prints('Starting the database')
  const { code, stdout } = await program.stop('SIGTERM')
  assert.deepEqual([code, stdout], [0, ''])
  await isGone(null)
})

test('a damaged data directory is named in one sentence, and nothing stays running', async () => {
  const data = join(home.path, 'postgres/18/data')
  await writeFile(join(data, 'global/pg_control'), 'not what was here')
  const { code, sentence } = await new Program({ environment: { PAMOJA_HOME: home.path, PAMOJA_PORT: '0' } }).ended
  assert.equal(code, 1)
  assert.match(sentence, /^The database files in .* are damaged \(.*\): restore them from a backup, or .*\.$/)
  await isGone(null)
})

// From here on with a database of the test server.

test('new keys are made when credentials.json is gone, and a fixed key stays fixed', async () => {
  const place = await newHome()
  try {
    const first = await serve(place.path, onServer())
    first.client.close()
    await first.program.stop()
    await rm(join(place.path, 'credentials.json'))

    const second = await serve(place.path, onServer())
    assert.notEqual(second.credentials.api_key, first.credentials.api_key)
    assert.equal(second.credentials.account_id, first.credentials.account_id)
    assert.equal((await second.client.get('/v1/auth/whoami')).status, 200)
    assert.equal((await second.client.as(second.credentials.operator_key).get('/v1/operator/plans')).status, 200)
    second.client.close()
    await second.program.stop()

    await rm(join(place.path, 'credentials.json'))
    const fixed = { ...onServer(), PAMOJA_TEST_API_KEY: first.credentials.api_key }
    const third = await serve(place.path, fixed)
    assert.equal(third.credentials.api_key, first.credentials.api_key)
    assert.equal((await third.client.get('/v1/auth/whoami')).body.account_id, first.credentials.account_id)
    third.client.close()
    await third.program.stop()
  } finally {
    await place.remove()
  }
})

test('requests in progress are finished when the platform stops, and it says that it is not ready for more', async () => {
  const place = await newHome()
  try {
    const { program, credentials, client } = await serve(place.path, onServer())
    client.close()
    const port = Number(new URL(credentials.base_url).port)
    const ca = await readFile(credentials.ca_file ?? '', 'utf8')
    const body = JSON.stringify({ name: 'Made while stopping' })
    const slow = await halfSent(port, ca, [
      'POST /v1/api-keys HTTP/1.1',
      'Host: localhost',
      `Authorization: Bearer ${credentials.api_key}`,
      'Content-Type: application/json',
      `Content-Length: ${body.length}`,
      '',
      body.slice(0, 5),
    ])
    const probe = await halfSent(port, ca, ['GET /readyz HTTP/1.1', 'Host: localhost', ''])
    program.child.kill('SIGTERM')
    await eventually(async () => !(await isOpen(port)), 'the port to close')

    const readiness = await completed(probe, '\r\n')
    assert.match(readiness, /^HTTP\/1\.1 503 /)
    assert.match(readiness, /"shutdown":"in progress"/)
    assert.match(await completed(slow, body.slice(5)), /^HTTP\/1\.1 201 [\s\S]*"name":"Made while stopping"/)
    assert.equal((await program.ended).code, 0)
  } finally {
    await place.remove()
  }
})

test('npm start reads .env, and a second node leaves credentials.json to the first while that answers', async () => {
  const place = await newHome()
  try {
    const log = join(place.path, 'pamoja.log')
    await writeFile(
      join(place.path, '.env'),
      `PAMOJA_HOME=${join(place.path, 'home')}\nPAMOJA_PORT=0\nPAMOJA_LOG_FILE=${log}\n`,
    )
    const first = new Program({ file: join(root, 'tools/start.mjs'), environment: onServer(), cwd: place.path })
    await first.prints('Ctrl-C stops it')
    const file = join(place.path, 'home/credentials.json')
    const written = await readFile(file, 'utf8')
    assert.equal((await stat(join(place.path, 'home'))).mode & 0o066, 0, 'nobody else lists what is there')
    assert.equal((await stat(log)).mode & 0o077, 0, 'nor reads the log')
    const beside = { ...onServer(), PAMOJA_HOME: join(place.path, 'home'), PAMOJA_PORT: '0' }
    const second = new Program({ environment: beside })
    await second.prints('Ctrl-C stops it')
    assert.equal(await readFile(file, 'utf8'), written)
    const [, name = ''] = /Written to +\S*(credentials-\d+\.json)\n/.exec(second.stdout) ?? []
    const own = join(place.path, 'home', name)
    const [one, other]: Credentials[] = [JSON.parse(written), JSON.parse(await readFile(own, 'utf8'))]
    assert.deepEqual([other?.api_key, other?.base_url === one?.base_url], [one?.api_key, false])
    assert.equal((await second.stop()).code, 0)
    assert.equal((await first.stop()).code, 0)
    const third = new Program({ environment: beside })
    await third.prints('Ctrl-C stops it')
    assert.notEqual(await readFile(file, 'utf8'), written, 'nobody else answers any more')
    assert.equal((await third.stop()).code, 0)
  } finally {
    await place.remove()
  }
})

test('npm start runs the same program, and passes on the signal that stops it', async () => {
  const place = await newHome()
  try {
    const file = join(root, 'tools/start.mjs')
    const environment = { ...onServer(), PAMOJA_HOME: place.path, PAMOJA_PORT: '0' }
    const program = new Program({ file, args: ['--roles', 'api,timers'], environment, cwd: root })
    await program.prints('Ctrl-C stops it')
    for (const command of ['npm start --silent -- listen', 'node examples/node/send-a-text.mjs'])
      assert.ok(program.stdout.includes(`\n    PAMOJA_HOME=${place.path} ${command}\n`), command)
    const { base_url, ca_file, operator_key }: Credentials = JSON.parse(
      await readFile(join(place.path, 'credentials.json'), 'utf8'),
    )
    const operator = new Client(base_url, await readFile(ca_file ?? '', 'utf8'), operator_key)
    const { body: system } = await operator.get('/v1/operator/system')
    assert.deepEqual(
      system.nodes.map(({ roles }: { roles: string[] }) => roles),
      [['api', 'timers']],
    )
    operator.close()
    // The terminal and npm both send it.
    program.child.kill('SIGINT')
    assert.equal((await program.stop('SIGINT')).code, 0)
    const { scripts } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))
    assert.match(scripts.start, /^exec /, 'without exec npm would stop the shell and leave the program running')
  } finally {
    await place.remove()
  }
})

test('a port that is taken is told before a fresh checkout is installed and built', async () => {
  const { place, port, taken } = await freshCheckoutBesideServer()
  try {
    const file = join(place.path, 'tools/start.mjs')
    const { code, sentence } = await new Program({ file, environment: { PAMOJA_PORT: String(port) } }).ended
    assert.equal(code, 1)
    assert.equal(
      sentence,
      `Port ${port} is in use by another program: stop that, or choose another with PAMOJA_PORT, such as \`PAMOJA_PORT=9443 npm start\`.`,
    )
    await assert.rejects(stat(join(place.path, 'node_modules')), { code: 'ENOENT' })
  } finally {
    taken.close()
    await place.remove()
  }
})

test('what a fresh checkout lacks is told before it is installed and built, in a sentence or two', async () => {
  const { place, taken } = await freshCheckoutBesideServer()
  taken.close()
  const started = (environment: Record<string, string>, user?: { uid: number; gid: number }) =>
    new Program({
      file: join(place.path, 'tools/start.mjs'),
      environment: { PAMOJA_PORT: '0', ...environment },
      cwd: place.path,
      ...(user ? { user } : {}),
    }).ended
  try {
    const production = await started({ NODE_ENV: 'production' })
    assert.deepEqual(
      [production.code, production.sentence.split('\n').map((line) => line.trim().split(' ')[0])],
      [1, ['The', 'PAMOJA_SECRET_KEY', 'PAMOJA_TLS_CERT']],
    )
    if (somebodyElse()) {
      const nameless = await started({}, { uid: 1_234_567, gid: 1_234_567 })
      assert.equal(nameless.code, 1)
      assert.match(nameless.sentence, /^PostgreSQL needs a user that has a name: add the user id 1234567 to .*\.$/)
      const given = await started({ DATABASE_URL: 'postgres://elsewhere/db' }, { uid: 1_234_567, gid: 1_234_567 })
      assert.match(given.sentence, /^This checkout has to be prepared .* cannot be written \(EACCES\): make it .*\.$/)
    }
    await assert.rejects(stat(join(place.path, 'node_modules')), { code: 'ENOENT' })
  } finally {
    await place.remove()
  }
})

test('a registry of npm that does not answer is named in one sentence', async () => {
  const { place, taken } = await freshCheckoutBesideServer()
  taken.close()
  try {
    const environment = {
      PAMOJA_PORT: '0',
      npm_config_registry: 'http://127.0.0.1:1/',
      npm_config_cache: join(place.path, 'cache'),
    }
    const { code, stderr } = await new Program({ file: join(place.path, 'tools/start.mjs'), environment }).ended
    assert.equal(code, 1)
    assert.match(
      stderr,
      /failed after .*\nnpm cannot reach http:\/\/127\.0\.0\.1:1 \(ECONNREFUSED\): check the network\..*\n$/,
    )
    assert.doesNotMatch(stderr, / {4}at /)
  } finally {
    await place.remove()
  }
})

test('what npm stumbles over is told in one sentence: a full disk, a silent registry, a certificate that nobody trusts', async () => {
  const { place, taken } = await freshCheckoutBesideServer()
  taken.close()
  const says = async (script: string) => {
    await writeFile(join(place.path, 'npm'), `#!/bin/sh\n${script}\n`, { mode: 0o755 })
    const environment = { PAMOJA_PORT: '0', PATH: `${place.path}:${process.env.PATH}`, npm_execpath: '' }
    const { code, stderr } = await new Program({ file: join(place.path, 'tools/start.mjs'), environment }).ended
    return [code, stderr.replace(/^.* failed after .*\n/, '')]
  }
  try {
    // npm goes on after this as if all were well, for minutes.
    const full = "echo 'npm warn tar TAR_ENTRY_ERROR ENOSPC: no space left on device, write' >&2; exec sleep 60"
    assert.deepEqual(await says(full), [
      1,
      `The disk is full at ${join(place.path, 'dist/.first-install')}: free some space and start again.\n`,
    ])
    const fails = (code: string, words: string) =>
      says(`printf 'npm error code ${code}\\nnpm error ${words}\\n' >&2; exit 1`)
    const [, silent] = await fails('FETCH_ERROR', 'network timeout at: https://r.example/x')
    assert.match(
      String(silent),
      /^https:\/\/r\.example does not answer npm: check the network\. Behind a proxy run .*\n$/,
    )
    const code = 'SELF_SIGNED_CERT_IN_CHAIN'
    assert.deepEqual(await fails(code, 'request to https://r.example/x failed'), [
      1,
      `npm does not trust the certificate of https://r.example (${code}): if it is your proxy's, name the file of its authority with \`npm config set cafile /…/authority.pem\`.\n`,
    ])
    await assert.rejects(stat(join(place.path, 'node_modules')), { code: 'ENOENT' })
  } finally {
    await place.remove()
  }
})

test('tests and benchmarks are made ready beside a platform that runs: they do not need its port', async () => {
  const { place, port, taken } = await freshCheckoutBesideServer()
  try {
    for (const name of ['test', 'bench']) {
      const file = join(place.path, `tools/${name}.mjs`)
      // Where there is no npm it ends with the next step, instead of installing everything.
      const { code, stderr } = await new Program({ file, environment: { PATH: '', PAMOJA_PORT: String(port) } }).ended
      assert.equal(code, 1)
      assert.match(stderr, /Installing packages .*failed \(ENOENT\)/)
    }
  } finally {
    taken.close()
    await place.remove()
  }
})

/** A checkout in which nothing is installed, and a server that has taken a port. */
async function freshCheckoutBesideServer() {
  const place = await newHome()
  for (const name of ['tools', 'package.json', 'package-lock.json'])
    await cp(join(root, name), join(place.path, name), { recursive: true })
  const taken = createServer().listen(0, '127.0.0.1')
  await once(taken, 'listening')
  const address = taken.address()
  return { place, taken, port: typeof address === 'object' && address ? address.port : 0 }
}

const secretKey = randomBytes(32).toString('base64')

/** Several homes share the database of the test server, and therefore one key. */
function onServer(): Record<string, string> {
  return { DATABASE_URL: database.url, PAMOJA_SECRET_KEY: secretKey }
}

async function credentials(): Promise<Credentials> {
  return JSON.parse(await readFile(join(home.path, 'credentials.json'), 'utf8'))
}

/** Asks without checking the certificate, which may not be there yet. */
async function answers(port: number): Promise<boolean> {
  const socket = connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false })
  socket.on('error', () => undefined)
  socket.end('GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n')
  return (await text(socket)).startsWith('HTTP/1.1 200')
}

/** Runs the command of the banner in a shell, somewhere else; with our own client where there is no curl. */
async function pasted(program: Program, client: Client): Promise<string> {
  const command = /^ {4}(curl .*)$/m.exec(program.stdout)?.[1] ?? ''
  assert.match(command, /^curl --cacert \S+ https:\S+\/api\/v1\/auth\/whoami -H "Authorization: Bearer \S+"$/)
  const hasCurl = await promisify(execFile)('curl', ['--version']).catch(() => null)
  if (!hasCurl) return (await client.get(/https:\/\/[^/]+(\S+)/.exec(command)?.[1] ?? '')).text
  // Whatever proxy this machine goes out through, it does not lead back to the machine.
  const env = { ...process.env, NO_PROXY: '*', no_proxy: '*' }
  return (await promisify(execFile)('sh', ['-c', command], { cwd: tmpdir(), env })).stdout
}

/** Checks that nothing of the installation runs any more, and that its port is free. */
async function isGone(port: number | null): Promise<void> {
  assert.deepEqual((await processesIn(home.path)) ?? [], [])
  if (port !== null) assert.equal(await isOpen(port), false)
}

async function isOpen(port: number): Promise<boolean> {
  const socket = connectTcp(port, '127.0.0.1')
  try {
    await once(socket, 'connect')
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}

async function halfSent(port: number, ca: string, lines: readonly string[]): Promise<TLSSocket> {
  const socket = connectTls({ port, host: '127.0.0.1', servername: 'localhost', ca })
  await once(socket, 'secureConnect')
  await new Promise((sent) => socket.write(lines.join('\r\n'), sent))
  return socket
}

async function completed(socket: TLSSocket, rest: string): Promise<string> {
  socket.write(rest)
  return text(socket)
}

async function text(socket: TLSSocket): Promise<string> {
  const chunks: Buffer[] = []
  socket.on('data', (chunk: Buffer) => chunks.push(chunk))
  // Not `once`, which would throw for an error that only means: no answer.
  await new Promise((closed) => socket.once('close', closed))
  return Buffer.concat(chunks).toString()
}
