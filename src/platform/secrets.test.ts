// SPDX-License-Identifier: Apache-2.0
// Encryption at rest: nothing decrypts outside its place, keys rotate, and a stolen database without the root key is
// worthless.
import assert from 'node:assert/strict'
import { createDecipheriv, randomBytes, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import fs from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { after, test } from 'node:test'
import { createTestDatabase } from '../../test/database.ts'
import { bucketOf } from '../kernel/ids.ts'
import { loadRootKeys, type RootKeys } from './secrets/root-keys.ts'
import { type Owner, Secrets, signingKeyPlace } from './secrets.ts'

const database = await createTestDatabase(['platform'])
const db = database.connect()
const temporary = await fs.mkdtemp(path.join(os.tmpdir(), 'pamoja-secrets-'))

after(async () => {
  await database.drop()
  await fs.rm(temporary, { recursive: true, force: true })
})

test('what was sealed opens again, whatever its length, on this node and on another', async () => {
  const roots = await rootKeys(newKey())
  const [here, there] = [node(roots), node(roots)]
  const owner = newOwner()
  for (const plaintext of [Buffer.alloc(0), Buffer.from([0]), Buffer.from('siri ya nyumba'), randomBytes(100_000)]) {
    const sealed = await here.seal(owner, 'a.b:1', plaintext)
    assert.deepEqual(await here.open(owner, 'a.b:1', sealed), plaintext)
    assert.deepEqual(await there.open(owner, 'a.b:1', sealed), plaintext)
  }
  assert.equal((await there.open(owner, 'a.b:2', await here.seal(owner, 'a.b:2', 'Habari ☀'))).toString(), 'Habari ☀')
})

test('the same value sealed twice looks different, and neither it nor its key is in the database', async () => {
  const secrets = node(await rootKeys(newKey()))
  const owner = newOwner()
  const first = await secrets.seal(owner, 'a.b:1', 'the same secret')
  const second = await secrets.seal(owner, 'a.b:1', 'the same secret')
  assert.equal(first.equals(second), false)
  assert.equal(first.includes('the same secret'), false)
  const [row] = await keysOf(owner)
  // Version, root key id, iv and tag stand before the wrapped key.
  assert.equal(row?.wrapped.length, 1 + 8 + 12 + 16 + 32)
})

test('anyone with the master key and the written format can read a backup, and each account has a key of its own', async () => {
  const rootKey = randomBytes(32)
  const roots = await rootKeys(rootKey.toString('hex'))
  const dataKeys: string[] = []
  for (const owner of [newOwner(), newOwner()]) {
    const sealed = await node(roots).seal(owner, 'a.b:1', 'Habari')
    const [row] = await keysOf(owner)
    assert.ok(row)
    assert.equal(row.wrapped.toString('hex', 0, 9), `02${roots.active.id}`)
    assert.equal(row.root_key, roots.active.id)
    const dataKey = openedByHand(rootKey, 9, owner.account, 'platform.data_keys.wrapped:1', row.wrapped)
    assert.equal(dataKey.length, 32)
    dataKeys.push(dataKey.toString('hex'))
    assert.equal(sealed.toString('hex', 0, 3), '010001')
    assert.equal(openedByHand(dataKey, 3, owner.account, 'a.b:1', sealed).toString(), 'Habari')
  }
  assert.notEqual(dataKeys[0], dataKeys[1])
})

test('a sealed value that was changed or moved does not open, and the error gives nothing away', async () => {
  const secrets = node(await rootKeys(newKey()))
  const [owner, stranger] = [newOwner(), newOwner()]
  const place = 'ussd.sessions.data:17'
  const plaintext = 'pin 4711'
  const sealed = await secrets.seal(owner, place, plaintext)
  await secrets.seal(stranger, place, 'so that the stranger has a key')

  const rows: [what: string, owner: Owner, place: string, sealed: Buffer][] = [
    ['another row', owner, 'ussd.sessions.data:18', sealed],
    ['another column', owner, 'ussd.sessions.dat:a17', sealed],
    ['no place', owner, '', sealed],
    ['another account', stranger, place, sealed],
    ['an account without a key', newOwner(), place, sealed],
    ['another version', owner, place, flipped(sealed, 0)],
    ['a key number the account does not have', owner, place, flipped(sealed, 1)],
    ['another key number', owner, place, flipped(sealed, 2)],
    ['another iv', owner, place, flipped(sealed, 3)],
    ['another tag', owner, place, flipped(sealed, 15)],
    ['the first byte of the data', owner, place, flipped(sealed, 31)],
    ['the last byte of the data', owner, place, flipped(sealed, sealed.length - 1)],
    ['one byte less', owner, place, sealed.subarray(0, -1)],
    ['one byte more', owner, place, Buffer.concat([sealed, Buffer.from([0])])],
    ['only the header', owner, place, sealed.subarray(0, 3)],
    ['a shortened tag', owner, place, sealed.subarray(0, 30)],
    ['nothing', owner, place, Buffer.alloc(0)],
    [
      'something that was never sealed',
      owner,
      place,
      Buffer.from('plain text that is long enough to be a sealed value'),
    ],
  ]
  for (const [what, claimed, at, value] of rows) {
    const error = await refusal(secrets.open(claimed, at, value))
    assert.doesNotMatch(error.message, /4711|pin/, what)
    assert.match(error.message, /sealed value/, what)
  }
  assert.equal((await secrets.open(owner, place, sealed)).toString(), plaintext)
})

test('every single bit of a sealed value counts', async () => {
  const secrets = node(await rootKeys(newKey()))
  const owner = newOwner()
  const values = [
    { sealed: await secrets.seal(owner, 'a.b:1', 'x'), open: (value: Buffer) => secrets.open(owner, 'a.b:1', value) },
    {
      sealed: secrets.sealForInstallation('a.b:1', 'x'),
      open: async (value: Buffer) => secrets.openForInstallation('a.b:1', value),
    },
  ]
  for (const { sealed, open } of values) {
    assert.equal((await open(sealed)).toString(), 'x')
    for (let bit = 0; bit < sealed.length * 8; bit++) {
      const changed = Buffer.from(sealed)
      changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7))
      await assert.rejects(open(changed), Error, `bit ${bit}`)
    }
  }
})

