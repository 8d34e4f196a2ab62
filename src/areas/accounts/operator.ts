// SPDX-License-Identifier: Apache-2.0
// Operator routes on accounts: open, change, suspend, set limits.
import { Type } from 'typebox'
import { AppError, invalid } from '../../kernel/errors.ts'
import { requireFits } from '../../ledger/ceiling.ts'
import { currencyTaken } from '../../ledger/currencies.ts'
import { walletsOf } from '../../ledger/wallets.ts'
import { record } from '../../platform/api/audit.ts'
import { IdParam, list, type Route, read, writeAcross } from '../../platform/api/route.ts'
import { PlanLimits } from '../../platform/limits/plan-limits.ts'
import {
  AmountIn,
  At,
  CountryCode,
  CurrencyCode,
  listQuery,
  Nullable,
  OneOf,
  TimeZone,
} from '../../platform/schema/fields.ts'
import { pageOf, windowOf } from '../../platform/schema/lists.ts'
import { accountUuid, alter, openAccount, requireAccount } from './account.ts'
import { forget, storeNewKey } from './keys.ts'
import { knownLimits, planRoutes } from './operator-plans.ts'
import { amountOf, WalletRecord, walletRecord, walletRoutes } from './operator-wallets.ts'
import { givePlayMoney, playMoneyMicros } from './play-money.ts'
import { AccountId, Name } from './schema.ts'
import { type AccountRow, accountOf, listAccounts } from './store.ts'

const allowed = (description: string, unit: string, minimum: number, maximum: number) =>
  Type.Optional(
    Nullable(
      Type.Integer({
        minimum,
        maximum,
        rule: `must be ${minimum} to ${maximum} ${unit}, or null for the value of the plan`,
        description,
      }),
    ),
  )

const Allowances = Type.Object(
  {
    api_keys: allowed('Maximum number of working API keys, test and live together', 'API keys', 1, 10_000),
    webhooks: allowed('Maximum number of webhooks', 'webhooks', 0, 10_000),
    webhook_retention_days: allowed(
      'Retention of webhook deliveries in days; at most the installation’s PAMOJA_EVENT_DAYS',
      'days',
      1,
      400,
    ),
    webhook_concurrency: allowed('Maximum number of concurrent webhook deliveries', 'requests at once', 1, 1_000),
    sms_weight: allowed(
      'Weight of the account in the fair queue of a carrier',
      'texts in a turn, where others have 1',
      1,
      100,
    ),
  },
  { description: 'Allowances that replace those of the plan; others are the plan’s' },
)

const OperatorAccount = Type.Object(
  {
    id: AccountId,
    name: Type.String({ description: 'Name shown to its customers' }),
    country: Type.String({ description: 'Country code, ISO 3166, such as KE' }),
    currency: Type.String({ description: 'Currency of the account’s first wallets and of amounts in its settings' }),
    timezone: Type.String({ description: 'IANA name, such as Africa/Nairobi' }),
    plan: Type.String({ description: 'Plan that sets its limits' }),
    limits: PlanLimits,
    allowances: Allowances,
    status: OneOf(['active', 'suspended'], {
      description: '`suspended`: requests are refused, and jobs are held back',
    }),
    created_at: At({ description: 'Time at which the account was created' }),
  },
  { title: 'OperatorAccount' },
)

const OpenedAccount = Type.Object(
  {
    ...OperatorAccount.properties,
    test_api_key: Type.String({ sensitive: true, description: 'Test key with every scope, shown only once' }),
  },
  { title: 'OpenedAccount' },
)

const AccountWithWallets = Type.Object(
  {
    ...OperatorAccount.properties,
    wallets: Type.Array(WalletRecord, { description: 'Wallets by environment and currency' }),
  },
  { title: 'OperatorAccountDetail' },
)

const listAll = list({
  path: '/v1/operator/accounts',
  operation: 'operator.listAccounts',
  summary: 'List the accounts of this installation',
  scope: 'operator',
  query: Type.Object({
    ...listQuery,
    status: Type.Optional(
      OneOf(['active', 'suspended'], {
        description: 'Filter by status: active or suspended',
      }),
    ),
    plan: Type.Optional(Type.String({ maxLength: 40, description: 'Filter by plan, such as `free`' })),
  }),
  row: OperatorAccount,
  examples: [{ name: 'Accounts on the free plan', query: { plan: 'free' } }],
  handle: async ({ db }, { query }) => {
    const window = windowOf(query)
    const rows = await db.query(listAccounts, { ...window, status: query.status ?? null, plan: query.plan ?? null })
    return pageOf(window, rows, operatorAccount)
  },
})

