// SPDX-License-Identifier: Apache-2.0
// Writes the files with which something new begins, with a test that fails until it is finished, and says what is left:
//   npm run new -- area parcels pcl            an area, its table, a route to make and one to read, an event, a journey
//   npm run new -- provider tigo_pesa          a payment provider: protocol, carrier, simulator and its rows of the conformance suite
//   npm run new -- event sms.mislaid           an event in the area's events.ts and its journey
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { argv, cwd, exit, stdout } from 'node:process'
import { areaFiles } from './new-area.mjs'
import { model, providerFiles, renamer } from './new-provider.mjs'

const kinds = { area, provider, event }
/** Files that were written or changed. */
const touched = new Set()

const [kind = '', name = '', prefix = ''] = argv.slice(2)
const make = Object.hasOwn(kinds, kind) ? kinds[kind] : null
if (!make) fail('Usage: npm run new -- area <name> <prefix of ids> | provider <name> | event <area.what_happened>')
else {
  make(name, prefix)
  format([...touched])
}

function area(name, prefix) {
  if (!/^[a-z]{3,20}$/.test(name)) fail(`An area has 3 to 20 small letters, not "${name}".`)
  if (!/^[a-z]{2,5}$/.test(prefix)) fail('Say the prefix of its ids too, 2 to 5 small letters: area parcels pcl.')
  if (read('src/kernel/ids.ts').includes(`'${prefix}'`)) fail(`The prefix ${prefix} is taken: see src/kernel/ids.ts.`)
  const day = new Date().toISOString().slice(0, 10)
  write(areaFiles(name, prefix, day))
  change('src/areas.ts', (text) =>
    inOrder(
      text,
      /^import \{ \w+ \} from '\.\/areas\/\w+\/area\.ts'$/gm,
      `import { ${name} } from './areas/${name}/area.ts'`,
    )
      // Before what everybody uses and those that come last; an area that only declared events is there already.
      .replace(new RegExp(`(?<!\\n  ${name},\\n[^]*)\\n  webhooks,\\n`), `\n  ${name},\n  webhooks,\n`),
  )
  change('src/kernel/ids.ts', (text) => inOrder(text, /^ {2}\w+: '\w+',$/gm, `  ${name}: '${prefix}',`))
  left([
    `rename "thing" in src/areas/${name} and its migration to the noun of the area; add fields, routes and verbs`,
    'errors of its own: a line each in src/kernel/errors.ts',
    `settings: src/areas/${name}/settings.ts, joined in src/config.ts; then .env.example`,
    'a simulator: src/simulators, src/simulation, one line in src/simulation/simulation.ts, `simulators` in its area.ts',
    'npm run openapi',
    `finish test/journeys/${name}.test.ts; docs/${name}.md; CHANGELOG.md`,
  ])
}

function provider(name) {
  if (!/^[a-z][a-z0-9_]{2,30}$/.test(name)) fail(`A provider is called in small letters and _, not "${name}".`)
  if (read('test/conformance/every-provider.ts').includes(`  ${name}: `)) fail(`There is a provider ${name} already.`)
  const file = name.replaceAll('_', '-')
  const renamed = renamer(name)
  write(providerFiles(name, read))
  const after = (like) => (text) => text.replace(like, (line) => `${line}${renamed(line)}`)
  change('src/areas/payments/carriers/kinds.ts', after(new RegExp(`^import \\{ ${model} \\}.*\\n`, 'm')))
  change('src/areas/payments/carriers/kinds.ts', after(new RegExp(`^  ${model},\\n`, 'm')))
  change('test/conformance/every-provider.ts', after(new RegExp(`^import \\{ ${model}Rows \\}.*\\n`, 'm')))
  change('test/conformance/every-provider.ts', after(new RegExp(`^  ${model}: ${model}Rows,\\n`, 'm')))
  change('src/simulation/payments.ts', after(/^import \{ EcocashSimulator \}.*\n/m))
  change('src/simulation/payments.ts', after(new RegExp(`^  ${model}: \\['${model}', ${model}\\],\\n`, 'm')))
  change('src/simulation/payments.ts', after(new RegExp(`^async function ${model}\\([\\s\\S]*?\\n\\}\\n\\n`, 'm')))
  left([
    'what was written is EcoCash under another name: another provider may be nearer. MoMo if your id is its id and it calls back, Daraja if it makes its own, Wave if payers go to a page, Orange Money if it gives words that it wants to hear again',
    `src/protocols/${file}.ts: its paths, bodies and answers; pin examples of its documentation in the test`,
    `src/areas/payments/carriers/${file}-facts.ts: its name, picture, countries and where payers confirm`,
    `src/areas/payments/carriers/${file}.ts: its settings and its answers as verdicts; src/simulators/${file}.ts: the other side`,
    `test/conformance/rows/${file}.ts: what its answers mean; a row fails until you replace them`,
    'its row in test/journeys/payments.test.ts, or in wallet-pages.test.ts; its settings in docs/providers.md, its sandbox numbers in docs/payments.md',
    'npm run openapi',
  ])
}

