// SPDX-License-Identifier: Apache-2.0
// Files that customers send and fetch. They come and go as streams, never whole in memory; each is sealed with a key of its
// own, which is sealed under the account's; and a file exists for customers from the commit that keeps it. What nobody
// kept, and what is past its time, a chore removes.
import { createHash, randomBytes } from 'node:crypto'
import { buckets, firstUuidAt, newUuid, nilUuid } from '../kernel/ids.ts'
import { dayMs } from '../kernel/time.ts'
import type { Clock } from './clock.ts'
import { type Database, maybe, one, type Tx } from './db.ts'
import type { Secrets } from './secrets.ts'
import { type FileKind, FileRefused, mostBytes } from './storage/file-kind.ts'
import {
  addArriving,
  dropExpired,
  dropFiles,
  dropOrphans,
  type FileRow,
  findFile,
  findToRemove,
  forgetRemoved,
  keepFile,
  noteRemoved,
} from './storage/file-rows.ts'
import type { Place } from './storage/place.ts'
import { type ByteRange, open, seal, sealedRange } from './storage/sealed-chunks.ts'
import { readToken, tokenOf } from './storage/signed-address.ts'
import { type One, type Tenant, tenantOf } from './tenant.ts'

export interface Incoming {
  tenant: Tenant
  /** Content type, in lower case and without parameters. */
  type: string
  name: string | null
  bytes: AsyncIterable<Buffer>
  /** The time of the account, from which the file's days are counted. */
  nowMs: number
}

/** A file whose bytes are stored. It is forgotten again unless it is kept. */
export interface ArrivedFile extends One {
  readonly kind: FileKind
  readonly type: string
  readonly name: string | null
  readonly bytes: number
  readonly sha256: Buffer
  readonly createdAt: Date
  readonly expiresAt: Date | null
  /** Bytes from a place on: as many as asked for, fewer at the end of the file. */
  read(start: number, length: number): Promise<Buffer>
}

export interface StoredFile {
  readonly id: string
  readonly kind: string
  readonly name: string | null
  readonly type: string
  readonly bytes: number
  readonly sha256: Buffer
  readonly createdAt: Date
  readonly expiresAt: Date | null
}

export interface OpenedFile {
  readonly file: StoredFile
  /** Reads all of it, or a range. */
  read(range?: ByteRange): AsyncIterable<Buffer>
}

interface Options {
  db: Database
  secrets: Secrets
  clock: Clock
  /** The first takes what comes; the others only give what they have. */
  places: readonly [Place, ...Place[]]
  publicUrl(): string
}

/** How long bytes may wait for the commit that keeps them. */
const orphanMs = dayMs
/** How long it is remembered that there was a file, so that its id is told from one that never was. */
const rememberedMs = 90 * dayMs
const removedAtOnce = 100
const changedAtOnce = 1_000
const keyBytes = 32

export class Storage {
  readonly #options: Options
  readonly #places: ReadonlyMap<string, Place>

  constructor(options: Options) {
    this.#options = options
    this.#places = new Map(options.places.map((place) => [place.name, place]))
  }

