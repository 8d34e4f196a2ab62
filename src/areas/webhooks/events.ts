// SPDX-License-Identifier: Apache-2.0
// Events of the webhooks area, about endpoints.
import { Type } from 'typebox'
import { eventType } from '../../platform/events.ts'
import { At, Nullable, OneOf } from '../../platform/schema/fields.ts'

const Test = Type.Object(
  {
    webhook_id: Type.String({ description: 'Id of the webhook, such as `wh_…`' }),
    message: Type.String({ description: 'Text of the test event' }),
  },
  { title: 'WebhookTestEvent' },
)

const Disabled = Type.Object(
  {
    webhook_id: Type.String({ description: 'Id of the webhook, such as `wh_…`' }),
    url: Type.String({ description: 'URL of the webhook' }),
    disabled_reason: OneOf(['gone', 'failing'], {
      description: 'Reason; `gone`: the endpoint replied with 410, `failing`: it failed for too long',
    }),
    failing_since: Nullable(At({ description: 'Time of the first of its latest failures; null if there were none' })),
    failed_deliveries: Type.Integer({ description: 'Deliveries that failed since then' }),
  },
  { title: 'WebhookDisabledEvent' },
)

const webhook_id = 'wh_01jb2c3d4e5f6g7h8j9kamnpqr'

export const webhookEvents = {
  test: eventType({
    name: 'webhook.test',
    summary: 'A test of an endpoint was requested',
    payload: Test,
    sample: { webhook_id, message: 'This is a test; nothing happened' },
  }),
  disabled: eventType({
    name: 'webhook.disabled',
    summary: 'An endpoint failed for too long and its webhook was disabled',
    payload: Disabled,
    sample: {
      webhook_id,
      url: 'https://app.example/hooks',
      disabled_reason: 'failing',
      failing_since: new Date('2026-02-24T09:15:30Z'),
      failed_deliveries: 412,
    },
  }),
}
