// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { runs } from '../../../../test/properties.ts'
import {
  boundary,
  type Calendar,
  daysAfter,
  type Interval,
  intervalAt,
  nextDayOfMonth,
  onDay,
  startOfDay,
  wallClock,
  withinHours,
} from './calendar.ts'

function calendar(interval: Interval, anchor: string, timeZone = 'UTC', intervalCount = 1, anchorDay?: number) {
  return { interval, intervalCount, anchor, anchorDay: anchorDay ?? Number(anchor.slice(8, 10)), timeZone }
}

const rows: [name: string, calendar: Calendar, first: number, boundaries: string[]][] = [
  [
    'the end of a month is clamped and comes back',
    calendar('month', '2026-01-31T09:15:30', 'Africa/Nairobi'),
    0,
    ['2026-01-31T06:15:30.000Z', '2026-02-28T06:15:30.000Z', '2026-03-31T06:15:30.000Z', '2026-04-30T06:15:30.000Z'],
  ],
  [
    'a leap day is the 28th in other years',
    calendar('year', '2028-02-29T00:00:00'),
    -1,
    ['2027-02-28T00:00:00.000Z', '2028-02-29T00:00:00.000Z', '2029-02-28T00:00:00.000Z', '2030-02-28T00:00:00.000Z'],
  ],
  [
    'an anchor in a short month keeps the day that was wanted',
    calendar('month', '2026-04-30T12:00:00', 'UTC', 1, 31),
    -1,
    ['2026-03-31T12:00:00.000Z', '2026-04-30T12:00:00.000Z', '2026-05-31T12:00:00.000Z'],
  ],
  [
    'quarters',
    calendar('month', '2025-11-30T00:00:00', 'UTC', 3),
    0,
    ['2025-11-30T00:00:00.000Z', '2026-02-28T00:00:00.000Z', '2026-05-30T00:00:00.000Z'],
  ],
  [
    'a day is a day on the wall when clocks go forward and back',
    calendar('day', '2026-03-28T09:00:00', 'Europe/Berlin'),
    0,
    ['2026-03-28T08:00:00.000Z', '2026-03-29T07:00:00.000Z', '2026-03-30T07:00:00.000Z'],
  ],
  [
    'an hour that is skipped is taken an hour later, and the next day in time again',
    calendar('day', '2026-03-28T02:30:00', 'Europe/Berlin'),
    0,
    ['2026-03-28T01:30:00.000Z', '2026-03-29T01:30:00.000Z', '2026-03-30T00:30:00.000Z'],
  ],
  [
    'of an hour that comes twice the first is taken',
    calendar('week', '2026-10-18T02:30:00', 'Europe/Berlin'),
    0,
    ['2026-10-18T00:30:00.000Z', '2026-10-25T00:30:00.000Z', '2026-11-01T01:30:00.000Z'],
  ],
  [
    'a country that changed its mind about summer',
    calendar('month', '2026-03-24T00:00:00', 'Africa/Cairo'),
    0,
    ['2026-03-23T22:00:00.000Z', '2026-04-23T22:00:00.000Z', '2026-05-23T21:00:00.000Z'],
  ],
]

for (const [name, given, first, expected] of rows)
  test(`boundaries: ${name}`, () => {
    assert.deepEqual(
      expected.map((_, i) => boundary(given, first + i).toISOString()),
      expected,
    )
  })

test('ten years of boundaries are those of an independent reckoning', () => {
  for (const timeZone of ['UTC', 'Africa/Nairobi', 'Africa/Cairo', 'Africa/Casablanca', 'Europe/Berlin'])
    for (const [interval, count] of [
      ['day', 1],
      ['week', 1],
      ['month', 1],
      ['month', 5],
      ['year', 1],
    ] as const)
      for (const anchor of ['2026-01-29T00:30:00', '2026-01-31T23:59:59', '2028-02-29T02:30:00']) {
        const given = calendar(interval, anchor, timeZone, count)
        const most = Math.floor({ day: 3_653, week: 522, month: 120, year: 10 }[interval] / count)
        // Day intervals: all of the first two years, then a sample.
        for (let index = 0; index <= most; index += interval === 'day' && index > 730 ? 37 : 1)
          assert.equal(
            boundary(given, index).toISOString(),
            reckoned(given, index),
            `${timeZone} ${interval} ${anchor} ${index}`,
          )
      }
})

