// SPDX-License-Identifier: Apache-2.0
// Attachments of a request: strict base64, a content type each, none that mail servers refuse.
import { AppError } from '../../../kernel/errors.ts'
import { isBase64 } from '../../../protocols/mime/encoding.ts'
import type { StoredAttachment } from '../contents.ts'

interface Given {
  filename: string
  content: string
  contentType?: string
  disposition?: 'attachment' | 'inline'
  content_id?: string
}

const blocked = new Set(
  'ade adp apk appx bat cab chm cmd com cpl dll exe hta iso jar js jse lnk msi msix ps1 reg scr sys vb vbe vbs wsf'.split(
    ' ',
  ),
)

const types: Readonly<Record<string, string>> = {
  csv: 'text/csv', gif: 'image/gif', htm: 'text/html', html: 'text/html', ics: 'text/calendar', jpeg: 'image/jpeg', jpg: 'image/jpeg',
  json: 'application/json', pdf: 'application/pdf', png: 'image/png', svg: 'image/svg+xml', txt: 'text/plain', vcf: 'text/vcard', webp: 'image/webp',
  xml: 'application/xml', zip: 'application/zip', doc: 'application/msword',
  docx: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document', xls: 'application/vnd.ms-excel',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
} // biome-ignore format: a table reads better dense

export function attachmentsOf(given: readonly Given[] = []): { attachments: StoredAttachment[]; files: Buffer | null } {
  const bytes: Buffer[] = []
  const attachments = given.map(
    ({ filename, content, contentType, disposition = 'attachment', content_id = null }, i) => {
      const extension = /\.([^.]+)$/.exec(filename.toLowerCase().replace(/[. ]+$/, ''))?.[1] ?? ''
      if (blocked.has(extension))
        throw new AppError('ATTACHMENT_BLOCKED', `attachments[${i}]: files that end in .${extension} are not sent`)
      if (content === '' || !isBase64(content))
        throw new AppError('VALIDATION_ERROR', `attachments[${i}].content must be base64`)
      const file = Buffer.from(content, 'base64')
      bytes.push(file)
      return {
        filename,
        contentType: contentType ?? types[extension] ?? 'application/octet-stream',
        disposition,
        contentId: content_id,
        size: file.length,
      }
    },
  )
  return { attachments, files: bytes.length > 0 ? Buffer.concat(bytes) : null }
}
