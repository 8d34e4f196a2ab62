// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isQuickPattern } from './quick-pattern.ts'

for (const pattern of ['^\\d+$', '\\d{4}', '07\\d{8}|\\+254\\d{9}', '[A-Z]{2}-?\\d{1,6}', '1|2|3', ''])
  test(`${pattern || 'nothing'} is a pattern that is quick`, () => assert.ok(isQuickPattern(pattern)))

for (const pattern of [
  '(a+)+$',
  '(1|1)(1|1)(1|1)x',
  `${'\\d*'.repeat(25)}x`,
  '\\d+\\d+\\d+x',
  '\\d{1,9}\\d{1,9}\\d{1,9}x',
  '(?=\\d+)\\d',
  '(\\d)\\1',
  '[0-',
  '*',
])
  test(`${pattern} could take for ever, or is none`, () => assert.ok(!isQuickPattern(pattern)))
