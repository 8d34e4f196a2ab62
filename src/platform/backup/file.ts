// SPDX-License-Identifier: Apache-2.0
// A backup as it lies on the disk: written whole or not at all, and read only if all of it is what once was written. That of
// several databases is a file of home, by whose name it is known, and one of each other with the id of the backup in its
// name: so the backup before it stays whole until the file of home takes the place of that one's.
// A file is gzip around lines of JSON, and between them the rows in the text format of COPY:
//
//   {"pamoja_backup":2,"made_at":"2026-01-31T12:00:00.000Z","migrations":[{"name":"0001_platform","checksum":"9f…"}]}
//   {"table":"events.events","columns":["bucket","id"],"partitions":[{"name":"events_default","bounds":"DEFAULT"}]}
//   {"bytes":8192}         and after this line so many bytes of rows, cut anywhere; any number of such blocks,
//   {"bytes":0}            and this one ends the table; then the next table
//   {"rows":{"events.events":3412},"sequences":{"later.numbers":"17"}}     nothing may follow
//
// Behind it is a seal (seal.ts) over every byte that is on the disk.
import { createReadStream, createWriteStream } from 'node:fs'
import { readdir, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createGzip, constants as zlib } from 'node:zlib'
import { type Static, type TSchema, Type } from 'typebox'
import { Compile, type Validator } from 'typebox/schema'
import { errorCode } from '../../kernel/error-code.ts'
import { StartError } from '../../kernel/start-error.ts'
import { homeName } from '../moves/cells.ts'
import { syncDirectory } from '../program/atomic-files.ts'
import { seal, unseal } from './seal.ts'

export const formatVersion = 2
const maxLineBytes = 4 * 1024 * 1024
const unzippedBlockBytes = 256 * 1024

/** Failure of a backup or restore, in one sentence for the operator. */
export class BackupError extends StartError {}

const Begin = Type.Object({
  pamoja_backup: Type.Literal(formatVersion),
  made_at: Type.String(),
  migrations: Type.Array(Type.Object({ name: Type.String(), checksum: Type.String() })),
  // Only where an installation has several databases: each has a file of its own.
  part: Type.Optional(
    Type.Object({
      backup: Type.String(),
      cell: Type.String(),
      cells: Type.Array(Type.String({ pattern: '^[a-z][a-z0-9-]*$' })),
    }),
  ),
})

const TableBegin = Type.Object({
  table: Type.String(),
  columns: Type.Array(Type.String()),
  partitions: Type.Array(
    Type.Object({
      name: Type.String(),
      // Becomes SQL on restore, so only literals in parentheses are allowed.
      bounds: Type.String({
        pattern: String.raw`^(DEFAULT|FOR VALUES (FROM|IN|WITH) \([\w ',:.+-]*\)( TO \([\w ',:.+-]*\))?)$`,
      }),
    }),
  ),
})

const Block = Type.Object({ bytes: Type.Integer({ minimum: 0 }) })

const Summary = Type.Object({
  rows: Type.Record(Type.String(), Type.Integer({ minimum: 0 })),
  sequences: Type.Record(Type.String(), Type.String({ pattern: '^-?[0-9]+$' })),
})

const anyBegin = Compile(Type.Object({ pamoja_backup: Type.Integer() }))
const begins = Compile(Begin)
const tableBegins = Compile(TableBegin)
const blocks = Compile(Block)
const summaries = Compile(Summary)

export type BackupBegin = Static<typeof Begin>
export type Migrations = BackupBegin['migrations']
/** Which of several databases a file is of. */
export type Part = NonNullable<BackupBegin['part']>
export type TableBegin = Static<typeof TableBegin>
type Line = Static<typeof Begin> | Static<typeof TableBegin> | Static<typeof Block> | Static<typeof Summary>

export function* block(chunk: Buffer): Generator<Buffer> {
  yield line({ bytes: chunk.length })
  yield chunk
}