  /**
   * Takes a file: counts, hashes and seals it as it comes. Throws FileRefused for what its kind does not take, and whatever
   * `bytes` throws; then nothing of it is left.
   */
  async put(kind: FileKind, { tenant, type, name, bytes, nowMs }: Incoming): Promise<ArrivedFile> {
    const most = mostBytes(kind, type)
    if (most === null) throw new FileRefused('type', `files of the type ${type} are not taken`)
    const { db, secrets, clock, places } = this.#options
    const [place] = places
    const id = newUuid(clock.nowMs())
    const file: One = { ...tenant, id }
    const key = randomBytes(keyBytes)
    const createdAt = new Date(nowMs)
    const expiresAt = kind.keepDays === null ? null : new Date(nowMs + kind.keepDays * dayMs)
    await db.query(addArriving, {
      ...file,
      kind: kind.name,
      place: place.name,
      key: await secrets.seal(tenant, keyPlace(id), key),
      name,
      type,
      at: createdAt,
      expires: expiresAt,
    })
    const counted = new Counted(bytes, most)
    const read = (start: number, length: number): Promise<Buffer> => {
      const range = { start, end: Math.min(counted.length, start + length) }
      if (range.start >= range.end) return Promise.resolve(Buffer.alloc(0))
      return whole(this.#read(place, key, file, counted.length, range))
    }
    try {
      await place.write(pathOf(file), seal(key, counted))
      if (counted.length === 0) throw new FileRefused('empty', 'the file is empty')
      const problem = await kind.check?.({ type, name, bytes: counted.length, read })
      if (problem) throw new FileRefused('content', `the file ${problem}`)
    } catch (error) {
      await this.#undo(file, place)
      throw error
    }
    return { ...file, kind, type, name, bytes: counted.length, sha256: counted.sha256(), createdAt, expiresAt, read }
  }

  /** Makes a file that arrived one that is kept, with the rest of the transaction; of another type, if that is known by now. */
  async keep(tx: Tx, file: ArrivedFile, type: string = file.type): Promise<void> {
    const { bucket, account, environment, id, bytes, sha256 } = file
    const kept = await tx.query(keepFile, { bucket, account, environment, id, type, bytes: BigInt(bytes), sha256 })
    if (kept.length === 0) throw new Error('a file was kept that had been removed')
  }

  /** Removes a file that arrived and is not wanted after all. */
  async discard(file: ArrivedFile): Promise<void> {
    const { bucket, account, environment, id } = file
    const [place] = this.#options.places
    await this.#undo({ bucket, account, environment, id }, place)
  }

  /** What is known of a file; null when there never was one, `gone` when it was dropped. */
  async find({ bucket, account, environment }: Tenant, id: string): Promise<StoredFile | 'gone' | null> {
    const row = await maybe(this.#options.db.query(findFile, { bucket, account, environment, id }))
    if (row === null || row.state === 'arriving') return null
    return row.state === 'kept' ? storedFile(row) : 'gone'
  }

  /** A file that is kept, to be read; null when there is none. */
  async open({ bucket, account, environment }: Tenant, id: string): Promise<OpenedFile | null> {
    const file: One = { bucket, account, environment, id }
    const row = await maybe(this.#options.db.query(findFile, file))
    if (row?.state !== 'kept' || row.key === null) return null
    const place = this.#placeOf(row.place)
    const key = await this.#options.secrets.open(file, keyPlace(id), row.key)
    const stored = storedFile(row)
    return {
      file: stored,
      read: (range = { start: 0, end: stored.bytes }) => this.#read(place, key, file, stored.bytes, range),
    }
  }

  /** Drops files: their keys go with the transaction, their bytes soon after. */
  async drop(tx: Tx, { bucket, account, environment }: Tenant, ids: readonly string[]): Promise<void> {
    for (const { id, place } of await tx.query(dropFiles, { bucket, account, environment, ids })) {
      const file: One = { bucket, account, environment, id }
      tx.afterCommit(() => void this.#remove(file, this.#placeOf(place)).catch(() => undefined))
    }
  }

  /** An address at which anybody can read the file for a while. */
  address(file: One, forSeconds: number): string {
    const { secrets, clock, publicUrl } = this.#options
    return `${publicUrl()}/files/${tokenOf(secrets, file, Math.floor(clock.nowMs() / 1000) + forSeconds)}`
  }

  /** The file that such an address leads to; null when there is none, or its time is over. */
  async openByToken(token: string): Promise<OpenedFile | null> {
    const { secrets, clock } = this.#options
    const found = readToken(secrets, token)
    if (found === null || found.untilSeconds * 1000 < clock.nowMs()) return null
    return this.open(found.file, found.file.id)
  }

  /** Drops what is past its time or was never kept, and removes the bytes of what was dropped. */
  async tidy(): Promise<void> {
    const { db, clock } = this.#options
    const nowMs = clock.nowMs()
    const most = changedAtOnce
    await inBatches(() => db.query(dropExpired, { buckets, now: new Date(nowMs), most }))
    await inBatches(() => db.query(dropOrphans, { buckets, before: firstUuidAt(nowMs - orphanMs), most }))
    let after = nilUuid
    for (;;) {
      const rows = await db.query(findToRemove, { buckets, after, most: removedAtOnce })
      for (const row of rows) {
        await this.#remove({ ...tenantOf(row), id: row.id }, this.#placeOf(row.place))
        after = row.id
      }
      if (rows.length < removedAtOnce) break
    }
    await inBatches(() => db.query(forgetRemoved, { buckets, before: new Date(nowMs - rememberedMs), most }))
  }

  #read(place: Place, key: Buffer, file: One, fileBytes: number, range: ByteRange): AsyncIterable<Buffer> {
    return open(key, fileBytes, range, place.read(pathOf(file), sealedRange(fileBytes, range)))
  }

  /** Best now; if the machine stops before, the chore does it. */
  async #undo(file: One, place: Place): Promise<void> {
    const { bucket, account, environment, id } = file
    try {
      await this.#options.db.query(dropFiles, { bucket, account, environment, ids: [id] })
      await this.#remove(file, place)
    } catch {
      // The refusal that led here is the one to be heard.
    }
  }

  async #remove(file: One, place: Place): Promise<void> {
    await place.remove(pathOf(file))
    await this.#options.db.query(noteRemoved, file)
  }

  #placeOf(name: string): Place {
    const place = this.#places.get(name)
    if (!place) throw new Error(`files are in ${name}, which PAMOJA_FILES does not lead to any more`)
    return place
  }
}

/** What passes through, counted and hashed; it ends with FileRefused when there is more than may be. */
class Counted implements AsyncIterable<Buffer> {
  readonly #bytes: AsyncIterable<Buffer>
  readonly #most: number
  readonly #hash = createHash('sha256')
  length = 0

  constructor(bytes: AsyncIterable<Buffer>, most: number) {
    this.#bytes = bytes
    this.#most = most
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Buffer> {
    for await (const piece of this.#bytes) {
      this.length += piece.length
      if (this.length > this.#most)
        throw new FileRefused('size', `the file has more than the ${this.#most} bytes that its type may have`)
      this.#hash.update(piece)
      yield piece
    }
  }

  sha256(): Buffer {
    return this.#hash.digest()
  }
}

function storedFile({ id, kind, name, type, bytes, sha256, created_at, expires_at }: FileRow): StoredFile {
  return {
    id,
    kind,
    name,
    type,
    bytes: Number(bytes),
    sha256: sha256 ?? Buffer.alloc(0),
    createdAt: created_at,
    expiresAt: expires_at,
  }
}

/** Not by account: nobody who sees a directory learns whose files they are. */
function pathOf({ bucket, id }: One): string {
  return `${bucket.toString(16).padStart(2, '0')}/${id}`
}

function keyPlace(id: string): string {
  return `platform.files.key:${id}`
}

async function whole(bytes: AsyncIterable<Buffer>): Promise<Buffer> {
  const pieces: Buffer[] = []
  for await (const piece of bytes) pieces.push(piece)
  return Buffer.concat(pieces)
}

async function inBatches(change: () => Promise<{ gone: number }[]>): Promise<void> {
  while ((await one(change())).gone === changedAtOnce);
}
