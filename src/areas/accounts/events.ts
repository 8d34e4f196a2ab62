// SPDX-License-Identifier: Apache-2.0
// Events of API keys.
import { Type } from 'typebox'
import { eventType } from '../../platform/events.ts'
import { At } from '../../platform/schema/fields.ts'
import { KeyId } from './schema.ts'

const key = {
  key_id: KeyId,
  name: Type.String({ description: 'Label of the key' }),
  prefix: Type.String({ description: 'First 13 characters of the key' }),
  last4: Type.String({ description: 'Last 4 characters of the key' }),
}

const Revoked = Type.Object(key, { title: 'ApiKeyRevokedEvent' })
const RotationDue = Type.Object(
  { ...key, rotation_due_at: At({ description: 'Recommended rotation time, 90 days after creation' }) },
  { title: 'ApiKeyRotationDueEvent' },
)

const server = {
  key_id: 'key_01jb2c3d4e5f6g7h8j9kamnpqr',
  name: 'Server',
  prefix: 'pmj_live_4fKw',
  last4: 'x9Qa',
} as const

export const keyEvents = {
  rotationDue: eventType({
    name: 'apikey.rotation_due',
    summary: 'An API key is due for rotation; it still works',
    payload: RotationDue,
    sample: { ...server, rotation_due_at: new Date('2026-03-01T09:15:30Z') },
  }),
  revoked: eventType({
    name: 'apikey.revoked',
    summary: 'An API key was revoked and no longer works',
    payload: Revoked,
    sample: server,
  }),
}
