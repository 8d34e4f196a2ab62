// SPDX-License-Identifier: Apache-2.0
// The three SDKs, installed from their packs: the same cases for each, against a server that answers badly and the sandbox.
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { after, test } from 'node:test'
import { startWorld } from '../world.ts'
import { type Asked, type ScriptedAnswer, startBadServer } from './sdk/bad-server.ts'
import { type InstalledSdk, installSdks } from './sdk/installed.ts'

interface Case {
  readonly name: string
  readonly at?: 'sandbox' | 'nowhere'
  readonly answers?: readonly ScriptedAnswer[]
  readonly expect: Expected
}

interface Expected {
  readonly attempts?: number
  /** Fields of the value. */
  readonly value?: object
  readonly exactly?: object
  readonly valueLike?: Readonly<Record<string, string>>
  readonly response?: object
  readonly error?: object
  readonly refused?: boolean
  readonly reason?: string
  readonly ids?: readonly string[]
  readonly idsLike?: string
  readonly hex?: string
  readonly times?: readonly string[]
  /** Headers of the last request. */
  readonly sent?: object
  readonly sentLike?: Readonly<Record<string, string>>
  readonly keys?: 'same' | 'different' | 'none'
  /** Seconds from and to. */
  readonly pauses?: readonly (readonly [number, number])[]
  readonly cursors?: readonly (string | null)[]
  /** The last request. */
  readonly request?: { method?: string; path?: string; query?: object; json?: unknown }
  /** Texts that a form holds. */
  readonly form?: readonly string[]
}

interface Outcome {
  readonly value?: Readonly<Record<string, unknown>>
  readonly response?: Readonly<Record<string, unknown>>
  readonly error?: Readonly<Record<string, unknown>>
  readonly refused?: string
  readonly reason?: string
  readonly ids?: readonly string[]
  readonly hex?: string
  readonly times?: readonly string[]
  readonly pauses: readonly number[]
}

const cases: readonly Case[] = JSON.parse(readFileSync('test/interop/sdk/cases.json', 'utf8'))
// Before there is a connection: this process does nothing else while they are installed.
const { folder, sdks, missing, remove } = await installSdks()
const world = await startWorld()
const account = await world.account({ balance: 1_000 })
const bad = await startBadServer((index) => cases[index]?.answers ?? [])
after(async () => {
  bad.stop()
  remove()
  await world.stop()
})

const programs = [
  { sdk: 'Node', file: 'run.mjs', options: [] },
  { sdk: 'Python', file: 'run.py', options: [] },
  { sdk: 'Python', file: 'run.py', options: ['async'] },
  { sdk: 'PHP', file: 'run.php', options: [] },
  { sdk: 'PHP', file: 'run.php', options: ['guzzle'] },
] as const

for (const { sdk: name, file, options } of programs)
  test(`the SDK for ${[name, ...options].join(', ')} meets the ${cases.length} cases`, async (t) => {
    const sdk = sdks.find((one) => one.name === name)
    if (!sdk) {
      assert.notEqual(process.env.PAMOJA_REQUIRE_SAMPLES, '1', missing.join('; '))
      return t.skip(missing.join('; '))
    }
    const [option = ''] = options
    if (option === 'guzzle' && !hasGuzzle()) return t.skip('Guzzle is not installed (package php-guzzlehttp-guzzle)')
    const prefix = [name, ...options].join('-')
    const outcomes = await run(sdk, file, options, prefix)
    const wrong = cases.flatMap((one, index) => {
      const outcome = outcomes[index] ?? { pauses: [] }
      try {
        check(one, outcome, bad.asked(`${prefix}/${index}`), name)
        return []
      } catch (error) {
        return [
          `${one.name}: ${error instanceof Error ? error.message.replaceAll(/\s+/g, ' ') : error} ${JSON.stringify(outcome)}`,
        ]
      }
    })
    assert.deepEqual(wrong, [])
  })

for (const [name, file] of [
  ['Node', 'helpers.mjs'],
  ['Python', 'helpers.py'],
  ['PHP', 'helpers.php'],
] as const)
  test(`testing helpers for ${name}: a phone reads, verifies and pays, and time goes on`, async (t) => {
    const sdk = sdks.find((one) => one.name === name)
    if (!sdk) return t.skip(missing.join('; '))
    const { key } = await world.account({ balance: 1_000 })
    const said = await output(
      sdk,
      `test/interop/sdk/${file}`,
      [],
      { PAMOJA_API_KEY: key, PAMOJA_BASE_URL: world.node.url },
      '',
    )
    const { message, verified, paid, ahead } = JSON.parse(said)
    assert.deepEqual([message, verified, paid, ahead], ['Habari Ada', 'verified', 'completed', true])
  })

