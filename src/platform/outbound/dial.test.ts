// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer as createHttpServer, type IncomingMessage } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import { connect, createServer as createTcpServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import {
  answered,
  development,
  failed,
  listening,
  opened,
  plainToOurselves,
  portOf,
  production,
  receiver,
  request,
  toOurselves,
  web,
  zoneLookup,
} from '../../../test/outside.ts'
import { serverIdentity } from '../http/certificates.ts'
import { Outbound } from '../outbound.ts'
import type { Lookup } from './connections.ts'

test('a name that is public when checked and private when called is not called', async (t) => {
  const { port, connections } = await receiver(t, () => assert.fail('nothing may arrive here'))
  let lookups = 0
  const rebinding: Lookup = () => {
    lookups += 1
    return Promise.resolve([{ address: lookups === 1 ? '93.184.216.34' : '127.0.0.1', family: 4 }])
  }
  const outbound = opened(t, { ...production, allowHttp: true }, rebinding)
  const url = `http://rebinding.example.com:${port}/`
  await outbound.checkUrl(url, 'webhook', 'live', 'url')
  const outcome = await outbound.send(request(url))
  assert.deepEqual(outcome.kind === 'failed' && [outcome.error, outcome.ip], ['ADDRESS_BLOCKED', null])
  assert.doesNotMatch(JSON.stringify(outcome), /127\.0\.0\.1/)
  assert.deepEqual([lookups, connections()], [2, 0])
})

test('the address that was checked is the one that is called: the name is resolved once', async (t) => {
  const { port } = await web(t, (_, response) => response.end('here'))
  const answers = [['127.0.0.1'], ['10.0.0.1'], ['10.0.0.1']]
  let lookups = 0
  const outbound = opened(t, plainToOurselves, () => {
    const [address = ''] = answers[lookups] ?? []
    lookups += 1
    return Promise.resolve([{ address, family: 4 }])
  })
  const outcome = answered(await outbound.send(request(`http://once.example.com:${port}/`)))
  assert.deepEqual([outcome.body, outcome.ip, lookups], ['here', '127.0.0.1', 1])
})

test('when one address does not answer the next is tried', async (t) => {
  const { port } = await web(t, (_, response) => response.end('second'))
  const outbound = opened(t, plainToOurselves, async () => [
    { address: '127.0.0.2', family: 4 },
    { address: '127.0.0.1', family: 4 },
  ])
  const outcome = answered(await outbound.send(request(`http://two.example.com:${port}/`)))
  assert.deepEqual([outcome.body, outcome.ip], ['second', '127.0.0.1'])
})

test('a name that does not resolve, and a name server that hangs, are told apart', async (t) => {
  const outbound = opened(t, production, zoneLookup)
  assert.deepEqual(failed(await outbound.send(request('https://unknown.example.com/'))), [
    'DNS_FAILED',
    'The host name does not resolve.',
  ])
  const hanging = opened(t, production, () => new Promise(() => {}))
  const outcome = await hanging.send(request('https://hooks.example.com/', { timeoutMs: 20 }))
  assert.deepEqual(failed(outcome), ['TIMEOUT', 'No answer came within 0.02 seconds.'])
})

test('a receiver that never finishes its TLS handshake is given up', async (t) => {
  const { port, ended } = await receiver(t, () => {})
  const outbound = opened(t, toOurselves)
  const outcome = await outbound.send(request(`https://127.0.0.1:${port}/`, { timeoutMs: 1_000 }))
  assert.equal(failed(outcome)[0], 'TIMEOUT')
  assert.deepEqual([Number.isInteger(outcome.timing.connectMs), outcome.timing.tlsMs], [true, null])
  await ended()
})

test('a port where nobody listens is a failed connection', async (t) => {
  const { port, stop } = await receiver(t, () => {})
  await stop()
  const outcome = await opened(t, plainToOurselves).send(request(`http://127.0.0.1:${port}/`))
  assert.deepEqual(failed(outcome), ['CONNECTION_FAILED', 'The connection was refused.'])
})

