// SPDX-License-Identifier: Apache-2.0
// The door of the payments area.

import type { Area } from '../../platform/area.ts'
import { scopeArea } from '../../platform/auth/scopes.ts'
import { planLimit } from '../../platform/limits/plan-limits.ts'
import { ofAnyAccount } from '../../platform/operator/any-account.ts'
import { history } from '../../platform/operator/history.ts'
import { callbackHook, declareTaker } from './collect/callbacks.ts'
import { cardRoutes } from './collect/card-routes.ts'
import { riskRoutes } from './collect/risk-check.ts'
import { paymentRoutes } from './collect/routes.ts'
import { watchJob } from './collect/submit.ts'
import { paymentWaits } from './collect/waiting.ts'
import { debtChore, debtRoutes } from './disputes/debts.ts'
import { disputeJob } from './disputes/follow.ts'
import { disputeRoutes } from './disputes/routes.ts'
import { disputeSandboxRoutes } from './disputes/sandbox.ts'
import { paymentFinders } from './finding.ts'
import { backtestRoutes } from './fraud/backtest.ts'
import { blacklistRoutes } from './fraud/entries.ts'
import { velocityChore } from './fraud/retention.ts'
import { ruleRoutes } from './fraud/rules.ts'
import { gatewayOf } from './gateway/gateway.ts'
import { paymentProviders } from './gateway/simulated.ts'
import { linkEvents } from './links/events.ts'
import { linkHooks } from './links/hosted.ts'
import { linkRoutes } from './links/routes.ts'
import { bankSandboxRoutes } from './methods/bank-sandbox.ts'
import { settlementJob } from './methods/card-settlement.ts'
import { logoHooks } from './methods/logos.ts'
import { payerRoutes } from './methods/mobile-money-sandbox.ts'
import { operatorRoutes } from './methods/operator.ts'
import { receiptHook } from './pages/receipt.ts'
import { redirectHooks } from './pages/redirect.ts'
import { spreadJob } from './payouts/bulk.ts'
import { chunkJob } from './payouts/chunk.ts'
import { payoutOperatorRoutes } from './payouts/operator.ts'
import { takeResult } from './payouts/results.ts'
import { payoutRoutes } from './payouts/routes.ts'
import { batchedPayoutJob, payoutJob } from './payouts/submit.ts'
import { paymentCharges } from './providers/terms.ts'
import { reconciliation } from './reconciliation/reconciliation.ts'
import { discrepancyRoutes } from './records/discrepancies.ts'
import { paymentEvents, refundEvents } from './records/events.ts'
import { fraudEvents } from './records/fraud-events.ts'
import { payoutEvents } from './records/payout-events.ts'
import { takeRefund } from './refunds/callbacks.ts'
import { refundOperatorRoutes } from './refunds/operator.ts'
import { refundRoutes } from './refunds/routes.ts'
import { refundJob } from './refunds/submit.ts'
import { paymentSettings } from './settings.ts'
import { timelineRoutes } from './transactions/timeline.ts'
import { transactions } from './transactions/transactions.ts'

declareTaker('refund', takeRefund)
declareTaker('payout', takeResult)

