// SPDX-License-Identifier: Apache-2.0
// The mailboxes of the sandbox: every message that its exchanger took, newest last, up to a bound of number and of bytes;
// and how each looks to a receiver that checks DKIM, SPF and DMARC.
import { randomBytes } from 'node:crypto'
import { type TextLookup, verifyDkim, verifyDmarc, verifySpf } from '../protocols/dkim/verify.ts'
import { decodeWords, fieldOf, parseHeader } from '../protocols/mime/header.ts'
import { bytesOf, everyPart, isAttached, parseMessage, partOf, textOf } from '../protocols/mime/parse.ts'
import { linksIn } from './mail-reader.ts'

const maxMessages = 5_000
const maxBytes = 128 * 1024 * 1024

export interface CaughtMessage {
  readonly id: string
  /** Envelope. */
  readonly from: string
  readonly to: string
  readonly content: Buffer
  readonly tls: string | null
  readonly peer: string
  readonly at: Date
}

export class MailCatcher {
  readonly #caught = new Map<string, CaughtMessage>()
  readonly #names: TextLookup
  #bytes = 0

  constructor(names: TextLookup) {
    this.#names = names
  }

  keep(message: Omit<CaughtMessage, 'id'>): CaughtMessage {
    const caught = { id: randomBytes(12).toString('hex'), ...message }
    this.#caught.set(caught.id, caught)
    this.#bytes += message.content.length
    for (const [id, { content }] of this.#caught) {
      if (this.#caught.size <= maxMessages && this.#bytes <= maxBytes) break
      this.#caught.delete(id)
      this.#bytes -= content.length
    }
    return caught
  }

  get(id: string): CaughtMessage | null {
    return this.#caught.get(id) ?? null
  }

  /** Newest first. */
  all(): CaughtMessage[] {
    return [...this.#caught.values()].reverse()
  }

  async checks({ content, from, peer, tls }: CaughtMessage) {
    const dkim = await verifyDkim(content, this.#names)
    const spf = await verifySpf(from.slice(from.lastIndexOf('@') + 1), peer, this.#names)
    const dmarc = await verifyDmarc(content, dkim, spf, this.#names)
    const { fields } = parseHeader(content)
    return {
      dkim,
      spf,
      dmarc,
      tls,
      headers: fields.map(({ name, value }) => ({ name, value })),
      links: linksOf(content),
    }
  }
}

/** A message as a mail program shows it. */
export function readMessage(content: Buffer) {
  const message = parseMessage(content)
  const html = partOf(message, 'text/html')
  const text = partOf(message, 'text/plain')
  const files = [...everyPart(message)].filter(isAttached)
  return {
    subject: decodeWords(fieldOf(message.fields, 'subject') ?? ''),
    header_from: decodeWords(fieldOf(message.fields, 'from') ?? ''),
    header_to: decodeWords(fieldOf(message.fields, 'to') ?? ''),
    html: html && textOf(content, html),
    text: text && !isAttached(text) ? textOf(content, text) : null,
    attachments: files.map((part) => ({
      filename: decodeWords(/filename="([^"]*)"/.exec(fieldOf(part.fields, 'content-disposition') ?? '')?.[1] ?? ''),
      content_type: part.type,
      size: bytesOf(content, part).length,
    })),
  }
}

function linksOf(content: Buffer): string[] {
  const html = partOf(parseMessage(content), 'text/html')
  return html ? linksIn(textOf(content, html)) : []
}
