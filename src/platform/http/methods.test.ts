// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Methods } from './methods.ts'

const methods = new Methods()
for (const [method, path] of [
  ['POST', '/v1/sms/send'],
  ['GET', '/v1/sms/:id'],
  ['PATCH', '/v1/sms/:id'],
  ['GET', '/v1/sms/:id/parts'],
  ['POST', '/v1/sms/:id/cancel'],
  ['DELETE', '/v1/:area/all/cancel'],
  ['GET', '/v1/events'],
  ['DELETE', '/v1/sandbox/events'],
] as const)
  methods.add(path, method)

const rows: readonly [string, string | null][] = [
  ['/v1/events', 'GET, HEAD'],
  ['/v1/events/', 'GET, HEAD'],
  ['/v1/events?limit=2', 'GET, HEAD'],
  ['/v1/%65vents', 'GET, HEAD'],
  ['/v1/sms/send', 'POST'],
  ['/v1/sms/sms_1', 'GET, PATCH, HEAD'],
  ['/v1/sms/%', 'GET, PATCH, HEAD'],
  ['/v1/sms/all/cancel', 'POST'],
  ['/v1/emails/all/cancel', 'DELETE'],
  ['/v1/sms', null],
  ['/v1/sms//parts', null],
  ['/v1/sms/1/2/3', null],
  ['/', null],
  ['', null],
]
for (const [url, allow] of rows)
  test(`${url || 'nothing'} takes ${allow ?? 'nothing'}`, () => assert.equal(methods.allowedAt(url), allow))

test('only what would be taken for another path has to be kept apart', () => {
  assert.deepEqual(
    [...methods.mistakable()].map(({ pattern, method, allow }) => `${method} ${pattern}: ${allow}`),
    ['GET /v1/sms/send: POST', 'PATCH /v1/sms/send: POST', 'HEAD /v1/sms/send: POST'],
  )
})

const nearest: readonly [string, string, string | null][] = [
  ['POST', '/v1/sms/sned', 'POST /v1/sms/send'],
  ['POST', '/sms/send', 'POST /v1/sms/send'],
  ['POST', '/api/sms/send?to=1', 'POST /v1/sms/send'],
  ['POST', '/api/v2/SMS/Send', 'POST /v1/sms/send'],
  ['GET', '/sandbox/sms/send', 'POST /v1/sms/send'],
  ['POST', '/v1/sms', 'POST /v1/sms/send'],
  ['POST', '/v1/sms/sms_1/cancle', 'POST /v1/sms/:id/cancel'],
  ['GET', '/v1/event', 'GET /v1/events'],
  ['HEAD', '/v1/event', 'GET /v1/events'],
  ['DELETE', '/v1/events', null],
  ['GET', '/v1/sms/send', null],
  ['GET', '/wp-login.php', null],
  ['GET', '/v1/', null],
  ['GET', `/v1/${'events/'.repeat(1000)}`, null],
  ['GET', `/v1/${'event'.repeat(10_000)}`, null],
]
for (const [method, url, meant] of nearest)
  test(`${method} ${url.slice(0, 40)} probably means ${meant ?? 'nothing here'}`, () => {
    const found = methods.nearestTo(method, url)
    assert.equal(found && `${found.method} ${found.pattern}`, meant)
  })
