// SPDX-License-Identifier: Apache-2.0
// Download: the description of a file, and how any part of it is read. Ranges, validators and HEAD are answered
// from this by `http/downloads.ts`, for routes and for hooks alike.
import { hash } from 'node:crypto'

/** The first and the last byte, both of them part of it. */
export interface ByteRange {
  readonly first: number
  readonly last: number
}

export interface Download {
  /** The content type, with its charset where it has one. */
  readonly type: string
  /** How many bytes there are; null when nobody knows before the end, and then no ranges are given. */
  readonly size: number | null
  /** What tells this content from every other under the same address: a hash, or the id of what never changes. */
  readonly tag: string
  /** File name for saving. */
  readonly name?: string
  /** Shown by a browser, or saved; saved unless it says so. */
  readonly disposition?: 'inline' | 'attachment'
  /** Headers beside those that every download has. */
  readonly headers?: Readonly<Record<string, string>>
  /** Reads a part, or everything where `size` is null. Stopped half-way when nobody reads on. */
  open(range: ByteRange | null): AsyncIterable<Buffer> | Promise<AsyncIterable<Buffer>>
}

/** Bytes that are in memory as a whole; their hash tells them apart. */
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
