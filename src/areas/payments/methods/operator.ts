// SPDX-License-Identifier: Apache-2.0
// Provider accounts, for operators: enter one, change it, remove it. Every node uses the change at once.
import { type Static, type TSchema, Type } from 'typebox'
import { AppError } from '../../../kernel/errors.ts'
import { record } from '../../../platform/api/audit.ts'
import { IdParam, writeAcross } from '../../../platform/api/route.ts'
import type { App } from '../../../platform/app.ts'
import type { Caller } from '../../../platform/auth.ts'
import { connectionRoutes } from '../../../platform/connections/routes.ts'
import { maybe, one, statement, type Tx } from '../../../platform/db.ts'
import { At, CountryOrAll, EnvironmentName, Nullable, OneOf } from '../../../platform/schema/fields.ts'
import type { Environment } from '../../../platform/tenant.ts'
import { kindOf, kinds } from '../carriers/kinds.ts'
import {
  type EnteredRow,
  enteredColumns,
  openSecret,
  type Settings,
  sealProvider,
  selectEntered,
} from '../gateway/accounts.ts'
import { gatewayOf } from '../gateway/gateway.ts'
import { testAccount } from '../gateway/test-account.ts'
import { bankCountries } from '../providers/banks.ts'
import type { ProviderKind } from '../providers/kind.ts'
import { cardCountry } from './card.ts'
import { countriesOf } from './mobile-money-providers.ts'

/** The settings of every kind; those of its own kind are asked of a provider, and no others. */
const openSettings = optional(kinds.flatMap(({ open, outgoing }) => [open, outgoing.open]))
const secretSettings = optional(kinds.flatMap(({ secret, outgoing }) => [secret, outgoing.secret]))

const created = {
  provider: OneOf(
    kinds.map(({ facts }) => facts.provider),
    { description: 'Provider; determines which of the settings below are required' },
  ),
  environment: EnvironmentName({ description: '`test` replaces the simulator' }),
  country: Type.Optional(
    CountryOrAll({ description: 'Country of the account; required if the provider is in several' }),
  ),
  enabled: Type.Optional(Type.Boolean({ default: true, description: 'False disables new payments through it' })),
}
const ProviderCreate = Type.Object<typeof created>({ ...created, ...openSettings, ...secretSettings })

/** Optional settings, which may be removed again. */
const outgoingSettings = removable(kinds.flatMap(({ outgoing }) => [outgoing.open, outgoing.secret]))

const changed = { enabled: Type.Optional(Type.Boolean({ description: 'False disables new payments through it' })) }
const ProviderChange = Type.Object<typeof changed>({
  ...changed,
  ...openSettings,
  ...secretSettings,
  ...outgoingSettings,
})

const shown = {
  id: Type.String({ description: 'Id of the provider account, such as `mpesa-ke-live`' }),
  provider: Type.String({ description: 'Provider, such as `mpesa`' }),
  environment: EnvironmentName({ description: '`test` replaces the simulator' }),
  country: Type.String({ description: 'Country of the account, ISO 3166' }),
  enabled: Type.Boolean({ description: 'False disables new payments through it' }),
  status: OneOf(['up', 'degraded', 'down'], { description: 'Status according to the replying node' }),
  created_at: At({ description: 'Time of entry' }),
  updated_at: At({ description: 'Time of the last change' }),
}
const ProviderRecord = Type.Object<typeof shown>({ ...shown, ...openSettings }, { title: 'PaymentProvider' })

type Parameters = {
  environment: Environment
  provider: string
  country: string
  settings: string
  secret: Buffer
  sealedBucket: number
  sealedAccount: string
  enabled: boolean
  at: Date
}
type Named = Pick<Parameters, 'environment' | 'provider' | 'country'>

const insertProvider = statement.home<Parameters, EnteredRow>(
  'payments.insert_provider',
  `insert into payments.providers (${enteredColumns})
   values ($environment, $provider, $country, $settings::jsonb, $secret, $sealedBucket, $sealedAccount, $enabled, $at, $at)
   on conflict do nothing returning ${enteredColumns}`,
)

const lockProvider = statement.home<Named, EnteredRow>(
  'payments.lock_provider',
  `select ${enteredColumns} from payments.providers
    where environment = $environment and provider = $provider and country = $country for update`,
)

const updateProvider = statement.home<Parameters, EnteredRow>(
  'payments.update_provider',
  `update payments.providers
      set settings = $settings::jsonb, secret = $secret, sealed_bucket = $sealedBucket, sealed_account = $sealedAccount,
          enabled = $enabled, updated_at = $at
    where environment = $environment and provider = $provider and country = $country
   returning ${enteredColumns}`,
)

const deleteProvider = statement.home<Named, { provider: string }>(
  'payments.delete_provider',
  `delete from payments.providers where environment = $environment and provider = $provider and country = $country
   returning provider`,
)

