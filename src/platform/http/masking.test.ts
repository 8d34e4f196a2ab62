// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { maskPersonalData } from './masking.ts'

test('of a customer only ids, states and times are shown to those who may not see people', () => {
  const at = new Date('2026-03-01T09:15:30Z')
  const consent = { channel: 'sms', purpose: 'marketing', state: 'granted', from: null, at }
  const customer = {
    ...{
      id: 'cus_01jb2c3d4e5f6g7h8j9kamnpqr',
      name: 'Asha Njeri',
      phones: ['+254711000001'],
      emails: ['asha@example.com'],
    },
    ...{ attributes: { clinic: 'Kisumu' }, tags: ['vip'], created_at: at },
    consents: [{ ...consent, address: '+254711000001', source: 'told Ben at the counter' }],
  }
  assert.deepEqual(maskPersonalData(customer), {
    ...{ id: customer.id, name: '***', phones: ['+254***01'], emails: ['***'] },
    ...{ attributes: {}, tags: ['vip'], created_at: at },
    consents: [{ ...consent, address: '+254***01', source: '***' }],
  })
})

test('the story of a customer is told without what was said', () => {
  const entry = {
    type: 'message',
    id: 'sms_01jb2c3d4e5f6g7h8j9kamnpqr',
    direction: 'inbound',
    title: 'Habari',
    state: 'received',
  }
  assert.deepEqual(maskPersonalData(entry), { ...entry, title: '***' })
})

test('what the search finds is shown without a name, a subject or words', () => {
  const found = { kind: 'email', id: 'em_01jb2c3d4e5f6g7h8j9kamnpqr', label: 'Your loan', status: 'delivered' }
  assert.deepEqual(maskPersonalData(found), { ...found, label: '***' })
})

test('a file that somebody sent is shown without its name and its words', () => {
  const media = { id: '1', filename: 'CV of Asha.pdf', caption: 'from Asha', mime_type: 'application/pdf' }
  assert.deepEqual(maskPersonalData(media), { ...media, filename: '***', caption: '***' })
})
