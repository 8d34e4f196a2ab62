// SPDX-License-Identifier: Apache-2.0
// The SDKs have every operation of the API, the one for browsers is small, and the console calls the API through it only.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { sourceFiles } from './sources.ts'

const maxBytes = 15 * 1024

test('every operation but aliases is in the table of the client, or in that of operators', async () => {
  const document = JSON.parse(readFileSync('openapi.json', 'utf8'))
  const [{ areas }, { operatorAreas }] = await Promise.all([
    import('../../sdk/typescript/src/table.ts'),
    import('../../sdk/typescript/src/operator-table.ts'),
  ])
  const listed = Object.entries({ ...areas, ...operatorAreas }).flatMap(([area, rows]) =>
    Object.keys(rows).map((name) => `${area}.${name}`),
  )
  const declared = Object.values<Record<string, { operationId: string; 'x-alias-of'?: string }>>(document.paths)
    .flatMap((methods) => Object.values(methods))
    .filter((operation) => operation['x-alias-of'] === undefined)
    .map(({ operationId }) => operationId)
  assert.deepEqual(listed.sort(), declared.sort())
})

test('the packages have the version of the API', () => {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8'))
  const [, python] = /^version = "(.+)"$/m.exec(readFileSync('sdk/python/pyproject.toml', 'utf8')) ?? []
  const others = ['sdk/typescript/package.json', 'sdk/php/composer.json'].map(
    (file) => JSON.parse(readFileSync(file, 'utf8')).version,
  )
  assert.deepEqual([python, ...others], [version, version, version])
})

test('the whole client takes at most 15 kB, packed', async () => {
  const { outputFiles } = await build({
    entryPoints: ['sdk/typescript/src/pamoja.ts'],
    bundle: true,
    minify: true,
    write: false,
    format: 'esm',
    platform: 'browser',
  })
  const bytes = gzipSync(outputFiles[0]?.contents ?? assert.fail()).length
  assert.ok(bytes <= maxBytes, `${bytes} bytes`)
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

test('pages of records in the console are named by prefixes of ids, and every kind that the search finds has one', () => {
  const known = [...readFileSync('src/kernel/ids.ts', 'utf8').matchAll(/^ {2}(\w+): '(\w+)',$/gm)]
  const prefixOf = new Map(known.map(([, kind = '', prefix = '']) => [kind, prefix]))
  const records = sourceFiles(['console/src/areas'])
    .filter((file) => file.endsWith('/area.ts'))
    .flatMap((file) => /records: \{([^}]*)\}/.exec(readFileSync(file, 'utf8'))?.[1]?.match(/\w+(?=: )/g) ?? [])
  const prefixes = new Set(prefixOf.values())
  assert.deepEqual(
    records.filter((prefix) => !prefixes.has(prefix)),
    [],
  )
  const found = sourceFiles(['src/areas', 'src/platform'])
    .map((file) => readFileSync(file, 'utf8'))
    .flatMap((source) =>
      [...source.matchAll(/\b(?:finder|history)\(\{[\s\S]*?prefix: '(\w+)'/g)].map(([, kind = '']) => kind),
    )
  assert.ok(found.length > 8)
  // A delivery stands on the page of its endpoint, and a note on that of its customer.
  const elsewhere = ['delivery', 'customerNote']
  const without = found.filter((kind) => !elsewhere.includes(kind) && !records.includes(prefixOf.get(kind) ?? ''))
  assert.deepEqual(without, [])
})
