// SPDX-License-Identifier: Apache-2.0
// File storage in a directory and a real object store: contents and ranges round-trip, and nothing remains or is
// readable when it must not be.
import assert from 'node:assert/strict'
import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { createMigratedDatabase } from '../../test/database.ts'
import { eventually } from '../../test/eventually.ts'
import { startObjectStore } from '../../test/object-store.ts'
import { loadConfig } from '../config.ts'
import { bucketOf, newUuid } from '../kernel/ids.ts'
import { dayMs } from '../kernel/time.ts'
import { systemClock } from './clock.ts'
import { Outbound } from './outbound.ts'
import { loadRootKeys } from './secrets/root-keys.ts'
import { Secrets } from './secrets.ts'
import { type FileFault, type FileKind, FileRefused, fileKind, fileKinds } from './storage/file-kind.ts'
import { placesOf } from './storage/places.ts'
import { type ArrivedFile, Storage } from './storage.ts'
import type { Tenant } from './tenant.ts'

const database = await createMigratedDatabase()
const db = database.connect()
const home = await mkdtemp(join(tmpdir(), 'pamoja-storage-'))
const store = await startObjectStore()
const door = new Outbound({
  policy: {
    production: false,
    allowPrivate: true,
    allowHttp: true,
    allowCidrs: ['127.0.0.0/8'],
    denyCidrs: [],
    extraCa: null,
    proxy: null,
  },
})
const startMs = Date.UTC(2026, 0, 5)
const clock = { ms: startMs, nowMs: () => clock.ms }
const secrets = new Secrets(
  db,
  await loadRootKeys({ value: randomBytes(32).toString('hex'), file: '', allowCreate: false }),
)
await secrets.start()

after(async () => {
  await door.close()
  await store.stop()
  await database.drop()
  await rm(home, { recursive: true, force: true })
})

const settings = { PAMOJA_HOME: home }
const onDisk = await storageWith(settings)
const inStore = await storageWith({ ...settings, ...store.settings })

async function storageWith(given: Record<string, string>): Promise<Storage> {
  const places = await placesOf(loadConfig(given).config, door, systemClock)
  return new Storage({ db, secrets, clock, places, publicUrl: () => 'https://localhost' })
}

setFlagsFromString('--expose-gc')
const collectGarbage: () => void = runInNewContext('gc')
const megabyte = 1024 * 1024
const lasting = fileKind({ name: 'test.lasting', types: { 'audio/l16': megabyte }, keepDays: 30, isSalvaged: true })
const kind = fileKind({ name: 'test.file', types: { 'image/png': 100, '*': 64 * megabyte }, keepDays: 30 })

