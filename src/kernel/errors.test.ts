// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AppError, type ErrorCode, errors } from './errors.ts'

const catalogue = Object.entries(errors)

test('every message says what to do, in a sentence or two', () => {
  const whatToDo =
    /\b(add|ask|begin|buy|change|check|choose|close|create|delete|give|include|install|open|raise|read|remove|repeat|request|see|send|set|start|top up|try|upload|use|verify|wait|write)\b/i
  for (const [code, [, message]] of catalogue) {
    assert.match(
      message,
      whatToDo,
      `${code} does not say what to do, or says it with a verb that this test does not know`,
    )
    assert.match(message, /^[A-Z].*\.$/, code)
    assert.ok(message.length <= 140, `${code}: ${message.length} characters`)
  }
})

test('no message says anything of the inside', () => {
  for (const [code, [, message]] of catalogue)
    assert.doesNotMatch(message, /sql|postgres|database|stack|null|undefined|node/i, code)
})

test('the status of a code is one that HTTP clients understand', () => {
  for (const [code, [status]] of catalogue)
    assert.ok([400, 401, 402, 403, 404, 405, 409, 410, 413, 415, 416, 422, 429, 500, 503].includes(status), code)
  assert.equal(new Set(catalogue.map(([, [, message]]) => message)).size, catalogue.length, 'no two codes say the same')
})

test('an error carries its code, its details and its cause', () => {
  const cause = new Error('inside')
  const code: ErrorCode = 'CONFLICT'
  const error = new AppError(code, 'the key is revoked', { cause, extra: { current_status: 'revoked' } })
  assert.equal(error.status, 409)
  assert.equal(error.message, 'CONFLICT: the key is revoked')
  assert.equal(error.cause, cause)
  assert.deepEqual(error.extras.extra, { current_status: 'revoked' })
  assert.equal(new AppError('NOT_FOUND').message, 'NOT_FOUND')
  assert.ok(!('cause' in new AppError('NOT_FOUND')))
})