test('a value of the installation opens only in its place, and never as a value of an account', async () => {
  const secrets = node(await rootKeys(newKey()))
  const owner = newOwner()
  const sealed = secrets.sealForInstallation('a.b:1', 'ours')
  assert.equal(secrets.openForInstallation('a.b:1', sealed).toString(), 'ours')
  assert.throws(() => secrets.openForInstallation('a.b:2', sealed), /could not be opened/)
  assert.throws(() => secrets.openForInstallation('a.b:1', Buffer.alloc(0)), /not a sealed value/)
  await assert.rejects(secrets.open(owner, 'a.b:1', sealed), /not a sealed value/)
  const theirs = await secrets.seal(owner, 'a.b:1', 'theirs')
  assert.throws(() => secrets.openForInstallation('a.b:1', theirs), /not a sealed value/)
})

test("a data key that was copied into another account's row is worthless there", async () => {
  const roots = await rootKeys(newKey())
  const [owner, thief] = [newOwner(), newOwner()]
  const sealed = await node(roots).seal(owner, 'a.b:1', 'mine')
  await database.sql(
    `insert into platform.data_keys (bucket, account_id, id, root_key, wrapped)
     select $1, $2, id, root_key, wrapped from platform.data_keys where account_id = $3`,
    [thief.bucket, thief.account, owner.account],
  )
  await assert.rejects(node(roots).open(thief, 'a.b:1', sealed), /could not be opened/)
})

test('when many nodes seal the first secret of an account at once, there is one key and all secrets open', async () => {
  const roots = await rootKeys(newKey())
  const owner = newOwner()
  const nodes = Array.from({ length: 8 }, () => node(roots))
  const sealed = await Promise.all(nodes.map((secrets, index) => secrets.seal(owner, `a.b:${index}`, String(index))))
  assert.equal((await keysOf(owner)).length, 1)
  const reader = node(roots)
  for (const [index, value] of sealed.entries())
    assert.equal((await reader.open(owner, `a.b:${index}`, value)).toString(), String(index))
})

test('after a new data key, old secrets still open and new ones use it, also on a node that was not told', async () => {
  const roots = await rootKeys(newKey())
  const [here, there] = [node(roots), node(roots)]
  const owner = newOwner()
  const old = await here.seal(owner, 'a.b:1', 'old')
  assert.equal((await there.open(owner, 'a.b:1', old)).toString(), 'old')
  await here.rotateDataKey(owner)
  const fresh = await here.seal(owner, 'a.b:2', 'fresh')
  assert.deepEqual([old.readUInt16BE(1), fresh.readUInt16BE(1)], [1, 2])
  for (const secrets of [here, there, node(roots)]) {
    assert.equal((await secrets.open(owner, 'a.b:1', old)).toString(), 'old')
    assert.equal((await secrets.open(owner, 'a.b:2', fresh)).toString(), 'fresh')
  }
  // Having seen the new key, the other node seals with it too.
  assert.equal((await there.seal(owner, 'a.b:3', 'x')).readUInt16BE(1), 2)
})

