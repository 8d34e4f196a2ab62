// SPDX-License-Identifier: Apache-2.0
// What a plan gives of webhooks. A plan that an operator made is as wide as the widest.

export interface WebhookPlan {
  /** In each environment; disabled ones count. */
  readonly webhooks: number
  /** How long deliveries can be read and sent again. */
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

export function webhookPlan(name: string): WebhookPlan {
  return (Object.hasOwn(plans, name) ? plans[name] : undefined) ?? widest
}
