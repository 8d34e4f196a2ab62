// SPDX-License-Identifier: Apache-2.0
// Storage place for encrypted bytes: a directory or an object store.
import type { ByteRange } from './sealed-chunks.ts'

export interface Place {
  /** Name in file rows. */
  readonly name: string
  /** Store under a new name; durable when it resolves. */
  write(name: string, bytes: AsyncIterable<Buffer>): Promise<void>
  read(name: string, range: ByteRange): AsyncIterable<Buffer>
  /** Remove a file, also a partial one; idempotent. */
  remove(name: string): Promise<void>
}
