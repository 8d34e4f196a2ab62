// SPDX-License-Identifier: Apache-2.0
// Plans that customers subscribe to, and one of them.
import { billingGetPlan, billingPlans } from '#sdk/operations.ts'
import type { BillingPlan } from '#sdk/schemas.ts'
import { api } from '../../api.ts'
import { amount, type ListOf, textOf } from '../../kit/list-page.tsx'
import { recordPage } from '../../kit/record-page.tsx'
import { money, words } from '../../kit/words.ts'
import { changePlan, newPlan } from './forms.ts'

export const plans: ListOf = {
  title: 'Plans',
  icon: 'layers',
  path: billingPlans.at(),
  keyField: 'plan_id',
  open: ['/plans/', 'plan_id'],
  deeds: [{ name: 'Create plan', icon: 'plus', isMain: true, scope: 'billing:write', form: newPlan }],
  columns: [
    { name: 'Name', field: 'name', priority: 1, card: 'title', grows: true },
    { name: 'Plan', field: 'plan_id', as: 'id', priority: 3 },
    { name: 'Every', field: 'interval', priority: 1, card: 'sub', text: everyOf },
    { name: 'Trial days', field: 'trial_days', as: 'count', priority: 4 },
    { name: 'Open to new customers', field: 'active', as: 'flag', priority: 3 },
    amount,
  ],
  none: { title: 'No plans', advice: 'A plan sets the price and interval of subscriptions.' },
}

function everyOf(interval: unknown, { interval_count }: Readonly<Record<string, unknown>>): string {
  return interval_count === 1 ? words(textOf(interval)) : `${textOf(interval_count)} × ${words(textOf(interval))}`
}

export const PlanPage = recordPage<BillingPlan>({
  in: ['/plans', 'Plans'],
  get: (id) => billingGetPlan(api, { plan_id: id }),
  at: (id) => billingGetPlan.at({ plan_id: id }),
  title: ({ name }) => name,
  note: (plan) => money(plan.amount, plan.currency),
  facts: [
    { name: 'Every', field: 'interval', text: everyOf },
    { name: 'Trial days', field: 'trial_days', as: 'count' },
    { name: 'Setup fee', field: 'setup_fee', as: 'money' },
    { name: 'Tax in percent', field: 'tax_rate' },
    { name: 'Open to new customers', field: 'active', as: 'flag' },
    { name: 'Description', field: 'description' },
    { name: 'Created', field: 'created_at', as: 'time' },
  ],
  deeds: (plan) => [{ name: 'Change', icon: 'pencil', isMain: true, scope: 'billing:write', form: changePlan(plan) }],
})
