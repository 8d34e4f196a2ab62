// SPDX-License-Identifier: Apache-2.0
// What operators do to providers: enter their own account with one, change it, give it up. Every node uses it at once.
import { type Static, Type } from 'typebox'
import { AppError } from '../../kernel/errors.ts'
import type { App } from '../../platform/app.ts'
import { record } from '../../platform/audit.ts'
import type { Caller } from '../../platform/auth.ts'
import { maybe, one, statement, type Tx } from '../../platform/db.ts'
import { IdParam, list, type Route, write } from '../../platform/route.ts'
import { At, EnvironmentName, OneOf } from '../../platform/schema.ts'
import type { Environment } from '../../platform/tenant.ts'
import {
  type EnteredRow,
  enteredColumns,
  openSecret,
  openSettings,
  type SecretSettings,
  sealProvider,
  secretSettings,
  selectEntered,
} from './entered.ts'
import { gatewayOf } from './gateway.ts'

const ProviderCreate = Type.Object({
  provider: OneOf(['mpesa']),
  environment: EnvironmentName({ description: '`test` takes the place of the simulator' }),
  ...openSettings,
  ...secretSettings,
  enabled: Type.Optional(Type.Boolean({ default: true })),
})

const ProviderChange = Type.Partial(
  Type.Object({
    ...openSettings,
    ...secretSettings,
    enabled: Type.Boolean({ description: 'Whether payments use it' }),
  }),
)

const ProviderRecord = Type.Object(
  {
    id: Type.String({ description: 'Such as `mpesa-live`' }),
    provider: Type.String(),
    environment: EnvironmentName(),
    base_url: Type.String(),
    shortcode: Type.String(),
    enabled: Type.Boolean(),
    status: OneOf(['up', 'degraded', 'down'], { description: 'As the answering node sees it' }),
    created_at: At(),
    updated_at: At(),
  },
  { title: 'PaymentProvider' },
)

type Parameters = {
  environment: Environment
  provider: string
  settings: string
  secret: Buffer
  sealedBucket: number
  sealedAccount: string
  enabled: boolean
  at: Date
}
type Named = Pick<Parameters, 'environment' | 'provider'>

const insertProvider = statement<Parameters, EnteredRow>(
  'payments.insert_provider',
  `insert into payments.providers (${enteredColumns})
   values ($environment, $provider, $settings::jsonb, $secret, $sealedBucket, $sealedAccount, $enabled, $at, $at)
   on conflict do nothing returning ${enteredColumns}`,
)

const lockProvider = statement<Named, EnteredRow>(
  'payments.lock_provider',
  `select ${enteredColumns} from payments.providers where environment = $environment and provider = $provider for update`,
)

const updateProvider = statement<Parameters, EnteredRow>(
  'payments.update_provider',
  `update payments.providers
      set settings = $settings::jsonb, secret = $secret, sealed_bucket = $sealedBucket, sealed_account = $sealedAccount,
          enabled = $enabled, updated_at = $at
    where environment = $environment and provider = $provider
   returning ${enteredColumns}`,
)

const deleteProvider = statement<Named, { provider: string }>(
  'payments.delete_provider',
  'delete from payments.providers where environment = $environment and provider = $provider returning provider',
)

const listProviders = list({
  path: '/v1/operator/payments/providers',
  operation: 'operator.listPaymentProviders',
  summary: 'List the providers that payments go to, and how they are doing',
  scope: 'operator',
  row: ProviderRecord,
  examples: [{ name: 'All of them' }],
  handle: async (app) => ({
    rows: (await app.db.query(selectEntered, {})).map((row) => recordOf(app, row)),
    nextCursor: null,
  }),
})

const createProvider = write({
  method: 'POST',
  path: '/v1/operator/payments/providers',
  operation: 'operator.createPaymentProvider',
  summary: 'Enter an account with a provider',
  scope: 'operator',
  body: ProviderCreate,
  reply: { status: 201, schema: ProviderRecord, location: ({ id }) => `/v1/operator/payments/providers/${id}` },
  errors: ['VALIDATION_ERROR', 'CONFLICT'],
  examples: [
    {
      name: 'M-Pesa, in earnest',
      body: {
        provider: 'mpesa',
        environment: 'live',
        base_url: 'https://api.safaricom.co.ke',
        shortcode: '174379',
        passkey: 'passkey',
        consumer_key: 'key',
        consumer_secret: 'secret',
      },
    },
  ],
  handle: async (app, tx, { body }, caller) => {
    const { provider, environment, enabled = true } = body
    const named = { provider, environment }
    const row = await maybe(
      tx.query(insertProvider, {
        ...named,
        settings: JSON.stringify({ base_url: body.base_url, shortcode: body.shortcode }),
        ...(await sealed(app, caller, named, body)),
        enabled,
        at: new Date(caller.receivedMs),
      }),
    )
    if (!row) throw new AppError('CONFLICT', `${provider} was entered for ${environment} already; change it instead`)
    return announced(app, tx, caller, 'payments.create_provider', row)
  },
})

