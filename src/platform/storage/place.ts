// SPDX-License-Identifier: Apache-2.0
// Where the sealed bytes of files are kept. There are two kinds of places: a directory, and an object store.
import type { ByteRange } from './sealed-chunks.ts'

export interface Place {
  /** As rows of files name it. */
  readonly name: string
  /** Stores all of it under a name that was never used before; durable when it resolves. */
  write(name: string, bytes: AsyncIterable<Buffer>): Promise<void>
  read(name: string, range: ByteRange): AsyncIterable<Buffer>
  /** Removes it, also one of which only a part was written; nothing when it is not there. */
  remove(name: string): Promise<void>
}
