// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AppError } from '../../../kernel/errors.ts'
import { httpKind } from './http.ts'
import type { Profile } from './http-profile.ts'
import { answerOf, messagesOf, receiptsOf } from './http-reading.ts'
import { requestOf, valuesOf } from './http-request.ts'

const message = {
  id: 'm1',
  account: 'a1',
  priority: 'transactional',
  weight: 1,
  to: '+254711000001',
  from: 'A&B',
  text: 'Habari "Ada"\n& 50% {{to}} é😀',
  encoding: 'ucs2',
  reference: 7,
  validitySeconds: 600,
  permit: null,
} as const
const values = valuesOf(message, {
  parts: 2,
  password: 'key"1',
  receipts_url: 'https://here/r?token=a',
  inbound_url: 'https://here/i?token=a',
})

const base: Profile = {
  request: { method: 'POST', url: 'https://sms.example/v1/send', format: 'json', fields: { to: '{{to}}' } },
}

function withRequest(request: Partial<Profile['request']>, more: Partial<Profile> = {}): Profile {
  return { ...base, ...more, request: { ...base.request, ...request } }
}

test('what a customer writes reaches the aggregator as it is, whatever the format', () => {
  const fields = { to: '{{to_digits}}', 'a b': 'x {{text}}', from: '{{from}}' }
  const read = [
    JSON.parse(requestOf(withRequest({ fields }), values).body ?? ''),
    Object.fromEntries(new URLSearchParams(requestOf(withRequest({ format: 'form', fields }), values).body ?? '')),
    Object.fromEntries(
      new URLSearchParams(requestOf(withRequest({ method: 'GET', format: 'query', fields }), values).query),
    ),
  ]
  for (const got of read) assert.deepEqual(got, { to: '254711000001', 'a b': `x ${message.text}`, from: 'A&B' })
})

test('JSON fields have any depth, and a lone number stays a number', () => {
  const fields = {
    messages: [
      { destinations: [{ to: '{{to}}' }], text: '{{text}}', parts: '{{parts}}', note: 'in {{parts}}', on: true },
    ],
  }
  assert.deepEqual(JSON.parse(requestOf(withRequest({ fields }), values).body ?? ''), {
    messages: [{ destinations: [{ to: message.to }], text: message.text, parts: 2, note: 'in 2', on: true }],
  })
})

test('the password goes where the profile says', () => {
  const headersOf = (auth: NonNullable<Profile['auth']>) => requestOf({ ...base, auth }, values).headers
  assert.equal(headersOf({ kind: 'none' }).authorization, undefined)
  assert.equal(headersOf({ kind: 'bearer' }).authorization, 'Bearer key"1')
  assert.equal(
    headersOf({ kind: 'basic', username: 'ada' }).authorization,
    `Basic ${Buffer.from('ada:key"1').toString('base64')}`,
  )
  assert.equal(headersOf({ kind: 'header', header: 'X-Api-Key' })['x-api-key'], 'key"1')
  const { headers, body } = requestOf(
    withRequest({ headers: { 'X-Trace': '{{id}}' }, format: 'form', fields: { key: '{{password}}' } }),
    values,
  )
  assert.deepEqual([headers['x-trace'], body], ['m1', 'key=key%221'])
})

test('an answer is judged by its own code, then by what success is, then by its status', () => {
  const profile: Profile = {
    ...base,
    success: { status: [200, 202], id: '/messages/*/id' },
    errors: {
      code: '/error/code',
      codes: { E1: { as: 'reject', error: 'INVALID_NUMBER' }, E2: { as: 'reroute' }, E3: { as: 'retry' } },
      statuses: { '409': { as: 'reroute' }, '500': { as: 'retry' } },
    },
  }
  const sent = (...carrierIds: string[]) => ({ kind: 'sent', carrierIds })
  const rejected = (code: string, carrierCode: string) => ({ kind: 'rejected', code, carrierCode })
  const reroute = (carrierCode: string) => ({ kind: 'reroute', code: 'CARRIER_ERROR', carrierCode })
  const throttled = (afterMs: number | null = null) => ({ kind: 'throttled', afterMs })
  const unknown = (reason: string) => ({ kind: 'unknown', reason })
  const table: [number, string, object, Record<string, string>?][] = [
    [200, '{"messages":[{"id":"a"}]}', sent('a')],
    [202, '{"messages":[{"id":"a"},{"id":17}]}', sent('a', '17')],
    [200, '{"messages":[]}', unknown('an answer 200 without an id')],
    [200, '{"messages":[{"id":""}]}', unknown('an answer 200 without an id')],
    [200, 'not json', unknown('an answer 200 without an id')],
    [204, '', unknown('an answer 204')],
    [200, '{"error":{"code":"E1"}}', rejected('INVALID_NUMBER', 'E1')],
    [400, '{"error":{"code":"E2"}}', reroute('E2')],
    [400, '{"error":{"code":"E3"}}', throttled()],
    [400, '{"error":{"code":"E9"}}', rejected('REJECTED', 'E9')],
    [400, '', rejected('REJECTED', 'HTTP 400')],
    [409, '', reroute('HTTP 409')],
    [500, '', throttled()],
    [429, '', throttled()],
    [429, '', throttled(7_000), { 'retry-after': '7' }],
    [429, '', throttled(300_000), { 'retry-after': '86400' }],
    [429, '', throttled(), { 'retry-after': 'Wed, 21 Oct 2026 07:28:00 GMT' }],
    [302, '', reroute('HTTP 302')],
    [401, '', reroute('HTTP 401')],
    [404, '', reroute('HTTP 404')],
    [503, '', reroute('HTTP 503')],
    [502, '', unknown('an answer 502')],
    [504, '', unknown('an answer 504')],
    [400, '{"error":{"code":"__proto__"}}', rejected('REJECTED', '__proto__')],
  ]
  for (const [status, body, expected, headers = {}] of table)
    assert.deepEqual(answerOf(profile, 'm1', { status, headers, body }), expected, `${status} ${body}`)
  assert.deepEqual(answerOf(base, 'm1', { status: 201, headers: {}, body: '' }), sent('m1'), 'our own id, unless told')
  const byText: Profile = { ...base, success: { id: '^OK: (\\S+)' } }
  assert.deepEqual(answerOf(byText, 'm1', { status: 200, headers: {}, body: 'OK: 77\n' }), sent('77'))
})

