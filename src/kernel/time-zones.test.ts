// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { getCountries } from 'libphonenumber-js/max'
import { zoneOf } from './time-zones.ts'

test('every country that has phone numbers has a clock, which this machine can read', () => {
  for (const country of getCountries()) {
    const timeZone = zoneOf(country)
    assert.ok(timeZone, country)
    assert.doesNotThrow(() => new Intl.DateTimeFormat('en', { timeZone }), timeZone)
  }
})

test('where people live by several clocks, that of most of them counts', () => {
  for (const [country, zone] of [
    ['US', 'America/New_York'],
    ['CD', 'Africa/Kinshasa'],
    ['ID', 'Asia/Jakarta'],
    ['RU', 'Europe/Moscow'],
  ] as const)
    assert.equal(zoneOf(country), zone)
  assert.equal(zoneOf('XX'), null)
  assert.equal(zoneOf(null), null)
})
