// SPDX-License-Identifier: Apache-2.0
// Compose the message for one recipient: placeholders, tracked links and pixel, header fields, DKIM signatures.

import { parseMailbox } from '../../../kernel/email-address.ts'
import { AppError } from '../../../kernel/errors.ts'
import { idOf } from '../../../kernel/ids.ts'
import type { App } from '../../../platform/app.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import { dkimSignatures } from '../../../protocols/dkim/sign.ts'
import { type Attachment, compose } from '../../../protocols/mime/compose.ts'
import { encodeText } from '../../../protocols/mime/encoding.ts'
import { headerField, mailboxText, textField } from '../../../protocols/mime/header.ts'
import { isAttached, parseMessage, partOf, textOf } from '../../../protocols/mime/parse.ts'
import type { Content, ContentBody } from '../contents.ts'
import type { Sender } from '../domains/senders.ts'
import { compile, render } from '../templates/engine.ts'
import { loadVersion } from '../templates/versions.ts'
import { addPicture, rewriteLinks, textOfHtml } from '../tracking/html.ts'
import { envelopeLocal, linkToken, type Recipient } from '../tracking/token.ts'
import type { OutgoingRow } from './load.ts'

export interface Composed {
  readonly bytes: Buffer
  readonly envelopeFrom: string
}

export async function composeFor(
  app: App,
  tenant: Tenant,
  row: OutgoingRow,
  content: Content,
  sender: Sender,
): Promise<Composed> {
  const recipient: Recipient = { tenant, message: row.id, number: row.number }
  const marks = marksOf(app, recipient, row, sender)
  const unsigned = content.raw
    ? rawFor(content.raw, marks, content.body.unsubscribe)
    : await partsFor(app, tenant, row, content, sender, marks)
  const signatures = await dkimSignatures(unsigned, sender.keys, app.clock.nowMs())
  return {
    bytes: Buffer.concat([Buffer.from(signatures), unsigned]),
    envelopeFrom: `${envelopeLocal(app, 'b', recipient)}@${sender.returnPath}`,
  }
}

/** Per-recipient URLs that lead back here. */
interface Marks {
  html(html: string): string
  readonly unsubscribeUrl: string
  readonly unsubscribeFields: string
}

function marksOf(app: App, recipient: Recipient, row: OutgoingRow, sender: Sender): Marks {
  const unsubscribeUrl = `${sender.trackingUrl}/u/${linkToken(app, 'unsubscribe', recipient)}`
  const link = (url: string, index: number): string | null => {
    if (url === unsubscribeUrl) return null
    const token = linkToken(app, 'click', recipient, index, url)
    return `${sender.trackingUrl}/t/c/${token}?u=${encodeURIComponent(url)}`
  }
  return {
    html(given) {
      const linked = row.track_clicks ? rewriteLinks(given, link) : given
      return row.track_opens
        ? addPicture(linked, `${sender.trackingUrl}/t/o/${linkToken(app, 'open', recipient)}.gif`)
        : linked
    },
    unsubscribeUrl,
    unsubscribeFields:
      headerField(
        'List-Unsubscribe',
        `<${unsubscribeUrl}>, <mailto:${envelopeLocal(app, 'u', recipient)}@${sender.returnPath}>`,
      ) + headerField('List-Unsubscribe-Post', 'List-Unsubscribe=One-Click'),
  }
}

async function partsFor(
  app: App,
  tenant: Tenant,
  row: OutgoingRow,
  content: Content,
  sender: Sender,
  marks: Marks,
): Promise<Buffer> {
  const { body } = content
  const said = await rendered(app, tenant, row, body, marks)
  const html = said.html === null ? null : marks.html(said.html)
  const text = said.text ?? (said.html === null ? null : textOfHtml(said.html))
  return compose({
    fields: fieldsOf(row, body, sender, marks, said.subject),
    html,
    text: text === '' && html !== null ? null : text,
    attachments: attachmentsOf(content),
  })
}

export interface Said {
  readonly subject: string
  readonly html: string | null
  readonly text: string | null
  readonly missing: readonly string[]
}

