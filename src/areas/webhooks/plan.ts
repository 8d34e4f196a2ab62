// SPDX-License-Identifier: Apache-2.0
// Limits of webhooks by plan, and those that an operator set for an account. A plan that an operator made is as wide
// as the widest.
import type { Allowances } from '../../platform/auth.ts'

export interface WebhookPlan {
  /** Endpoints per environment; disabled ones count. */
  readonly webhooks: number
  /** Days for which deliveries can be read and sent again. */
  readonly retentionDays: number
  /** Requests at once to one endpoint. */
  readonly concurrency: number
}

const widest: WebhookPlan = { webhooks: 500, retentionDays: 90, concurrency: 100 }

const plans: Readonly<Record<string, WebhookPlan>> = {
  free: { webhooks: 3, retentionDays: 3, concurrency: 5 },
  starter: { webhooks: 10, retentionDays: 15, concurrency: 10 },
  growth: { webhooks: 50, retentionDays: 30, concurrency: 25 },
  enterprise: widest,
}

export function webhookPlan({ plan, allowances }: { plan: string; allowances: Allowances }): WebhookPlan {
  const { webhooks, retentionDays, concurrency } = (Object.hasOwn(plans, plan) ? plans[plan] : undefined) ?? widest
  return {
    webhooks: allowances.webhooks ?? webhooks,
    retentionDays: allowances.webhook_retention_days ?? retentionDays,
    concurrency: allowances.webhook_concurrency ?? concurrency,
  }
}
