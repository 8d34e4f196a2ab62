// SPDX-License-Identifier: Apache-2.0
// Samples of the reference, run as they are printed there: each language by its own interpreter, where this machine has it, with
// the SDK installed from its pack.
// All of them are read by it; of each kind of reply one is run against the server.
import assert from 'node:assert/strict'
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { after, test } from 'node:test'
import { areas } from '../../src/areas.ts'
import { chaptersOf } from '../../src/platform/api/reference.ts'
import { upload } from '../messaging.ts'
import { eventually, startWorld } from '../world.ts'
import { installSdks } from './sdk/installed.ts'

// Before there is a connection: this process does nothing else while they are installed.
const { folder, sdks, remove } = await installSdks()
const world = await startWorld()
const account = await world.account({ balance: 100 })
const { client, key } = account
after(async () => {
  remove()
  await world.stop()
})
const samples = await samplesOfReference()
const phone = '+254711000001'
const pdf = '%PDF-1.7\n\xe9\xff\n%%EOF'

interface Language {
  readonly name: 'Node' | 'Python' | 'PHP'
  readonly command: readonly [file: string, ...options: string[]]
  /** Debian's packages. */
  readonly packages: string
  /** A program that ends well when the interpreter and what samples use are there. */
  readonly probe: string
  /** A program that reads a list of samples and prints what is wrong with them. */
  readonly reads: string
}

const languages: readonly Language[] = [
  {
    name: 'Node',
    command: [process.execPath, '--experimental-vm-modules', '--no-warnings', '--input-type=module', '-e'],
    packages: '',
    probe: '',
    reads: `import { readFileSync } from 'node:fs'
import { SourceTextModule } from 'node:vm'
const wrong = []
for (const code of JSON.parse(readFileSync(0, 'utf8')))
  try { new SourceTextModule(code) } catch (problem) { wrong.push(problem.message + ': ' + code) }
console.log(JSON.stringify(wrong))`,
  },
  {
    name: 'Python',
    command: ['python3', '-c'],
    packages: 'python3',
    probe: 'import ssl',
    reads: `import json, sys
wrong = []
for code in json.load(sys.stdin):
    try:
        compile(code, "sample", "exec")
    except SyntaxError as problem:
        wrong.append(str(problem) + ": " + code)
print(json.dumps(wrong))`,
  },
  {
    name: 'PHP',
    command: ['php', '-r'],
    packages: 'php-cli php-curl',
    probe: 'exit(function_exists("curl_init") ? 0 : 1);',
    reads: `$wrong = [];
foreach (json_decode(stream_get_contents(STDIN)) as $code)
  try { token_get_all($code, TOKEN_PARSE); } catch (ParseError $problem) { $wrong[] = $problem->getMessage() . ': ' . $code; }
echo json_encode($wrong);`,
  },
]

for (const { name, command, packages, probe, reads } of languages)
  test(`samples in ${name} can be read, and run: replies of JSON, without content, a file and a stream`, async (t) => {
    const [file, ...options] = command
    const found = spawnSync(file, [...options, probe])
    if (found.error || found.status !== 0) {
      assert.notEqual(process.env.PAMOJA_REQUIRE_SAMPLES, '1', `${packages}: not installed`)
      return t.skip(`${file} is not installed, or lacks what samples use (packages ${packages})`)
    }
    const all = [...samples].flatMap(([, of]) => of.get(name) ?? [])
    assert.ok(all.length > 400, `${all.length} samples`)
    const read = spawnSync(file, [...options, reads], { input: JSON.stringify(all), encoding: 'utf8' })
    assert.deepEqual([read.stderr, JSON.parse(read.stdout)], ['', []])

    const start = (operation: string, id = ''): ChildProcess => {
      const code = samples.get(operation)?.get(name)
      assert.ok(code, `${operation} has no sample in ${name}`)
      const env = {
        ...process.env,
        ...sdks.find((sdk) => sdk.name === name)?.env,
        PAMOJA_HOME: world.home,
        KEY: key,
        id,
        phone,
      }
      const own = code.replace(/^<\?php/, '').replace("'vendor/autoload.php'", "getenv('PAMOJA_AUTOLOAD')")
      return spawn(file, [...options, own], { env, cwd: folder })
    }
    const outcome = async (operation: string, id?: string, isFine = true): Promise<string> => {
      const child = start(operation, id)
      let said = ''
      child.stdout?.on('data', (chunk: Buffer) => (said += chunk.toString('latin1')))
      child.stderr?.on('data', (chunk: Buffer) => (said += chunk.toString('latin1')))
      const [code] = await once(child, 'close')
      assert.equal(code === 0, isFine, said)
      return said
    }

    assert.match(await outcome('account.get'), /acc_[0-9a-z]{26}/)
    assert.match(await outcome('sms.send'), /sms_[0-9a-z]{26}/)
    const { body: made } = await client.post('/v1/api-keys', { name: 'Of a sample', scopes: ['sms:read'] })
    assert.match(await outcome('apiKeys.get', made.id), /Of a sample/)
    assert.match(await outcome('apiKeys.get', 'key_00000000000000000000000000', false), /NotFoundError/)
    const { status } = await client.post('/v1/messenger/opt-ins', { phone, source: 'sample' })
    assert.equal(status, 201)
    assert.doesNotMatch(await outcome('messenger.optOut'), /rror|success/, 'nothing is in a reply without content')
    const { body: media } = await upload(account, Buffer.from(pdf, 'latin1'), 'application/pdf')
    assert.equal(await outcome('messenger.getMedia', media.media_id), pdf)
    assert.match(await outcome('messenger.getMedia', 'media_00000000000000000000000000', false), /NotFoundError/)
    assert.match(await outcome('apiKeys.list'), /Of a sample/)

    const stream = start('events.stream')
    let told = ''
    stream.stdout?.on('data', (chunk: Buffer) => (told += chunk))
    await eventually(async () => {
      await client.post('/v1/events/trigger', { event: 'sms.status' })
      return told.includes('evt_')
    }, 'an event of the stream')
    stream.kill()
    await once(stream, 'close')
  })

/** Samples of every operation that has some, by language. */
async function samplesOfReference(): Promise<Map<string, Map<string, string>>> {
  const found = new Map<string, Map<string, string>>()
  for (const { tag } of chaptersOf(areas)) {
    const { text } = await world.stranger.get(`/docs/reference/${tag}`)
    for (const article of text.split('<article id="').slice(1)) {
      const operation = article.slice(0, article.indexOf('"'))
      const of = new Map<string, string>()
      const blocks = article.matchAll(/<summary>(Node|Python|PHP)<\/summary><pre[^>]*><code>([\s\S]*?)<\/code>/g)
      for (const [, language = '', code = ''] of blocks) if (!of.has(language)) of.set(language, plain(code))
      if (of.size > 0) found.set(operation, of)
    }
  }
  return found
}

function plain(markup: string): string {
  const entities: Record<string, string> = { lt: '<', gt: '>', quot: '"', '#39': "'", amp: '&' }
  return markup.replaceAll(/<[^>]*>/g, '').replaceAll(/&([a-z]+|#39);/g, (all, name: string) => entities[name] ?? all)
}
