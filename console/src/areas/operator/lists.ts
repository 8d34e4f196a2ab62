// SPDX-License-Identifier: Apache-2.0
// Lists of the installation for operators, by the second part of the address. forms.ts has their forms.
import {
  operatorApproveSmsSenderId,
  operatorChangeSmsBind,
  operatorDiscardJob,
  operatorListAccounts,
  operatorListDebts,
  operatorListJobs,
  operatorListOverduePayouts,
  operatorListOverdueRefunds,
  operatorListPaymentDiscrepancies,
  operatorListPaymentProviders,
  operatorListPaymentStatements,
  operatorListPrices,
  operatorListSmsBinds,
  operatorListSmsNumbers,
  operatorListSmsRoutes,
  operatorListSmsSenderIds,
  operatorRejectSmsSenderId,
  operatorRemovePrice,
  operatorRemoveSmsRoute,
  operatorResolvePaymentDiscrepancy,
  operatorRetryJob,
  operatorUpdateAccount,
} from '#sdk/operations.ts'
import { api } from '../../api.ts'
import { amount, created, type ListOf, state, textOf } from '../../kit/list-page.tsx'
import { newAccount, newCarrier, newNumber, newPrice, newRoute } from './forms.ts'

const account = { name: 'Account', field: 'account_id', as: 'mono', to: '/operator/accounts/' } as const
const overdue = { name: 'Overdue since', field: 'overdue_at', as: 'time' } as const
const country = { name: 'Country', field: 'country' } as const
const network = { name: 'Network', field: 'network' } as const
const provider = { name: 'Provider', field: 'provider' } as const
const environment = { name: 'Environment', field: 'environment' } as const

