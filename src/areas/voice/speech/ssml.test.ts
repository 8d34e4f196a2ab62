// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type SpeechProgram, speechProgram } from '../../../../test/speech-program.ts'
import { Speaker } from './speak.ts'

let engine: SpeechProgram
before(async () => {
  engine = await speechProgram()
})
after(() => engine.remove())

async function given(text: string): Promise<string> {
  const before = await engine.said()
  await new Speaker(engine.path).speak({ text, language: 'en-US' })
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
] as const)
  test(`of ${text} the engine is given what it may obey`, async () => assert.equal(await given(text), expected))