for (const [where, storage, directory] of [
  ['a directory', onDisk, join(home, 'files')],
  ['an object store', inStore, store.directory],
] as const) {
  test(`${where} gives back what it took, whole and any range of it`, async () => {
    const tenant = newTenant()
    for (const length of [1, 65_535, 65_536, 65_537, 200_000, 262_144]) {
      const content = randomBytes(length)
      const file = await kept(storage, tenant, content)
      assert.equal(file.bytes, length)
      assert.deepEqual(file.sha256, createHash('sha256').update(content).digest())
      const opened = await storage.open(tenant, file.id)
      assert.ok(opened)
      assert.deepEqual(await whole(opened.read()), content)
      for (const at of [0, 1, 65_535, 65_536, 65_537, 131_072, length - 1])
        for (const size of [1, 2, 65_536, 70_000]) {
          const range = { start: Math.min(at, length - 1), end: Math.min(at + size, length) }
          if (range.end <= range.start) continue
          assert.deepEqual(await whole(opened.read(range)), content.subarray(range.start, range.end))
        }
    }
  })

  test(`what lies in ${where} is sealed, and says neither whose it is nor what`, async () => {
    const tenant = newTenant()
    const { id } = await kept(storage, tenant, Buffer.from('siri ya nyumba'.repeat(1000)))
    const file = await fileNamed(directory, id)
    assert.ok(!file.includes(tenant.account))
    const bytes = await readFile(file)
    assert.equal(bytes.includes('siri'), false)
    assert.equal(bytes.length, 14_000 + 16)
  })

  test(`a file that was changed, cut or exchanged in ${where} is not given out`, async () => {
    const tenant = newTenant()
    const content = randomBytes(200_000)
    const { id } = await kept(storage, tenant, content)
    const file = await fileNamed(directory, id)
    const bytes = await readFile(file)
    const sealedChunk = 65_536 + 16
    const swapped = Buffer.concat([
      bytes.subarray(sealedChunk, 2 * sealedChunk),
      bytes.subarray(0, sealedChunk),
      bytes.subarray(2 * sealedChunk),
    ])
    const changed = Buffer.from(bytes)
    changed[100_000] = (changed[100_000] ?? 0) ^ 1
    for (const other of [swapped, changed, bytes.subarray(0, bytes.length - 1), bytes.subarray(0, sealedChunk)]) {
      await writeFile(file, other)
      const opened = await storage.open(tenant, id)
      await assert.rejects(async () => opened && whole(opened.read()), /storage/)
    }
    await writeFile(file, bytes)
    const opened = await storage.open(tenant, id)
    assert.deepEqual(opened && (await whole(opened.read())), content)
  })

  test(`a file that is refused leaves nothing in ${where}`, async () => {
    const tenant = newTenant()
    const before = (await filesIn(directory)).length
    const strict: FileKind = {
      ...kind,
      check: async (file) => ((await file.read(0, 4)).equals(head) ? null : 'is no test'),
    }
    const head = Buffer.from('test')
    const refusals: [FileFault, string, Buffer][] = [
      ['size', 'image/png', randomBytes(101)],
      ['empty', 'image/png', Buffer.alloc(0)],
      ['content', 'text/plain', Buffer.from('this is none')],
    ]
    for (const [fault, type, content] of refusals)
      await assert.rejects(
        storage.put(strict, { tenant, type, name: null, bytes: inPieces(content), nowMs: startMs }),
        (error) => error instanceof FileRefused && error.fault === fault,
      )
    const only: FileKind = { ...kind, types: { 'image/png': 100 } }
    await assert.rejects(
      storage.put(only, { tenant, type: 'image/gif', name: null, bytes: inPieces(head), nowMs: startMs }),
      (error) => error instanceof FileRefused && error.fault === 'type',
    )
    await assert.rejects(
      storage.put(kind, { tenant, type: 'text/plain', name: null, bytes: brokenOff(), nowMs: startMs }),
      /the sender went away/,
    )
    assert.equal((await filesIn(directory)).length, before)
    assert.deepEqual(await filesIn(join(home, 'spool')), [])
  })

  test(`a file exists from the commit that keeps it; one that nobody kept leaves ${where} after a day`, async () => {
    const tenant = newTenant()
    const file = await put(storage, tenant, Buffer.from('karibu'))
    assert.equal(await storage.open(tenant, file.id), null)
    assert.equal(await storage.find(tenant, file.id), null)
    await storage.tidy()
    assert.ok(await fileNamed(directory, file.id))
    clock.ms = startMs + 25 * 60 * 60_000
    await storage.tidy()
    assert.deepEqual(
      (await filesIn(directory)).filter((name) => name.includes(file.id)),
      [],
    )
    await assert.rejects(
      db.acrossTx((tx) => storage.keep(tx, file)),
      /had been removed/,
    )
    clock.ms = startMs
  })

  test(`what had come of a file whose writer died is had from ${where}, and leaves it with the file`, async () => {
    const tenant = newTenant()
    const id = newUuid(startMs)
    const given = randomBytes(6 * 64 * 1024)
    const death = new AbortController()
    async function* recorded() {
      for (let at = 0; at < given.length; at += 16_000) yield given.subarray(at, at + 16_000)
      await once(death.signal, 'abort')
      throw new Error('the writer died')
    }
    const writing = storage.put(lasting, {
      tenant,
      type: 'audio/l16',
      name: null,
      bytes: recorded(),
      nowMs: startMs,
      id,
    })
    writing.catch(() => undefined)
    const salvaged = await eventually(async () => {
      const bytes = await storage.salvage(tenant, id)
      const found = bytes && (await whole(bytes))
      return found && found.length >= 2 * 64 * 1024 ? found : null
    }, 'two chunks')
    assert.deepEqual(salvaged, given.subarray(0, salvaged.length))
    assert.equal(await storage.salvage({ ...tenant, environment: 'live' }, id), null)
    death.abort()
    await assert.rejects(writing, /the writer died/)
    assert.deepEqual(
      (await filesIn(directory)).filter((name) => name.includes(id)),
      [],
    )
    const complete = await storage.put(lasting, {
      tenant,
      type: 'audio/l16',
      name: null,
      bytes: inPieces(given),
      nowMs: startMs,
    })
    assert.equal((await filesIn(directory)).filter((name) => name.includes(`${complete.id}.part`)).length, 0)
    const uncommitted = await storage.salvage(tenant, complete.id)
    assert.deepEqual(uncommitted && (await whole(uncommitted)), given, 'one that is whole and was not kept')
  })

  test(`a file leaves ${where} after its days, and it is known that there was one`, async () => {
    const tenant = newTenant()
    const { id, expiresAt } = await kept(storage, tenant, Buffer.from('karibu'))
    assert.equal(expiresAt?.getTime(), startMs + 30 * dayMs)
    clock.ms = startMs + 30 * dayMs - 1
    await storage.tidy()
    assert.ok(await storage.open(tenant, id))
    clock.ms = startMs + 30 * dayMs + 1
    await storage.tidy()
    assert.equal(await storage.open(tenant, id), null)
    assert.equal(await storage.find(tenant, id), 'gone')
    assert.deepEqual(
      (await filesIn(directory)).filter((name) => name.includes(id)),
      [],
    )
    clock.ms = startMs
  })

  test(`a file that is dropped cannot be read from the same commit on, and soon leaves ${where}`, async () => {
    const tenant = newTenant()
    const { id } = await kept(storage, tenant, Buffer.from('kwaheri'))
    await db.acrossTx((tx) => storage.drop(tx, tenant, [id]))
    assert.equal(await storage.open(tenant, id), null)
    await storage.tidy()
    assert.deepEqual(
      (await filesIn(directory)).filter((name) => name.includes(id)),
      [],
    )
  })

  test(`a file of 64 MB passes through ${where} without being held whole in memory`, async () => {
    const tenant = newTenant()
    const piece = randomBytes(64 * 1024)
    let most = 0
    let count = 0
    const held = (): number => {
      collectGarbage()
      return process.memoryUsage().arrayBuffers
    }
    const before = held()
    // Collect garbage first: it is not what is measured.
    const watch = (): void => {
      if (count++ % 64 === 0) most = Math.max(most, held() - before)
    }
    async function* many(): AsyncGenerator<Buffer> {
      for (let i = 0; i < 1024; i++) {
        watch()
        yield Buffer.from(piece)
      }
    }
    const file = await storage.put(kind, { tenant, type: 'video/mp4', name: null, bytes: many(), nowMs: startMs })
    await db.acrossTx((tx) => storage.keep(tx, file))
    const opened = await storage.open(tenant, file.id)
    assert.ok(opened)
    let read = 0
    for await (const part of opened.read()) {
      read += part.length
      watch()
    }
    assert.equal(read, 64 * megabyte)
    assert.ok(most < 32 * megabyte, `${most} bytes were held at once`)
  })
}

