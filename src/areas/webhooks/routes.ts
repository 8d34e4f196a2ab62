// SPDX-License-Identifier: Apache-2.0
// Routes of endpoints: registration, their secrets, a test, and the catalogue of what they can hear of.
import { Type } from 'typebox'
import { IdParam, list, type Route, read, write } from '../../platform/api/route.ts'
import { Deleted, Nullable, wholeListQuery } from '../../platform/schema/fields.ts'
import { pageOf, pageOfWhole, windowOf } from '../../platform/schema/lists.ts'
import { ReplayProgress, replayProgress } from './deliveries/replays.ts'
import { tryEndpoint } from './deliveries/trial.ts'
import { endpointUuid, subscriptionOf, webhookOf, wordsThatTake } from './endpoints/endpoint.ts'
import { healthOf } from './endpoints/health.ts'
import {
  changeEndpoint,
  createEndpoint,
  getEndpoint,
  prepareChange,
  prepareEndpoint,
  removeEndpoint,
} from './endpoints/register.ts'
import {
  activateSecret,
  prepareCallbackSuccessor,
  prepareSuccessor,
  readCallbackSecret,
  rotateCallbackSecret,
  rotateSecret,
} from './endpoints/rotation.ts'
import { openHeaders } from './endpoints/secrets.ts'
import { refuseVisitor } from './portal.ts'
import {
  CallbackSecret,
  CatalogueRecord,
  NewWebhookRecord,
  RotatedCallbackSecret,
  RotatedSecret,
  SecretRotate,
  Trial,
  TrialOutcome,
  WebhookCreate,
  WebhookList,
  WebhookRecord,
  WebhookUpdate,
} from './schema.ts'
import { listEndpoints } from './store.ts'

const createWebhook = write({
  method: 'POST',
  path: '/v1/webhooks',
  operation: 'webhooks.create',
  summary: 'Create a webhook',
  description:
    'The secret that signs its deliveries is shown only in this reply. Live and test have separate webhooks.',
  scope: 'webhooks:write',
  body: WebhookCreate,
  reply: { status: 201, schema: NewWebhookRecord, location: ({ id }) => `/v1/webhooks/${id}` },
  errors: ['INVALID_URL', 'INVALID_EVENT', 'WEBHOOK_LIMIT_REACHED'],
  examples: [
    {
      name: 'Payments and delivered texts',
      body: {
        url: 'https://app.example/hooks',
        events: ['sms.delivered', 'payment.*'],
        description: 'Shop backend',
      },
    },
    {
      name: 'Ordered events of one shop, with a custom header',
      body: {
        url: 'https://app.example/hooks?shop=A',
        events: ['*'],
        ordered: true,
        rate_limit: 50,
        filters: { 'metadata.shop': 'A' },
        headers: { 'X-Api-Key': 'k-4711' },
      },
    },
  ],
  prepare: (app, { body }, caller) => prepareEndpoint(app, body, caller),
  handle: (app, tx, { body }, caller, made) => createEndpoint(app, tx, body, caller, made),
})

const listWebhooks = list({
  path: '/v1/webhooks',
  operation: 'webhooks.list',
  summary: 'List your webhooks',
  scope: 'webhooks:read',
  query: WebhookList,
  row: WebhookRecord,
  errors: ['INVALID_EVENT'],
  examples: [{ name: 'Webhooks subscribed to sms.delivered', query: { event: 'sms.delivered', enabled: true } }],
  handle: async (app, { query }, { tenant, nowMs }) => {
    const window = windowOf(query)
    const words =
      query.event === undefined ? null : wordsThatTake(subscriptionOf(app.catalogue, [query.event], 'event'))
    const found = await app.db.query(listEndpoints, {
      ...tenant,
      ...window,
      enabled: query.enabled ?? null,
      words,
      withSystem: query.include === 'system',
    })
    const { rows, nextCursor } = pageOf(window, found, (row) => row)
    const health = await healthOf(app, app.db, tenant, rows, nowMs)
    const webhooks = rows.map(async (row) =>
      webhookOf(row, await openHeaders(app, tenant, row.id, row.headers), health(row), nowMs),
    )
    return { rows: await Promise.all(webhooks), nextCursor }
  },
})

const WebhookDetail = Type.Object(
  {
    ...WebhookRecord.properties,
    replay: Nullable(ReplayProgress, { description: 'Progress of the latest replay; null if it had none' }),
  },
  { title: 'WebhookDetail' },
)

const getWebhook = read({
  method: 'GET',
  path: '/v1/webhooks/:id',
  operation: 'webhooks.get',
  summary: 'Get a webhook and its health',
  scope: 'webhooks:read',
  params: IdParam,
  reply: { status: 200, schema: WebhookDetail },
  errors: ['WEBHOOK_NOT_FOUND'],
  examples: [{ name: 'A webhook' }],
  handle: async (app, { params }, caller) => ({
    ...(await getEndpoint(app, params.id, caller)),
    replay: await replayProgress(app.db, caller.tenant, endpointUuid(params.id)),
  }),
})

