// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { createPrivateKey, generateKeyPairSync, X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { chmod, mkdir, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { createServer, request } from 'node:https'
import type { AddressInfo } from 'node:net'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { promisify } from 'node:util'
import { type ServerIdentity, serverIdentity, watchIdentity } from './certificates.ts'
import { issueLeaf } from './x509.ts'

const run = promisify(execFile)
const now = new Date('2031-05-06T07:08:09Z')
const daysLater = (days: number) => new Date(now.getTime() + days * 24 * 60 * 60 * 1000)

test('the first start makes a CA and a server certificate, and the next start uses the same ones', async (t) => {
  const dir = await emptyDirectory(t)
  const first = await serverIdentity({ dir, now })
  const second = await serverIdentity({ dir, now: daysLater(366) })
  assert.deepEqual(second, first)
  assert.equal(first.caFile, join(dir, 'ca.pem'))
  assert.deepEqual((await readdir(dir)).sort(), ['ca-key.pem', 'ca.pem', 'server-key.pem', 'server.pem'])
  assert.equal((await stat(join(dir, 'ca-key.pem'))).mode & 0o777, 0o600)
  assert.equal((await stat(join(dir, 'server-key.pem'))).mode & 0o777, 0o600)
})

test('the certificates say what they are for, and for how long', async (t) => {
  const dir = await emptyDirectory(t)
  const identity = await serverIdentity({ dir, hostname: 'node-1.example', now })
  const ca = new X509Certificate(await readFile(join(dir, 'ca.pem')))
  const leaf = new X509Certificate(identity.cert)
  assert.equal(ca.subject, 'CN=Pamoja local CA')
  assert.equal(ca.ca, true)
  assert.equal(new Date(ca.validTo).getTime(), daysLater(825).getTime())
  assert.equal(leaf.ca, false)
  assert.equal(leaf.issuer, 'CN=Pamoja local CA')
  assert.deepEqual(leaf.keyUsage, ['1.3.6.1.5.5.7.3.1'])
  assert.equal(new Date(leaf.validTo).getTime(), daysLater(397).getTime())
  assert.equal(
    leaf.subjectAltName,
    'DNS:localhost, DNS:node-1.example, IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1',
  )
  for (const certificate of [ca, leaf]) {
    assert.equal(certificate.publicKey.asymmetricKeyDetails?.namedCurve, 'prime256v1')
  }
  assert.notEqual(ca.serialNumber, leaf.serialNumber)
})

test('Node accepts the server under every local name when it trusts the CA, and refuses it otherwise', async (t) => {
  const dir = await emptyDirectory(t)
  const identity = await serverIdentity({ dir, now: new Date() })
  const port = await serve(t, identity)
  const ca = await readFile(join(dir, 'ca.pem'))
  for (const servername of ['localhost', hostname()]) {
    assert.equal(await get({ port, host: '127.0.0.1', servername, ca }), 'served')
  }
  assert.equal(await get({ port, host: '127.0.0.1', ca }), 'served')
  await assert.rejects(get({ port, host: '127.0.0.1', servername: 'elsewhere.example', ca }), /does not match/)
  await assert.rejects(get({ port, host: '127.0.0.1' }), /unable to verify|self.signed/)
})

test('curl accepts the server with --cacert', async (t) => {
  if (!(await hasProgram('curl'))) return t.skip('curl is not installed')
  const dir = await emptyDirectory(t)
  const identity = await serverIdentity({ dir, now: new Date() })
  const port = await serve(t, identity)
  const options = ['--silent', '--show-error', '--noproxy', '*', '--cacert', join(dir, 'ca.pem')]
  assert.equal((await run('curl', [...options, `https://localhost:${port}/`])).stdout, 'served')
  assert.equal((await run('curl', [...options, `https://127.0.0.1:${port}/`])).stdout, 'served')
})

test('OpenSSL in strict mode accepts the chain, also for certificates that end after 2049', async (t) => {
  if (!(await hasProgram('openssl'))) return t.skip('openssl is not installed')
  for (const moment of [now, new Date('2049-12-30T00:00:00Z')]) {
    const dir = await emptyDirectory(t)
    await serverIdentity({ dir, now: moment })
    const at = String(Math.floor(moment.getTime() / 1000))
    const names = ['-verify_hostname', 'localhost', '-purpose', 'sslserver', '-attime', at]
    const files = ['-CAfile', join(dir, 'ca.pem'), join(dir, 'server.pem')]
    const { stdout } = await run('openssl', ['verify', '-x509_strict', ...names, ...files])
    assert.match(stdout, /: OK/)
  }
})

test('a server certificate about to expire is re-issued by the CA that clients already trust', async (t) => {
  const dir = await emptyDirectory(t)
  const first = await serverIdentity({ dir, now })
  const ca = await readFile(join(dir, 'ca.pem'), 'utf8')
  assert.equal((await serverIdentity({ dir, now: daysLater(367) })).cert, first.cert)
  const renewed = await serverIdentity({ dir, now: daysLater(368) })
  assert.notEqual(renewed.cert, first.cert)
  assert.equal(await readFile(join(dir, 'ca.pem'), 'utf8'), ca)
  const leaf = new X509Certificate(renewed.cert)
  assert.equal(leaf.verify(new X509Certificate(ca).publicKey), true)
  assert.equal(new Date(leaf.validTo).getTime(), daysLater(368 + 397).getTime())
  assert.deepEqual(await serverIdentity({ dir, now: daysLater(368) }), renewed)
})

