// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { networks } from '../../../kernel/phone.ts'
import { afterQuietHours } from './quiet-hours.ts'

describe('a promotional message', () => {
  const cases: [what: string, country: string | null, home: string, at: string, goes: string][] = [
    ['goes at once at noon', 'KE', 'KE', '2026-03-01T09:00:30Z', '2026-03-01T09:00:30Z'],
    ['goes at once a minute before nine', 'KE', 'KE', '2026-03-01T17:59:59Z', '2026-03-01T17:59:59Z'],
    ['waits from nine for eight in the morning', 'KE', 'KE', '2026-03-01T18:00:30Z', '2026-03-02T05:00:00Z'],
    ['waits after midnight for the same morning', 'KE', 'KE', '2026-03-01T23:10:00Z', '2026-03-02T05:00:00Z'],
    ['goes at eight', 'KE', 'KE', '2026-03-02T05:00:00Z', '2026-03-02T05:00:00Z'],
    ['lives by the clock of its recipient', 'GH', 'KE', '2026-03-01T20:30:00Z', '2026-03-01T20:30:00Z'],
    ['waits from eight in Nigeria', 'NG', 'KE', '2026-03-01T19:05:00Z', '2026-03-02T07:00:00Z'],
    ['waits for the morning of another continent', 'IN', 'KE', '2026-03-01T16:00:00Z', '2026-03-02T02:30:00Z'],
    [
      'goes at once where it is day, whatever the hour at home',
      'US',
      'KE',
      '2026-03-01T19:00:00Z',
      '2026-03-01T19:00:00Z',
    ],
    ['lives by the account’s clock where there is none', null, 'KE', '2026-03-01T18:00:00Z', '2026-03-02T05:00:00Z'],
    ['goes by Greenwich where nothing is known', null, 'XX', '2026-03-01T22:00:00Z', '2026-03-02T08:00:00Z'],
    ['is not early when clocks go back at night', 'EG', 'KE', '2026-10-29T20:00:00Z', '2026-10-30T06:00:00Z'],
  ]
  for (const [what, country, home, at, goes] of cases)
    it(what, () => {
      const ms = afterQuietHours(country, home, Date.parse(at))
      assert.equal(new Date(ms).toISOString(), new Date(goes).toISOString())
    })

  it('knows the clock of every country of Africa', () => {
    // It is night by the account's clock in Mauritius, and not yet for people further west.
    const evening = Date.parse('2026-03-01T17:30:00Z')
    const sleeping = ['IO', 'MU', 'RE', 'SC', 'UG']
    for (const country of new Set(networks.map((network) => network.country)))
      assert.equal(afterQuietHours(country, 'MU', evening) > evening, sleeping.includes(country), country)
  })
})
