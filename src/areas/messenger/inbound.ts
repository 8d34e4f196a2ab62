// SPDX-License-Identifier: Apache-2.0
// Inbound message of a user, stored once however often the provider reports it, with its file. In one transaction it
// opens the 24-hour window, applies STOP and START, and emits the event.
import { usualCommandOf } from '../../kernel/handset-words.ts'
import { idOf, newUuid } from '../../kernel/ids.ts'
import { dayMs } from '../../kernel/time.ts'
import type { App } from '../../platform/app.ts'
import { one, statement, type Tx } from '../../platform/db.ts'
import { type Occasion, occasionNow } from '../../platform/events.ts'
import type { ArrivedFile } from '../../platform/storage.ts'
import type { Tenant } from '../../platform/tenant.ts'
import type { GraphInbound } from '../../protocols/graph.ts'
import { membersOf, textOf } from '../../protocols/json.ts'
import type { Channel } from './channels.ts'
import { inboundTypes, messengerEvents } from './events.ts'
import { mediaIdOf } from './media/media.ts'
import { copyIn } from './media/provider-media.ts'
import { findByProviderId } from './store.ts'

const claimProviderId = statement.tenant<Tenant & { providerId: string; id: string }, { id: string }>(
  'messenger.claim_provider_id',
  `insert into messenger.provider_ids (provider_id, bucket, account_id, environment, id)
   values ($providerId, $bucket, $account, $environment, $id) on conflict do nothing returning id`,
)

const insertInbound = statement.tenant<
  Tenant & {
    id: string
    type: string
    recipient: string
    sender: string
    content: string
    contextId: string | null
    providerId: string
    offsetMs: number
    at: Date
  },
  object
>(
  'messenger.insert_inbound',
  `insert into messenger.messages (bucket, account_id, environment, id, direction, status, type, recipient, sender, content,
     context_id, provider_id, clock_offset_ms, created_at)
   values ($bucket, $account, $environment, $id, 'inbound', 'received', $type, $recipient, $sender, $content::jsonb,
     $contextId, $providerId, $offsetMs::bigint, $at)`,
)

const openWindow = statement.tenant<
  Tenant & { phone: string; name: string | null; at: Date; until: Date; command: string | null },
  object
>(
  'messenger.open_window',
  `insert into messenger.contacts as c (bucket, account_id, environment, phone, name, window_expires_at, last_inbound_at,
     opted_in_at, opted_out_at, source, updated_at)
   values ($bucket, $account, $environment, $phone, $name, $until::timestamptz, $at::timestamptz,
     case when $command::text = 'start' then $at::timestamptz end, case when $command = 'stop' then $at::timestamptz end, 'inbound', $at::timestamptz)
   on conflict (bucket, account_id, environment, phone) do update
     set name = coalesce(excluded.name, c.name),
         window_expires_at = greatest(c.window_expires_at, excluded.window_expires_at),
         last_inbound_at = greatest(c.last_inbound_at, excluded.last_inbound_at),
         opted_in_at = coalesce(excluded.opted_in_at, c.opted_in_at),
         opted_out_at = case when $command = 'start' then null when $command = 'stop' then $at::timestamptz else c.opted_out_at end,
         updated_at = excluded.updated_at`,
)

const clockOffset = statement.home<{ account: string; environment: string }, { ms: bigint }>(
  'messenger.clock_offset',
  'select accounts.clock_offset_ms($account::uuid, $environment::text) as ms',
)

const mediaTypes: ReadonlySet<string> = new Set(['image', 'video', 'audio', 'document', 'sticker'])

export async function takeInbound(app: App, channel: Channel, message: GraphInbound): Promise<void> {
  const { tenant } = channel
  if ((await findByProviderId(app.db, tenant, message.id)) !== null) return
  const { account, environment } = tenant
  const { ms } = await one(app.db.query(clockOffset, { account, environment }))
  const occasion = occasionNow(app.clock, tenant, ms)
  const file = await fileOf(app, channel, message, occasion)
  try {
    const isNew = await app.db.tx(tenant, (tx) => store(app, tx, occasion, channel, message, file))
    if (!isNew && file) await app.storage.discard(file)
  } catch (error) {
    if (file) await app.storage.discard(file)
    throw error
  }
}

/** Copy of a message's file; null when it has none or it cannot be fetched. */
async function fileOf(
  app: App,
  channel: Channel,
  { type, content }: GraphInbound,
  { nowMs }: Occasion,
): Promise<ArrivedFile | null> {
  const { id, filename } = membersOf(content)
  if (!mediaTypes.has(type) || textOf(id) === '') return null
  return copyIn(app, channel, textOf(id), textOf(filename) || null, nowMs)
}

