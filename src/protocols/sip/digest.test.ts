// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { authorise, challengeWith, digestOf, proves, readChallenge } from './digest.ts'

const mufasa = { username: 'Mufasa', password: 'Circle of Life' }

test('the example of RFC 7616 section 3.9.1 comes out as printed', () => {
  const shared = {
    realm: 'http-auth@example.org',
    nonce: '7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v',
    qop: 'auth' as const,
  }
  const of = (algorithm: 'MD5' | 'SHA-256') =>
    digestOf(
      { ...shared, algorithm },
      mufasa,
      'GET',
      '/dir/index.html',
      'f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ',
      '00000001',
    )
  assert.equal(of('MD5'), '8ca523f5e9506fed4657c9700eebdbec')
  assert.equal(of('SHA-256'), '753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1')
})

test('a challenge is met by the right password only, and the stronger of two is taken', () => {
  const challenge = readChallenge([
    challengeWith('pamoja', 'abc'),
    'Digest realm="pamoja", nonce="def", algorithm=SHA-256, qop="auth,auth-int"',
  ])
  assert.deepEqual([challenge?.algorithm, challenge?.nonce], ['SHA-256', 'def'])
  const first = readChallenge([challengeWith('pamoja', 'abc')])
  assert.ok(first)
  const value = authorise(first, mufasa, 'REGISTER', 'sip:example.com')
  assert.ok(proves(value, 'REGISTER', 'abc', () => mufasa.password))
  assert.ok(!proves(value, 'REGISTER', 'abc', () => 'another'))
  assert.ok(!proves(value, 'REGISTER', 'older', () => mufasa.password))
  assert.ok(!proves('Digest username="Mufasa"', 'REGISTER', 'abc', () => mufasa.password))
  assert.equal(readChallenge(['Basic realm="x"', 'Digest realm="x", nonce="y", algorithm=MD5-sess']), null)
})
