// SPDX-License-Identifier: Apache-2.0
// Forms of operators: accounts, carriers, routes, prices and numbers. The API takes every other setting of a carrier or
// a route.
import {
  operatorAssignSmsNumber,
  operatorCreateAccount,
  operatorCreateSmsBind,
  operatorCreateSmsRoute,
  operatorSetPrice,
} from '#sdk/operations.ts'
import { api } from '../../api.ts'
import type { FormOf } from '../../kit/form.tsx'

const country = { name: 'country', label: 'Country', hint: 'Two letters, such as KE' } as const
const network = { name: 'network', label: 'Network' } as const
const account = { name: 'account_id', label: 'Account', hint: 'Only for this one; acc_…' } as const
const currency = { name: 'currency', label: 'Currency', isRequired: true } as const

export const newAccount: FormOf = {
  title: 'Open an account',
  fields: [
    { name: 'name', label: 'Name', isRequired: true },
    { ...country, isRequired: true },
    currency,
    { name: 'plan', label: 'Plan' },
  ],
  async make({ name = '', country = '', currency = '', plan }) {
    const { test_api_key } = await operatorCreateAccount(api, { body: { name, country, currency, plan } })
    return test_api_key
  },
}

export const newCarrier: FormOf = {
  title: 'Connect a carrier',
  fields: [
    { name: 'name', label: 'Name', isRequired: true, hint: 'Such as safaricom-1' },
    { name: 'host', label: 'Host' },
    { name: 'port', label: 'Port' },
    { name: 'tls', label: 'TLS', among: ['no', 'yes'] },
    { name: 'system_id', label: 'System id' },
    { name: 'password', label: 'Password', isSecret: true },
    { name: 'sessions', label: 'Sessions' },
    { name: 'rate', label: 'Texts a second' },
    { name: 'profile', label: 'Profile', hint: 'JSON, for an aggregator that takes HTTP; then no host' },
  ],
  async make({ name = '', host, port, tls, system_id, password, sessions, rate, profile }) {
    const numbers = { port: numberOf(port), sessions: numberOf(sessions), rate: numberOf(rate) }
    const how = profile ? { kind: 'http' as const, profile: JSON.parse(profile) } : { host, system_id }
    const secure = tls === undefined ? undefined : tls === 'yes'
    await operatorCreateSmsBind(api, { body: { name, password, tls: secure, ...numbers, ...how } })
    return null
  },
}

export const newRoute: FormOf = {
  title: 'Make a route',
  fields: [
    { name: 'environment', label: 'Environment', among: ['live', 'test'] },
    country,
    network,
    account,
    {
      name: 'carriers',
      label: 'Carriers',
      isRequired: true,
      hint: 'Names, with commas; after a semicolon those that stand in',
    },
    { name: 'when_down', label: 'When down', among: ['queue', 'refuse'] },
  ],
  async make({ environment, country, network, account_id, carriers = '', when_down }) {
    const tiers = carriers.split(';').map((tier) => words(tier).map((bind) => ({ bind })))
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
    { name: 'effective_from', label: 'From', hint: 'Such as 2026-12-01T00:00:00Z; now unless given' },
  ],
  async make({ area = '', unit = '', amount = '', currency = '', ...where }) {
    await operatorSetPrice(api, { body: { area, unit, amount, currency, ...where } })
    return null
  },
}

export const newNumber: FormOf = {
  title: 'Give a number to an account',
  fields: [
    { name: 'number', label: 'Number', isRequired: true },
    { ...account, isRequired: true },
  ],
  async make({ number = '', account_id = '' }) {
    await operatorAssignSmsNumber(api, { body: { number, account_id } })
    return null
  },
}

const numberOf = (text: string | undefined): number | undefined => (text === undefined ? undefined : Number(text))
const words = (text: string): string[] =>
  text
    .split(',')
    .map((word) => word.trim())
    .filter(Boolean)
