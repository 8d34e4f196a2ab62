// SPDX-License-Identifier: Apache-2.0
// The world that requests go out to, on this machine: names and what they lead to, receivers, and a door that may reach them.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer as createHttpServer, type RequestListener } from 'node:http'
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net'
import type { TestContext } from 'node:test'
import type { Lookup } from '../src/platform/outbound/connections.ts'
import type { OutboundPolicy } from '../src/platform/outbound/customer-urls.ts'
import type { OutboundRequest, Outcome } from '../src/platform/outbound/exchange.ts'
import { Outbound } from '../src/platform/outbound.ts'

export const production: OutboundPolicy = {
  production: true,
  allowPrivate: true,
  allowHttp: false,
  allowCidrs: [],
  denyCidrs: [],
  extraCa: null,
  proxy: null,
}
export const development: OutboundPolicy = { ...production, production: false }
/** Production, except that this machine counts as the internet. */
export const toOurselves: OutboundPolicy = { ...production, allowCidrs: ['127.0.0.0/8'] }
export const plainToOurselves: OutboundPolicy = { ...toOurselves, allowHttp: true }

/** Addresses of names; any other name does not resolve. */
const zone: Readonly<Record<string, readonly string[]>> = {
  'hooks.example.com': ['93.184.216.34', '2606:2800:220:1:248:1893:25c8:1946'],
  'four.example.com': ['93.184.216.34'],
  'six.example.com': ['2606:2800:220:1:248:1893:25c8:1946'],
  'a_b.example.com': ['93.184.216.34'],
  'xn--mller-kva.example': ['93.184.216.34'],
  'xn--r8jz45g.xn--zckzah': ['93.184.216.34'],
  'local.example.com': ['93.184.216.34'],
  'localhost.example.com': ['93.184.216.34'],
  localhost: ['127.0.0.1', '::1'],
  'app.localhost': ['127.0.0.1'],
  'loop.example.com': ['127.0.0.1'],
  'loop6.example.com': ['::1'],
  'ten.example.com': ['10.0.0.5'],
  'rfc1918.example.com': ['192.168.1.1'],
  'seventeen.example.com': ['172.20.0.1'],
  'ula.example.com': ['fd12:3456::1'],
  'meta.example.com': ['169.254.169.254'],
  'meta6.example.com': ['fd00:ec2::254'],
  'azure.example.com': ['168.63.129.16'],
  'zero.example.com': ['0.0.0.0'],
  'zero6.example.com': ['::'],
  'cgnat.example.com': ['100.64.0.1'],
  'multicast.example.com': ['224.0.0.1'],
  'broadcast.example.com': ['255.255.255.255'],
  'mapped.example.com': ['::ffff:127.0.0.1'],
  'mappedmeta.example.com': ['::ffff:169.254.169.254'],
  'compatible.example.com': ['::127.0.0.1'],
  'nat64.example.com': ['64:ff9b::a00:1'],
  'sixtofour.example.com': ['2002:7f00:1::'],
  'teredo.example.com': ['2001:0:4136:e378:8000:63bf:3fff:fdd2'],
  'linklocal.example.com': ['fe80::1'],
  'zoned.example.com': ['fe80::1%eth0'],
  'sitelocal.example.com': ['fec0::1'],
  'docs.example.com': ['2001:db8::1'],
  'mixed.example.com': ['93.184.216.34', '10.0.0.5'],
  'mixedlast.example.com': [
    '93.184.216.34',
    '8.8.8.8',
    '1.1.1.1',
    '9.9.9.9',
    '4.4.4.4',
    '5.5.5.5',
    '6.6.6.6',
    '127.0.0.1',
  ],
  'mixed6.example.com': ['93.184.216.34', '::1'],
  'mixedclass.example.com': ['127.0.0.1', '169.254.169.254'],
  'nonsense.example.com': ['not-an-address'],
}

export const zoneLookup: Lookup = (hostname) => {
  const found = zone[hostname]
  if (!found) return Promise.reject(Object.assign(new Error('not found'), { code: 'ENOTFOUND' }))
  return Promise.resolve(found.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })))
}

export function request(url: string, changes: Partial<OutboundRequest> = {}): OutboundRequest {
  return {
    pool: 'wh_1',
    url,
    use: 'webhook',
    environment: 'live',
    method: 'POST',
    headers: {},
    body: '{}',
    connections: 5,
    ...changes,
  }
}

export function answered(outcome: Outcome): Outcome & { kind: 'answered' } {
  assert.ok(outcome.kind === 'answered', JSON.stringify(outcome))
  return outcome
}

export function failed(outcome: Outcome): [error: string, reason: string] {
  assert.ok(outcome.kind === 'failed', JSON.stringify(outcome))
  return [outcome.error, outcome.reason]
}

export function opened(
  t: TestContext,
  policy: OutboundPolicy,
  lookup: Lookup = zoneLookup,
  limits: ConstructorParameters<typeof Outbound>[0]['limits'] = {},
): Outbound {
  const outbound = new Outbound({ policy, lookup, limits })
  t.after(() => outbound.close())
  return outbound
}

interface Receiver {
  port: number
  connections(): number
  /** Resolves when every connection so far has ended. */
  ended(): Promise<void>
  stop(): Promise<void>
}

export async function receiver(t: TestContext, onConnection: (socket: Socket) => void): Promise<Receiver> {
  return listening(t, createTcpServer(onConnection))
}

export async function web(t: TestContext, listener: RequestListener): Promise<Receiver> {
  return listening(t, createHttpServer(listener))
}

export async function listening(t: TestContext, server: Server): Promise<Receiver> {
  const open = new Set<Socket>()
  let count = 0
  server.on('connection', (socket: Socket) => {
    count += 1
    open.add(socket)
    socket.on('error', () => {})
    socket.on('data', () => {})
    socket.on('close', () => open.delete(socket))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const stop = async (): Promise<void> => {
    for (const socket of open) socket.destroy()
    if (!server.listening) return
    server.close()
    await once(server, 'close')
  }
  t.after(stop)
  return {
    port: portOf(server),
    connections: () => count,
    ended: async () => {
      for (const socket of open) await new Promise((resolve) => socket.once('close', resolve))
    },
    stop,
  }
}

export function portOf(server: Server): number {
  const address: AddressInfo | string | null = server.address()
  assert.ok(address !== null && typeof address === 'object')
  return address.port
}