test('files of a directory can still be read when an object store was chosen since', async () => {
  const tenant = newTenant()
  const { id } = await kept(onDisk, tenant, Buffer.from('zamani'))
  const opened = await inStore.open(tenant, id)
  assert.equal(opened && (await whole(opened.read())).toString(), 'zamani')
})

test('nobody else can read a file, and nobody whose account has no data key any more', async () => {
  const [tenant, other] = [newTenant(), newTenant()]
  const { id } = await kept(onDisk, tenant, Buffer.from('siri'))
  assert.equal(await onDisk.open(other, id), null)
  assert.equal(await onDisk.open({ ...tenant, environment: 'live' }, id), null)
  await database.sql('delete from platform.data_keys where account_id = $1', [tenant.account])
  const fresh = new Storage({
    db,
    secrets: new Secrets(
      db,
      await loadRootKeys({ value: randomBytes(32).toString('hex'), file: '', allowCreate: false }),
    ),
    clock,
    places: await placesOf(loadConfig(settings).config, door, systemClock),
    publicUrl: () => '',
  })
  await assert.rejects(fresh.open(tenant, id))
})

test('an address that is signed leads to its file until its time is over, and no other does', async () => {
  const tenant = newTenant()
  const { id } = await kept(onDisk, tenant, Buffer.from('picha'))
  const address = onDisk.address({ ...tenant, id }, 60)
  const token = address.replace('https://localhost/files/', '')
  assert.ok(!token.includes('/'))
  const opened = await onDisk.openByToken(token)
  assert.equal(opened && (await whole(opened.read())).toString(), 'picha')
  const bytes = Buffer.from(token, 'base64url')
  for (const at of [0, 1, 2, 20, 36, 45]) {
    const changed = Buffer.from(bytes)
    changed[at] = (changed[at] ?? 0) ^ 1
    assert.equal(await onDisk.openByToken(changed.toString('base64url')), null, `byte ${at}`)
  }
  assert.equal(await onDisk.openByToken(''), null)
  clock.ms = startMs + 61_000
  assert.equal(await onDisk.openByToken(token), null)
  clock.ms = startMs
})

