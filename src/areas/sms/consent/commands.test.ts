// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { commandIn, ownCommandIn } from './commands.ts'

test('STOP, START and HELP are understood in every language, however they are written', () => {
  const stop = 'STOP STOPALL UNSUBSCRIBE CANCEL END QUIT OPTOUT ARRET ARRÊT PARAR SAIR ACHA SITISHA إيقاف توقف ቁም'
  for (const word of stop.split(' '))
    for (const text of [
      word,
      word.toLowerCase(),
      ` ${word}. `,
      `"${word}!"`,
      word.normalize('NFD'),
      `\u200f${word}\u200e`,
    ])
      assert.equal(commandIn(text)?.command, 'stop', text)
  for (const word of ['START', 'unstop', 'Jiunge']) assert.equal(commandIn(word)?.command, 'start')
  for (const word of ['help', 'INFO?', 'Msaada']) assert.equal(commandIn(word)?.command, 'help')
})

test('one word is about every sender, the others about the one that they are written to', () => {
  assert.equal(commandIn('stopall')?.isAboutAll, true)
  for (const word of ['STOP', 'OPTOUT', 'START', 'HELP']) assert.equal(commandIn(word)?.isAboutAll, false)
  assert.match(commandIn('stopall')?.answer('22003') ?? '', /from 22003 or other senders/, 'and says so')
  assert.doesNotMatch(commandIn('stop')?.answer('22003') ?? '', /other senders/)
})

test('a message that only has such a word in it is an ordinary message', () => {
  for (const text of ['please stop', 'STOP IT', 'the end', '', '...', 'constructor', 'Endelea'])
    assert.equal(commandIn(text), null, text)
})

test('the answer is in the language of the word and names the sender', () => {
  assert.match(commandIn('acha')?.answer('DUKA') ?? '', /^Hutapokea tena ujumbe kutoka DUKA/)
  assert.match(commandIn('arrêt')?.answer('DUKA') ?? '', /^Vous ne recevrez plus .*DUKA/)
  assert.match(commandIn('start')?.answer('DUKA') ?? '', /^You will get messages from DUKA again/)
})

test('words of an account’s own are understood as the others are, and only as a whole message', () => {
  const own = { stop: ['Tsaya', 'Dakatar da wannan'], start: ['fara'], help: [] }
  for (const text of ['tsaya', ' TSAYA! ', 'dakatar da wannan.'])
    assert.equal(ownCommandIn(text, own)?.command, 'stop', text)
  assert.deepEqual([ownCommandIn('Fara', own)?.command, ownCommandIn('Fara', own)?.word], ['start', 'FARA'])
  for (const text of ['tsaya yanzu', 'help', '', '!']) assert.equal(ownCommandIn(text, own), null, text)
  assert.equal(ownCommandIn('tsaya', {}), null)
})
