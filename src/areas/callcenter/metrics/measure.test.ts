// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { endOf, momentOfWall, startOf } from './intervals.ts'
import { type Counted, occupancy, ReportTally, type Scope, type Stretch } from './measure.ts'

const at = (clock: string): Date => new Date(`2026-03-09T${clock}Z`)

function contact(entered: string, more: Partial<Counted> = {}): Counted {
  return {
    outcome: 'answered',
    state: 'ended',
    entered_at: at(entered),
    answered_at: null,
    ended_at: null,
    wrapped_at: null,
    hold_ms: 0n,
    is_short: false,
    in_threshold: false,
    is_transferred: false,
    queue_id: 'q',
    direction: 'inbound',
    cost: 0n,
    call_counted: 'no',
    queue_counted: 'no',
    is_continued: false,
    ...more,
  }
}

/** Contacts of one morning. */
const morning: readonly Counted[] = [
  // Waits 10 s, talks 110 s of which 20 s on hold, writes for 30 s.
  contact('08:00:00', {
    answered_at: at('08:00:10'),
    ended_at: at('08:02:00'),
    wrapped_at: at('08:02:30'),
    hold_ms: 20_000n,
    in_threshold: true,
    cost: 3_500_000n,
  }),
  // Waits 50 s, talks 60 s, no wrap-up, is transferred.
  contact('08:01:00', { answered_at: at('08:01:50'), ended_at: at('08:02:50'), is_transferred: true }),
  // Gives up after 3 s, and after 40 s.
  contact('08:05:00', { outcome: 'abandoned', ended_at: at('08:05:03'), is_short: true }),
  contact('08:06:00', { outcome: 'abandoned', ended_at: at('08:06:40') }),
  // Is sent on after 60 s.
  contact('08:10:00', { outcome: 'overflowed', ended_at: at('08:11:00') }),
  // An agent calls out, and speaks for 30 s.
  contact('08:20:00', { answered_at: at('08:20:10'), ended_at: at('08:20:40'), queue_id: null, direction: 'outbound' }),
]

test('a morning adds up as it does by hand', () => {
  const tally = new ReportTally()
  for (const one of morning) tally.add(one, at('09:00:00').getTime())
  assert.deepEqual(tally.more('call'), {
    offered: 6,
    answered: 3,
    abandoned: 2,
    short_abandoned: 1,
    overflowed: 1,
    transferred: 1,
    // 1 of (2 answered in queues + 2 abandoned - 1 short).
    service_level_percent: 33.33,
    // (10 + 50) / 2.
    asa_seconds: 30,
    // ((110 + 30) + 60 + 30) / 3.
    aht_seconds: 76.67,
    abandon_rate_percent: 33.33,
    talk_seconds: 180,
    hold_seconds: 20,
    wrap_up_seconds: 30,
    max_wait_seconds: 60,
    // Of 3, 10, 40, 50 and 60.
    wait_p50: 40,
    wait_p90: 60,
    first_call_resolution_percent: 100,
    cost: 3_500_000n,
  })
  assert.deepEqual(new ReportTally().measures('call').service_level_percent, null)
})

test('a call of several contacts counts once, once in each queue, and for each agent', () => {
  const now = at('09:00:00').getTime()
  const talk = (entered: string, ended: string) => ({ answered_at: at(entered), ended_at: at(ended) })
  const call: readonly Counted[] = [
    // Its wait began with another call, whose node stopped; an agent answers and hands it to a second queue.
    contact('08:00:00', { outcome: 'failed', ended_at: at('08:00:30'), is_continued: true, cost: 1n }),
    contact('08:00:00', { ...talk('08:01:00', '08:02:00'), is_transferred: true }),
    // The second queue sends it on to a third, where an agent answers and hands it back to the first; there it gives up.
    contact('08:02:00', { queue_id: 'r', outcome: 'overflowed', ended_at: at('08:03:00'), call_counted: 'answered' }),
    contact('08:03:00', { queue_id: 's', ...talk('08:04:00', '08:05:00'), call_counted: 'answered' }),
    contact('08:05:00', {
      ...{ outcome: 'abandoned', ended_at: at('08:06:00') },
      ...{ call_counted: 'answered', queue_counted: 'answered' },
    }),
  ]
  const counts = (some: readonly Counted[], scope: Scope) => {
    const tally = new ReportTally()
    for (const one of some) tally.add(one, now)
    const {
      offered,
      answered,
      abandoned,
      overflowed,
      abandon_rate_percent: rate,
      aht_seconds,
      cost,
    } = tally.more(scope)
    return { offered, answered, abandoned, overflowed, rate, aht_seconds, cost, waits: tally.waits.length }
  }
  assert.deepEqual(counts(call, 'call'), {
    ...{ offered: 1, answered: 1, abandoned: 1, overflowed: 1, rate: 100 },
    ...{ aht_seconds: 60, cost: 1n, waits: 4 },
  })
  const ofQueue = (queue: string) => {
    const { offered, answered } = counts(
      call.filter(({ queue_id }) => queue_id === queue),
      'queue',
    )
    return [offered, answered]
  }
  assert.deepEqual(['q', 'r', 's'].map(ofQueue), [
    [1, 1],
    [1, 0],
    [1, 1],
  ])
  assert.deepEqual([counts(call, 'contact').offered, counts(call, 'contact').answered], [4, 2])
  // A call that the first queue sent on unanswered is answered once, in the second.
  const sentOn = [
    contact('08:00:00', { outcome: 'overflowed', ended_at: at('08:01:00') }),
    contact('08:01:00', { queue_id: 'r', ...talk('08:02:00', '08:03:00'), call_counted: 'offered' }),
  ]
  assert.deepEqual([counts(sentOn, 'call').offered, counts(sentOn, 'call').answered], [1, 1])
})

