// SPDX-License-Identifier: Apache-2.0
// Forms of the account: keys with what they may do, and the settings that its pages and invoices show.
import { accountUpdate, apiKeysCreate, apiKeysUpdate } from '#sdk/operations.ts'
import type { Account } from '#sdk/schemas.ts'
import { currentEnvironment } from '../../api.ts'
import { oneOf, severalAmong } from '../../kit/choose.tsx'
import { type FieldOf, type FormOf, formOf } from '../../kit/form.tsx'
import { allScopes, senders, timeZones } from '../../kit/known.ts'
import { type Row, textOf } from '../../kit/list-page.tsx'
import { t } from '../../words.ts'
import { LogoField } from './logo.tsx'

const keyFields: readonly FieldOf[] = [
  { name: 'name', label: 'Name', isRequired: true, hint: 'Such as Shop backend' },
  { name: 'scopes', label: 'May', as: 'list', hint: 'Select none to allow all', show: severalAmong(allScopes) },
  {
    name: 'allowed_ips',
    label: 'Allowed IP addresses',
    as: 'list',
    hint: 'Such as 203.0.113.0/24; empty allows all addresses',
  },
  { name: 'expires_at', label: 'Expires', as: 'moment' },
]

export const newKey = (): FormOf =>
  formOf(apiKeysCreate, {
    title: 'Create API key',
    fixed: { environment: currentEnvironment() },
    fields: keyFields,
    done: ({ key }) => key,
  })

/** Scopes of a key; one that has all says so. */
export const scopesText = (scopes: unknown): string =>
  Array.isArray(scopes) && scopes.includes('*') ? t('Everything') : textOf(scopes)

export const changeKey = ({ id, name, scopes, allowed_ips }: Row): FormOf =>
  formOf(apiKeysUpdate, {
    title: 'Edit API key',
    action: 'Save',
    given: { id: textOf(id) },
    fields: keyFields,
    initial: {
      name: textOf(name),
      scopes: textOf(scopes) || undefined,
      allowed_ips: textOf(allowed_ips) || undefined,
    },
  })

export const settingsOf = ({ name, timezone, settings }: Account): FormOf =>
  formOf(accountUpdate, {
    title: 'Settings',
    action: 'Save',
    fields: [
      { name: 'name', label: 'Name', isRequired: true, hint: 'Shown to payers' },
      {
        name: 'timezone',
        label: 'Time zone',
        hint: 'Such as Africa/Nairobi',
        show: oneOf(timeZones, { isOpen: true }),
      },
      { name: 'settings.brand_color', label: 'Brand colour', hint: 'Such as #0b7a53' },
      { name: 'settings.brand_logo', label: 'Logo', hint: 'PNG or JPEG, best square', show: LogoField },
      { name: 'settings.default_sender', label: 'Default sender', show: oneOf(senders) },
      { name: 'settings.tax_number', label: 'Tax number' },
      { name: 'settings.address', label: 'Address on invoices', isLong: true },
      { name: 'settings.invoice_number_pattern', label: 'Invoice number format' },
      { name: 'settings.low_balance_threshold', label: 'Low balance alert below' },
      {
        ...{ name: 'settings.campaign_four_eyes', label: 'Second person for campaigns above', as: 'number' },
        hint: 'Number of customers; empty: never',
      },
      { name: 'settings.sms_text_days', label: 'Message retention (days)', as: 'number' },
      { name: 'settings.require_totp', label: 'Require two-factor sign-in', as: 'flag' },
    ],
    initial: {
      name,
      timezone,
      'settings.brand_color': settings.brand_color ?? undefined,
      'settings.brand_logo': settings.brand_logo ?? undefined,
      'settings.default_sender': settings.default_sender ?? undefined,
      'settings.tax_number': settings.tax_number ?? undefined,
      'settings.address': settings.address ?? undefined,
      'settings.invoice_number_pattern': settings.invoice_number_pattern ?? undefined,
      'settings.low_balance_threshold': settings.low_balance_threshold?.toString(),
      'settings.campaign_four_eyes': settings.campaign_four_eyes?.toString(),
      'settings.sms_text_days': settings.sms_text_days?.toString(),
      'settings.require_totp': settings.require_totp ? 'yes' : 'no',
    },
  })
