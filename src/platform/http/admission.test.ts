// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addressPolicy } from './admission.ts'

test('strangers share a limit by IPv4 address, and by the /64 of an IPv6 address however it is written', () => {
  const same: [string, string][] = [
    ['2001:db8::1', '2001:db8::2'],
    ['2001:db8::1', '2001:0db8:0:0:ffff::9'],
    ['2001:db8:0:1::1', '2001:db8:0:1:a:b:c:d'],
    ['::1', '::2'],
  ]
  for (const [one, other] of same) assert.equal(addressPolicy(one).key, addressPolicy(other).key, `${one} ${other}`)
  const different: [string, string][] = [
    ['203.0.113.1', '203.0.113.2'],
    ['2001:db8:0:1::1', '2001:db8:0:2::1'],
    ['2001:db8::1', '203.0.113.1'],
  ]
  for (const [one, other] of different)
    assert.notEqual(addressPolicy(one).key, addressPolicy(other).key, `${one} ${other}`)
})
