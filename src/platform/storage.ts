// SPDX-License-Identifier: Apache-2.0
// File storage for customers. Files are streamed, never whole in memory; each is encrypted with its own key, sealed
// under the account's; and a file exists from the commit that keeps it. A chore removes files that were not kept or
// have expired.
import { createHash, randomBytes } from 'node:crypto'
import { buckets, firstUuidAt, newUuid, nilUuid } from '../kernel/ids.ts'
import { dayMs } from '../kernel/time.ts'
import type { Clock } from './clock.ts'
import { type Database, maybe, one, type Tx } from './db.ts'
import type { Secrets } from './secrets.ts'
import { type FileKind, FileRefused, fileKinds, maxBytes } from './storage/file-kind.ts'
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
import { type ByteRange, open, openUnfinished, seal, sealedRange } from './storage/sealed-chunks.ts'
import { readToken, tokenOf } from './storage/signed-address.ts'
import { type One, type Tenant, tenantOf } from './tenant.ts'

export interface Incoming {
  tenant: Tenant
  /** Content type in lower case without parameters. */
  type: string
  name: string | null
  bytes: AsyncIterable<Buffer>
  /** Account time, from which retention counts. */
  nowMs: number
  /** UUID under which an unfinished file can be salvaged; a new one unless given. */
  id?: string
}

/** File whose bytes are stored; it is deleted unless kept. */
export interface ArrivedFile extends One {
  readonly kind: FileKind
  readonly type: string
  readonly name: string | null
  readonly bytes: number
  readonly sha256: Buffer
  readonly createdAt: Date
  readonly expiresAt: Date | null
  /** Bytes from a position: as many as requested, fewer at the end of the file. */
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
  /** The first place takes new files; the others are read only. */
  places: readonly [Place, ...Place[]]
  publicUrl(): string
}

/** Time that bytes may wait for the commit that keeps them. */
const orphanMs = dayMs
/** Time that a deleted file's row is kept, to tell its id from an unknown one. */
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
   * Stores a file: counts, hashes and encrypts it as it arrives. Throws FileRefused, or what `bytes` throws; then nothing is
   * left.
   */
  async put(kind: FileKind, { tenant, type, name, bytes, nowMs, id: givenId }: Incoming): Promise<ArrivedFile> {
    const most = maxBytes(kind, type)
    if (most === null) throw new FileRefused('type', `files of the type ${type} are not taken`)
    const { db, secrets, clock, places } = this.#options
    const [place] = places
    const id = givenId ?? newUuid(clock.nowMs())
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
      await place.write(pathOf(file), seal(key, counted), kind.isSalvaged === true)
      if (counted.length === 0) throw new FileRefused('empty', 'the file is empty')
      const problem = await kind.check?.({ type, name, bytes: counted.length, read })
      if (problem) throw new FileRefused('content', `the file ${problem}`)
    } catch (error) {
      await this.#undo(file, kind.name, place)
      throw error
    }
    return { ...file, kind, type, name, bytes: counted.length, sha256: counted.sha256(), createdAt, expiresAt, read }
  }

  /** Keeps an arrived file, within the transaction; with another type, if known by now. */
  async keep(tx: Tx, file: ArrivedFile, type: string = file.type): Promise<void> {
    const { bucket, account, environment, id, bytes, sha256 } = file
    const kept = await tx.query(keepFile, { bucket, account, environment, id, type, bytes: BigInt(bytes), sha256 })
    if (kept.length === 0) throw new Error('a file was kept that had been removed')
  }

  /** Deletes an arrived file that is not wanted. */
  async discard(file: ArrivedFile): Promise<void> {
    const { bucket, account, environment, id } = file
    const [place] = this.#options.places
    await this.#undo({ bucket, account, environment, id }, file.kind.name, place)
  }

  /** File metadata; null when unknown, `gone` when deleted. */
  async find({ bucket, account, environment }: Tenant, id: string): Promise<StoredFile | 'gone' | null> {
    const row = await maybe(this.#options.db.query(findFile, { bucket, account, environment, id }))
    if (row === null || row.state === 'arriving') return null
    return row.state === 'kept' ? storedFile(row) : 'gone'
  }

  /** Opens a kept file; null when there is none. */
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

  /** Bytes that arrived of a file whose node died before it was kept; null when there is none. */
  async salvage({ bucket, account, environment }: Tenant, id: string): Promise<AsyncIterable<Buffer> | null> {
    const file: One = { bucket, account, environment, id }
    const row = await maybe(this.#options.db.query(findFile, file))
    if (row?.state !== 'arriving' || row.key === null) return null
    const key = await this.#options.secrets.open(file, keyPlace(id), row.key)
    return openUnfinished(key, this.#placeOf(row.place).salvage(pathOf(file)))
  }

  /** Deletes files: their keys with the transaction, their bytes soon after. */
  async drop(tx: Tx, { bucket, account, environment }: Tenant, ids: readonly string[]): Promise<void> {
    for (const { id, kind, place } of await tx.query(dropFiles, { bucket, account, environment, ids })) {
      const file: One = { bucket, account, environment, id }
      tx.afterCommit(() => void this.#remove(file, kind, this.#placeOf(place)).catch(() => undefined))
    }
  }

  /** Signed URL of a file, valid for a while. */
  address(file: One, forSeconds: number): string {
    const { secrets, clock, publicUrl } = this.#options
    return `${publicUrl()}/files/${tokenOf(secrets, file, Math.floor(clock.nowMs() / 1000) + forSeconds)}`
  }

  /** Opens a file by signed URL token; null when invalid or expired. */
  async openByToken(token: string): Promise<OpenedFile | null> {
    const { secrets, clock } = this.#options
    const found = readToken(secrets, token)
    if (found === null || found.untilSeconds * 1000 < clock.nowMs()) return null
    return this.open(found.file, found.file.id)
  }

  /** Deletes expired files and those never kept, and removes the bytes of deleted ones. */
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
        await this.#remove({ ...tenantOf(row), id: row.id }, row.kind, this.#placeOf(row.place))
        after = row.id
      }
      if (rows.length < removedAtOnce) break
    }
    await inBatches(() => db.query(forgetRemoved, { buckets, before: new Date(nowMs - rememberedMs), most }))
  }

  #read(place: Place, key: Buffer, file: One, fileBytes: number, range: ByteRange): AsyncIterable<Buffer> {
    return open(key, fileBytes, range, place.read(pathOf(file), sealedRange(fileBytes, range)))
  }

  /** Removes now; after a crash the chore does it. */
  async #undo(file: One, kind: string, place: Place): Promise<void> {
    const { bucket, account, environment, id } = file
    try {
      await this.#options.db.query(dropFiles, { bucket, account, environment, ids: [id] })
      await this.#remove(file, kind, place)
    } catch {
      // The original error is the one to report.
    }
  }

  async #remove(file: One, kind: string, place: Place): Promise<void> {
    await place.remove(pathOf(file), fileKinds.get(kind)?.isSalvaged === true)
    await this.#options.db.query(noteRemoved, file)
  }

  #placeOf(name: string): Place {
    const place = this.#places.get(name)
    if (!place) throw new Error(`files are in ${name}, which PAMOJA_FILES does not lead to any more`)
    return place
  }
}

/** Pass-through that counts and hashes; ends with FileRefused above the limit. */
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

/** Path without the account: a directory listing does not reveal the owner. */
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
  while ((await one(change())).gone >= changedAtOnce);
}
