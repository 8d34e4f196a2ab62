// SPDX-License-Identifier: Apache-2.0
// The first tier of the tests, which `npm test` runs, leaves no route and no error without a test.
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { areas } from '../../src/areas.ts'
import { errors } from '../../src/kernel/errors.ts'

interface Tiers {
  secondTier: Readonly<Record<string, string>>
  codesOfSecondTier: Readonly<Record<string, string>>
}

/** What the tools of the checkout say; they are no part of the program. */
const { secondTier, codesOfSecondTier }: Tiers = await import(pathToFileURL('tools/test-tiers.mjs').href)
const { testFiles }: { testFiles(chosen: string[], options?: { isAll: boolean }): string[] } = await import(
  pathToFileURL('tools/test-files.mjs').href
)

const first = testFiles([]).map((file) => ({ file, text: readFileSync(file, 'utf8') }))

test('every file of the second tier exists and says why it is there', () => {
  const missing = Object.keys(secondTier).filter((file) => !existsSync(file))
  assert.deepEqual(missing, [], 'remove them from tools/test-tiers.mjs')
  assert.equal(first.length + Object.keys(secondTier).length, testFiles([], { isAll: true }).length)
})

test('of the programs of others and of what kills nodes, one file is in the first tier', () => {
  const costly = first.filter(({ file }) => /^test\/(interop|faults|operations)\//.test(file)).map(({ file }) => file)
  assert.deepEqual(costly, ['test/faults/payments.test.ts'], 'list a new one in tools/test-tiers.mjs')
})

test('every error code is named by a test of the first tier, or the list says why it cannot', () => {
  const isNamed = (code: string) => first.some(({ text }) => new RegExp(`\\b${code}\\b`).test(text))
  const unnamed = Object.keys(errors).filter((code) => !isNamed(code) && !(code in codesOfSecondTier))
  assert.deepEqual(unnamed, [], 'see tools/test-tiers.mjs')
})

test('every operation is called by the walk over all routes, and every area has a journey in the first tier', () => {
  const walk = first.find(({ file }) => file === 'test/laws/routes.test.ts')
  assert.match(walk?.text ?? '', /every route refuses a request without a key/)
  for (const { name, routes } of areas.filter((area) => area.routes.length > 0)) {
    const paths = new Set(routes.map(({ path }) => path.replace(/\/:.*/, '')))
    const journeys = first.filter(
      ({ file, text }) => /journeys/.test(file) && [...paths].some((path) => text.includes(path)),
    )
    assert.ok(journeys.length > 0, `${name} has no journey in the first tier`)
  }
})