test('two nodes that rotate the same data key at once leave an account whose secrets all open', async () => {
  const roots = await rootKeys(newKey())
  const owner = newOwner()
  const nodes = [node(roots), node(roots), node(roots)]
  await Promise.all(nodes.map((secrets) => secrets.rotateDataKey(owner)))
  const sealed = await Promise.all(nodes.map((secrets) => secrets.seal(owner, 'a.b:1', 'x')))
  for (const value of sealed) assert.equal((await node(roots).open(owner, 'a.b:1', value)).toString(), 'x')
})

test('deleting the data keys of an account destroys its secrets', async () => {
  const roots = await rootKeys(newKey())
  const owner = newOwner()
  const sealed = await node(roots).seal(owner, 'a.b:1', 'gone')
  await database.sql('delete from platform.data_keys where account_id = $1', [owner.account])
  await assert.rejects(node(roots).open(owner, 'a.b:1', sealed), /has no key/)
})

test('a new master key takes over everything, and then the old one can be thrown away', async () => {
  // Re-wrapping covers the whole database, so this test has its own.
  const own = await createTestDatabase(['platform'])
  try {
    const [oldKey, freshKey] = [newKey(), newKey()]
    const before = new Secrets(own.connect(), await rootKeys(oldKey))
    const owners = Array.from({ length: 20 }, newOwner)
    const sealed = await Promise.all(owners.map((owner) => before.seal(owner, 'a.b:1', owner.account)))
    const first = owners[0]
    assert.ok(first)
    await before.rotateDataKey(first)
    const signingKey = before.sealForInstallation(signingKeyPlace('k1'), 'private half')
    await own.sql(`insert into platform.signing_keys (id, public_key, sealed) values ('k1', '{}', $1)`, [signingKey])

    await before.start()
    const fingerprint = before.fingerprint('a.b', 'value')

    const both = await rootKeys(`${freshKey},${oldKey}`)
    assert.deepEqual(await new Secrets(own.connect(), both).rewrap(), { dataKeys: 21, signingKeys: 1 })
    assert.deepEqual(await new Secrets(own.connect(), both).rewrap(), { dataKeys: 0, signingKeys: 0 })
    const roots = await own.sql<{ root_key: string }>('select distinct root_key from platform.data_keys')
    assert.deepEqual(roots, [{ root_key: both.active.id }])

    const afterwards = new Secrets(own.connect(), await rootKeys(freshKey))
    for (const [index, owner] of owners.entries())
      assert.equal((await afterwards.open(owner, 'a.b:1', sealed[index] ?? Buffer.alloc(0))).toString(), owner.account)
    const [row] = await own.sql<{ sealed: Buffer }>('select sealed from platform.signing_keys')
    assert.ok(row)
    assert.equal(afterwards.openForInstallation(signingKeyPlace('k1'), row.sealed).toString(), 'private half')
    await afterwards.start()
    assert.deepEqual(afterwards.fingerprint('a.b', 'value'), fingerprint)
    assert.notDeepEqual(afterwards.fingerprint('a.c', 'value'), fingerprint)
    const outdated = new Secrets(own.connect(), await rootKeys(oldKey))
    await assert.rejects(
      outdated.open(first, 'a.b:1', sealed[0] ?? Buffer.alloc(0)),
      /root key [0-9a-f]{16}, which is not/,
    )
    await assert.rejects(outdated.rewrap(), /root key [0-9a-f]{16}, which is not/)
  } finally {
    await own.drop()
  }
})

test('the master key may be written as base64, base64url or hex, and several may be given', async () => {
  const bytes = randomBytes(32)
  const writings = ['base64', 'base64url', 'hex'] as const
  const ids = await Promise.all(
    writings.map(async (encoding) => (await rootKeys(` ${bytes.toString(encoding)}\n`)).active.id),
  )
  assert.equal(new Set(ids).size, 1)
  const several = await rootKeys(`${newKey()}, ${bytes.toString('hex').toUpperCase()} ,${newKey()}`)
  assert.equal(several.others[0]?.id, ids[0])
  assert.equal(several.others.length, 2)
})

