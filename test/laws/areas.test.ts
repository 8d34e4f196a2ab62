// SPDX-License-Identifier: Apache-2.0
// What areas declare is what the program is made of: settings are joined, names are their own, and nothing is said twice.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { areas } from '../../src/areas.ts'
import { describeEnvExample, settings } from '../../src/config.ts'
import { sourceFiles } from './sources.ts'

test('every folder of areas is an area of its name', () => {
  assert.deepEqual(
    areas.map(({ name }) => name).sort(),
    readdirSync('src/areas').sort(),
    'list the area in src/areas.ts',
  )
})

test('the settings of an area are joined into config.ts, and .env.example has them', () => {
  const known: Readonly<Record<string, unknown>> = settings
  const missing = areas.flatMap(({ name, settings: own = {} }) =>
    Object.entries(own)
      .filter(([setting, declared]) => known[setting] !== declared)
      .map(([setting]) => `${name}: ${setting}`),
  )
  assert.deepEqual(missing, [], 'join the area’s settings.ts in src/config.ts')
  assert.equal(
    readFileSync('.env.example', 'utf8'),
    describeEnvExample(),
    'CONTRIBUTING.md says how it is written anew',
  )
})

test('topics begin with the name of their area, and what areas listen on and simulate has one name each', () => {
  for (const { name, topics = [] } of areas)
    for (const topic of topics) assert.ok(topic === name || topic.startsWith(`${name}-`), `${name}: ${topic}`)
  const names = areas
    .flatMap(({ listeners = [], simulators = [] }) => [...listeners, ...simulators])
    .map((one) => one.name)
  assert.deepEqual(
    names.filter((name, i) => names.indexOf(name) !== i),
    [],
  )
})

test('the operations of an area stand in a chapter that an area declares', () => {
  const chapters = new Set(areas.flatMap((area) => Object.keys(area.chapters ?? {})))
  const strays = areas
    .flatMap((area) => area.routes)
    .map(({ operation }) => operation)
    .filter((operation) => !chapters.has(operation.split('.')[0] ?? ''))
  assert.deepEqual(strays, [], 'declare the chapter in the area.ts of its area')
})

test('the platform and the ledger ask for no area by name', () => {
  const channels = areas.map(({ name }) => name).filter((name) => !platformRooms.has(name))
  const asked = new RegExp(
    `'(?:${channels.join('|')})[.:]|\\b(?:area|limit|name|topic) [=!]== '(?:${channels.join('|')})'`,
  )
  const broken = sourceFiles(['src/platform', 'src/ledger'])
    .filter((file) => !file.endsWith('.test.ts'))
    .filter((file) => asked.test(readFileSync(file, 'utf8').replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*/g, '')))
  assert.deepEqual(broken, [], 'let the area declare it')
})

/** Areas whose words are the platform's own too. */
const platformRooms = new Set(['accounts', 'events', 'operator', 'sandbox', 'wallet'])
