// SPDX-License-Identifier: Apache-2.0
// The committed client is the one that the API makes, and the console calls the API through it only.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { sourceFiles } from './sources.ts'

test('the committed functions and shapes of sdk/ are those of openapi.json', async () => {
  const { sdkOf } = await import(new URL('../../../tools/sdk.mjs', import.meta.url).href)
  const made: Record<string, string> = sdkOf(JSON.parse(readFileSync('openapi.json', 'utf8')))
  for (const [name, text] of Object.entries(made))
    assert.ok(readFileSync(`sdk/${name}`, 'utf8') === text, `sdk/${name} is out of date; run: node tools/sdk.mjs`)
})

test('the console names no path of the API itself', () => {
  const named = sourceFiles(['console'])
    .flatMap((file) =>
      readFileSync(file, 'utf8')
        .split('\n')
        .map((line) => `${file}: ${line.trim()}`),
    )
    .filter((line) => /['"`]\/v1\/\w/.test(line))
  assert.deepEqual(named, [])
})