/** Stores a message; false when it was stored before. */
async function store(
  app: App,
  tx: Tx,
  occasion: Occasion,
  channel: Channel,
  message: GraphInbound,
  file: ArrivedFile | null,
): Promise<boolean> {
  const { tenant, receivedMs, nowMs } = occasion
  const id = newUuid(receivedMs)
  const claimed = await tx.query(claimProviderId, { ...tenant, providerId: message.id, id })
  if (claimed.length === 0) return false
  if (file) await app.storage.keep(tx, file)
  const type = typeOf(message, file)
  const content = contentOf(type, message, file)
  const contextId = await contextOf(tx, tenant, message.context)
  const at = new Date(nowMs)
  const phone = `+${message.from}`
  await tx.query(insertInbound, {
    ...tenant,
    id,
    type,
    recipient: `+${channel.displayNumber}`,
    sender: phone,
    content: JSON.stringify(content),
    contextId,
    providerId: message.id,
    offsetMs: nowMs - receivedMs,
    at,
  })
  const command = type === 'text' ? (usualCommandOf(textOf(content.body))?.command ?? null) : null
  const until = new Date(nowMs + dayMs)
  await tx.query(openWindow, { ...tenant, phone, name: message.name || null, at, until, command })
  await app.outbox.emit(
    tx,
    messengerEvents.message,
    occasion,
    idOf('messengerMessage', id),
    payloadOf(channel, message, { id, type, content, contextId, nowMs }),
  )
  return true
}

type KnownType = (typeof inboundTypes)[number] | 'unsupported'

function typeOf({ type }: GraphInbound, file: ArrivedFile | null): KnownType {
  const known = inboundTypes.find((one) => one === type)
  return known === undefined || (mediaTypes.has(known) && file === null) ? 'unsupported' : known
}

function contentOf(type: KnownType, { content }: GraphInbound, file: ArrivedFile | null): Record<string, unknown> {
  if (file !== null && mediaTypes.has(type)) {
    const { caption, filename } = membersOf(content)
    return {
      id: mediaIdOf(file.id),
      mime_type: file.type,
      sha256: file.sha256.toString('hex'),
      ...(textOf(caption) === '' ? {} : { caption: textOf(caption) }),
      ...(textOf(filename) === '' ? {} : { filename: textOf(filename) }),
    }
  }
  return type === 'contacts' && Array.isArray(content) ? { contacts: content } : membersOf(content)
}

async function contextOf(tx: Tx, tenant: Tenant, providerId: string | null): Promise<string | null> {
  const found = providerId === null ? null : await findByProviderId(tx, tenant, providerId)
  return found === null ? null : idOf('messengerMessage', found)
}

interface StoredInbound {
  readonly id: string
  readonly type: KnownType
  readonly content: Record<string, unknown>
  readonly contextId: string | null
  readonly nowMs: number
}

function payloadOf(channel: Channel, { from, name }: GraphInbound, stored: StoredInbound) {
  const { id, type, content, contextId, nowMs } = stored
  return {
    object: 'messenger_business_account' as const,
    entry: [
      {
        id: idOf('account', channel.tenant.account),
        changes: [
          {
            field: 'messages' as const,
            value: {
              messaging_product: 'messenger' as const,
              metadata: { display_phone_number: channel.displayNumber, phone_number_id: channel.phoneNumberId },
              contacts: [{ profile: { name }, wa_id: from }],
              messages: [
                {
                  from,
                  id: idOf('messengerMessage', id),
                  timestamp: String(Math.floor(nowMs / 1000)),
                  type,
                  ...objectOf(type, content),
                  ...(contextId === null ? {} : { context: { id: contextId } }),
                },
              ],
            },
          },
        ],
      },
    ],
  }
}

/** Content object of the event, by message type. */
function objectOf(type: KnownType, content: Record<string, unknown>) {
  const media = {
    id: textOf(content.id),
    mime_type: textOf(content.mime_type),
    sha256: textOf(content.sha256),
    ...(content.caption === undefined ? {} : { caption: textOf(content.caption) }),
    ...(content.filename === undefined ? {} : { filename: textOf(content.filename) }),
  }
  switch (type) {
    case 'text':
      return { text: { body: textOf(content.body) } }
    case 'image':
    case 'video':
    case 'audio':
    case 'document':
    case 'sticker':
      return { [type]: media }
    case 'interactive':
      return { interactive: choiceOf(content) }
    case 'button':
      return { button: { payload: textOf(content.payload), text: textOf(content.text) } }
    case 'location':
      return { location: placeOf(content) }
    case 'contacts':
      return { contacts: Array.isArray(content.contacts) ? content.contacts : [] }
    case 'reaction':
      return { reaction: { message_id: textOf(content.message_id), emoji: textOf(content.emoji) } }
    case 'unsupported':
      return {}
  }
}

function choiceOf(content: Record<string, unknown>) {
  const picked = (value: unknown) => {
    const { id, title, description } = membersOf(value)
    return {
      id: textOf(id),
      title: textOf(title),
      ...(description === undefined ? {} : { description: textOf(description) }),
    }
  }
  return content.type === 'list_reply'
    ? { type: 'list_reply' as const, list_reply: picked(content.list_reply) }
    : { type: 'button_reply' as const, button_reply: picked(content.button_reply) }
}

function placeOf({ latitude, longitude, name, address }: Record<string, unknown>) {
  return {
    latitude: Number(latitude) || 0,
    longitude: Number(longitude) || 0,
    ...(name === undefined ? {} : { name: textOf(name) }),
    ...(address === undefined ? {} : { address: textOf(address) }),
  }
}
