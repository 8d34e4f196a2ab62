// SPDX-License-Identifier: Apache-2.0
// Commands of the guides leave nothing behind that stands in the way of the next page, which pays from the same phone.
import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { root } from '../program.ts'

test('a rule that a guide makes blocks nothing, or is deleted again on the same page', async () => {
  const pages = (await readdir(join(root, 'docs'))).filter((name) => name.endsWith('.md'))
  const problems: string[] = []
  for (const page of pages) {
    const text = await readFile(join(root, 'docs', page), 'utf8')
    const commands = [...text.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block = '']) => block).join('\n')
    const makes = [...commands.matchAll(/fraud\/rules[^$/][\s\S]*?"action": "(?:block|review)"[^\n]*/g)]
    const isDeleted = /-X DELETE [^\n]*fraud\/rules/.test(commands)
    for (const [command] of makes) if (!command.includes('"dry_run": true') && !isDeleted) problems.push(page)
  }
  assert.deepEqual(problems, [])
})

test('every test that docs/security-tests.md names is there', async () => {
  const text = await readFile(join(root, 'docs/security-tests.md'), 'utf8')
  const named = text
    .split('\n')
    .filter((line) => /^\| .*\|$/.test(line))
    .flatMap((line) => [...(line.split('|').at(-2) ?? '').matchAll(/`([^`]+)`/g)].map(([, name = '']) => name))
  assert.ok(named.length > 30)
  const below = (folder: string) => readdir(join(root, folder), { recursive: true })
  const files = [...(await below('src')), ...(await below('test')).map((file) => `test/${file}`)].filter((file) =>
    file.endsWith('.test.ts'),
  )
  assert.deepEqual(
    [...new Set(named)].filter((name) => !files.some((file) => file.includes(name))),
    [],
  )
})
