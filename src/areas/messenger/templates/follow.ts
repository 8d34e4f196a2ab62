// SPDX-License-Identifier: Apache-2.0
// Template decisions of providers and operators: reported by webhook, and polled every ten minutes in case a report was
// lost.
import { buckets, idOf } from '../../../kernel/ids.ts'
import type { App } from '../../../platform/app.ts'
import { maybe, one, type Tx } from '../../../platform/db.ts'
import { occasionNow } from '../../../platform/events.ts'
import type { Chore } from '../../../platform/nodes/maintenance.ts'
import { type Tenant, tenantOf } from '../../../platform/tenant.ts'
import type { GraphTemplateNotice } from '../../../protocols/graph.ts'
import { providerOf } from '../carriers/cloud-api.ts'
import { channelOf } from '../channels.ts'
import { messengerEvents } from '../events.ts'
import { changeTemplate, findByProviderId, findFollowed, findTemplate, type TemplateRow } from './store.ts'
import { canBecome, type TemplateStatus, templateStatuses } from './template.ts'

export async function takeTemplateNotice(
  app: App,
  { bucket, account, environment }: Tenant,
  { id, event, reason }: GraphTemplateNotice,
): Promise<void> {
  const status = templateStatuses.find((word) => word === event)
  const found = await maybe(app.db.query(findByProviderId, { bucket, account, environment, providerId: id }))
  if (!found || !status)
    return app.log.info({}, 'decision on an unknown template ignored: it was made at the provider; nothing to do')
  await app.db.tx(tenantOf(found), (tx) => decide(app, tx, found, status, reason))
}

/** Stores a decision and emits its event, if the transition is allowed. Returns the current template. */
export async function decide(
  app: App,
  tx: Tx,
  template: TemplateRow,
  status: TemplateStatus,
  reason: string | null,
): Promise<TemplateRow | null> {
  const tenant = tenantOf(template)
  const current = await maybe(tx.query(findTemplate, { ...tenant, id: template.id }))
  if (!current || !canBecome(current.status, status)) return null
  const occasion = occasionNow(app.clock, tenant, 0)
  const changed = await one(
    tx.query(changeTemplate, {
      ...tenant,
      id: template.id,
      status,
      components: null,
      reason,
      providerId: null,
      at: new Date(occasion.nowMs),
    }),
  )
  await tellStatus(app, tx, changed)
  return changed
}

export async function tellStatus(app: App, tx: Tx, template: TemplateRow): Promise<void> {
  const id = idOf('messengerTemplate', template.id)
  const { name, language, status, rejected_reason: reason } = template
  const occasion = occasionNow(app.clock, tenantOf(template), 0)
  const told = { template_id: id, name, language, status, reason }
  await app.outbox.emit(tx, messengerEvents.templateStatus, occasion, id, told)
}

export const templateChore: Chore = {
  name: 'states of messenger templates',
  async run(app) {
    for (const row of await app.db.query(findFollowed, { buckets })) {
      const channel = await channelOf(app, tenantOf(row)).catch(() => null)
      if (!channel) continue
      for (const { id, status, reason } of await providerOf(app).listTemplates(channel))
        await takeTemplateNotice(app, channel.tenant, { kind: 'template', id, event: status, reason })
    }
  },
}