export const operatorLists: Readonly<Record<string, ListOf>> = {
  accounts: {
    title: 'Accounts',
    path: operatorListAccounts.at(),
    keyField: 'id',
    columns: [
      created,
      { name: 'Name', field: 'name', to: '/operator/accounts/', toField: 'id' },
      { name: 'Id', field: 'id', as: 'mono' },
      state,
      { name: 'Plan', field: 'plan' },
      country,
      { name: 'Currency', field: 'currency' },
    ],
    filters: [{ name: 'status', label: 'State', among: ['active', 'suspended'] }],
    form: newAccount,
    actions: [
      {
        name: 'Suspend',
        isDanger: true,
        shows: ({ status }) => status === 'active',
        run: ({ id }) => operatorUpdateAccount(api, { id: textOf(id), body: { status: 'suspended' } }),
      },
      {
        name: 'Let in again',
        shows: ({ status }) => status === 'suspended',
        run: ({ id }) => operatorUpdateAccount(api, { id: textOf(id), body: { status: 'active' } }),
      },
    ],
  },
  carriers: {
    title: 'Carriers',
    note: 'connections to message centres',
    path: operatorListSmsBinds.at(),
    keyField: 'name',
    columns: [
      { name: 'Name', field: 'name', as: 'mono' },
      { name: 'Kind', field: 'kind' },
      { name: 'Up', field: 'is_up', as: 'flag' },
      { name: 'Sessions', field: 'bound', as: 'count' },
      { name: 'Waiting', field: 'pending', as: 'count' },
      { name: 'Texts a second', field: 'current_rate', as: 'count' },
      { name: 'In force', field: 'enabled', as: 'flag' },
      { name: 'Last error', field: 'last_error' },
    ],
    form: newCarrier,
    actions: [
      {
        name: 'Put in force',
        shows: ({ enabled }) => enabled === false,
        run: ({ name }) => operatorChangeSmsBind(api, { id: textOf(name), body: { enabled: true } }),
      },
      {
        name: 'Suspend',
        isDanger: true,
        shows: ({ enabled }) => enabled === true,
        run: ({ name }) => operatorChangeSmsBind(api, { id: textOf(name), body: { enabled: false } }),
      },
    ],
  },
  providers: {
    title: 'Payment providers',
    note: 'entered with POST /v1/operator/payments/providers',
    path: operatorListPaymentProviders.at(),
    keyField: 'id',
    columns: [
      provider,
      environment,
      country,
      state,
      { name: 'In force', field: 'enabled', as: 'flag' },
      { name: 'Changed', field: 'updated_at', as: 'time' },
    ],
  },
  routes: {
    title: 'Routes',
    path: operatorListSmsRoutes.at(),
    keyField: 'id',
    columns: [
      environment,
      account,
      country,
      network,
      { name: 'Carriers', field: 'tiers', text: tiersText },
      { name: 'When down', field: 'when_down', as: 'words' },
      { name: 'In force', field: 'in_force', as: 'flag' },
    ],
    form: newRoute,
    actions: [{ name: 'Remove', isDanger: true, run: ({ id }) => operatorRemoveSmsRoute(api, { id: textOf(id) }) }],
  },
  prices: {
    title: 'Prices',
    path: operatorListPrices.at(),
    keyField: 'id',
    columns: [
      { name: 'Area', field: 'area' },
      { name: 'Unit', field: 'unit' },
      country,
      network,
      amount,
      { name: 'From', field: 'effective_from', as: 'time' },
      account,
    ],
    filters: [
      { name: 'area', label: 'Area' },
      { name: 'country', label: 'Country' },
    ],
    form: newPrice,
    actions: [{ name: 'Remove', isDanger: true, run: ({ id }) => operatorRemovePrice(api, { id: textOf(id) }) }],
  },
  numbers: {
    title: 'Numbers',
    path: operatorListSmsNumbers.at(),
    keyField: 'number',
    columns: [
      { name: 'Number', field: 'number', as: 'mono' },
      account,
      { name: 'Shared', field: 'shared', as: 'flag' },
      { name: 'Since', field: 'created_at', as: 'time' },
    ],
    form: newNumber,
  },
  senders: {
    title: 'Senders to approve',
    path: operatorListSmsSenderIds.at(),
    keyField: 'id',
    columns: [
      created,
      { name: 'Sender', field: 'sender' },
      state,
      account,
      { name: 'Countries', field: 'countries' },
      { name: 'Purpose', field: 'purpose' },
      { name: 'Sample', field: 'sample' },
    ],
    filters: [{ name: 'status', label: 'State', among: ['pending', 'approved', 'rejected'] }],
    actions: [
      {
        name: 'Approve',
        shows: ({ status }) => status === 'pending',
        run: ({ id }) => operatorApproveSmsSenderId(api, { id: textOf(id) }),
      },
      {
        name: 'Reject',
        isDanger: true,
        shows: ({ status }) => status !== 'rejected',
        run: ({ id }) =>
          operatorRejectSmsSenderId(api, { id: textOf(id), body: { reason: 'Rejected by the operator' } }),
      },
    ],
  },
  failed: {
    title: 'Failed work',
    path: operatorListJobs.at(),
    keyField: 'id',
    columns: [
      created,
      { name: 'Queue', field: 'lane', as: 'mono' },
      { name: 'State', field: 'state', as: 'state' },
      account,
      { name: 'Attempts', field: 'attempts', as: 'count' },
      { name: 'Last error', field: 'last_error' },
    ],
    actions: [
      { name: 'Run it again', run: ({ id }) => operatorRetryJob(api, { id: textOf(id) }) },
      { name: 'Discard', isDanger: true, run: ({ id }) => operatorDiscardJob(api, { id: textOf(id) }) },
    ],
  },
  statements: {
    title: 'Reconciliation',
    note: 'statements of providers',
    path: operatorListPaymentStatements.at(),
    keyField: 'id',
    columns: [
      created,
      provider,
      environment,
      state,
      { name: 'Lines', field: 'lines', as: 'count' },
      { name: 'Known', field: 'known_lines', as: 'count' },
      { name: 'Balance', field: 'closing_balance', as: 'money' },
      { name: 'Difference', field: 'difference', as: 'money' },
    ],
    filters: [{ name: 'environment', label: 'Environment', among: ['test', 'live'] }],
  },
  discrepancies: {
    title: 'Discrepancies',
    path: operatorListPaymentDiscrepancies.at(),
    keyField: 'payment_id',
    columns: [
      { name: 'Found', field: 'found_at', as: 'time' },
      { name: 'Payment', field: 'payment_id', as: 'mono' },
      account,
      state,
      { name: 'Asked for', field: 'asked_amount', as: 'money' },
      { name: 'Told', field: 'told_amount', as: 'money', currencyField: 'told_currency', orField: 'told_words' },
      provider,
    ],
    actions: [
      {
        name: 'Looked into',
        run: ({ payment_id }) =>
          operatorResolvePaymentDiscrepancy(api, {
            payment_id: textOf(payment_id),
            body: { note: 'Looked into in the console' },
          }),
      },
    ],
  },
  refunds: {
    title: 'Refunds in doubt',
    path: operatorListOverdueRefunds.at(),
    keyField: 'refund_id',
    columns: [overdue, { name: 'Refund', field: 'refund_id', as: 'mono' }, account, amount, provider],
  },
  payouts: {
    title: 'Payouts in doubt',
    path: operatorListOverduePayouts.at(),
    keyField: 'payout_id',
    columns: [overdue, { name: 'Payout', field: 'payout_id', as: 'mono' }, account, amount, provider],
  },
  debts: {
    title: 'Debts',
    path: operatorListDebts.at(),
    keyField: 'dispute_id',
    columns: [
      { name: 'Since', field: 'closed_at', as: 'time' },
      { name: 'Dispute', field: 'dispute_id', as: 'mono' },
      account,
      { name: 'Owed', field: 'amount_owed', as: 'money' },
    ],
  },
}

/** Carriers of a route as its form takes them: names with commas, after a semicolon those that stand in. */
function tiersText(value: unknown): string {
  const tiers: readonly unknown[] = Array.isArray(value) ? value : []
  const named = (one: unknown): string => {
    const { bind, weight } = Object(one)
    return weight === undefined || weight === 1 ? textOf(bind) : `${textOf(bind)} ×${textOf(weight)}`
  }
  return tiers.map((tier) => (Array.isArray(tier) ? tier.map(named).join(', ') : '')).join('; ')
}
