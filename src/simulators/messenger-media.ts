// SPDX-License-Identifier: Apache-2.0
// Files that a messenger provider is given, as multipart/form-data: their kind, size and hash; small ones are kept for a while,
// so that they can be fetched again.
import { createHash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'

export interface StoredMedia {
  type: string
  bytes: number
  sha256: string
  /** URL of the bytes, when they are hosted elsewhere. */
  url: string | null
  /** The bytes of a small file. */
  content?: Buffer | null
}

const maxHeadBytes = 64 * 1024
/** Largest file that is kept. */
const maxKeptBytes = 1024 * 1024

/** Reads the part named `file` of an upload; null when there is none. */
export async function readUpload(request: IncomingMessage): Promise<StoredMedia | null> {
  const [, boundary] = /^multipart\/form-data;.*boundary="?([^";]+)/i.exec(request.headers['content-type'] ?? '') ?? []
  const hash = createHash('sha256')
  const delimiter = Buffer.from(`\r\n--${boundary}`)
  const kept: Buffer[] = []
  let state: 'before' | 'inside' | 'after' = 'before'
  let type = ''
  let bytes = 0
  let rest = Buffer.alloc(0)
  const take = (piece: Buffer): void => {
    hash.update(piece)
    bytes += piece.length
    if (bytes <= maxKeptBytes) kept.push(Buffer.from(piece))
  }
  for await (const chunk of request) {
    if (state === 'after') continue
    rest = Buffer.concat([rest, Buffer.from(chunk)])
    if (state === 'before') {
      const head = rest.subarray(0, maxHeadBytes).toString('latin1')
      const found = /content-disposition:[^\r\n]*name="?file"?[\s\S]*?\r\n\r\n/i.exec(head)
      if (!found) continue
      type = /content-type: *([\w./+-]+)/i.exec(found[0])?.[1] ?? ''
      rest = rest.subarray(found.index + found[0].length)
      state = 'inside'
    }
    const end = rest.indexOf(delimiter)
    const safe = end >= 0 ? end : Math.max(0, rest.length - delimiter.length)
    take(rest.subarray(0, safe))
    rest = rest.subarray(safe)
    if (end >= 0) state = 'after'
  }
  if (boundary === undefined || state !== 'after' || bytes === 0) return null
  return {
    type,
    bytes,
    sha256: hash.digest('hex'),
    url: null,
    content: bytes <= maxKeptBytes ? Buffer.concat(kept) : null,
  }
}
