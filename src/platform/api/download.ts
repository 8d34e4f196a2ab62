// SPDX-License-Identifier: Apache-2.0
// Download: metadata of a file and how to read any part of it. `http/downloads.ts` serves ranges, validators and HEAD
// from it, for routes and hooks.
import { hash } from 'node:crypto'

/** Byte range, both ends included. */
export interface ByteRange {
  readonly first: number
  readonly last: number
}

export interface Download {
  /** Content type, with charset where it has one. */
  readonly type: string
  /** Size in bytes; null when unknown, which disables ranges. */
  readonly size: number | null
  /** ETag: a hash, or the id of immutable content. */
  readonly tag: string
  /** File name for saving. */
  readonly name?: string
  /** Shown by a browser or saved; saved by default. */
  readonly disposition?: 'inline' | 'attachment'
  /** Additional headers. */
  readonly headers?: Readonly<Record<string, string>>
  /** Reads a range, or everything when `size` is null. Stopped when the client disconnects. */
  open(range: ByteRange | null): AsyncIterable<Buffer> | Promise<AsyncIterable<Buffer>>
}

/** Download of bytes in memory, with their hash as ETag. */
export function inMemory(bytes: Buffer, facts: Omit<Download, 'size' | 'tag' | 'open'>): Download {
  return {
    ...facts,
    size: bytes.length,
    tag: hash('sha256', bytes, 'base64url').slice(0, 22),
    async *open(range) {
      yield range === null ? bytes : bytes.subarray(range.first, range.last + 1)
    },
  }
}
