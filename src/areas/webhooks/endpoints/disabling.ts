// SPDX-License-Identifier: Apache-2.0
// Disables an endpoint that says it is gone, or has failed for too long, and tells the account's other endpoints.
import { idOf } from '../../../kernel/ids.ts'
import type { App } from '../../../platform/app.ts'
import { maybe, statement } from '../../../platform/db.ts'
import { tellOwners } from '../../../platform/events/owner-notices.ts'
import { occasionNow } from '../../../platform/events.ts'
import type { One, Tenant } from '../../../platform/tenant.ts'
import { webhookEvents } from '../events.ts'

/** Disables an endpoint; no row when it is disabled or deleted already, or no longer has the URL that is gone. */
const disable = statement.tenant<
  One & { reason: string; goneUrl: string | null; at: Date },
  { url: string; failing_since: Date | null; failed_deliveries: number | null }
>(
  'webhooks.disable_endpoint',
  `update webhooks.endpoints e set enabled = false, disabled_reason = $reason, version = e.version + 1, updated_at = $at
     from webhooks.endpoints o
     left join webhooks.health h
       on h.bucket = o.bucket and h.account_id = o.account_id and h.environment = o.environment and h.endpoint_id = o.id
    where e.bucket = $bucket and e.account_id = $account and e.environment = $environment and e.id = $id and e.enabled
      and ($goneUrl::text is null or e.url = $goneUrl)
      and o.bucket = e.bucket and o.account_id = e.account_id and o.environment = e.environment and o.id = e.id
   returning e.url, h.failing_since, h.failed_deliveries`,
)

export async function disableEndpoint(
  app: App,
  tenant: Tenant,
  endpoint: string,
  /** The URL that said it is gone; null when the endpoint has failed for too long. */
  goneUrl: string | null,
  clockOffsetMs: number,
): Promise<void> {
  const reason = goneUrl === null ? 'failing' : 'gone'
  const occasion = occasionNow(app.clock, tenant, clockOffsetMs)
  const webhookId = idOf('webhook', endpoint)
  const disabled = await app.db.tx(tenant, async (tx) => {
    const row = await maybe(
      tx.query(disable, { ...tenant, id: endpoint, reason, goneUrl, at: new Date(occasion.nowMs) }),
    )
    if (!row) return false
    await app.outbox.emit(tx, webhookEvents.disabled, occasion, webhookId, {
      webhook_id: webhookId,
      url: row.url,
      disabled_reason: reason,
      failing_since: row.failing_since,
      failed_deliveries: row.failed_deliveries ?? 0,
    })
    await tellOwners(app, tx, tenant, {
      subject: 'A webhook was disabled',
      text: [
        `${row.url} is sent nothing any more: it ${reason === 'gone' ? 'said that it is gone (410)' : 'has failed for too long'}.`,
        `Once it works, enable ${webhookId} again; what it missed can be replayed.`,
      ],
      key: `disabled ${webhookId} ${occasion.nowMs}`,
    })
    await app.signals.send(tx, 'webhooks', endpoint)
    return true
  })
  if (disabled)
    app.log.warn(
      { account: idOf('account', tenant.account), webhook: webhookId, reason },
      'endpoint disabled after failing for too long: its owner was notified; nothing to do',
    )
}
