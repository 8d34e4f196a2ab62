// SPDX-License-Identifier: Apache-2.0
// Sandbox route of the simulated bank: a test account pays into a one-time account of its own payments.

import { Type } from 'typebox'
import { AppError } from '../../../kernel/errors.ts'
import { idOf } from '../../../kernel/ids.ts'
import { formatMicros } from '../../../kernel/money.ts'
import { currencyOf, microsOf } from '../../../ledger/currencies.ts'
import { record } from '../../../platform/api/audit.ts'
import { type Route, write } from '../../../platform/api/route.ts'
import type { App } from '../../../platform/app.ts'
import type { Caller } from '../../../platform/auth.ts'
import { maybe, statement } from '../../../platform/db.ts'
import { ProviderClient } from '../../../platform/outbound/provider-http.ts'
import { Amount, AmountIn } from '../../../platform/schema/fields.ts'
import { mine, type Tenant } from '../../../platform/tenant.ts'
import { bankPaths } from '../../../protocols/bank.ts'
import { simulatedAccounts } from '../gateway/simulated.ts'
import { bankProvider } from '../providers/banks.ts'

const counterMs = 10_000

const findPaidInto = statement.tenant<Tenant & { number: string }, { id: string; currency: string }>(
  'payments.find_paid_into',
  `select id, currency from payments.payments
    where ${mine} and method = 'bank_transfer'
      and details -> 'pay_into' ->> 'account_number' = $number
    order by id desc limit 1`,
)

const credit = write({
  method: 'POST',
  path: '/v1/sandbox/bank/credit',
  operation: 'sandbox.creditBank',
  summary: 'Simulate a bank transfer for a payment',
  description: 'The exact amount completes the payment. Any other amount fails it, and the money is kept in suspense.',
  scope: 'sandbox:write',
  body: Type.Object({
    account_number: Type.String({
      minLength: 1,
      maxLength: 34,
      rule: 'must have 1 to 34 characters',
      description: '`bank_transfer.account_number` of the payment',
    }),
    amount: AmountIn({ description: 'Amount of the transfer' }),
  }),
  reply: {
    status: 200,
    schema: Type.Object(
      {
        payment_id: Type.String({ description: 'Id of the payment that the account is for' }),
        account_number: Type.String({ description: 'Account number that was credited' }),
        amount: Amount({ description: 'Amount transferred, in major units' }),
        currency: Type.String({ description: 'Currency of the amount, ISO 4217' }),
      },
      { title: 'SandboxBankCredit' },
    ),
  },
  errors: ['NOT_FOUND', 'VALIDATION_ERROR', 'INVALID_STATE', 'PROVIDER_UNAVAILABLE'],
  prepare: (app, { body }, caller) => payIn(app, caller, body.account_number, body.amount),
  handle: async (_app, tx, _input, caller, paid) => {
    await record(tx, caller, 'sandbox.credit_bank', paid.payment_id, { after: { amount: formatMicros(paid.amount) } })
    return paid
  },
})

async function payIn(app: App, { tenant }: Caller, number: string, given: number | string) {
  const payment = await maybe(app.db.query(findPaidInto, { ...tenant, number }))
  if (!payment) throw new AppError('NOT_FOUND', 'no payment of this account uses that account number')
  const currency = currencyOf(payment.currency)
  const micros = microsOf('amount', given, currency)
  const settings = simulatedAccounts(app)[bankProvider]
  const client = new ProviderClient(app.carrierOutbound)
  const answer = settings
    ? await client.ask({
        method: 'POST',
        url: `${settings.base_url}${bankPaths.credits}`,
        headers: { authorization: `Bearer ${settings.api_key}` },
        body: { account_number: number, amount: formatMicros(micros) },
        timeoutMs: counterMs,
      })
    : null
  if (answer?.kind === 'answered' && (answer.status === 409 || answer.status === 404))
    throw new AppError('INVALID_STATE', 'the account was paid into, or has expired')
  if (answer?.kind !== 'answered' || answer.status !== 200)
    throw new AppError('PROVIDER_UNAVAILABLE', 'the simulated bank does not answer', { retryAfterSeconds: 5 })
  return { payment_id: idOf('payment', payment.id), account_number: number, amount: micros, currency }
}

export const bankSandboxRoutes: readonly Route[] = [credit]