export function line(value: Line): Buffer {
  return Buffer.from(`${JSON.stringify(value)}\n`)
}

/** Digits of a backup's id that are in the names of its files. */
const idDigits = 8
/** What follows the name of home's file in those of other databases, whole or not. */
const ofAnother = new RegExp(`^\\.[a-z][a-z0-9-]*\\.[0-9a-f]{${idDigits}}(\\.part)?$`)

/** Name of the file of a database; home has the name that was given. */
export function fileOf(file: string, cell: string, backup: string): string {
  return cell === homeName ? file : `${file}.${cell}.${backup.slice(0, idDigits)}`
}

/**
 * Writes the files of a backup: each to a temporary one, which get their names once all are on the disk, the last of them last.
 * Returns the sizes.
 */
export async function writeBackup(files: ReadonlyMap<string, AsyncIterable<Buffer>>): Promise<Map<string, number>> {
  const [names, sizes] = [[...files.keys()], new Map<string, number>()]
  let placed = 0
  let at = ''
  try {
    for (const [file, content] of files) {
      at = file
      if ((await stat(file).catch(() => null))?.isDirectory())
        throw new BackupError(`${file} is a directory: name a file.`)
      await rm(partOf(file), { force: true })
      sizes.set(file, await writePart(partOf(file), content))
    }
    for (const file of names) {
      at = file
      await rename(partOf(file), file)
      placed++
      await syncDirectory(dirname(file))
    }
    await removeEarlier(at, names)
    return sizes
  } catch (error) {
    const useless = [...names.map(partOf), ...(placed === names.length ? [] : names.slice(0, placed))]
    for (const file of useless) await rm(file, { force: true }).catch(() => undefined)
    throw writingProblem(at, error)
  }
}

function partOf(file: string): string {
  return `${file}.part`
}

/** Deletes what the backup before has of other databases, and what those that were cut off have left. */
async function removeEarlier(file: string, kept: readonly string[]): Promise<void> {
  const [folder, name] = [dirname(file), basename(file)]
  const found = (await readdir(folder)).filter((one) => one.startsWith(name) && ofAnother.test(one.slice(name.length)))
  for (const one of found)
    if (!kept.some((other) => basename(other) === one)) await rm(join(folder, one), { force: true })
}

async function writePart(part: string, content: AsyncIterable<Buffer>): Promise<number> {
  // Fast compression: during a backup the database cannot vacuum behind its snapshot.
  const gzip = createGzip({ level: zlib.Z_BEST_SPEED })
  await pipeline(content, gzip, seal, createWriteStream(part, { flags: 'wx', mode: 0o600, flush: true }))
  return (await stat(part)).size
}

const fileProblems: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file or directory',
  ENOTDIR: 'a part of its path is not a directory',
  EISDIR: 'it is a directory',
  EACCES: 'this user has no permission',
  EPERM: 'this user has no permission',
  EROFS: 'the disk is read-only',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  EFBIG: 'the disk takes no files of this size',
  EIO: 'the disk fails',
}

function writingProblem(file: string, error: unknown): unknown {
  const problem = fileProblems[errorCode(error)]
  return problem
    ? new BackupError(`${file} cannot be written: ${problem}. There is no backup.`, { cause: error })
    : error
}

/** Loads all rows of a table, or skip them. */
type Taker = (table: Static<typeof TableBegin>, rows: AsyncIterable<Buffer>) => Promise<void>

interface Contents {
  begin: Static<typeof Begin>
  summary: Static<typeof Summary>
}

class Damage extends Error {}