test('the CA is trusted for this machine only: what it signs for another name is refused', async (t) => {
  const dir = await emptyDirectory(t)
  await serverIdentity({ dir, now: new Date() })
  const ca = await readFile(join(dir, 'ca.pem'))
  const caKey = createPrivateKey(await readFile(join(dir, 'ca-key.pem')))
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const stolen = issueLeaf(privateKey, new X509Certificate(ca), caKey, ['bank.example'], new Date())
  const key = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  const port = await serve(t, { key, cert: stolen.toString() })
  await assert.rejects(get({ port, host: '127.0.0.1', servername: 'bank.example', ca }), /permitted subtree violation/i)
})

test('a machine that gets another name gets a certificate for it, from a CA of the same key', async (t) => {
  const dir = await emptyDirectory(t)
  await serverIdentity({ dir, hostname: 'before', now })
  const ca = await readFile(join(dir, 'ca.pem'), 'utf8')
  const after = await serverIdentity({ dir, hostname: 'after_wards', now })
  assert.equal(new X509Certificate(after.cert).checkHost('after_wards'), 'after_wards')
  const renewed = await readFile(join(dir, 'ca.pem'), 'utf8')
  assert.notEqual(renewed, ca, 'the first one may not name it')
  assert.ok(new X509Certificate(renewed).publicKey.equals(new X509Certificate(ca).publicKey))
  assert.deepEqual(await serverIdentity({ dir, hostname: 'after_wards', now }), after)
})

test('a machine name that no certificate can carry is left out', async (t) => {
  const dir = await emptyDirectory(t)
  for (const strange of ['', 'my machine', 'maskini-ya-adé', 'localhost']) {
    const { cert } = await serverIdentity({ dir, hostname: strange, now })
    assert.equal(
      new X509Certificate(cert).subjectAltName,
      'DNS:localhost, IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1',
    )
  }
})

test('an expiring CA is renewed in time, and a damaged certificate is made anew from its key', async (t) => {
  const dir = await emptyDirectory(t)
  await serverIdentity({ dir, now })
  const nearTheEnd = await serverIdentity({ dir, now: daysLater(790) })
  assert.equal(new Date(new X509Certificate(nearTheEnd.cert).validTo).getTime(), daysLater(825).getTime())
  await serverIdentity({ dir, now: daysLater(810) })
  const ca = new X509Certificate(await readFile(join(dir, 'ca.pem')))
  assert.equal(new Date(ca.validTo).getTime(), daysLater(810 + 825).getTime())

  await writeFile(join(dir, 'server.pem'), '')
  const repaired = await serverIdentity({ dir, now: daysLater(3630) })
  assert.equal(new X509Certificate(repaired.cert).verify(ca.publicKey), true)
})

test('starts at the same moment in one directory share one CA', async (t) => {
  const dir = await emptyDirectory(t)
  const identities = await Promise.all(Array.from({ length: 8 }, () => serverIdentity({ dir, now })))
  const ca = new X509Certificate(await readFile(join(dir, 'ca.pem')))
  for (const identity of identities) {
    assert.equal(new X509Certificate(identity.cert).verify(ca.publicKey), true)
    assert.equal(identity.key, await readFile(join(dir, 'server-key.pem'), 'utf8'))
  }
  assert.equal((await readdir(dir)).length, 4)
})

test('a damaged local key is named in one sentence and never overwritten', async (t) => {
  const dir = await emptyDirectory(t)
  await serverIdentity({ dir, now })
  await writeFile(join(dir, 'server-key.pem'), 'not a key')
  await assert.rejects(serverIdentity({ dir, now }), /server-key\.pem is not an EC P-256 private key: remove it/)
  assert.equal(await readFile(join(dir, 'server-key.pem'), 'utf8'), 'not a key')
})

test('a directory that cannot be used is named, with the way out', async (t) => {
  const dir = await emptyDirectory(t)
  await writeFile(join(dir, 'file'), '')
  await assert.rejects(
    serverIdentity({ dir: join(dir, 'file'), now }),
    /^Error: The local certificate in .*file cannot be read or written \((EEXIST|ENOTDIR)\): .*PAMOJA_TLS_CERT/,
  )
})

test('configured files are served as they are', async (t) => {
  const pair = await configured(t)
  const identity = await serverIdentity({ dir: '/nonexistent', ...pair, now })
  assert.deepEqual(identity, {
    cert: await readFile(pair.certFile, 'utf8'),
    key: await readFile(pair.keyFile, 'utf8'),
    caFile: null,
  })
})

