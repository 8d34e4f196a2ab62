// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, test } from 'node:test'
import { crc32 } from 'node:zlib'
import fc from 'fast-check'
import { runs } from '../../test/properties.ts'
import { eventually, startWorld, type World } from '../../test/world.ts'
import { AppError } from '../kernel/errors.ts'
import {
  Authenticator,
  addressList,
  type CredentialStore,
  hashOf,
  isWellFormedKey,
  type KeyFacts,
  newKey,
} from './auth.ts'
import { systemClock } from './clock.ts'

let world: World
before(async () => {
  world = await startWorld()
})
after(() => world.stop())

const environment = fc.constantFrom('test' as const, 'live' as const)
const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

test('a new key has the published form, and a checksum anyone can work out', () => {
  fc.assert(
    fc.property(environment, (where) => {
      const key = newKey(where, randomBytes)
      assert.match(key, /^pmj_(test|live)_[0-9A-Za-z]{38}$/)
      assert.ok(key.startsWith(`pmj_${where}_`))
      assert.ok(isWellFormedKey(key))
      const sum = [...key.slice(-6)].reduce((value, digit) => value * 62 + base62.indexOf(digit), 0)
      assert.equal(sum, crc32(key.slice(0, -6)))
    }),
  )
})

test('the random part takes every digit equally, whatever the bytes are', () => {
  const biased = newKey('test', (size) => Buffer.alloc(size, 255).fill(7, size - 8))
  assert.equal(biased.slice(9, 41), '7'.repeat(32), 'bytes that would favour some digits are thrown away')
})

test('a key with one changed character is refused without asking anyone', () => {
  fc.assert(
    fc.property(environment, fc.nat({ max: 37 }), fc.nat({ max: 60 }), (where, position, step) => {
      const key = newKey(where, randomBytes)
      const at = 9 + position
      const other = base62[(base62.indexOf(key[at] ?? '') + 1 + step) % 62] ?? ''
      assert.notEqual(other, key[at])
      assert.equal(isWellFormedKey(key.slice(0, at) + other + key.slice(at + 1)), false)
    }),
    { numRuns: runs(500) },
  )
})

test('a key for the other environment, cut short, or with something around it is refused', () => {
  const key = newKey('test', randomBytes)
  for (const wrong of [
    '',
    key.replace('test', 'live'),
    key.slice(0, -1),
    key.slice(1),
    `${key}x`,
    ` ${key}`,
    `${key}\n`,
    key.toUpperCase(),
    key.replace('_', '-'),
  ])
    assert.equal(isWellFormedKey(wrong), false, JSON.stringify(wrong))
})

test('two neighbours that changed places are noticed', () => {
  fc.assert(
    fc.property(fc.nat({ max: 36 }), (position) => {
      const key = newKey('test', randomBytes)
      const at = 9 + position
      fc.pre(key[at] !== key[at + 1])
      assert.equal(isWellFormedKey(`${key.slice(0, at)}${key[at + 1]}${key[at]}${key.slice(at + 2)}`), false)
    }),
  )
})

test('addresses and ranges admit whom they name', () => {
  const list = addressList(['10.0.0.0/8', '192.0.2.7', '2001:db8::/32'])
  for (const [address, family, admitted] of [
    ['10.1.2.3', 'ipv4', true],
    ['11.1.2.3', 'ipv4', false],
    ['192.0.2.7', 'ipv4', true],
    ['192.0.2.8', 'ipv4', false],
    ['2001:db8::1', 'ipv6', true],
    ['2001:db9::1', 'ipv6', false],
  ] as const)
    assert.equal(list?.check(address, family), admitted, address)
  assert.equal(addressList([]), null)
})

test('a key is looked up once, and again when its account changed', async () => {
  const { key, authenticator, asked } = withStore()
  for (let i = 0; i < 3; i++)
    assert.equal((await authenticator.authenticate(`Bearer ${key}`, '::1')).facts.plan, 'free')
  assert.equal(asked.count, 1)
  authenticator.forget(facts.account)
  await authenticator.authenticate(`Bearer ${key}`, '::1')
  assert.equal(asked.count, 2)
  authenticator.forget('another account')
  await authenticator.authenticate(`Bearer ${key}`, '::1')
  assert.equal(asked.count, 2)
})

test('whatever strangers send, a good key is not forgotten for it', async () => {
  const { key, authenticator, asked } = withStore({ nowMs: () => 0 })
  await authenticator.authenticate(`Bearer ${key}`, '::1')
  for (let i = 0; i < 51_000; i++) {
    const other = i < 6_000 ? newKey('test', randomBytes) : `pmj_test_${i}`
    await Promise.resolve(authenticator.authenticate(`Bearer ${other}`, '::1')).catch(() => undefined)
  }
  const count = asked.count
  await authenticator.authenticate(`Bearer ${key}`, '::1')
  assert.equal(asked.count, count)
})

test('a key that there is not is looked up once too', async () => {
  const { authenticator, asked } = withStore({ nowMs: () => 0 })
  const key = newKey('test', randomBytes)
  for (let i = 0; i < 3; i++)
    await assert.rejects(async () => authenticator.authenticate(`Bearer ${key}`, '::1'), /no such key/)
  assert.equal(asked.count, 1)
  authenticator.forget('any account')
  await assert.rejects(async () => authenticator.authenticate(`Bearer ${key}`, '::1'), /no such key/)
  assert.equal(asked.count, 2, 'it may have been made meanwhile')
})

