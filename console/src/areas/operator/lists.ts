// SPDX-License-Identifier: Apache-2.0
// Lists of the installation for operators, by the second part of the address. forms.ts has their forms.
import {
  operatorApproveSmsSenderId,
  operatorCompleteRefund,
  operatorDiscardJob,
  operatorFailRefund,
  operatorListAccounts,
  operatorListDebts,
  operatorListJobs,
  operatorListOverduePayouts,
  operatorListOverdueRefunds,
  operatorListPaymentDiscrepancies,
  operatorListPaymentStatements,
  operatorListPrices,
  operatorListSmsNumbers,
  operatorListSmsRoutes,
  operatorListSmsSenderIds,
  operatorRejectSmsSenderId,
  operatorRemovePrice,
  operatorRemoveSmsRoute,
  operatorResolvePaymentDiscrepancy,
  operatorRetryJob,
  operatorSettlePayout,
  operatorTakeBackSmsNumber,
  operatorUpdateAccount,
} from '#sdk/operations.ts'
import { api } from '../../api.ts'
import { amount, created, type ListOf, type Row, state, textOf } from '../../kit/list-page.tsx'
import { money, percent, shortId, words } from '../../kit/words.ts'
import { t } from '../../words.ts'
import { accountOf } from './account-name.tsx'
import { changedRoute, newAccount, newNumber, newPrice, newRoute } from './forms.ts'

const account = {
  name: 'Account',
  field: 'account_name',
  priority: 2,
  show: accountOf,
} as const
const overdue = { name: 'Overdue since', field: 'overdue_at', as: 'time', priority: 1 } as const
const country = { name: 'Country', field: 'country', as: 'country', priority: 2 } as const
const network = {
  name: 'Network',
  field: 'network',
  priority: 3,
  text: (name: unknown) => (name ? namedOr(name) : '–'),
} as const
const provider = { name: 'Provider', field: 'provider', as: 'words', priority: 2 } as const
const environment = { name: 'Environment', field: 'environment', as: 'words', priority: 3 } as const

export const accounts: ListOf = {
  title: 'Accounts',
  icon: 'users',
  path: operatorListAccounts.at(),
  keyField: 'id',
  open: ['/operator/accounts/', 'id'],
  sorts: true,
  columns: [
    { name: 'Name', field: 'name', priority: 1, card: 'title', grows: true },
    { name: 'Id', field: 'id', as: 'id', priority: 3 },
    { name: 'Plan', field: 'plan', priority: 2, card: 'sub' },
    { ...country, priority: 3 },
    { name: 'Currency', field: 'currency', priority: 4 },
    { ...created, name: 'Created', isDay: false, priority: 4 },
    state,
  ],
  filters: [{ name: 'status', label: 'State', among: ['active', 'suspended'] }],
  form: newAccount,
  actions: [
    {
      name: 'Suspend',
      isDanger: true,
      shows: ({ status }) => status === 'active',
      asks: ({ name }) => ({
        title: t('Suspend {name}?', { name: textOf(name) }),
        consequences: [
          t('All requests of its keys are refused at once.'),
          t('Pending payments are completed; new ones are refused.'),
          t('It can be lifted at any time; nothing is deleted.'),
        ],
        type: textOf(name),
        action: t('Suspend {name}', { name: textOf(name) }),
        keep: t('Do not suspend'),
        icon: 'lock',
      }),
      run: ({ id }) => operatorUpdateAccount(api, { id: textOf(id), body: { status: 'suspended' } }),
    },
    {
      name: 'Lift the suspension',
      shows: ({ status }) => status === 'suspended',
      run: ({ id }) => operatorUpdateAccount(api, { id: textOf(id), body: { status: 'active' } }),
    },
  ],
}

