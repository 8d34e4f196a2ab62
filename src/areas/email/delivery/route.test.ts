// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mayReach } from './route.ts'

for (const address of [
  '127.0.0.1',
  '10.1.2.3',
  '192.168.0.9',
  '169.254.169.254',
  '::1',
  'fd00::1',
  '::ffff:10.0.0.1',
  'x',
])
  test(`live mail is not carried to ${address}, whatever an MX record says`, () => {
    assert.equal(mayReach('live', address), false)
  })

test('live mail is carried to public addresses, and that of the sandbox to the sandbox', () => {
  assert.deepEqual(
    [mayReach('live', '198.41.0.4'), mayReach('live', '2001:500:2::c'), mayReach('test', '127.0.0.1')],
    [true, true, true],
  )
})
