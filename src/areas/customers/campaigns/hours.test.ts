// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { afterQuiet, momentIn, zoneFor } from './hours.ts'

const night = { from: '21:00', to: '08:00' }

test('a night ends in the morning of the recipient', () => {
  const cases: [zone: string, at: string, until: string][] = [
    ['Africa/Nairobi', '2026-03-01T10:00:00Z', '2026-03-01T10:00:00.000Z'],
    ['Africa/Nairobi', '2026-03-01T18:00:00Z', '2026-03-02T05:00:00.000Z'],
    ['Africa/Nairobi', '2026-03-01T23:30:30Z', '2026-03-02T05:00:00.000Z'],
    ['Africa/Lagos', '2026-03-01T06:59:00Z', '2026-03-01T07:00:00.000Z'],
    ['Asia/Kolkata', '2026-03-01T16:00:00Z', '2026-03-02T02:30:00.000Z'],
  ]
  for (const [zone, at, until] of cases)
    assert.equal(new Date(afterQuiet(zone, night, Date.parse(at))).toISOString(), until, `${zone} ${at}`)
  assert.equal(
    afterQuiet('UTC', { from: '12:00', to: '14:00' }, Date.parse('2026-03-01T13:00Z')),
    Date.parse('2026-03-01T14:00Z'),
  )
  assert.equal(afterQuiet('UTC', null, 5), 5)
})

test('a time of the day is that of the zone, also beside a change of clocks', () => {
  const at = (zone: string, shown: string) => new Date(momentIn(zone, Date.parse(`${shown}Z`))).toISOString()
  assert.equal(at('Africa/Nairobi', '2026-12-01T09:00:00'), '2026-12-01T06:00:00.000Z')
  assert.equal(at('Europe/London', '2026-03-29T09:00:00'), '2026-03-29T08:00:00.000Z')
  assert.equal(zoneFor({ timezone: null, country: null, phones: ['+2348031234567'] }, 'KE'), 'Africa/Lagos')
  assert.equal(zoneFor({ timezone: null, country: null, phones: [] }, 'KE'), 'Africa/Nairobi')
})
