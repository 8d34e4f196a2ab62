// SPDX-License-Identifier: Apache-2.0
// The committed openapi.json is the derived one, so that a change of the API is seen in review.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { areas } from '../../src/areas.ts'
import { packageVersion } from '../../src/node/version.ts'
import { openapiText } from '../../src/platform/openapi.ts'

test('the committed openapi.json is the derived one', () => {
  const committed = readFileSync('openapi.json', 'utf8').trim()
  assert.equal(
    committed,
    openapiText(areas, packageVersion()).trim(),
    'run: npm start --silent -- openapi > openapi.json',
  )
})

test('every chapter says what is found in it, every operation and parameter what it is for', () => {
  const { tags, paths } = JSON.parse(openapiText(areas, packageVersion()))
  const silent: string[] = []
  for (const { name, description } of tags)
    if (!description) silent.push(`${name}: declare it under chapters in the area.ts of its area`)
  for (const [path, operations] of Object.entries<Record<string, Operation>>(paths))
    for (const [method, { summary, parameters }] of Object.entries(operations)) {
      if (!summary) silent.push(`${method} ${path} has no summary`)
      for (const { name, description, $ref } of parameters)
        if (!description && !$ref) silent.push(`${method} ${path}: ${name} has no description`)
    }
  assert.deepEqual(silent, [])
  assert.deepEqual(
    tags.slice(-2).map(({ name }: { name: string }) => name),
    ['sandbox', 'operator'],
    'what everybody uses stands first',
  )
})

interface Operation {
  summary?: string
  parameters: readonly { name?: string; description?: string; $ref?: string }[]
}
