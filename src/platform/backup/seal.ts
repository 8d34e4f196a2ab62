// SPDX-License-Identifier: Apache-2.0
// The end of a backup file: a checksum of every byte before it as it is on the disk. gzip has one too, but only of what it
// packs: its header, the filling at its end and repetitions that could be copied from elsewhere may change unseen.
//
// The seal is a gzip member of its own that unpacks to nothing, so that any gunzip still reads the file. It carries the
// checksum in a field of its header (RFC 1952, 2.3.1.1), and every one of its bytes follows from it.
import { createHash } from 'node:crypto'

const hashBytes = 32
/**
 * Gzip header: deflate, extra field, no time, system unknown; then the length of all extra fields and of this one,
 * `Pj`.
 */
const head = Buffer.from([0x1f, 0x8b, 8, 4, 0, 0, 0, 0, 0, 255, 4 + hashBytes, 0, 0x50, 0x6a, hashBytes, 0])
/** Empty block, its checksum and length. */
const tail = Buffer.from([3, 0, 0, 0, 0, 0, 0, 0, 0, 0])
export const sealBytes = head.length + hashBytes + tail.length

/** Passes the content through and appends its seal. */
export async function* seal(content: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const hash = createHash('sha256')
  for await (const chunk of content) {
    hash.update(chunk)
    yield chunk
  }
  yield sealOf(hash.digest())
}

/** Passes the content through without its seal; returns whether the seal is valid. */
export async function* unseal(content: AsyncIterable<Buffer>): AsyncGenerator<Buffer, boolean> {
  const hash = createHash('sha256')
  let held: Buffer = Buffer.alloc(0)
  for await (const chunk of content) {
    const bytes = Buffer.concat([held, chunk])
    const end = Math.max(0, bytes.length - sealBytes)
    held = bytes.subarray(end)
    if (end === 0) continue
    hash.update(bytes.subarray(0, end))
    yield bytes.subarray(0, end)
  }
  return held.equals(sealOf(hash.digest()))
}

function sealOf(digest: Buffer): Buffer {
  return Buffer.concat([head, digest, tail])
}
