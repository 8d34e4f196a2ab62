// SPDX-License-Identifier: Apache-2.0
// Payments by bank: the payer's account is debited, or a one-time account is opened to pay into. The bank knows both by
// the attempt's id, and is polled whatever it reports.
import { idOf } from '../../../kernel/ids.ts'
import type { App } from '../../../platform/app.ts'
import { one } from '../../../platform/db.ts'
import { traced } from '../../../platform/outbound/provider-http.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import { noticeIdIn } from '../../../protocols/bank.ts'
import { gatewayOf } from '../gateway/gateway.ts'
import type { Bank } from '../providers/bank.ts'
import { bankProvider } from '../providers/banks.ts'
import type { Verdict } from '../providers/provider.ts'
import { collectionFeeOf } from '../providers/terms.ts'
import { callbackUrl } from '../records/callback-address.ts'
import { traceOf } from '../records/provider-trace.ts'
import { type AttemptRow, findPayment, marketOf, open, type PaymentRow } from '../records/store.ts'
import { requireBank } from './bank-market.ts'
import type { PaymentMethod } from './method.ts'

const debitSeconds = 3_600
const accountSeconds = 86_400

export const bankTransfer: PaymentMethod = {
  name: 'bank_transfer',
  budgetMs: 20_000,
  polls: [5, 15, 45, 100, 300, 900, 1_800, 3_640, 10_800, 43_200, 86_440, 172_800, 259_200],
  isQueued: true,
  refusals: {
    INSUFFICIENT_FUNDS: 'INSUFFICIENT_FUNDS',
    PAYER_NOT_FOUND: 'DEBIT_REFUSED',
    PAYER_LIMIT_REACHED: 'DEBIT_REFUSED',
    PROVIDER_ERROR: 'DEBIT_REFUSED',
  },
  isMeant: ({ bank, provider }) => bank !== undefined || provider?.toLowerCase() === bankProvider,

  plan(app, _tx, { tenant }, { bank, provider: named }, money) {
    const { provider, country, terms } = requireBank(app, tenant, 'in', named, money)
    return {
      provider,
      country,
      fee: collectionFeeOf(terms, money),
      phone: null,
      expirySeconds: bank ? debitSeconds : accountSeconds,
      details: bank ? { bank } : {},
      judged: { bank: bank ? { code: bank.bank_code, accountNumber: bank.account_number } : null },
    }
  },

  isKnownByAttempt: () => true,
  isRepeatable: () => true,

  send(app, tenant, attempt, payment) {
    const { amount: micros, details, expires_at } = payment
    const order = {
      id: attempt.id,
      micros,
      currency: marketOf(attempt).currency,
      description: payment.description ?? idOf('payment', payment.id),
      notifyUrl: callbackUrl(app, tenant, attempt),
    }
    // The bank goes by the real clock, a test account perhaps by another.
    const expiresAt = new Date(expires_at.getTime() - Number(attempt.clock_offset_ms))
    const { bank: account } = details
    return gatewayOf(app).ask('bank_transfer', attempt, tenant.environment, (bank) =>
      traced(traceOf(app, tenant, attempt), () =>
        account ? bank.debit({ ...order, account }) : bank.openAccount({ ...order, expiresAt }),
      ),
    )
  },

  async query(app, tenant, attempt, payment) {
    const bank = bankOf(app, tenant, attempt)
    return bank && traced(traceOf(app, tenant, attempt), () => asked(bank, attempt, payment))
  },

  async heard(app, tenant, attempt, { bytes, headers, body }) {
    const bank = bankOf(app, tenant, attempt)
    if (!bank?.isSigned(bytes, headers) || noticeIdIn(body) !== attempt.id) return null
    const payment = await one(app.db.query(findPayment, { ...tenant, id: attempt.payment_id }))
    const verdict = await traced(traceOf(app, tenant, attempt), () => asked(bank, attempt, payment))
    return { verdicts: [verdict], thanks: {} }
  },
}

function asked(bank: Bank, { id }: AttemptRow, { details, status }: PaymentRow): Promise<Verdict> {
  return details.bank ? bank.queryDebit(id) : bank.queryAccount(id, open.includes(status))
}

function bankOf(app: App, { environment }: Tenant, attempt: AttemptRow): Bank | null {
  return gatewayOf(app).carrier('bank_transfer', attempt, environment)
}
