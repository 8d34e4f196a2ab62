// SPDX-License-Identifier: Apache-2.0
// Subscription words, tested on the real catalogue. The list of names is written out: a public name must never
// disappear.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Type } from 'typebox'
import { Compile } from 'typebox/schema'
import { areas } from '../../areas.ts'
import { eventType } from '../events.ts'
import { catalogueOf } from './catalogue.ts'

const names = `
  sms.status sms.delivered sms.failed sms.sent sms.received sms.opted_out sms.opted_in sms.batch_completed
  email.sent email.delivered email.opened email.clicked email.bounced email.complained email.spam email.unsubscribed email.deferred
  email.suppressed email.failed email.cancelled email.bulk_completed email.domain_verified email.domain_failed
  messenger.message messenger.status messenger.template_status
  ussd.response ussd.session_ended ussd.session_started
  call.initiated call.answered call.completed call.started call.ringing call.failed call.rejected call.busy call.timeout
  call.queued call.abandoned call.transferred call.input
  agent.status_changed agent.logged_in agent.logged_out
  recording.ready recording.transcribed recording.deleted recording.failed
  conference.started conference.ended conference.participant_joined conference.participant_left
  queue.sla_breached monitor.started monitor.ended voicemail.received
  payment.created payment.completed payment.failed payment.refunded payment.requires_action refund.failed payment_link.paid
  payment.disputed payment.dispute_closed
  payout.completed payout.failed payout.reversed payout.batch_completed
  invoice.payment_succeeded invoice.opened invoice.sent invoice.payment_failed invoice.overdue invoice.voided invoice.refunded
  subscription.cancelled subscription.created subscription.renewed subscription.past_due subscription.trial_ending
  wallet.low_balance wallet.topup_completed wallet.auto_recharge_failed fraud.review_required
  identity.created identity.verified identity.rejected identity.pending identity.expired
  identity.session.opened identity.session.submitted identity.session.completed identity.session.expired
  customer.created customer.updated customer.merged customer.erased customer.import_finished
  conversation.opened conversation.assigned conversation.closed conversation.message
  campaign.approval_requested campaign.started campaign.paused campaign.completed
  identity.otp_sent identity.otp_verified identity.otp_failed
  webhook.test webhook.disabled apikey.rotation_due apikey.revoked`
  .trim()
  .split(/\s+/)

const catalogue = catalogueOf(areas)

