// SPDX-License-Identifier: Apache-2.0
// Operator routes on accounts: open, change, suspend, credit, set plans and limits.
import { type Static, Type } from 'typebox'
import { AppError, invalid } from '../../kernel/errors.ts'
import { idOf, newUuid } from '../../kernel/ids.ts'
import { currencies, parseAmount } from '../../kernel/money.ts'
import { requireFits, requireOverdraft, requireRoom } from '../../ledger/ceiling.ts'
import { post, postedLegs, setOverdraft, type Wallet, walletsOf } from '../../ledger/wallets.ts'
import type { App } from '../../platform/app.ts'
import { record } from '../../platform/audit.ts'
import type { Caller } from '../../platform/auth.ts'
import { currencyTaken } from '../../platform/currencies.ts'
import { maybe, one, type Queryable, type Tx } from '../../platform/db.ts'
import { limitNames, PlanLimits } from '../../platform/limits/plan-limits.ts'
import { pageOf, pageOfWhole, windowOf } from '../../platform/page.ts'
import { IdParam, list, type Route, read, writeAcross } from '../../platform/route.ts'
import {
  Amount,
  AmountIn,
  At,
  CountryCode,
  CurrencyCode,
  EnvironmentName,
  listQuery,
  Nullable,
  OneOf,
  wholeListQuery,
} from '../../platform/schema.ts'
import { accountUuid, alter, noSuchAccount, openAccount } from './account.ts'
import { forget, storeNewKey } from './keys.ts'
import { givePlayMoney, playMoneyMicros } from './play-money.ts'
import { AccountId, Name } from './schema.ts'
import {
  type AccountRow,
  accountOf,
  accountsOnPlan,
  creditReference,
  findAccount,
  findCredit,
  findPlan,
  insertPlan,
  listAccounts,
  listPlans,
  lockPlan,
  type PlanRow,
  updatePlanLimits,
} from './store.ts'

const allowed = (unit: string, minimum: number, maximum: number) =>
  Type.Optional(
    Nullable(
      Type.Integer({
        minimum,
        maximum,
        rule: `must be ${minimum} to ${maximum} ${unit}, or null for what the plan says`,
      }),
    ),
  )

const Allowances = Type.Object(
  {
    api_keys: allowed('API keys', 1, 10_000),
    webhooks: allowed('webhooks', 0, 10_000),
    webhook_retention_days: allowed('days', 1, 400),
    webhook_concurrency: allowed('requests at once', 1, 1_000),
    sms_weight: allowed('texts in a turn, where others have 1', 1, 100),
  },
  { description: 'What the account has in place of its plan’s; what is not named is the plan’s' },
)

const WalletRecord = Type.Object({
  environment: EnvironmentName(),
  currency: Type.String(),
  balance: Amount(),
  held: Amount(),
  overdraft: Amount(),
  available: Amount(),
})

const OperatorAccount = Type.Object(
  {
    id: AccountId,
    name: Type.String(),
    country: Type.String(),
    currency: Type.String(),
    timezone: Type.String(),
    plan: Type.String(),
    limits: PlanLimits,
    allowances: Allowances,
    status: OneOf(['active', 'suspended']),
    created_at: At(),
  },
  { title: 'OperatorAccount' },
)

const OpenedAccount = Type.Object(
  {
    ...OperatorAccount.properties,
    test_api_key: Type.String({ sensitive: true, description: 'A test key with every scope, shown this once' }),
  },
  { title: 'OpenedAccount' },
)

const AccountWithWallets = Type.Object(
  { ...OperatorAccount.properties, wallets: Type.Array(WalletRecord) },
  { title: 'OperatorAccountDetail' },
)

const PlanRecord = Type.Object({ name: Type.String(), limits: PlanLimits, updated_at: At() }, { title: 'Plan' })

const PlanName = Type.String({
  pattern: '^[a-z][a-z0-9_-]{1,39}$',
  rule: 'must have 2 to 40 small letters, digits, - or _',
})

