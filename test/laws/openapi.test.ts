// SPDX-License-Identifier: Apache-2.0
// The committed openapi.json is the derived one, so that a change of the API is seen in review.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
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
