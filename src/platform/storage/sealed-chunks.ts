// SPDX-License-Identifier: Apache-2.0
// Encrypted files: chunks of 64 KiB, each sealed separately (AES-256-GCM), so that any range can be read alone. A key
// seals one file once; the chunk number and last-chunk flag are in the nonce, so that chunks cannot be swapped or
// dropped.
import { createCipheriv, createDecipheriv } from 'node:crypto'

const chunkBytes = 64 * 1024
const tagBytes = 16
const sealedChunkBytes = chunkBytes + tagBytes
const algorithm = 'aes-256-gcm'

export interface ByteRange {
  readonly start: number
  /** End of the range, exclusive. */
  readonly end: number
}

/** Seals a stream in chunks, holding one at a time. */
export async function* seal(key: Buffer, bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let index = 0
  let held: Buffer[] = []
  let heldBytes = 0
  for await (const piece of bytes) {
    held.push(piece)
    heldBytes += piece.length
    // A full chunk waits for another byte: the last one must be flagged.
    if (heldBytes <= chunkBytes) continue
    const gathered = Buffer.concat(held)
    let at = 0
    for (; gathered.length - at > chunkBytes; at += chunkBytes)
      yield sealChunk(key, index++, false, gathered.subarray(at, at + chunkBytes))
    held = [gathered.subarray(at)]
    heldBytes = gathered.length - at
  }
  yield sealChunk(key, index, true, Buffer.concat(held))
}

/** Range of sealed bytes that holds a range of the file. */
export function sealedRange(fileBytes: number, { start, end }: ByteRange): ByteRange {
  const first = Math.floor(start / chunkBytes)
  const last = chunkOf(Math.max(start, end - 1))
  const isLast = last === lastChunk(fileBytes)
  return {
    start: first * sealedChunkBytes,
    end: isLast ? sealedSize(fileBytes) : (last + 1) * sealedChunkBytes,
  }
}

/** Decrypts a range from the sealed bytes of `sealedRange`. Throws when they were changed. */
export async function* open(
  key: Buffer,
  fileBytes: number,
  range: ByteRange,
  sealed: AsyncIterable<Buffer>,
): AsyncGenerator<Buffer> {
  let index = chunkOf(range.start)
  const end = chunkOf(Math.max(range.start, range.end - 1))
  let held: Buffer = Buffer.alloc(0)
  for await (const piece of sealed) {
    held = held.length === 0 ? piece : Buffer.concat([held, piece])
    for (; index <= end; index++) {
      const wanted = sizeOfChunk(fileBytes, index) + tagBytes
      if (held.length < wanted) break
      const chunk = openChunk(key, index, index === lastChunk(fileBytes), held.subarray(0, wanted))
      held = held.subarray(wanted)
      const chunkStart = index * chunkBytes
      const part = chunk.subarray(Math.max(0, range.start - chunkStart), range.end - chunkStart)
      if (part.length > 0) yield part
    }
  }
  if (index <= end) throw new Error('a file in storage ends before its time')
}

/** Decrypts what there is of an unfinished file, chunk by chunk: it ends before the first one that is not whole. */
export async function* openUnfinished(key: Buffer, sealed: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let index = 0
  let held: Buffer = Buffer.alloc(0)
  for await (const piece of sealed) {
    held = held.length === 0 ? piece : Buffer.concat([held, piece])
    for (; held.length >= sealedChunkBytes; held = held.subarray(sealedChunkBytes)) {
      const chunk = openedOrNull(key, index, false, held.subarray(0, sealedChunkBytes))
      if (chunk) yield chunk
      // A last chunk may be full.
      else return yield* lastOf(key, index, held.subarray(0, sealedChunkBytes))
      index++
    }
  }
  yield* lastOf(key, index, held)
}

/** The last chunk, where the writer came to it. */
function* lastOf(key: Buffer, index: number, sealed: Buffer): Generator<Buffer> {
  const chunk = sealed.length > tagBytes ? openedOrNull(key, index, true, sealed) : null
  if (chunk) yield chunk
}

function openedOrNull(key: Buffer, index: number, isLast: boolean, sealed: Buffer): Buffer | null {
  try {
    return openChunk(key, index, isLast, sealed)
  } catch {
    return null
  }
}

function chunkOf(at: number): number {
  return Math.floor(at / chunkBytes)
}

function lastChunk(fileBytes: number): number {
  return Math.max(0, Math.ceil(fileBytes / chunkBytes) - 1)
}

function sizeOfChunk(fileBytes: number, index: number): number {
  return index === lastChunk(fileBytes) ? fileBytes - index * chunkBytes : chunkBytes
}

function sealedSize(fileBytes: number): number {
  return fileBytes + (lastChunk(fileBytes) + 1) * tagBytes
}

function sealChunk(key: Buffer, index: number, isLast: boolean, chunk: Buffer): Buffer {
  const cipher = createCipheriv(algorithm, key, nonce(index, isLast), { authTagLength: tagBytes })
  return Buffer.concat([cipher.update(chunk), cipher.final(), cipher.getAuthTag()])
}

function openChunk(key: Buffer, index: number, isLast: boolean, sealed: Buffer): Buffer {
  const decipher = createDecipheriv(algorithm, key, nonce(index, isLast), { authTagLength: tagBytes })
  const tagAt = sealed.length - tagBytes
  decipher.setAuthTag(sealed.subarray(tagAt))
  const chunk = decipher.update(sealed.subarray(0, tagAt))
  try {
    return Buffer.concat([chunk, decipher.final()])
  } catch {
    throw new Error('a file in storage is not what was put there')
  }
}

function nonce(index: number, isLast: boolean): Buffer {
  const bytes = Buffer.alloc(12)
  bytes.writeUInt32BE(index, 7)
  bytes[11] = isLast ? 1 : 0
  return bytes
}