export const routes: ListOf = {
  title: 'Routes',
  icon: 'route',
  path: operatorListSmsRoutes.at(),
  keyField: 'id',
  columns: [
    { name: 'Carriers', field: 'tiers', text: tiersText, priority: 1, card: 'title', grows: true },
    { ...country, priority: 1, card: 'end' },
    network,
    { ...account, field: 'account_id', priority: 3 },
    { ...environment, priority: 2, card: 'sub' },
    { name: 'If no carrier is available', field: 'when_down', as: 'words', priority: 4 },
    { ...state, field: 'in_force', priority: 3 },
  ],
  form: newRoute,
  none: { title: 'No routes', advice: 'Without a route, texts use any available carrier.' },
  actions: [
    {
      name: 'Change',
      form: ({ id, tiers, when_down }) => changedRoute(textOf(id), tiersText(tiers), textOf(when_down)),
    },
    {
      name: 'Remove',
      isDanger: true,
      asks: (row) => ({
        title: t('Remove the route over {name}?', { name: tiersText(row.tiers) }),
        consequences: [t('Its texts use the next matching route, or fail without one.')],
        action: t('Remove the route'),
        keep: t('Keep it'),
      }),
      run: ({ id }) => operatorRemoveSmsRoute(api, { id: textOf(id) }),
    },
  ],
}

export const prices: ListOf = {
  title: 'Prices',
  icon: 'tag',
  path: operatorListPrices.at(),
  keyField: 'id',
  sorts: true,
  columns: [
    { name: 'Area', field: 'area', as: 'words', priority: 1, card: 'title' },
    { name: 'Unit', field: 'unit', text: unitText, priority: 1, card: 'sub' },
    country,
    network,
    { name: 'Price', field: 'amount', text: priceText, priority: 1, card: 'end' },
    { name: 'From', field: 'effective_from', as: 'date', priority: 3 },
    { ...account, field: 'account_id', priority: 4 },
  ],
  filters: [
    { name: 'area', label: 'Area' },
    { name: 'country', label: 'Country' },
  ],
  links: [{ to: '/operator/prices/import', name: 'Import a file', icon: 'file' }],
  form: newPrice,
  actions: [
    {
      name: 'Remove',
      isDanger: true,
      asks: (row) => ({
        title: t('Remove the price of {name}?', { name: `${words(textOf(row.area))}, ${unitText(row.unit)}` }),
        consequences: [t('From now on the next matching price applies; without one, requests are refused.')],
        action: t('Remove {name}', { name: priceText(row.amount, row) }),
        keep: t('Keep it'),
      }),
      run: ({ id }) => operatorRemovePrice(api, { id: textOf(id) }),
    },
  ],
}

export const numbers: ListOf = {
  title: 'Numbers',
  icon: 'hash',
  path: operatorListSmsNumbers.at(),
  keyField: 'number',
  sorts: true,
  columns: [
    { name: 'Number', field: 'number', as: 'mono', priority: 1, card: 'title', grows: true },
    { ...account, field: 'account_id', priority: 1 },
    { name: 'Shared', field: 'shared', as: 'flag', priority: 2, card: 'end' },
    { name: 'Created', field: 'created_at', as: 'time', priority: 3, card: 'sub' },
  ],
  form: newNumber,
  none: { title: 'No numbers', advice: 'Numbers assigned to accounts are listed here.' },
  actions: [
    {
      name: 'Take back',
      isDanger: true,
      asks: ({ number }) => ({
        title: t('Take {name} back?', { name: textOf(number) }),
        consequences: [t('Texts to it are not delivered, and the account cannot send from it.')],
        action: t('Take {name} back', { name: textOf(number) }),
        keep: t('Keep it'),
      }),
      run: ({ number, account_id }) =>
        operatorTakeBackSmsNumber(api, { number: textOf(number), query: { account_id: textOf(account_id) } }),
    },
  ],
}

export const senders: ListOf = {
  title: 'Senders to approve',
  icon: 'message',
  path: operatorListSmsSenderIds.at(),
  none: { title: 'No senders to approve', advice: 'Requests for sender ids are listed here.' },
  keyField: 'id',
  sorts: true,
  columns: [
    { name: 'Sender', field: 'sender', priority: 1, card: 'title' },
    { ...account, field: 'account_id', priority: 3 },
    { name: 'Countries', field: 'countries', as: 'country', priority: 3 },
    { name: 'Purpose', field: 'purpose', priority: 1, card: 'sub', grows: true },
    { name: 'Sample', field: 'sample', priority: 4 },
    { ...created, name: 'Created', isDay: false, priority: 4 },
    state,
  ],
  filters: [{ name: 'status', label: 'State', among: ['pending', 'approved', 'rejected'], usual: 'pending' }],
  actions: [
    {
      name: 'Approve',
      isBulk: true,
      shows: ({ status }) => status === 'pending',
      run: ({ id }) => operatorApproveSmsSenderId(api, { id: textOf(id) }),
    },
    {
      name: 'Reject',
      isDanger: true,
      shows: ({ status }) => status !== 'rejected',
      asks: ({ sender }) => ({
        title: t('Reject the sender {name}?', { name: textOf(sender) }),
        consequences: [t('Texts from {name} are refused.', { name: textOf(sender) })],
        reason: t('Reason, shown to the account'),
        action: t('Reject {name}', { name: textOf(sender) }),
        keep: t('Leave it waiting'),
      }),
      run: ({ id }, { reason }) => operatorRejectSmsSenderId(api, { id: textOf(id), body: { reason } }),
    },
  ],
}

