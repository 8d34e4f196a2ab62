// SPDX-License-Identifier: Apache-2.0
// The bundled program tells of an error where it is in the sources.
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { Program, root } from './program.ts'

test('a stack of the bundled program names files and lines of the sources', async () => {
  const file = join(root, 'dist/program/main.js')
  const script = `const { run } = await import(${JSON.stringify(file)}); await run(null).catch(({ stack }) => console.log(stack))`
  const { stdout } = await new Program({ file: '--input-type=module', args: ['--eval', script], cwd: root }).ended
  const [place = ''] = stdout.split('\n').filter((line) => line.startsWith('    at '))
  const [, source = '', line = ''] = /\((.+):(\d+)\)$/.exec(place) ?? []
  assert.equal(source, join(root, 'src/main.ts'), stdout)
  const text = (await readFile(source, 'utf8')).split('\n')[Number(line) - 1]
  assert.match(text ?? '', /mayBeOfApi/, `line ${line}`)
})