test('a master key that is not one is refused with a sentence that does not repeat it', async () => {
  const rows: [value: string, position: number][] = [
    ['', 1],
    ['secretsecret', 1],
    [randomBytes(31).toString('base64'), 1],
    [randomBytes(33).toString('base64'), 1],
    [randomBytes(31).toString('hex'), 1],
    [`${newKey()},`, 2],
    [`${newKey()},secretsecret`, 2],
  ]
  for (const [value, position] of rows) {
    const error = await refusal(rootKeys(value))
    assert.equal(error.message, `PAMOJA_SECRET_KEY: key ${position} is not 32 bytes written as base64 or hex.`, value)
  }
})

test('without a master key one is made once, readable by its owner only, and used by every later start', async () => {
  const file = path.join(temporary, 'made', 'master.key')
  const options = { value: null, file, allowCreate: true }
  const starts = await Promise.all(Array.from({ length: 5 }, () => loadRootKeys(options)))
  const later = await loadRootKeys({ ...options, allowCreate: false })
  assert.deepEqual(new Set([...starts, later].map(({ active }) => active.id)).size, 1)
  assert.equal((await fs.stat(file)).mode & 0o777, 0o600)
  assert.deepEqual(await fs.readdir(path.dirname(file)), ['master.key'])
})

test('a master key that others can read is taken with a warning', async () => {
  const file = path.join(temporary, 'open.key')
  await fs.writeFile(file, newKey(), { mode: 0o600 })
  await fs.chmod(file, 0o644)
  const warned = once(process, 'warning')
  await loadRootKeys({ value: null, file, allowCreate: false })
  const [{ message }] = await warned
  assert.match(message, /open\.key holds the key of every secret and can be read by others: run "chmod 600 /)
})

test('production refuses to start without a master key, and makes none', async () => {
  const file = path.join(temporary, 'missing.key')
  const error = await refusal(loadRootKeys({ value: null, file, allowCreate: false }))
  assert.match(error.message, /^PAMOJA_SECRET_KEY is not set and there is no .*missing\.key: make a key/)
  await assert.rejects(fs.stat(file), { code: 'ENOENT' })
})

test('a damaged master key file is refused and never replaced', async () => {
  const file = path.join(temporary, 'damaged.key')
  await fs.writeFile(file, 'half a k')
  const error = await refusal(loadRootKeys({ value: null, file, allowCreate: true }))
  assert.equal(error.message, `${file}: key 1 is not 32 bytes written as base64 or hex.`)
  assert.equal(await fs.readFile(file, 'utf8'), 'half a k')
})

function node(roots: RootKeys): Secrets {
  return new Secrets(db, roots)
}

function rootKeys(value: string): Promise<RootKeys> {
  return loadRootKeys({ value, file: '/nowhere', allowCreate: false })
}

function newKey(): string {
  return randomBytes(32).toString('base64')
}

function newOwner(): Owner {
  const account = randomUUID()
  return { bucket: bucketOf(account), account }
}

/** The format written independently: header, iv, tag, data; bound to header, account and place. */
function openedByHand(key: Buffer, headerBytes: number, account: string, place: string, sealed: Buffer): Buffer {
  const at = (from: number, length?: number) => sealed.subarray(from, length === undefined ? undefined : from + length)
  const decipher = createDecipheriv('aes-256-gcm', key, at(headerBytes, 12))
  const lengthOf = (text: string) => Buffer.from([0, 0, 0, text.length])
  const bound = [account, place].flatMap((text) => [lengthOf(text), Buffer.from(text)])
  decipher.setAAD(Buffer.concat([at(0, headerBytes), ...bound]))
  decipher.setAuthTag(at(headerBytes + 12, 16))
  return Buffer.concat([decipher.update(at(headerBytes + 28)), decipher.final()])
}

function keysOf({ account }: Owner): Promise<{ root_key: string; wrapped: Buffer }[]> {
  return database.sql('select root_key, wrapped from platform.data_keys where account_id = $1', [account])
}

function flipped(value: Buffer, at: number): Buffer {
  const copy = Buffer.from(value)
  copy[at] = (copy[at] ?? 0) ^ 1
  return copy
}

async function refusal(promise: Promise<unknown>): Promise<Error> {
  const error = await promise.then(
    () => null,
    (problem: unknown) => problem,
  )
  assert.ok(error instanceof Error, 'it was not refused')
  return error
}
