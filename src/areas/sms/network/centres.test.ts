// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sharedCentres } from './centres.ts'

const at = (name: string, settings: object = {}) => ({
  name,
  kind: 'smpp',
  settings: { host: 'smsc.example', port: 2775, system_id: 'pamoja', ...settings },
})

test('binds share a centre that they reach at one address under one name, or that they call the same', () => {
  const shared = sharedCentres([
    at('a'),
    at('b', { host: 'SMSC.example', centre: null }),
    at('c', { port: 2776 }),
    at('d', { system_id: 'other' }),
    at('e', { host: 'one.example', centre: 'north' }),
    at('f', { host: 'two.example', system_id: 'other', centre: 'north' }),
    at('g', { centre: 'south' }),
    { name: 'h', kind: 'http', settings: {} },
    { name: 'i', kind: 'http', settings: {} },
  ])
  assert.deepEqual(Object.fromEntries(shared), { a: ['a', 'b'], b: ['b', 'a'], e: ['e', 'f'], f: ['f', 'e'] })
})