const mpesaExample = {
  provider: 'mpesa',
  environment: 'live' as const,
  base_url: 'https://api.safaricom.co.ke',
  shortcode: '174379',
  passkey: 'passkey',
  consumer_key: 'key',
  consumer_secret: 'secret',
}

const momoExample = {
  provider: 'mtn_momo',
  environment: 'live' as const,
  country: 'UG',
  base_url: 'https://proxy.momoapi.mtn.com',
  target_environment: 'mtnuganda',
  subscription_key: 'key',
  api_user: 'user',
  api_key: 'key',
}

const createProvider = writeAcross({
  method: 'POST',
  path: '/v1/operator/payments/providers',
  operation: 'operator.createPaymentProvider',
  summary: 'Create a payment provider',
  scope: 'operator',
  body: ProviderCreate,
  reply: { status: 201, schema: ProviderRecord, location: ({ id }) => `/v1/operator/payments/providers/${id}` },
  errors: ['VALIDATION_ERROR', 'INVALID_URL', 'CONFLICT'],
  examples: [
    { name: 'M-Pesa, live', body: mpesaExample },
    { name: 'MTN MoMo in Uganda', body: momoExample },
  ],
  prepare: (app, { body }) => checkBaseUrl(app, body),
  handle: async (app, tx, { body }, caller) => {
    const { provider, environment, enabled = true } = body
    const kind = knownKind(provider)
    const country = countryOf(provider, body.country)
    const named = { provider, environment, country }
    const { open, secret } = settingsIn(kind, body)
    requireAll(kind, { ...open, ...secret })
    const row = await maybe(
      tx.query(insertProvider, {
        ...named,
        settings: JSON.stringify(open),
        ...(await sealed(app, caller, named, secret)),
        enabled,
        at: new Date(caller.receivedMs),
      }),
    )
    if (!row) throw new AppError('CONFLICT', `${idOf(named)} was entered already; change it instead`)
    return announced(app, tx, caller, 'payments.create_provider', row)
  },
})

const changeProvider = writeAcross({
  method: 'PATCH',
  path: '/v1/operator/payments/providers/:id',
  operation: 'operator.changePaymentProvider',
  summary: 'Update a payment provider',
  description:
    'Null for a payout setting removes all payout settings, and disables payouts. When the credentials of another account are set, requests that the first account may have accepted are not resent.',
  scope: 'operator',
  params: IdParam,
  body: ProviderChange,
  reply: { status: 200, schema: ProviderRecord },
  errors: ['NOT_FOUND', 'VALIDATION_ERROR', 'INVALID_URL'],
  prepare: (app, { body }) => checkBaseUrl(app, body),
  handle: async (app, tx, { params, body }, caller) => {
    const before = await maybe(tx.query(lockProvider, namedBy(params.id)))
    if (!before) throw noSuchProvider()
    const { environment, provider, country } = before
    const kind = knownKind(provider)
    const given = settingsIn(kind, body)
    const gone = removedIn(kind, body)
    const open = without({ ...before.settings, ...given.open }, gone)
    const secret = without({ ...(await openSecret(app, before)), ...given.secret }, gone)
    requireAll(kind, { ...open, ...secret })
    const row = await one(
      tx.query(updateProvider, {
        environment,
        provider,
        country,
        settings: JSON.stringify(open),
        ...(await sealed(app, caller, before, secret)),
        enabled: body.enabled ?? before.enabled,
        at: new Date(caller.receivedMs),
      }),
    )
    return announced(app, tx, caller, 'payments.change_provider', row)
  },
})

export const operatorRoutes = connectionRoutes(
  {
    path: '/v1/operator/payments/providers',
    record: ProviderRecord,
    rows: selectEntered,
    nameOf: (row) => idOf(row),
    show: recordOf,
    none: noSuchProvider,
    list: {
      operation: 'operator.listPaymentProviders',
      summary: 'List payment providers and their health',
      example: 'All of them',
    },
    get: { operation: 'operator.getPaymentProvider', summary: 'Get a payment provider and its health' },
    remove: {
      operation: 'operator.removePaymentProvider',
      summary: 'Delete a payment provider',
      description: 'Pending payments are left unchanged until they expire.',
      ...{ action: 'payments.remove_provider', topic: 'payments' },
      run: async (tx, id) => (await tx.query(deleteProvider, namedBy(id))).length > 0,
    },
    test: {
      operation: 'operator.testPaymentProvider',
      summary: 'Test a payment provider',
      run: (app, row, probe) => testAccount(app, row, knownKind(row.provider), probe),
    },
  },
  [createProvider, changeProvider],
)

/** Refuses an address that could never be called, instead of showing a provider that seems to be down. */
async function checkBaseUrl({ carrierOutbound }: App, body: object): Promise<void> {
  if ('base_url' in body && typeof body.base_url === 'string')
    await carrierOutbound.checkUrl(body.base_url, 'callback', 'live', 'base_url')
}

