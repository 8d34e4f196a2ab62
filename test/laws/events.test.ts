// SPDX-License-Identifier: Apache-2.0
// Every event has a sentence and a sample, and its body is what the receivers of its kind expect, byte for byte.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Value } from 'typebox/value'
import { smsEvents } from '../../src/areas/sms/events.ts'
import { walletEvents } from '../../src/areas/wallet/events.ts'
import { areas } from '../../src/areas.ts'
import { sampleBody } from '../../src/platform/events/catalogue.ts'

const maxBodyBytes = 64 * 1024

const events = areas.flatMap((area) => area.events ?? [])

/** The members that receivers of a kind were promised; a body may have more. */
const promised: readonly [names: RegExp, members: string][] = [
  [/^sms\.(status|sent|delivered|failed)$/, 'event message_id status to from parts error_code metadata timestamp'],
  [/^email\.(sent|delivered|complained)$/, 'event message_id email timestamp'],
  [/^email\.(opened|unsubscribed)$/, 'event message_id email timestamp user_agent ip'],
  [/^email\.clicked$/, 'event message_id email timestamp url user_agent ip'],
  [/^email\.bounced$/, 'event message_id email timestamp reason'],
  [/^messenger\.(message|status)$/, 'object entry'],
  [/^ussd\.response$/, 'event session_id phone input timestamp data'],
  [/^ussd\.session_ended$/, 'event session_id phone reason duration total_steps timestamp'],
  [/^call\.(started|ringing|failed|rejected|busy|timeout|completed)$/, 'status duration from to'],
  [/^recording\./, 'recording_id call_id duration file_url transcription'],
  [
    /^payment\./,
    'event payment_id status amount currency metadata customer failure_reason payment id created_at livemode',
  ],
  [/^identity\.(created|pending|verified|rejected|expired)$/, 'verification_id status checks_performed results'],
  [/^(?!email\.|messenger\.(message|status))/, 'event timestamp'],
]

describe('an event', () => {
  it('has a name, a sentence without its full stop, and a sample that fits its schema', () => {
    assert.ok(events.length > 0)
    for (const type of events) {
      assert.match(type.name, /^[a-z]+(_[a-z]+)?(\.[a-z_]+){1,2}$/)
      assert.match(type.summary, /^[A-Z].{10,}[^.]$/, type.name)
      assert.ok(Value.Check(type.payload, JSON.parse(sampleBody(type))), `${type.name}: the sample does not fit`)
    }
    assert.equal(new Set(events.map(({ name }) => name)).size, events.length)
  })

  it('has the same bytes when a receiver parses it and writes it again, so that either can be signed', () => {
    for (const type of events) {
      const body = sampleBody(type)
      assert.equal(JSON.stringify(JSON.parse(body)), body)
      assert.ok(Buffer.byteLength(body) < maxBodyBytes, type.name)
    }
  })

  it('keeps its bytes whatever text and money it carries', () => {
    const at = new Date('2026-03-01T09:15:30.001Z')
    const awkward = 'Ujumbe "mrefu" \\ \n\t\u0001\u007f\u2028 ¿é 😀 \ud800 </script>'
    const text = smsEvents.received.body('evt_1', at, { ...smsEvents.received.sample, message: awkward })
    assert.equal(JSON.stringify(JSON.parse(text)), text)
    for (const available of [0n, 1n, -1n, 10n, 100_000n, 7_500n, 1_000_000n, 123_456_789_012_345n, -2_500_000n]) {
      const body = walletEvents.lowBalance.body('evt_1', at, { ...walletEvents.lowBalance.sample, available })
      assert.equal(JSON.stringify(JSON.parse(body)), body)
      assert.equal(JSON.parse(body).available, Number(available) / 1e6)
    }
  })

  it('always tells its id, and every member its receivers were promised', () => {
    for (const type of events) {
      const body = JSON.parse(sampleBody(type))
      assert.match(body.event_id, /^evt_/, type.name)
      for (const [which, members] of promised.filter(([which]) => which.test(type.name)))
        for (const member of members.split(' ')) assert.ok(member in body, `${type.name} has no ${member} (${which})`)
    }
  })

  const heads: [string, object][] = [
    ['sms.status', { event: 'sms.status', timestamp: '2026-03-01T09:15:30.000Z' }],
    ['email.clicked', { event: 'clicked', type: 'email.clicked', timestamp: '2026-03-01T09:15:30.000Z' }],
    ['messenger.status', { event: undefined, timestamp: undefined, type: 'messenger.status' }],
    ['messenger.template_status', { event: 'messenger.template_status', type: undefined }],
    ['payment.completed', { event: 'payment.completed', created_at: '2026-03-01T09:15:30.000Z', amount: 1500 }],
    ['call.busy', { event: 'call.busy', status: 'busy', duration: 0 }],
  ]
  for (const [name, members] of heads)
    it(`named ${name} begins as its receivers know it`, () => {
      const body = JSON.parse(sampleBody(events.find((type) => type.name === name) ?? assert.fail(`no ${name}`)))
      for (const [member, value] of Object.entries(members)) assert.equal(body[member], value, member)
      if ('id' in body) assert.equal(body.id, body.event_id)
    })

  it('of an identity carries nobody’s name, document or picture', () => {
    for (const type of events.filter(({ name }) => name.startsWith('identity.')))
      assert.doesNotMatch(
        JSON.stringify(type.payload),
        /first_name|last_name|"name"|document_number|image|selfie|date_of/,
      )
  })
})
