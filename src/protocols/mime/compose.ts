// SPDX-License-Identifier: Apache-2.0
// A message made of its parts (RFC 2045, 2046, 2183, 2387): text and html as alternatives, images beside the html they are
// in, files after both. Gives the bytes that are signed and sent, lines ending in CR LF.
import { randomBytes } from 'node:crypto'
import { base64Lines, encodeText } from './encoding.ts'
import { headerField } from './header.ts'

export interface Attachment {
  readonly filename: string
  readonly contentType: string
  readonly content: Buffer
  readonly disposition: 'attachment' | 'inline'
  /** Content id without the angle brackets. */
  readonly contentId: string | null
}

export interface Parts {
  /** Fields of the message, each as headerField gives it. MIME-Version and Content-* are added. */
  readonly fields: readonly string[]
  readonly text: string | null
  readonly html: string | null
  readonly attachments: readonly Attachment[]
}

interface Entity {
  readonly header: string
  readonly body: Buffer
}

export function compose({ fields, text, html, attachments }: Parts): Buffer {
  const inline = attachments.filter(({ disposition }) => disposition === 'inline')
  const files = attachments.filter(({ disposition }) => disposition === 'attachment')
  let htmlPart = html === null ? null : textEntity('html', html)
  if (htmlPart && inline.length > 0) htmlPart = multipart('related', [htmlPart, ...inline.map(fileEntity)])
  const textPart = text === null ? null : textEntity('plain', text)
  const bodies = [textPart, htmlPart].filter((part) => part !== null)
  const [only = textEntity('plain', '')] = bodies
  const body = bodies.length > 1 ? multipart('alternative', bodies) : only
  const beside = htmlPart ? files : attachments
  const whole = beside.length > 0 ? multipart('mixed', [body, ...beside.map(fileEntity)]) : body
  return Buffer.concat([Buffer.from(`${fields.join('')}MIME-Version: 1.0\r\n${whole.header}\r\n`), whole.body])
}

function textEntity(subtype: 'plain' | 'html', content: string): Entity {
  const { encoding, body } = encodeText(content)
  const header =
    headerField('Content-Type', `text/${subtype}; charset=utf-8`) + headerField('Content-Transfer-Encoding', encoding)
  return { header, body: Buffer.from(`${body}\r\n`) }
}

function fileEntity({ filename, contentType, content, disposition, contentId }: Attachment): Entity {
  const header =
    headerField('Content-Type', `${contentType}; name="${asciiName(filename)}"`) +
    headerField('Content-Disposition', `${disposition}; ${filenameParameter(filename)}`) +
    (contentId === null ? '' : headerField('Content-ID', `<${contentId}>`)) +
    headerField('Content-Transfer-Encoding', 'base64')
  return { header, body: Buffer.from(`${base64Lines(content)}\r\n`) }
}

/** A name beyond ASCII as RFC 2231 has it, alone: readers that are given a plain one beside it show that. */
function filenameParameter(filename: string): string {
  if (asciiName(filename) === filename) return `filename="${filename}"`
  const encoded = encodeURIComponent(filename).replace(/['()*!]/g, (c) => `%${c.charCodeAt(0).toString(16)}`)
  return `filename*=UTF-8''${encoded}`
}

/** A name for readers that know ASCII only: accents go, and what is left of the rest, with its ending. */
function asciiName(filename: string): string {
  const plain = filename
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[^ -~]|["\\]/g, '')
  if (plain === filename) return filename
  const [, base = '', ending = ''] = /^(.*?)(\.\w{1,10})?$/s.exec(plain) ?? []
  return `${base.replace(/ +/g, ' ').trim() || 'attachment'}${ending}`
}

function multipart(kind: 'alternative' | 'related' | 'mixed', parts: readonly Entity[]): Entity {
  const boundary = `=_${randomBytes(15).toString('hex')}`
  const type = kind === 'related' ? 'multipart/related; type="text/html"' : `multipart/${kind}`
  const pieces = parts.flatMap(({ header, body }) => [Buffer.from(`--${boundary}\r\n${header}\r\n`), body])
  return {
    header: headerField('Content-Type', `${type}; boundary="${boundary}"`),
    body: Buffer.concat([...pieces, Buffer.from(`--${boundary}--\r\n`)]),
  }
}
