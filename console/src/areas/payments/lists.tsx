// SPDX-License-Identifier: Apache-2.0
// Lists of money: payments, payouts, refunds, disputes, and the rules against fraud.
import {
  disputesList,
  fraudChangeRule,
  fraudListRules,
  paymentsTransactions,
  payoutsApprove,
  payoutsList,
  payoutsReject,
  refundsList,
} from '#sdk/operations.ts'
import { api } from '../../api.ts'
import { Pill, TwoLines } from '../../kit/kit.tsx'
import { amount, completed, created, type ListOf, type Row, state, textOf } from '../../kit/list-page.tsx'
import { money, words } from '../../kit/words.ts'
import { placeOf } from '../../records.ts'
import { t } from '../../words.ts'
import { conditionsText } from './conditions.ts'
import { checkRisk, newRule, payMany, payOne } from './forms.ts'

/** `M-Pesa`, `Card`: the provider where it has a name of its own, otherwise the method. */
export function byWhat(method: unknown, provider: unknown): string {
  const hasName = method === 'mobile_money' && textOf(provider) !== ''
  return words(textOf(hasName ? provider : (method ?? provider)))
}

const by = {
  name: 'Provider',
  field: 'method',
  priority: 2,
  card: 'sub',
  text: (value: unknown, row: Row) => byWhat(value, row.provider),
} as const
/** On a card the kind stands in its place. */
const { card: _, ...byWide } = by
const statuses = ['pending', 'processing', 'requires_action', 'completed', 'failed', 'cancelled', 'expired', 'reversed']

/** What came in and what went out, each by itself; the account's own top-ups are neither. */
function inOrOut(row: Row): string | null {
  if (completed(row) === null || row.type === 'topup') return null
  return row.type === 'payment' ? t('In') : t('Out')
}

export const payments: ListOf = {
  title: 'Payments',
  summed: inOrOut,
  icon: 'card',
  path: paymentsTransactions.at(),
  keyField: 'transaction_id',
  open: ({ payout_id, refund_id, payment_id }) => placeOf(textOf(payout_id ?? refund_id ?? payment_id)),
  live: 'payment. refund payout.',
  dates: ['start_date', 'end_date'],
  sorts: true,
  links: [{ to: '/ask', name: 'Request a payment', scope: 'payments:write' }],
  columns: [
    created,
    {
      ...{ name: 'Phone', field: 'phone', priority: 1, card: 'title', grows: true },
      show: ({ phone, reference, method, provider }) => (
        <TwoLines
          first={textOf(phone ?? reference ?? byWhat(method, provider))}
          second={phone ? textOf(reference) || null : null}
        />
      ),
    },
    { name: 'Kind', field: 'type', as: 'words', priority: 1, card: 'sub' },
    byWide,
    { name: 'Fee', field: 'fee', as: 'money', priority: 5 },
    state,
    amount,
  ],
  filters: [
    { name: 'type', label: 'Kind', among: ['payment', 'topup', 'refund', 'payout'] },
    { name: 'status', label: 'State', among: statuses },
    { name: 'phone', label: 'Phone' },
    { name: 'reference', label: 'Reference' },
  ],
  none: {
    title: 'No payments',
    advice: 'Payments, refunds and payouts are listed here.',
    to: '/ask',
    action: 'Request a payment',
  },
}

/** Who a payout goes to: a name, a phone or an account of a bank. */
function recipientOf(recipient: unknown): string {
  const { name, phone, bank } = Object(recipient)
  return textOf(name ?? phone ?? Object(bank).account_name ?? Object(bank).account_number ?? Object(bank).bank_name)
}

/** What made a payout wait for a person. */
function unusual(risk: unknown): string | null {
  const { flags }: { flags?: unknown } = Object(risk)
  return Array.isArray(flags) && flags.length > 0 ? flags.map((one) => words(textOf(one))).join(', ') : null
}

