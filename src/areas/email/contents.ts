// SPDX-License-Identifier: Apache-2.0
// Content of a message or bulk, stored once and read by every job that sends it. Small contents are written in the
// accepting commit; large ones before it, so that group commits stay small. The content of a refused message is
// deleted; leftovers of a crash go with their partition.
import type { App } from '../../platform/app.ts'
import { maybe, type Queryable, statement } from '../../platform/db.ts'
import { onePerApp } from '../../platform/program/one-per-app.ts'
import { mine, type One, type Tenant } from '../../platform/tenant.ts'

/** Size limit in bytes for contents inside the commit. */
const maxCommittedBytes = 128 * 1024
const maxCachedBytes = 64 * 1024 * 1024
const maxCached = 2_000

export interface StoredAttachment {
  readonly filename: string
  readonly contentType: string
  readonly disposition: 'attachment' | 'inline'
  readonly contentId: string | null
  readonly size: number
}

export interface ContentBody {
  readonly from: { readonly name: string | null; readonly address: string }
  /** To header; null: each recipient alone. */
  readonly to: readonly string[] | null
  readonly cc: readonly string[]
  readonly replyTo: readonly string[]
  /** Subject; null for that of the template. */
  readonly subject: string | null
  readonly html: string | null
  /** Text part; null to generate it from the html, empty for none. */
  readonly text: string | null
  readonly template: { readonly id: string; readonly version: number } | null
  /** Whether placeholders are substituted. */
  readonly renders: boolean
  readonly headers: Readonly<Record<string, string>>
  readonly attachments: readonly StoredAttachment[]
  readonly unsubscribe: boolean
  /** Variables of a bulk, common to all recipients. */
  readonly variables: Readonly<Record<string, unknown>>
}

export interface Content {
  readonly body: ContentBody
  /** Message submitted over SMTP; null when composed from the body. */
  readonly raw: Buffer | null
  readonly files: Buffer | null
}

const insert = statement.tenant<One & { body: string; raw: Buffer | null; files: Buffer | null }, object>(
  'email.insert_content',
  `insert into email.contents (bucket, account_id, environment, id, body, raw, files)
   values ($bucket, $account, $environment, $id, $body::jsonb, $raw, $files)`,
)

const select = statement.tenant<One, { body: ContentBody; raw: Buffer | null; files: Buffer | null }>(
  'email.find_content',
  `select body, raw, files from email.contents where ${mine} and id = $id`,
)

export function sizeOf(content: Content): number {
  return JSON.stringify(content.body).length + filesOf(content)
}

function filesOf({ raw, files }: Pick<Content, 'raw' | 'files'>): number {
  return (raw?.length ?? 0) + (files?.length ?? 0)
}

/** Columns of a content stored with its message; all null when it was stored here beforehand. */
export async function contentColumns(app: App, tenant: Tenant, id: string, content: Content) {
  const body = JSON.stringify(content.body)
  if (body.length + filesOf(content) <= maxCommittedBytes)
    return { content_body: body, content_raw: content.raw, content_files: content.files }
  await app.db.query(insert, { ...tenant, id, body, raw: content.raw, files: content.files })
  return { content_body: null, content_raw: null, content_files: null }
}

const remove = statement.tenant<One, object>(
  'email.discard_content',
  `delete from email.contents where ${mine} and id = $id`,
)

/** Deletes a content stored ahead of a refused message. */
export async function discardContent(app: App, tenant: Tenant, id: string): Promise<void> {
  await app.db.query(remove, { ...tenant, id })
}

export async function insertContent(
  queryable: Queryable,
  tenant: Tenant,
  id: string,
  { body, raw, files }: Content,
): Promise<void> {
  await queryable.query(insert, { ...tenant, id, body: JSON.stringify(body), raw, files })
}

/** Cache of contents in use: a bulk needs its content for each recipient, and a node sends what it has just accepted. */
const cache = onePerApp(() => ({ contents: new Map<string, { content: Content; bytes: number }>(), bytes: 0 }))

export async function loadContent(app: App, tenant: Tenant, id: string): Promise<Content | null> {
  const found = cache(app).contents.get(id)
  if (found) return found.content
  const row = await maybe(app.db.query(select, { ...tenant, id }))
  if (row) keepContent(app, id, row)
  return row
}

/** Keeps a stored content for the jobs that send it. */
export function keepContent(app: App, id: string, content: Content): void {
  const known = cache(app)
  const bytes = sizeOf(content)
  known.bytes += bytes - (known.contents.get(id)?.bytes ?? 0)
  known.contents.set(id, { content, bytes })
  for (const [oldest, { bytes: freed }] of known.contents) {
    if (known.contents.size <= maxCached && known.bytes <= maxCachedBytes) break
    known.contents.delete(oldest)
    known.bytes -= freed
  }
}