test('what was looked up while its account changed is not remembered', async () => {
  const { key, authenticator, asked, answers } = withStore()
  let answer: (found: KeyFacts) => void = () => undefined
  answers.push(
    new Promise((resolve) => {
      answer = resolve
    }),
  )
  const first = authenticator.authenticate(`Bearer ${key}`, '::1')
  // The key is revoked during the lookup.
  authenticator.forget(facts.account)
  answer(facts)
  await first
  answers.push(Promise.resolve({ ...facts, revokedAt: new Date(0) }))
  await assert.rejects(async () => authenticator.authenticate(`Bearer ${key}`, '::1'), /revoked on 1970/)
  assert.equal(asked.count, 2)
})

test('when the line between the nodes was cut nothing is remembered', async () => {
  const { key, authenticator, asked } = withStore()
  await authenticator.authenticate(`Bearer ${key}`, '::1')
  await world.app.db.query(
    {
      name: 'test.cut',
      text: `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and query ilike 'listen%'`,
      parameters: [],
      where: 'home',
      changes: false,
      joinsHome: false,
    },
    {},
  )
  await eventually(async () => {
    await authenticator.authenticate(`Bearer ${key}`, '::1')
    return asked.count > 1
  }, 'the key to be looked up again')
  await eventually(async () => world.app.signals.connected, 'the line to be back')
})

test('the scheme is read in any case, with any number of spaces', async () => {
  const { key, authenticator } = withStore()
  for (const header of [`bearer ${key}`, `BEARER ${key}`, `Bearer    ${key}`])
    await authenticator.authenticate(header, '::1')
})

test('a header that is no credential is refused in the same words, with the reason beside them', async () => {
  const { authenticator, key } = withStore()
  for (const [header, details] of [
    [undefined, /header is missing/],
    ['', /form Bearer <key>/],
    ['Bearer', /form Bearer <key>/],
    ['Bearer ', /form Bearer <key>/],
    [`Basic ${key}`, /form Bearer <key>/],
    [`Bearer ${key} ${key}`, /form Bearer <key>/],
    [`Bearer ${'x'.repeat(5_000)}`, /form Bearer <key>/],
    ['Bearer pmj_test_x', /malformed/],
    [`Bearer ${newKey('test', randomBytes)}`, /there is no such key/],
  ] as const)
    await assert.rejects(
      async () => authenticator.authenticate(header, '::1'),
      (error) => {
        assert.ok(error instanceof AppError)
        assert.equal(error.code, 'UNAUTHORIZED')
        assert.match(error.details, details)
        return true
      },
    )
})

test('a key that is bound to addresses is refused from elsewhere', async () => {
  const { authenticator, key, answers } = withStore()
  answers.push(Promise.resolve({ ...facts, allowedIps: ['192.0.2.0/24'] }))
  await authenticator.authenticate(`Bearer ${key}`, '192.0.2.9')
  await assert.rejects(
    async () => authenticator.authenticate(`Bearer ${key}`, '198.51.100.1'),
    /FORBIDDEN.*198\.51\.100\.1/,
  )
})

test('a key that expired is refused from that moment on', async () => {
  const { authenticator, key, answers } = withStore()
  answers.push(Promise.resolve({ ...facts, expiresAt: new Date(0) }))
  await assert.rejects(async () => authenticator.authenticate(`Bearer ${key}`, '::1'), /expired on 1970/)
})

const facts: KeyFacts = {
  keyUuid: '01900000-0000-7000-8000-000000000001',
  account: '01900000-0000-7000-8000-000000000002',
  bucket: 2,
  environment: 'test',
  scopes: ['*'],
  member: null,
  isHeld: false,
  masksPeople: false,
  expiresAt: null,
  revokedAt: null,
  allowedIps: [],
  rateLimitPerSecond: null,
  strict: false,
  callbackEvents: 'all',
  envelope: 'both',
  plan: 'free',
  planLimits: {},
  allowances: {},
  currency: 'KES',
  country: 'KE',
  operator: false,
  suspended: false,
  clockOffsetMs: 0,
}

/** Authenticator over a store with one key, which returns the prepared answers first. */
function withStore(clock = systemClock): {
  key: string
  authenticator: Authenticator
  asked: { count: number }
  answers: Promise<KeyFacts | null>[]
} {
  const key = newKey('test', randomBytes)
  const hash = hashOf(key)
  const asked = { count: 0 }
  const answers: Promise<KeyFacts | null>[] = []
  const store: CredentialStore = {
    findSession: async () => null,
    factsOfAccount: async () => null,
    doorKey: async () => null,
    findByHash: (wanted) => {
      asked.count++
      return answers.shift() ?? Promise.resolve(wanted.equals(hash) ? facts : null)
    },
    findById: async () => facts,
    used: async () => undefined,
    exposed: async () => undefined,
  }
  return {
    key,
    authenticator: new Authenticator(store, world.app.signals, clock, world.app.tokens),
    asked,
    answers,
  }
}