/** Settings of a kind in a body; others are refused. */
function settingsIn(kind: ProviderKind, body: object): { open: Settings; secret: Settings } {
  const open: Record<string, string> = {}
  const secret: Record<string, string> = {}
  for (const [name, value] of Object.entries(body)) {
    if (typeof value !== 'string') continue
    if (Object.hasOwn({ ...kind.open, ...kind.outgoing.open }, name)) open[name] = value
    else if (Object.hasOwn({ ...kind.secret, ...kind.outgoing.secret }, name)) secret[name] = value
    else if (Object.hasOwn(openSettings, name) || Object.hasOwn(secretSettings, name))
      throw new AppError('VALIDATION_ERROR', `${name}: is not a setting of ${kind.facts.provider}`)
  }
  return { open, secret }
}

/** Settings that a body removes. */
function removedIn({ facts: { provider }, outgoing }: ProviderKind, body: object): string[] {
  const gone = Object.entries(body).flatMap(([name, value]) => (value === null ? [name] : []))
  const stray = gone.find((name) => !Object.hasOwn({ ...outgoing.open, ...outgoing.secret }, name))
  if (stray !== undefined) throw new AppError('VALIDATION_ERROR', `${stray}: is not a setting of ${provider}`)
  return gone
}

function without(settings: Settings, names: readonly string[]): Settings {
  return Object.fromEntries(Object.entries(settings).filter(([name]) => !names.includes(name)))
}

function requireAll({ facts: { provider }, open, secret, outgoing }: ProviderKind, given: Settings): void {
  const toPay = Object.keys({ ...outgoing.open, ...outgoing.secret })
  const paysOut = toPay.some((name) => Object.hasOwn(given, name))
  const needed = [...Object.keys({ ...open, ...secret }), ...(paysOut ? toPay : [])]
  const missing = needed.filter((name) => !Object.hasOwn(given, name))
  if (missing.length > 0) throw new AppError('VALIDATION_ERROR', `${missing.join(', ')}: needed for ${provider}`)
}

function countryOf(provider: string, given: string | undefined): string {
  const { method } = knownKind(provider)
  const countries =
    method === 'card' ? [cardCountry] : method === 'bank_transfer' ? bankCountries : countriesOf(provider)
  const [only] = countries
  const country = given ?? (countries.length === 1 ? only : undefined)
  if (country === undefined || !countries.includes(country))
    throw new AppError('VALIDATION_ERROR', `country: ${provider} is in ${countries.join(', ')}`)
  return country
}

function knownKind(provider: string): ProviderKind {
  const kind = kindOf(provider)
  if (!kind) throw noSuchProvider()
  return kind
}

async function sealed(app: App, { tenant }: Caller, named: Named, secret: Settings) {
  const { bucket, account } = tenant
  return {
    secret: await sealProvider(app, { bucket, account }, named, secret),
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
  const { provider, environment, country, settings, enabled, created_at, updated_at } = row
  return {
    ...settings,
    id: idOf(row),
    provider,
    environment,
    country,
    enabled,
    status: gatewayOf(app).status(row, environment),
    created_at,
    updated_at,
  }
}

function idOf({ provider, country, environment }: Named): string {
  return `${provider}-${country.toLowerCase()}-${environment}`
}

function namedBy(id: string): Named {
  const [, provider, country, environment] = /^([a-z_]{1,40})-([a-z]{2})-(test|live)$/.exec(id) ?? []
  if (provider === undefined || country === undefined) throw noSuchProvider()
  return { provider, country: country.toUpperCase(), environment: environment === 'live' ? 'live' : 'test' }
}

/** Optional settings, each with the providers that have it: forms show those of one provider. */
function optional(groups: readonly ProviderKind['open'][]): Record<string, TSchema> {
  const fields = groups.flatMap((group) => Object.entries(group))
  return Object.fromEntries(
    fields.map(([name, field]) => [name, Type.Optional(Type.String({ ...field, ...usesOf(name) }))]),
  )
}

function usesOf(name: string) {
  const needs = kinds.filter(({ open, secret }) => Object.hasOwn({ ...open, ...secret }, name))
  const pays = kinds.filter(({ outgoing }) => Object.hasOwn({ ...outgoing.open, ...outgoing.secret }, name))
  const named = (some: typeof kinds) => some.map(({ facts }) => facts.provider)
  return { 'x-providers': named(needs), 'x-payouts-of': named(pays) }
}

function removable(groups: readonly ProviderKind['open'][]): Record<string, TSchema> {
  const fields = groups.flatMap((group) => Object.entries(group))
  return Object.fromEntries(fields.map(([name, field]) => [name, Type.Optional(Nullable(field))]))
}

function noSuchProvider(): AppError {
  return new AppError('NOT_FOUND', 'there is no such provider; ids are such as mpesa-ke-live')
}
