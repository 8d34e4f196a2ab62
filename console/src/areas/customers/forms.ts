// SPDX-License-Identifier: Apache-2.0
// Forms of customers: creating, changing and merging them, notes, and a text to one.
import { customersAddNote, customersCreate, customersMerge, customersUpdate, smsSend } from '#sdk/operations.ts'
import type { CustomerRecord } from '#sdk/schemas.ts'
import { type FieldOf, type FormOf, formOf } from '../../kit/form.tsx'
import { go } from '../../place.tsx'

const fields: readonly FieldOf[] = [
  { name: 'name', label: 'Name' },
  { name: 'phones', label: 'Phone numbers', as: 'list', hint: 'With commas between them, the main one first' },
  { name: 'emails', label: 'Email addresses', as: 'list', hint: 'With commas between them, the main one first' },
  { name: 'tags', label: 'Tags', as: 'list', hint: 'With commas between them' },
  { name: 'language', label: 'Language', hint: 'A code such as sw or pt-MZ', isMore: true },
  { name: 'country', label: 'Country', hint: 'A code such as KE', isMore: true },
  { name: 'timezone', label: 'Time zone', hint: 'Such as Africa/Nairobi', isMore: true },
  { name: 'external_id', label: 'Your own id', isMore: true },
]

export const createForm: FormOf = formOf(customersCreate, {
  ...{ title: 'New customer', action: 'Create', fields },
  done: ({ id }) => go(`/customers/${id}`),
})

/** Lists that were emptied are sent as empty ones, because the API takes no null for them. */
export function changeForm(customer: CustomerRecord): FormOf {
  const { id, name, phones, emails, tags, language, country, timezone, external_id } = customer
  const text = (value: string | null): string | undefined => value ?? undefined
  const joined = (list: readonly string[]): string | undefined => list.join(', ') || undefined
  const initial = {
    ...{ name: text(name), phones: joined(phones), emails: joined(emails), tags: joined(tags) },
    ...{ language: text(language), country: text(country), timezone: text(timezone), external_id: text(external_id) },
  }
  const form = formOf(customersUpdate, { title: 'Change', action: 'Save', given: { customer_id: id }, fields, initial })
  return {
    ...form,
    make: (filled, files) =>
      form.make(
        { ...filled, phones: filled.phones ?? ',', emails: filled.emails ?? ',', tags: filled.tags ?? ',' },
        files,
      ),
  }
}

export const noteForm = (customer_id: string): FormOf =>
  formOf(customersAddNote, {
    ...{ title: 'Add a note', action: 'Save', given: { customer_id } },
    fields: [{ name: 'text', label: 'Note', isLong: true, isRequired: true, hint: 'Visible to your team only' }],
  })

export const mergeForm = (id: string): FormOf =>
  formOf(customersMerge, {
    ...{ title: 'Merge another customer into this one', action: 'Merge', given: { id } },
    fields: [
      {
        ...{ name: 'customer_id', label: 'Customer to merge', isRequired: true },
        hint: 'Id of the other customer, such as cus_…. Numbers, addresses, notes, invoices and credit move here.',
      },
    ],
  })

/** A text to a number; `from` is the sender unless another is typed. */
export const textForm = (to: string, from?: string): FormOf =>
  formOf(smsSend, {
    ...{ title: 'Send a text', action: 'Send', fixed: { to }, initial: { from } },
    fields: [
      { name: 'from', label: 'Sender', isRequired: true },
      { name: 'message', label: 'Text', isLong: true, isRequired: true },
    ],
  })
