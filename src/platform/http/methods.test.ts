// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { areas } from '../../areas.ts'
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

test('a path gives its parameters, decoded, and a fixed segment goes before one', () => {
  assert.deepEqual(methods.find('GET', '/v1/sms/a%2Fb/parts?x=/')?.params, { id: 'a/b' })
  assert.deepEqual(methods.find('DELETE', '/v1/emails/all/cancel/')?.params, { area: 'emails' })
  assert.deepEqual(methods.find('GET', '/v1/sms/send')?.params, {})
})

test('a segment that no id could be is none', () => {
  assert.equal(methods.find('GET', `/v1/sms/${'a'.repeat(300)}`)?.params.id?.length, 300)
  assert.equal(methods.find('GET', `/v1/sms/${'a'.repeat(301)}`), null)
})

test('a parameter has one name at a place, or one of two operations would not be found', () => {
  const two = new Methods()
  two.add('/v1/sms/:id', 'GET')
  assert.throws(() => two.add('/v1/sms/:message_id', 'DELETE'), /name their parameters alike/)
})

test('no operation with an entry of its own in the router takes the path of another', () => {
  const all = areas.flatMap(({ routes }) => routes).map((route) => ({ route, segments: route.path.split('/') }))
  const apart = all.filter(
    ({ route: { kind, bodyLimitBytes } }) => kind === 'upload' || kind === 'multipart' || bodyLimitBytes,
  )
  const takes = (pattern: readonly string[], segments: readonly string[]): boolean =>
    pattern.length === segments.length && pattern.every((one, at) => one.startsWith(':') || one === segments[at])
  for (const { route, segments } of apart)
    for (const other of all)
      if (other.route.path !== route.path && other.route.method === route.method)
        assert.ok(!takes(segments, other.segments), `${route.path} takes ${other.route.path}`)
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
