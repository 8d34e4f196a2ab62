// SPDX-License-Identifier: Apache-2.0
// Multipart parser (RFC 7578), streaming: fields are collected, files are passed on as they arrive. Each part and the
// whole are limited in size; a truncated body is an error.
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import type { Readable } from 'node:stream'
import { Busboy, type BusboyInstance } from '@fastify/busboy'
import { AppError } from '../../kernel/errors.ts'
import type { ArrivingFile, FilePart, ReceivedFile } from '../api/route.ts'
import { asError, printable } from './exchange.ts'

const maxFields = 200
const maxFieldBytes = 1024 * 1024
const maxHeaderBytes = 8 * 1024

interface Reading<T> {
  readonly bytes: AsyncIterator<Buffer>
  readonly contentType: string
  /** Size limit of the whole body. */
  readonly maxBytes: number
  readonly files: Readonly<Record<string, FilePart>>
  /** Reads a file while it arrives. */
  take(file: ArrivingFile): Promise<T>
  /** Called for each file taken, also when a later part fails. */
  taken(file: ReceivedFile<T>): void
}

interface Parts {
  readonly fields: readonly (readonly [name: string, value: string])[]
  /** Digest of the parts, independent of the boundary. */
  readonly digest: string
}

export function isMultipart(contentType: string | undefined): contentType is string {
  return /^multipart\/form-data\s*(;|$)/i.test(contentType ?? '')
}

export async function readParts<T>(reading: Reading<T>): Promise<Parts> {
  const { bytes, contentType, maxBytes } = reading
  const parser = parserOf(contentType)
  const arriving = new Arriving(parser, reading)
  let total = 0
  try {
    for (;;) {
      const next = bytes.next()
      next.catch(() => undefined)
      const { done, value } = await arriving.orFailed(next)
      if (done) break
      total += value.length
      if (total > maxBytes) throw new AppError('PAYLOAD_TOO_LARGE', `the body exceeds ${maxBytes} bytes`)
      if (!parser.write(value)) await arriving.orFailed(once(parser, 'drain'))
    }
    const finished = once(parser, 'finish')
    parser.end()
    await arriving.orFailed(finished)
    await arriving.ended()
    return arriving.parts()
  } catch (error) {
    void discardRest(bytes)
    await arriving.stop(asError(error))
    throw error
  }
}

/** Discards the rest of a refused body, so that the client can read the error. */
async function discardRest(bytes: AsyncIterator<Buffer>): Promise<void> {
  try {
    while (!(await bytes.next()).done);
  } catch {
    // The client disconnected.
  }
}

/** Parts of one body received so far. */
class Arriving<T> {
  readonly #reading: Reading<T>
  readonly #fields: [string, string][] = []
  readonly #told: unknown[] = []
  readonly #counts = new Map<string, number>()
  readonly #open = new Set<Readable>()
  readonly #failed: Promise<never>
  #fail: (error: Error) => void = () => undefined
  /** Files are taken one after the other, in order. */
  #taking: Promise<void> = Promise.resolve()

