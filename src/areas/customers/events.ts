// SPDX-License-Identifier: Apache-2.0
// Events of customers. Consents are told by the events of their channels.
import { type Static, Type } from 'typebox'
import { idOf } from '../../kernel/ids.ts'
import { eventType } from '../../platform/events.ts'
import { At } from '../../platform/schema/fields.ts'
import { Customer } from './schema.ts'
import type { CustomerRow } from './store.ts'

const { consents: _, ...told } = Customer.properties

const CustomerTold = Type.Object({ customer: Type.Object(told, { description: 'The customer, without consents' }) })

const sample: Static<typeof CustomerTold> = {
  customer: {
    id: 'cus_01jb2c3d4e5f6g7h8j9kamnpqr',
    external_id: 'shop-1042',
    name: 'Asha Njeri',
    language: 'sw',
    country: 'KE',
    timezone: 'Africa/Nairobi',
    phones: ['+254711000001'],
    emails: ['asha@example.com'],
    attributes: { plan: 'gold' },
    tags: ['vip'],
    first_seen_at: new Date('2026-03-01T09:15:30Z'),
    last_seen_at: new Date('2026-03-01T09:15:30Z'),
    created_at: new Date('2026-03-01T09:15:30Z'),
    updated_at: new Date('2026-03-01T09:15:30Z'),
  },
}

export const customerEvents = {
  created: eventType({
    name: 'customer.created',
    summary: 'A customer was created by request',
    payload: Type.Object(CustomerTold.properties, { title: 'CustomerCreatedEvent' }),
    sample,
  }),
  updated: eventType({
    name: 'customer.updated',
    summary: 'A customer was changed',
    payload: Type.Object(CustomerTold.properties, { title: 'CustomerUpdatedEvent' }),
    sample,
  }),
  erased: eventType({
    name: 'customer.erased',
    summary: 'A customer was erased',
    payload: Type.Object(
      {
        customer_id: Type.String({ description: 'Id of the erased customer, which can no longer be read' }),
        erased_at: At({ description: 'Time of the erasure' }),
      },
      { title: 'CustomerErasedEvent' },
    ),
    sample: { customer_id: sample.customer.id, erased_at: new Date('2026-03-01T09:15:30Z') },
  }),
  merged: eventType({
    name: 'customer.merged',
    summary: 'Two customers were merged',
    payload: Type.Object(
      {
        ...CustomerTold.properties,
        merged_id: Type.String({ description: 'Id of the merged customer, which now returns the other one' }),
      },
      { title: 'CustomerMergedEvent' },
    ),
    sample: { ...sample, merged_id: 'cus_01jb2c3d4e5f6g7h8j9kamnpqs' },
  }),
}

/** Customer as events tell of them. */
export function toldOf(row: CustomerRow): Static<typeof CustomerTold>['customer'] {
  const { id, external_id, name, language, country, timezone, phones, emails, attributes, tags } = row
  const { first_seen_at, last_seen_at, created_at, updated_at } = row
  return {
    ...{ id: idOf('customer', id), external_id, name, language, country, timezone, phones, emails },
    ...{ attributes, tags, first_seen_at, last_seen_at, created_at, updated_at },
  }
}