const create = writeAcross({
  method: 'POST',
  path: '/v1/operator/accounts',
  operation: 'operator.createAccount',
  summary: 'Create an account and its test key',
  scope: 'operator',
  body: Type.Object({
    name: Name('Name shown to the account’s customers on invoices, receipts and payment pages'),
    country: CountryCode({ description: 'Country of the business; default: the country of its time zone' }),
    currency: CurrencyCode({
      description: 'Currency of its first wallets, and of amounts in its settings; it cannot be changed afterwards',
    }),
    timezone: Type.Optional(TimeZone({ description: 'Time zone, as an IANA name; default: that of the country' })),
    plan: Type.Optional(
      Type.String({
        maxLength: 40,
        default: 'free',
        description: 'Plan that sets its limits: `free`, `starter`, `growth` or one of your own',
      }),
    ),
    play_money: Type.Optional(
      AmountIn({ description: 'Initial balance of its test wallet, in its currency; default 100000, 0 for none' }),
    ),
  }),
  reply: { status: 201, schema: OpenedAccount, location: ({ id }) => `/v1/operator/accounts/${id}` },
  errors: ['VALIDATION_ERROR', 'UNSUPPORTED_CURRENCY', 'AMOUNT_TOO_HIGH'],
  examples: [{ name: 'A shop in Kenya', body: { name: 'Duka Moja', country: 'KE', currency: 'KES', plan: 'starter' } }],
  handle: async (app, tx, { body }, caller) => {
    const { play_money, plan = 'free', ...wanted } = body
    const currency = currencyTaken(app, body.currency)
    const playMicros = play_money === undefined ? playMoneyMicros : amountOf(play_money, currency, 'play_money')
    requireFits(0n, currency, playMicros)
    const row = await openAccount(app, tx, { ...wanted, currency, plan })
    await givePlayMoney(app, tx, row, currency, playMicros)
    const { key } = await storeNewKey(app, tx, {
      account: row.id,
      environment: 'test',
      name: 'First test key',
      scopes: ['*'],
      createdBy: caller.actor,
      expiresAt: null,
      allowedIps: [],
    })
    const opened = operatorAccount(row)
    await record(tx, caller, 'account.create', opened.id, { after: opened })
    return { ...opened, test_api_key: key }
  },
})

const get = read({
  method: 'GET',
  path: '/v1/operator/accounts/:id',
  operation: 'operator.getAccount',
  summary: 'Get an account and its wallets',
  scope: 'operator',
  params: IdParam,
  reply: { status: 200, schema: AccountWithWallets },
  errors: ['NOT_FOUND'],
  handle: async ({ db }, { params }) => {
    const row = await requireAccount(db, params.id)
    const wallets = await Promise.all(
      (['test', 'live'] as const).map(async (environment) =>
        (await walletsOf(db, { bucket: row.bucket, account: row.id, environment })).map((wallet) =>
          walletRecord(environment, wallet),
        ),
      ),
    )
    return { ...operatorAccount(row), wallets: wallets.flat() }
  },
})

const update = writeAcross({
  method: 'PATCH',
  path: '/v1/operator/accounts/:id',
  operation: 'operator.updateAccount',
  summary: 'Update an account’s plan, limits or status',
  scope: 'operator',
  params: IdParam,
  body: Type.Object({
    plan: Type.Optional(Type.String({ maxLength: 40, description: 'Name of the new plan; its limits apply at once' })),
    limits: Type.Optional(
      Nullable(PlanLimits, {
        description:
          'Requests per minute by area, instead of the plan’s; null for no limit. `"limits": null` restores all of the plan’s',
      }),
    ),
    allowances: Type.Optional(Allowances),
    status: Type.Optional(
      OneOf(['active', 'suspended'], {
        description: '`suspended` refuses every request of its keys and holds back its jobs; `active` resumes both',
      }),
    ),
  }),
  reply: { status: 200, schema: OperatorAccount },
  errors: ['NOT_FOUND', 'VALIDATION_ERROR', 'CONFLICT'],
  examples: [
    { name: 'Suspend', body: { status: 'suspended' } },
    { name: 'Restore the limits of the plan', body: { limits: null } },
    { name: 'Raise the limit of webhooks', body: { allowances: { webhooks: 25, webhook_retention_days: 60 } } },
  ],
  handle: async (app, tx, { params, body }, caller) => {
    const account = accountUuid(params.id)
    if (body.status === 'suspended' && account === caller.tenant.account)
      throw new AppError('CONFLICT', 'an operator cannot suspend the account it acts with', {
        extra: { current_status: 'active' },
      })
    const keptDays = app.config.PAMOJA_EVENT_DAYS
    if ((body.allowances?.webhook_retention_days ?? 0) > keptDays)
      throw invalid(
        'allowances.webhook_retention_days',
        `must be at most ${keptDays}, the days for which this installation keeps events (PAMOJA_EVENT_DAYS)`,
      )
    const { before, after } = await alter(tx, account, (row) => ({
      ...row,
      plan: body.plan ?? row.plan,
      status: body.status ?? row.status,
      limits: body.limits === null ? {} : { ...row.limits, ...body.limits },
      allowances: withoutNulls({ ...row.allowances, ...body.allowances }),
    }))
    const changed = operatorAccount(after)
    await record(tx, caller, 'account.operate', changed.id, { before: operatorAccount(before), after: changed })
    await forget(app, tx, account)
    return changed
  },
})

function operatorAccount(row: AccountRow) {
  const { id, name, country, currency, timezone, plan, status, created_at } = accountOf(row)
  return {
    id,
    name,
    country,
    currency,
    timezone,
    plan,
    limits: knownLimits(row.limits),
    allowances: row.allowances,
    status,
    created_at,
  }
}

/** Allowances without the nulls, which give one back to the plan. */
function withoutNulls(given: Readonly<Record<string, number | null>>): Record<string, number> {
  const kept: Record<string, number> = {}
  for (const [name, value] of Object.entries(given)) if (value !== null) kept[name] = value
  return kept
}

export const operatorRoutes: readonly Route[] = [listAll, create, get, update, ...walletRoutes, ...planRoutes]
