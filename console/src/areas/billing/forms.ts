// SPDX-License-Identifier: Apache-2.0
// Forms of billing: plans, and who is on them.
import {
  billingCreatePlan,
  billingCreateSubscription,
  billingUpdatePlan,
  billingUpdateSubscription,
} from '#sdk/operations.ts'
import type { BillingPlan, Subscription } from '#sdk/schemas.ts'
import { ownCurrency } from '../../api.ts'
import { oneOf } from '../../kit/choose.tsx'
import { type FieldOf, type FormOf, formOf } from '../../kit/form.tsx'
import { billingPlans } from '../../kit/known.ts'
import { go } from '../../place.tsx'

const planFields: readonly FieldOf[] = [
  { name: 'name', label: 'Name', isRequired: true, hint: 'Shown on invoices' },
  { name: 'amount', label: 'Amount', isRequired: true },
  { name: 'currency', label: 'Currency', isRequired: true, hint: 'Three letters, such as KES' },
  { name: 'interval', label: 'Every', among: ['month', 'day', 'week', 'year'] },
  { name: 'interval_count', label: 'Interval count', as: 'number' },
  { name: 'trial_days', label: 'Trial days', as: 'number' },
  { name: 'setup_fee', label: 'Setup fee' },
  { name: 'tax_rate', label: 'Tax in percent' },
  { name: 'description', label: 'Description' },
]

export const newPlan: FormOf = formOf(billingCreatePlan, {
  title: 'Create plan',
  fields: planFields,
  initial: { interval: 'month', currency: ownCurrency() },
  done: ({ plan_id }) => go(`/plans/${plan_id}`),
})

export const changePlan = (plan: BillingPlan): FormOf =>
  formOf(billingUpdatePlan, {
    title: 'Edit plan',
    action: 'Save',
    given: { plan_id: plan.plan_id },
    fields: [
      ...planFields.filter(({ name }) => ['name', 'description'].includes(name)),
      {
        name: 'active',
        label: 'Open to new customers',
        as: 'flag',
        hint: 'Price and interval cannot be changed. Create another plan for another price.',
      },
    ],
    initial: { name: plan.name, description: plan.description ?? undefined, active: plan.active ? 'yes' : 'no' },
  })

const how: readonly FieldOf[] = [
  { name: 'quantity', label: 'Quantity', as: 'number' },
  { name: 'payment_method.type', label: 'Paid by', among: ['invoice', 'mobile_money', 'card'], isWhole: true },
  { name: 'payment_method.phone', label: 'Phone number of the payer', isWhole: true },
  { name: 'payment_method.card_token', label: 'Or a saved card', isWhole: true },
]

export const newSubscription: FormOf = formOf(billingCreateSubscription, {
  title: 'Subscribe a customer',
  fields: [
    { name: 'plan_id', label: 'Plan', isRequired: true, show: oneOf(billingPlans) },
    { name: 'customer.name', label: 'Name' },
    { name: 'customer.email', label: 'Email' },
    { name: 'customer.phone', label: 'Phone' },
    ...how,
    { name: 'start_date', label: 'From', as: 'date' },
    { name: 'trial_days', label: 'Trial days', as: 'number' },
  ],
  initial: { 'payment_method.type': 'invoice' },
  done: ({ subscription_id }) => go(`/subscriptions/${subscription_id}`),
})

export const changeSubscription = ({ subscription_id, plan_id, quantity, payment_method }: Subscription): FormOf =>
  formOf(billingUpdateSubscription, {
    title: 'Edit subscription',
    action: 'Save',
    given: { subscription_id },
    fields: [{ name: 'plan_id', label: 'Plan', isRequired: true, show: oneOf(billingPlans) }, ...how],
    initial: {
      plan_id,
      quantity: String(quantity),
      'payment_method.type': payment_method.type,
      'payment_method.phone': payment_method.phone ?? undefined,
      'payment_method.card_token': payment_method.card_token ?? undefined,
    },
  })
