// SPDX-License-Identifier: Apache-2.0
// `npm run new` writes what something new begins with, and nothing over what is there.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { after, test } from 'node:test'

const copy = mkdtempSync(join(tmpdir(), 'pamoja-new-'))
after(() => rmSync(copy, { recursive: true, force: true }))
for (const file of ['src/areas.ts', 'src/kernel/ids.ts', 'src/areas/sms/events.ts'])
  cpSync(file, join(copy, file), { recursive: true })

const made = (file: string) => readFileSync(join(copy, file), 'utf8')

function run(...words: string[]): { status: number | null; text: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [resolve('tools/new.mjs'), ...words], { cwd: copy })
  return { status, text: `${stdout}${stderr}` }
}

test('an area has its door, routes, table, event and journey, a line in areas.ts and a prefix for its ids', () => {
  const { status, text } = run('area', 'parcels', 'pcl')
  assert.equal(status, 0, text)
  assert.match(made('src/areas.ts'), /from '.\/areas\/operator\/area.ts'\nimport { parcels }/)
  assert.match(made('src/areas.ts'), /\n {2}parcels,\n {2}webhooks,\n/)
  assert.match(made('src/kernel/ids.ts'), /\n {2}parcels: 'pcl',\n/)
  for (const file of ['area', 'routes', 'schema', 'store', 'events'])
    assert.ok(existsSync(join(copy, `src/areas/parcels/${file}.ts`)), file)
  for (const file of ['schema', 'events'])
    assert.doesNotMatch(made(`src/areas/parcels/${file}.ts`), /(Type\.\w+|At)\(\)/, 'every field is described')
  assert.match(text, /new +src\/migrations\/\d{4}-\d\d-\d\d_parcels.sql/)
  assert.match(made('test/journeys/parcels.test.ts'), /assert\.fail\(/)
  assert.match(run('area', 'letters', 'pcl').text, /prefix pcl is taken/)
})

test('a provider and an event begin with a test that fails', () => {
  assert.equal(run('provider', 'orange_money').status, 0)
  assert.match(made('src/protocols/orange-money.test.ts'), /assert\.fail\(/)
  assert.equal(run('event', 'sms.mislaid').status, 0)
  assert.match(made('src/areas/sms/events.ts'), /name: 'sms.mislaid'/)
  assert.match(made('test/journeys/sms-mislaid.test.ts'), /assert\.fail\(/)
  assert.match(run('event', 'sms.mislaid').text, /already/)
})

test('what is none of these is refused with how it is written', () => {
  for (const words of [[], ['thing'], ['area', 'Parcels', 'pcl'], ['area', 'parcels'], ['event', 'fax.sent']]) {
    const { status, text } = run(...words)
    assert.equal(status, 2, text)
    assert.match(text, /Usage|small letters|area parcels par|area\.what_happened/)
  }
})
