// SPDX-License-Identifier: Apache-2.0
// Email tracking webhook: one URL per account for email events, apart from its other webhooks.
import { type Static, Type } from 'typebox'
import { AppError } from '../../../kernel/errors.ts'
import { idOf, uuidOf } from '../../../kernel/ids.ts'
import { read, write } from '../../../platform/api/route.ts'
import type { App } from '../../../platform/app.ts'
import type { Caller } from '../../../platform/auth.ts'
import { maybe, type Queryable, statement, type Tx } from '../../../platform/db.ts'
import { At, Deleted, Nullable } from '../../../platform/schema/fields.ts'
import { mine, type Tenant } from '../../../platform/tenant.ts'
import {
  changeEndpoint,
  createEndpoint,
  getEndpoint,
  prepareChange,
  prepareEndpoint,
  removeEndpoint,
} from '../../webhooks/area.ts'

const system = 'email'

const TrackingWebhook = Type.Object(
  {
    id: Type.String({ description: 'Id of the webhook, such as `wh_…`' }),
    url: Type.String({ description: 'URL that events are posted to' }),
    events: Type.Array(Type.String(), { description: 'Names of the subscribed events' }),
    enabled: Type.Boolean({ description: 'False stops deliveries' }),
    secret: Type.Optional(Type.String({ sensitive: true, description: 'Signing secret, shown when it is first set' })),
    created_at: At({ description: 'Time it was set' }),
    updated_at: Nullable(At({ description: 'Time of the last change' })),
  },
  { title: 'EmailTrackingWebhook' },
)

const TrackingWebhookSet = Type.Object({
  url: Type.String({ maxLength: 2048, description: 'URL that events are posted to, https://' }),
  events: Type.Optional(
    Type.Array(Type.String({ maxLength: 60 }), {
      minItems: 1,
      maxItems: 30,
      description: 'Event names, with or without the prefix email.; default all',
    }),
  ),
  enabled: Type.Optional(Type.Boolean({ description: 'False keeps the webhook and sends nothing; default true' })),
})

const find = statement.tenant<Tenant, { webhook_id: string }>(
  'email.find_tracking_webhook',
  `select webhook_id from email.tracking_webhooks where ${mine}`,
)

const store = statement.tenant<Tenant & { webhook: string }, object>(
  'email.store_tracking_webhook',
  `insert into email.tracking_webhooks (bucket, account_id, environment, webhook_id) values ($bucket, $account, $environment, $webhook)
   on conflict (bucket, account_id, environment) do update set webhook_id = excluded.webhook_id`,
)

const forget = statement.tenant<Tenant, object>(
  'email.forget_tracking_webhook',
  `delete from email.tracking_webhooks where ${mine}`,
)

type Endpoint = Awaited<ReturnType<typeof getEndpoint>>

/** Tracking endpoint; null when not set or deleted. */
async function current(app: App, queryable: Queryable, caller: Caller): Promise<Endpoint | null> {
  const row = await maybe(queryable.query(find, { ...caller.tenant }))
  if (!row) return null
  try {
    return await getEndpoint(app, idOf('webhook', row.webhook_id), caller)
  } catch (error) {
    if (error instanceof AppError && error.code === 'WEBHOOK_NOT_FOUND') return null
    throw error
  }
}

function shown({ id, url, events, enabled, created_at, updated_at }: Endpoint): Static<typeof TrackingWebhook> {
  return { id, url, events, enabled, created_at, updated_at }
}

function eventsOf(events: readonly string[] | undefined): string[] {
  const names = (events ?? ['*']).map((name) => (name.startsWith('email.') ? name : `email.${name}`))
  const strange = names.find((name) => !/^email\.[a-z_*]+$/.test(name))
  if (strange) throw new AppError('INVALID_EVENT', `${strange.slice(0, 60)} is not an email event`)
  return names
}

const get = read({
  method: 'GET',
  path: '/v1/email/tracking-webhook',
  operation: 'email.getTrackingWebhook',
  summary: 'Get the email tracking webhook',
  scope: 'email:manage',
  reply: { status: 200, schema: TrackingWebhook },
  errors: ['WEBHOOK_NOT_CONFIGURED'],
  handle: async (app, _input, caller) => {
    const found = await current(app, app.db, caller)
    if (!found) throw new AppError('WEBHOOK_NOT_CONFIGURED', 'no webhook URL is set for the account')
    return shown(found)
  },
})

const put = write({
  method: 'PUT',
  path: '/v1/email/tracking-webhook',
  operation: 'email.setTrackingWebhook',
  summary: 'Set the email tracking webhook',
  scope: 'email:manage',
  limit: 'email',
  body: TrackingWebhookSet,
  reply: { status: 200, schema: TrackingWebhook },
  errors: ['INVALID_URL', 'INVALID_EVENT'],
  prepare: async (app, { body }, caller) => {
    const events = eventsOf(body.events)
    const known = await current(app, app.db, caller)
    const input = { url: body.url, events, ...(body.enabled === undefined ? {} : { enabled: body.enabled }) }
    return known
      ? { kind: 'change' as const, id: known.id, input, change: await prepareChange(app, known.id, input, caller) }
      : {
          kind: 'create' as const,
          input: { ...input, description: 'Email tracking' },
          made: await prepareEndpoint(app, input, caller, system),
        }
  },
  handle: async (app, tx: Tx, _input, caller, prepared) => {
    if (prepared.kind === 'change')
      return shown(await changeEndpoint(app, tx, prepared.id, prepared.input, caller, prepared.change))
    const { secret, ...made } = await createEndpoint(app, tx, prepared.input, caller, prepared.made)
    await tx.query(store, { ...caller.tenant, webhook: uuidOf('webhook', made.id) ?? '' })
    return { ...shown(made), secret }
  },
})

const remove = write({
  method: 'DELETE',
  path: '/v1/email/tracking-webhook',
  operation: 'email.deleteTrackingWebhook',
  summary: 'Delete the email tracking webhook',
  scope: 'email:manage',
  limit: 'email',
  reply: { status: 200, schema: Deleted },
  errors: ['WEBHOOK_NOT_CONFIGURED'],
  handle: async (app, tx, _input, caller) => {
    const found = await current(app, tx, caller)
    if (!found) throw new AppError('WEBHOOK_NOT_CONFIGURED', 'no webhook URL is set for the account')
    await tx.query(forget, { ...caller.tenant })
    return removeEndpoint(app, tx, found.id, caller)
  },
})

export const trackingWebhookRoutes = [get, put, remove]
