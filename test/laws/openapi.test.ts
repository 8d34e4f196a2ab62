// SPDX-License-Identifier: Apache-2.0
// The committed openapi.json is the derived one, so that a change of the API is seen in review; events are whole.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { Value } from 'typebox/value'
import { areas } from '../../src/areas.ts'
import { openapiText } from '../../src/platform/openapi.ts'
import { packageVersion } from '../../src/version.ts'

test('the committed openapi.json is the derived one', () => {
  const committed = readFileSync('openapi.json', 'utf8').trim()
  assert.equal(
    committed,
    openapiText(areas, packageVersion()).trim(),
    'run: npm start --silent -- openapi > openapi.json',
  )
})

test('every event has a summary and a sample that fits its schema', () => {
  const events = areas.flatMap((area) => area.events ?? [])
  assert.ok(events.length > 0)
  for (const { name, summary, payload, sample } of events) {
    assert.match(name, /^[a-z]+\.[a-z_]+$/)
    assert.ok(summary.length > 10)
    assert.ok(Value.Check(payload, sample), `${name}: the sample does not fit`)
  }
  assert.equal(new Set(events.map(({ name }) => name)).size, events.length)
})
