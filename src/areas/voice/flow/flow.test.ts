// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type Effect, type FlowInput, type FlowState, newFlow, step } from './flow.ts'

/** Replays inputs; returns all effects. */
function play(inputs: readonly FlowInput[]): { state: FlowState; effects: Effect[] } {
  let state = newFlow
  const effects: Effect[] = []
  for (const input of inputs) {
    const next = step(state, input)
    state = next.state
    effects.push(...next.effects)
  }
  return { state, effects }
}

const begin = (...actions: unknown[]): FlowInput => ({ type: 'begin', actions, isAnswered: true })
const talk = { action: 'talk', text: 'Karibu', language: 'sw-KE' }
const did = (effects: readonly Effect[]) => effects.map((effect) => effect.do)

test('actions follow each other, and the call ends after the last', () => {
  const { effects, state } = play([
    begin(talk, { action: 'wait', timeout: 1 }),
    { type: 'played', id: 1 },
    { type: 'timer', id: 2 },
  ])
  assert.deepEqual(did(effects), ['talk', 'timer', 'hangup'])
  assert.ok(state.isOver)
})

test('a key ends a prompt that may be interrupted, and keys before the input count', () => {
  const menu = begin({ ...talk, bargeIn: true }, { action: 'input', maxDigits: 2, timeOut: 5 })
  const { effects } = play([menu, { type: 'digit', digit: '4' }, { type: 'digit', digit: '2' }])
  assert.deepEqual(did(effects), ['talk', 'stop', 'timer', 'cancel_timer', 'ask'])
  const [asked] = effects.filter((effect) => effect.do === 'ask')
  assert.deepEqual(asked?.body, { dtmf: '42', timed_out: false })
})

test('without an input to follow, bargeIn waits for the prompt', () => {
  assert.deepEqual(did(play([begin({ ...talk, bargeIn: true }), { type: 'digit', digit: '4' }]).effects), ['talk'])
})

test('no keys, # and the last key each end an input', () => {
  const input = { action: 'input', maxDigits: 4, timeOut: 3, submitOnHash: true }
  const ask = (inputs: FlowInput[]) =>
    play([begin(input), ...inputs]).effects.find((effect) => effect.do === 'ask')?.body
  assert.deepEqual(ask([{ type: 'timer', id: 2 }]), { dtmf: '', timed_out: true })
  assert.deepEqual(
    ask([
      { type: 'digit', digit: '7' },
      { type: 'digit', digit: '#' },
    ]),
    { dtmf: '7', timed_out: false },
  )
  assert.equal(ask([{ type: 'timer', id: 99 }]), undefined, 'another timer is nobody’s')
})

test('speech goes with the keys that were asked for too', () => {
  const input = begin({
    action: 'input',
    type: ['dtmf', 'speech'],
    speech: { language: 'en-KE', context: ['balance'] },
  })
  const heard: FlowInput = {
    type: 'speech',
    id: 1,
    results: [{ text: 'balance', confidence: 0.9 }],
    reason: 'end_on_silence_timeout',
  }
  const { effects } = play([input, { type: 'timer', id: 2 }, heard])
  const [asked] = effects.filter((effect) => effect.do === 'ask')
  assert.deepEqual(asked?.body, {
    speech: { results: heard.results, timeout_reason: 'end_on_silence_timeout', language: 'en-KE' },
    dtmf: '',
    timed_out: true,
  })
})

test('a reply that is a list replaces what is left; any other lets it go on', () => {
  const notify = { action: 'notify', payload: { a: 1 }, eventUrl: ['https://example.com/'] }
  const replaced = play([
    begin(notify, talk),
    { type: 'replied', id: 1, actions: [{ action: 'hangup', reason: 'busy' }] },
  ])
  assert.deepEqual(did(replaced.effects), ['ask', 'hangup'])
  assert.deepEqual(did(play([begin(notify, talk), { type: 'replied', id: 1, actions: null }]).effects), ['ask', 'talk'])
})

test('unknown and malformed actions are reported and passed over', () => {
  const { effects } = play([begin({ action: 'dance' }, { action: 'talk' }, 7, null, talk)])
  assert.deepEqual(did(effects), ['error', 'error', 'error', 'error', 'talk'])
})

test('a call that is not answered is answered by the first action that needs it', () => {
  const first = (action: unknown) => did(play([{ type: 'begin', actions: [action], isAnswered: false }]).effects)
  assert.deepEqual(first(talk), ['answer', 'talk'])
  assert.deepEqual(first({ action: 'hangup', reason: 'rejected' }), ['hangup'])
})

test('a recording with an end is waited for, one without is not', () => {
  assert.deepEqual(did(play([begin({ action: 'record' }, talk)]).effects), ['record', 'talk'])
  const held = play([begin({ action: 'record', beepStart: true, endOnKey: '#' }, talk), { type: 'played', id: 1 }])
  assert.deepEqual(did(held.effects), ['beep', 'record'])
  assert.deepEqual(did(step(held.state, { type: 'recorded', id: 2 }).effects), ['talk'])
})

test('any call plays again from what happened to it, and nothing is done after its end', () => {
  const id = fc.nat(8)
  const actions = fc.array(
    fc.constantFrom<unknown>(
      talk,
      { ...talk, bargeIn: true },
      { action: 'input' },
      { action: 'input', type: ['speech'] },
      { action: 'record', endOnKey: '#' },
      { action: 'wait' },
      { action: 'connect', endpoint: [{ type: 'phone', number: '+254711000001' }], eventType: 'synchronous' },
      { action: 'notify', payload: {}, eventUrl: ['https://example.com/'] },
      { action: 'nonsense' },
      { action: 'hangup' },
    ),
    { maxLength: 8 },
  )
  const happened: fc.Arbitrary<FlowInput> = fc.oneof(
    id.map((n) => ({ type: 'played' as const, id: n })),
    id.map((n) => ({ type: 'timer' as const, id: n })),
    fc.constantFrom(...'019#*').map((digit) => ({ type: 'digit' as const, digit })),
    id.map((n) => ({ type: 'speech' as const, id: n, results: [], reason: 'start_timeout' })),
    id.map((n) => ({ type: 'recorded' as const, id: n })),
    fc.tuple(id, fc.option(actions)).map(([n, list]) => ({ type: 'replied' as const, id: n, actions: list })),
    id.map((n) => ({
      type: 'dialled' as const,
      id: n,
      status: 'busy' as const,
      to: null,
      duration: 0,
      reason: 'busy',
    })),
    fc.constant<FlowInput>({ type: 'hangup' }),
  )
  fc.assert(
    fc.property(actions, fc.array(happened, { maxLength: 40 }), (list, inputs) => {
      const log = [begin(...list), ...inputs]
      const first = play(log)
      const again = play(JSON.parse(JSON.stringify(log)))
      assert.deepEqual(again, first)
      const ends = first.effects.filter((effect) => effect.do === 'hangup')
      assert.ok(ends.length <= 1)
      if (ends.length === 1) assert.equal(first.effects.at(-1)?.do, 'hangup')
      const numbers = first.effects.flatMap((effect) =>
        effect.do === 'timer' || effect.do === 'talk' ? [effect.id] : [],
      )
      assert.equal(new Set(numbers).size, numbers.length, 'nothing has the number of something else')
    }),
    { numRuns: 500 },
  )
})
