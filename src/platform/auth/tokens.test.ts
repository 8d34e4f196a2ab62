// SPDX-License-Identifier: Apache-2.0
// Access tokens from the view of a customer and an attacker. The clock is the test's own; nodes share one database.
import assert from 'node:assert/strict'
import {
  createHmac,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  randomBytes,
  randomUUID,
} from 'node:crypto'
import { after, beforeEach, test } from 'node:test'
import { createLocalJWKSet, decodeJwt, decodeProtectedHeader, type JWK, jwtVerify, SignJWT } from 'jose'
import { createTestDatabase } from '../../../test/database.ts'
import { idOf } from '../../kernel/ids.ts'
import { Database } from '../db.ts'
import { loadRootKeys } from '../secrets/root-keys.ts'
import { Secrets } from '../secrets.ts'
import { type TokenClaims, type TokenRequest, Tokens } from './tokens.ts'

const issuer = 'https://api.example.test'
const startMs = Date.UTC(2026, 0, 1)
const minuteMs = 60_000
const dayMs = 86_400_000

const database = await createTestDatabase(['platform'])
const db = database.connect()
const roots = await loadRootKeys({ value: randomBytes(32).toString('hex'), file: '/nowhere', allowCreate: false })
const clock = {
  ms: startMs,
  nowMs: () => clock.ms,
}

beforeEach(async () => {
  clock.ms = startMs
  await database.sql('delete from platform.signing_keys')
})

after(() => database.drop())

test('a token says for whom, by which key, with which scopes and until when', async () => {
  const tokens = await startNode()
  const request = newRequest({ scopes: ['sms:write', 'events:read'], subject: 'agent_7', expiresInSeconds: 900 })
  const token = await tokens.issue(request)

  const claims = await tokens.verify(token)
  assert.deepEqual(claims, {
    keyUuid: request.keyUuid,
    account: request.account,
    environment: 'test',
    scopes: ['sms:write', 'events:read'],
    subject: 'agent_7',
    expiresAtMs: startMs + 930_000,
  } satisfies TokenClaims)

  const { jti, ...payload } = decodeJwt(token)
  assert.match(String(jti), /^[0-9a-f-]{36}$/)
  assert.deepEqual(payload, {
    iss: issuer,
    aud: 'pamoja',
    sub: request.accountId,
    env: 'test',
    scope: 'sms:write events:read',
    key_id: idOf('apiKey', request.keyUuid),
    iat: startMs / 1000,
    exp: startMs / 1000 + 900,
    act: 'agent_7',
  })
  assert.deepEqual(decodeProtectedHeader(token), { alg: 'EdDSA', typ: 'JWT', kid: tokens.jwks().keys[0]?.kid })
})

test('a token without a subject or scopes has none, and two tokens are never the same', async () => {
  const tokens = await startNode()
  const request = newRequest({ environment: 'live' })
  const [first, second] = [await tokens.issue(request), await tokens.issue(request)]
  assert.notEqual(first, second)
  const claims = await accepted(tokens, first)
  assert.deepEqual([claims.subject, claims.scopes, claims.environment], [null, [], 'live'])
  assert.equal('act' in decodeJwt(first), false)
})

test('anyone can check a token with the published keys, which hold no private half', async () => {
  const tokens = await startNode()
  const { keys } = tokens.jwks()
  assert.deepEqual(
    keys.map((key) => Object.keys(key).sort()),
    [['alg', 'crv', 'kid', 'kty', 'use', 'x']],
  )
  const options = { issuer, audience: 'pamoja', currentDate: new Date(startMs) }
  await jwtVerify(await tokens.issue(newRequest()), createLocalJWKSet({ keys }), options)
})

test('a token works until it expires and thirty seconds longer, for clocks that differ', async () => {
  const tokens = await startNode()
  const token = await tokens.issue(newRequest({ expiresInSeconds: 60 }))
  const rows: [afterMs: number, valid: boolean][] = [
    [0, true],
    [59_999, true],
    [60_000, true],
    [89_999, true],
    [90_000, false],
    [dayMs, false],
  ]
  for (const [afterMs, valid] of rows) {
    clock.ms = startMs + afterMs
    const claims = await tokens.verify(token)
    if (valid) assert.equal(typeof claims, 'object', `after ${afterMs} ms`)
    else assert.equal(claims, 'the token expired on 2026-01-01T00:01:00.000Z', `after ${afterMs} ms`)
    if (typeof claims === 'object') assert.ok(claims.expiresAtMs > clock.ms)
  }
})