describe('a subscription', () => {
  it('may name every event of the catalogue', () => {
    for (const name of names) assert.deepEqual(catalogue.resolve([name]), { kind: 'accepted', events: [name] })
    assert.deepEqual(catalogue.events.map(({ name }) => name).toSorted(), names.toSorted())
  })

  const accepted: [string, string[], string[]][] = [
    ['to everything absorbs the rest', ['sms.sent', '*', 'payment.*'], ['*']],
    ['to an area stays one word', ['sms.*'], ['sms.*']],
    ['may mix areas and names', ['sms.delivered', 'payment.*'], ['sms.delivered', 'payment.*']],
    ['says each name once', ['sms.sent', 'sms.sent'], ['sms.sent']],
    ['knows email steps by their bare words', ['delivered', 'opened'], ['email.delivered', 'email.opened']],
    ['knows spam and a complaint by their bare words', ['spam', 'complained'], ['email.spam', 'email.complained']],
    ['knows inbound messenger messages', ['messenger.inbound'], ['messenger.message']],
    [
      'knows every verdict on an identity by one word',
      ['identity.completed', 'identity.verified'],
      ['identity.verified', 'identity.rejected', 'identity.expired'],
    ],
  ]
  for (const [title, words, events] of accepted)
    it(title, () => assert.deepEqual(catalogue.resolve(words), { kind: 'accepted', events }))

  const refused: [string, string[], string[]][] = [
    ['to nothing is refused', [], []],
    ['to what is no event is refused, with all that are none', ['sms.sent', 'sms.queued', 'x'], ['sms.queued', 'x']],
    ['to what is no event is refused beside everything too', ['*', 'sms.sennt'], ['sms.sennt']],
    ['to an area that is none is refused', ['fax.*', '*.*', 'sms*', '.*'], ['fax.*', '*.*', 'sms*', '.*']],
    ['is read letter by letter', ['SMS.sent', ' sms.sent', ''], ['SMS.sent', ' sms.sent', '']],
    ['cannot name what every object has', ['constructor', '__proto__.*'], ['constructor', '__proto__.*']],
  ]
  for (const [title, words, unknown] of refused)
    it(title, () => assert.deepEqual(catalogue.resolve(words), { kind: 'refused', unknown }))

  const matches: [string[], string, boolean][] = [
    [['*'], 'payment.completed', true],
    [['payment.*'], 'payment.completed', true],
    [['payment.completed'], 'payment.completed', true],
    [['payment.failed'], 'payment.completed', false],
    [['payment.*'], 'payout.completed', false],
    [['pay.*'], 'payment.completed', false],
    [['identity.*'], 'identity.otp_sent', true],
    [['*'], 'fax.sent', false],
    [[], 'payment.completed', false],
    [['call.failed', 'call.completed'], 'call.failed', true],
    [['call.failed', 'call.completed'], 'call.completed', true],
  ]
  for (const [subscription, name, taken] of matches)
    it(`to ${subscription.join(', ') || 'nothing'} ${taken ? 'takes' : 'leaves'} ${name}`, () =>
      assert.equal(catalogue.matches(subscription, name), taken))

  it('is told of a change of an SMS once: as sms.status by choice, otherwise by the name of the status', () => {
    const told = (subscription: string[]) =>
      ['sms.status', 'sms.delivered'].filter((name) => catalogue.matches(subscription, name))
    assert.deepEqual(told(['*']), ['sms.status'])
    assert.deepEqual(told(['sms.*']), ['sms.status'])
    assert.deepEqual(told(['sms.delivered', 'sms.status']), ['sms.status'])
    assert.deepEqual(told(['sms.delivered', 'sms.failed']), ['sms.delivered'])
    assert.deepEqual(told(['sms.failed']), [])
  })
})

describe('the catalogue', () => {
  it('shows each event with a schema that needs nothing else, and an example that keeps it', () => {
    const entries = catalogue.entries()
    assert.equal(entries.length, names.length)
    for (const { name, area, summary, schema, example } of entries) {
      assert.equal(area, name.split('.')[0])
      assert.ok(summary.length > 0)
      assert.doesNotMatch(JSON.stringify(schema), /"\$ref"/, name)
      const validator = Compile(schema)
      assert.ok(validator.Check(example), `${name}: ${JSON.stringify(validator.Errors(example))}`)
      assert.ok(!validator.Check({}), name)
    }
  })

  it('finds an event by its name only', () => {
    assert.equal(catalogue.find('email.complained')?.name, 'email.complained')
    assert.equal(catalogue.find('spam'), undefined)
    assert.equal(catalogue.find('*'), undefined)
  })

  it('cannot be made of events that get in each other’s way', () => {
    const payload = Type.Object({})
    const event = (name: string, more: { aliases?: string[]; within?: string } = {}) =>
      eventType({ name, summary: 'Something', payload, sample: {}, ...more })
    const of = (...events: ReturnType<typeof event>[]) => catalogueOf([{ events }])
    assert.throws(() => of(event('a.b'), event('a.b')), /same name/)
    assert.throws(
      () => of(event('a.b', { aliases: ['a.c'] }), event('a.c')),
      /the alias a\.c of a\.b is a name already/,
    )
    assert.throws(() => of(event('a.b', { aliases: ['a.*'] })), /is a name already/)
    assert.throws(() => of(event('a.b', { within: 'a.c' })), /a\.b is within a\.c, which is no event/)
    assert.ok(of(event('a.b', { within: 'a.c' }), event('a.c')))
  })
})
