// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { createSocket } from 'node:dgram'
import { Resolver } from 'node:dns/promises'
import { after, before, test } from 'node:test'
import { DnsClient } from './client.ts'
import { encodeQuery, parseResponse } from './response.ts'
import { DnsServer, type Zone } from './server.ts'
import { type DnsRecord, parseQuestion } from './wire.ts'

const records: DnsRecord[] = [
  { name: 'a.test', type: 'A', value: '192.0.2.1' },
  { name: 'a.test', type: 'AAAA', value: '2001:db8::1' },
  { name: 'a.test', type: 'MX', value: '10 mx.a.test' },
  { name: 'a.test', type: 'TXT', value: 'v=spf1 -all' },
  { name: 'long.test', type: 'TXT', value: 'x'.repeat(2000) },
  { name: '_25._tcp.mx.a.test', type: 'TLSA', value: `3 1 1 ${'8d'.repeat(32)}` },
  ...Array.from(
    { length: 40 },
    (_, i): DnsRecord => ({ name: 'many.test', type: 'TLSA', value: `3 1 1 ${String(10 + i).repeat(32)}` }),
  ),
  { name: '_sip._udp.a.test', type: 'SRV', value: '1 2 5060 sip.a.test' },
]
const zone: Zone = async ({ name, type }) => {
  if (name === 'broken.test') throw new Error('no database')
  const answers = records.filter((one) => one.name === name && one.type === type)
  return { code: answers.length > 0 ? 'ok' : 'nonexistent', answers, isAuthenticated: name !== 'a.test' }
}
let server: DnsServer
const resolver = new Resolver({ timeout: 1000, tries: 2 })
before(async () => {
  server = await DnsServer.start(zone, { host: '127.0.0.1', port: 0 })
  resolver.setServers([`127.0.0.1:${server.port}`])
})
after(() => server.stop())

test('records of every type are read by an independent resolver', async () => {
  assert.deepEqual(await resolver.resolve4('A.test'), ['192.0.2.1'])
  assert.deepEqual(await resolver.resolve6('a.test'), ['2001:db8::1'])
  assert.deepEqual(await resolver.resolveMx('a.test'), [{ exchange: 'mx.a.test', priority: 10 }])
  assert.deepEqual(await resolver.resolveTxt('a.test'), [['v=spf1 -all']])
  assert.deepEqual(await resolver.resolveSrv('_sip._udp.a.test'), [
    { name: 'sip.a.test', port: 5060, priority: 1, weight: 2 },
  ])
})

test('an answer too long for UDP is given over TCP', async () => {
  assert.equal((await resolver.resolveTxt('long.test'))[0]?.join(''), 'x'.repeat(2000))
})

test('a missing name and a zone that fails are told apart', async () => {
  await assert.rejects(resolver.resolve4('b.test'), { code: 'ENOTFOUND' })
  await assert.rejects(resolver.resolve4('broken.test'), { code: 'ESERVFAIL' })
})

test('what is no query gets no answer and does no harm', async () => {
  const socket = createSocket('udp4')
  for (const length of [0, 1, 12, 17, 100]) socket.send(Buffer.alloc(length, 0xff), server.port, '127.0.0.1')
  assert.deepEqual(await resolver.resolve4('a.test'), ['192.0.2.1'])
  socket.close()
  for (let i = 0; i < 2000; i++)
    parseQuestion(Buffer.from(Array.from({ length: 40 }, () => Math.floor(Math.random() * 256))))
})

test('our own client reads what other resolvers read, and whether it was vouched for', async () => {
  const client = new DnsClient({ host: '127.0.0.1', port: server.port })
  const valuesOf = async (name: string, type: 'A' | 'AAAA' | 'MX' | 'TLSA') => {
    const response = await client.ask(name, type)
    return [response?.code, response?.isAuthenticated, response?.records.map(({ value }) => value)]
  }
  assert.deepEqual(await valuesOf('A.test', 'A'), [0, false, ['192.0.2.1']])
  assert.deepEqual(await valuesOf('a.test', 'AAAA'), [0, false, ['2001:db8:0:0:0:0:0:1']])
  assert.deepEqual(await valuesOf('a.test', 'MX'), [0, false, ['10 mx.a.test']])
  assert.deepEqual(await valuesOf('_25._tcp.mx.a.test', 'TLSA'), [0, true, [`3 1 1 ${'8d'.repeat(32)}`]])
  assert.deepEqual(await valuesOf('none.test', 'TLSA'), [3, true, []])
  assert.deepEqual(await valuesOf('broken.test', 'A'), [2, false, []])
  assert.equal((await client.ask('many.test', 'TLSA'))?.records.length, 40)
})

test('a resolver that is away, and answers to other questions, are no answer', async () => {
  const liar = createSocket('udp4')
  liar.on('message', (query, { port, address }) => {
    const wrongId = Buffer.from(query)
    wrongId.writeUInt16BE((query.readUInt16BE(0) + 1) & 0xffff, 0)
    wrongId.writeUInt16BE(0x8180, 2)
    const other = encodeQuery(query.readUInt16BE(0), 'other.test', 'A')
    other.writeUInt16BE(0x8180, 2)
    for (const bytes of [wrongId, other, query, Buffer.alloc(3)]) liar.send(bytes, port, address)
  })
  await new Promise<void>((resolve) => liar.bind(0, '127.0.0.1', resolve))
  const { port } = liar.address()
  assert.equal(await new DnsClient({ host: '127.0.0.1', port }, { tryMs: 200 }).ask('a.test', 'A'), null)
  await new Promise<void>((resolve) => liar.close(() => resolve()))
  assert.equal(await new DnsClient({ host: '127.0.0.1', port }, { tryMs: 200 }).ask('a.test', 'A'), null)
})

test('a resolver to which there is no way is one that does not answer', async () => {
  // The system refuses to send to everybody unless a socket asks for it.
  assert.equal(await new DnsClient({ host: '255.255.255.255', port: 53 }, { tryMs: 200 }).ask('a.test', 'A'), null)
})

/** A response of MX and alias with compressed names (RFC 1035 §4.1.4), byte for byte. */
const compressed = Buffer.from(
  `123481800001000200000000 0161047465737400000f0001 c00c0005000100000e1000040162c00e
   c024000f000100000e1000070005026d78c00e`.replace(/\s/g, ''),
  'hex',
)

test('compressed names are read, and those that run in a circle are not', () => {
  assert.deepEqual(
    parseResponse(compressed)?.records.map(({ name, type, value }) => [name, type, value]),
    [
      ['a.test', 'CNAME', 'b.test'],
      ['b.test', 'MX', '5 mx.test'],
    ],
  )
  const circle = Buffer.from(compressed)
  circle.writeUInt16BE(0xc000 | 24, 24)
  assert.equal(parseResponse(circle), null)
  for (let length = 0; length < compressed.length; length++)
    assert.equal(parseResponse(compressed.subarray(0, length)), null, `${length} bytes`)
  for (let i = 0; i < 5000; i++) {
    const spoiled = Buffer.from(compressed)
    for (let k = 0; k < 3; k++) spoiled[Math.floor(Math.random() * spoiled.length)] = Math.floor(Math.random() * 256)
    parseResponse(spoiled)
  }
})