const changeProvider = write({
  method: 'PATCH',
  path: '/v1/operator/payments/providers/:id',
  operation: 'operator.changePaymentProvider',
  summary: 'Change an account with a provider',
  scope: 'operator',
  params: IdParam,
  body: ProviderChange,
  reply: { status: 200, schema: ProviderRecord },
  errors: ['NOT_FOUND', 'VALIDATION_ERROR'],
  handle: async (app, tx, { params, body }, caller) => {
    const before = await maybe(tx.query(lockProvider, namedBy(params.id)))
    if (!before) throw noSuchProvider()
    const { environment, provider } = before
    const { base_url = before.settings.base_url, shortcode = before.settings.shortcode } = body
    const secret = { ...(await openSecret(app, before)), ...body }
    const row = await one(
      tx.query(updateProvider, {
        environment,
        provider,
        settings: JSON.stringify({ base_url, shortcode }),
        ...(await sealed(app, caller, before, secret)),
        enabled: body.enabled ?? before.enabled,
        at: new Date(caller.receivedMs),
      }),
    )
    return announced(app, tx, caller, 'payments.change_provider', row)
  },
})

const removeProvider = write({
  method: 'DELETE',
  path: '/v1/operator/payments/providers/:id',
  operation: 'operator.removePaymentProvider',
  summary: 'Give up an account with a provider',
  description: 'Payments that it knows of and that are not over stay as they are until they expire.',
  scope: 'operator',
  params: IdParam,
  reply: {
    status: 200,
    schema: Type.Object({ id: Type.String(), deleted: Type.Literal(true) }, { title: 'Deleted' }),
  },
  errors: ['NOT_FOUND'],
  handle: async (app, tx, { params }, caller) => {
    const gone = await maybe(tx.query(deleteProvider, namedBy(params.id)))
    if (!gone) throw noSuchProvider()
    await record(tx, caller, 'payments.remove_provider', params.id, { after: {} })
    await app.signals.send(tx, 'payments', params.id)
    return { id: params.id, deleted: true as const }
  },
})

async function sealed(app: App, { tenant }: Caller, named: Named, secret: SecretSettings) {
  const { passkey, consumer_key, consumer_secret } = secret
  const { bucket, account } = tenant
  return {
    secret: await sealProvider(app, { bucket, account }, named, { passkey, consumer_key, consumer_secret }),
    sealedBucket: bucket,
    sealedAccount: account,
  }
}

/** Notes a change, tells every node of it, and shows the provider as it is now. */
async function announced(app: App, tx: Tx, caller: Caller, action: string, row: EnteredRow) {
  const shown = recordOf(app, row)
  const { status: _, ...after } = shown
  await record(tx, caller, action, shown.id, { after })
  await app.signals.send(tx, 'payments', shown.id)
  return shown
}

function recordOf(app: App, row: EnteredRow): Static<typeof ProviderRecord> {
  const { provider, environment, settings, enabled, created_at, updated_at } = row
  return {
    id: `${provider}-${environment}`,
    provider,
    environment,
    base_url: settings.base_url,
    shortcode: settings.shortcode,
    enabled,
    status: gatewayOf(app).status(provider, environment),
    created_at,
    updated_at,
  }
}

function namedBy(id: string): Named {
  const [, provider, environment] = /^([a-z_]{1,40})-(test|live)$/.exec(id) ?? []
  if (provider === undefined) throw noSuchProvider()
  return { provider, environment: environment === 'live' ? 'live' : 'test' }
}

function noSuchProvider(): AppError {
  return new AppError('NOT_FOUND', 'there is no such provider; ids are such as mpesa-live')
}

export const operatorRoutes: readonly Route[] = [listProviders, createProvider, changeProvider, removeProvider]