  constructor(parser: BusboyInstance, reading: Reading<T>) {
    this.#reading = reading
    this.#failed = new Promise((_resolve, reject) => {
      this.#fail = reject
    })
    this.#failed.catch(() => undefined)
    parser.on('error', (error) => this.#fail(malformed(error)))
    parser.on('field', (name, value, _nameCut, valueCut) => this.#field(name, value, valueCut))
    parser.on('file', (name, stream, filename, _encoding, type) => this.#file(name, stream, filename, type))
    parser.on('partsLimit', () => this.#fail(new AppError('PAYLOAD_TOO_LARGE', 'the body has too many parts')))
  }

  orFailed<V>(other: Promise<V>): Promise<V> {
    return Promise.race([other, this.#failed])
  }

  ended(): Promise<void> {
    return this.orFailed(this.#taking)
  }

  /** Aborts files being read and waits for their readers. */
  async stop(error: Error): Promise<void> {
    for (const stream of this.#open) stream.destroy(error)
    await this.#taking.catch(() => undefined)
  }

  parts(): Parts {
    return { fields: this.#fields, digest: JSON.stringify(this.#told) }
  }

  #field(name: string | undefined, value: string, isCut: boolean): void {
    if (isCut) return this.#fail(new AppError('PAYLOAD_TOO_LARGE', `a field has more than ${maxFieldBytes} bytes`))
    if (name === undefined || name === '__proto__') return this.#fail(malformed('a part has no name'))
    if (name.includes('\u0000') || value.includes('\u0000'))
      return this.#fail(malformed('a field contains the character U+0000'))
    this.#fields.push([name, value])
    this.#told.push([name, value])
  }

  #file(name: string | undefined, stream: Readable, filename: string | undefined, type: string): void {
    const at = this.#told.push(null) - 1
    this.#open.add(stream)
    // A truncated body is reported to the file's reader and by the parser.
    stream.on('error', () => undefined)
    this.#taking = this.#taking.then(async () => {
      const file = await this.#take(name ?? '', stream, filename, type)
      this.#open.delete(stream)
      this.#told[at] = [file.part, file.name, file.type, file.sha256]
    })
    this.#taking.catch((error: unknown) => this.#fail(asError(error)))
  }

  async #take(given: string, stream: Readable, filename: string | undefined, type: string): Promise<ReceivedFile<T>> {
    const { part, maxBytes } = this.#partOf(given)
    const sha = createHash('sha256')
    let size = 0
    async function* read(): AsyncGenerator<Buffer> {
      for await (const chunk of stream.iterator({ destroyOnReturn: false })) {
        size += chunk.length
        if (size > maxBytes) throw new AppError('PAYLOAD_TOO_LARGE', `${part} exceeds ${maxBytes} bytes`)
        sha.update(chunk)
        yield chunk
      }
    }
    const about = { part, name: nameOf(filename), type }
    const kept = await this.#reading.take({ ...about, bytes: read() })
    const file = (): ReceivedFile<T> => ({ ...about, size, sha256: sha.copy().digest('hex'), kept })
    try {
      // Drain what the handler did not read, so that it is counted and the next part can come.
      for await (const _ of read());
    } finally {
      this.#reading.taken(file())
    }
    return file()
  }

  /** A route with one file accepts it under any name. */
  #partOf(given: string): { part: string; maxBytes: number } {
    const names = Object.keys(this.#reading.files)
    const part = names.length === 1 ? (names[0] ?? given) : given
    const declared = Object.hasOwn(this.#reading.files, part) ? this.#reading.files[part] : undefined
    if (!declared)
      throw new AppError('VALIDATION_ERROR', `${printable(given)} is no part for a file: send ${names.join(', ')}`)
    const count = (this.#counts.get(part) ?? 0) + 1
    this.#counts.set(part, count)
    const { maxBytes, most = 1 } = declared
    if (count > most)
      throw new AppError('VALIDATION_ERROR', `${part} is there more than ${most === 1 ? 'once' : `${most} times`}`)
    return { part, maxBytes }
  }
}

function parserOf(contentType: string): BusboyInstance {
  try {
    return new Busboy({
      headers: { 'content-type': contentType },
      limits: { fieldSize: maxFieldBytes, parts: maxFields, headerPairs: 20, headerSize: maxHeaderBytes },
    })
  } catch (error) {
    throw malformed(error)
  }
}

/** File name safe to store. */
function nameOf(given: string | undefined): string | null {
  const name = (given ?? '')
    .toWellFormed()
    .replaceAll(/\p{Cc}/gu, '')
    .trim()
    .slice(0, 255)
  return name === '' ? null : name
}

function malformed(reason: unknown): AppError {
  const words = reason instanceof Error ? reason.message : String(reason)
  return new AppError('INVALID_REQUEST', `the multipart body cannot be read: ${words}`, { cause: reason })
}