test('every kind of file has a bound for each of its types, and a term', () => {
  for (const { name, types, keepDays } of fileKinds.values()) {
    assert.ok(Object.keys(types).length > 0, `${name} takes nothing`)
    for (const most of Object.values(types)) assert.ok(most > 0 && most <= 2 ** 31, `${name} has no bound`)
    assert.ok(keepDays === null || keepDays > 0, `${name} has no term`)
  }
})

function newTenant(): Tenant {
  const account = newUuid(startMs)
  return { bucket: bucketOf(account), account, environment: 'test' }
}

async function put(storage: Storage, tenant: Tenant, content: Buffer): Promise<ArrivedFile> {
  return storage.put(kind, {
    tenant,
    type: 'text/plain',
    name: `${randomUUID()}.txt`,
    bytes: inPieces(content),
    nowMs: clock.ms,
  })
}

async function kept(storage: Storage, tenant: Tenant, content: Buffer): Promise<ArrivedFile> {
  const file = await put(storage, tenant, content)
  await db.acrossTx((tx) => storage.keep(tx, file))
  return file
}

async function* inPieces(content: Buffer): AsyncGenerator<Buffer> {
  for (let at = 0; at < content.length; at += 10_007) yield content.subarray(at, at + 10_007)
}

async function* brokenOff(): AsyncGenerator<Buffer> {
  yield randomBytes(100_000)
  throw new Error('the sender went away')
}

async function whole(bytes: AsyncIterable<Buffer>): Promise<Buffer> {
  const pieces: Buffer[] = []
  for await (const piece of bytes) pieces.push(piece)
  return Buffer.concat(pieces)
}

async function filesIn(directory: string): Promise<string[]> {
  const found = await readdir(directory, { recursive: true }).catch(() => [])
  const files: string[] = []
  for (const name of found) {
    const file = join(directory, name)
    // A file may have been removed since the listing.
    const found = await stat(file).catch(() => null)
    if (found?.isFile()) files.push(file)
  }
  return files
}

async function fileNamed(directory: string, id: string): Promise<string> {
  const found = (await filesIn(directory)).find(
    (file) => file.includes(id) && !file.endsWith('.json') && !file.endsWith('md5'),
  )
  assert.ok(found, `there is no file of ${id}`)
  return found
}
