// SPDX-License-Identifier: Apache-2.0
// Lists by which operators run the business: plans, countries, prices of calls, numbers for calls, and what was changed by whom.
import { fields as rateFields } from '#form/operator.setVoiceRate'
import {
  operatorChangeSmsCountry,
  operatorCreatePlan,
  operatorGiveVoiceNumber,
  operatorListPlans,
  operatorListSmsCountries,
  operatorListVoiceNumbers,
  operatorListVoiceRates,
  operatorRemoveVoiceRate,
  operatorSetVoiceRate,
  operatorTakeBackVoiceNumber,
} from '#sdk/operations.ts'
import { api } from '../../api.ts'
import { oneOf } from '../../kit/choose.tsx'
import { fieldFor } from '../../kit/declared.ts'
import type { Filled } from '../../kit/form.tsx'
import { accounts as knownAccounts } from '../../kit/known.ts'
import { type ListOf, state, textOf } from '../../kit/list-page.tsx'
import { t } from '../../words.ts'
import { audit as ownAudit } from '../accounts/lists.ts'
import { accountOf } from './account-name.tsx'

/** Areas whose requests a plan limits. */
export const limited = ['sms', 'messenger', 'email', 'voice', 'identity', 'payments'] as const

/** Limits of a form: nothing is no limit. */
export function limitsOf(filled: Filled): Record<string, number | null> {
  return Object.fromEntries(limited.map((name) => [name, filled[name] === undefined ? null : Number(filled[name])]))
}

export const limitFields = limited.map((name) => ({ name, label: name === 'sms' ? 'SMS' : labelOf(name) }))

function labelOf(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1)
}

export const plans: ListOf = {
  title: 'Plans',
  note: 'requests a minute by area',
  icon: 'layers',
  path: operatorListPlans.at(),
  keyField: 'name',
  open: ['/operator/plans/', 'name'],
  columns: [
    { name: 'Name', field: 'name', as: 'mono', priority: 1, card: 'title', grows: true },
    ...limitFields.map(({ name, label }, i) => ({
      name: label,
      field: `limits.${name}`,
      as: 'count' as const,
      priority: i < 2 ? (2 as const) : (3 as const),
    })),
    { name: 'Changed', field: 'updated_at', as: 'time', priority: 4, card: 'sub' },
  ],
  form: {
    title: 'Create plan',
    fields: [{ name: 'name', label: 'Name', isRequired: true, hint: 'Such as starter' }, ...limitFields],
    async make({ name = '', ...filled }) {
      await operatorCreatePlan(api, { body: { name, limits: limitsOf(filled) } })
      return null
    },
  },
}

const country =
  (body: NonNullable<Parameters<typeof operatorChangeSmsCountry>[1]['body']>) =>
  (row: { readonly country?: unknown }) =>
    operatorChangeSmsCountry(api, { country: textOf(row.country), body })

export const countries: ListOf = {
  title: 'Countries',
  note: 'Allowed destinations and sender rules',
  icon: 'globe',
  path: operatorListSmsCountries.at(),
  keyField: 'country',
  columns: [
    { name: 'Country', field: 'country', as: 'country', priority: 1, card: 'title', grows: true },
    { ...state, field: 'enabled' },
    { name: 'Registration of senders', field: 'sender_registration', as: 'words', priority: 2, card: 'sub' },
    { name: 'Provider default', field: 'is_default', as: 'flag', priority: 3 },
  ],
  actions: [
    { name: 'Enable', shows: ({ enabled }) => enabled === false, run: country({ enabled: true }) },
    {
      name: 'Disable',
      isDanger: true,
      shows: ({ enabled }) => enabled === true,
      asks: (row) => ({
        title: t('Disable {name}?', { name: textOf(row.country) }),
        consequences: [t('Texts to numbers of this country are refused, of every account.')],
        action: t('Disable {name}', { name: textOf(row.country) }),
        keep: t('Keep it enabled'),
      }),
      run: country({ enabled: false }),
    },
    {
      name: 'Require registration',
      shows: ({ sender_registration }) => sender_registration === 'open',
      asks: (row) => ({
        title: t('Require registration of senders in {name}?', { name: textOf(row.country) }),
        consequences: [t('Texts from unapproved senders are refused there.')],
        action: t('Require registration'),
        keep: t('Leave it open'),
      }),
      run: country({ sender_registration: 'required' }),
    },
    {
      name: 'Allow all senders',
      shows: ({ sender_registration }) => sender_registration === 'required',
      run: country({ sender_registration: 'open' }),
    },
    {
      name: 'Default',
      shows: ({ is_default }) => is_default === false,
      run: country({ enabled: null, sender_registration: null }),
    },
  ],
}

export const rates: ListOf = {
  title: 'Prices of calls',
  note: 'per minute, by prefix of the number',
  icon: 'tag',
  path: operatorListVoiceRates.at(),
  keyField: 'prefix',
  columns: [
    { name: 'Prefix', field: 'prefix', as: 'mono', priority: 1, card: 'title', grows: true },
    { name: 'Price per minute', field: 'minute', as: 'money', priority: 1, card: 'end' },
    { name: 'Changed', field: 'updated_at', as: 'time', priority: 2, card: 'sub' },
  ],
  form: {
    title: 'Set the price of a prefix',
    fields: rateFields.map((field) => fieldFor(field)),
    async make({ prefix = '', currency = '', minute = '' }) {
      await operatorSetVoiceRate(api, { body: { prefix, currency, minute } })
      return null
    },
  },
  actions: [
    {
      name: 'Remove',
      isDanger: true,
      asks: ({ prefix }) => ({
        title: t('Remove the price of {name}?', { name: textOf(prefix) }),
        consequences: [t('The next shorter prefix or the price list applies.')],
        action: t('Remove {name}', { name: textOf(prefix) }),
        keep: t('Keep it'),
      }),
      run: ({ prefix, currency }) =>
        operatorRemoveVoiceRate(api, { prefix: textOf(prefix), currency: textOf(currency) }),
    },
  ],
}

export const voiceNumbers: ListOf = {
  title: 'Numbers for calls',
  icon: 'hash',
  path: operatorListVoiceNumbers.at(),
  keyField: 'number',
  columns: [
    { name: 'Number', field: 'number', as: 'mono', priority: 1, card: 'title', grows: true },
    { name: 'Account', field: 'account_id', show: accountOf, priority: 1, card: 'sub' },
    { name: 'Since', field: 'assigned_at', as: 'time', priority: 2 },
  ],
  none: { title: 'No numbers', advice: 'Numbers that people can call are listed here.' },
  form: {
    title: 'Assign a number to an account',
    fields: [
      { name: 'number', label: 'Number', isRequired: true },
      { name: 'account_id', label: 'Account', isRequired: true, show: oneOf(knownAccounts) },
    ],
    async make({ number = '', account_id = '' }) {
      await operatorGiveVoiceNumber(api, { body: { number, account_id } })
      return null
    },
  },
  actions: [
    {
      name: 'Take back',
      isDanger: true,
      asks: ({ number }) => ({
        title: t('Take {name} back?', { name: textOf(number) }),
        consequences: [t('Calls to it are refused, and the account cannot call from it.')],
        action: t('Take {name} back', { name: textOf(number) }),
        keep: t('Keep it'),
      }),
      run: ({ number }) => operatorTakeBackVoiceNumber(api, { number: textOf(number) }),
    },
  ],
}

/** What operators changed stands in the log of their own account. */
export const audit: ListOf = { ...ownAudit, title: 'Audit of the installation', note: 'Changes made by operators' }
