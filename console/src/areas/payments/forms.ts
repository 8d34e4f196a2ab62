// SPDX-License-Identifier: Apache-2.0
// Forms of money: paying one or many, links to pay by, rules against fraud and who is blocked.
import {
  fraudAddToBlacklist,
  fraudChangeRule,
  fraudCreateRule,
  paymentsCheckRisk,
  paymentsCreateLink,
  paymentsInitiateMobile,
  payoutsCreate,
  payoutsCreateBulk,
} from '#sdk/operations.ts'
import type { FraudRule } from '#sdk/schemas.ts'
import { ownCurrency } from '../../api.ts'
import { oneOf, severalAmong } from '../../kit/choose.tsx'
import { say } from '../../kit/dialogs.tsx'
import { type FieldOf, type FormOf, formOf } from '../../kit/form.tsx'
import { banks } from '../../kit/known.ts'
import { type Row, textOf } from '../../kit/list-page.tsx'
import { words } from '../../kit/words.ts'
import { go } from '../../place.tsx'
import { t } from '../../words.ts'
import { conditionsField } from './conditions-field.tsx'
import { payerPage, sumOfPayouts } from './previews.tsx'

const amount = { name: 'amount', label: 'Amount', isRequired: true } as const
const currency = { name: 'currency', label: 'Currency', isRequired: true, hint: 'Three letters, such as KES' } as const
const description = { name: 'description', label: 'Description' } as const
const reference = { name: 'reference', label: 'Reference', hint: 'Your own id' } as const

export const payOne: FormOf = formOf(payoutsCreate, {
  title: 'Create payout',
  action: 'Pay',
  fields: [
    { name: 'phone', label: 'Phone', hint: 'Such as +254712345678; or a bank account below' },
    { name: 'recipient.name', label: 'Name of the recipient' },
    amount,
    currency,
    { name: 'bank.account_number', label: 'Bank account' },
    { name: 'bank.bank_code', label: 'Bank', show: oneOf(banks) },
    { name: 'bank.account_name', label: 'Account holder' },
    description,
    reference,
    { name: 'scheduled_at', label: 'Scheduled for', as: 'moment' },
  ],
  initial: { currency: ownCurrency() },
  done: ({ payout_id }) => go(`/payouts/${payout_id}`),
})

export const payMany: FormOf = formOf(payoutsCreateBulk, {
  title: 'Create bulk payout',
  action: 'Pay all',
  fields: [
    { name: 'payouts', label: 'Payouts', as: 'rows', columns: ['phone', 'amount'] },
    currency,
    reference,
    description,
    { name: 'on_error', label: 'If a row is invalid', among: ['abort', 'continue'] },
  ],
  initial: { currency: ownCurrency() },
  preview: sumOfPayouts,
  done: ({ batch_id }) => go(`/payout-batches/${batch_id}`),
})

/** Request for money to a phone, whose owner confirms it there. */
export const askForm = (phone: string): FormOf =>
  formOf(paymentsInitiateMobile, {
    ...{ title: 'Request a payment', action: 'Request payment', fixed: { phone } },
    fields: [amount, currency, reference],
    initial: { currency: ownCurrency() },
  })

export const newLink: FormOf = formOf(paymentsCreateLink, {
  title: 'Create payment link',
  fields: [
    { ...description, hint: 'Description for the payer', isRequired: true },
    amount,
    currency,
    { name: 'max_uses', label: 'Maximum payments', as: 'number', hint: 'Empty: no limit' },
    { name: 'expires_at', label: 'Expires', as: 'moment' },
    { name: 'redirect_url', label: 'Redirect URL after payment' },
  ],
  initial: { currency: ownCurrency() },
  preview: payerPage,
  done: ({ payment_link_id }) => go(`/links/${payment_link_id}`),
})

const directions = { payment: words('payment'), payout: words('payout') }

const ruleFields: readonly FieldOf[] = [
  { name: 'name', label: 'Name', isRequired: true },
  { name: 'action', label: 'Action', among: ['review', 'block', 'require_3ds', 'allow'] },
  {
    name: 'conditions',
    label: 'When',
    isRequired: true,
    as: 'json',
    show: conditionsField,
  },
  { name: 'match', label: 'Conditions that must match', among: ['all', 'any'] },
  {
    name: 'applies_to',
    label: 'Applies to',
    as: 'list',
    hint: 'Select none for payments',
    show: severalAmong(directions),
  },
  { name: 'priority', label: 'Order', as: 'number', hint: 'Lowest is evaluated first' },
  { name: 'dry_run', label: 'Dry run', as: 'flag' },
  description,
]

export const newRule: FormOf = formOf(fraudCreateRule, {
  title: 'Create rule',
  fields: ruleFields,
  initial: {
    action: 'review',
    conditions: '[{"field":"amount","operator":"gt","value":50000}]',
  },
  done: ({ rule_id }) => go(`/rules/${rule_id}`),
})

export const changeRule = (rule: Row | FraudRule): FormOf =>
  formOf(fraudChangeRule, {
    title: 'Edit rule',
    action: 'Save',
    given: { rule_id: textOf(rule.rule_id) },
    fields: ruleFields,
    initial: {
      ...{ name: textOf(rule.name), action: textOf(rule.action), match: textOf(rule.match) },
      ...{ conditions: JSON.stringify(rule.conditions), applies_to: textOf(rule.applies_to) },
      ...{ priority: textOf(rule.priority), dry_run: rule.dry_run ? 'yes' : 'no' },
      description: textOf(rule.description) || undefined,
    },
  })

export const checkRisk: FormOf = formOf(paymentsCheckRisk, {
  title: 'Check a payment',
  action: 'Check it',
  fields: [
    { name: 'direction', label: 'Direction', among: ['payment', 'payout'] },
    amount,
    currency,
    { name: 'phone', label: 'Phone' },
    { name: 'ip_address', label: 'IP address of the payer' },
    { name: 'country', label: 'Country', hint: 'Two letters, such as KE' },
  ],
  initial: { currency: ownCurrency() },
  done: ({ decision, risk_score }) =>
    say(t('Result: {what}, {count} of 100', { what: words(decision), count: risk_score })),
})

const kinds = [
  ...['phone', 'email', 'email_domain', 'card', 'card_bin', 'ip', 'ip_range', 'device_id', 'bank_account'],
  ...['customer_id', 'country'],
]

export const block: FormOf = formOf(fraudAddToBlacklist, {
  title: 'Block a payer',
  action: 'Block',
  fields: [
    { name: 'type', label: 'Kind', among: kinds },
    { name: 'value', label: 'Value', isRequired: true },
    { name: 'reason', label: 'Reason' },
    {
      name: 'applies_to',
      label: 'Applies to',
      as: 'list',
      hint: 'Select none for both',
      show: severalAmong(directions),
    },
    { name: 'expires_at', label: 'Until', as: 'moment' },
  ],
  initial: { type: 'phone' },
})