const languages = [
  { name: 'Node', block: 'js', ending: 'mjs', fileOf: (words: string) => `${words.replaceAll(' ', '-')}.mjs` },
  { name: 'Python', block: 'python', ending: 'py', fileOf: (words: string) => `${words.replaceAll(' ', '_')}.py` },
  { name: 'PHP', block: 'php', ending: 'php', fileOf: (words: string) => `${words.replaceAll(' ', '_')}.php` },
] as const
const examples = {
  'loan menu': 'Welcome\nHow much?\nYou asked for 500\n',
  'collect and call': 'Paid, and call_ says thank you\n',
} as const
const guides = ['sdks', 'sms', 'payments', 'email', 'voice', 'ussd', 'identity', 'messenger'] as const

for (const { name, block, ending, fileOf } of languages) {
  const settingsOf = async () => {
    const { key } = await world.account({ balance: 1_000 })
    return { PAMOJA_API_KEY: key, PAMOJA_BASE_URL: world.node.url }
  }

  test(`the examples for ${name} run with the installed SDK`, async (t) => {
    const sdk = sdks.find((one) => one.name === name)
    if (!sdk) return t.skip(missing.join('; '))
    const settings = await settingsOf()
    for (const [words, said] of Object.entries(examples))
      assert.equal(await output(sdk, `examples/sdk/${fileOf(words)}`, [], settings, ''), said)
  })

  test(`what the guides show for ${name} runs with the installed SDK`, async (t) => {
    const sdk = sdks.find((one) => one.name === name)
    if (!sdk) return t.skip(missing.join('; '))
    const settings = await settingsOf()
    await Promise.all(
      guides.map(async (guide) => {
        const [, section = ''] = readFileSync(`docs/${guide}.md`, 'utf8').split('\n## In your language\n')
        const [, program = ''] = section.split(`\`\`\`${block}\n`)
        const code = program.slice(0, program.indexOf('\n```'))
        const file = join(folder, `guide_${guide}.${ending}`)
        writeFileSync(file, name === 'PHP' ? `<?php\nrequire getenv('PAMOJA_AUTOLOAD');\n${code}\n` : code)
        assert.notEqual(await output(sdk, file, [], settings, ''), '', guide)
      }),
    )
  })
}

test('a program in TypeScript is checked against the types of the package', () => {
  writeFileSync(
    join(folder, 'program.ts'),
    `import { isErrorOf, Pamoja, ussd, webhooks } from '@pamoja/sdk'
import { PamojaOperator } from '@pamoja/sdk/operator'
const pamoja = new Pamoja()
const { message_id, _response } = await pamoja.sms.send({ to: '+254711000001', from: 'PAMOJA', message: 'Habari' })
export const texts: string[] = [message_id ?? '', _response.requestId]
for await (const text of pamoja.sms.list({ status: 'delivered' })) texts.push(text.message_id)
try {
  // @ts-expect-error no such field
  await pamoja.sms.send({ to: '+254711000001', from: 'PAMOJA', text: 'Habari' })
} catch (error) {
  if (isErrorOf('sms.send', error) && error.code === 'INVALID_PHONE') texts.push(error.requestId)
  // @ts-expect-error no such code
  if (isErrorOf('sms.send', error) && error.code === 'NO_SUCH_CODE') texts.push(error.requestId)
}
const event = await webhooks.verify('{}', new Headers(), 'whsec_')
await pamoja.ussd.createMenu(ussd.stored('Loans').choose('home', 'Welcome', [['Loan', 'done']]).end('done', 'Bye'))
if (event.event === 'sms.status') texts.push(event.message_id)
for await (const account of new PamojaOperator().operator.listAccounts()) texts.push(account.id)
`,
  )
  const compiler = resolve('node_modules/typescript/bin/tsc')
  const options = [
    '--noEmit',
    '--strict',
    '--skipLibCheck',
    'false',
    '--target',
    'es2022',
    '--module',
    'nodenext',
    '--lib',
    'es2023,dom,dom.iterable,dom.asynciterable',
    '--types',
    '',
  ]
  const { stdout, status } = spawnSync(process.execPath, [compiler, ...options, 'program.ts'], {
    cwd: folder,
    encoding: 'utf8',
  })
  assert.deepEqual([stdout, status], ['', 0])
})

/** Whether PHP finds the PSR-18 client of Debian's package. */
function hasGuzzle(): boolean {
  return spawnSync('php', ['-r', "exit(stream_resolve_include_path('GuzzleHttp/autoload.php') ? 0 : 1);"]).status === 0
}

