// SPDX-License-Identifier: Apache-2.0
// The door of the payments area.

import type { Area } from '../../platform/area.ts'
import { scopeArea } from '../../platform/auth/scopes.ts'
import { planLimit } from '../../platform/limits/plan-limits.ts'
import { ofAnyAccount } from '../../platform/operator/any-account.ts'
import { erasable } from '../../platform/operator/erasing.ts'
import { history } from '../../platform/operator/history.ts'
import { traffic } from '../../platform/operator/traffic.ts'
import { waitingRows, waitingRowsOfAll } from '../../platform/operator/waiting.ts'
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
import { eraseRiskChecks } from './fraud/erase.ts'
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
import { providerSandboxRoutes } from './methods/providers-sandbox.ts'
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

/** Payment without whoever paid. */
const withoutPayer = `phone = null, customer = '{}', description = null, metadata = '{}', details = '{}', risk = null`

export const payments: Area = {
  name: 'payments',
  tools: {
    named: [
      'payments.methods',
      'payments.create',
      'payments.get',
      'payments.transactions',
      'payments.timeline',
      'payments.createLink',
      'refunds.create',
      'payouts.create',
      'payouts.get',
    ],
  },
  chapters: {
    payments: { title: 'Payments', about: 'Collect money by mobile money, card and bank.' },
    refunds: { title: 'Refunds', about: 'Full and partial refunds of payments.' },
    disputes: { title: 'Disputes', about: 'Card payments contested by payers.' },
    payouts: {
      title: 'Payouts',
      about: 'Send money to phones and bank accounts, one payout at a time or up to ten thousand at once.',
    },
    fraud: { title: 'Fraud', about: 'Rules, blacklists and risk checks for payments and payouts.' },
  },
  uses: ['webhooks'],
  scopes: [
    scopeArea('payments', { limit: 'payments', words: { request: ['write'] } }),
    scopeArea('payouts', { limit: 'payments', words: { approve: [] } }),
    scopeArea('fraud', { limit: 'payments' }),
  ],
  limits: [planLimit('payments')],
  topics: ['payments'],
  partitions: [{ table: 'payments.risk_checks', period: 'month', ahead: 2, keepDays: 400 }],
  settings: paymentSettings,
  simulators: [paymentProviders],
  traffic: [
    traffic({
      ...{ name: 'in', is: 'money', scope: 'payments:read', from: 'payments.payments', at: 't.created_at' },
      ...{ where: `t.status = 'completed' and t.currency = $currency`, sum: 't.amount' },
      ...{ channel: 'payments', connection: 't.provider' },
    }),
    traffic({
      ...{ name: 'out', is: 'money', scope: 'payouts:read', from: 'payments.payouts', at: 't.created_at' },
      ...{ where: `t.status = 'completed' and t.currency = $currency`, sum: 't.amount' },
      ...{ channel: 'payouts', connection: 't.provider' },
    }),
  ],
  erasables: [
    eraseRiskChecks,
    erasable({
      ...{ kind: 'payments', table: 'payments.payments', id: { column: 't.id', prefix: 'payment' } },
      by: [
        { column: 't.phone', knownBy: 'phones', set: withoutPayer },
        {
          ...{
            column: `lower(t.customer ->> 'email')`,
            knownBy: 'emails',
            where: `t.customer ? 'email' and t.phone is null`,
          },
          set: withoutPayer,
        },
      ],
      when: `t.status not in ('pending', 'processing', 'requires_action')`,
      reason:
        'amounts, times and the ledger stay, as the law of accounts asks; payments under way are kept until they end',
    }),
  ],
  histories: [
    history({
      ...{ name: 'payments', kind: 'payment', scope: 'payments:read' },
      ...{ from: 'payments.payments t', id: 't.id', order: 't.id', status: 't.status', createdAt: 't.created_at' },
      ...{ title: 'coalesce(t.description, t.provider)', amount: 't.amount', currency: 't.currency' },
      path: (id) => `/payments/${id}`,
      by: [
        { column: 't.phone', knownBy: 'phones', direction: `'inbound'`, prefix: 'payment' },
        {
          ...{ column: `lower(t.customer ->> 'email')`, where: `t.customer ? 'email' and t.phone is null` },
          ...{ knownBy: 'emails', direction: `'inbound'`, prefix: 'payment' },
        },
      ],
    }),
    history({
      ...{ name: 'refunds', kind: 'refund', scope: 'payments:read' },
      from: 'payments.payments t join payments.refunds r on r.payment_id = t.id and r.bucket = t.bucket and r.account_id = t.account_id and r.environment = t.environment',
      ...{ id: 'r.id', order: 'r.id', status: 'r.status', createdAt: 'r.created_at', title: 'r.description' },
      ...{ amount: 'r.amount', currency: 'r.currency', path: (id) => `/refunds/${id}` },
      by: [
        {
          ...{ column: 't.phone', where: 't.refunded > 0 and t.phone is not null', knownBy: 'phones' },
          ...{ direction: `'outbound'`, prefix: 'refund' },
        },
        {
          ...{
            column: `lower(t.customer ->> 'email')`,
            where: `t.customer ? 'email' and t.phone is null and t.refunded > 0`,
          },
          ...{ knownBy: 'emails', direction: `'outbound'`, prefix: 'refund' },
        },
      ],
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
    ...providerSandboxRoutes,
    ...operatorRoutes,
    ...discrepancyRoutes,
    ...refundOperatorRoutes,
    ...payoutOperatorRoutes,
    ...debtRoutes,
    ...reconciliation.routes,
    ...ofAnyAccount([...paymentRoutes, transactions, ...timelineRoutes, ...payoutRoutes, ...refundRoutes], {
      'payments.transactions': ['operator.listTransactions', 'List the payments, refunds and payouts of any account'],
      'payments.get': ['operator.getPayment', 'Get a payment of any account'],
      'payments.timeline': ['operator.getPaymentTimeline', 'Get the timeline of a payment of any account'],
      'payouts.list': ['operator.listPayouts', 'List the payouts of any account'],
      'payouts.timeline': ['operator.getPayoutTimeline', 'Get the timeline of a payout of any account'],
      'payouts.get': ['operator.getPayout', 'Get a payout of any account'],
      'refunds.get': ['operator.getRefund', 'Get a refund of any account'],
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
  waiting: [
    waitingRows({
      ...{ name: 'payouts_to_approve', description: 'Payouts that wait for approval', scope: 'payouts:read' },
      ...{ from: 'payments.payouts', where: 't.in_review' },
    }),
    waitingRows({
      ...{ name: 'disputes_open', description: 'Disputes that are open', scope: 'payments:read' },
      ...{ from: 'payments.disputes', where: `t.status = 'open'` },
    }),
    waitingRowsOfAll({
      ...{ name: 'payouts_in_doubt', description: 'Payouts whose outcome is overdue' },
      ...{ from: 'payments.payouts', where: 't.overdue_at is not null' },
    }),
    waitingRowsOfAll({
      ...{ name: 'refunds_in_doubt', description: 'Refunds whose outcome is overdue' },
      ...{ from: 'payments.refunds', where: 't.overdue_at is not null' },
    }),
    waitingRowsOfAll({
      ...{ name: 'discrepancies_open', description: 'Payments for which a provider told another amount' },
      ...{ from: 'payments.discrepancies', where: 't.resolved_at is null' },
    }),
  ],
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
