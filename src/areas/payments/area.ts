// SPDX-License-Identifier: Apache-2.0
// The door of the payments area.
import type { Area } from '../../platform/area.ts'
import { history } from '../../platform/history.ts'
import { bankSandboxRoutes } from './bank/sandbox.ts'
import { callbackHook, declareTaker } from './callbacks/callbacks.ts'
import { cardRoutes } from './cards/routes.ts'
import { settlementJob } from './cards/settlement.ts'
import { discrepancyRoutes } from './discrepancies.ts'
import { debtChore, debtRoutes } from './disputes/debts.ts'
import { disputeJob } from './disputes/follow.ts'
import { disputeRoutes } from './disputes/routes.ts'
import { disputeSandboxRoutes } from './disputes/sandbox.ts'
import { fraudEvents, paymentEvents, payoutEvents, refundEvents } from './events.ts'
import { backtestRoutes } from './fraud/backtest.ts'
import { blacklistRoutes } from './fraud/entries.ts'
import { velocityChore } from './fraud/retention.ts'
import { riskRoutes } from './fraud/risk-check.ts'
import { ruleRoutes } from './fraud/rules.ts'
import { linkEvents } from './links/events.ts'
import { linkHooks } from './links/hosted.ts'
import { linkRoutes } from './links/routes.ts'
import { logoHooks } from './logos.ts'
import { payerRoutes } from './mobile-money/sandbox.ts'
import { spreadJob } from './payouts/bulk.ts'
import { chunkJob } from './payouts/chunk.ts'
import { payoutOperatorRoutes } from './payouts/operator.ts'
import { takeResult } from './payouts/results.ts'
import { payoutRoutes } from './payouts/routes.ts'
import { batchedPayoutJob, payoutJob } from './payouts/submit.ts'
import { gatewayOf } from './providers/gateway.ts'
import { operatorRoutes } from './providers/operator.ts'
import { paymentCharges } from './providers/terms.ts'
import { receiptHook } from './receipts/page.ts'
import { reconciliation } from './reconciliation/reconciliation.ts'
import { redirectHooks } from './redirect/page.ts'
import { takeRefund } from './refunds/callbacks.ts'
import { refundOperatorRoutes } from './refunds/operator.ts'
import { refundRoutes } from './refunds/routes.ts'
import { refundJob } from './refunds/submit.ts'
import { paymentRoutes } from './routes.ts'
import { watchJob } from './submit.ts'
import { timelineRoutes } from './timeline.ts'
import { waitingOf } from './waiting.ts'

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
    ...ofAnyAccount([...paymentRoutes, ...timelineRoutes, ...payoutRoutes, ...refundRoutes], {
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
  drain: (app) => waitingOf(app).stop(),
}

export { refuseCardNumbers } from './cards/card.ts'
export { cardTermsOf, requireSavedCard } from './cards/method.ts'
export { pendingOf } from './cards/settlement.ts'
export { formIn, maxFormBytes, problemIn, refusedPage, type Wanted, wantedIn, waysFor } from './checkout/form.ts'
export { type Checkout, checkoutPage, type Problem, paymentForms, statusPage, type Ways } from './checkout/page.ts'
export { accept, sendNow } from './create.ts'
export { Customer, completedPayment, moneyFields, moneyHead, Payment, topupFields } from './events.ts'
export { failureTexts } from './failure-texts.ts'
export { passed, requirePassed } from './fraud/enforce.ts'
export { microsOf, type NewPayment, PaymentCreate, phoneOf } from './input.ts'
export {
  confirmsOnPage,
  mobileTermsOf,
  nameOfProvider,
  type Provider,
  providerFor,
  requireUnattended,
} from './mobile-money/providers.ts'
export { paymentUuid, recordOf } from './payment.ts'
export { findPayouts } from './payouts/store.ts'
export { isFailureReason } from './providers/provider.ts'
export { takesCards, takesTransfers, waysToPay } from './providers/ways.ts'
export { collection, declarePurpose, type Purpose, type Refunded } from './purpose.ts'
export { acceptRefund } from './refunds/create.ts'
export { accepting, checkCallback, isAnsweredAtOnce } from './routes.ts'
export {
  countOfInvoice,
  findPayment,
  findPayments,
  findUnderWay,
  findUnderWayBy,
  lockPayment,
  open as underWay,
  type PaymentRow,
} from './store.ts'

import { ofAnyAccount } from '../../platform/any-account.ts'
import { scopeArea } from '../../platform/auth/scopes.ts'
import { planLimit } from '../../platform/limits/plan-limits.ts'
import { paymentFinders } from './finding.ts'
import { paymentProviders } from './providers/simulated.ts'
import { paymentSettings } from './settings.ts'
