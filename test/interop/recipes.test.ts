// SPDX-License-Identifier: Apache-2.0
// The recipes of docs/webhooks.md by which receivers check signatures, run as they are printed there: those in JavaScript,
// Python and PHP, each by its own interpreter where this machine has it. Those in Go, Java and C# are not run.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { signatureHeaders, signingKeys } from '../../src/areas/webhooks/deliveries/signature.ts'
import { newSecret } from '../../src/areas/webhooks/endpoints/secrets.ts'
import { root } from '../program.ts'

const page = readFileSync(join(root, 'docs/webhooks.md'), 'utf8')
const [secret, other] = [newSecret(), newSecret()]
const body = '{"event":"sms.received","message":"ñ 😀 “Ada”","cost":0.8}'
const signature = signatureOf(body)

interface Recipe {
  language: string
  command: string[]
  /** A program that asks the recipe about each case it reads, and answers with a list of truths. */
  program(recipe: string): string
  header: string
}

const recipes: Recipe[] = [
  {
    language: 'js',
    command: [process.execPath, '--input-type=module', '-e'],
    program: (recipe) => `import { readFileSync } from 'node:fs'
${recipe}
console.log(JSON.stringify(JSON.parse(readFileSync(0, 'utf8')).map((one) => isFromPamoja(Buffer.from(one.body), one.headers, one.secret))))`,
    header: 'x-service-signature',
  },
  {
    language: 'python',
    command: ['python3', '-c'],
    program: (recipe) => `import json, sys
${recipe}
print(json.dumps([is_from_pamoja(one['body'].encode(), one['headers'], one['secret']) for one in json.load(sys.stdin)]))`,
    header: 'X-Service-Signature',
  },
  {
    language: 'php',
    command: ['php', '-r'],
    program: (recipe) => `${recipe}
echo json_encode(array_map(fn($one) => is_from_pamoja($one['body'], (array) $one['headers'], $one['secret']), json_decode(stream_get_contents(STDIN), true)));`,
    header: 'X-Service-Signature',
  },
]

for (const { language, command, program, header } of recipes)
  test(`the recipe in ${language} takes what we signed and nothing else`, (t) => {
    const [file = '', ...options] = command
    if (spawnSync(file, ['--version']).error) return t.skip(`${file} is not installed`)
    const [, recipe = ''] = new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, 's').exec(page) ?? []
    const cases: [given: { body: string; headers: Record<string, string>; secret: string }, taken: boolean][] = [
      [{ body, headers: { [header]: signature }, secret }, true],
      [{ body: body.replace('0.8', '0.9'), headers: { [header]: signature }, secret }, false],
      [{ body, headers: { [header]: signature }, secret: other }, false],
      [{ body, headers: { [header]: signature.slice(0, -2) }, secret }, false],
      [{ body, headers: { [header]: 'é' }, secret }, false],
      [{ body, headers: { [header]: '' }, secret }, false],
      [{ body, headers: {}, secret }, false],
    ]
    const ran = spawnSync(file, [...options, program(recipe)], {
      input: JSON.stringify(cases.map(([given]) => given)),
      encoding: 'utf8',
    })
    assert.deepEqual(
      ran.stderr === '' && JSON.parse(ran.stdout),
      cases.map(([, taken]) => taken),
      ran.stderr,
    )
  })

function signatureOf(text: string): string {
  const flat = signatureHeaders({
    eventId: 'evt_01jb2c3d4e5f6g7h8j9kamnpqr',
    timestampSeconds: 0,
    body: Buffer.from(text),
    isHubSigned: false,
    current: signingKeys(secret),
    next: null,
  })
  return flat[flat.indexOf('X-Service-Signature') + 1] ?? ''
}
