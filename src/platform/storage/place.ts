// SPDX-License-Identifier: Apache-2.0
// Storage place for encrypted bytes: a directory or an object store.
import type { ByteRange } from './sealed-chunks.ts'

export interface Place {
  /** Name in file rows. */
  readonly name: string
  /** Stores under a new name; durable when it resolves. One that `isSalvaged` can be salvaged before. */
  write(name: string, bytes: AsyncIterable<Buffer>, isSalvaged: boolean): Promise<void>
  read(name: string, range: ByteRange): AsyncIterable<Buffer>
  /** Bytes that arrived of a file whose writer died; none where nothing did. */
  salvage(name: string): AsyncIterable<Buffer>
  /** Removes a file, also a partial one; idempotent. */
  remove(name: string, isSalvaged: boolean): Promise<void>
}