function event(name) {
  const [, area = '', what = ''] = /^([a-z]+)\.([a-z_]+)$/.exec(name) ?? []
  const file = `src/areas/${area}/events.ts`
  if (!existsSync(join(cwd(), file)))
    fail(`An event is called area.what_happened, and its area has an events.ts: not "${name}".`)
  if (read(file).includes(`'${name}'`)) fail(`${name} is in ${file} already.`)
  const journey = `${area}-${what.replaceAll('_', '-')}`
  write({
    [`test/journeys/${journey}.test.ts`]: failingTest(
      `Event ${name}: emitted when it happens, and not otherwise.`,
      `${name} is emitted when it happens`,
      'bring it about as a customer would, and read it under /v1/events',
    ),
  })
  change(
    file,
    (text) => `${text}
export const ${camel(what)} = eventType({
  name: '${name}',
  summary: 'Event ${name}: a sentence that states the change',
  payload: Type.Object({ id: Type.String({ description: 'Id of the resource that changed' }) }, { title: '${capital(camel(name.replace('.', '_')))}Event' }),
  sample: { id: 'id of a resource' },
})
`,
  )
  left([
    `list it under \`events\` in src/areas/${area}/area.ts`,
    'emit it in the transaction that makes it true: app.outbox.emit(tx, …), or prepare and begin around a group commit',
    'npm run openapi',
    `finish test/journeys/${journey}.test.ts`,
  ])
}

function failingTest(about, name, advice) {
  return `// SPDX-License-Identifier: Apache-2.0
// ${about}
import assert from 'node:assert/strict'
import { test } from 'node:test'

test('${name}', () => {
  assert.fail('${advice}')
})
`
}

/** Writes files that are not there yet; one that is stays as it is. */
function write(files) {
  for (const [file, text] of Object.entries(files)) {
    const path = join(cwd(), file)
    if (existsSync(path)) {
      stdout.write(`  stays  ${file}\n`)
      continue
    }
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
    touched.add(file)
    stdout.write(`  new    ${file}\n`)
  }
}

/** Formats files and sorts their imports, in a checkout: a line among its like is not yet in the order of the alphabet. */
function format(files) {
  const biome = join(cwd(), 'node_modules/.bin/biome')
  if (!existsSync(biome)) return
  const known = files.filter((file) => !file.endsWith('.sql'))
  const { status, stderr } = spawnSync(biome, ['check', '--write', '--log-level=error', ...known], { encoding: 'utf8' })
  if (status !== 0) fail(`${stderr}The files are written, and not formatted: npm run format says why.`)
}

function change(file, edit) {
  const text = read(file)
  const edited = edit(text)
  if (edited === text) return
  writeFileSync(join(cwd(), file), edited)
  touched.add(file)
  stdout.write(`  line   ${file}\n`)
}

function read(file) {
  return readFileSync(join(cwd(), file), 'utf8')
}

/** Puts a line among its like, by the alphabet; once. */
function inOrder(text, like, line) {
  const lines = [...text.matchAll(like)]
  if (lines.some(([one]) => one === line)) return text
  const after = lines.findLast(([one]) => one < line)
  const at = after ? after.index + after[0].length + 1 : lines[0].index
  return `${text.slice(0, at)}${line}\n${text.slice(at)}`
}

function camel(name) {
  return name.replaceAll(/_(\w)/g, (_, letter) => letter.toUpperCase())
}

function capital(name) {
  return name.charAt(0).toUpperCase() + name.slice(1)
}

function left(steps) {
  stdout.write(`\nWhat is left:\n${steps.map((step) => `  - ${step}`).join('\n')}\n`)
}

function fail(sentence) {
  process.stderr.write(`${sentence}\n`)
  exit(2)
}