/** Reads a file completely; returns only if it is intact. */
export async function readBackup(file: string, take: Taker = async () => undefined): Promise<Contents> {
  let begun = false
  let whole = false
  try {
    const contents = await pipeline(
      createReadStream(file),
      async function* (chunks: AsyncIterable<Buffer>) {
        whole = yield* unseal(chunks)
      },
      createGunzip({ chunkSize: unzippedBlockBytes }),
      async (chunks: AsyncIterable<Buffer>) => {
        const input = new Input(chunks)
        const begin = await readBegin(file, input)
        begun = true
        return { begin, summary: await readTables(input, take) }
      },
    )
    if (!whole) throw new Damage('its checksum does not match')
    return contents
  } catch (error) {
    throw readingProblem(file, begun, error)
  }
}

async function readBegin(file: string, input: Input): Promise<Static<typeof Begin>> {
  const record = await input.line()
  if (anyBegin.Check(record) && record.pamoja_backup !== formatVersion)
    throw new BackupError(
      `${file} has format ${record.pamoja_backup}, and this version of the program reads format ${formatVersion}: restore it with the version that made it.`,
    )
  return checked(begins, record)
}

async function readTables(input: Input, take: Taker): Promise<Static<typeof Summary>> {
  for (;;) {
    const record = await input.line()
    if (tableBegins.Check(record)) {
      const rows = readRows(input)
      await take(record, rows)
      while (!(await rows.next()).done);
      continue
    }
    const summary = checked(summaries, record)
    if (!(await input.atEnd())) throw new Damage('something follows its end')
    return summary
  }
}

async function* readRows(input: Input): AsyncGenerator<Buffer> {
  for (;;) {
    const { bytes } = checked(blocks, await input.line())
    if (bytes === 0) return
    yield* input.bytes(bytes)
  }
}

function checked<S extends TSchema>(validator: Validator<S>, record: unknown): Static<S> {
  if (!validator.Check(record)) throw new Damage('it holds a line that does not belong there')
  return record
}

/** Lines and blocks of a chunked stream. */
class Input {
  readonly #chunks: AsyncIterator<Buffer>
  #ahead: Buffer = Buffer.alloc(0)

  constructor(chunks: AsyncIterable<Buffer>) {
    this.#chunks = chunks[Symbol.asyncIterator]()
  }

  async line(): Promise<unknown> {
    const pieces: Buffer[] = []
    for (let bytes = 0; bytes < maxLineBytes; ) {
      await this.#more()
      const end = this.#ahead.indexOf('\n')
      const piece = this.#take(end < 0 ? this.#ahead.length : end + 1)
      pieces.push(piece)
      bytes += piece.length
      if (end >= 0) return parsed(Buffer.concat(pieces).toString('utf8'))
    }
    throw new Damage('it holds a line that is too long')
  }

  async *bytes(count: number): AsyncGenerator<Buffer> {
    for (let left = count; left > 0; ) {
      await this.#more()
      const piece = this.#take(Math.min(left, this.#ahead.length))
      left -= piece.length
      yield piece
    }
  }

  async atEnd(): Promise<boolean> {
    while (this.#ahead.length === 0) {
      const next = await this.#chunks.next()
      if (next.done) return true
      this.#ahead = next.value
    }
    return false
  }

  async #more(): Promise<void> {
    if (await this.atEnd()) throw new Damage('it ends too early')
  }

  #take(count: number): Buffer {
    const taken = this.#ahead.subarray(0, count)
    this.#ahead = this.#ahead.subarray(count)
    return taken
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new Damage('it holds a line that is not JSON', { cause })
  }
}

function readingProblem(file: string, begun: boolean, error: unknown): unknown {
  const problem = fileProblems[errorCode(error)]
  if (problem) return new BackupError(`${file} cannot be read: ${problem}. Nothing was restored.`, { cause: error })
  if (!(error instanceof Error && (error instanceof Damage || errorCode(error).startsWith('Z_')))) return error
  const sentence = begun
    ? `${file} is damaged or cut short (${error.message}).`
    : `${file} is not a backup of Pamoja, or its beginning is damaged.`
  return new BackupError(`${sentence} Nothing was restored.`, { cause: error })
}