test('in development any certificate will do on loopback; elsewhere only one that can be verified', async (t) => {
  const { identity, ca } = await certificate(t, new Date())
  const port = await secure(t, identity)
  const url = `https://localhost:${port}/`
  const byName: Lookup = () => Promise.resolve([{ address: '127.0.0.1', family: 4 }])
  const lenient = answered(await opened(t, development, byName).send(request(url, { environment: 'test' })))
  assert.equal(lenient.body, 'localhost')
  assert.ok(Number.isInteger(lenient.timing.tlsMs))
  const strict = await opened(t, toOurselves, byName).send(request(url))
  assert.deepEqual(failed(strict), [
    'TLS_FAILED',
    'The certificate is not from a public authority, or its chain is not complete.',
  ])
  const trusting = opened(t, { ...toOurselves, extraCa: ca }, byName)
  assert.equal(answered(await trusting.send(request(url))).body, 'localhost')
  assert.equal(answered(await trusting.send(request(`https://127.0.0.1:${port}/`))).body, 'no name')
  assert.throws(() => new Outbound({ policy: { ...production, extraCa: 'no certificate' } }))
})

test('in development a certificate that cannot be verified is refused beyond loopback', async (t) => {
  const { identity } = await certificate(t, new Date())
  const port = await secure(t, identity)
  const policy = { ...development, allowCidrs: ['127.0.0.0/8'] }
  // One address of another kind makes it strict.
  const outbound = opened(t, policy, async () => [
    { address: '127.0.0.1', family: 4 },
    { address: '10.255.255.254', family: 4 },
  ])
  const outcome = await outbound.send(request(`https://localhost:${port}/`, { environment: 'test' }))
  assert.equal(failed(outcome)[0], 'TLS_FAILED')
})

test('a certificate for another name, or one that has expired, is refused', async (t) => {
  const good = await certificate(t, new Date())
  const old = await certificate(t, new Date('2020-01-01T00:00:00Z'))
  const byName: Lookup = () => Promise.resolve([{ address: '127.0.0.1', family: 4 }])
  const elsewhere = opened(t, { ...toOurselves, extraCa: good.ca }, byName)
  const wrong = await elsewhere.send(request(`https://other.example.com:${await secure(t, good.identity)}/`))
  assert.deepEqual(failed(wrong), ['TLS_FAILED', 'The certificate is not for this host name.'])
  const expired = opened(t, { ...toOurselves, extraCa: old.ca }, byName)
  const outcome = await expired.send(request(`https://localhost:${await secure(t, old.identity)}/`))
  assert.deepEqual(failed(outcome), ['TLS_FAILED', 'The certificate has expired.'])
})

test('TLS before 1.2 and no TLS at all are refused, in development too', async (t) => {
  const { identity } = await certificate(t, new Date())
  const old = { minVersion: 'TLSv1.1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' } as const
  const outbound = opened(t, development)
  const to = (port: number) => outbound.send(request(`https://127.0.0.1:${port}/`, { environment: 'test' }))
  assert.deepEqual(failed(await to(await secure(t, { ...identity, ...old }))), [
    'TLS_FAILED',
    'The server does not speak TLS 1.2 or later.',
  ])
  const { port } = await web(t, () => {})
  assert.deepEqual(failed(await to(port)), ['TLS_FAILED', 'The server does not speak TLS on this port.'])
})