async function run(sdk: InstalledSdk, file: string, options: readonly string[], prefix: string): Promise<Outcome[]> {
  const places = {
    bad: `${bad.url}/${prefix}`,
    nowhere: 'http://127.0.0.1:1',
    sandbox: world.node.url,
    key: account.key,
  }
  const said = await output(sdk, `test/interop/sdk/${file}`, options, {}, JSON.stringify({ cases, ...places }))
  return said
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
}

/** What a program prints that uses an installed SDK; nothing may be wrong. */
async function output(
  { command: [program = '', ...before], env: own }: InstalledSdk,
  file: string,
  options: readonly string[],
  settings: Readonly<Record<string, string>>,
  input: string,
): Promise<string> {
  // Where the SDK for Node is found.
  const copy = join(folder, basename(file))
  writeFileSync(copy, readFileSync(file, 'utf8'))
  const env = {
    PATH: process.env.PATH ?? '',
    HOME: process.env.HOME ?? '',
    ...own,
    PAMOJA_CA_FILE: world.node.caFile ?? '',
    ...settings,
  }
  const child = spawn(program, [...before, copy, ...options], { cwd: folder, env })
  let said = ''
  let complaint = ''
  child.stdout.on('data', (chunk: Buffer) => (said += chunk))
  child.stderr.on('data', (chunk: Buffer) => (complaint += chunk))
  child.stdin.end(input)
  const [code] = await once(child, 'close')
  assert.deepEqual([complaint, code], ['', 0])
  return said
}

function check({ expect }: Case, outcome: Outcome, asked: readonly Asked[], language: string): void {
  const isFine = expect.error === undefined && expect.refused === undefined && expect.reason === undefined
  if (isFine) assert.deepEqual([outcome.error, outcome.refused, outcome.reason], [undefined, undefined, undefined])
  if (expect.error) assertHas(outcome.error, expect.error)
  if (expect.refused) assert.ok(outcome.refused, 'it must be refused by the client itself')
  if (expect.reason) assert.equal(outcome.reason, expect.reason)
  if (expect.value) assertHas(outcome.value, expect.value)
  if (expect.exactly) assert.deepEqual(outcome.value, expect.exactly)
  if (expect.response) assertHas(outcome.response, expect.response)
  if (expect.ids) assert.deepEqual(outcome.ids, expect.ids)
  if (expect.hex) assert.equal(outcome.hex, expect.hex)
  // Times stay text in JavaScript.
  if (expect.times && language !== 'Node') assert.deepEqual(outcome.times, expect.times)
  for (const [name, pattern] of Object.entries(expect.valueLike ?? {}))
    assert.match(String(outcome.value?.[name]), new RegExp(pattern))
  if (expect.idsLike) assert.match(outcome.ids?.[0] ?? '', new RegExp(expect.idsLike))
  if (expect.attempts !== undefined) assert.equal(asked.length, expect.attempts, 'attempts')
  checkPauses(expect, outcome)
  checkRequests(expect, asked)
}

function checkPauses({ pauses }: Expected, outcome: Outcome): void {
  if (!pauses) return
  assert.equal(outcome.pauses.length, pauses.length)
  for (const [index, [from, to]] of pauses.entries()) {
    const pause = outcome.pauses[index] ?? -1
    assert.ok(pause >= from && pause <= to, `pause ${index + 1} is ${pause}`)
  }
}

function checkRequests({ sent, sentLike, keys, cursors, request, form }: Expected, asked: readonly Asked[]): void {
  const last = asked.at(-1)
  if (sent) assertHas(last?.headers, sent)
  for (const [name, pattern] of Object.entries(sentLike ?? {}))
    assert.match(String(last?.headers[name]), new RegExp(pattern))
  const given = asked.map(({ headers }) => headers['idempotency-key'])
  if (keys === 'none') assert.ok(given.every((key) => key === undefined))
  if (keys === 'same') assert.ok(given[0] && new Set(given).size === 1, String(given))
  if (keys === 'different') assert.ok(given.every(Boolean) && new Set(given).size === given.length, String(given))
  if (cursors)
    assert.deepEqual(
      asked.map(({ query }) => query.cursor ?? null),
      cursors,
    )
  if (request?.method) assert.equal(last?.method, request.method)
  if (request?.path) assert.equal(last?.path, request.path)
  if (request?.query) assertHas(last?.query, request.query)
  if (request?.json !== undefined) assert.deepEqual(last?.body ? JSON.parse(last.body) : null, request.json)
  for (const text of form ?? []) assert.ok(last?.body.includes(text), `the form has no ${text}`)
}

function assertHas(found: object | undefined, wanted: object): void {
  const some = Object.fromEntries(Object.keys(wanted).map((name) => [name, Reflect.get(found ?? {}, name)]))
  assert.deepEqual(some, wanted)
}