export const payments: Area = {
  name: 'payments',
  chapters: {
    payments: { title: 'Payments', about: 'Collect money by mobile money, card and bank.' },
    refunds: { title: 'Refunds', about: 'Give a payment back, all of it or in parts.' },
    disputes: { title: 'Disputes', about: 'Card payments that a payer has contested.' },
    payouts: {
      title: 'Payouts',
      about: 'Send money to phones and bank accounts, one at a time or ten thousand at once.',
    },
    fraud: { title: 'Fraud', about: 'Rules, blacklists and checks that decide which payments and payouts go ahead.' },
  },
  uses: ['webhooks'],
  scopes: [
    scopeArea('payments', { limit: 'payments' }),
    scopeArea('payouts', { limit: 'payments', words: { approve: [] } }),
    scopeArea('fraud', { limit: 'payments' }),
  ],
  limits: [planLimit('payments')],
  topics: ['payments'],
  partitions: [{ table: 'payments.risk_checks', period: 'month', ahead: 2, keepDays: 400 }],
  settings: paymentSettings,
  simulators: [paymentProviders],
  histories: [
    history({
      name: 'payments',
      prefix: 'payment',
      from: 'payments.payments t',
      id: 't.id',
      order: 't.id',
      status: 't.status',
      createdAt: 't.created_at',
      by: 't.phone',
      knownBy: 'phone',
    }),
  ],
  routes: [
    ...paymentRoutes,
    transactions,
    ...timelineRoutes,
    ...linkRoutes,
    ...refundRoutes,
    ...disputeRoutes,
    ...disputeSandboxRoutes,
    ...payoutRoutes,
    ...cardRoutes,
    ...riskRoutes,
    ...ruleRoutes,
    ...backtestRoutes,
    ...blacklistRoutes,
    ...bankSandboxRoutes,
    ...payerRoutes,
    ...operatorRoutes,
    ...discrepancyRoutes,
    ...refundOperatorRoutes,
    ...payoutOperatorRoutes,
    ...debtRoutes,
    ...reconciliation.routes,
    ...ofAnyAccount([...paymentRoutes, transactions, ...timelineRoutes, ...payoutRoutes, ...refundRoutes], {
      'payments.transactions': ['operator.listTransactions', 'List the payments, refunds and payouts of any account'],
      'payments.get': ['operator.getPayment', 'Read a payment of any account'],
      'payments.timeline': ['operator.getPaymentTimeline', 'Follow a payment of any account'],
      'payouts.list': ['operator.listPayouts', 'List the payouts of any account'],
      'payouts.timeline': ['operator.getPayoutTimeline', 'Follow a payout of any account'],
      'payouts.get': ['operator.getPayout', 'Read a payout of any account'],
      'refunds.get': ['operator.getRefund', 'Read a refund of any account'],
    }),
  ],
  jobs: [
    watchJob,
    settlementJob,
    refundJob,
    disputeJob,
    payoutJob,
    batchedPayoutJob,
    chunkJob,
    spreadJob,
    ...reconciliation.jobs,
  ],
  chores: [velocityChore, debtChore],
  charges: paymentCharges,
  finders: paymentFinders,
  events: [paymentEvents, linkEvents, refundEvents, payoutEvents, fraudEvents].flatMap((group) => Object.values(group)),
  hooks: [callbackHook, ...linkHooks, ...redirectHooks, receiptHook, ...logoHooks],
  start: async (app) => {
    reconciliation.measure(app)
    return gatewayOf(app).start()
  },
  waits: [paymentWaits],
}

// For areas that collect or refund as part of something of their own: wallet (top-ups), billing (invoices), ussd (menus).
// Pages on which something is paid.
export { type FormPayment, hostedCheckout, nothingHere, type Payable, visitOf } from './checkout/hosted.ts'
// Verbs: ask for a payment, send it, give it back.
export { accept, isAnsweredAtOnce, sendNow } from './collect/create.ts'
export { passed } from './collect/enforce.ts'
export { pendingOf } from './methods/card-settlement.ts'
// Ways to pay, and how much.
export { requireUnattended, uncollectableOf } from './methods/unattended.ts'
// Rows.
export { findPayouts } from './payouts/store.ts'
// Shapes of requests, replies and events that hold a payment.
export { accepting } from './records/accepting.ts'
export { Customer, completedPayment, Payment, topupFields } from './records/events.ts'
export { type NewPayment, PaymentCreate, phoneOf } from './records/input.ts'
export { paymentUuid, recordOf } from './records/payment.ts'
export { declarePurpose, type Purpose, type Refunded } from './records/purpose.ts'
export {
  countOfInvoice,
  findPayments,
  findUnderWay,
  lockPayment,
  open as underWay,
  type PaymentRow,
} from './records/store.ts'
export { acceptRefund } from './refunds/create.ts'
