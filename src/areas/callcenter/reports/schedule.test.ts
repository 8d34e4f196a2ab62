// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { periodAt, recipientProblem, type Schedule, scheduleOf, timeAfter } from './schedule.ts'

const made = (wanted: Partial<Schedule>): Schedule =>
  scheduleOf({ ...{ name: 'Day', report: 'queues', every: 'day', recipients: ['lead@shop.example'] }, ...wanted })

/** Times and periods of a schedule that follow each other. */
function mailings(schedule: Schedule, after: string, timezone: string, count: number): string[] {
  const told: string[] = []
  let at = new Date(after)
  for (let i = 0; i < count; i++) {
    at = timeAfter(schedule, at, timezone)
    const { from, to, firstDay, lastDay } = periodAt(schedule, at, timezone)
    const short = (moment: Date) => moment.toISOString().slice(5, 16)
    told.push(`${short(at)} ${firstDay.slice(5)}–${lastDay.slice(5)} ${short(from)} ${short(to)}`)
  }
  return told
}

test('every day is mailed once, also where a clock leaps over midnight', () => {
  // Cairo has no 00:00 on 24 April 2026, and 23:00 twice on 29 October.
  assert.deepEqual(mailings(made({ hour: 0 }), '2026-04-22T12:00:00Z', 'Africa/Cairo', 3), [
    '04-22T22:00 04-22–04-22 04-21T22:00 04-22T22:00',
    '04-23T22:00 04-23–04-23 04-22T22:00 04-23T22:00',
    '04-24T21:00 04-24–04-24 04-23T22:00 04-24T21:00',
  ])
  assert.deepEqual(mailings(made({ hour: 23 }), '2026-10-28T12:00:00Z', 'Africa/Cairo', 3), [
    '10-28T20:00 10-27–10-27 10-26T21:00 10-27T21:00',
    '10-29T21:00 10-28–10-28 10-27T21:00 10-28T21:00',
    '10-30T21:00 10-29–10-29 10-28T21:00 10-29T22:00',
  ])
  // Casablanca is an hour ahead but in Ramadan: it leaps over 02:00 to 03:00 when that ends.
  assert.deepEqual(
    mailings(made({ hour: 2 }), '2026-03-21T12:00:00Z', 'Africa/Casablanca', 2).map((told) => told.slice(0, 11)),
    ['03-22T02:00', '03-23T01:00'],
  )
})

test('a week and a month are mailed on their day, for the days before', () => {
  assert.deepEqual(
    mailings(made({ every: 'week', weekday: 'monday', hour: 7 }), '2026-11-16T04:00:00Z', 'Africa/Nairobi', 2),
    ['11-23T04:00 11-16–11-22 11-15T21:00 11-22T21:00', '11-30T04:00 11-23–11-29 11-22T21:00 11-29T21:00'],
  )
  assert.deepEqual(mailings(made({ every: 'month', day_of_month: 28, hour: 7 }), '2026-12-31T00:00:00Z', 'UTC', 2), [
    '01-28T07:00 12-01–12-31 12-01T00:00 01-01T00:00',
    '02-28T07:00 01-01–01-31 01-01T00:00 02-01T00:00',
  ])
})

test('each recipient is another address', () => {
  assert.equal(recipientProblem(['a@shop.example', 'Boss <b@shop.example>']), null)
  assert.deepEqual(recipientProblem(['a@shop.example', 'nobody']), {
    ...{ field: 'recipients[1]', problem: 'is not an address such as amina@shop.example' },
  })
  assert.equal(recipientProblem(['a@shop.example', 'Ann <A@shop.example>'])?.field, 'recipients[1]')
})
