// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { createSocket } from 'node:dgram'
import { Resolver } from 'node:dns/promises'
import { after, before, test } from 'node:test'
import { DnsServer, type Zone } from './server.ts'
import { type DnsRecord, parseQuestion } from './wire.ts'

const records: DnsRecord[] = [
  { name: 'a.test', type: 'A', value: '192.0.2.1' },
  { name: 'a.test', type: 'AAAA', value: '2001:db8::1' },
  { name: 'a.test', type: 'MX', value: '10 mx.a.test' },
  { name: 'a.test', type: 'TXT', value: 'v=spf1 -all' },
  { name: 'long.test', type: 'TXT', value: 'x'.repeat(2000) },
  { name: '_sip._udp.a.test', type: 'SRV', value: '1 2 5060 sip.a.test' },
]
const zone: Zone = async ({ name, type }) => {
  if (name === 'broken.test') throw new Error('no database')
  const answers = records.filter((one) => one.name === name && one.type === type)
  return { code: answers.length > 0 ? 'ok' : 'nonexistent', answers }
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