test('calls are read at the places of the profile, one at a time or as a list', () => {
  const statuses = { DELIVERED: 'delivered', FAILED: 'UNDELIVERABLE', QUEUED: 'ignored' } as const
  const one = { id: '/id', status: '/status', error: '/error', statuses }
  const table: [string, string, string | null, string][] = [
    ['DELIVERED', '0', 'delivered', 'DELIVERED'],
    ['FAILED', '27', 'UNDELIVERABLE', 'FAILED 27'],
    ['QUEUED', '', 'ignored', 'QUEUED'],
    ['constructor', '', null, 'constructor'],
  ]
  for (const [status, error, meaning, carrierCode] of table)
    assert.deepEqual(receiptsOf(one, { id: 'a', status, error }), [{ id: 'a', status: meaning, carrierCode }])
  const many = { each: '/results', id: '/messageId', status: '/status/name', statuses }
  const results = [
    { messageId: 1, status: { name: 'DELIVERED' } },
    { messageId: 'b', status: { name: 'FAILED' } },
  ]
  assert.deepEqual(
    receiptsOf(many, { results }).map(({ id, status }) => [id, status]),
    [
      ['1', 'delivered'],
      ['b', 'UNDELIVERABLE'],
    ],
  )
  for (const bad of [{}, { results: [] }, { results: [{}] }, { results: 'x' }, null, 'x'])
    assert.throws(() => receiptsOf(many, bad), isAppError('INVALID_REQUEST'), JSON.stringify(bad))
  assert.deepEqual(
    messagesOf({ from: '/msisdn', to: '/code', text: '/body' }, { msisdn: '254711000001', code: 22141, body: 'JOIN' }),
    [{ from: '+254711000001', to: '22141', text: 'JOIN' }],
  )
})

test('a profile that cannot work is refused when it is given', () => {
  const good = { password: 'p', profile: base }
  assert.doesNotThrow(() => httpKind.check(good))
  const table: [string, object, RegExp][] = [
    ['no request', {}, /profile.request is required/],
    ['an unknown member', { ...base, retries: 3 }, /profile/],
    ['a URL of nobody', withRequest({ url: 'ftp://x' }), /profile.request.url must be an absolute URL/],
    ['a password in the URL', withRequest({ url: 'https://a:b@sms.example/' }), /must not carry a user name/],
    ['a body with GET', withRequest({ method: 'GET' }), /request.format must be query/],
    ['an unknown variable', withRequest({ fields: { a: ['{{too}}'] } }), /has \{\{too\}\}/],
    ['depth in a form', withRequest({ format: 'form', fields: { a: {} } }), /must be a text/],
    ['a text in a header', withRequest({ headers: { 'X-Text': '{{text}}' } }), /request.headers.X-Text has/],
    ['a header of ours', withRequest({ headers: { Host: 'x' } }), /is not a header that can be set/],
    ['a header with a line break', withRequest({ headers: { a: 'x\r\ny: z' } }), /is not a header that can be set/],
    ['basic without a name', { ...base, auth: { kind: 'basic' } }, /auth.username is required/],
    ['header without a name', { ...base, auth: { kind: 'header' } }, /auth.header must be/],
    ['a broken pattern', { ...base, success: { id: '([' } }, /success.id must be/],
    ['a pattern without a group', { ...base, success: { id: 'id' } }, /success.id must be/],
    ['no HTTP status', { ...base, errors: { statuses: { '99': { as: 'reject' } } } }, /is no HTTP status/],
    [
      'an error code of nobody',
      { ...base, errors: { codes: { a: { as: 'reject', error: 'NOPE' } } } },
      /must be one of/,
    ],
  ]
  for (const [what, profile, problem] of table)
    assert.throws(
      () => httpKind.check({ password: 'p', profile }),
      (error) => isAppError('VALIDATION_ERROR')(error) && problem.test(String(Object(error).details)),
      what,
    )
})

function isAppError(code: string): (error: unknown) => boolean {
  return (error) => error instanceof AppError && error.code === code
}
