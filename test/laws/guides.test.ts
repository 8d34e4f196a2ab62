// SPDX-License-Identifier: Apache-2.0
// Guides: their links and the tests they name are there, and their commands leave nothing behind that stands in the way of the
// next page, which pays from the same phone.
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { guides } from '../../src/platform/docs/guides.ts'
import { guideOf } from '../../src/platform/docs/markdown.ts'
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
  const files = [...(await below('src')), ...(await below('test'))].filter((file) => file.endsWith('.test.ts'))
  assert.deepEqual(
    [...new Set(named)].filter((name) => !files.some((file) => file.includes(name))),
    [],
  )
})

test('every link of a page leads to a file of the repository, and to a heading of it', async () => {
  const pages = [...(await readdir(root)), ...(await below('docs')), ...(await below('src'))].filter((name) =>
    name.endsWith('.md'),
  )
  const dead: string[] = []
  let links = 0
  for (const page of pages) {
    for (const [, target = ''] of (await proseOf(page)).matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^(https?|mailto):/.test(target)) continue
      links++
      const [path = '', anchor] = target.split('#')
      const file = path === '' ? page : join(dirname(page), path)
      const isThere = existsSync(join(root, file)) && (anchor === undefined || (await anchorsOf(file)).includes(anchor))
      if (!isThere) dead.push(`${page}: ${target}`)
    }
  }
  assert.ok(links > 300, `${links} links`)
  assert.deepEqual(dead, [])
})

/** Files below a folder, by their path from the root. */
async function below(folder: string): Promise<string[]> {
  return (await readdir(join(root, folder), { recursive: true })).map((name) => join(folder, name))
}

/** Text of a page without its blocks of code. */
async function proseOf(page: string): Promise<string> {
  return (await readFile(join(root, page), 'utf8')).replaceAll(/^```[\s\S]*?^```/gm, '')
}

async function anchorsOf(page: string): Promise<string[]> {
  return guideOf(await readFile(join(root, page), 'utf8'), () => null).headings.map(({ id }) => id)
}

test('the changelog, the decisions and what each verb of payments has to say are pages of the site', () => {
  const names = new Set(guides().map(({ name }) => name))
  const expected = ['changelog', 'payments', 'payment-links', 'cards', 'refunds', 'payouts', 'wallet', 'fraud']
  assert.deepEqual(
    expected.filter((name) => !names.has(name)),
    [],
  )
  assert.ok([...names].some((name) => name.startsWith('decisions/')))
})

test('what CONTRIBUTING.md offers pages of the console is exported by the file that it names', async () => {
  const page = await readFile(join(root, 'CONTRIBUTING.md'), 'utf8')
  const [, table = ''] = /\| you want \| take \| from \|\n\|[-|]+\n((?:\|.*\n)+)/.exec(page) ?? []
  const rows = [...table.matchAll(/^\| [^|]+ \| (.+) \| ([^|]+) \|$/gm)]
  assert.ok(rows.length > 10, `${rows.length} rows`)
  for (const [, take = '', from = ''] of rows) {
    const files = [...from.matchAll(/\((console\/[^)]+)\)/g)].map(([, file = '']) => readFile(join(root, file), 'utf8'))
    const exported = (await Promise.all(files)).join('\n')
    // Components, hooks, and what the dialogs and fields have; the rest are members of these.
    for (const [, name = ''] of take.matchAll(/`([A-Z]\w+|use[A-Z]\w+|say|complain|undoable|problemOf)\b/g))
      assert.match(
        exported,
        new RegExp(`^export (async )?(function|const|interface) ${name}\\b`, 'm'),
        `${name}: ${from}`,
      )
  }
  const groups = await readFile(join(root, 'console/src/area.tsx'), 'utf8')
  for (const [, group] of page.matchAll(/group: '(\w+)'/g)) assert.ok(groups.includes(`  '${group}',`), group)
})
