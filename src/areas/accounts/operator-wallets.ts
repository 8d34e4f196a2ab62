// SPDX-License-Identifier: Apache-2.0
// Operator routes on wallets of accounts: credit and overdraft.
import { type Static, Type } from 'typebox'
import { AppError, invalid } from '../../kernel/errors.ts'
import { idOf, newUuid } from '../../kernel/ids.ts'
import { currencies, parseAmount } from '../../kernel/money.ts'
import { requireOverdraft, requireRoom } from '../../ledger/ceiling.ts'
import { currencyTaken } from '../../ledger/currencies.ts'
import { post, postedLegs, setOverdraft, type Wallet, walletsOf } from '../../ledger/wallets.ts'
import { record } from '../../platform/api/audit.ts'
import { IdParam, type Route, writeAcross } from '../../platform/api/route.ts'
import type { App } from '../../platform/app.ts'
import type { Caller } from '../../platform/auth.ts'
import { one, type Tx } from '../../platform/db.ts'
import { Amount, AmountIn, CurrencyCode, EnvironmentName } from '../../platform/schema/fields.ts'
import { requireAccount } from './account.ts'
import { AccountId } from './schema.ts'
import { creditReference, findCredit } from './store.ts'

export const WalletRecord = Type.Object({
  environment: EnvironmentName({ description: 'Environment of the wallet' }),
  currency: Type.String({ description: 'Currency of the amounts, ISO 4217' }),
  balance: Amount({ description: 'Balance in major units, including held amounts' }),
  held: Amount({ description: 'Amount reserved for operations whose outcome is pending' }),
  overdraft: Amount({ description: 'Maximum amount by which the balance may be negative' }),
  available: Amount({ description: 'Amount that can be spent: balance less held amounts, plus the overdraft' }),
})

const CreditReply = Type.Object(
  {
    account_id: AccountId,
    environment: EnvironmentName({ description: 'Environment of the wallet' }),
    reference: Type.String({ description: 'Your own id of the credit, as it was given' }),
    amount: Amount({ description: 'Amount credited, in major units' }),
    currency: Type.String({ description: 'Currency of the amounts, ISO 4217' }),
    balance: Amount({ description: 'Balance after the credit' }),
  },
  { title: 'Credit' },
)

const credit = writeAcross({
  method: 'POST',
  path: '/v1/operator/accounts/:id/credit',
  operation: 'operator.creditAccount',
  summary: 'Credit an account’s wallet',
  description: '`reference` makes it safe to repeat: the same one never credits twice.',
  scope: 'operator',
  params: IdParam,
  body: Type.Object({
    amount: AmountIn({ description: 'Amount to credit, more than 0' }),
    currency: CurrencyCode({
      description: 'Currency of the wallet, which is created if the account has none in it',
    }),
    environment: EnvironmentName({
      description: '`live` for money that you have received; `test` is play money',
    }),
    reference: Type.String({
      minLength: 1,
      maxLength: 64,
      rule: 'must have 1 to 64 characters',
      description: 'Your own reference, such as one of a bank; shown in the wallet’s list of transactions',
    }),
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
  const row = await requireAccount(tx, id)
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
  const account_id = idOf('account', row.id)
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
  summary: 'Set an account’s overdraft',
  scope: 'operator',
  params: IdParam,
  body: Type.Object({
    amount: AmountIn({ description: 'Maximum amount by which the balance may be negative; 0 removes it' }),
    currency: CurrencyCode({ description: 'Currency of the wallet' }),
    environment: EnvironmentName({ description: 'Environment of the wallet' }),
  }),
  reply: { status: 200, schema: WalletRecord },
  errors: ['NOT_FOUND', 'VALIDATION_ERROR', 'UNSUPPORTED_CURRENCY', 'AMOUNT_TOO_HIGH', 'CONFLICT'],
  examples: [{ name: 'A monthly credit limit', body: { amount: 10000, currency: 'KES', environment: 'live' } }],
  handle: async (app, tx, { params, body }, caller) => {
    const row = await requireAccount(tx, params.id)
    const currency = currencyTaken(app, body.currency)
    const micros = amountOf(body.amount, currency)
    requireOverdraft(currency, micros)
    const wallet = await setOverdraft(
      tx,
      { bucket: row.bucket, account: row.id, environment: body.environment },
      currency,
      micros,
    )
    await record(tx, caller, 'account.overdraft', idOf('account', row.id), {
      after: { ...body, amount: String(body.amount) },
    })
    return walletRecord(body.environment, wallet)
  },
})

export function walletRecord(environment: 'test' | 'live', wallet: Wallet): Static<typeof WalletRecord> {
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

export function amountOf(value: number | string, currency: keyof typeof currencies, field = 'amount'): bigint {
  const micros = parseAmount(value, currencies[currency])
  if (typeof micros !== 'bigint') throw invalid(field, `must be an amount of ${currency}, which ${micros.problem}`)
  return micros
}

function positiveAmount(value: number | string, currency: keyof typeof currencies): bigint {
  const micros = amountOf(value, currency)
  if (micros === 0n) throw invalid('amount', 'must be more than 0')
  return micros
}

export const walletRoutes: readonly Route[] = [credit, overdraft]