test('a rate of calls that began in an earlier row is between 0 and 100', () => {
  const again = { call_counted: 'answered', queue_counted: 'answered' } as const
  const gaveUp = contact('09:00:00', { outcome: 'abandoned', ended_at: at('09:01:00'), ...again })
  const spoke = contact('09:00:00', { answered_at: at('09:00:10'), ended_at: at('09:01:00'), ...again })
  const rates = (contacts: readonly Counted[], calledAgain: number) => {
    const tally = new ReportTally()
    for (const one of contacts) tally.add(one, at('10:00:00').getTime())
    for (let i = 0; i < calledAgain; i++) tally.calledAgain()
    const { abandon_rate_percent, first_call_resolution_percent } = tally.more('call')
    return [abandon_rate_percent, first_call_resolution_percent]
  }
  assert.deepEqual(rates([], 0), [null, null])
  assert.deepEqual(rates([gaveUp], 0), [100, null])
  assert.deepEqual(rates([gaveUp, gaveUp, contact('09:10:00')], 0), [100, 100])
  assert.deepEqual(rates([spoke], 1), [null, 0])
  assert.deepEqual(rates([spoke, contact('09:10:00', { answered_at: at('09:10:05') })], 2), [0, 0])
})

test('occupancy is the time on calls and after them, cut to the window', () => {
  const stretch = (status: Stretch['status'], from: string, to: string | null): Stretch => ({
    agent_id: 'a',
    status,
    began_at: at(from),
    ended_at: to === null ? null : at(to),
  })
  const day = [
    stretch('available', '07:00:00', '08:15:00'),
    stretch('on_call', '08:15:00', '08:30:00'),
    stretch('wrap_up', '08:30:00', '08:35:00'),
    stretch('break', '08:35:00', '08:40:00'),
    stretch('available', '08:40:00', null),
  ]
  // Of 08:00 to 09:00: 20 minutes busy, 15 + 20 free.
  assert.equal(occupancy(day, at('08:00:00').getTime(), at('09:00:00').getTime()), 36.36)
  assert.equal(occupancy([], 0, 1), null)
})

const starts: readonly [string, Parameters<typeof startOf>[1], string, string][] = [
  ['2026-03-09T08:59:59Z', '15m', 'UTC', '2026-03-09T08:45:00Z'],
  ['2026-03-09T08:59:59Z', '30m', 'Asia/Kolkata', '2026-03-09T08:30:00Z'],
  ['2026-03-09T08:59:59Z', 'hour', 'Asia/Kolkata', '2026-03-09T08:30:00Z'],
  ['2026-03-09T22:00:00Z', 'day', 'Africa/Nairobi', '2026-03-09T21:00:00Z'],
  ['2026-03-08T20:00:00Z', 'week', 'Africa/Nairobi', '2026-03-01T21:00:00Z'],
  ['2026-03-31T22:00:00Z', 'month', 'Africa/Nairobi', '2026-03-31T21:00:00Z'],
  // The clocks go forward at 02:00 on this day.
  ['2026-03-29T12:00:00Z', 'day', 'Europe/Paris', '2026-03-28T23:00:00Z'],
]

for (const [moment, interval, zone, start] of starts)
  test(`the ${interval} of ${moment} in ${zone} begins at ${start}`, () => {
    assert.equal(startOf(new Date(moment), interval, zone).toISOString(), new Date(start).toISOString())
  })

test('an interval ends where the next one begins', () => {
  assert.equal(
    endOf(momentOfWall('2026-03-29', 0, 'Europe/Paris'), 'day', 'Europe/Paris').toISOString(),
    '2026-03-29T22:00:00.000Z',
  )
  assert.equal(endOf(new Date('2026-02-01T00:00:00Z'), 'month', 'UTC').toISOString(), '2026-03-01T00:00:00.000Z')
  const twice = startOf(new Date('2026-11-01T09:30:00Z'), 'hour', 'America/Los_Angeles')
  assert.equal(endOf(twice, 'hour', 'America/Los_Angeles').toISOString(), '2026-11-01T10:00:00.000Z')
})

test('a minute that a clock leaps over is the moment of the leap', () => {
  for (const [date, minute, zone, moment] of [
    ['2026-04-24', 0, 'Africa/Cairo', '2026-04-23T22:00:00.000Z'],
    ['2026-04-24', 59, 'Africa/Cairo', '2026-04-23T22:00:00.000Z'],
    ['2026-04-24', 60, 'Africa/Cairo', '2026-04-23T22:00:00.000Z'],
    ['2026-03-08', 150, 'America/Los_Angeles', '2026-03-08T10:00:00.000Z'],
    ['2026-10-04', 120, 'Australia/Lord_Howe', '2026-10-03T15:30:00.000Z'],
  ] as const)
    assert.equal(momentOfWall(date, minute, zone).toISOString(), moment, `${date} ${minute} ${zone}`)
})