test('a forged, changed or foreign token is refused with the reason', async () => {
  const tokens = await startNode()
  const token = await tokens.issue(newRequest({ scopes: ['sms:read'] }))
  const payload = decodeJwt(token)
  const [header = '', body = '', signature = ''] = token.split('.')
  const publicKey = tokens.jwks().keys[0]
  const kid = publicKey?.kid
  assert.ok(kid)
  const pem = createPublicKey({ key: { ...publicKey }, format: 'jwk' }).export({ type: 'spki', format: 'pem' })
  const ours = { alg: 'EdDSA', typ: 'JWT', kid }
  const stranger = generateKeyPairSync('ed25519').privateKey
  const strangerToken = (protectedHeader: { alg: string; kid?: string }) =>
    new SignJWT(payload).setProtectedHeader(protectedHeader).sign(stranger)

  const notOurs = 'the token is signed with a key that this installation does not have'
  const wrongAlgorithm = 'the token is not signed with EdDSA'
  const wrongSignature = 'the signature of the token does not match its content'
  const malformed = 'the token is malformed: check that it was copied whole'
  const rows: [what: string, token: string, reason: string][] = [
    ['more scopes', `${header}.${encoded({ ...payload, scope: '*' })}.${signature}`, wrongSignature],
    ['another header', `${encoded({ ...ours, extra: 1 })}.${body}.${signature}`, wrongSignature],
    ['another signature', `${header}.${body}.${Buffer.alloc(64).toString('base64url')}`, wrongSignature],
    ['no signature', `${header}.${body}.`, wrongSignature],
    ['alg none', `${encoded({ ...ours, alg: 'none' })}.${body}.`, wrongAlgorithm],
    ['alg NONE', `${encoded({ ...ours, alg: 'NONE' })}.${body}.${signature}`, wrongAlgorithm],
    ['HS256 with the public key', hmacToken({ ...ours, alg: 'HS256' }, payload, pem), wrongAlgorithm],
    ['HS256 with the raw public key', hmacToken({ ...ours, alg: 'HS256' }, payload, rawKey(publicKey)), wrongAlgorithm],
    ["a stranger's key under our kid", await strangerToken(ours), wrongSignature],
    ["a stranger's key and kid", await strangerToken({ alg: 'EdDSA', kid: 'mine' }), notOurs],
    ['no kid', await strangerToken({ alg: 'EdDSA' }), notOurs],
    ['a key in the header', `${encoded({ ...ours, kid: 'x', jwk: publicKey })}.${body}.${signature}`, notOurs],
    ['an unknown critical header', `${encoded({ ...ours, crit: ['x'], x: 1 })}.${body}.${signature}`, malformed],
    ['two parts', `${header}.${body}`, malformed],
    ['five parts', `${token}.x.y`, malformed],
    ['no JSON in the header', `${Buffer.from('hello').toString('base64url')}.${body}.${signature}`, malformed],
    ['an ordinary password', 'letmein', malformed],
    ['nothing', '', malformed],
    ['dots', '..', malformed],
  ]
  for (const [what, forged, reason] of rows) assert.equal(await tokens.verify(forged), reason, what)
  await accepted(tokens, token)
})

