// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { explain } from './failures.ts'

const rows: readonly (readonly [said: string, sentence: string])[] = [
  [
    'FATAL:  could not write lock file "postmaster.pid": No space left on device',
    'The disk that holds /d is full (could not write lock file "postmaster.pid": No space left on device): free some space and start again.',
  ],
  [
    '2026-11-15 10:00:00 UTC [7] FATAL:  data directory "/d" has invalid permissions',
    '/d is open to other users (data directory "/d" has invalid permissions): run chmod 700 on it.',
  ],
  [
    'LOG:  starting\nFATAL:  unrecognized configuration parameter "nonsense"\n',
    'PostgreSQL refuses one of its settings (unrecognized configuration parameter "nonsense"): correct it.',
  ],
  [
    'PANIC:  could not locate a valid checkpoint record',
    'The database files in /d are damaged (could not locate a valid checkpoint record): restore them from a backup, or move the directory away to start empty.',
  ],
  ['LOG:  hm\nFATAL:  the stars are wrong.\n', 'PostgreSQL in /d did not start (the stars are wrong): read its log.'],
  ['', 'PostgreSQL in /d did not start (it gave no reason): read its log.'],
]

test('whatever PostgreSQL says becomes one sentence that says what to do', () => {
  for (const [said, sentence] of rows) assert.equal(explain(said, '/d').message, sentence)
})

test('what it said last is kept as details', () => {
  const { details } = explain(`${'x\n'.repeat(10_000)}FATAL:  out of luck`, '/d')
  assert.ok(details.length === 8_192 && details.endsWith('out of luck'))
})