test('each mistake in the configured files is one sentence that names the variable', async (t) => {
  const { certFile, keyFile } = await configured(t)
  const other = await configured(t)
  const dir = await emptyDirectory(t)
  const garbage = join(dir, 'garbage.pem')
  await writeFile(garbage, 'garbage')
  const brokenChain = join(dir, 'chain.pem')
  const cert = await readFile(certFile, 'utf8')
  await writeFile(brokenChain, cert + cert.slice(0, cert.length / 2))

  const cases: [{ certFile?: string; keyFile?: string }, RegExp][] = [
    [{ certFile }, /^PAMOJA_TLS_CERT is set, so PAMOJA_TLS_KEY must name .*\.$/],
    [{ keyFile }, /^PAMOJA_TLS_KEY is set, so PAMOJA_TLS_CERT must name .*\.$/],
    [{ certFile: `${certFile}.no`, keyFile }, /^PAMOJA_TLS_CERT names .*\.no, which does not exist\.$/],
    [{ certFile, keyFile: `${keyFile}.no` }, /^PAMOJA_TLS_KEY names .*\.no, which does not exist\.$/],
    [{ certFile: dir, keyFile }, /^PAMOJA_TLS_CERT names .*, which cannot be read \(EISDIR\)\.$/],
    [{ certFile: garbage, keyFile }, /^PAMOJA_TLS_CERT names .*, which is not a certificate in PEM form\.$/],
    [{ certFile, keyFile: garbage }, /^PAMOJA_TLS_KEY names .*, which is not a private key in PEM form/],
    [{ certFile, keyFile: other.keyFile }, /^PAMOJA_TLS_KEY names .*, which is not the private key of the certificate/],
    [
      { certFile: brokenChain, keyFile },
      /^PAMOJA_TLS_CERT names .*, whose certificate chain cannot be used for TLS\.$/,
    ],
  ]
  for (const [files, message] of cases) await assert.rejects(serverIdentity({ dir, ...files, now }), { message })
})

test('a key that the user may not read is reported as that', async (t) => {
  if (process.getuid?.() === 0) return t.skip('root may read everything')
  const { certFile, keyFile } = await configured(t)
  await chmod(keyFile, 0)
  await assert.rejects(serverIdentity({ dir: '/nonexistent', certFile, keyFile, now }), {
    message: `PAMOJA_TLS_KEY names ${keyFile}, which this user may not read.`,
  })
})

test('a renewed certificate is picked up, and a half-renewed pair is only reported', async (t) => {
  const { certFile, keyFile } = await configured(t)
  const other = await configured(t)
  const news: (string | Error)[] = []
  let wake = () => {}
  const told = (item: string | Error) => {
    news.push(item)
    wake()
  }
  const next = async (count: number) => {
    while (news.length < count) await new Promise<void>((resolve) => (wake = resolve))
    return news[count - 1]
  }
  const stop = watchIdentity({ certFile, keyFile, intervalMs: 5 }, (identity) => told(identity.cert), told)
  t.after(stop)

  await replace(certFile, await readFile(other.certFile, 'utf8'))
  const problem = await next(1)
  assert.ok(problem instanceof Error)
  assert.match(problem.message, /^PAMOJA_TLS_KEY names .* is not the private key/)

  await replace(keyFile, await readFile(other.keyFile, 'utf8'))
  assert.equal(await next(2), await readFile(other.certFile, 'utf8'))

  await rm(certFile)
  const missing = await next(3)
  assert.ok(missing instanceof Error)
  assert.match(missing.message, /^PAMOJA_TLS_CERT names .*, which does not exist\.$/)

  await writeFile(certFile, await readFile(other.certFile, 'utf8'))
  assert.equal(await next(4), await readFile(other.certFile, 'utf8'))
  stop()
})

async function emptyDirectory(t: TestContext): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'pamoja-certificates-'))
  t.after(() => rm(dir, { recursive: true, force: true }))
  return dir
}

async function configured(t: TestContext): Promise<{ certFile: string; keyFile: string }> {
  const dir = join(await emptyDirectory(t), 'tls')
  await mkdir(dir)
  await serverIdentity({ dir, now })
  return { certFile: join(dir, 'server.pem'), keyFile: join(dir, 'server-key.pem') }
}

async function replace(file: string, text: string): Promise<void> {
  await writeFile(`${file}.new`, text)
  await rename(`${file}.new`, file)
}

async function serve(t: TestContext, identity: Pick<ServerIdentity, 'key' | 'cert'>): Promise<number> {
  const server = createServer({ key: identity.key, cert: identity.cert }, (_, response) => response.end('served'))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const address = server.address()
  assert.ok(isTcp(address))
  return address.port
}

function isTcp(address: AddressInfo | string | null): address is AddressInfo {
  return typeof address === 'object' && address !== null
}

async function get(options: { port: number; host: string; servername?: string; ca?: Buffer }): Promise<string> {
  return new Promise((resolve, reject) => {
    const outgoing = request({ ...options, agent: false }, async (response) => {
      const chunks: Buffer[] = []
      for await (const chunk of response) chunks.push(chunk)
      resolve(Buffer.concat(chunks).toString())
    })
    outgoing.on('error', reject)
    outgoing.end()
  })
}

async function hasProgram(program: string): Promise<boolean> {
  return run(program, ['version']).then(
    () => true,
    (problem) => problem.code !== 'ENOENT',
  )
}
