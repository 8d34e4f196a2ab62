// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { createHash, generateKeyPairSync, sign } from 'node:crypto'
import { test } from 'node:test'
import { type Expected, isLater, isSignedBy, passkeyKey, readCeremony } from './webauthn.ts'

const expected: Expected = {
  ...{ type: 'webauthn.get', challenge: 'Y2hhbGxlbmdl' },
  ...{ origin: 'https://console.example.com', rpId: 'console.example.com' },
}
const sha256 = (text: string | Buffer): Buffer => createHash('sha256').update(text).digest()

const clientData = (change: object = {}): Buffer =>
  Buffer.from(
    JSON.stringify({ type: expected.type, challenge: expected.challenge, origin: expected.origin, ...change }),
  )

function authenticatorData({ rpId = expected.rpId, flags = 0x05, counter = 7, more = Buffer.alloc(0) } = {}): Buffer {
  const head = Buffer.alloc(5)
  head.writeUInt8(flags, 0)
  head.writeUInt32BE(counter, 1)
  return Buffer.concat([sha256(rpId), head, more])
}

test('a ceremony counts only for its own challenge, origin, site and person', () => {
  assert.deepEqual(readCeremony(clientData(), authenticatorData(), expected), { counter: 7, credential: null })
  const table: readonly [clientData: Buffer, data: Buffer, problem: RegExp][] = [
    [Buffer.from('{'), authenticatorData(), /not JSON/],
    [clientData({ type: 'webauthn.create' }), authenticatorData(), /another ceremony/],
    [clientData({ challenge: 'b3RoZXI' }), authenticatorData(), /challenge/],
    [clientData({ origin: 'https://console.example.com.evil.test' }), authenticatorData(), /another origin/],
    [clientData({ crossOrigin: true }), authenticatorData(), /another origin/],
    [clientData(), authenticatorData({ rpId: 'example.com' }), /another site/],
    [clientData(), authenticatorData({ flags: 0x04 }), /nobody was recognised/],
    [clientData(), authenticatorData({ flags: 0x01 }), /nobody was recognised/],
    [clientData(), authenticatorData().subarray(0, 36), /cut short/],
  ]
  for (const [client, data, problem] of table) assert.match(String(readCeremony(client, data, expected)), problem)
})

test('a new passkey names its credential, whole', () => {
  const creating = { ...expected, type: 'webauthn.create' } as const
  const more = Buffer.concat([Buffer.alloc(16), Buffer.from([0, 4]), Buffer.from('abcd'), Buffer.from('the key')])
  const client = clientData({ type: 'webauthn.create' })
  const said = readCeremony(client, authenticatorData({ flags: 0x45, more }), creating)
  assert.deepEqual(Object(said).credential, Buffer.from('abcd'))
  for (const cut of [0, 17, 20])
    assert.equal(
      readCeremony(client, authenticatorData({ flags: 0x45, more: more.subarray(0, cut) }), creating),
      'there is no credential in it',
    )
})

test('signatures of every kind of key that is taken are checked, and of no other', () => {
  const signed = Buffer.concat([authenticatorData(), sha256(clientData())])
  const pairs = [
    [generateKeyPairSync('ec', { namedCurve: 'P-256' }), 'sha256'],
    [generateKeyPairSync('ed25519'), null],
    [generateKeyPairSync('rsa', { modulusLength: 2_048 }), 'sha256'],
  ] as const
  for (const [{ publicKey, privateKey }, digest] of pairs) {
    const spki = publicKey.export({ format: 'der', type: 'spki' })
    const signature = sign(digest, signed, privateKey)
    assert.ok(isSignedBy(spki, clientData(), authenticatorData(), signature))
    assert.ok(!isSignedBy(spki, clientData(), authenticatorData({ counter: 8 }), signature))
    assert.ok(!isSignedBy(spki, clientData({ origin: 'https://other.test' }), authenticatorData(), signature))
    assert.ok(!isSignedBy(spki, clientData(), authenticatorData(), Buffer.from('no signature')))
  }
  const weak = generateKeyPairSync('rsa', { modulusLength: 1_024 }).publicKey.export({ format: 'der', type: 'spki' })
  const other = generateKeyPairSync('ec', { namedCurve: 'P-384' }).publicKey.export({ format: 'der', type: 'spki' })
  for (const key of [weak, other, Buffer.from('no key')]) assert.equal(passkeyKey(key), null)
})

test('a counter goes on; one that was never counted stays 0', () => {
  for (const [counter, before, isRight] of [
    [1, 0, true],
    [8, 7, true],
    [0, 0, true],
    [7, 7, false],
    [0, 7, false],
  ] as const)
    assert.equal(isLater(counter, before), isRight)
})