const updateWebhook = write({
  method: 'PATCH',
  path: '/v1/webhooks/:id',
  operation: 'webhooks.update',
  summary: 'Update a webhook',
  description: 'The secret is unchanged. `enabled: true` also resets earlier failures and resumes pending deliveries.',
  scope: 'webhooks:write',
  params: IdParam,
  body: WebhookUpdate,
  reply: { status: 200, schema: WebhookRecord },
  errors: ['WEBHOOK_NOT_FOUND', 'INVALID_URL', 'INVALID_EVENT'],
  examples: [
    { name: 'Another URL and other events', body: { url: 'https://app.example/v2/hooks', events: ['sms.*'] } },
    { name: 'Pause deliveries', body: { enabled: false } },
  ],
  prepare: (app, { params, body }, caller) => prepareChange(app, params.id, body, caller),
  handle: (app, tx, { params, body }, caller, change) => changeEndpoint(app, tx, params.id, body, caller, change),
})

const deleteWebhook = write({
  method: 'DELETE',
  path: '/v1/webhooks/:id',
  operation: 'webhooks.delete',
  summary: 'Delete a webhook',
  scope: 'webhooks:write',
  params: IdParam,
  reply: { status: 200, schema: Deleted },
  errors: ['WEBHOOK_NOT_FOUND'],
  examples: [{ name: 'Delete it' }],
  handle: (app, tx, { params }, caller) => removeEndpoint(app, tx, params.id, caller),
})

const testWebhook = read({
  method: 'POST',
  path: '/v1/webhooks/:id/test',
  operation: 'webhooks.test',
  summary: 'Send a test event to a webhook',
  description: 'Makes one attempt, even if the webhook is disabled, and returns its result. At most 10 a minute.',
  scope: 'webhooks:write',
  params: IdParam,
  body: Trial,
  reply: { status: 200, schema: TrialOutcome },
  errors: ['WEBHOOK_NOT_FOUND', 'INVALID_EVENT'],
  examples: [{ name: 'A delivered text', body: { event: 'sms.delivered' } }],
  handle: (app, { params, body }, caller) => tryEndpoint(app, params.id, body, caller),
})

const rotateWebhookSecret = write({
  method: 'POST',
  path: '/v1/webhooks/:id/rotate-secret',
  operation: 'webhooks.rotateSecret',
  summary: 'Rotate a webhook’s secret',
  description:
    'Until `activates_at` deliveries are signed with both secrets. The new secret is shown only in this reply.',
  scope: 'webhooks:write',
  params: IdParam,
  body: SecretRotate,
  reply: { status: 200, schema: RotatedSecret },
  errors: ['WEBHOOK_NOT_FOUND'],
  examples: [{ name: 'An overlap of two days', body: { overlap_hours: 48 } }],
  prepare: (app, { params }, caller) => prepareSuccessor(app, params.id, caller),
  handle: (app, tx, { params, body }, caller, made) => rotateSecret(app, tx, params.id, body, caller, made),
})

const activateWebhookSecret = write({
  method: 'POST',
  path: '/v1/webhooks/:id/activate-secret',
  operation: 'webhooks.activateSecret',
  summary: 'Finish the rotation of a webhook’s secret',
  scope: 'webhooks:write',
  params: IdParam,
  reply: { status: 200, schema: WebhookRecord },
  errors: ['WEBHOOK_NOT_FOUND', 'NO_PENDING_SECRET'],
  handle: (app, tx, { params }, caller) => activateSecret(app, tx, params.id, caller),
})

const listEventTypes = list({
  path: '/v1/webhooks/events',
  operation: 'webhooks.events',
  summary: 'List event types',
  scope: 'webhooks:read',
  query: Type.Object(wholeListQuery),
  row: CatalogueRecord,
  examples: [{ name: 'The catalogue' }],
  handle: async ({ catalogue }, { query }) => {
    const entries = catalogue.entries().map((entry) => ({ ...entry, aliases: [...entry.aliases] }))
    return pageOfWhole(query, entries, ({ name }) => name)
  },
})

const getCallbackSecret = read({
  method: 'GET',
  path: '/v1/webhooks/callback-secret',
  operation: 'webhooks.callbackSecret',
  summary: 'Get the callback signing secret',
  description:
    'Secret for requests to URLs given in single requests. It could be used to forge such requests, so reading it requires the scope `webhooks:write`.',
  scope: 'webhooks:write',
  reply: { status: 200, schema: CallbackSecret },
  examples: [{ name: 'The secret' }],
  handle: (app, _input, caller) => {
    refuseVisitor(caller)
    return readCallbackSecret(app, caller)
  },
})

const rotateAccountCallbackSecret = write({
  method: 'POST',
  path: '/v1/webhooks/callback-secret/rotate',
  operation: 'webhooks.rotateCallbackSecret',
  summary: 'Rotate the callback signing secret',
  description:
    'During the overlap deliveries are signed with both secrets, so that you can update your server without interruption.',
  scope: 'webhooks:write',
  body: SecretRotate,
  reply: { status: 200, schema: RotatedCallbackSecret },
  examples: [{ name: 'Without an overlap', body: { overlap_hours: 0 } }],
  prepare: (app, _input, caller) => {
    refuseVisitor(caller)
    return prepareCallbackSuccessor(app, caller)
  },
  handle: (app, tx, { body }, caller, made) => rotateCallbackSecret(app, tx, body, caller, made),
})

export const endpointRoutes: readonly Route[] = [
  createWebhook,
  listWebhooks,
  listEventTypes,
  getCallbackSecret,
  rotateAccountCallbackSecret,
  getWebhook,
  updateWebhook,
  deleteWebhook,
  testWebhook,
  rotateWebhookSecret,
  activateWebhookSecret,
]
