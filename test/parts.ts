// SPDX-License-Identifier: Apache-2.0
// A multipart/form-data body as browsers and curl write it, for requests of a test.
import type { RequestOptions } from './client.ts'

interface FileSent {
  part: string
  content: string | Buffer
  name?: string
  type?: string
}

const boundary = '----pamoja-test-boundary'

/** Options of a request with fields and files; `filesFirst` sends the files before the fields that say what they are. */
export function parts(
  fields: Readonly<Record<string, string>>,
  files: readonly FileSent[],
  {
    headers = {},
    filesFirst = false,
    cutBytes = 0,
  }: { headers?: Record<string, string>; filesFirst?: boolean; cutBytes?: number } = {},
): RequestOptions {
  const fieldParts = Object.entries(fields).map(([name, value]) =>
    Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`),
  )
  const fileParts = files.map(({ part, content, name = 'a.txt', type = 'text/plain' }) =>
    Buffer.concat([
      Buffer.from(
        `--${boundary}\r\nContent-Disposition: form-data; name="${part}"; filename="${name}"\r\nContent-Type: ${type}\r\n\r\n`,
      ),
      Buffer.from(content),
      Buffer.from('\r\n'),
    ]),
  )
  const all = filesFirst ? [...fileParts, ...fieldParts] : [...fieldParts, ...fileParts]
  const raw = Buffer.concat([...all, Buffer.from(`--${boundary}--\r\n`)])
  return {
    raw: raw.subarray(0, raw.length - cutBytes),
    headers: { 'content-type': `multipart/form-data; boundary=${boundary}`, ...headers },
  }
}
