// SPDX-License-Identifier: Apache-2.0
// Status change of a message: status, charge and event in one group commit. A status never goes back: the commit
// decides, so that reports may come twice, late or in any order.
import { idOf, newUuid } from '../../kernel/ids.ts'
import type { App } from '../../platform/app.ts'
import { operation } from '../../platform/commit.ts'
import { eventRow, occasionNow } from '../../platform/events.ts'
import { tenantColumns, tenantOf } from '../../platform/tenant.ts'
import { messengerEvents } from './events.ts'
import type { MessageErrors } from './schema.ts'
import type { MessageRow } from './store.ts'

const change = operation.tenant(
  'messenger.change',
  {
    ...tenantColumns,
    id: 'uuid',
    status: 'text',
    at: 'timestamptz',
    provider_id: 'text',
    errors: 'jsonb',
    transfer: 'uuid',
    job: 'uuid',
    attempt: 'int',
    fallback_job: 'uuid',
    event: eventRow,
  },
  { changed: 'boolean', deliveries: 'text' },
)

export interface News {
  readonly status: 'sent' | 'delivered' | 'read' | 'failed'
  readonly errors: MessageErrors | null
  readonly providerId: string | null
  /** Phone number id at the provider, as in webhooks. */
  readonly phoneNumberId: string
  /** Job that the change completes. */
  readonly job: { id: string; attempt: number } | null
}

/** Applies a status; returns whether the message changed. */
export async function changeMessage(app: App, message: MessageRow, news: News): Promise<boolean> {
  const tenant = tenantOf(message)
  const occasion = occasionNow(app.clock, tenant, message.clock_offset_ms, message.request_id)
  const id = idOf('messengerMessage', message.id)
  const event = app.outbox.prepare(messengerEvents.status, occasion, id, statusPayload(message, news, occasion.nowMs), {
    callbackUrl: message.callback_url,
  })
  const item = {
    ...tenant,
    id: message.id,
    status: news.status,
    at: new Date(occasion.nowMs),
    provider_id: news.providerId,
    errors: news.errors && JSON.stringify(news.errors),
    transfer: newUuid(occasion.receivedMs),
    job: news.job?.id ?? null,
    attempt: news.job?.attempt ?? null,
    fallback_job: newUuid(occasion.receivedMs),
    event: event.row,
  }
  // A provider's report must not be lost in a short outage of the database.
  const { changed, deliveries } = await app.commitSurely(change, item)
  if (changed) app.outbox.begin(event, deliveries)
  return changed ?? false
}

function statusPayload(message: MessageRow, news: News, nowMs: number) {
  return {
    object: 'messenger_business_account' as const,
    entry: [
      {
        id: idOf('account', message.account_id),
        changes: [
          {
            field: 'messages' as const,
            value: {
              messaging_product: 'messenger' as const,
              metadata: { display_phone_number: message.sender.slice(1), phone_number_id: news.phoneNumberId },
              statuses: [
                {
                  id: idOf('messengerMessage', message.id),
                  status: news.status,
                  timestamp: String(Math.floor(nowMs / 1000)),
                  recipient_id: message.recipient.slice(1),
                  ...(news.errors === null ? {} : { errors: news.errors }),
                  ...(message.unit === null
                    ? {}
                    : { pricing: { billable: message.cost > 0n, category: message.unit } }),
                  ...(Object.keys(message.metadata).length === 0 ? {} : { metadata: message.metadata }),
                },
              ],
            },
          },
        ],
      },
    ],
  }
}