export const failed: ListOf = {
  title: 'Failed jobs',
  icon: 'warn',
  path: operatorListJobs.at(),
  none: {
    title: 'No failed jobs',
    advice: 'Jobs that used up their attempts are listed here, to be retried or discarded.',
  },
  keyField: 'id',
  sorts: true,
  columns: [
    created,
    { name: 'Queue', field: 'lane', as: 'mono', priority: 1, card: 'title' },
    { name: 'Last error', field: 'last_error', priority: 1, card: 'sub', grows: true },
    { name: 'Attempts', field: 'attempts', as: 'count', priority: 3, card: 'end' },
    { ...account, field: 'account_id', priority: 4 },
    { name: 'State', field: 'state', as: 'state', priority: 2, card: 'state' },
  ],
  actions: [
    { name: 'Try again', isBulk: true, run: ({ id }) => operatorRetryJob(api, { id: textOf(id) }) },
    {
      name: 'Discard',
      isDanger: true,
      isBulk: true,
      asks: ({ lane }) => ({
        title: t('Discard this job of {name}?', { name: textOf(lane) }),
        consequences: [t('The job is removed without being done.'), t('It cannot be restored.')],
        action: t('Discard'),
        keep: t('Keep it'),
      }),
      run: ({ id }) => operatorDiscardJob(api, { id: textOf(id) }),
    },
  ],
}

export const statements: ListOf = {
  title: 'Reconciliation',
  note: 'statements of providers',
  icon: 'scale',
  path: operatorListPaymentStatements.at(),
  none: { title: 'No statements', advice: 'Upload a provider’s statement to compare it with the ledger.' },
  keyField: 'id',
  open: ['/operator/statements/', 'id'],
  links: [{ to: '/operator/statements/new', name: 'Create statement' }],
  sorts: true,
  columns: [
    created,
    { ...provider, priority: 1, card: 'title', grows: true },
    environment,
    { name: 'Lines', field: 'lines', as: 'count', priority: 3 },
    { name: 'Already imported', field: 'known_lines', as: 'count', priority: 3 },
    { name: 'Balance', field: 'closing_balance', as: 'money', priority: 4 },
    { name: 'Difference', field: 'difference', as: 'money', priority: 1, card: 'end' },
    state,
  ],
}

export const discrepancies: ListOf = {
  title: 'Discrepancies',
  icon: 'scale',
  path: operatorListPaymentDiscrepancies.at(),
  none: {
    title: 'No discrepancies',
    advice: 'Payments whose reported amount differs from the request are listed here.',
  },
  keyField: 'payment_id',
  columns: [
    { name: 'Found', field: 'found_at', as: 'time', priority: 2 },
    { name: 'Payment', field: 'payment_id', as: 'id', priority: 1, card: 'title' },
    { ...account, field: 'account_id', priority: 3 },
    { name: 'Asked for', field: 'asked_amount', as: 'money', priority: 2 },
    {
      name: 'Reported',
      field: 'told_amount',
      as: 'money',
      currencyField: 'told_currency',
      orField: 'told_words',
      priority: 1,
      card: 'end',
    },
    { ...provider, card: 'sub', priority: 3 },
    state,
  ],
  actions: [
    {
      name: 'Resolve',
      asks: ({ payment_id }) => ({
        title: t('Resolve the discrepancy of {name}?', { name: shortId(textOf(payment_id)) }),
        consequences: [t('It is removed from this list. No money is moved.')],
        reason: t('Note for the audit log'),
        action: t('Resolve'),
        keep: t('Leave it open'),
        isDanger: false,
      }),
      run: ({ payment_id }, { reason }) =>
        operatorResolvePaymentDiscrepancy(api, { payment_id: textOf(payment_id), body: { note: reason } }),
    },
  ],
}