test('through a proxy the checked address is asked for, and the receiver’s own certificate counts', async (t) => {
  const { identity, ca } = await certificate(t, new Date())
  const proxy = await startProxy(t, 'clerk', 'p:w/d')
  const outbound = opened(t, { ...toOurselves, extraCa: ca, proxy: proxy.url }, async () => [
    { address: '127.0.0.1', family: 4 },
  ])
  const port = await secure(t, identity)
  const outcome = answered(await outbound.send(request(`https://localhost:${port}/`)))
  assert.deepEqual([outcome.status, outcome.body, outcome.ip], [200, 'localhost', '127.0.0.1'])
  assert.deepEqual(proxy.asked, [`127.0.0.1:${port}`], 'an address, which cannot change its mind')
  const blocked = await outbound.send(request('https://10.0.0.1/'))
  assert.equal(failed(blocked)[0], 'ADDRESS_BLOCKED')
  assert.equal(proxy.asked.length, 1, 'and never for one that may not be called')
})

test('plain http goes through the proxy too', async (t) => {
  const proxy = await startProxy(t, 'clerk', 'p:w/d')
  const { port } = await web(t, (_, response) => response.end('plain'))
  const outbound = opened(t, { ...plainToOurselves, proxy: proxy.url })
  const outcome = answered(await outbound.send(request(`http://127.0.0.1:${port}/`)))
  assert.deepEqual([outcome.status, outcome.body], [200, 'plain'])
})

test('a proxy that refuses, is not there or is none is a failed connection', async (t) => {
  const { port } = await web(t, () => {})
  const { url } = await startProxy(t, 'clerk', 'p:w/d')
  const rude = createTcpServer((socket) => socket.end())
  await listening(t, rude)
  const noProxy = createTcpServer((socket) => socket.end('a'.repeat(5_000)))
  await listening(t, noProxy)
  const ways: [proxy: string, reason: string][] = [
    [url.replace('clerk', 'stranger'), 'The proxy does not connect to the host.'],
    ['http://127.0.0.1:1', 'The proxy cannot be reached.'],
    [`http://127.0.0.1:${portOf(noProxy)}`, 'The proxy did not answer as one.'],
    [`http://127.0.0.1:${portOf(rude)}`, 'The proxy closed the connection.'],
  ]
  for (const [proxy, reason] of ways) {
    const outbound = opened(t, { ...plainToOurselves, proxy })
    const outcome = await outbound.send(request(`http://127.0.0.1:${port}/`))
    assert.deepEqual(failed(outcome), ['CONNECTION_FAILED', reason])
  }
})

/** Proxy with authentication that records its targets. */
async function startProxy(t: TestContext, name: string, password: string): Promise<{ url: string; asked: string[] }> {
  const asked: string[] = []
  const server = createHttpServer()
  const credentials = `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`
  server.on('connect', (incoming: IncomingMessage, socket: Socket) => {
    if (incoming.headers['proxy-authorization'] !== credentials)
      return void socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n')
    asked.push(incoming.url ?? '')
    const [host = '', port = ''] = (incoming.url ?? '').split(':')
    const onward = connect({ host, port: Number(port) }, () => socket.write('HTTP/1.1 200 Connected\r\n\r\n'))
    onward.on('error', () => socket.destroy())
    onward.pipe(socket).pipe(onward)
  })
  await listening(t, server)
  return { url: `http://${name}:${encodeURIComponent(password)}@127.0.0.1:${portOf(server)}`, asked }
}

async function secure(t: TestContext, options: { key: string; cert: string }): Promise<number> {
  const server = createHttpsServer(options, (incoming, response) => {
    const name = 'servername' in incoming.socket ? incoming.socket.servername : ''
    response.end(typeof name === 'string' && name !== '' ? name : 'no name')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return portOf(server)
}

async function certificate(
  t: TestContext,
  now: Date,
): Promise<{ identity: { key: string; cert: string }; ca: string }> {
  const dir = await mkdtemp(join(tmpdir(), 'pamoja-outbound-'))
  t.after(() => rm(dir, { recursive: true }))
  const { key, cert } = await serverIdentity({ dir, now })
  return { identity: { key, cert }, ca: await readFile(join(dir, 'ca.pem'), 'utf8') }
}
