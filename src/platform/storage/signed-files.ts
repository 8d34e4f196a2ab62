// SPDX-License-Identifier: Apache-2.0
// Downloads of files by signed URL.
import { AppError } from '../../kernel/errors.ts'
import type { Download } from '../api/download.ts'
import { hook } from '../api/hook.ts'
import type { OpenedFile } from '../storage.ts'

export const signedFiles = hook({
  methods: ['GET', 'HEAD'],
  path: '/files/:token',
  operation: 'files.read',
  summary: 'Download a file by signed URL',
  maxBytes: 1_024,
  limits: [{ by: 'token', perMinute: 600 }],
  async handle(app, { params }) {
    const opened = await app.storage.openByToken(params.token)
    if (opened === null) throw new AppError('NOT_FOUND', 'there is no file at this URL, or the URL has expired')
    return downloadOf(opened)
  },
})

/** Download of a stored file. */
export function downloadOf({ file, read }: OpenedFile): Download {
  return {
    type: file.type,
    size: file.bytes,
    tag: file.sha256.toString('hex'),
    ...(file.name === null ? {} : { name: file.name }),
    open: (range) => read(range === null ? undefined : { start: range.first, end: range.last + 1 }),
  }
}