test('a well-signed token for another purpose is refused with the reason', async () => {
  const tokens = await startNode()
  const [row] = await database.sql<{ id: string; sealed: Buffer }>('select id, sealed from platform.signing_keys')
  assert.ok(row)
  const der = new Secrets(db, roots).openForInstallation(`platform.signing_keys.sealed:${row.id}`, row.sealed)
  const privateKey = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
  const good = decodeJwt(await tokens.issue(newRequest()))
  const signed = (changes: object, typ = 'JWT') =>
    new SignJWT({ ...good, ...changes }).setProtectedHeader({ alg: 'EdDSA', kid: row.id, typ }).sign(privateKey)

  const malformed = 'the token is malformed: check that it was copied whole'
  const rows: [what: string, token: string, reason: string | null][] = [
    ['unchanged', await signed({}), null],
    ['another issuer', await signed({ iss: 'https://other.example' }), 'the token was issued by another installation'],
    ['no issuer', await signed({ iss: undefined }), 'the token was issued by another installation'],
    ['another audience', await signed({ aud: 'shop' }), 'the claim aud of the token is missing or wrong'],
    ['another type', await signed({}, 'logout+jwt'), 'the claim typ of the token is missing or wrong'],
    ['no expiry', await signed({ exp: undefined }), 'the claim exp of the token is missing or wrong'],
    ['no scope', await signed({ scope: undefined }), 'the claim scope of the token is missing or wrong'],
    ['no account id', await signed({ sub: 'acc_1' }), malformed],
    ['the id of something else', await signed({ key_id: idOf('account', randomUUID()) }), malformed],
    ['an unknown environment', await signed({ env: 'staging' }), malformed],
  ]
  for (const [what, token, reason] of rows) {
    const claims = await tokens.verify(token)
    if (reason === null) assert.equal(typeof claims, 'object', what)
    else assert.equal(claims, reason, what)
  }
})

test('a token of another installation is refused, even if its address is the same', async () => {
  const tokens = await startNode()
  const other = await createTestDatabase(['platform'])
  try {
    const otherDb = other.connect()
    const elsewhere = new Tokens({ db: otherDb, secrets: new Secrets(otherDb, roots), clock, issuer })
    await elsewhere.start()
    const reason = 'the token is signed with a key that this installation does not have'
    assert.equal(await tokens.verify(await elsewhere.issue(newRequest())), reason)
  } finally {
    await other.drop()
  }
})

test('nodes share their keys: a token of one is valid on another, before and after either restarts', async () => {
  const [here, there] = [await startNode(), await startNode()]
  assert.deepEqual(here.jwks(), there.jwks())
  const token = await here.issue(newRequest())
  await accepted(there, token)
  await accepted(await startNode(), token)
})

test('nodes that start at the same moment on an empty database accept the tokens of each other', async () => {
  const nodes = await Promise.all([startNode(), startNode(), startNode()])
  for (const issuing of nodes) {
    const token = await issuing.issue(newRequest())
    for (const checking of nodes) await accepted(checking, token)
  }
})

test('a new key is made after thirty days, is published before it signs, and another node learns it by itself', async () => {
  const [here, there] = [await startNode(), await startNode()]
  const [first] = here.jwks().keys
  clock.ms = startMs + 30 * dayMs - 1
  await here.rotate()
  assert.deepEqual(here.jwks().keys, [first])

  clock.ms = startMs + 30 * dayMs
  await here.rotate()
  await here.rotate()
  const kids = here.jwks().keys.map(({ kid }) => kid)
  assert.equal(kids.length, 2)
  assert.equal(kids[1], first?.kid)
  const old = await here.issue(newRequest())
  assert.equal(kidOf(old), first?.kid)

  clock.ms += 10 * minuteMs
  const fresh = await here.issue(newRequest())
  assert.equal(kidOf(fresh), kids[0])
  assert.deepEqual(there.jwks().keys, [first])
  await accepted(there, fresh)
  await accepted(there, old)
  assert.deepEqual(there.jwks(), here.jwks())
})

test('a node that was never told of the rotation signs with the new key all the same', async () => {
  const [here, there] = [await startNode(), await startNode()]
  clock.ms = startMs + 30 * dayMs
  await here.rotate()
  clock.ms += 10 * minuteMs
  assert.equal(kidOf(await there.issue(newRequest())), here.jwks().keys[0]?.kid)
})

