// SPDX-License-Identifier: Apache-2.0
// `npm run new` writes what something new begins with, and nothing over what is there.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { after, test } from 'node:test'
import { riddlesIn } from './laws/riddles.ts'

const copy = mkdtempSync(join(tmpdir(), 'pamoja-new-'))
after(() => rmSync(copy, { recursive: true, force: true }))
const needed = [
  ...['src/areas.ts', 'src/kernel/ids.ts', 'src/areas/sms/events.ts', 'src/simulation/payments.ts'],
  ...['src/areas/payments/carriers/kinds.ts', 'test/conformance/every-provider.ts'],
  ...['src/protocols/ecocash.ts', 'src/protocols/ecocash.test.ts', 'src/simulators/ecocash.ts'],
  ...['src/areas/payments/carriers/ecocash.ts', 'src/areas/payments/carriers/ecocash-facts.ts'],
  ...['test/conformance/rows/ecocash.ts', 'biome.json', '.gitignore'],
]
for (const file of needed) cpSync(file, join(copy, file), { recursive: true })
symlinkSync(resolve('node_modules'), join(copy, 'node_modules'))

const made = (file: string) => readFileSync(join(copy, file), 'utf8')

function run(...words: string[]): { status: number | null; text: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [resolve('tools/new.mjs'), ...words], { cwd: copy })
  return { status, text: `${stdout}${stderr}` }
}

test('an area has its door, routes, table, event and journey, a line in areas.ts and a prefix for its ids', () => {
  const { status, text } = run('area', 'crates', 'crt')
  assert.equal(status, 0, text)
  assert.match(made('src/areas.ts'), /from '.\/areas\/console\/area.ts'\nimport { crates }/)
  assert.match(made('src/areas.ts'), /\n {2}crates,\n {2}webhooks,\n/)
  assert.match(made('src/kernel/ids.ts'), /\n {2}crates: 'crt',\n/)
  for (const file of ['area', 'routes', 'schema', 'store', 'events'])
    assert.ok(existsSync(join(copy, `src/areas/crates/${file}.ts`)), file)
  for (const file of ['area', 'routes', 'schema', 'events'])
    assert.deepEqual(riddlesIn(made(`src/areas/crates/${file}.ts`)), [], `${file} names what it means`)
  for (const file of ['schema', 'events'])
    assert.doesNotMatch(made(`src/areas/crates/${file}.ts`), /(Type\.\w+|At)\(\)/, 'every field is described')
  assert.match(text, /new +src\/migrations\/\d{4}-\d\d-\d\d_crates.sql/)
  assert.match(made('test/journeys/crates.test.ts'), /assert\.fail\(/)
  assert.match(run('area', 'letters', 'crt').text, /prefix crt is taken/)
})

test('a provider has its six files and every line, and fails in the protocol’s test and in one row until it is finished', () => {
  const { status, text } = run('provider', 'juba_pay')
  assert.equal(status, 0, text)
  const files = [
    ...['src/protocols/juba-pay.ts', 'src/protocols/juba-pay.test.ts', 'src/simulators/juba-pay.ts'],
    ...['src/areas/payments/carriers/juba-pay.ts', 'src/areas/payments/carriers/juba-pay-facts.ts'],
    'test/conformance/rows/juba-pay.ts',
  ]
  for (const file of files)
    assert.doesNotMatch(made(file).replaceAll(/(are|of) EcoCash/g, ''), /ecocash/i, `${file} is of the new provider`)
  assert.match(made('src/protocols/juba-pay.test.ts'), /assert\.fail\(/)
  assert.match(made('test/conformance/rows/juba-pay.ts'), /these rows are still those of EcoCash.*kind: 'accepted'/)
  assert.match(made('src/areas/payments/carriers/juba-pay.ts'), /export const jubaPay: ProviderKind/)
  assert.match(made('src/areas/payments/carriers/kinds.ts'), /from '.\/juba-pay.ts'\n[\s\S]*\n {2}jubaPay,\n/)
  assert.match(made('test/conformance/every-provider.ts'), /\n {2}juba_pay: jubaPayRows,\n/)
  assert.match(
    made('src/simulation/payments.ts'),
    /\n {2}juba_pay: \['juba-pay', jubaPay\],\n[\s\S]*async function jubaPay\(/,
  )
  assert.match(run('provider', 'juba_pay').text, /already/)
})

test('an event begins with a test that fails', () => {
  assert.equal(run('event', 'sms.misread').status, 0)
  assert.match(made('src/areas/sms/events.ts'), /name: 'sms.misread'/)
  assert.deepEqual(riddlesIn(made('src/areas/sms/events.ts')), [])
  assert.match(made('test/journeys/sms-misread.test.ts'), /assert\.fail\(/)
  assert.match(run('event', 'sms.misread').text, /already/)
})

test('the commands of CONTRIBUTING.md work, and the tool shows the same', () => {
  const commandsOf = (file: string) => [
    ...new Set(
      [...readFileSync(file, 'utf8').matchAll(/npm run new -- (area \w+ \w+|provider \w+|event [\w.]+)/g)].map(
        ([, words = '']) => words,
      ),
    ),
  ]
  const shown = commandsOf('CONTRIBUTING.md')
  assert.deepEqual([...shown].sort(), commandsOf('tools/new.mjs').sort())
  assert.equal(shown.length, 3)
  for (const words of shown) {
    const { status, text } = run(...words.split(' '))
    assert.equal(status, 0, `${words}: ${text}`)
  }
})

test('what was written is formatted, with its imports in order', () => {
  const { status, stdout, stderr } = spawnSync('node_modules/.bin/biome', ['check', 'src', 'test'], { cwd: copy })
  assert.equal(status, 0, `${stdout}${stderr}`)
})

test('what is none of these is refused with how it is written', () => {
  for (const words of [[], ['thing'], ['area', 'Parcels', 'pcl'], ['area', 'parcels'], ['event', 'fax.sent']]) {
    const { status, text } = run(...words)
    assert.equal(status, 2, text)
    assert.match(text, /Usage|small letters|area parcels pcl|area\.what_happened/)
  }
})
