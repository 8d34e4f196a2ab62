// SPDX-License-Identifier: Apache-2.0
// The programs in examples/, run as their first lines say, against a node. What they print is what happened.
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, before, type TestContext, test } from 'node:test'
import { patienceMs } from '../eventually.ts'
import { root } from '../program.ts'
import { startWorld, type World } from '../world.ts'

let world: World

before(async () => {
  world = await startWorld()
})
after(() => world.stop())

interface Language {
  name: string
  command: string
  folder: string
  fileOf(words: string): string
}

const languages: readonly Language[] = [
  {
    name: 'Node',
    command: process.execPath,
    folder: 'examples/node',
    fileOf: (words) => `${words.replaceAll(' ', '-')}.mjs`,
  },
  {
    name: 'Python',
    command: 'python3',
    folder: 'examples/python',
    fileOf: (words) => `${words.replaceAll(' ', '_')}.py`,
  },
]
const programs = ['send a text', 'charge mobile money', 'pay out a batch'] as const

for (const language of languages) {
  const { name, folder, fileOf } = language

  test(`${name}: a text is sent, and only a signed callback is believed`, async (t) => {
    if (isMissing(t, language)) return
    await slowly(3_000)
    let forged: Promise<Response> | undefined
    const { lines, code } = await run(language, 'send a text', ['+254711555001'], ([first = '']) => {
      const [url] = /http:\S+/.exec(first) ?? []
      if (url)
        forged ??= fetch(url, {
          method: 'POST',
          headers: { 'x-service-signature': '00'.repeat(32) },
          body: JSON.stringify({ event: 'sms.status', message_id: 'sms_x', status: 'failed' }),
        })
    })
    await slowly(null)
    assert.equal((await forged)?.status, 401)
    const { message_id, status } = (await world.demo.get('/v1/sms?limit=1')).body.data[0]
    assert.deepEqual(
      [lines[1], lines[2], status, code],
      [`${message_id} to +254711555001 costs KES 0.8`, 'It is delivered.', 'delivered', 0],
    )
    const lost = await run(language, 'send a text', ['+254711000002'])
    assert.deepEqual([lost.lines[2], lost.code], ['It has failed: UNDELIVERABLE.', 0])
  })

  test(`${name}: mobile money is charged, or not, and either is told`, async (t) => {
    if (isMissing(t, language)) return
    const paid = await run(language, 'charge mobile money', ['+254700000001', '200'])
    const { body } = await world.demo.get('/v1/payments/transactions?limit=1')
    const [{ payment_id, status, provider_reference }] = body.data
    assert.deepEqual(
      [paid.lines, status, paid.code],
      [
        [
          `${payment_id} is processing: the payer is asked by mpesa`,
          `Paid: KES 197 after fees is in the wallet, receipt ${provider_reference}.`,
        ],
        'completed',
        0,
      ],
    )
    const declined = await run(language, 'charge mobile money', ['+254700000004'])
    assert.deepEqual([declined.lines[1], declined.code], ['Not paid: USER_CANCELLED.', 0])
  })

  test(`${name}: a batch is paid out once, however often the program runs`, async (t) => {
    if (isMissing(t, language)) return
    const batch = `salaries-${name}`
    const first = await run(language, 'pay out a batch', [batch])
    const { body: before } = await world.demo.get('/v1/wallet/balance')
    const second = await run(language, 'pay out a batch', [batch])
    const { body: after } = await world.demo.get('/v1/wallet/balance')
    assert.match(first.lines[0] ?? '', /^pob_\w+: KES 200 for 2 and KES 1 of fees are held$/)
    assert.deepEqual(first.lines.slice(1), [
      `${batch}/asha: KES 120 completed`,
      `${batch}/baraka: KES 80 failed (RECIPIENT_NOT_FOUND)`,
    ])
    assert.deepEqual([second.lines, after.balance, second.code], [first.lines, before.balance, 0])
  })

  test(`${name}: a platform that was not started is asked for in a sentence`, async (t) => {
    if (isMissing(t, language)) return
    const home = mkdtempSync(join(tmpdir(), 'pamoja-examples-'))
    t.after(() => rmSync(home, { recursive: true }))
    const says = async (): Promise<{ status: unknown; said: string }> => {
      const env = { PATH: process.env.PATH ?? '', PAMOJA_HOME: home, PYTHONDONTWRITEBYTECODE: '1' }
      const program = join(folder, fileOf('send a text'))
      const child = spawn(language.command, [program], { cwd: root, env, stdio: ['ignore', 'ignore', 'pipe'] })
      const [said, [status]] = await Promise.all([text(child.stderr), once(child, 'close')])
      return { status, said }
    }
    const file = join(home, 'credentials.json')
    const missing = `There is no ${file} yet: start the platform first, with npm start.\n`
    assert.deepEqual(await says(), { status: 1, said: missing })
    const base_url = await closedAddress()
    writeFileSync(file, JSON.stringify({ base_url, api_key: 'sk_test_x', ca_file: null }))
    const silent = `Nobody answers at ${base_url}: start the platform first, with npm start.\n`
    assert.deepEqual(await says(), { status: 1, said: silent })
  })

  test(`${name}: every program is tried here`, () => {
    const files = readdirSync(join(root, folder)).filter((file) => !/^(pamoja\.|__)/.test(file))
    assert.deepEqual(files.sort(), programs.map(fileOf).sort())
  })
}

/** Where somebody listened, and nobody does any more. */
async function closedAddress(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  assert.ok(address && typeof address === 'object')
  server.close()
  await once(server, 'close')
  return `https://127.0.0.1:${address.port}`
}

function isMissing(t: TestContext, { name, command }: Language): boolean {
  if (spawnSync(command, ['--version']).status === 0) return false
  t.skip(`${name} is not installed here (${command})`)
  return true
}

/** Runs a program to its end; `heard` is told of its lines so far. */
async function run(
  { command, folder, fileOf }: Language,
  program: (typeof programs)[number],
  args: readonly string[],
  heard: (lines: readonly string[]) => void = () => undefined,
): Promise<{ lines: string[]; code: number | null }> {
  const child = spawn(command, [join(folder, fileOf(program)), ...args], {
    cwd: root,
    env: { PATH: process.env.PATH ?? '', PAMOJA_HOME: world.home, PYTHONDONTWRITEBYTECODE: '1' },
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: patienceMs(120_000),
  })
  let said = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text
    heard(said.split('\n').slice(0, -1))
  })
  const [code] = await once(child, 'close')
  return { lines: said.trimEnd().split('\n'), code }
}

/** How long texts are under way in the sandbox; null: as usual. */
async function slowly(delay_ms: number | null): Promise<void> {
  const { status, text } = await world.demo.patch('/v1/sandbox/sms/behaviour', { delay_ms })
  assert.equal(status, 200, text)
}
