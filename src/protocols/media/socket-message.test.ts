// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readSocketCommand } from './socket-message.ts'

const notJson = { problem: 'a text must be a JSON object; audio is sent as binary messages' }
const unknown = { problem: 'action must be one of clear, notify' }

test('texts of a program are read, and what means nothing is said', () => {
  const table: [string, object][] = [
    ['{"action":"clear"}', { action: 'clear' }],
    ['{"action":"clear","more":1}', { action: 'clear' }],
    ['{"action":"notify","payload":{"said":"hello"}}', { action: 'notify', payload: { said: 'hello' } }],
    ['{"action":"notify"}', { action: 'notify', payload: null }],
    ['{"action":"dance"}', unknown],
    ['{"event":"clear"}', unknown],
    ['{}', unknown],
    ['', notJson],
    ['clear', notJson],
    ['null', notJson],
    ['[{"action":"clear"}]', notJson],
    ['"clear"', notJson],
    ['{"action":', notJson],
    [`{"action":"notify","payload":"${'a'.repeat(8_192)}"}`, { problem: 'a text has at most 8192 characters' }],
  ]
  for (const [text, command] of table) assert.deepEqual(readSocketCommand(text), command, text.slice(0, 60))
})