/** Rendered subject, html and text for one recipient. */
export async function rendered(
  app: App,
  tenant: Tenant,
  row: Pick<OutgoingRow, 'id' | 'email' | 'name' | 'variables'>,
  body: ContentBody,
  { unsubscribeUrl }: { unsubscribeUrl: string },
): Promise<Said> {
  const version = body.template && (await loadVersion(app, tenant, body.template.id, body.template.version))
  if (body.template && !version) throw new AppError('TEMPLATE_NOT_FOUND', 'the version of the template is gone')
  const subject = body.subject ?? version?.subject ?? ''
  const html = body.html ?? version?.html ?? null
  const text = body.text ?? version?.text ?? null
  if (!body.renders) return { subject, html, text, missing: [] }
  const builtIn = { unsubscribe_url: unsubscribeUrl, email: row.email, message_id: idOf('email', row.id) }
  const own = row.name === null ? {} : { name: row.name }
  const scopes = [builtIn, row.variables ?? {}, own, body.variables, version?.defaults ?? {}]
  const fill = (source: string, kind: 'html' | 'text' | 'subject') => render(compile(source, kind), scopes)
  const filled = {
    subject: fill(subject, 'subject'),
    html: html === null ? null : fill(html, 'html'),
    text: text === null ? null : fill(text, 'text'),
  }
  return {
    subject: filled.subject.text,
    html: filled.html?.text ?? null,
    text: filled.text?.text ?? null,
    missing: [...new Set([filled.subject, filled.html, filled.text].flatMap((one) => one?.missing ?? []))],
  }
}

function fieldsOf(row: OutgoingRow, body: ContentBody, sender: Sender, marks: Marks, subject: string): string[] {
  const recipient = mailboxText({ name: row.name, address: row.email })
  const mailboxes = (texts: readonly string[]) =>
    texts.map((text) => mailboxText(parseMailbox(text) ?? { name: null, address: text })).join(', ')
  const id = idOf('email', row.id)
  return [
    headerField('From', mailboxText(body.from)),
    ...(body.to === null
      ? [headerField('To', recipient)]
      : body.to.length > 0
        ? [headerField('To', mailboxes(body.to))]
        : []),
    ...(body.cc.length > 0 ? [headerField('Cc', mailboxes(body.cc))] : []),
    textField('Subject', subject),
    headerField('Date', dateText(row.created_at)),
    headerField('Message-ID', `<${id}@${sender.domain}>`),
    ...(body.replyTo.length > 0 ? [headerField('Reply-To', mailboxes(body.replyTo))] : []),
    ...Object.entries(body.headers).map(([name, value]) => textField(name, value)),
    ...(body.unsubscribe ? [marks.unsubscribeFields] : []),
    ...(row.stream === 'bulk'
      ? [
          headerField('Feedback-ID', `${row.bulk_id ? idOf('emailBulk', row.bulk_id) : id}:${sender.domain}:pamoja`),
          headerField('Precedence', 'bulk'),
        ]
      : []),
  ]
}

export function dateText(at: Date): string {
  return at.toUTCString().replace('GMT', '+0000')
}

function attachmentsOf({ body, files }: Content): Attachment[] {
  let at = 0
  return body.attachments.map(({ size, ...file }) => {
    const bytes = files?.subarray(at, at + size) ?? Buffer.alloc(0)
    at += size
    return { ...file, content: bytes }
  })
}

/** Submitted message with its html part replaced; the rest is unchanged byte for byte. */
function rawFor(raw: Buffer, marks: Marks, unsubscribe: boolean): Buffer {
  const front = Buffer.from(unsubscribe ? marks.unsubscribeFields : '')
  const part = partOf(parseMessage(raw), 'text/html')
  if (!part || isAttached(part)) return Buffer.concat([front, raw])
  const before = textOf(raw, part)
  const marked = marks.html(before)
  if (marked === before) return Buffer.concat([front, raw])
  const { encoding, body } = encodeText(marked)
  const header = part.fields
    .filter(({ name }) => !/^content-(?:type|transfer-encoding)$/i.test(name))
    .map((field) => field.raw)
    .join('')
  const fields =
    header +
    headerField('Content-Type', 'text/html; charset=utf-8') +
    headerField('Content-Transfer-Encoding', encoding)
  return Buffer.concat([
    front,
    raw.subarray(0, part.headerAt),
    Buffer.from(`${fields}\r\n${body}`),
    raw.subarray(part.endAt),
  ])
}
