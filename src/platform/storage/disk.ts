// SPDX-License-Identifier: Apache-2.0
// Storage in a local directory. Nodes on several machines need a shared directory or an object store.
import { createReadStream } from 'node:fs'
import { mkdir, open, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { syncDirectory } from '../program/atomic-files.ts'
import type { Place } from './place.ts'
import type { ByteRange } from './sealed-chunks.ts'

const readAtOnce = 64 * 1024

export class Disk implements Place {
  readonly name = 'disk'
  readonly #directory: string

  constructor(directory: string) {
    this.#directory = directory
  }

  async write(name: string, bytes: AsyncIterable<Buffer>): Promise<void> {
    const file = join(this.#directory, name)
    const isNew = await mkdir(dirname(file), { recursive: true, mode: 0o700 })
    const handle = await open(file, 'wx', 0o600)
    try {
      for await (const piece of bytes) await handle.writeFile(piece)
      await handle.sync()
    } finally {
      await handle.close()
    }
    await syncDirectory(dirname(file))
    if (isNew !== undefined) await syncDirectory(this.#directory)
  }

  read(name: string, { start, end }: ByteRange): AsyncIterable<Buffer> {
    return createReadStream(join(this.#directory, name), { start, end: end - 1, highWaterMark: readAtOnce })
  }

  /** A file grows as it is written: what is there of it is what arrived. */
  async *salvage(name: string): AsyncGenerator<Buffer> {
    const handle = await open(join(this.#directory, name)).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return null
      throw error
    })
    if (handle) yield* handle.createReadStream({ highWaterMark: readAtOnce })
  }

  async remove(name: string): Promise<void> {
    await rm(join(this.#directory, name), { force: true })
  }
}
