// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type AddressClass, classOfAddress, isInRange, parseAddress, parseAddressRange } from './addresses.ts'

/** First and last of each range, and their neighbours where these are public. */
const classes: Readonly<Record<AddressClass, readonly string[]>> = {
  public: [
    ...['1.0.0.0', '8.8.8.8', '9.255.255.255', '11.0.0.0', '100.63.255.255', '100.128.0.0', '126.255.255.255'],
    ...['128.0.0.0', '168.63.129.15', '168.63.129.17', '169.253.255.255', '169.255.0.0', '172.15.255.255'],
    ...['172.32.0.0', '191.255.255.255', '192.0.1.0', '192.0.3.0', '192.88.98.255', '192.88.100.0'],
    ...['192.167.255.255', '192.169.0.0', '198.17.255.255', '198.20.0.0', '198.51.99.255', '198.51.101.0'],
    ...['203.0.112.255', '203.0.114.0', '223.255.255.255', '::ffff:8.8.8.8', '::ffff:808:808'],
    ...['2000::', '2001:200::', '2001:4860:4860::8888', '2606:4700:4700::1111', '2001:db7:ffff::', '2001:db9::'],
    ...['2003::', '3ffe:ffff::', '3fff:1000::', '2a00:1450:4009:81f::200e'],
  ],
  private: [
    ...['10.0.0.0', '10.255.255.255', '172.16.0.0', '172.31.255.255', '192.168.0.0', '192.168.255.255'],
    ...['fc00::', 'fd00::1', 'fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', '::ffff:10.1.2.3'],
  ],
  loopback: [
    '127.0.0.0',
    '127.0.0.1',
    '127.255.255.255',
    '::1',
    '0:0:0:0:0:0:0:1',
    '::ffff:127.0.0.1',
    '::ffff:7f00:1',
  ],
  forbidden: [
    ...['0.0.0.0', '0.255.255.255', '100.64.0.0', '100.100.100.200', '100.127.255.255', '168.63.129.16'],
    ...['169.254.0.0', '169.254.169.254', '169.254.255.255', '192.0.0.0', '192.0.0.192', '192.0.0.255'],
    ...['192.0.2.0', '192.0.2.255', '192.88.99.0', '192.88.99.255', '198.18.0.0', '198.19.255.255'],
    ...['198.51.100.0', '198.51.100.255', '203.0.113.0', '203.0.113.255', '224.0.0.0', '239.255.255.255'],
    ...[
      '240.0.0.0',
      '255.255.255.255',
      '::',
      '::2',
      '::127.0.0.1',
      '::8.8.8.8',
      '::ffff:0:0',
      '::ffff:169.254.169.254',
    ],
    ...['::ffff:0:127.0.0.1', '64:ff9b::', '64:ff9b::7f00:1', '64:ff9b::8.8.8.8', '64:ff9b:1::', '64:ff9b:1:ffff::'],
    ...['100::', '100::ffff:ffff:ffff:ffff', '1fff:ffff::', '2001::', '2001:0:4136:e378:8000:63bf:3fff:fdd2'],
    ...['2001:2::', '2001:10::', '2001:1ff:ffff::', '2001:db8::', '2001:db8:ffff::', '2002::', '2002:7f00:1::1'],
    ...['2002:ffff::', '3fff::', '3fff:fff::', '4000::', '5f00::', 'fd00:ec2::254', 'fd20:ce::254'],
    ...['fe80::', 'fe80::1', 'febf::', 'fec0::', 'feff::', 'ff00::', 'ff02::1', 'ffff::'],
  ],
}

const notAddresses = [
  ...['', 'localhost', '1.2.3', '1.2.3.4.5', '256.1.1.1', '01.2.3.4', '0x7f.0.0.1', '127.1', '2130706433', '1.2.3.4 '],
  ...['[::1]', '::1%lo', 'fe80::1%eth0', ':::', '1::2::3', '12345::', '1:2:3:4:5:6:7', '1:2:3:4:5:6:7:8:9', '::1.2.3'],
]

test('each address is of the class that the registries give it', () => {
  for (const expected of ['public', 'private', 'loopback', 'forbidden'] as const)
    for (const text of classes[expected]) {
      const address = parseAddress(text)
      assert.ok(address, text)
      assert.equal(classOfAddress(address), expected, text)
    }
})

test('what is not an address is nothing', () => {
  for (const text of notAddresses) assert.equal(parseAddress(text), null, text)
})

test('the ways to write one address are one address', () => {
  const same: readonly (readonly string[])[] = [
    ['192.0.2.1', '::ffff:192.0.2.1', '::ffff:c000:201', '0:0:0:0:0:FFFF:192.0.2.1', '0::ffff:c000:0201'],
    ['2001:db8::1', '2001:DB8:0:0:0:0:0:1', '2001:0db8::0.0.0.1', '2001:db8:0::0:1'],
    ['1:2:3:4:5:6:7:8', '1:2:3:4:5:6:0.7.0.8'],
    ['1:2:3:4:5:6:7:0', '1:2:3:4:5:6:7::'],
  ]
  for (const [first = '', ...others] of same)
    for (const other of others) assert.deepEqual(parseAddress(other), parseAddress(first), other)
})

const rangeCases: [range: string, inside: readonly string[], outside: readonly string[]][] = [
  ['10.0.0.0/8', ['10.0.0.0', '10.255.255.255', '::ffff:10.1.1.1'], ['11.0.0.0', '9.255.255.255', 'a00::']],
  ['10.1.2.3/8', ['10.9.9.9'], ['11.0.0.0']],
  ['192.0.2.7', ['192.0.2.7'], ['192.0.2.6', '192.0.2.8']],
  ['0.0.0.0/0', ['1.2.3.4', '::ffff:1.2.3.4'], ['::1']],
  ['::/0', ['::1', 'fe80::'], ['1.2.3.4']],
  ['2001:db8::/33', ['2001:db8:7fff::'], ['2001:db8:8000::']],
  ['::1', ['::1'], ['::2']],
  ['::ffff:10.0.0.0/104', ['10.255.0.1'], ['11.0.0.0']],
]

test('a range holds its own addresses and no others', () => {
  for (const [text, inside, outside] of rangeCases) {
    const range = parseAddressRange(text)
    assert.ok(range, text)
    for (const [list, expected] of [[inside, true] as const, [outside, false] as const])
      for (const member of list) {
        const address = parseAddress(member)
        assert.ok(address, member)
        assert.equal(isInRange(address, range), expected, `${member} in ${text}`)
      }
  }
})

test('what is not a range is refused', () => {
  const bad = [
    '',
    '/8',
    '10.0.0.0/',
    '10.0.0.0/33',
    '::/129',
    '10.0.0.0/8/8',
    '10.0.0.0/-1',
    'x/8',
    '::ffff:1.2.3.4/95',
  ]
  for (const text of bad) assert.equal(parseAddressRange(text), null, text)
})
