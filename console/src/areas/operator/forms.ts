// SPDX-License-Identifier: Apache-2.0
// Forms of operators: accounts, carriers, routes, prices and numbers. The API takes every other setting of a carrier or
// a route.
import {
  operatorAssignSmsNumber,
  operatorChangeSmsRoute,
  operatorCreateAccount,
  operatorCreateSmsRoute,
  operatorSetPrice,
} from '#sdk/operations.ts'
import { api } from '../../api.ts'
import { oneOf } from '../../kit/choose.tsx'
import type { FormOf } from '../../kit/form.tsx'
import { accountPlans, accounts } from '../../kit/known.ts'
import { momentAt } from '../../kit/words.ts'

const country = { name: 'country', label: 'Country', hint: 'Two letters, such as KE' } as const
const network = { name: 'network', label: 'Network' } as const
const account = { name: 'account_id', label: 'Account', hint: 'Only for this account', show: oneOf(accounts) } as const
const currency = { name: 'currency', label: 'Currency', isRequired: true } as const

export const newAccount: FormOf = {
  title: 'Create account',
  fields: [
    { name: 'name', label: 'Name', isRequired: true },
    { ...country, isRequired: true },
    currency,
    { name: 'plan', label: 'Plan', show: oneOf(accountPlans) },
  ],
  async make({ name = '', country = '', currency = '', plan }) {
    const { test_api_key } = await operatorCreateAccount(api, { body: { name, country, currency, plan } })
    return test_api_key
  },
}

const routed = [
  {
    name: 'carriers',
    label: 'Carriers',
    isRequired: true,
    hint: 'Comma-separated; fallback carriers after a semicolon',
  },
  { name: 'when_down', label: 'If no carrier is available', among: ['queue', 'refuse'] },
] as const

export const newRoute: FormOf = {
  title: 'Create route',
  fields: [
    { name: 'environment', label: 'Environment', among: ['live', 'test'] },
    country,
    network,
    account,
    ...routed,
  ],
  async make({ environment, country, network, account_id, carriers = '', when_down }) {
    const tiers = tiersOf(carriers)
    await operatorCreateSmsRoute(api, {
      body: {
        tiers,
        country,
        network,
        account_id,
        environment: environment === 'live' || environment === 'test' ? environment : undefined,
        when_down: when_down === 'queue' || when_down === 'refuse' ? when_down : undefined,
      },
    })
    return null
  },
}

/** `name ×3` is a carrier that takes three times as much as one without a number. */
function tiersOf(carriers: string): { bind: string; weight?: number }[][] {
  return carriers.split(';').map((tier) =>
    words(tier).map((one) => {
      const [, bind = one, weight] = /^(.*?)\s*×(\d+)$/.exec(one) ?? []
      return weight === undefined ? { bind } : { bind, weight: Number(weight) }
    }),
  )
}

export const changedRoute = (id: string, carriers: string, when_down: string): FormOf => ({
  title: 'Change',
  action: 'Save',
  fields: routed,
  initial: { carriers, when_down },
  async make(filled) {
    await operatorChangeSmsRoute(api, {
      id,
      body: {
        tiers: tiersOf(filled.carriers ?? ''),
        when_down: filled.when_down === 'refuse' ? 'refuse' : 'queue',
      },
    })
    return null
  },
})

export const newPrice: FormOf = {
  title: 'Set a price',
  fields: [
    { name: 'area', label: 'Area', isRequired: true, hint: 'Such as sms' },
    { name: 'unit', label: 'Unit', isRequired: true, hint: 'Such as segment' },
    { name: 'amount', label: 'Amount', isRequired: true },
    currency,
    country,
    network,
    account,
    { name: 'effective_from', label: 'From', as: 'moment', hint: 'Empty: now' },
  ],
  async make({ area = '', unit = '', amount = '', currency = '', effective_from: from, ...where }) {
    const effective_from = from === undefined ? undefined : momentAt(from)
    await operatorSetPrice(api, { body: { area, unit, amount, currency, ...where, effective_from } })
    return null
  },
}

export const newNumber: FormOf = {
  title: 'Assign a number to an account',
  fields: [
    { name: 'number', label: 'Number', isRequired: true },
    { ...account, isRequired: true },
  ],
  async make({ number = '', account_id = '' }) {
    await operatorAssignSmsNumber(api, { body: { number, account_id } })
    return null
  },
}

const words = (text: string): string[] =>
  text
    .split(',')
    .map((word) => word.trim())
    .filter(Boolean)