const listAll = list({
  path: '/v1/operator/accounts',
  operation: 'operator.listAccounts',
  summary: 'List the accounts of this installation',
  scope: 'operator',
  query: Type.Object({
    ...listQuery,
    status: Type.Optional(OneOf(['active', 'suspended'])),
    plan: Type.Optional(Type.String({ maxLength: 40 })),
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
  summary: 'Open an account; its test key stands in the reply',
  scope: 'operator',
  body: Type.Object({
    name: Name,
    country: CountryCode(),
    currency: CurrencyCode(),
    plan: Type.Optional(Type.String({ maxLength: 40, default: 'free' })),
    play_money: Type.Optional(
      AmountIn({ description: 'What its test wallet begins with, in its currency: 100000 unless given, 0 for none' }),
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
  summary: 'Read an account and its wallets',
  scope: 'operator',
  params: IdParam,
  reply: { status: 200, schema: AccountWithWallets },
  errors: ['NOT_FOUND'],
  handle: async ({ db }, { params }) => {
    const row = await existing(db, params.id)
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
  summary: 'Change an account’s plan, own limits, allowances or status',
  scope: 'operator',
  params: IdParam,
  body: Type.Object({
    plan: Type.Optional(Type.String({ maxLength: 40 })),
    limits: Type.Optional(
      Nullable(PlanLimits, {
        description:
          'Requests a minute by area, in place of the plan’s; null for no limit. `"limits": null` gives all of the plan’s back',
      }),
    ),
    allowances: Type.Optional(Allowances),
    status: Type.Optional(OneOf(['active', 'suspended'])),
  }),
  reply: { status: 200, schema: OperatorAccount },
  errors: ['NOT_FOUND', 'VALIDATION_ERROR', 'CONFLICT'],
  examples: [
    { name: 'Suspend', body: { status: 'suspended' } },
    { name: 'The plan’s limits again', body: { limits: null } },
    { name: 'More webhooks than the plan has', body: { allowances: { webhooks: 25, webhook_retention_days: 60 } } },
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

const CreditReply = Type.Object(
  {
    account_id: AccountId,
    environment: EnvironmentName(),
    reference: Type.String(),
    amount: Amount(),
    currency: Type.String(),
    balance: Amount({ description: 'After the credit' }),
  },
  { title: 'Credit' },
)

const credit = writeAcross({
  method: 'POST',
  path: '/v1/operator/accounts/:id/credit',
  operation: 'operator.creditAccount',
  summary: 'Put money into an account’s wallet',
  description: '`reference` makes it safe to repeat: the same one never credits twice.',
  scope: 'operator',
  params: IdParam,
  body: Type.Object({
    amount: AmountIn(),
    currency: CurrencyCode(),
    environment: EnvironmentName(),
    reference: Type.String({ minLength: 1, maxLength: 64, rule: 'must have 1 to 64 characters' }),
  }),
  reply: { status: 200, schema: CreditReply },
  errors: ['NOT_FOUND', 'VALIDATION_ERROR', 'UNSUPPORTED_CURRENCY', 'AMOUNT_TOO_HIGH', 'DUPLICATE_REFERENCE'],
  examples: [
    {
      name: 'A bank transfer arrived',
      body: { amount: 5000, currency: 'KES', environment: 'test', reference: 'BANK-2041' },
    },
  ],
  handle: (app, tx, { params, body }, caller) => creditAccount(app, tx, params.id, body, caller),
})

interface CreditInput {
  amount: number | string
  currency: string
  environment: 'test' | 'live'
  reference: string
}

async function creditAccount(
  app: App,
  tx: Tx,
  id: string,
  input: CreditInput,
  caller: Caller,
): Promise<Static<typeof CreditReply>> {
  const row = await existing(tx, id)
  const { environment, reference } = input
  const currency = currencyTaken(app, input.currency)
  const micros = positiveAmount(input.amount, currency)
  const tenant = { bucket: row.bucket, account: row.id, environment }
  await requireRoom(tx, tenant, currency, micros)
  const sourceId = newUuid(app.clock.nowMs())
  const [made] = await tx.query(creditReference, { account: row.id, environment, reference, source: sourceId })
  if (!made) {
    const { source_id } = await one(tx.query(findCredit, { account: row.id, environment, reference }))
    const { id: transfer } = await one(postedLegs(tx, tenant, { sourceId: source_id, step: 'credit' }))
    throw new AppError('DUPLICATE_REFERENCE', `the reference was used for a credit before`, {
      extra: { existing_id: idOf('walletTransaction', transfer) },
    })
  }
  await post(
    tx,
    tenant,
    { sourceId, step: 'credit' },
    [{ debit: 'operator:credit', credit: 'wallet', micros, currency }],
    app.clock.nowMs(),
    {
      description: reference,
    },
  )
  const { id: account_id } = operatorAccount(row)
  await record(tx, caller, 'account.credit', account_id, {
    after: { environment, currency, amount: String(input.amount), reference },
  })
  const wallet = (await walletsOf(tx, tenant)).find((one) => one.currency === currency)
  return { account_id, environment, reference, amount: micros, currency, balance: wallet?.balanceMicros ?? 0n }
}

const overdraft = writeAcross({
  method: 'POST',
  path: '/v1/operator/accounts/:id/overdraft',
  operation: 'operator.setOverdraft',
  summary: 'Let an account’s wallet go below zero by so much',
  scope: 'operator',
  params: IdParam,
  body: Type.Object({ amount: AmountIn(), currency: CurrencyCode(), environment: EnvironmentName() }),
  reply: { status: 200, schema: WalletRecord },
  errors: ['NOT_FOUND', 'VALIDATION_ERROR', 'UNSUPPORTED_CURRENCY', 'AMOUNT_TOO_HIGH', 'CONFLICT'],
  examples: [{ name: 'Pay at the end of the month', body: { amount: 10000, currency: 'KES', environment: 'live' } }],
  handle: async (app, tx, { params, body }, caller) => {
    const row = await existing(tx, params.id)
    const currency = currencyTaken(app, body.currency)
    const micros = amountOf(body.amount, currency)
    requireOverdraft(currency, micros)
    const wallet = await setOverdraft(
      tx,
      { bucket: row.bucket, account: row.id, environment: body.environment },
      currency,
      micros,
    )
    await record(tx, caller, 'account.overdraft', operatorAccount(row).id, {
      after: { ...body, amount: String(body.amount) },
    })
    return walletRecord(body.environment, wallet)
  },
})

const listAllPlans = list({
  path: '/v1/operator/plans',
  operation: 'operator.listPlans',
  summary: 'List the plans and their limits',
  scope: 'operator',
  query: Type.Object(wholeListQuery),
  row: PlanRecord,
  examples: [{ name: 'All plans' }],
  handle: async ({ db }, { query }) =>
    pageOfWhole(query, (await db.query(listPlans, {})).map(planRecord), ({ name }) => name),
})

const createPlan = writeAcross({
  method: 'POST',
  path: '/v1/operator/plans',
  operation: 'operator.createPlan',
  summary: 'Make a plan',
  scope: 'operator',
  body: Type.Object({ name: PlanName, limits: PlanLimits }),
  reply: { status: 201, schema: PlanRecord, location: ({ name }) => `/v1/operator/plans/${name}` },
  errors: ['VALIDATION_ERROR', 'CONFLICT'],
  examples: [{ name: 'A plan for charities', body: { name: 'charity', limits: { sms: 200, email: 200 } } }],
  handle: async (_app, tx, { body }, caller) => {
    const made = await maybe(tx.query(insertPlan, { name: body.name, limits: JSON.stringify(body.limits) }))
    if (!made) throw new AppError('CONFLICT', 'a plan of that name exists; change it instead')
    return noted(tx, made, caller, 'plan.create')
  },
})

const getPlan = read({
  method: 'GET',
  path: '/v1/operator/plans/:name',
  operation: 'operator.getPlan',
  summary: 'Read a plan’s limits',
  scope: 'operator',
  params: Type.Object({ name: Type.String({ description: 'Name of the plan' }) }),
  reply: { status: 200, schema: PlanRecord },
  errors: ['NOT_FOUND'],
  handle: async ({ db }, { params }) => {
    const plan = await maybe(db.query(findPlan, { name: params.name }))
    if (!plan) throw noSuchPlan()
    return planRecord(plan)
  },
})

const updatePlan = writeAcross({
  method: 'PATCH',
  path: '/v1/operator/plans/:name',
  operation: 'operator.updatePlan',
  summary: 'Change a plan’s limits, for every account on it',
  scope: 'operator',
  params: Type.Object({ name: Type.String({ description: 'Name of the plan' }) }),
  body: Type.Object({ limits: PlanLimits }),
  reply: { status: 200, schema: PlanRecord },
  errors: ['NOT_FOUND', 'VALIDATION_ERROR'],
  handle: async (app, tx, { params, body }, caller) => {
    const plan = await maybe(tx.query(lockPlan, { name: params.name }))
    if (!plan) throw noSuchPlan()
    const limits = JSON.stringify({ ...plan.limits, ...body.limits })
    const changed = await one(tx.query(updatePlanLimits, { name: plan.name, limits }))
    for (const { id } of await tx.query(accountsOnPlan, { plan: plan.name })) await forget(app, tx, id)
    return noted(tx, changed, caller, 'plan.update')
  },
})

async function noted(tx: Tx, plan: PlanRow, caller: Caller, action: string): Promise<Static<typeof PlanRecord>> {
  await record(tx, caller, action, plan.name, { after: plan })
  return planRecord(plan)
}

async function existing(queryable: Queryable, id: string): Promise<AccountRow> {
  const row = await maybe(queryable.query(findAccount, { id: accountUuid(id) }))
  if (!row) throw noSuchAccount()
  return row
}

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

function noSuchPlan(): AppError {
  return new AppError('NOT_FOUND', 'there is no plan of that name; GET /v1/operator/plans lists them')
}

function planRecord({ name, limits, updated_at }: PlanRow) {
  return { name, limits: knownLimits(limits), updated_at }
}

function knownLimits(limits: AccountRow['limits']): Static<typeof PlanLimits> {
  return Object.fromEntries(
    limitNames()
      .filter((area) => area in limits)
      .map((area) => [area, limits[area] ?? null]),
  )
}

/** Null gives an allowance back to the plan. */
function withoutNulls(given: Readonly<Record<string, number | null>>): Record<string, number> {
  const kept: Record<string, number> = {}
  for (const [name, value] of Object.entries(given)) if (value !== null) kept[name] = value
  return kept
}

function walletRecord(environment: 'test' | 'live', wallet: Wallet): Static<typeof WalletRecord> {
  const { currency, balanceMicros, heldMicros, overdraftMicros, availableMicros } = wallet
  return {
    environment,
    currency,
    balance: balanceMicros,
    held: heldMicros,
    overdraft: overdraftMicros,
    available: availableMicros,
  }
}

function amountOf(value: number | string, currency: keyof typeof currencies, field = 'amount'): bigint {
  const micros = parseAmount(value, currencies[currency])
  if (typeof micros !== 'bigint') throw invalid(field, `must be an amount of ${currency}, which ${micros.problem}`)
  return micros
}

function positiveAmount(value: number | string, currency: keyof typeof currencies): bigint {
  const micros = amountOf(value, currency)
  if (micros === 0n) throw invalid('amount', 'must be more than 0')
  return micros
}

export const operatorRoutes: readonly Route[] = [
  listAll,
  create,
  get,
  update,
  credit,
  overdraft,
  listAllPlans,
  createPlan,
  getPlan,
  updatePlan,
]