export const payouts: ListOf = {
  title: 'Payouts',
  summed: completed,
  icon: 'out',
  deeds: [
    { name: 'Create bulk payout', icon: 'users', scope: 'payouts:write', form: payMany },
    { name: 'Create payout', icon: 'out', isMain: true, scope: 'payouts:write', form: payOne },
  ],
  none: { title: 'No payouts', advice: 'Payouts to phones and bank accounts are listed here.' },
  path: payoutsList.at(),
  keyField: 'payout_id',
  open: ['/payouts/', 'payout_id'],
  live: 'payout.',
  dates: ['start_date', 'end_date'],
  sorts: true,
  columns: [
    created,
    {
      ...{ name: 'To', field: 'recipient.phone', priority: 1, card: 'title', grows: true },
      show: ({ recipient, reference, in_review, risk }) => (
        <TwoLines
          first={textOf(recipientOf(recipient) || reference)}
          second={(in_review === true && unusual(risk)) || textOf(reference) || null}
        />
      ),
    },
    by,
    { name: 'Fee', field: 'fee', as: 'money', priority: 4 },
    { name: 'Error', field: 'failure_message', priority: 5 },
    { ...state, show: ({ in_review, status }) => <Pill state={in_review === true ? 'in_review' : textOf(status)} /> },
    amount,
  ],
  filters: [
    {
      name: 'status',
      label: 'State',
      among: ['pending', 'processing', 'completed', 'failed', 'cancelled', 'reversed'],
    },
    { name: 'in_review', label: 'To approve', among: ['true'] },
    { name: 'reference', label: 'Reference' },
  ],
  actions: [
    {
      name: 'Approve',
      scope: 'payouts:approve',
      isBulk: true,
      shows: ({ in_review }) => in_review === true,
      asks: ({ amount, currency, recipient }) => ({
        title: t('Pay {amount} to {whom}?', {
          amount: money(Number(amount), textOf(currency)),
          whom: recipientOf(recipient),
        }),
        consequences: [
          t('The money leaves the wallet now.'),
          t('It cannot be undone once the provider has received it.'),
        ],
        action: t('Approve'),
        keep: t('Do not pay'),
        isDanger: false,
      }),
      run: ({ payout_id }) => payoutsApprove(api, { payout_id: textOf(payout_id) }),
    },
    {
      ...{ name: 'Reject', isDanger: true, isBulk: true, scope: 'payouts:approve' },
      shows: ({ in_review }) => in_review === true,
      asks: ({ amount, currency, recipient }) => ({
        title: t('Reject {amount} to {whom}?', {
          amount: money(Number(amount), textOf(currency)),
          whom: recipientOf(recipient),
        }),
        consequences: [t('The money goes back to the wallet.'), t('It must be requested again.')],
        action: t('Reject'),
        keep: t('Leave it waiting'),
      }),
      run: ({ payout_id }) => payoutsReject(api, { payout_id: textOf(payout_id) }),
    },
  ],
}

const payment = { name: 'Payment', field: 'payment_id', as: 'id', priority: 3 } as const

export const refunds: ListOf = {
  title: 'Refunds',
  summed: completed,
  icon: 'undo',
  path: refundsList.at(),
  keyField: 'refund_id',
  open: ['/refunds/', 'refund_id'],
  live: 'refund',
  dates: ['start_date', 'end_date'],
  sorts: true,
  columns: [
    created,
    {
      name: 'Reason',
      field: 'reason',
      priority: 1,
      card: 'title',
      text: (reason) => (reason ? words(textOf(reason)) : t('Refund')),
    },
    payment,
    by,
    { name: 'Error', field: 'failure_message', priority: 4 },
    state,
    amount,
  ],
  filters: [
    { name: 'status', label: 'State', among: ['pending', 'processing', 'completed', 'failed'] },
    { name: 'reference', label: 'Reference' },
  ],
}

export const disputes: ListOf = {
  title: 'Disputes',
  icon: 'scale',
  path: disputesList.at(),
  keyField: 'dispute_id',
  open: ['/disputes/', 'dispute_id'],
  live: 'payment.dispute',
  dates: ['start_date', 'end_date'],
  sorts: true,
  columns: [
    created,
    {
      name: 'Reason',
      field: 'reason',
      priority: 1,
      card: 'title',
      text: (reason) => words(textOf(reason ?? 'dispute')),
    },
    payment,
    { name: 'Reserved', field: 'amount_held', as: 'money', priority: 3 },
    state,
    amount,
  ],
  filters: [{ name: 'status', label: 'State', among: ['open', 'won', 'lost'] }],
}

export const rules: ListOf = {
  title: 'Fraud rules',
  note: 'In order of evaluation',
  icon: 'shield',
  deeds: [
    { name: 'Check a payment', icon: 'flask', scope: 'fraud:read', form: checkRisk },
    { name: 'Create rule', icon: 'plus', isMain: true, scope: 'fraud:write', form: newRule },
  ],
  none: { title: 'No rules', advice: 'Rules allow, review, challenge or block payments.' },
  path: fraudListRules.at(),
  keyField: 'rule_id',
  open: ['/rules/', 'rule_id'],
  columns: [
    { name: 'Name', field: 'name', priority: 1, card: 'title' },
    { name: 'Action', field: 'action', as: 'words', priority: 1, card: 'end' },
    {
      name: 'When',
      field: 'conditions',
      priority: 1,
      card: 'sub',
      grows: true,
      text: (value, { match }) => conditionsText(value, match),
    },
    { name: 'Dry run', field: 'dry_run', as: 'flag', priority: 4 },
    { name: 'Hits, 24 hours', field: 'hits_24h', as: 'count', priority: 3 },
    { ...state, field: 'enabled', priority: 2 },
  ],
  actions: [
    {
      name: 'Enable',
      scope: 'fraud:write',
      shows: ({ enabled }) => enabled === false,
      run: ({ rule_id }) => fraudChangeRule(api, { rule_id: textOf(rule_id), body: { enabled: true } }),
    },
    {
      name: 'Disable',
      scope: 'fraud:write',
      shows: ({ enabled }) => enabled === true,
      asks: ({ name }) => ({
        title: t('Disable {name}?', { name: textOf(name) }),
        consequences: [
          t('Payments from now on are not checked by this rule.'),
          t('It can be enabled again at any time.'),
        ],
        action: t('Disable {name}', { name: textOf(name) }),
        keep: t('Keep it enabled'),
      }),
      run: ({ rule_id }) => fraudChangeRule(api, { rule_id: textOf(rule_id), body: { enabled: false } }),
    },
  ],
}