test('a replaced key stays published for thirty-one days and then goes, on every node', async () => {
  const [here, there] = [await startNode(), await startNode()]
  const [first] = here.jwks().keys
  // Rotation was paused for a year: the old key is kept from when it was replaced, not from when it was made.
  const replacedMs = startMs + 365 * dayMs
  clock.ms = replacedMs
  const token = await here.issue(newRequest({ expiresInSeconds: 30 * 86_400 }))
  await here.rotate()
  assert.equal(here.jwks().keys.length, 2)
  clock.ms = replacedMs + 30 * dayMs - 1
  await here.rotate()
  await accepted(here, token)
  clock.ms = replacedMs + 31 * dayMs + 1
  await here.rotate()
  await there.rotate()
  for (const tokens of [here, there]) {
    assert.equal(
      tokens.jwks().keys.some(({ kid }) => kid === first?.kid),
      false,
    )
    assert.equal(tokens.jwks().keys.length, 2)
  }
  const rows = await database.sql<{ id: string }>('select id from platform.signing_keys order by created_at desc')
  assert.deepEqual(
    rows.map(({ id }) => id),
    here.jwks().keys.map(({ kid }) => kid),
  )
})

test('invented key ids make a node look into the database at most once in a few seconds', async () => {
  const [here, there] = [await startNode(), await startNode()]
  const reason = 'the token is signed with a key that this installation does not have'
  clock.ms = startMs + 30 * dayMs
  const invented = await new SignJWT({})
    .setProtectedHeader({ alg: 'EdDSA', kid: 'invented' })
    .sign(generateKeyPairSync('ed25519').privateKey)
  assert.equal(await there.verify(invented), reason)
  await here.rotate()
  // The node reloaded just now and does not see the new key yet; a moment later it does.
  assert.equal(await there.verify(invented), reason)
  assert.equal(there.jwks().keys.length, 1)
  clock.ms += 3_000
  assert.equal(await there.verify(invented), reason)
  assert.equal(there.jwks().keys.length, 2)
})

test('a database that is away is an outage and not a bad token', async () => {
  const gone = new Database(
    { url: database.url, poolSize: 1, statementTimeoutMs: 1_000, applicationName: 'gone' },
    () => {},
  )
  const tokens = new Tokens({ db: gone, secrets: new Secrets(gone, roots), clock, issuer })
  await tokens.start()
  const token = await tokens.issue(newRequest())
  await gone.close()
  await accepted(tokens, token)
  const unknown = await new SignJWT({})
    .setProtectedHeader({ alg: 'EdDSA', kid: 'unknown' })
    .sign(generateKeyPairSync('ed25519').privateKey)
  await assert.rejects(tokens.verify(unknown), /pool/)
})

test('a node with another master key does not start, and says which one it lacks', async () => {
  await startNode()
  const others = await loadRootKeys({ value: randomBytes(32).toString('hex'), file: '/nowhere', allowCreate: false })
  const tokens = new Tokens({ db, secrets: new Secrets(db, others), clock, issuer })
  await assert.rejects(tokens.start(), new RegExp(`root key ${roots.active.id}, which is not`))
})

test('a token cannot be asked for two accounts, for no time, or for longer than its key is kept', async () => {
  const tokens = await startNode()
  const request = newRequest()
  await assert.rejects(tokens.issue({ ...request, account: randomUUID() }), /two accounts/)
  for (const expiresInSeconds of [0, -1, Number.NaN, 30 * 86_400 + 1])
    await assert.rejects(tokens.issue({ ...request, expiresInSeconds }), /cannot live/)
})

async function startNode(): Promise<Tokens> {
  const tokens = new Tokens({ db, secrets: new Secrets(db, roots), clock, issuer })
  await tokens.start()
  return tokens
}

function newRequest(changes: Partial<TokenRequest> = {}): TokenRequest {
  const account = randomUUID()
  return {
    keyUuid: randomUUID(),
    account,
    accountId: idOf('account', account),
    environment: 'test',
    scopes: [],
    subject: null,
    expiresInSeconds: 900,
    ...changes,
  }
}

async function accepted(tokens: Tokens, token: string): Promise<TokenClaims> {
  const claims = await tokens.verify(token)
  if (typeof claims === 'string') assert.fail(claims)
  return claims
}

function kidOf(token: string): string | undefined {
  return decodeProtectedHeader(token).kid
}

function encoded(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}

function hmacToken(header: object, payload: object, secret: string | Buffer): string {
  const content = `${encoded(header)}.${encoded(payload)}`
  return `${content}.${createHmac('sha256', secret).update(content).digest('base64url')}`
}

function rawKey(key: JWK | undefined): Buffer {
  return Buffer.from(key?.x ?? '', 'base64url')
}