const doubtful = (
  title: string,
  path: string,
  kind: string,
  field: string,
  actions: NonNullable<ListOf['actions']>,
): ListOf => ({
  actions,
  title,
  icon: 'clock',
  path,
  none: {
    title: `No ${title.toLowerCase()}`,
    advice: 'Operations without a timely confirmation by the provider are listed here.',
  },
  keyField: field,
  columns: [
    overdue,
    { name: kind, field, as: 'id', priority: 1, card: 'title' },
    { ...account, field: 'account_id', priority: 2 },
    { ...provider, card: 'sub' },
    amount,
  ],
})

/** What the provider says became of it; its reference is kept. */
const outcome = (
  name: string,
  isPaid: boolean,
  field: string,
  run: NonNullable<NonNullable<ListOf['actions']>[number]['run']>,
): NonNullable<ListOf['actions']>[number] => ({
  name,
  isDanger: !isPaid,
  asks: (row) => ({
    title: t(isPaid ? 'Was {name} paid?' : 'Was {name} not paid?', { name: shortId(textOf(row[field])) }),
    consequences: [
      t(
        isPaid
          ? 'It is marked as completed, and the money leaves the wallet.'
          : 'It is marked as failed, and the money is returned to the wallet.',
      ),
      t('It cannot be undone.'),
    ],
    ...(isPaid ? { reason: t('Transaction id on the provider’s statement') } : {}),
    action: t(name),
    keep: t('Keep as unknown'),
    isDanger: !isPaid,
  }),
  run,
})

export const refunds = doubtful('Refunds in doubt', operatorListOverdueRefunds.at(), 'Refund', 'refund_id', [
  outcome('It was paid', true, 'refund_id', ({ account_id, refund_id }, { reason }) =>
    operatorCompleteRefund(api, {
      id: textOf(account_id),
      refund_id: textOf(refund_id),
      body: { provider_reference: reason },
    }),
  ),
  outcome('It was not paid', false, 'refund_id', ({ account_id, refund_id }) =>
    operatorFailRefund(api, { id: textOf(account_id), refund_id: textOf(refund_id) }),
  ),
])

export const payouts = doubtful('Payouts in doubt', operatorListOverduePayouts.at(), 'Payout', 'payout_id', [
  outcome('It was paid', true, 'payout_id', ({ payout_id }, { reason }) =>
    operatorSettlePayout(api, {
      payout_id: textOf(payout_id),
      body: { outcome: 'paid', provider_reference: reason },
    }),
  ),
  outcome('It was not paid', false, 'payout_id', ({ payout_id }) =>
    operatorSettlePayout(api, { payout_id: textOf(payout_id), body: { outcome: 'failed' } }),
  ),
])

export const debts: ListOf = {
  title: 'Debts',
  icon: 'out',
  path: operatorListDebts.at(),
  none: { title: 'No debts', advice: 'Debts of accounts from lost disputes are listed here.' },
  keyField: 'dispute_id',
  columns: [
    { name: 'Since', field: 'closed_at', as: 'time', priority: 1 },
    { name: 'Dispute', field: 'dispute_id', as: 'id', priority: 1, card: 'title' },
    { ...account, field: 'account_id', priority: 1 },
    { name: 'Owed', field: 'amount_owed', as: 'money', priority: 1, card: 'end' },
  ],
}

/** `1.2 %` where the price is a share, otherwise an amount. */
function priceText(value: unknown, { unit, currency }: Row): string {
  return /percent/.test(textOf(unit)) ? percent(Number(value) / 100, 3) : money(Number(value), textOf(currency))
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

/** `mobile_money.percent` -> `Mobile money, percent`. */
function unitText(value: unknown): string {
  const [first = '', ...rest] = textOf(value).split('.')
  return [words(first), ...rest.map((one) => words(one).toLowerCase())].join(', ')
}

/** Name of a network: a code such as `mpesa` is a word of ours, others are names. */
function namedOr(name: unknown): string {
  return /^[a-z_]+$/.test(textOf(name)) ? words(textOf(name)) : textOf(name)
}
