// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type SpeechProgram, speechProgram } from '../../../../test/speech-program.ts'
import { ProgramEngine } from './program-engine.ts'
import { Speaker } from './speak.ts'

let engine: SpeechProgram
before(async () => {
  engine = await speechProgram()
})
after(() => engine.remove())

async function given(text: string): Promise<string> {
  const before = await engine.said()
  await new Speaker([new ProgramEngine(engine.path)]).speak({ text, language: 'en-US' })
  return (await engine.said()).slice(before.length).trimEnd()
}

for (const [text, expected] of [
  ['Plain <audio src="/etc/passwd"/>', 'Plain <audio src="/etc/passwd"/>'],
  ['<speak>a <audio src="/etc/passwd">b</audio> c</speak>', '<speak>a b c</speak>'],
  [`<speak>a <AUDIO src='/x";date;"'/> c</speak>`, '<speak>a  c</speak>'],
  ['<speak xml:base="/etc/" xml:lang="../../x">a</speak>', '<speak>a</speak>'],
  ['<speak><voice name="/tmp/x">a</voice></speak>', '<speak>a</speak>'],
  [
    '<speak xml:lang="en-US">a<break time="1s"/><prosody rate="slow" src="x">b</prosody></speak>',
    '<speak xml:lang="en-US">a<break time="1s"/><prosody rate="slow">b</prosody></speak>',
  ],
  ['<speak>x<break time="1400s"/>1</speak>', '<speak>x<break time="10000ms"/>1</speak>'],
  ["<speak>x<break time='99999ms'/>1</speak>", '<speak>x<break time="10000ms"/>1</speak>'],
  ['<speak>x<break time="1e9s"/>1</speak>', '<speak>x<break/>1</speak>'],
] as const)
  test(`of ${text} the engine is given what it may obey`, async () => assert.equal(await given(text), expected))

test('a text that takes longer than five minutes is refused, and its engine stopped', async (t) => {
  const endless = await speechProgram({ says: '/dev/zero' })
  t.after(() => endless.remove())
  await assert.rejects(new Speaker([new ProgramEngine(endless.path)]).speak({ text: 'x', language: 'en-US' }), {
    code: 'VALIDATION_ERROR',
  })
})

test('accounts take turns at the engine, a text is said once for all who wait for it, and queues are bounded', async () => {
  const speaker = new Speaker([new ProgramEngine(engine.path)])
  await speaker.speak({ text: 'first', language: 'en-US' })
  const before = (await engine.said()).length
  const say = (text: string, account: string) => speaker.speak({ text, language: 'en-US', account })
  const all = Array.from({ length: 20 }, (_, i) => say(`of one ${i}`, 'one'))
  all.push(say('of two', 'two'), say('of two', 'two'))
  await Promise.all(all)
  const said = (await engine.said()).slice(before).trimEnd().split('\n')
  assert.equal(said.length, 21)
  assert.ok(said.indexOf('of two') < 10, `the other account came at ${said.indexOf('of two')}`)
  const many = await Promise.allSettled(Array.from({ length: 101 }, (_, i) => say(`many ${i}`, 'one')))
  const refused = many.filter(({ status }) => status === 'rejected')
  assert.equal(refused.length, 1)
})