test('every moment lies in one interval, and intervals follow each other', () => {
  const anyCalendar = fc.record({
    interval: fc.constantFrom<Interval>('day', 'week', 'month', 'year'),
    intervalCount: fc.integer({ min: 1, max: 13 }),
    anchor: fc
      .date({ min: new Date('2020-01-01'), max: new Date('2030-01-01'), noInvalidDate: true })
      .map((at) => wallClock(at, 'UTC')),
    anchorDay: fc.integer({ min: 1, max: 31 }),
    timeZone: fc.constantFrom('UTC', 'Africa/Nairobi', 'Africa/Casablanca', 'Europe/London', 'America/New_York'),
  })
  const moment = fc.date({ min: new Date('2015-01-01'), max: new Date('2045-01-01'), noInvalidDate: true })
  fc.assert(
    fc.property(anyCalendar, moment, (given, at) => {
      const { start, end } = intervalAt(given, at)
      assert.ok(start <= at && at < end)
      assert.deepEqual(intervalAt(given, end).start, end)
    }),
    { numRuns: runs(300) },
  )
})

test('moments as a wall clock shows them', () => {
  const at = new Date('2026-03-01T21:15:30.999Z')
  assert.equal(wallClock(at, 'Africa/Nairobi'), '2026-03-02T00:15:30')
  assert.equal(onDay('2026-03-02T00:15:30', '2026-04-30'), '2026-04-30T00:15:30')
  assert.equal(startOfDay('2026-03-02', 'Africa/Nairobi').toISOString(), '2026-03-01T21:00:00.000Z')
  assert.equal(nextDayOfMonth('2026-03-02T00:15:30', 2), '2026-03-02T00:15:30')
  assert.equal(nextDayOfMonth('2026-03-02T00:15:30', 1), '2026-04-01T00:15:30')
  assert.equal(nextDayOfMonth('2026-02-02T00:15:30', 31), '2026-02-28T00:15:30')
  assert.equal(
    daysAfter(new Date('2026-03-28T08:00:00Z'), 1, 'Europe/Berlin').toISOString(),
    '2026-03-29T07:00:00.000Z',
  )
})

test('nobody is asked at night', () => {
  for (const [at, expected] of [
    ['2026-03-01T04:59:59Z', '2026-03-01T05:00:00.000Z'],
    ['2026-03-01T05:00:00Z', '2026-03-01T05:00:00.000Z'],
    ['2026-03-01T16:59:59Z', '2026-03-01T16:59:59.000Z'],
    ['2026-03-01T17:00:00Z', '2026-03-02T05:00:00.000Z'],
    ['2026-03-01T21:30:00Z', '2026-03-02T05:00:00.000Z'],
  ] as const)
    assert.equal(withinHours(new Date(at), 'Africa/Nairobi', 8, 20).toISOString(), expected, at)
})

/** Reference implementation: calendar arithmetic plus the wall clock of Intl. */
function reckoned({ interval, intervalCount, anchor, anchorDay, timeZone }: Calendar, index: number): string {
  const [date = '', time = ''] = anchor.split('T')
  const [year = 0, month = 0, day = 0] = date.split('-').map(Number)
  const n = index * intervalCount
  let wanted: Date
  if (interval === 'day' || interval === 'week')
    wanted = new Date(Date.UTC(year, month - 1, day + n * (interval === 'week' ? 7 : 1)))
  else {
    const months = year * 12 + month - 1 + n * (interval === 'year' ? 12 : 1)
    const [y, m] = [Math.floor(months / 12), months % 12]
    const isLeap = (y % 4 === 0 && y % 100 !== 0) || y % 400 === 0
    const length = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][m] ?? 0
    wanted = new Date(Date.UTC(y, m, Math.min(anchorDay, length)))
  }
  const wall = Date.parse(`${wanted.toISOString().slice(0, 10)}T${time}Z`)
  const shown = clock(timeZone)
  // The UTC offset is the one before or after the change; the earlier matching moment counts.
  const offsets = [wall - 86_400_000, wall + 86_400_000].map((at) => shown(at) - at)
  const fits = offsets.map((offset) => wall - offset).filter((at) => shown(at) === wall)
  const [before = 0] = offsets
  return new Date(fits.length > 0 ? Math.min(...fits) : wall - before).toISOString()
}

/** Wall clock time, as if it were UTC. */
function clock(timeZone: string): (at: number) => number {
  const format = new Intl.DateTimeFormat('en', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
  })
  return (at) => {
    const parts = Object.fromEntries(format.formatToParts(at).map(({ type, value }) => [type, Number(value)]))
    const { year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0 } = parts
    return Date.UTC(year, month - 1, day, hour, minute, second)
  }
}
